/*
 * generate_expression.c: random expressions of a given type over what is known.
 */
#include "kernels/generator.h"

static const struct type scalar_types[] = {{BASE_UINT, 1, 0}, {BASE_INT, 1, 0}, {BASE_ULONG, 1, 0}};

struct type generate_scalar_type(struct generator *g)
{
    uint32_t roll = draw(g, 10);
    return scalar_types[roll < 7 ? 0 : roll < 9 ? 1 : 2];
}

struct type generate_stored_type(struct generator *g)
{
    uint32_t roll = draw(g, 20);
    if (roll < 10)
        return generate_scalar_type(g);
    if (roll < 12)
        return type_of(BASE_UCHAR, 1);
    if (roll < 14)
        return type_of(BASE_SHORT, 1);
    return type_of(roll < 18   ? BASE_UINT
                   : roll < 19 ? BASE_INT
                               : BASE_ULONG,
                   chance(g, 50) ? 2 : 4);
}

uint64_t generate_number(struct generator *g, enum base base)
{
    uint64_t value = chance(g, 60) ? draw(g, 17) : rng_edge(&g->rng, base_bits(base));
    return value & base_mask(base);
}

/* ---- Reading what is known -------------------------------------------------------------------- */

/* A scalar part of a place of any type: its field or component, or itself. */
static uint32_t pick_part(struct generator *g, uint32_t place)
{
    struct type type = g->tree->nodes[place].type;
    if (type.base == BASE_STRUCT) {
        feature(g, FEATURE_STRUCT);
        return build_field(g, place, draw(g, g->tree->structures[type.structure].field_count));
    }
    if (type.width == 1)
        return place;
    feature(g, FEATURE_SWIZZLE);
    return tree_add(g->tree, (struct node){.kind = EX_COMPONENT,
                                           .type = type_of(type.base, 1),
                                           .a = place,
                                           .value = draw(g, type.width)});
}

/* Any scalar of the variable; an index is random. */
static uint32_t read_known(struct generator *g, const struct known *known, uint32_t depth)
{
    const struct variable *variable = &g->tree->variables[known->variable];
    if (variable->count == 0)
        return pick_part(g, build_read(g, known->variable));
    uint64_t count = variable->count;
    uint32_t index = depth == 0 ? build_uint(g, draw(g, (uint32_t)count))
                                : generate_expression(g, type_uint(), depth - 1);
    return pick_part(g, build_element(g, known->variable, index, count));
}

/* 0: nothing that may be read now. */
static const struct known *pick_known(struct generator *g)
{
    for (uint32_t tries = 0; tries < 12 && g->known_count > 0; tries++) {
        /* What is newest is likeliest. */
        uint32_t i = chance(g, 50) && g->known_count > 8 ? g->known_count - 1 - draw(g, 8)
                                                         : draw(g, g->known_count);
        if (!g->is_uniform || g->known[i].is_uniform)
            return &g->known[i];
    }
    return NULL;
}

static uint32_t leaf(struct generator *g, struct type type, uint32_t depth)
{
    const struct known *known = chance(g, 70) ? pick_known(g) : NULL;
    if (known)
        return build_cast(g, type, read_known(g, known, depth));
    if (chance(g, 20)) {
        enum id id = g->is_uniform ? (enum id)(ID_GROUP + draw(g, 4)) : (enum id)draw(g, 6);
        uint32_t dimension = draw(g, 3);
        return build_cast(g, type, build_id(g, id, dimension));
    }
    if (g->tree->specialized_count > 0 && chance(g, 20)) {
        feature(g, FEATURE_SPECIALIZED);
        return build_cast(
            g, type,
            tree_add(g->tree, (struct node){.kind = EX_SPECIALIZED,
                                            .type = type_uint(),
                                            .value = draw(g, g->tree->specialized_count)}));
    }
    return build_constant(g, type, generate_number(g, type.base));
}

/* ---- Scalars ---------------------------------------------------------------------------------- */

static enum operator_kind pick_operator(struct generator *g, struct type type)
{
    static const uint8_t any[] = {OP_ADD, OP_SUB, OP_MUL, OP_AND, OP_OR, OP_XOR,
                                  OP_XOR, OP_SHL, OP_SHR, OP_MIN, OP_MAX};
    static const uint8_t only_unsigned[] = {OP_DIV, OP_MOD, OP_ROTATE, OP_MUL_HIGH};
    if (type.base != BASE_INT && chance(g, 20))
        return only_unsigned[draw(g, sizeof only_unsigned)];
    return any[draw(g, sizeof any)];
}

static uint32_t call_macro(struct generator *g, struct type type, uint32_t depth)
{
    uint32_t number = draw(g, g->tree->macro_count);
    const struct macro *macro = &g->tree->macros[number];
    if (macro->kind != MACRO_VALUE)
        return leaf(g, type, depth);
    feature(g, macro->parameter_count == 0 ? FEATURE_MACRO_CONSTANT : FEATURE_MACRO_FUNCTION);
    struct node call = {.kind = EX_MACRO, .type = macro->type, .callee = (uint16_t)number};
    for (uint32_t i = 0; i < macro->parameter_count; i++)
        tree_append(g->tree, &call.a, generate_expression(g, macro->parameters[i], depth - 1));
    return build_cast(g, type, tree_add(g->tree, call));
}

static bool argument_for(struct generator *g, const struct variable *parameter, uint32_t depth,
                         uint32_t *out_argument)
{
    if (!parameter->is_pointer && parameter->type.base != BASE_STRUCT) {
        *out_argument = generate_expression(g, parameter->type, depth);
        return true;
    }
    for (uint32_t i = 0; i < g->known_count; i++) {
        const struct variable *variable = &g->tree->variables[g->known[i].variable];
        bool fits =
            type_equal(variable->type, parameter->type) &&
            (parameter->is_pointer ? variable->count >= parameter->count &&
                                         variable->space == parameter->space && variable->count != 0
                                   : variable->count == 0);
        if (!fits)
            continue;
        *out_argument = build_read(g, g->known[i].variable);
        if (!parameter->is_pointer)
            feature(g, FEATURE_STRUCT_BY_VALUE);
        return true;
    }
    return false;
}

/* Calls of functions that change nothing. */
static uint32_t call_function(struct generator *g, struct type type, uint32_t depth)
{
    uint32_t number = draw(g, g->function);
    const struct function *function = &g->tree->functions[number];
    struct node call = {.kind = EX_CALL, .type = function->result, .callee = (uint16_t)number};
    if (function->is_kernel || g->is_uniform ||
        (g->function_kinds[number] != FUNCTION_PURE && g->function_kinds[number] != FUNCTION_READ))
        return leaf(g, type, depth);
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        uint32_t argument;
        if (!argument_for(g, &g->tree->variables[function->parameters[i]], depth - 1, &argument))
            return leaf(g, type, depth);
        tree_append(g->tree, &call.a, argument);
    }
    feature(g, g->in_kernel ? FEATURE_FUNCTION : FEATURE_FUNCTION_CALLS_FUNCTION);
    return build_cast(g, type, tree_add(g->tree, call));
}

/* Operands are made one after the other: compilers differ in the order of arguments. */
static uint32_t operation(struct generator *g, enum operator_kind op, struct type type,
                          uint32_t depth)
{
    uint32_t a = generate_expression(g, type, depth);
    uint32_t b = generate_expression(g, type, depth);
    return build_binary(g, op, a, b);
}

static uint32_t selection(struct generator *g, struct type type, uint32_t depth)
{
    struct node node = {.kind = EX_SELECT, .type = type};
    node.a = generate_condition(g, depth);
    node.b = generate_expression(g, type, depth);
    node.c = generate_expression(g, type, depth);
    return tree_add(g->tree, node);
}

static uint32_t scalar(struct generator *g, struct type type, uint32_t depth)
{
    uint32_t roll = draw(g, 100);
    if (depth == 0 || roll < 20)
        return leaf(g, type, depth);
    if (roll < 62)
        return operation(g, pick_operator(g, type), type, depth - 1);
    if (roll < 70) {
        static const uint8_t unary[] = {OP_NOT, OP_MINUS, OP_POPCOUNT, OP_LEADING_ZEROS};
        enum operator_kind op = unary[draw(g, sizeof unary)];
        return build_unary(g, op, generate_expression(g, type, depth - 1));
    }
    if (roll < 78)
        return selection(g, type, depth - 1);
    if (roll < 83)
        return build_cast(g, type, generate_expression(g, generate_scalar_type(g), depth - 1));
    if (roll < 87)
        return build_cast(g, type, generate_condition(g, depth - 1));
    if (roll < 93 && g->tree->macro_count > 0)
        return call_macro(g, type, depth);
    if (g->function > 0)
        return call_function(g, type, depth);
    return leaf(g, type, depth);
}

/* ---- Vectors ---------------------------------------------------------------------------------- */

static uint32_t read_vector(struct generator *g, struct type type)
{
    for (uint32_t i = 0; i < g->known_count; i++) {
        const struct known *known = &g->known[(i * 7 + 3) % g->known_count];
        const struct variable *variable = &g->tree->variables[known->variable];
        if (variable->count == 0 && variable->type.base == type.base && variable->type.width > 1 &&
            (!g->is_uniform || known->is_uniform)) {
            struct node swizzle = {.kind = EX_COMPONENT, .type = type};
            if (variable->type.width == type.width && chance(g, 50))
                return build_read(g, known->variable);
            for (uint32_t c = 0; c < type.width; c++)
                swizzle.value |= (uint64_t)draw(g, variable->type.width) << 4 * c;
            swizzle.a = build_read(g, known->variable);
            feature(g, FEATURE_SWIZZLE);
            return tree_add(g->tree, swizzle);
        }
    }
    return 0;
}

static uint32_t vector(struct generator *g, struct type type, uint32_t depth)
{
    struct node made = {.kind = EX_VECTOR, .type = type};
    feature(g, FEATURE_VECTOR);
    if (depth > 0 && chance(g, 45))
        return operation(g, pick_operator(g, type), type, depth - 1);
    if (chance(g, 50)) {
        uint32_t read = read_vector(g, type);
        if (read != 0)
            return read;
    }
    uint32_t count = chance(g, 30) ? 1 : type.width;
    for (uint32_t i = 0; i < count; i++)
        tree_append(g->tree, &made.a,
                    generate_expression(g, type_of(type.base, 1), depth == 0 ? 0 : depth - 1));
    return tree_add(g->tree, made);
}

uint32_t generate_expression(struct generator *g, struct type type, uint32_t depth)
{
    if (type.base == BASE_ULONG)
        feature(g, FEATURE_ULONG);
    if (type.width > 1)
        return vector(g, type, depth);
    if (type.base == BASE_UCHAR || type.base == BASE_SHORT) {
        feature(g, FEATURE_SMALL_INTEGER);
        return build_cast(g, type, scalar(g, type_uint(), depth));
    }
    return scalar(g, type, depth);
}

/* ---- Conditions ------------------------------------------------------------------------------- */

uint32_t generate_condition(struct generator *g, uint32_t depth)
{
    uint32_t roll = draw(g, 10);
    uint32_t below = depth == 0 ? 0 : depth - 1;
    if (roll < 2 && depth > 0) {
        enum operator_kind op = chance(g, 50) ? OP_AND_THEN : OP_OR_ELSE;
        uint32_t a = generate_condition(g, below);
        uint32_t b = generate_condition(g, below);
        return build_binary(g, op, a, b);
    }
    if (roll < 3)
        return build_unary(g, OP_LOGICAL_NOT, generate_condition(g, below));
    if (roll < 6) {
        uint32_t value = generate_expression(g, type_uint(), below);
        return build_binary(g, OP_AND, value, build_uint(g, UINT64_C(1) << draw(g, 4)));
    }
    struct type type = generate_scalar_type(g);
    return operation(g, (enum operator_kind)(OP_LESS + draw(g, 4)), type, below);
}

uint32_t generate_uniform(struct generator *g, uint32_t depth)
{
    bool before = g->is_uniform;
    g->is_uniform = true;
    uint32_t value = generate_expression(g, type_uint(), depth);
    g->is_uniform = before;
    return value;
}

uint32_t generate_uniform_condition(struct generator *g)
{
    bool before = g->is_uniform;
    g->is_uniform = true;
    uint32_t condition = generate_condition(g, 2);
    g->is_uniform = before;
    return condition;
}

uint32_t generate_permuted(struct generator *g, uint16_t local_id, uint32_t items)
{
    uint32_t factor = 1 + draw(g, items);
    for (;; factor++) {
        uint32_t a = factor;
        uint32_t b = items;
        while (b != 0) {
            uint32_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            break;
    }
    uint32_t sum = build_binary(
        g, OP_ADD, build_binary(g, OP_MUL, build_read(g, local_id), build_uint(g, factor)),
        build_uint(g, draw(g, items)));
    return sum; /* the element's modulus does the rest */
}
