/*
 * edit.c: dropping and replacing nodes.
 */
#include "kernels/edit.h"

#include <stdlib.h>
#include <string.h>

/* ---- Lists ------------------------------------------------------------------------------------ */

enum wanted { WANT_STATEMENTS, WANT_WAYS, WANT_EXPRESSIONS };

struct collect {
    const struct tree *tree;
    enum wanted wanted;
    bool *places; /* nodes that something is assigned to */
    struct node_list *list;
};

static void note_place(void *user, uint32_t number)
{
    struct collect *collect = user;
    const struct node *node = &collect->tree->nodes[number];
    if (node->kind != ST_ASSIGN && node->kind != ST_INVOKE && node->kind != ST_ATOMIC_ADD)
        return;
    if (node->kind == ST_INVOKE)
        collect->places[node->b] = true; /* the call */
    collect->places[node->a] = true;
    if (node->a != 0 && collect->tree->nodes[node->a].kind == EX_COMPONENT)
        collect->places[collect->tree->nodes[node->a].a] = true;
}

static bool is_replaceable(const struct collect *collect, uint32_t number)
{
    const struct node *node = &collect->tree->nodes[number];
    if (!node_is_expression(node) || node->type.base == BASE_STRUCT || collect->places[number])
        return false;
    if (node->kind == EX_VARIABLE) { /* not the name of an array that a function is given */
        const struct variable *variable = &collect->tree->variables[node->variable];
        return variable->count == 0 && !variable->is_pointer;
    }
    return node->kind != EX_CONSTANT;
}

static void take_wanted(void *user, uint32_t number)
{
    struct collect *collect = user;
    const struct node *node = &collect->tree->nodes[number];
    bool statement = !node_is_expression(node);
    bool wanted = false;
    if (collect->wanted == WANT_STATEMENTS)
        wanted = statement && node->kind != ST_DECLARE && node->kind != ST_BLOCK;
    else if (collect->wanted == WANT_WAYS)
        wanted = node->kind == ST_IF || node->kind == ST_FOR || node->kind == ST_WHILE ||
                 node->kind == ST_DO;
    else
        wanted = is_replaceable(collect, number);
    if (wanted)
        collect->list->numbers[collect->list->count++] = number;
}

static void collect(const struct program *program, enum wanted wanted, struct node_list *out_list)
{
    const struct tree *tree = &program->tree;
    struct tree_uses *uses = malloc(sizeof *uses);
    bool *places = calloc(NODES_MAX, sizeof *places);
    struct collect state = {tree, wanted, places, out_list};
    if (!uses || !places)
        abort();
    out_list->count = 0;
    tree_find_uses(tree, uses);
    for (uint32_t i = 0; i < tree->function_count; i++) {
        if (!uses->functions[i])
            continue;
        tree_walk(tree, tree->functions[i].body, note_place, &state);
        tree_walk(tree, tree->functions[i].body, take_wanted, &state);
    }
    free(places);
    free(uses);
}

void edit_list_statements(const struct program *program, struct node_list *out_list)
{
    collect(program, WANT_STATEMENTS, out_list);
}

void edit_list_ways(const struct program *program, struct node_list *out_list)
{
    collect(program, WANT_WAYS, out_list);
}

void edit_list_expressions(const struct program *program, struct node_list *out_list)
{
    collect(program, WANT_EXPRESSIONS, out_list);
}

/* ---- Dropping --------------------------------------------------------------------------------- */

static void unlink_dropped(struct tree *tree, const bool *dropped, uint32_t *first)
{
    for (uint32_t *link = first; *link != 0;) {
        struct node *node = &tree->nodes[*link];
        if (dropped[*link]) {
            *link = node->next;
            continue;
        }
        unlink_dropped(tree, dropped, &node->a);
        unlink_dropped(tree, dropped, &node->b);
        if (node->kind != ST_FOR)
            unlink_dropped(tree, dropped, &node->c);
        link = &node->next;
    }
}

static void drop_marked(struct program *program, const bool *dropped)
{
    for (uint32_t i = 0; i < program->tree.function_count; i++)
        unlink_dropped(&program->tree, dropped, &program->tree.functions[i].body);
}

void edit_drop_statements(struct program *program, const uint32_t *numbers, uint32_t count)
{
    bool *dropped = calloc(NODES_MAX, sizeof *dropped);
    if (!dropped)
        abort();
    for (uint32_t i = 0; i < count; i++)
        dropped[numbers[i]] = true;
    drop_marked(program, dropped);
    free(dropped);
}

struct references {
    struct tree *tree;
    bool used[VARIABLES_MAX];
    bool *dropped;
    bool changed;
};

static void note_reference(void *user, uint32_t number)
{
    struct references *references = user;
    const struct node *node = &references->tree->nodes[number];
    if (node->kind == EX_VARIABLE || node->kind == EX_ELEMENT)
        references->used[node->variable] = true;
}

static void note_unused(void *user, uint32_t number)
{
    struct references *references = user;
    const struct node *node = &references->tree->nodes[number];
    if (node->kind == ST_DECLARE && !references->used[node->variable]) {
        references->dropped[number] = true;
        references->changed = true;
    }
}

static void drop_declarations(struct program *program)
{
    struct references references = {.tree = &program->tree, .changed = true};
    references.dropped = malloc(NODES_MAX * sizeof *references.dropped);
    if (!references.dropped)
        abort();
    while (references.changed) {
        references.changed = false;
        memset(references.used, 0, sizeof references.used);
        memset(references.dropped, 0, NODES_MAX * sizeof *references.dropped);
        for (uint32_t i = 0; i < program->tree.function_count; i++) {
            uint32_t body = program->tree.functions[i].body;
            tree_walk(&program->tree, body, note_reference, &references);
            tree_walk(&program->tree, body, note_unused, &references);
        }
        drop_marked(program, references.dropped);
    }
    free(references.dropped);
}

void edit_clean(struct program *program)
{
    uint32_t batch_count = 0;
    for (uint32_t b = 0; b < program->batch_count; b++) {
        struct batch *batch = &program->batches[b];
        uint32_t count = 0;
        for (uint32_t i = 0; i < batch->dispatch_count; i++)
            if (!batch->dispatches[i].dropped)
                batch->dispatches[count++] = batch->dispatches[i];
        batch->dispatch_count = count;
        if (count > 0)
            program->batches[batch_count++] = *batch;
    }
    program->batch_count = batch_count;
    drop_declarations(program);
}

/* ---- Replacing -------------------------------------------------------------------------------- */

/* Puts `by` where `number` is, in its list. */
static void replace(struct tree *tree, uint32_t number, uint32_t by)
{
    uint32_t next = tree->nodes[number].next;
    tree->nodes[number] = tree->nodes[by];
    tree->nodes[number].next = next;
}

static void replace_by_constant(struct tree *tree, uint32_t number, uint64_t value)
{
    struct type type = tree->nodes[number].type;
    struct node constant = {.kind = EX_CONSTANT, .type = type_of(type.base, 1), .value = value};
    if (type.width > 1) {
        uint32_t component = tree_add(tree, constant);
        constant = (struct node){.kind = EX_VECTOR, .type = type, .a = component};
    }
    constant.next = tree->nodes[number].next;
    tree->nodes[number] = constant;
}

bool edit_simplify_way(struct program *program, uint32_t number, uint32_t choice)
{
    struct tree *tree = &program->tree;
    struct node *node = &tree->nodes[number];
    if (node->kind == ST_IF) {
        if (choice == 0) {
            replace(tree, number, node->b);
            return true;
        }
        if (node->c == 0 || choice > 2)
            return false;
        if (choice == 1)
            replace(tree, number, node->c);
        else
            node->c = 0;
        return true;
    }
    if (choice > 0)
        return false;
    /* One turn of a loop, as a block that declares the counter. */
    uint64_t start = node->kind == ST_FOR ? node->value : 1;
    uint32_t value =
        tree_add(tree, (struct node){.kind = EX_CONSTANT, .type = type_uint(), .value = start});
    uint32_t first =
        tree_add(tree, (struct node){.kind = ST_DECLARE, .variable = node->variable, .a = value});
    tree->nodes[first].next = tree->nodes[node->b].a;
    uint32_t next = node->next;
    *node = (struct node){.kind = ST_BLOCK, .a = first, .next = next};
    return true;
}

bool edit_simplify_expression(struct program *program, uint32_t number, uint32_t choice)
{
    struct tree *tree = &program->tree;
    const struct node *node = &tree->nodes[number];
    const uint32_t operands[] = {node->a, node->b, node->c};
    if (choice < 2) {
        replace_by_constant(tree, number, choice);
        return true;
    }
    if (choice >= 5)
        return false;
    uint32_t operand = operands[choice - 2];
    if (operand != 0 && node_is_expression(&tree->nodes[operand]) &&
        type_equal(tree->nodes[operand].type, node->type) && node->kind != EX_CALL &&
        node->kind != EX_MACRO)
        replace(tree, number, operand);
    else
        replace_by_constant(tree, number, 0); /* tried before: rejected at once */
    return true;
}

/* ---- Parameters ------------------------------------------------------------------------------- */

static void drop_parameter(struct program *program, uint32_t kernel, uint32_t parameter)
{
    struct function *function = &program->tree.functions[kernel];
    uint32_t behind = --function->parameter_count - parameter;
    memmove(function->parameters + parameter, function->parameters + parameter + 1,
            behind * sizeof function->parameters[0]);
    for (uint32_t b = 0; b < program->batch_count; b++) {
        for (uint32_t i = 0; i < program->batches[b].dispatch_count; i++) {
            struct dispatch *dispatch = &program->batches[b].dispatches[i];
            if (dispatch->kernel != kernel)
                continue;
            memmove(dispatch->areas + parameter, dispatch->areas + parameter + 1,
                    behind * sizeof dispatch->areas[0]);
            memmove(dispatch->scalars + parameter, dispatch->scalars + parameter + 1,
                    behind * sizeof dispatch->scalars[0]);
        }
    }
}

bool edit_drop_parameters(struct program *program)
{
    struct references references = {.tree = &program->tree};
    bool changed = false;
    for (uint32_t i = 0; i < program->tree.function_count; i++)
        tree_walk(&program->tree, program->tree.functions[i].body, note_reference, &references);
    for (uint32_t f = 0; f < program->tree.function_count; f++) {
        struct function *function = &program->tree.functions[f];
        for (uint32_t i = function->parameter_count; i-- > 0;) {
            if (!function->is_kernel || references.used[function->parameters[i]])
                continue;
            drop_parameter(program, f, i);
            changed = true;
        }
    }
    return changed;
}
