/*
 * print.c: statements, functions and whole programs.
 */
#include "kernels/print.h"

#include <inttypes.h>

static void print_statement(struct printer *printer, uint32_t number, uint32_t depth);

static void indent(struct printer *printer, uint32_t depth)
{
    text_add(printer->text, "%*s", (int)depth * 4, "");
}

/* "{", the statements, "}" without an end of line. */
static void print_block(struct printer *printer, uint32_t number, uint32_t depth)
{
    text_add(printer->text, "{\n");
    for (uint32_t i = printer->tree->nodes[number].a; i != 0; i = printer->tree->nodes[i].next)
        print_statement(printer, i, depth + 1);
    indent(printer, depth);
    text_add(printer->text, "}");
}

/* ---- Declarations ----------------------------------------------------------------------------- */

static void print_variable_type(struct printer *printer, const struct variable *variable)
{
    if (variable->type_macro != 0)
        text_add(printer->text, "T%u", variable->type_macro - 1);
    else
        print_type(printer, variable->type);
}

static void print_declared(struct printer *printer, uint32_t number)
{
    const struct variable *variable = &printer->tree->variables[number];
    bool reads = variable->is_pointer && variable->is_constant;
    text_add(printer->text, "%s",
             reads && variable->space == SPACE_GLOBAL ? printer->dialect->constant_space
                                                      : printer->dialect->spaces[variable->space]);
    print_variable_type(printer, variable);
    text_add(printer->text, variable->is_pointer ? " *" : " ");
    print_variable_name(printer, number);
    if (variable->count == 0 || variable->is_pointer)
        return;
    if (variable->count_macro != 0)
        text_add(printer->text, "[C%u]", variable->count_macro - 1);
    else
        text_add(printer->text, "[%u]", variable->count);
}

static void print_declare(struct printer *printer, const struct node *node)
{
    const struct variable *variable = &printer->tree->variables[node->variable];
    bool braces = variable->count != 0 || variable->type.base == BASE_STRUCT;
    print_declared(printer, node->variable);
    text_add(printer->text, braces ? " = {" : " = ");
    for (uint32_t i = node->a; i != 0; i = printer->tree->nodes[i].next) {
        print_expression(printer, i);
        if (printer->tree->nodes[i].next != 0)
            text_add(printer->text, ", ");
    }
    text_add(printer->text, braces ? "};\n" : ";\n");
}

/* ---- Statements ------------------------------------------------------------------------------- */

static void print_assign(struct printer *printer, const struct node *node)
{
    print_expression(printer, node->a);
    text_add(printer->text, " %s ", node->op == 0 ? "=" : printer->dialect->compound[node->op]);
    print_expression(printer, node->b);
    text_add(printer->text, ";\n");
}

/* With one pair of brackets: compilers warn of two. */
static void print_in_brackets(struct printer *printer, uint32_t condition)
{
    struct text inner = {0};
    struct printer other = *printer;
    other.text = &inner;
    print_condition(&other, condition);
    int depth = 0;
    bool bracketed = inner.bytes[0] == '(';
    for (size_t i = 0; i + 1 < inner.size_bytes; i++) {
        depth += (inner.bytes[i] == '(') - (inner.bytes[i] == ')');
        bracketed &= depth > 0;
    }
    text_add(printer->text, bracketed ? "%s" : "(%s)", inner.bytes);
    free(inner.bytes);
}

static void print_if(struct printer *printer, const struct node *node, uint32_t depth)
{
    text_add(printer->text, "if ");
    print_in_brackets(printer, node->a);
    text_add(printer->text, " ");
    print_block(printer, node->b, depth);
    if (node->c == 0) {
        text_add(printer->text, "\n");
        return;
    }
    const struct node *other = &printer->tree->nodes[node->c];
    text_add(printer->text, " else ");
    if (other->kind == ST_IF) {
        print_if(printer, other, depth);
        return;
    }
    print_block(printer, node->c, depth);
    text_add(printer->text, "\n");
}

static void print_for(struct printer *printer, const struct node *node, uint32_t depth)
{
    text_add(printer->text, "for (uint ");
    print_variable_name(printer, node->variable);
    text_add(printer->text, " = %" PRIu64 "u; ", node->value);
    print_variable_name(printer, node->variable);
    if (node->op == STEP_HALVE) {
        text_add(printer->text, " > 0u; ");
        print_variable_name(printer, node->variable);
        text_add(printer->text, " >>= 1) ");
    } else {
        text_add(printer->text, " < ");
        print_expression(printer, node->a);
        text_add(printer->text, "; ");
        print_variable_name(printer, node->variable);
        text_add(printer->text, node->c == 1 ? "++) " : " += %uu) ", node->c);
    }
    print_block(printer, node->b, depth);
    text_add(printer->text, "\n");
}

/* While and do: the counter stands before the loop, in a block of its own. */
static void print_while(struct printer *printer, const struct node *node, uint32_t depth)
{
    bool first = node->kind == ST_WHILE;
    text_add(printer->text, "{\n");
    indent(printer, depth + 1);
    text_add(printer->text, "uint ");
    print_variable_name(printer, node->variable);
    text_add(printer->text, " = 0u;\n");
    indent(printer, depth + 1);
    if (first) {
        text_add(printer->text, "while (");
        print_variable_name(printer, node->variable);
        text_add(printer->text, " < ");
        print_expression(printer, node->a);
        text_add(printer->text, ") {\n");
    } else {
        text_add(printer->text, "do {\n");
    }
    indent(printer, depth + 2);
    print_variable_name(printer, node->variable);
    text_add(printer->text, "++;\n");
    for (uint32_t i = printer->tree->nodes[node->b].a; i != 0; i = printer->tree->nodes[i].next)
        print_statement(printer, i, depth + 2);
    indent(printer, depth + 1);
    text_add(printer->text, "}");
    if (!first) {
        text_add(printer->text, " while (");
        print_variable_name(printer, node->variable);
        text_add(printer->text, " < ");
        print_expression(printer, node->a);
        text_add(printer->text, ");");
    }
    text_add(printer->text, "\n");
    indent(printer, depth);
    text_add(printer->text, "}\n");
}

static void print_switch(struct printer *printer, const struct node *node, uint32_t depth)
{
    text_add(printer->text, "switch (");
    print_expression(printer, node->a);
    text_add(printer->text, ") {\n");
    for (uint32_t i = node->b; i != 0; i = printer->tree->nodes[i].next) {
        const struct node *arm = &printer->tree->nodes[i];
        indent(printer, depth);
        if (arm->flag & CASE_DEFAULT)
            text_add(printer->text, "default: ");
        else
            text_add(printer->text, "case %" PRIu64 "u: ", arm->value);
        print_block(printer, arm->a, depth);
        text_add(printer->text, arm->flag & CASE_FALLS ? "\n" : " break;\n");
    }
    indent(printer, depth);
    text_add(printer->text, "}\n");
}

static void print_invoke(struct printer *printer, const struct node *node)
{
    if (node->a != 0) {
        print_expression(printer, node->a);
        text_add(printer->text, " = ");
    }
    print_expression(printer, node->b);
    text_add(printer->text, ";\n");
}

static void print_atomic(struct printer *printer, const struct node *node)
{
    for (const char *at = printer->dialect->atomic_add; *at != '\0'; at++) {
        if (*at == '$')
            print_expression(printer, *++at == '1' ? node->a : node->b);
        else
            text_add(printer->text, "%c", *at);
    }
    text_add(printer->text, ";\n");
}

static void print_return(struct printer *printer, const struct node *node)
{
    text_add(printer->text, node->a != 0 ? "return " : "return");
    if (node->a != 0)
        print_expression(printer, node->a);
    text_add(printer->text, ";\n");
}

static void print_statement(struct printer *printer, uint32_t number, uint32_t depth)
{
    const struct node *node = &printer->tree->nodes[number];
    indent(printer, depth);
    switch (node->kind) {
    case ST_BLOCK:
        print_block(printer, number, depth);
        text_add(printer->text, "\n");
        break;
    case ST_DECLARE:
        print_declare(printer, node);
        break;
    case ST_ASSIGN:
        print_assign(printer, node);
        break;
    case ST_IF:
        print_if(printer, node, depth);
        break;
    case ST_FOR:
        print_for(printer, node, depth);
        break;
    case ST_WHILE:
    case ST_DO:
        print_while(printer, node, depth);
        break;
    case ST_SWITCH:
        print_switch(printer, node, depth);
        break;
    case ST_RETURN:
        print_return(printer, node);
        break;
    case ST_INVOKE:
        print_invoke(printer, node);
        break;
    case ST_ATOMIC_ADD:
        print_atomic(printer, node);
        break;
    case ST_BREAK:
        text_add(printer->text, "break;\n");
        break;
    case ST_CONTINUE:
        text_add(printer->text, "continue;\n");
        break;
    case ST_BARRIER:
        text_add(printer->text, "%s;\n", printer->dialect->barrier);
        break;
    default:
        text_add(printer->text, "?;\n");
        break;
    }
}

/* ---- Programs --------------------------------------------------------------------------------- */

static void print_structure(struct printer *printer, uint32_t number)
{
    const struct structure *self = &printer->tree->structures[number];
    text_add(printer->text, "struct s%u { ", number);
    for (uint32_t i = 0; i < self->field_count; i++) {
        print_type(printer, self->fields[i]);
        text_add(printer->text, " f%u; ", i);
    }
    text_add(printer->text, "};\n");
}

static void print_macro_definition(struct printer *printer, uint32_t number)
{
    const struct macro *macro = &printer->tree->macros[number];
    if (macro->kind == MACRO_TYPE) {
        text_add(printer->text, "#define T%u ", number);
        print_type(printer, macro->type);
    } else if (macro->parameter_count == 0) {
        text_add(printer->text, "#define C%u ", number);
        print_expression(printer, macro->body);
    } else {
        text_add(printer->text, "#define F%u(", number);
        for (uint32_t i = 0; i < macro->parameter_count; i++)
            text_add(printer->text, i == 0 ? "a%u" : ", a%u", i);
        text_add(printer->text, ") (");
        print_expression(printer, macro->body);
        text_add(printer->text, ")");
    }
    text_add(printer->text, "\n");
}

void print_kernel_name(uint32_t function, char out_name[16])
{
    snprintf(out_name, 16, "k%u", function);
}

static void print_function(struct printer *printer, uint32_t number, const struct tree_uses *uses)
{
    const struct function *function = &printer->tree->functions[number];
    if (function->is_kernel) {
        text_add(printer->text, "%s k%u(", printer->dialect->kernel, number);
    } else {
        text_add(printer->text, "%s", printer->dialect->function);
        print_type(printer, function->result);
        text_add(printer->text, " f%u(", number);
    }
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        text_add(printer->text, i == 0 ? "" : ", ");
        print_declared(printer, function->parameters[i]);
    }
    text_add(printer->text, ")\n{\n");
    for (uint32_t i = 0; i < function->variable_count; i++) {
        uint32_t variable = function->first_variable + i;
        const struct variable *self = &printer->tree->variables[variable];
        if (self->space != SPACE_LOCAL || self->is_parameter || !uses->variables[variable])
            continue;
        indent(printer, 1);
        print_declared(printer, variable);
        text_add(printer->text, ";\n");
    }
    for (uint32_t i = printer->tree->nodes[function->body].a; i != 0;
         i = printer->tree->nodes[i].next)
        print_statement(printer, i, 1);
    text_add(printer->text, "}\n");
}

void print_tree(const struct tree *tree, const struct dialect *dialect, bool fault,
                struct text *text)
{
    struct printer printer = {tree, dialect, fault, text};
    struct tree_uses *uses = malloc(sizeof *uses);
    if (!uses)
        abort();
    tree_find_uses(tree, uses);
    text_add(text, "%s", dialect->prelude);
    for (uint32_t i = 0; i < tree->macro_count; i++)
        if (uses->macros[i])
            print_macro_definition(&printer, i);
    for (uint32_t i = 0; i < tree->structure_count; i++)
        if (uses->structures[i])
            print_structure(&printer, i);
    for (uint32_t i = 0; i < tree->function_count; i++)
        if (uses->functions[i])
            print_function(&printer, i, uses);
    free(uses);
}

static void print_dispatch(const struct program *program, const struct dispatch *dispatch,
                           struct text *text)
{
    const struct function *kernel = &program->tree.functions[dispatch->kernel];
    text_add(text, "  k%u groups %ux%ux%u local %ux%ux%u", dispatch->kernel, dispatch->groups[0],
             dispatch->groups[1], dispatch->groups[2], kernel->local_size[0], kernel->local_size[1],
             kernel->local_size[2]);
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        const struct variable *parameter = &program->tree.variables[kernel->parameters[i]];
        const struct area *area = &dispatch->areas[i];
        if (!parameter->is_pointer)
            text_add(text, " p%u=0x%" PRIx64, parameter->number, dispatch->scalars[i]);
        else if (parameter->space == SPACE_LOCAL)
            text_add(text, " m%u=%u bytes", parameter->number, area->size_bytes);
        else
            text_add(text, " p%u=b%u[%u..%u]", parameter->number, area->buffer, area->offset_bytes,
                     area->offset_bytes + area->size_bytes);
    }
    for (uint32_t i = 0; i < program->tree.specialized_count; i++)
        text_add(text, " SPEC_%u=%" PRIu64, i, dispatch->specialized[i]);
    text_add(text, "\n");
}

void print_dispatches(const struct program *program, struct text *text)
{
    for (uint32_t b = 0; b < program->batch_count; b++) {
        const struct batch *batch = &program->batches[b];
        text_add(text, "batch %u, submitted %u times:\n", b, batch->repeats);
        for (uint32_t i = 0; i < batch->dispatch_count; i++)
            if (!batch->dispatches[i].dropped)
                print_dispatch(program, &batch->dispatches[i], text);
    }
}
