/*
 * generate_kernel.c: kernels: parameters, ids, sections, tail.
 */
#include <string.h>

#include "kernels/generator.h"

/* ---- Parameters ------------------------------------------------------------------------------- */

static uint32_t choose_roles(struct generator *g, enum role *roles, bool is_small)
{
    uint32_t count = 0;
    roles[count++] = ROLE_IN;
    roles[count++] = ROLE_OUT;
    if (g->kernel->guard != GUARD_NONE)
        roles[count++] = ROLE_LIMIT_X;
    if (g->kernel->guard == GUARD_PLANE)
        roles[count++] = ROLE_LIMIT_Y;
    if (is_small)
        return count;
    if (chance(g, 25))
        roles[count++] = ROLE_GROUP;
    if (chance(g, 15))
        roles[count++] = ROLE_COUNTERS;
    if (chance(g, 35))
        roles[count++] = ROLE_LOCAL;
    for (uint32_t i = draw(g, 4); i > 0; i--)
        roles[count++] = ROLE_SCALAR;
    for (uint32_t i = count - 1; i > 0; i--) {
        uint32_t other = draw(g, i + 1);
        enum role role = roles[i];
        roles[i] = roles[other];
        roles[other] = role;
    }
    return count;
}

static struct type input_type(struct generator *g)
{
    uint32_t roll = draw(g, 10);
    return type_of(roll < 7   ? BASE_UINT
                   : roll < 8 ? BASE_UCHAR
                   : roll < 9 ? BASE_SHORT
                              : BASE_ULONG,
                   1);
}

static void add_pointer(struct generator *g, enum role role, bool is_small)
{
    struct kernel_plan *kernel = g->kernel;
    struct variable variable = {.space = SPACE_GLOBAL, .is_pointer = true, .type = type_uint()};
    switch ((uint32_t)role) {
    case ROLE_IN:
        variable.is_constant = true;
        variable.count = chance(g, 50) ? GLOBAL_ITEMS_MAX : IN_COUNT_SMALL + draw(g, 48);
        if (!is_small)
            variable.type = input_type(g);
        kernel->in = build_parameter(g, variable);
        know(g, kernel->in, false, false);
        break;
    case ROLE_OUT:
        variable.type = g->out_type;
        kernel->out = build_parameter(g, variable);
        break;
    case ROLE_GROUP:
        kernel->group_out = build_parameter(g, variable);
        break;
    case ROLE_COUNTERS:
        kernel->counters = build_parameter(g, variable);
        break;
    default:
        variable.space = SPACE_LOCAL;
        variable.count = kernel->items;
        kernel->arrays[kernel->array_count++] = build_parameter(g, variable);
        break;
    }
}

static void add_scalar(struct generator *g, enum role role)
{
    struct type type = role == ROLE_SCALAR ? generate_scalar_type(g) : type_uint();
    uint16_t number = build_parameter(g, (struct variable){.type = type});
    know(g, number, false, true);
    if (role == ROLE_LIMIT_X)
        g->kernel->limit_x = number;
    if (role == ROLE_LIMIT_Y)
        g->kernel->limit_y = number;
    if (type.base == BASE_ULONG)
        feature(g, FEATURE_SCALAR_64);
}

static void add_parameters(struct generator *g, bool is_small)
{
    enum role roles[PARAMETERS_MAX];
    uint32_t count = choose_roles(g, roles, is_small);
    for (uint32_t i = 0; i < count; i++) {
        g->kernel->roles[i] = roles[i];
        if (roles[i] >= ROLE_LIMIT_X)
            add_scalar(g, roles[i]);
        else
            add_pointer(g, roles[i], is_small);
    }
}

/* ---- Ids -------------------------------------------------------------------------------------- */

/* (z * height + y) * width + x, of ids and sizes. */
static uint32_t linear(struct generator *g, enum id id, enum id size)
{
    uint32_t value = build_id(g, id, g->kernel->dimensions - 1);
    for (uint32_t i = g->kernel->dimensions - 1; i > 0; i--) {
        value = build_binary(g, OP_MUL, value, build_id(g, size, i - 1));
        value = build_binary(g, OP_ADD, value, build_id(g, id, i - 1));
    }
    return value;
}

static uint32_t plane_index(struct generator *g)
{
    struct kernel_plan *kernel = g->kernel;
    uint16_t first = kernel->is_transposed ? kernel->x : kernel->y;
    uint16_t second = kernel->is_transposed ? kernel->y : kernel->x;
    uint16_t size = kernel->is_transposed ? kernel->limit_y : kernel->limit_x;
    if (kernel->is_transposed)
        feature(g, FEATURE_TRANSPOSE);
    uint32_t row = build_binary(g, OP_MUL, build_read(g, first), build_read(g, size));
    return build_binary(g, OP_ADD, row, build_read(g, second));
}

/* Its group's places, in another order. */
static uint32_t permuted_index(struct generator *g)
{
    struct kernel_plan *kernel = g->kernel;
    feature(g, FEATURE_PERMUTED);
    uint32_t base =
        build_binary(g, OP_MUL, linear(g, ID_GROUP, ID_GROUP_COUNT), build_uint(g, kernel->items));
    uint32_t place = generate_permuted(g, kernel->local_id, kernel->items);
    /* The modulus as a bit mask where the number of work-items allows it, else as subtraction. */
    if ((kernel->items & (kernel->items - 1)) == 0)
        place = build_binary(g, OP_AND, place, build_uint(g, kernel->items - 1));
    else
        place = build_binary(g, OP_SUB, build_uint(g, kernel->items - 1),
                             build_read(g, kernel->local_id));
    return build_binary(g, OP_ADD, base, place);
}

static uint16_t declare_id(struct generator *g, uint32_t value)
{
    uint16_t number = build_declared(g, type_uint(), value);
    know(g, number, false, false);
    return number;
}

static void declare_ids(struct generator *g)
{
    struct kernel_plan *kernel = g->kernel;
    kernel->x = declare_id(g, build_id(g, ID_GLOBAL, 0));
    if (kernel->dimensions > 1)
        kernel->y = declare_id(g, build_id(g, ID_GLOBAL, 1));
    kernel->local_id = declare_id(g, linear(g, ID_LOCAL, ID_LOCAL_SIZE));
    if (kernel->guard == GUARD_PLANE)
        kernel->own = declare_id(g, plane_index(g));
    else if (kernel->guard == GUARD_NONE && chance(g, 25))
        kernel->own = declare_id(g, permuted_index(g));
    else if (kernel->dimensions == 1)
        kernel->own = kernel->x;
    else
        kernel->own = declare_id(g, linear(g, ID_GLOBAL, ID_GLOBAL_SIZE));
    uint32_t count = g->tree->variables[kernel->in].count;
    uint32_t modulus = count == GLOBAL_ITEMS_MAX && chance(g, 70) ? 0 : count;
    uint32_t value = build_cast(g, type_uint(),
                                build_element(g, kernel->in, build_read(g, kernel->own), modulus));
    kernel->chosen = build_declared(g, type_uint(), value);
    know(g, kernel->chosen, true, false);
}

/* ---- Sections --------------------------------------------------------------------------------- */

static void store_now(struct generator *g)
{
    uint32_t slot = draw(g, 3);
    uint32_t guard = generate_guard(g);
    if (guard == 0) {
        generate_store(g, slot, generate_expression(g, type_uint(), 3));
        return;
    }
    struct node node = {.kind = ST_IF, .a = guard, .b = build_block(g)};
    struct scope scope = enter_block(g, node.b);
    generate_store(g, slot, generate_expression(g, type_uint(), 3));
    leave_block(g, scope);
    build_statement(g, node);
}

static void store_group_result(struct generator *g)
{
    struct kernel_plan *kernel = g->kernel;
    uint32_t item = build_uint(g, draw(g, kernel->items));
    struct node node = {.kind = ST_IF, .b = build_block(g)};
    node.a = build_binary(g, OP_EQUAL, build_read(g, kernel->local_id), item);
    struct scope scope = enter_block(g, node.b);
    uint32_t place = build_element(g, kernel->group_out, linear(g, ID_GROUP, ID_GROUP_COUNT), 0);
    build_assign(g, place, OP_NONE, generate_expression(g, type_uint(), 2));
    leave_block(g, scope);
    build_statement(g, node);
    feature(g, FEATURE_GROUP_RESULT);
}

static void count_globally(struct generator *g)
{
    uint32_t index = generate_expression(g, type_uint(), 2);
    uint32_t value = generate_expression(g, type_uint(), 1);
    build_statement(g, (struct node){.kind = ST_ATOMIC_ADD,
                                     .a = build_element(g, g->kernel->counters, index, 16),
                                     .b = value});
    feature(g, FEATURE_ATOMIC_GLOBAL);
}

static void generate_sections(struct generator *g)
{
    for (uint32_t i = 1 + draw(g, 3); i > 0; i--) {
        uint32_t roll = draw(g, 100);
        if (roll < 30)
            generate_statements(g, 1 + draw(g, 2));
        else if (roll < 85 && g->has_barriers)
            generate_phase(g, false);
        else
            store_now(g);
    }
    if (g->kernel->group_out != 0)
        store_group_result(g);
    if (g->kernel->counters != 0)
        count_globally(g);
}

/*
 * What was computed goes into the value that the tail looks at: else compilers drop it. No barrier
 * follows.
 */
static void before_tail(struct generator *g)
{
    static const uint8_t ops[] = {OP_ADD, OP_XOR, OP_SUB};
    g->may_return = true;
    if (chance(g, 30))
        generate_statements(g, 1);
    for (uint32_t i = 1 + draw(g, 2); i > 0; i--) {
        enum operator_kind op = ops[draw(g, sizeof ops)];
        uint32_t value = generate_expression(g, type_uint(), 3);
        build_assign(g, build_read(g, g->kernel->chosen), op, value);
    }
}

/* What most kernels with barriers do: a tile of local memory, then stores with bounds checks. */
static void fill_tile(struct generator *g)
{
    struct kernel_plan *kernel = g->kernel;
    struct variable tile = {.space = SPACE_LOCAL, .type = type_uint(), .count = kernel->items};
    kernel->memory = build_variable(g, tile);
    uint32_t place = build_element(g, kernel->memory, build_read(g, kernel->local_id), 0);
    build_assign(g, place, OP_NONE, build_read(g, kernel->chosen));
    build_barrier(g);
    kernel->has_barrier = true;
    know(g, kernel->memory, false, false);
    feature(g, FEATURE_LOCAL_ARRAY);
}

/* ---- The whole -------------------------------------------------------------------------------- */

static void choose_shape(struct generator *g, bool is_small)
{
    struct kernel_plan *kernel = g->kernel;
    static const uint32_t others[][3] = {{16, 1, 1}, {7, 1, 1}, {4, 4, 1}, {32, 1, 1}, {3, 2, 2}};
    memcpy(kernel->local_size, g->local_size, sizeof kernel->local_size);
    kernel->dimensions = g->dimensions;
    if (!is_small && chance(g, 12)) {
        uint32_t other = draw(g, 5);
        memcpy(kernel->local_size, others[other], sizeof kernel->local_size);
        kernel->dimensions = others[other][2] > 1 ? 3 : others[other][1] > 1 ? 2 : 1;
        feature(g, FEATURE_SEVERAL_LOCAL_SIZES);
    }
    kernel->items = kernel->local_size[0] * kernel->local_size[1] * kernel->local_size[2];
    uint32_t roll = draw(g, 10);
    if (roll < 3)
        kernel->guard = GUARD_ROW;
    else if (roll < 6 && kernel->dimensions == 2)
        kernel->guard = GUARD_PLANE;
    kernel->is_transposed = kernel->guard == GUARD_PLANE && chance(g, 50);
    kernel->out_per_item = chance(g, 80) ? 1 : 2;
    if (kernel->dimensions > 1)
        feature(g, kernel->dimensions == 2 ? FEATURE_TWO_DIMENSIONS : FEATURE_THREE_DIMENSIONS);
    if (kernel->items > 1 && (kernel->items & (kernel->items - 1)) != 0)
        feature(g, FEATURE_ODD_LOCAL_SIZE);
}

void generate_kernel(struct generator *g, const struct tail_plan *tail, bool is_small)
{
    g->kernel = &g->kernels[g->kernel_count++];
    g->function = g->tree->function_count;
    g->kernel->function = g->function;
    struct function *function = &g->tree->functions[g->tree->function_count++];
    function->is_kernel = true;
    function->first_variable = (uint16_t)g->tree->variable_count;
    function->body = build_block(g);
    g->list = &g->tree->nodes[function->body].a;
    g->known_count = 0;
    g->in_kernel = true;
    g->may_return = false;
    g->budget = 5 + draw(g, 7);
    choose_shape(g, is_small);
    memcpy(function->local_size, g->kernel->local_size, sizeof function->local_size);
    add_parameters(g, is_small);
    declare_ids(g);
    if (!is_small)
        generate_sections(g);
    else if (g->has_barriers && chance(g, 40))
        fill_tile(g);
    if (tail->behind_barrier) {
        build_barrier(g);
        g->kernel->has_barrier = true;
    }
    if (!is_small)
        before_tail(g);
    generate_tail(g, tail);
}
