/*
 * tree.c: making, copying and walking trees.
 */
#include "kernels/tree.h"

#include <string.h>

uint32_t tree_add(struct tree *tree, struct node node)
{
    if (tree->node_count == 0)
        tree->node_count = 1;
    if (tree->node_count == NODES_MAX)
        return 0;
    tree->nodes[tree->node_count] = node;
    return tree->node_count++;
}

/* A copy of a list, in order. */
static uint32_t copy_list(struct tree *tree, uint32_t number)
{
    uint32_t first = 0;
    for (; number != 0; number = tree->nodes[number].next)
        tree_append(tree, &first, tree_copy(tree, number));
    return first;
}

uint32_t tree_copy(struct tree *tree, uint32_t number)
{
    if (number == 0)
        return 0;
    struct node node = tree->nodes[number];
    node.a = copy_list(tree, node.a);
    node.b = copy_list(tree, node.b);
    if (node.kind != ST_FOR) /* there it is a number */
        node.c = copy_list(tree, node.c);
    node.next = 0;
    return tree_add(tree, node);
}

void tree_append(struct tree *tree, uint32_t *first, uint32_t node)
{
    if (*first == 0) {
        *first = node;
        return;
    }
    uint32_t last = *first;
    while (tree->nodes[last].next != 0)
        last = tree->nodes[last].next;
    tree->nodes[last].next = node;
}

void tree_walk(const struct tree *tree, uint32_t number, tree_visit *visit, void *user)
{
    for (; number != 0; number = tree->nodes[number].next) {
        const struct node *node = &tree->nodes[number];
        visit(user, number);
        tree_walk(tree, node->a, visit, user);
        tree_walk(tree, node->b, visit, user);
        if (node->kind != ST_FOR)
            tree_walk(tree, node->c, visit, user);
    }
}

/* ---- Uses ------------------------------------------------------------------------------------- */

struct find {
    const struct tree *tree;
    struct tree_uses *uses;
};

static void use_function(struct find *find, uint32_t number);

static void use_variable(struct find *find, uint32_t number)
{
    const struct variable *variable = &find->tree->variables[number];
    find->uses->variables[number] = true;
    if (variable->type.base == BASE_STRUCT)
        find->uses->structures[variable->type.structure] = true;
    if (variable->type_macro != 0)
        find->uses->macros[variable->type_macro - 1] = true;
    if (variable->count_macro != 0)
        find->uses->macros[variable->count_macro - 1] = true;
}

static void use_node(void *user, uint32_t number)
{
    struct find *find = user;
    const struct node *node = &find->tree->nodes[number];
    find->uses->statements += !node_is_expression(node) && node->kind != ST_BLOCK;
    switch (node->kind) {
    case EX_VARIABLE:
    case EX_ELEMENT:
    case ST_DECLARE:
    case ST_FOR:
    case ST_WHILE:
    case ST_DO:
        use_variable(find, node->variable);
        break;
    case EX_CALL:
        use_function(find, node->callee);
        break;
    case EX_MACRO:
        if (!find->uses->macros[node->callee]) {
            find->uses->macros[node->callee] = true;
            tree_walk(find->tree, find->tree->macros[node->callee].body, use_node, find);
        }
        break;
    default:
        break;
    }
}

static void use_function(struct find *find, uint32_t number)
{
    const struct function *function = &find->tree->functions[number];
    if (find->uses->functions[number])
        return;
    find->uses->functions[number] = true;
    for (uint32_t i = 0; i < function->parameter_count; i++)
        use_variable(find, function->parameters[i]);
    tree_walk(find->tree, function->body, use_node, find);
}

void tree_find_uses(const struct tree *tree, struct tree_uses *out_uses)
{
    struct find find = {tree, out_uses};
    memset(out_uses, 0, sizeof *out_uses);
    for (uint32_t i = 0; i < tree->function_count; i++)
        if (tree->functions[i].is_kernel && !tree->functions[i].dropped)
            use_function(&find, i);
}

/* ---- Scopes ----------------------------------------------------------------------------------- */

struct scopes {
    const struct tree *tree;
    bool declared[VARIABLES_MAX];
    bool closed;
};

static void check_node(struct scopes *scopes, uint32_t number);

static void check_list(struct scopes *scopes, uint32_t number)
{
    for (; number != 0; number = scopes->tree->nodes[number].next)
        check_node(scopes, number);
}

/* What is declared inside ends with it. */
static void check_scope(struct scopes *scopes, uint32_t number)
{
    bool outside[VARIABLES_MAX];
    memcpy(outside, scopes->declared, sizeof outside);
    check_list(scopes, number);
    memcpy(scopes->declared, outside, sizeof outside);
}

static void check_loop(struct scopes *scopes, const struct node *node)
{
    bool outside = scopes->declared[node->variable];
    check_list(scopes, node->a);
    scopes->declared[node->variable] = true;
    check_scope(scopes, node->b);
    scopes->declared[node->variable] = outside;
}

static void check_node(struct scopes *scopes, uint32_t number)
{
    const struct node *node = &scopes->tree->nodes[number];
    switch (node->kind) {
    case ST_BLOCK:
        check_scope(scopes, node->a);
        return;
    case ST_FOR:
    case ST_WHILE:
    case ST_DO:
        check_loop(scopes, node);
        return;
    case ST_DECLARE:
        check_list(scopes, node->a);
        scopes->declared[node->variable] = true;
        return;
    case EX_VARIABLE:
    case EX_ELEMENT:
        scopes->closed &= scopes->declared[node->variable];
        break;
    default:
        break;
    }
    check_list(scopes, node->a);
    check_list(scopes, node->b);
    check_list(scopes, node->c);
}

bool tree_is_closed(const struct tree *tree)
{
    struct scopes scopes = {.tree = tree, .closed = true};
    for (uint32_t i = 0; i < tree->variable_count; i++)
        scopes.declared[i] =
            tree->variables[i].is_parameter || tree->variables[i].space != SPACE_PRIVATE;
    for (uint32_t i = 0; i < tree->function_count; i++)
        if (!tree->functions[i].dropped)
            check_list(&scopes, tree->functions[i].body);
    return scopes.closed;
}

/* ---- Layout ----------------------------------------------------------------------------------- */

uint32_t type_cells(const struct tree *tree, struct type type)
{
    return type.base == BASE_STRUCT ? tree->structures[type.structure].field_count : type.width;
}

static uint32_t align_up(uint32_t offset, uint32_t alignment)
{
    return (offset + alignment - 1) / alignment * alignment;
}

uint32_t field_offset(const struct tree *tree, uint8_t structure, uint32_t field)
{
    const struct structure *self = &tree->structures[structure];
    uint32_t offset = 0;
    for (uint32_t i = 0; i < field; i++)
        offset =
            align_up(offset, type_bytes(tree, self->fields[i])) + type_bytes(tree, self->fields[i]);
    return field == self->field_count ? offset
                                      : align_up(offset, type_bytes(tree, self->fields[field]));
}

uint32_t type_bytes(const struct tree *tree, struct type type)
{
    if (type.base != BASE_STRUCT)
        return base_bits(type.base) / 8 * type.width;
    const struct structure *self = &tree->structures[type.structure];
    uint32_t alignment = 1;
    for (uint32_t i = 0; i < self->field_count; i++)
        if (type_bytes(tree, self->fields[i]) > alignment)
            alignment = type_bytes(tree, self->fields[i]);
    return align_up(field_offset(tree, type.structure, self->field_count), alignment);
}
