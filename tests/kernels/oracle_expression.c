/*
 * oracle_expression.c: the value of an expression for one work-item, and assignment.
 */
#include <string.h>

#include "kernels/oracle_state.h"

static uint32_t id_value(const struct oracle *oracle, const struct node *node, uint32_t item)
{
    const uint32_t *local_size = oracle->kernel_frame->function->local_size;
    uint32_t dimension = (uint32_t)node->value;
    uint32_t local = item;
    for (uint32_t i = 0; i < dimension; i++)
        local /= local_size[i];
    local %= local_size[dimension];
    uint32_t groups = oracle->dispatch->groups[dimension];
    switch ((enum id)node->op) {
    case ID_GLOBAL:
        return oracle->group_id[dimension] * local_size[dimension] + local;
    case ID_LOCAL:
        return local;
    case ID_GROUP:
        return oracle->group_id[dimension];
    case ID_GLOBAL_SIZE:
        return groups * local_size[dimension];
    case ID_LOCAL_SIZE:
        return local_size[dimension];
    case ID_GROUP_COUNT:
        break;
    }
    return groups;
}

/* The element that an index names. */
static uint32_t find_element(struct oracle *oracle, struct frame *frame, uint32_t item,
                             const struct node *node)
{
    if (node->kind == EX_VARIABLE)
        return 0;
    struct value index = oracle_evaluate(oracle, frame, item, node->a);
    uint64_t element = node->value != 0 ? index.cells[0] % node->value : index.cells[0];
    return element > UINT32_MAX ? UINT32_MAX : (uint32_t)element;
}

static struct value load(struct oracle *oracle, struct frame *frame, uint32_t item,
                         const struct node *node)
{
    const struct type type = oracle->tree->variables[node->variable].type;
    struct home home = oracle_home(oracle, frame, node->variable);
    uint32_t element = find_element(oracle, frame, item, node);
    struct value value = {{0}};
    if (node->field != 0) {
        value.cells[0] = oracle_load(oracle, &home, type, item, element, node->field - 1u);
        return value;
    }
    for (uint32_t i = 0; i < type_cells(oracle->tree, type); i++)
        value.cells[i] = oracle_load(oracle, &home, type, item, element, i);
    return value;
}

void oracle_assign(struct oracle *oracle, struct frame *frame, uint32_t item, uint32_t place,
                   struct value value)
{
    const struct node *node = &oracle->tree->nodes[place];
    uint32_t only = UINT32_MAX;
    if (node->kind == EX_COMPONENT) {
        only = (uint32_t)(node->value & 3);
        node = &oracle->tree->nodes[node->a];
    } else if (node->field != 0) {
        only = node->field - 1u;
    }
    if (node->kind != EX_VARIABLE && node->kind != EX_ELEMENT) {
        oracle_fail(oracle, "no place to assign to");
        return;
    }
    const struct type type = oracle->tree->variables[node->variable].type;
    struct home home = oracle_home(oracle, frame, node->variable);
    uint32_t element = find_element(oracle, frame, item, node);
    if (only != UINT32_MAX) {
        oracle_store(oracle, &home, type, item, element, only, value.cells[0]);
        return;
    }
    for (uint32_t i = 0; i < type_cells(oracle->tree, type); i++)
        oracle_store(oracle, &home, type, item, element, i, value.cells[i]);
}

void oracle_atomic_add(struct oracle *oracle, struct frame *frame, uint32_t item, uint32_t place,
                       uint64_t value)
{
    const struct node *node = &oracle->tree->nodes[place];
    struct home home = oracle_home(oracle, frame, node->variable);
    uint32_t element = find_element(oracle, frame, item, node);
    oracle_add(oracle, &home, oracle->tree->variables[node->variable].type, item, element, value);
}

static struct value evaluate_vector(struct oracle *oracle, struct frame *frame, uint32_t item,
                                    const struct node *node)
{
    struct value value = {{0}};
    uint32_t count = 0;
    for (uint32_t i = node->a; i != 0 && count < node->type.width; i = oracle->tree->nodes[i].next)
        value.cells[count++] = oracle_evaluate(oracle, frame, item, i).cells[0];
    for (uint32_t i = 1; count == 1 && i < node->type.width; i++)
        value.cells[i] = value.cells[0];
    if (count != 1 && count != node->type.width)
        oracle_fail(oracle, "a vector of too few components");
    return value;
}

static struct value evaluate_operator(struct oracle *oracle, struct frame *frame, uint32_t item,
                                      const struct node *node)
{
    struct value a = oracle_evaluate(oracle, frame, item, node->a);
    struct type type = oracle->tree->nodes[node->a].type;
    if (node->kind == EX_UNARY)
        return oracle_unary(node->op, type, a);
    struct value truth = {{a.cells[0] != 0}};
    if (node->op == OP_AND_THEN || node->op == OP_OR_ELSE) {
        if ((a.cells[0] != 0) == (node->op == OP_AND_THEN))
            truth.cells[0] = oracle_evaluate(oracle, frame, item, node->b).cells[0] != 0;
        return truth;
    }
    struct value b = oracle_evaluate(oracle, frame, item, node->b);
    return oracle_binary(node->op, type, a, b);
}

static struct value evaluate_call(struct oracle *oracle, struct frame *frame, uint32_t item,
                                  uint32_t number)
{
    struct frame callee;
    uint32_t used = oracle->stack_used;
    oracle_call(oracle, frame, number, UINT64_C(1) << item, &callee);
    oracle->stack_used = used;
    return callee.results[item];
}

/* The arguments of a macro are values: they have no effects. They are kept in a made-up frame. */
static struct value evaluate_macro(struct oracle *oracle, struct frame *frame, uint32_t item,
                                   const struct node *node)
{
    const struct macro *macro = &oracle->tree->macros[node->callee];
    struct frame inner = {.function = frame->function};
    uint32_t count = 0;
    for (uint32_t i = node->a; i != 0 && count < 3; i = oracle->tree->nodes[i].next)
        inner.results[count++] = oracle_evaluate(oracle, frame, item, i);
    if (count != macro->parameter_count)
        oracle_fail(oracle, "a macro with too few arguments");
    return oracle_evaluate(oracle, &inner, item, macro->body);
}

struct value oracle_evaluate(struct oracle *oracle, struct frame *frame, uint32_t item,
                             uint32_t number)
{
    const struct node *node = &oracle->tree->nodes[number];
    struct value value = {{0}};
    if (++oracle->steps > ORACLE_STEPS_MAX)
        oracle_fail(oracle, "too many steps");
    if (oracle->failed)
        return value;
    switch (node->kind) {
    case EX_CONSTANT:
        value.cells[0] = node->value;
        return value;
    case EX_VARIABLE:
    case EX_ELEMENT:
        return load(oracle, frame, item, node);
    case EX_COMPONENT: {
        struct value vector = oracle_evaluate(oracle, frame, item, node->a);
        for (uint32_t i = 0; i < node->type.width; i++)
            value.cells[i] = vector.cells[node->value >> 4 * i & 3];
        return value;
    }
    case EX_VECTOR:
        return evaluate_vector(oracle, frame, item, node);
    case EX_UNARY:
    case EX_BINARY:
        return evaluate_operator(oracle, frame, item, node);
    case EX_SELECT:
        value = oracle_evaluate(oracle, frame, item, node->a);
        return oracle_evaluate(oracle, frame, item, value.cells[0] != 0 ? node->b : node->c);
    case EX_CAST:
        return oracle_cast(oracle->tree->nodes[node->a].type, node->type,
                           oracle_evaluate(oracle, frame, item, node->a));
    case EX_CALL:
        return evaluate_call(oracle, frame, item, number);
    case EX_MACRO:
        return evaluate_macro(oracle, frame, item, node);
    case EX_PARAMETER:
        return frame->results[node->value];
    case EX_ID:
        value.cells[0] = id_value(oracle, node, item);
        return value;
    case EX_SPECIALIZED:
        value.cells[0] = oracle->dispatch->specialized[node->value];
        return value;
    default:
        oracle_fail(oracle, "no expression");
        return value;
    }
}
