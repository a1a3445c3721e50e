/*
 * print_expression.c: expressions and types, by the templates of a dialect.
 */
#include <inttypes.h>
#include <string.h>

#include "kernels/print.h"

void print_type(struct printer *printer, struct type type)
{
    if (type.base == BASE_STRUCT)
        text_add(printer->text, "%ss%u", printer->dialect->structure, type.structure);
    else if (type.width > 1)
        text_add(printer->text, "%s%u", printer->dialect->type_names[type.base], type.width);
    else
        text_add(printer->text, "%s", printer->dialect->type_names[type.base]);
}

void print_variable_name(struct printer *printer, uint32_t variable)
{
    const struct variable *self = &printer->tree->variables[variable];
    const char *prefix = self->space == SPACE_LOCAL ? "m" : self->is_parameter ? "p" : "v";
    text_add(printer->text, "%s%u", prefix, self->number);
}

/* ---- Templates -------------------------------------------------------------------------------- */

struct operand {
    uint32_t node; /* 0: the text */
    bool condition;
    const char *text;
};

static void print_operand(struct printer *printer, const struct operand *operand)
{
    if (operand->node == 0)
        text_add(printer->text, "%s", operand->text);
    else if (operand->condition)
        print_condition(printer, operand->node);
    else
        print_expression(printer, operand->node);
}

static void print_unsigned(struct printer *printer, struct type type)
{
    text_add(printer->text, "%s", printer->dialect->unsigned_names[type.base]);
    if (type.width > 1)
        text_add(printer->text, "%u", type.width);
}

static void expand(struct printer *printer, const char *template, struct type type,
                   const struct operand *operands)
{
    for (const char *at = template; *at != '\0'; at++) {
        if (*at != '$') {
            text_add(printer->text, "%c", *at);
            continue;
        }
        at++;
        if (*at == 't')
            print_type(printer, type);
        else if (*at == 'u')
            print_unsigned(printer, type);
        else if (*at == 'm')
            text_add(printer->text, "%u", base_bits(type.base) - 1);
        else if (*at == 'w' && type.width > 1)
            text_add(printer->text, "%u", type.width);
        else if (*at >= '1' && *at <= '3')
            print_operand(printer, &operands[*at - '1']);
    }
}

/* ---- Nodes ------------------------------------------------------------------------------------ */

static void print_constant(struct printer *printer, const struct node *node, uint64_t wrong)
{
    char number[24];
    uint64_t value = node->value ^ wrong;
    snprintf(number, sizeof number, value < 4096 ? "%" PRIu64 : "0x%" PRIx64, value);
    /* What needs no care is written as people write it. */
    if (node->type.base == BASE_INT && value < 0x80000000u) {
        text_add(printer->text, "%s", number);
        return;
    }
    struct operand operand = {.text = number};
    expand(printer, printer->dialect->constants[node->type.base], node->type, &operand);
}

static void print_list(struct printer *printer, uint32_t number)
{
    for (bool first = true; number != 0; number = printer->tree->nodes[number].next) {
        if (!first)
            text_add(printer->text, ", ");
        print_expression(printer, number);
        first = false;
    }
}

static void print_element(struct printer *printer, const struct node *node)
{
    const struct variable *variable = &printer->tree->variables[node->variable];
    print_variable_name(printer, node->variable);
    text_add(printer->text, "[");
    print_expression(printer, node->a);
    if (node->value != 0 && variable->count_macro != 0 && node->value == variable->count)
        text_add(printer->text, " %% C%u", variable->count_macro - 1);
    else if (node->value != 0 && (node->value & (node->value - 1)) == 0)
        text_add(printer->text, " & %" PRIu64 "u", node->value - 1);
    else if (node->value != 0)
        text_add(printer->text, " %% %" PRIu64 "u", node->value);
    text_add(printer->text, "]");
    if (node->field != 0)
        text_add(printer->text, ".f%u", node->field - 1);
}

static void print_component(struct printer *printer, const struct node *node)
{
    print_expression(printer, node->a);
    text_add(printer->text, ".");
    for (uint32_t i = 0; i < node->type.width; i++)
        text_add(printer->text, "%c", "xyzw"[node->value >> 4 * i & 3]);
}

static bool gives_truth(const struct node *node)
{
    return (node->kind == EX_BINARY && node->op >= OP_LESS && node->op <= OP_OR_ELSE) ||
           (node->kind == EX_UNARY && node->op == OP_LOGICAL_NOT);
}

static void print_operator(struct printer *printer, const struct node *node)
{
    const struct node *first = &printer->tree->nodes[node->a];
    bool logical = node->op == OP_AND_THEN || node->op == OP_OR_ELSE || node->op == OP_LOGICAL_NOT;
    struct type type = logical ? type_uint() : first->type;
    const char *template = printer->dialect->operators[type.base][node->op];
    if (!template)
        template = printer->dialect->operators[BASE_UINT][node->op];
    const struct operand operands[] = {{node->a, logical, NULL}, {node->b, logical, NULL}};
    const struct node *second = &printer->tree->nodes[node->b];
    if (printer->fault && node->op == OP_XOR && second->kind == EX_CONSTANT) {
        text_add(printer->text, "(");
        print_expression(printer, node->a);
        text_add(printer->text, " ^ ");
        print_constant(printer, second, 1);
        text_add(printer->text, ")");
        return;
    }
    expand(printer, template, type, operands);
}

static void print_cast(struct printer *printer, const struct node *node)
{
    const struct operand operand = {.node = node->a};
    const char *const *casts =
        node->type.width > 1 ? printer->dialect->vector_casts : printer->dialect->casts;
    expand(printer, casts[node->type.base], node->type, &operand);
}

static void print_vector(struct printer *printer, const struct node *node)
{
    struct text components = {0};
    struct printer inner = *printer;
    inner.text = &components;
    print_list(&inner, node->a);
    const struct operand operand = {.text = components.bytes ? components.bytes : ""};
    expand(printer, printer->dialect->vector, node->type, &operand);
    free(components.bytes);
}

static void print_macro(struct printer *printer, const struct node *node)
{
    const struct macro *macro = &printer->tree->macros[node->callee];
    text_add(printer->text, macro->parameter_count == 0 ? "C%u" : "F%u", node->callee);
    if (macro->parameter_count == 0)
        return;
    text_add(printer->text, "(");
    print_list(printer, node->a);
    text_add(printer->text, ")");
}

static void print_plain(struct printer *printer, uint32_t number)
{
    const struct node *node = &printer->tree->nodes[number];
    char digits[24];
    struct operand operands[3] = {
        {node->a, true, NULL}, {node->b, false, NULL}, {node->c, false, NULL}};
    switch (node->kind) {
    case EX_CONSTANT:
        print_constant(printer, node, 0);
        break;
    case EX_VARIABLE:
        print_variable_name(printer, node->variable);
        if (node->field != 0)
            text_add(printer->text, ".f%u", node->field - 1);
        break;
    case EX_ELEMENT:
        print_element(printer, node);
        break;
    case EX_COMPONENT:
        print_component(printer, node);
        break;
    case EX_VECTOR:
        print_vector(printer, node);
        break;
    case EX_UNARY:
    case EX_BINARY:
        print_operator(printer, node);
        break;
    case EX_SELECT:
        expand(printer, printer->dialect->select, node->type, operands);
        break;
    case EX_CAST:
        print_cast(printer, node);
        break;
    case EX_CALL:
        text_add(printer->text, "f%u(", node->callee);
        print_list(printer, node->a);
        text_add(printer->text, ")");
        break;
    case EX_MACRO:
        print_macro(printer, node);
        break;
    case EX_PARAMETER:
        text_add(printer->text, "(a%" PRIu64 ")", node->value);
        break;
    case EX_ID:
    case EX_SPECIALIZED:
        snprintf(digits, sizeof digits, "%" PRIu64, node->value);
        operands[0] = (struct operand){.text = digits};
        expand(printer,
               node->kind == EX_ID ? printer->dialect->ids[node->op]
                                   : printer->dialect->specialized,
               node->type, operands);
        break;
    default:
        text_add(printer->text, "?");
        break;
    }
}

void print_expression(struct printer *printer, uint32_t number)
{
    if (!gives_truth(&printer->tree->nodes[number])) {
        print_plain(printer, number);
        return;
    }
    text_add(printer->text, "(uint)");
    print_plain(printer, number);
}

void print_condition(struct printer *printer, uint32_t number)
{
    print_plain(printer, number);
}
