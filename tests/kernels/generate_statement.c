/*
 * generate_statement.c: statements without barriers; work-items may go different ways.
 */
#include "kernels/generator.h"

/* ---- Declarations ----------------------------------------------------------------------------- */

static void maybe_macros(struct generator *g, struct variable *variable)
{
    for (uint32_t i = 0; i < g->tree->macro_count; i++) {
        const struct macro *macro = &g->tree->macros[i];
        if (macro->kind == MACRO_TYPE && type_equal(macro->type, variable->type) && chance(g, 40)) {
            variable->type_macro = (uint8_t)(i + 1);
            feature(g, FEATURE_MACRO_TYPE);
        }
        if (macro->kind == MACRO_VALUE && macro->parameter_count == 0 && variable->count != 0 &&
            g->tree->nodes[macro->body].value == variable->count && chance(g, 60)) {
            variable->count_macro = (uint8_t)(i + 1);
            feature(g, FEATURE_MACRO_COUNT);
        }
    }
}

static void declare_array(struct generator *g)
{
    struct variable variable = {.type = generate_scalar_type(g), .count = 2 + draw(g, 7)};
    uint32_t values = 0;
    maybe_macros(g, &variable);
    uint32_t count = 1 + draw(g, variable.count < 4 ? variable.count : 4);
    for (uint32_t i = 0; i < count; i++)
        tree_append(g->tree, &values, generate_expression(g, variable.type, 1));
    uint16_t number = build_variable(g, variable);
    build_declare(g, number, values);
    know(g, number, true, false);
    feature(g, FEATURE_PRIVATE_ARRAY);
}

static void declare_struct(struct generator *g)
{
    uint8_t structure = (uint8_t)draw(g, g->tree->structure_count);
    const struct structure *self = &g->tree->structures[structure];
    uint32_t values = 0;
    for (uint32_t i = 0; i < self->field_count; i++)
        tree_append(g->tree, &values, generate_expression(g, self->fields[i], 1));
    uint16_t number = build_declared(
        g, (struct type){.base = BASE_STRUCT, .width = 1, .structure = structure}, values);
    know(g, number, true, false);
    feature(g, FEATURE_STRUCT);
}

void generate_declaration(struct generator *g)
{
    uint32_t roll = draw(g, 10);
    if (roll < 2) {
        declare_array(g);
    } else if (roll < 4 && g->tree->structure_count > 0) {
        declare_struct(g);
    } else {
        struct variable variable = {.type = generate_stored_type(g)};
        maybe_macros(g, &variable);
        uint32_t value = generate_expression(g, variable.type, 3);
        uint16_t number = build_variable(g, variable);
        build_declare(g, number, value);
        know(g, number, true, g->is_uniform);
    }
}

/* ---- Assignments ------------------------------------------------------------------------------ */

/* A part of a place that is assigned: a component or field of it, or all. */
static uint32_t assigned_part(struct generator *g, uint32_t place)
{
    struct type type = g->tree->nodes[place].type;
    if (type.base == BASE_STRUCT)
        return build_field(g, place, draw(g, g->tree->structures[type.structure].field_count));
    if (type.width == 1 || chance(g, 50))
        return place;
    feature(g, FEATURE_SWIZZLE);
    return tree_add(g->tree, (struct node){.kind = EX_COMPONENT,
                                           .type = type_of(type.base, 1),
                                           .a = place,
                                           .value = draw(g, type.width)});
}

static void assign(struct generator *g)
{
    static const uint8_t compound[] = {OP_ADD, OP_SUB, OP_MUL, OP_AND, OP_OR, OP_XOR};
    const struct known *known = NULL;
    for (uint32_t tries = 0; tries < 12 && !known && g->known_count > 0; tries++) {
        const struct known *one = &g->known[draw(g, g->known_count)];
        known = one->is_writable ? one : NULL;
    }
    if (!known) {
        generate_declaration(g);
        return;
    }
    uint16_t variable = known->variable;
    uint32_t count = g->tree->variables[variable].count;
    uint32_t place;
    if (count == 0)
        place = build_read(g, variable);
    else
        place = build_element(g, variable, generate_expression(g, type_uint(), 1), count);
    place = assigned_part(g, place);
    struct type type = g->tree->nodes[place].type;
    bool computes = type.base == BASE_UINT || type.base == BASE_ULONG;
    enum operator_kind op =
        computes && chance(g, 50) ? compound[draw(g, sizeof compound)] : OP_NONE;
    uint32_t value = generate_expression(g, type, 3);
    build_assign(g, place, op, value);
}

/* ---- Ways ------------------------------------------------------------------------------------- */

/* A block of some statements, in a scope of its own. */
static uint32_t block_of(struct generator *g, uint32_t count)
{
    uint32_t block = build_block(g);
    struct scope scope = enter_block(g, block);
    g->depth++;
    generate_statements(g, count);
    g->depth--;
    leave_block(g, scope);
    return block;
}

static uint32_t make_if(struct generator *g, uint32_t links)
{
    struct node node = {.kind = ST_IF, .a = generate_condition(g, 2)};
    node.b = block_of(g, 1 + draw(g, 2));
    if (links > 0) {
        feature(g, FEATURE_IF_CHAIN);
        node.c = make_if(g, links - 1);
    } else if (chance(g, 50)) {
        node.c = block_of(g, 1 + draw(g, 2));
    }
    return tree_add(g->tree, node);
}

/* Leaves the loop or goes on with its next turn, for those for whom a condition holds. */
static void leave_loop(struct generator *g)
{
    bool breaks = chance(g, 50);
    struct node node = {.kind = ST_IF, .a = generate_condition(g, 2)};
    node.b = build_block(g);
    struct scope scope = enter_block(g, node.b);
    build_statement(g, (struct node){.kind = breaks ? ST_BREAK : ST_CONTINUE});
    leave_block(g, scope);
    build_statement(g, node);
    feature(g, breaks ? FEATURE_BREAK : FEATURE_CONTINUE);
}

static void loop(struct generator *g)
{
    static const enum feature features[] = {FEATURE_FOR, FEATURE_WHILE, FEATURE_DO};
    uint32_t kind = draw(g, 4) % 3;
    struct node node = {.kind = (uint8_t)(ST_FOR + kind), .c = kind == 0 ? 1 + draw(g, 2) : 0};
    node.a = chance(g, 60) ? build_uint(g, 1 + draw(g, 6))
                           : build_binary(g, OP_AND, generate_expression(g, type_uint(), 1),
                                          build_uint(g, 7));
    node.variable = build_counter(g);
    node.b = build_block(g);
    feature(g, features[kind]);
    struct scope scope = enter_block(g, node.b);
    know(g, node.variable, false, false);
    g->depth++;
    g->loops++;
    generate_statements(g, 1 + draw(g, 2));
    if (chance(g, 50)) {
        leave_loop(g);
        generate_statements(g, 1);
    }
    g->loops--;
    g->depth--;
    leave_block(g, scope);
    build_statement(g, node);
}

static void make_switch(struct generator *g)
{
    uint32_t count = 2 + draw(g, 3);
    uint32_t default_at = draw(g, count + 1); /* count: there is none */
    struct node node = {.kind = ST_SWITCH};
    uint32_t value = generate_expression(g, type_uint(), 2);
    node.a = build_binary(g, OP_AND, value, build_uint(g, 3));
    feature(g, FEATURE_SWITCH);
    for (uint32_t i = 0; i < count; i++) {
        bool falls = i + 1 < count && chance(g, 30);
        struct node arm = {.kind = ST_CASE, .value = i};
        arm.flag = (uint8_t)((i == default_at ? CASE_DEFAULT : 0) | (falls ? CASE_FALLS : 0));
        if (falls)
            feature(g, FEATURE_FALLTHROUGH);
        arm.a = block_of(g, 1);
        tree_append(g->tree, &node.b, tree_add(g->tree, arm));
    }
    build_statement(g, node);
}

/* A function that changes an array of its caller's. */
static bool invoke(struct generator *g)
{
    for (uint32_t f = 0; f < g->function; f++) {
        const struct function *function = &g->tree->functions[f];
        if (g->function_kinds[f] != FUNCTION_PRIVATE || function->is_kernel)
            continue;
        const struct variable *pointer = &g->tree->variables[function->parameters[0]];
        for (uint32_t i = 0; i < g->known_count; i++) {
            const struct variable *variable = &g->tree->variables[g->known[i].variable];
            if (!g->known[i].is_writable || variable->space != SPACE_PRIVATE ||
                !type_equal(variable->type, pointer->type) || variable->count < pointer->count)
                continue;
            struct node call = {.kind = EX_CALL, .type = function->result, .callee = (uint16_t)f};
            call.a = build_read(g, g->known[i].variable);
            tree_append(g->tree, &call.a, generate_expression(g, type_uint(), 2));
            build_statement(g, (struct node){.kind = ST_INVOKE, .b = tree_add(g->tree, call)});
            feature(g, FEATURE_FUNCTION_POINTER_PARAMETER);
            return true;
        }
    }
    return false;
}

/* The end for those for whom a condition holds. */
static void early_return(struct generator *g)
{
    struct type result = g->tree->functions[g->function].result;
    struct node node = {.kind = ST_IF, .a = generate_condition(g, 2)};
    node.b = build_block(g);
    struct scope scope = enter_block(g, node.b);
    uint32_t value = result.base == BASE_NONE ? 0 : generate_expression(g, result, 1);
    build_statement(g, (struct node){.kind = ST_RETURN, .a = value});
    leave_block(g, scope);
    build_statement(g, node);
    feature(g, FEATURE_RETURN);
}

void generate_statement(struct generator *g)
{
    uint32_t roll = draw(g, 100);
    bool nests = g->depth < 3 && g->budget > 0;
    if (g->budget > 0)
        g->budget--;
    if (roll < 25 || (!nests && roll < 30)) {
        generate_declaration(g);
    } else if (roll < 50 || !nests) {
        assign(g);
    } else if (roll < 68) {
        uint32_t made = make_if(g, chance(g, 40) ? 1 + draw(g, 2) : 0);
        tree_append(g->tree, g->list, made);
    } else if (roll < 83 && g->loops < 2) {
        loop(g);
    } else if (roll < 90) {
        make_switch(g);
    } else if (roll < 93 && g->may_return) {
        early_return(g);
    } else if (!invoke(g)) {
        assign(g);
    }
}

void generate_statements(struct generator *g, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        generate_statement(g);
}
