/*
 * locals.c: variables in local memory that kernels declare.
 *
 * They are allowed only in a kernel's outermost scope, and the user's kernels become functions. So
 * each becomes a type, a variable of that type in the dispatcher, and a parameter. From its
 * declaration to the end of the body its name becomes a macro for the parameter's target, which
 * keeps sizeof, & and macros working. That is exact as long as the name means nothing else in the
 * body. A declaration under a conditional always has its parameter, and its macro only if the
 * compiler reads it.
 */
#include <string.h>

#include "backend/opencl/dispatcher/program.h"
#include "backend/opencl/dispatcher/words.h"

/* Names that are followed by an expression, not by a declarator. */
static bool precedes_expression(const struct vyre_cl_program *program, uint32_t index)
{
    static const char *const WORDS[] = {"return", "sizeof", "case", "else", "do"};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        if (vyre_cl_is(program, index, WORDS[i]))
            return true;
    }
    return false;
}

/* Whether a declaration may begin after the token: not in parentheses, except those of a `for`. */
static bool may_end_before_declaration(const struct vyre_cl_program *program, uint32_t index)
{
    if (vyre_cl_at(program, index)->directive || vyre_cl_is_sign(program, index, ';') ||
        vyre_cl_is_sign(program, index, '{') || vyre_cl_is_sign(program, index, '}'))
        return true;
    if (vyre_cl_is_sign(program, index, '('))
        return vyre_cl_is(program, index - 1, "for");
    if (!vyre_cl_is_sign(program, index, ')'))
        return false;
    uint32_t open = program->match[index];
    uint32_t name = open == VYRE_CL_NONE ? 0 : vyre_cl_at(program, open - 1)->name;
    return open == VYRE_CL_NONE || /* in a macro */
           vyre_cl_is_attribute(program, open - 1) ||
           (name && program->facts[name].macro != VYRE_CL_NONE);
}

/* Whether there are only names and stars between the statement's start and the token. */
static bool starts_with_type(const struct vyre_cl_program *program, uint32_t index, uint32_t body)
{
    uint32_t i = index;
    while (i > body + 1 && (vyre_cl_at(program, i - 1)->kind == VYRE_CL_TOKEN_NAME ||
                            vyre_cl_is_sign(program, i - 1, '*')))
        i--;
    return i != index && vyre_cl_at(program, i)->kind == VYRE_CL_TOKEN_NAME &&
           may_end_before_declaration(program, i - 1) && !precedes_expression(program, i);
}

/* The bracket around the token. */
static uint32_t bracket_around(const struct vyre_cl_program *program, uint32_t index, uint32_t body)
{
    for (uint32_t i = index; i-- > body;) {
        uint32_t other = program->match[i];
        if (vyre_cl_at(program, i)->directive || other == VYRE_CL_NONE)
            continue;
        if (other > i)
            return i;
        i = other;
    }
    return body;
}

/*
 * Whether a comma between `open`, the parenthesis of a `for`, and `index` may separate declarators:
 * in the first part, unless that begins like an expression.
 */
static bool for_may_declare(const struct vyre_cl_program *program, uint32_t open, uint32_t index)
{
    uint32_t first = open + 1;
    for (uint32_t i = first; i < index; i++) {
        if (vyre_cl_is_sign(program, i, ';'))
            return false;
        if (program->match[i] != VYRE_CL_NONE && program->match[i] > i)
            i = program->match[i];
    }
    if (vyre_cl_at(program, first)->kind != VYRE_CL_TOKEN_NAME)
        return false;
    return program->facts[vyre_cl_at(program, first)->name].macro != VYRE_CL_NONE ||
           vyre_cl_is_attribute(program, first) ||
           vyre_cl_at(program, first + 1)->kind != VYRE_CL_TOKEN_SIGN ||
           vyre_cl_is_sign(program, first + 1, '*') || vyre_cl_is_sign(program, first + 1, '{');
}

/* Whether the brace opens an initializer, or a list inside one. A block does not follow a '='. */
static bool is_initializer(const struct vyre_cl_program *program, uint32_t brace, uint32_t body)
{
    while (brace > body && vyre_cl_is_sign(program, brace, '{')) {
        if (vyre_cl_at(program, brace - 1)->directive)
            return false;
        if (vyre_cl_is_sign(program, brace - 1, '='))
            return true;
        if (!vyre_cl_is_sign(program, brace - 1, ',') && !vyre_cl_is_sign(program, brace - 1, '{'))
            return false;
        brace = bracket_around(program, brace, body);
    }
    return false;
}

/* Whether the name at `index` may be a declaration, a member or a label rather than a use. */
static bool may_declare(const struct vyre_cl_program *program, uint32_t index, uint32_t body)
{
    uint32_t before = index - 1;
    const struct vyre_cl_token *token = vyre_cl_at(program, before);
    if (token->directive && !vyre_cl_at(program, index)->directive)
        return false;
    if (token->kind == VYRE_CL_TOKEN_NAME)
        return !precedes_expression(program, before);
    if (token->kind != VYRE_CL_TOKEN_SIGN)
        return true;
    if (token->sign == '.' || (token->sign == '>' && token->size == 2))
        return true;
    if (token->sign == '*')
        return starts_with_type(program, index, body);
    if (token->sign == ',') {
        uint32_t around = bracket_around(program, index, body);
        return (vyre_cl_is_sign(program, around, '{') && !is_initializer(program, around, body)) ||
               (around > body && vyre_cl_is(program, around - 1, "for") &&
                for_may_declare(program, around, index));
    }
    if (token->sign == '{')
        return vyre_cl_is(program, before - 1, "enum") || vyre_cl_is(program, before - 2, "enum");
    if (token->sign == '}')
        return program->match[before] == VYRE_CL_NONE || /* in a macro */
               vyre_cl_at(program, program->match[before] - 1)->kind == VYRE_CL_TOKEN_NAME;
    return false;
}

/* Whether a variable of the kernel is declared here; branches of a conditional may share a name. */
static bool is_declared_at(const struct vyre_cl_program *program,
                           const struct vyre_cl_function *function, uint32_t index)
{
    for (uint32_t i = 0; i < function->local_count; i++) {
        if (program->locals[function->first_local + i].name_token == index)
            return true;
    }
    return false;
}

/* Whether the name is that of a parameter: in the macro's body it then means something else. */
static bool is_parameter(const struct vyre_cl_program *program, const struct vyre_cl_macro *macro,
                         uint32_t name)
{
    /* Tokens before the body: the macro's name, '(', parameters and commas, ')'. */
    for (uint32_t i = macro->body - 2; macro->has_parameters && !vyre_cl_is_sign(program, i, '(');
         i--) {
        if (vyre_cl_at(program, i)->name == name)
            return true;
    }
    return false;
}

/* Whether a macro that kernels reach may declare the name, or use it for a member. */
static bool gives_second_meaning(const struct vyre_cl_program *program,
                                 const struct vyre_cl_macro *macro, uint32_t name)
{
    if (program->facts[macro->name].visit == 0 || is_parameter(program, macro, name))
        return false;
    for (uint32_t i = macro->body; i < macro->end; i++) {
        if (vyre_cl_at(program, i)->name == name && may_declare(program, i, macro->body))
            return true;
    }
    return false;
}

/* The name must mean the variable and nothing else, in the body and in every macro. */
static void check_name(struct vyre_cl_program *program, const struct vyre_cl_function *function,
                       const struct vyre_cl_local *local)
{
    bool defines = false; /* the current directive defines a macro */
    for (uint32_t i = function->open; i < function->last; i++) {
        const struct vyre_cl_token *token = vyre_cl_at(program, i);
        bool own = i >= local->first && i <= local->last;
        if (token->directive && vyre_cl_at(program, i - 1)->directive != token->directive)
            defines = vyre_cl_is(program, i + 1, "define");
        bool asked = token->directive && !defines; /* the name was not a macro here, and now is */
        if (vyre_cl_at(program, i)->name != local->name || is_declared_at(program, function, i))
            continue;
        if (own || asked || i < function->body || may_declare(program, i, function->body))
            vyre_cl_program_refuse(program, "local variable's name has a second meaning");
    }
    for (uint32_t m = 0; m < program->macro_count; m++) {
        if (gives_second_meaning(program, &program->macros[m], local->name))
            vyre_cl_program_refuse(program, "local variable's name has a second meaning");
    }
    if (program->facts[local->name].macro != VYRE_CL_NONE ||
        program->facts[local->name].function != VYRE_CL_NONE)
        vyre_cl_program_refuse(program, "local variable's name has a second meaning");
}

/* Whether the name at `index`, which may be a declaration judging by what precedes it, is one. */
static bool declares_word(const struct vyre_cl_program *program,
                          const struct vyre_cl_function *function, uint32_t index)
{
    const struct vyre_cl_token *token = vyre_cl_at(program, index);
    bool in_parentheses = index > function->body && vyre_cl_is_sign(program, index + 1, ')');
    return may_declare(program, index, function->body) && !in_parentheses &&
           !vyre_cl_word_is_kept(program->tokens.text + token->offset, token->size) &&
           vyre_cl_at(program, index + 1)->kind != VYRE_CL_TOKEN_NAME &&
           !vyre_cl_is_sign(program, index + 1, '*');
}

/*
 * The type moves out of the body, so its words must mean the same before it. The compiler sees the
 * type in both places (emit.c) and decides, macros or not. This check saves a build that would
 * fail.
 */
static void check_words(struct vyre_cl_program *program, const struct vyre_cl_function *function,
                        const struct vyre_cl_local *local)
{
    for (uint32_t i = local->first; i < local->last; i++) {
        uint32_t name = vyre_cl_at(program, i)->name;
        if (is_declared_at(program, function, i))
            continue;
        for (uint32_t j = function->open + 1; name && j < local->first; j++) {
            if (vyre_cl_at(program, j)->name == name && !vyre_cl_at(program, j)->directive &&
                declares_word(program, function, j))
                vyre_cl_program_refuse(program, "local variable's type depends on its function");
        }
    }
}

/*
 * The type moves before the directives that precede the declaration, so none of them may define
 * anything.
 */
static void check_directives(struct vyre_cl_program *program,
                             const struct vyre_cl_function *function, uint32_t last)
{
    for (uint32_t i = function->body; i < last; i++) {
        if (!vyre_cl_at(program, i)->directive || !vyre_cl_is_sign(program, i, '#'))
            continue;
        if (vyre_cl_is(program, i + 1, "define") || vyre_cl_is(program, i + 1, "undef"))
            vyre_cl_program_refuse(program, "local variable behind a define in its function");
    }
}

static uint32_t statement_start(const struct vyre_cl_program *program, uint32_t index,
                                uint32_t body)
{
    while (index > body + 1 && !vyre_cl_is_sign(program, index - 1, ';') &&
           !vyre_cl_is_sign(program, index - 1, '{') && !vyre_cl_is_sign(program, index - 1, '}') &&
           !vyre_cl_at(program, index - 1)->directive)
        index--;
    return index;
}

/* The end of the declarator around `index`: its comma or semicolon. */
static uint32_t declarator_end(const struct vyre_cl_program *program, uint32_t index, uint32_t end)
{
    while (index < end && !vyre_cl_is_sign(program, index, ',') &&
           !vyre_cl_is_sign(program, index, ';')) {
        uint32_t other = program->match[index];
        index = other != VYRE_CL_NONE && other > index ? other + 1 : index + 1;
    }
    return index;
}

enum declared { DECLARES_POINTER, DECLARES_VARIABLE, DECLARES_UNKNOWN };

/*
 * What a declarator declares, and where its name is. Brackets and attributes may follow the name.
 */
static enum declared see_declarator(const struct vyre_cl_program *program, uint32_t first,
                                    uint32_t end, uint32_t *out_name)
{
    uint32_t i = first;
    bool star = false;
    while (
        i < end &&
        (vyre_cl_at(program, i)->kind == VYRE_CL_TOKEN_NAME || vyre_cl_is_sign(program, i, '*')) &&
        !vyre_cl_is_attribute(program, i)) {
        if (star && vyre_cl_is_local(program, i))
            return DECLARES_UNKNOWN;
        star = star || vyre_cl_is_sign(program, i, '*');
        i++;
    }
    if (star)
        return DECLARES_POINTER;
    *out_name = i - 1;
    while (i < end && (vyre_cl_is_sign(program, i, '[') || vyre_cl_is_attribute(program, i)))
        i = program->match[vyre_cl_is_sign(program, i, '[') ? i : i + 1] + 1;
    return i == end && *out_name + 1 > first ? DECLARES_VARIABLE : DECLARES_UNKNOWN;
}

/* The variables of one declaration. Returns the declaration's last token. */
static uint32_t read_declarators(struct vyre_cl_program *program, uint32_t first, uint32_t limit)
{
    uint32_t from = program->local_count;
    uint32_t pointers = 0;
    uint32_t at = first;
    for (;;) {
        uint32_t end = declarator_end(program, at, limit);
        uint32_t stop = at; /* after '=' may come any expression; only a pointer can have one */
        while (stop < end && !vyre_cl_is_sign(program, stop, '='))
            stop++;
        uint32_t name = at;
        enum declared declared = see_declarator(program, at, stop, &name);
        if (declared == DECLARES_VARIABLE && stop == end)
            program->locals[program->local_count++] = (struct vyre_cl_local){
                .name = vyre_cl_at(program, name)->name, .name_token = name, .first = first};
        else if (declared == DECLARES_POINTER)
            pointers++;
        else
            vyre_cl_program_refuse(program, "declaration with __local that is not understood");
        if (program->reason || !vyre_cl_is_sign(program, end, ',')) {
            if (pointers && program->local_count > from)
                vyre_cl_program_refuse(program, "declaration with __local that is not understood");
            return end;
        }
        at = end + 1;
    }
}

/* Reads the declaration around the word `__local` at `index`; returns its last token. */
static uint32_t see_local(struct vyre_cl_program *program, struct vyre_cl_function *function,
                          uint32_t index)
{
    uint32_t first = statement_start(program, index, function->body);
    uint32_t from = program->local_count;
    uint32_t last = read_declarators(program, first, function->last);
    bool outermost = bracket_around(program, index, function->body) == function->body;
    bool variable = program->local_count > from;
    if (variable && (!outermost || vyre_cl_is(program, first, "typedef") ||
                     !vyre_cl_is_sign(program, last, ';')))
        vyre_cl_program_refuse(program, "declaration with __local that is not understood");
    for (uint32_t i = from; i < program->local_count; i++)
        program->locals[i].last = last;
    function->local_count = program->local_count - function->first_local;
    return last;
}

static void see_kernel(struct vyre_cl_program *program, struct vyre_cl_function *function)
{
    function->first_local = program->local_count;
    for (uint32_t i = function->body + 1; !program->reason && i < function->last; i++) {
        if (vyre_cl_at(program, i)->directive || !vyre_cl_is_local(program, i))
            continue;
        uint32_t around = bracket_around(program, i, function->body);
        if (vyre_cl_is_sign(program, around, '{'))
            i = see_local(program, function, i);
    }
    for (uint32_t i = function->first_local; !program->reason && i < program->local_count; i++) {
        check_directives(program, function, program->locals[i].last);
        check_name(program, function, &program->locals[i]);
        check_words(program, function, &program->locals[i]);
    }
}

void vyre_cl_program_locals(struct vyre_cl_program *program)
{
    for (uint32_t i = 0; !program->reason && i < program->function_count; i++) {
        struct vyre_cl_function *function = &program->functions[i];
        if (function->is_kernel && function->body != VYRE_CL_NONE &&
            vyre_cl_function_is_kept(program, function))
            see_kernel(program, function);
    }
}
