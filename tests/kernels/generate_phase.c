/*
 * generate_phase.c: barriers and what is exchanged across them.
 *
 * A phase that writes local memory makes its values first, waits until no work-item reads what was there
 * before, writes, and waits again; then the memory is known.
 */
#include "kernels/generator.h"

static void know_once(struct generator *g, uint16_t variable, bool is_uniform)
{
    for (uint32_t i = 0; i < g->known_count; i++)
        if (g->known[i].variable == variable)
            return;
    know(g, variable, false, is_uniform);
}

static void wait_for_all(struct generator *g)
{
    build_barrier(g);
    g->kernel->has_barrier = true;
}

static struct node plain_if(struct generator *g, uint32_t condition)
{
    return (struct node){.kind = ST_IF, .a = condition, .b = build_block(g)};
}

/* ---- Local memory ----------------------------------------------------------------------------- */

/* A local array of `count` elements, perhaps one that was used before; `out_used` says so. */
static uint16_t take_array(struct generator *g, struct type type, uint32_t count, bool *out_used)
{
    struct kernel_plan *kernel = g->kernel;
    for (uint32_t i = 0; i < kernel->array_count; i++) {
        const struct variable *variable = &g->tree->variables[kernel->arrays[i]];
        if (type_equal(variable->type, type) && variable->count >= count &&
            (variable->is_pointer || chance(g, 60))) {
            *out_used = kernel->array_used[i];
            kernel->array_used[i] = true;
            feature(g, variable->is_pointer ? FEATURE_LOCAL_ARGUMENT : FEATURE_LOCAL_ARRAY);
            return kernel->arrays[i];
        }
    }
    struct variable variable = {.space = SPACE_LOCAL, .type = type, .count = count};
    for (uint32_t i = 0; i < g->tree->macro_count; i++) {
        const struct macro *macro = &g->tree->macros[i];
        if (macro->kind == MACRO_VALUE && macro->parameter_count == 0 &&
            g->tree->nodes[macro->body].value == count && chance(g, 60)) {
            variable.count_macro = (uint8_t)(i + 1);
            feature(g, FEATURE_MACRO_COUNT);
        }
    }
    uint16_t number = build_variable(g, variable);
    *out_used = false;
    if (kernel->array_count < LOCAL_ARRAYS_MAX) {
        kernel->arrays[kernel->array_count] = number;
        kernel->array_used[kernel->array_count++] = true;
    }
    feature(g, type.base == BASE_STRUCT ? FEATURE_LOCAL_STRUCT : FEATURE_LOCAL_ARRAY);
    return number;
}

static struct type array_type(struct generator *g)
{
    uint32_t roll = draw(g, 20);
    if (roll < 3 && g->tree->structure_count > 0)
        return (struct type){.base = BASE_STRUCT,
                             .width = 1,
                             .structure = (uint8_t)draw(g, g->tree->structure_count)};
    if (roll < 6)
        return generate_stored_type(g);
    return type_uint();
}

/* Stores values that were made before into one element. */
static void write_element(struct generator *g, uint16_t array, uint32_t index, uint64_t modulus,
                          uint16_t made)
{
    struct type type = g->tree->variables[array].type;
    if (type.base != BASE_STRUCT) {
        build_assign(g, build_element(g, array, index, modulus), OP_NONE, build_read(g, made));
        return;
    }
    for (uint32_t i = 0; i < g->tree->structures[type.structure].field_count; i++) {
        uint32_t at = i == 0 ? index : tree_copy(g->tree, index);
        uint32_t place = build_field(g, build_element(g, array, at, modulus), i);
        uint32_t value = build_cast(g, g->tree->nodes[place].type, build_read(g, made));
        build_assign(g, place, OP_NONE, value);
    }
}

/* More elements than work-items: each writes several. */
static void write_strided(struct generator *g, uint16_t array, uint16_t made)
{
    uint32_t count = g->tree->variables[array].count;
    struct node loop = {.kind = ST_FOR, .c = g->kernel->items};
    loop.a = build_uint(g, count);
    loop.variable = build_counter(g);
    loop.b = build_block(g);
    struct scope outer = enter_block(g, loop.b);
    uint32_t index =
        build_binary(g, OP_ADD, build_read(g, loop.variable), build_read(g, g->kernel->local_id));
    struct node check =
        plain_if(g, build_binary(g, OP_LESS, tree_copy(g->tree, index), build_uint(g, count)));
    struct scope inner = enter_block(g, check.b);
    write_element(g, array, index, 0, made);
    leave_block(g, inner);
    build_statement(g, check);
    leave_block(g, outer);
    build_statement(g, loop);
    feature(g, FEATURE_FOR);
}

static void exchange(struct generator *g, bool in_loop)
{
    bool used;
    uint32_t items = g->kernel->items;
    struct type type = array_type(g);
    bool more = chance(g, 15);
    struct type made_type = type.base == BASE_STRUCT ? type_uint() : type;
    uint32_t value = generate_expression(g, made_type, 3);
    uint16_t made = build_declared(g, made_type, value);
    know(g, made, false, false);
    uint16_t array = take_array(g, type, more ? items + 1 + draw(g, 2 * items) : items, &used);
    if (used || in_loop)
        wait_for_all(g);
    if (g->tree->variables[array].count > items)
        write_strided(g, array, made);
    else
        write_element(g, array, generate_permuted(g, g->kernel->local_id, items), items, made);
    wait_for_all(g);
    know_once(g, array, false);
    if (type_equal(type, type_uint()) && g->depth == 0)
        g->kernel->memory = array;
}

/* One work-item assigns a local scalar, all read it. */
static void publish(struct generator *g, bool in_loop)
{
    uint32_t value = generate_expression(g, type_uint(), 2);
    uint16_t made = build_declared(g, type_uint(), value);
    uint16_t scalar =
        build_variable(g, (struct variable){.space = SPACE_LOCAL, .type = type_uint()});
    if (in_loop)
        wait_for_all(g);
    struct node one = plain_if(g, build_binary(g, OP_EQUAL, build_read(g, g->kernel->local_id),
                                               build_uint(g, draw(g, g->kernel->items))));
    struct scope scope = enter_block(g, one.b);
    build_assign(g, build_read(g, scalar), OP_NONE, build_read(g, made));
    leave_block(g, scope);
    build_statement(g, one);
    wait_for_all(g);
    know(g, scalar, false, chance(g, 30));
    feature(g, FEATURE_LOCAL_SCALAR);
}

/* Counters in local memory. */
static void count_up(struct generator *g, bool in_loop)
{
    uint32_t items = g->kernel->items;
    uint32_t count = 2 + draw(g, items < 15 ? items : 15);
    if (count > items)
        count = items;
    uint16_t counters = build_variable(
        g, (struct variable){.space = SPACE_LOCAL, .type = type_uint(), .count = count});
    if (in_loop)
        wait_for_all(g);
    struct node first = plain_if(
        g, build_binary(g, OP_LESS, build_read(g, g->kernel->local_id), build_uint(g, count)));
    struct scope scope = enter_block(g, first.b);
    build_assign(g, build_element(g, counters, build_read(g, g->kernel->local_id), 0), OP_NONE,
                 build_uint(g, draw(g, 3)));
    leave_block(g, scope);
    build_statement(g, first);
    wait_for_all(g);
    uint32_t index = generate_expression(g, type_uint(), 2);
    uint32_t value = generate_expression(g, type_uint(), 1);
    build_statement(g, (struct node){.kind = ST_ATOMIC_ADD,
                                     .a = build_element(g, counters, index, count),
                                     .b = value});
    wait_for_all(g);
    know(g, counters, false, false);
    feature(g, FEATURE_ATOMIC_LOCAL);
}

/* A sum over the group, as a tree. */
static void reduce(struct generator *g, bool in_loop)
{
    bool used;
    uint32_t items = g->kernel->items;
    uint16_t local_id = g->kernel->local_id;
    uint32_t value = generate_expression(g, type_uint(), 2);
    uint16_t made = build_declared(g, type_uint(), value);
    uint16_t array = take_array(g, type_uint(), items, &used);
    if (used || in_loop)
        wait_for_all(g);
    if (g->tree->variables[array].count > items)
        write_strided(g, array, made);
    else
        write_element(g, array, build_read(g, local_id), 0, made);
    wait_for_all(g);
    struct node loop = {.kind = ST_FOR, .op = STEP_HALVE, .value = items / 2, .c = 1};
    loop.variable = build_counter(g);
    loop.b = build_block(g);
    struct scope outer = enter_block(g, loop.b);
    struct node half = plain_if(
        g, build_binary(g, OP_LESS, build_read(g, local_id), build_read(g, loop.variable)));
    struct scope inner = enter_block(g, half.b);
    uint32_t other = build_binary(g, OP_ADD, build_read(g, local_id), build_read(g, loop.variable));
    build_assign(g, build_element(g, array, build_read(g, local_id), 0), OP_ADD,
                 build_element(g, array, other, 0));
    leave_block(g, inner);
    build_statement(g, half);
    wait_for_all(g);
    leave_block(g, outer);
    build_statement(g, loop);
    know_once(g, array, false);
    feature(g, FEATURE_REDUCTION);
    feature(g, FEATURE_BARRIER_IN_LOOP);
}

/* A function with barriers; false: there is none. */
static bool call_exchange(struct generator *g, bool in_loop)
{
    for (uint32_t f = 0; f < g->function; f++) {
        bool used;
        if (g->function_kinds[f] != FUNCTION_EXCHANGE || g->tree->functions[f].is_kernel ||
            g->kernel->items != g->items)
            continue;
        uint32_t value = generate_expression(g, type_uint(), 2);
        uint16_t made = build_declared(g, type_uint(), value);
        know(g, made, true, false);
        uint16_t array = take_array(g, type_uint(), g->items, &used);
        if (g->tree->variables[array].count != g->items) /* it would not write all of it */
            return false;
        if (used || in_loop)
            wait_for_all(g);
        struct node call = {.kind = EX_CALL, .type = type_uint(), .callee = (uint16_t)f};
        call.a = build_read(g, array);
        tree_append(g->tree, &call.a, build_read(g, made));
        tree_append(g->tree, &call.a, build_read(g, g->kernel->local_id));
        uint32_t place = build_read(g, made);
        build_statement(g,
                        (struct node){.kind = ST_INVOKE, .a = place, .b = tree_add(g->tree, call)});
        g->kernel->has_barrier = true;
        know_once(g, array, false);
        feature(g, FEATURE_BARRIER_IN_FUNCTION);
        feature(g, FEATURE_FUNCTION_POINTER_PARAMETER);
        return true;
    }
    return false;
}

/* ---- Uniform ways ----------------------------------------------------------------------------- */

static void phase_block(struct generator *g, uint32_t block, bool in_loop)
{
    struct scope scope = enter_block(g, block);
    g->depth++;
    if (chance(g, 50))
        generate_statements(g, 1);
    generate_phase(g, in_loop);
    generate_statements(g, draw(g, 3));
    g->depth--;
    leave_block(g, scope);
}

static void uniform_if(struct generator *g, bool in_loop)
{
    struct node node = plain_if(g, generate_uniform_condition(g));
    phase_block(g, node.b, in_loop);
    if (chance(g, 40)) {
        node.c = build_block(g);
        phase_block(g, node.c, in_loop);
    }
    build_statement(g, node);
    feature(g, FEATURE_BARRIER_IN_IF);
}

static void uniform_loop(struct generator *g)
{
    static const enum feature features[] = {FEATURE_FOR, FEATURE_WHILE, FEATURE_DO};
    uint32_t kind = draw(g, 3);
    struct node node = {.kind = (uint8_t)(ST_FOR + kind), .c = 1};
    if (kind != 0)
        node.c = 0;
    if (chance(g, 50)) {
        node.a = build_uint(g, 1 + draw(g, 4));
    } else {
        uint32_t limit = generate_uniform(g, 1);
        node.a = build_binary(g, OP_AND, limit, build_uint(g, 3));
    }
    node.variable = build_counter(g);
    node.b = build_block(g);
    uint32_t known_count = g->known_count;
    know(g, node.variable, false, true);
    phase_block(g, node.b, true);
    if (chance(g, 30)) {
        struct scope again = enter_block(g, node.b);
        bool breaks = chance(g, 60);
        struct node leave = plain_if(g, generate_uniform_condition(g));
        struct scope inner = enter_block(g, leave.b);
        build_statement(g, (struct node){.kind = breaks ? ST_BREAK : ST_CONTINUE});
        leave_block(g, inner);
        build_statement(g, leave);
        leave_block(g, again);
        feature(g, breaks ? FEATURE_BREAK : FEATURE_CONTINUE);
    }
    g->known_count = known_count;
    build_statement(g, node);
    feature(g, features[kind]);
    feature(g, FEATURE_BARRIER_IN_LOOP);
}

/* All work-items of a group end here, or none. */
static void uniform_return(struct generator *g)
{
    struct node node = plain_if(g, generate_uniform_condition(g));
    struct scope scope = enter_block(g, node.b);
    build_statement(g, (struct node){.kind = ST_RETURN});
    leave_block(g, scope);
    build_statement(g, node);
    feature(g, FEATURE_UNIFORM_RETURN);
}

void generate_phase(struct generator *g, bool in_loop)
{
    uint32_t items = g->kernel->items;
    uint32_t roll = draw(g, 100);
    bool nests = g->depth < 2;
    if (roll < 20)
        exchange(g, in_loop);
    else if (roll < 28)
        publish(g, in_loop);
    else if (roll < 36)
        count_up(g, in_loop);
    else if (roll < 46 && items > 1 && (items & (items - 1)) == 0)
        reduce(g, in_loop);
    else if (roll < 62 && call_exchange(g, in_loop))
        return;
    else if (roll < 68)
        wait_for_all(g);
    else if (roll < 79 && nests)
        uniform_if(g, in_loop);
    else if (roll < 90 && nests)
        uniform_loop(g);
    else if (roll < 96 && nests)
        uniform_return(g);
    else
        exchange(g, in_loop);
}
