/*
 * generate_function.c: macros, structs and functions.
 */
#include "kernels/generator.h"

/* ---- Macros and structs ----------------------------------------------------------------------- */

static void add_macro(struct generator *g, struct macro macro)
{
    if (g->tree->macro_count < MACROS_MAX)
        g->tree->macros[g->tree->macro_count++] = macro;
}

/* An expression over the parameters of a macro. */
static uint32_t macro_body(struct generator *g, uint32_t parameter_count, uint32_t depth)
{
    static const uint8_t ops[] = {OP_ADD, OP_SUB, OP_MUL, OP_XOR, OP_AND, OP_MIN, OP_SHR};
    if (depth == 0 && chance(g, 75))
        return tree_add(g->tree, (struct node){.kind = EX_PARAMETER,
                                               .type = type_uint(),
                                               .value = draw(g, parameter_count)});
    if (depth == 0)
        return build_uint(g, generate_number(g, BASE_UINT));
    enum operator_kind op = ops[draw(g, sizeof ops)];
    uint32_t a = macro_body(g, parameter_count, depth - 1);
    uint32_t b = macro_body(g, parameter_count, depth - 1);
    return build_binary(g, op, a, b);
}

void generate_macros(struct generator *g)
{
    for (uint32_t i = draw(g, 3); i > 0; i--) {
        uint64_t number = generate_number(g, BASE_UINT);
        add_macro(g, (struct macro){.type = type_uint(), .body = build_uint(g, number)});
    }
    if (chance(g, 60)) /* for sizes of arrays */
        add_macro(g, (struct macro){.type = type_uint(), .body = build_uint(g, g->items)});
    if (chance(g, 40))
        add_macro(g, (struct macro){.type = type_uint(), .body = build_uint(g, 2 + draw(g, 7))});
    if (chance(g, 50)) {
        struct type type = generate_stored_type(g);
        add_macro(g, (struct macro){.kind = MACRO_TYPE, .type = type});
    }
    for (uint32_t i = draw(g, 3); i > 0; i--) {
        struct macro macro = {.type = type_uint(), .parameter_count = 1 + draw(g, 3)};
        for (uint32_t p = 0; p < 3; p++)
            macro.parameters[p] = type_uint();
        macro.body = macro_body(g, macro.parameter_count, 2);
        add_macro(g, macro);
    }
}

void generate_structures(struct generator *g)
{
    static const uint8_t bases[] = {BASE_UINT,  BASE_UINT,  BASE_INT,
                                    BASE_ULONG, BASE_SHORT, BASE_UCHAR};
    for (uint32_t i = draw(g, STRUCTS_MAX + 1); i > 0; i--) {
        struct structure *self = &g->tree->structures[g->tree->structure_count++];
        bool simple = chance(g, 50); /* without gaps: fit for global memory */
        self->field_count = simple ? 2 : 2 + draw(g, 3);
        for (uint32_t f = 0; f < self->field_count; f++)
            self->fields[f] = type_of(simple ? BASE_UINT : bases[draw(g, sizeof bases)], 1);
    }
}

/* ---- Functions -------------------------------------------------------------------------------- */

static uint16_t add_parameter(struct generator *g, struct variable variable, bool is_writable)
{
    uint16_t number = build_parameter(g, variable);
    know(g, number, is_writable, false);
    return number;
}

static void make_pure(struct generator *g)
{
    for (uint32_t i = 1 + draw(g, 3); i > 0; i--) {
        struct variable variable = {.type = generate_scalar_type(g)};
        if (chance(g, 15))
            variable.type = type_of(BASE_UINT, 4);
        if (chance(g, 15) && g->tree->structure_count > 0)
            variable.type = (struct type){.base = BASE_STRUCT, .width = 1};
        add_parameter(g, variable, chance(g, 50));
    }
    generate_statements(g, 1 + draw(g, 3));
}

/* Changes elements of a private array. */
static void make_private(struct generator *g)
{
    struct variable pointer = {.type = generate_scalar_type(g), .count = 2, .is_pointer = true};
    add_parameter(g, pointer, true);
    add_parameter(g, (struct variable){.type = type_uint()}, false);
    generate_statements(g, 1 + draw(g, 3));
    g->tree->functions[g->function].result = (struct type){0};
}

/* Reads what is local, or global and constant. */
static void make_read(struct generator *g)
{
    struct variable pointer = {.type = type_uint(), .count = 1, .is_pointer = true};
    bool local = chance(g, 50);
    pointer.space = local ? SPACE_LOCAL : SPACE_GLOBAL;
    pointer.count = local ? g->items : 16;
    pointer.is_constant = !local;
    add_parameter(g, pointer, false);
    add_parameter(g, (struct variable){.type = type_uint()}, true);
    generate_statements(g, 1 + draw(g, 2));
    feature(g, FEATURE_FUNCTION_POINTER_PARAMETER);
}

/* Every work-item leaves a value and takes another's. */
static uint32_t make_exchange(struct generator *g)
{
    struct variable pointer = {
        .type = type_uint(), .space = SPACE_LOCAL, .count = g->items, .is_pointer = true};
    uint16_t memory = build_parameter(g, pointer);
    uint16_t value = add_parameter(g, (struct variable){.type = type_uint()}, false);
    uint16_t local_id = add_parameter(g, (struct variable){.type = type_uint()}, false);
    generate_statements(g, draw(g, 2));
    uint32_t place = build_element(g, memory, generate_permuted(g, local_id, g->items), g->items);
    build_assign(g, place, OP_NONE, build_read(g, value));
    build_barrier(g);
    uint32_t index =
        build_binary(g, OP_ADD, build_read(g, local_id), build_uint(g, 1 + draw(g, 7)));
    uint16_t taken = build_declared(g, type_uint(), build_element(g, memory, index, g->items));
    know(g, taken, true, false);
    if (chance(g, 50))
        generate_statements(g, 1);
    build_barrier(g);
    return build_read(g, taken);
}

void generate_function(struct generator *g)
{
    uint32_t roll = draw(g, 10);
    enum function_kind kind = roll < 5                       ? FUNCTION_PURE
                              : roll < 6                     ? FUNCTION_PRIVATE
                              : roll < 8 || !g->has_barriers ? FUNCTION_READ
                                                             : FUNCTION_EXCHANGE;
    g->function = g->tree->function_count;
    g->function_kinds[g->function] = kind;
    struct function *function = &g->tree->functions[g->tree->function_count++];
    function->first_variable = (uint16_t)g->tree->variable_count;
    function->result = kind == FUNCTION_PURE ? generate_scalar_type(g) : type_uint();
    function->body = build_block(g);
    g->list = &g->tree->nodes[function->body].a;
    g->known_count = 0;
    g->in_kernel = false;
    g->may_return = kind == FUNCTION_PURE || kind == FUNCTION_READ;
    g->budget = 5;
    uint32_t result = 0;
    if (kind == FUNCTION_PURE)
        make_pure(g);
    else if (kind == FUNCTION_PRIVATE)
        make_private(g);
    else if (kind == FUNCTION_READ)
        make_read(g);
    else
        result = make_exchange(g);
    if (function->result.base == BASE_NONE)
        return;
    if (result == 0)
        result = generate_expression(g, function->result, 3);
    build_statement(g, (struct node){.kind = ST_RETURN, .a = result});
}
