/*
 * parse.c: the file scope of a program.
 *
 * A declaration is one of: a function with or without its body; a typedef; a struct, union or enum
 * without a variable; a variable in constant memory. Everything else is refused, and so is a macro call
 * that stands for declarations.
 */
#include "backend/opencl/dispatcher/program.h"
#include "backend/opencl/dispatcher/words.h"

static bool is_aggregate(const struct vyre_cl_program *program, uint32_t index)
{
    return vyre_cl_is(program, index, "struct") || vyre_cl_is(program, index, "union") ||
           vyre_cl_is(program, index, "enum");
}

/* The token after an attribute, or `index` if there is none. */
static uint32_t skip_attributes(const struct vyre_cl_program *program, uint32_t index)
{
    while (vyre_cl_is_attribute(program, index) && vyre_cl_is_sign(program, index + 1, '(') &&
           program->match[index + 1] != VYRE_CL_NONE)
        index = program->match[index + 1] + 1;
    return index;
}

static bool has_directive(const struct vyre_cl_program *program, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i <= last; i++) {
        if (vyre_cl_at(program, i)->directive)
            return true;
    }
    return false;
}

/* struct, union or enum, a name, a body, and nothing else. */
static bool declares_type_only(const struct vyre_cl_program *program, uint32_t first, uint32_t last)
{
    if (!is_aggregate(program, first))
        return false;
    uint32_t i = skip_attributes(program, first + 1);
    if (vyre_cl_at(program, i)->kind == VYRE_CL_TOKEN_NAME)
        i++;
    if (vyre_cl_is_sign(program, i, '{'))
        i = program->match[i] + 1;
    return skip_attributes(program, i) == last;
}

static bool is_constant_variable(const struct vyre_cl_program *program, uint32_t first,
                                 uint32_t last)
{
    bool constant = false;
    for (uint32_t i = first; i < last && !vyre_cl_is_sign(program, i, '='); i++) {
        if (vyre_cl_is_sign(program, i, '*'))
            return false;
        constant =
            constant || vyre_cl_is(program, i, "__constant") || vyre_cl_is(program, i, "constant");
    }
    return constant;
}

/* A declaration that ends in a semicolon and is not a function. */
static void see_declaration(struct vyre_cl_program *program, uint32_t first, uint32_t last)
{
    /* It is copied unchanged, so a conditional with another outcome would go unnoticed. */
    for (uint32_t i = first + 1; i <= last; i++) {
        if (vyre_cl_at(program, i)->gap)
            vyre_cl_program_refuse(program, "directive inside a declaration");
    }
    if (first == last || vyre_cl_is(program, first, "typedef") ||
        declares_type_only(program, first, last) || is_constant_variable(program, first, last))
        return;
    vyre_cl_program_refuse(program, "variable at program scope");
}

static uint32_t count_parameters(const struct vyre_cl_program *program, uint32_t open,
                                 uint32_t close)
{
    if (close == open + 1 || (close == open + 2 && vyre_cl_is(program, open + 1, "void")))
        return 0;
    uint32_t count = 1;
    for (uint32_t i = open + 1; i < close; i++) {
        if (vyre_cl_is_sign(program, i, ','))
            count++;
        else if (program->match[i] != VYRE_CL_NONE && program->match[i] > i)
            i = program->match[i];
    }
    return count;
}

static bool has_kernel_word(const struct vyre_cl_program *program, uint32_t first, uint32_t last)
{
    for (uint32_t i = first; i < last; i++) {
        if (vyre_cl_is(program, i, "__kernel") || vyre_cl_is(program, i, "kernel"))
            return true;
    }
    return false;
}

static void add_function(struct vyre_cl_program *program, struct vyre_cl_function function)
{
    const struct vyre_cl_token *token = vyre_cl_at(program, function.name_token);
    struct vyre_cl_name_facts *facts = &program->facts[token->name];
    if (vyre_cl_word_is_kept(program->tokens.text + token->offset, token->size))
        vyre_cl_program_refuse(program, "function with the name of a word of the language");
    if (facts->macro != VYRE_CL_NONE)
        vyre_cl_program_refuse(program, "macro and function of one name");
    if (facts->function != VYRE_CL_NONE &&
        program->functions[facts->function].parameter_count != function.parameter_count)
        vyre_cl_program_refuse(program, "function declared in two ways");
    function.name = token->name;
    function.next_of_name = facts->function;
    facts->function = program->function_count;
    program->functions[program->function_count++] = function;
}

/* `open` is the first parenthesis of the declaration. Returns its last token. */
static uint32_t see_function(struct vyre_cl_program *program, uint32_t first, uint32_t open)
{
    uint32_t close = program->match[open];
    uint32_t next = skip_attributes(program, close + 1);
    if (open < first + 2 || vyre_cl_at(program, open - 1)->kind != VYRE_CL_TOKEN_NAME) {
        vyre_cl_program_refuse(program, "macro call or unknown declaration at program scope");
        return open;
    }
    bool body = vyre_cl_is_sign(program, next, '{');
    if (!body && !vyre_cl_is_sign(program, next, ';')) {
        vyre_cl_program_refuse(program, "macro call or unknown declaration at program scope");
        return open;
    }
    if (has_directive(program, first, next)) {
        vyre_cl_program_refuse(program, "directive inside a declaration");
        return open;
    }
    uint32_t last = body ? program->match[next] : next;
    add_function(program, (struct vyre_cl_function){
                              .first = first,
                              .name_token = open - 1,
                              .open = open,
                              .close = close,
                              .body = body ? next : VYRE_CL_NONE,
                              .last = last,
                              .parameter_count = count_parameters(program, open, close),
                              .is_kernel = has_kernel_word(program, first, open - 1),
                          });
    return last;
}

/* Reads the declaration that begins at `first`; returns its last token. */
static uint32_t see_item(struct vyre_cl_program *program, uint32_t first)
{
    /* its parentheses and braces are not those of a function */
    bool plain = vyre_cl_is(program, first, "typedef");
    for (uint32_t i = first; i < program->tokens.count; i++) {
        i = skip_attributes(program, i);
        if (i >= program->tokens.count)
            break;
        bool opens = program->match[i] != VYRE_CL_NONE && program->match[i] > i;
        plain = plain || vyre_cl_is_sign(program, i, '=');
        if (vyre_cl_at(program, i)->directive) {
            vyre_cl_program_refuse(program, "directive inside a declaration");
            return i;
        }
        if (vyre_cl_is_sign(program, i, ';')) {
            see_declaration(program, first, i);
            return i;
        }
        if (vyre_cl_is_sign(program, i, '(') && !plain)
            return see_function(program, first, i);
        if (opens)
            i = program->match[i];
    }
    vyre_cl_program_refuse(program, "declaration without an end");
    return program->tokens.count;
}

/* Whether a conditional tests a function's name, which the output makes a macro. */
static void check_conditionals(struct vyre_cl_program *program)
{
    uint32_t directive = 0;
    bool define = false;
    for (uint32_t i = 0; i < program->tokens.count; i++) {
        const struct vyre_cl_token *token = vyre_cl_at(program, i);
        if (token->directive == 0)
            continue;
        if (token->directive != directive)
            define = vyre_cl_is(program, i + 1, "define");
        directive = token->directive;
        if (!define && token->name && program->facts[token->name].function != VYRE_CL_NONE)
            vyre_cl_program_refuse(program, "directive about a function's name");
    }
}

void vyre_cl_program_parse(struct vyre_cl_program *program)
{
    for (uint32_t i = 0; !program->reason && i < program->tokens.count; i++) {
        if (vyre_cl_at(program, i)->directive == 0)
            i = see_item(program, i);
    }
    if (!program->reason)
        check_conditionals(program);
}
