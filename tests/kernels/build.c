/*
 * build.c: nodes, with nothing random in them.
 */
#include "kernels/generator.h"

static uint32_t add(struct generator *g, struct node node)
{
    return tree_add(g->tree, node);
}

/* ---- Variables -------------------------------------------------------------------------------- */

uint16_t build_variable(struct generator *g, struct variable variable)
{
    struct function *function = &g->tree->functions[g->function];
    if (g->tree->variable_count >= VARIABLES_MAX - 1) /* the oracle then refuses the program */
        return VARIABLES_MAX - 1;
    variable.function = (uint8_t)g->function;
    variable.number = function->variable_count++;
    g->tree->variables[g->tree->variable_count] = variable;
    return (uint16_t)g->tree->variable_count++;
}

uint16_t build_parameter(struct generator *g, struct variable variable)
{
    struct function *function = &g->tree->functions[g->function];
    variable.is_parameter = true;
    uint16_t number = build_variable(g, variable);
    function->parameters[function->parameter_count++] = number;
    return number;
}

void know(struct generator *g, uint16_t variable, bool is_writable, bool is_uniform)
{
    if (g->known_count < KNOWN_MAX)
        g->known[g->known_count++] = (struct known){variable, is_writable, is_uniform};
}

/* ---- Expressions ------------------------------------------------------------------------------ */

uint32_t build_constant(struct generator *g, struct type type, uint64_t value)
{
    return add(g, (struct node){.kind = EX_CONSTANT,
                                .type = type,
                                .value = value & base_mask((enum base)type.base)});
}

uint32_t build_uint(struct generator *g, uint64_t value)
{
    return build_constant(g, type_uint(), value);
}

uint32_t build_read(struct generator *g, uint16_t variable)
{
    return add(g, (struct node){.kind = EX_VARIABLE,
                                .type = g->tree->variables[variable].type,
                                .variable = variable});
}

uint32_t build_element(struct generator *g, uint16_t variable, uint32_t index, uint64_t modulus)
{
    return add(g, (struct node){.kind = EX_ELEMENT,
                                .type = g->tree->variables[variable].type,
                                .variable = variable,
                                .a = index,
                                .value = modulus});
}

uint32_t build_field(struct generator *g, uint32_t place, uint32_t field)
{
    struct node *node = &g->tree->nodes[place];
    node->type = g->tree->structures[node->type.structure].fields[field];
    node->field = (uint8_t)(field + 1);
    return place;
}

uint32_t build_binary(struct generator *g, enum operator_kind op, uint32_t a, uint32_t b)
{
    bool truth = op >= OP_LESS && op <= OP_OR_ELSE;
    return add(g, (struct node){.kind = EX_BINARY,
                                .op = (uint8_t)op,
                                .type = truth ? type_uint() : g->tree->nodes[a].type,
                                .a = a,
                                .b = b});
}

uint32_t build_unary(struct generator *g, enum operator_kind op, uint32_t a)
{
    return add(g, (struct node){.kind = EX_UNARY,
                                .op = (uint8_t)op,
                                .type = op == OP_LOGICAL_NOT ? type_uint() : g->tree->nodes[a].type,
                                .a = a});
}

uint32_t build_cast(struct generator *g, struct type type, uint32_t value)
{
    if (type_equal(g->tree->nodes[value].type, type))
        return value;
    return add(g, (struct node){.kind = EX_CAST, .type = type, .a = value});
}

uint32_t build_id(struct generator *g, enum id id, uint32_t dimension)
{
    return add(g, (struct node){
                      .kind = EX_ID, .op = (uint8_t)id, .type = type_uint(), .value = dimension});
}

/* ---- Statements ------------------------------------------------------------------------------- */

uint32_t build_block(struct generator *g)
{
    return add(g, (struct node){.kind = ST_BLOCK});
}

void build_statement(struct generator *g, struct node statement)
{
    tree_append(g->tree, g->list, add(g, statement));
}

void build_declare(struct generator *g, uint16_t variable, uint32_t values)
{
    build_statement(g, (struct node){.kind = ST_DECLARE, .variable = variable, .a = values});
}

uint16_t build_declared(struct generator *g, struct type type, uint32_t value)
{
    uint16_t variable = build_variable(g, (struct variable){.type = type});
    build_declare(g, variable, value);
    return variable;
}

void build_assign(struct generator *g, uint32_t place, enum operator_kind op, uint32_t value)
{
    build_statement(g, (struct node){.kind = ST_ASSIGN, .op = (uint8_t)op, .a = place, .b = value});
}

void build_barrier(struct generator *g)
{
    feature(g, FEATURE_BARRIER);
    build_statement(g, (struct node){.kind = ST_BARRIER});
}

uint16_t build_counter(struct generator *g)
{
    return build_variable(g, (struct variable){.type = type_uint()});
}

struct scope enter_block(struct generator *g, uint32_t block)
{
    struct scope scope = {g->list, g->known_count};
    g->list = &g->tree->nodes[block].a;
    return scope;
}

void leave_block(struct generator *g, struct scope scope)
{
    g->list = scope.list;
    g->known_count = scope.known_count;
}
