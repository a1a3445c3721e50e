/*
 * generate_tail.c: stores to the output, and the last statements of kernels.
 *
 * A tail is drawn from a seed for its structure and one for its constants, so that kernels get equal
 * tails, or tails that differ in constants only.
 */
#include "kernels/generator.h"

struct tail {
    struct generator *g;
    struct rng constants;
};

/* ---- Stores ----------------------------------------------------------------------------------- */

/* A uint as a value of another type. */
static uint32_t widen(struct generator *g, struct type type, uint32_t value)
{
    if (type.width == 1)
        return build_cast(g, type, value);
    uint32_t component = build_cast(g, type_of(type.base, 1), value);
    return tree_add(g->tree, (struct node){.kind = EX_VECTOR, .type = type, .a = component});
}

void generate_store(struct generator *g, uint32_t slot, uint32_t value)
{
    struct kernel_plan *kernel = g->kernel;
    struct type type = g->tree->variables[kernel->out].type;
    uint32_t index = build_read(g, kernel->own);
    if (kernel->out_per_item > 1) {
        index = build_binary(g, OP_MUL, index, build_uint(g, kernel->out_per_item));
        index = build_binary(g, OP_ADD, index, build_uint(g, slot % kernel->out_per_item));
    }
    uint32_t place = build_element(g, kernel->out, index, 0);
    if (type.base == BASE_STRUCT) {
        feature(g, FEATURE_GLOBAL_STRUCT);
        place = build_field(g, place, slot % g->tree->structures[type.structure].field_count);
    }
    build_assign(g, place, OP_NONE, widen(g, g->tree->nodes[place].type, value));
}

uint32_t generate_guard(struct generator *g)
{
    struct kernel_plan *kernel = g->kernel;
    if (kernel->guard == GUARD_NONE)
        return 0;
    if (kernel->guard == GUARD_ROW) {
        feature(g, FEATURE_BOUNDS);
        return build_binary(g, OP_LESS, build_read(g, kernel->own), build_read(g, kernel->limit_x));
    }
    feature(g, FEATURE_BOUNDS_2D);
    uint32_t x = build_binary(g, OP_LESS, build_read(g, kernel->x), build_read(g, kernel->limit_x));
    uint32_t y = build_binary(g, OP_LESS, build_read(g, kernel->y), build_read(g, kernel->limit_y));
    return build_binary(g, OP_AND_THEN, x, y);
}

/* ---- Tails ------------------------------------------------------------------------------------ */

static uint32_t small_constant(struct tail *tail)
{
    return build_uint(tail->g, 1 + rng_below(&tail->constants, 12));
}

static uint32_t tail_value(struct tail *tail)
{
    struct generator *g = tail->g;
    uint32_t roll = draw(g, 100);
    uint32_t constant = small_constant(tail);
    if (roll < 60) {
        feature(g, FEATURE_CONSTANT_STORES);
        return constant;
    }
    if (roll < 85)
        return build_binary(g, OP_XOR, build_read(g, g->kernel->chosen), constant);
    if (g->kernel->memory == 0)
        return build_binary(g, OP_ADD, build_read(g, g->kernel->chosen), constant);
    return build_element(g, g->kernel->memory,
                         build_binary(g, OP_ADD, build_read(g, g->kernel->local_id), constant),
                         g->tree->variables[g->kernel->memory].count);
}

static void store(struct tail *tail)
{
    uint32_t slot = draw(tail->g, 2);
    generate_store(tail->g, slot, tail_value(tail));
}

static uint32_t store_block(struct tail *tail)
{
    uint32_t block = build_block(tail->g);
    struct scope scope = enter_block(tail->g, block);
    store(tail);
    leave_block(tail->g, scope);
    return block;
}

static uint32_t bit_is_set(struct tail *tail, uint32_t bit)
{
    return build_binary(tail->g, OP_AND, build_read(tail->g, tail->g->kernel->chosen),
                        build_uint(tail->g, UINT64_C(1) << bit));
}

static uint32_t chain(struct tail *tail, uint32_t bit, uint32_t links)
{
    struct node node = {.kind = ST_IF, .a = bit_is_set(tail, bit)};
    node.b = store_block(tail);
    node.c = links > 1 ? chain(tail, bit + 1, links - 1) : store_block(tail);
    feature(tail->g, FEATURE_IF_CHAIN);
    return tree_add(tail->g->tree, node);
}

static void switch_over(struct tail *tail)
{
    struct generator *g = tail->g;
    uint32_t count = 2 + draw(g, 3);
    bool with_default = draw(g, 2) == 0;
    struct node node = {.kind = ST_SWITCH};
    node.a = build_binary(g, OP_AND, build_read(g, g->kernel->chosen), build_uint(g, 3));
    for (uint32_t i = 0; i < count; i++) {
        struct node arm = {.kind = ST_CASE, .value = i, .a = store_block(tail)};
        arm.flag = with_default && i + 1 == count ? CASE_DEFAULT : 0;
        tree_append(g->tree, &node.b, tree_add(g->tree, arm));
    }
    build_statement(g, node);
    feature(g, FEATURE_SWITCH);
}

static void nested(struct tail *tail)
{
    struct generator *g = tail->g;
    struct node node = {.kind = ST_IF, .a = bit_is_set(tail, 0), .b = build_block(g)};
    struct scope scope = enter_block(g, node.b);
    uint32_t inner = chain(tail, 1, 1);
    tree_append(g->tree, g->list, inner);
    leave_block(g, scope);
    if (draw(g, 2) == 0)
        node.c = store_block(tail);
    build_statement(g, node);
}

static void returning(struct tail *tail)
{
    struct generator *g = tail->g;
    for (uint32_t i = 1 + draw(g, 2); i > 0; i--) {
        struct node node = {.kind = ST_IF, .a = bit_is_set(tail, i), .b = build_block(g)};
        struct scope scope = enter_block(g, node.b);
        store(tail);
        build_statement(g, (struct node){.kind = ST_RETURN});
        leave_block(g, scope);
        build_statement(g, node);
        feature(g, FEATURE_RETURN);
    }
    store(tail);
}

static void searching(struct tail *tail)
{
    struct generator *g = tail->g;
    struct node loop = {.kind = ST_FOR, .c = 1, .a = build_uint(g, 2 + draw(g, 3))};
    loop.variable = build_counter(g);
    loop.b = build_block(g);
    struct scope outer = enter_block(g, loop.b);
    uint32_t shifted =
        build_binary(g, OP_SHR, build_read(g, g->kernel->chosen), build_read(g, loop.variable));
    struct node found = {.kind = ST_IF,
                         .a = build_binary(g, OP_AND, shifted, build_uint(g, 1)),
                         .b = build_block(g)};
    struct scope inner = enter_block(g, found.b);
    store(tail);
    build_statement(g, (struct node){.kind = ST_BREAK});
    leave_block(g, inner);
    build_statement(g, found);
    leave_block(g, outer);
    build_statement(g, loop);
    feature(g, FEATURE_FOR);
    feature(g, FEATURE_BREAK);
}

/* Some work-items of the group store, the others do nothing. */
static void limited(struct tail *tail)
{
    struct generator *g = tail->g;
    struct node node = {.kind = ST_IF, .b = store_block(tail)};
    uint32_t limit = small_constant(tail);
    node.a = build_binary(g, OP_LESS, build_read(g, g->kernel->local_id), limit);
    build_statement(g, node);
}

static void tail_body(struct tail *tail)
{
    uint32_t roll = draw(tail->g, 100);
    uint32_t made;
    if (roll < 25) {
        store(tail);
    } else if (roll < 50) {
        made = chain(tail, 0, 1 + draw(tail->g, 3));
        tree_append(tail->g->tree, tail->g->list, made);
    } else if (roll < 60) {
        switch_over(tail);
    } else if (roll < 68) {
        nested(tail);
    } else if (roll < 76) {
        returning(tail);
    } else if (roll < 84) {
        searching(tail);
    } else {
        limited(tail);
    }
}

void generate_tail(struct generator *g, const struct tail_plan *plan)
{
    struct rng before = g->rng;
    struct tail tail = {g, rng_seeded(plan->constant_seed)};
    g->rng = rng_seeded(plan->structure_seed);
    uint32_t guard = generate_guard(g);
    if (g->kernel->has_barrier)
        feature(g, FEATURE_CODE_BEHIND_BARRIER);
    if (guard == 0) {
        tail_body(&tail);
    } else {
        struct node node = {.kind = ST_IF, .a = guard, .b = build_block(g)};
        struct scope scope = enter_block(g, node.b);
        tail_body(&tail);
        leave_block(g, scope);
        build_statement(g, node);
    }
    g->rng = before;
}
