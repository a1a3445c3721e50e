/*
 * generator.h: what the generator's files share.
 *
 * Words
 *   known    a variable that expressions may read now
 *   uniform  the same for all work-items of a group: constants, group ids, scalar arguments
 *   own      the index into the output that belongs to a work-item alone
 *   guard    the bounds check around stores to the output
 *   tail     the last statements of a kernel, which store to the output
 */
#ifndef VYRE_TESTS_KERNELS_GENERATOR_H
#define VYRE_TESTS_KERNELS_GENERATOR_H

#include "kernels/program.h"
#include "support/random.h"

enum {
    KNOWN_MAX = 96,
    KERNELS_MAX = 5,
    LOCAL_ARRAYS_MAX = 6,
    GLOBAL_ITEMS_MAX = 640, /* of a dispatch; inputs of this many elements need no modulus */
    IN_COUNT_SMALL = 16,
};

struct known {
    uint16_t variable;
    bool is_writable;
    bool is_uniform;
};

/* What a parameter of a kernel is for. */
enum role {
    ROLE_NONE = 0,
    ROLE_IN,       /* read anywhere */
    ROLE_OUT,      /* each work-item has places of its own */
    ROLE_GROUP,    /* one place for each group */
    ROLE_COUNTERS, /* added to atomically */
    ROLE_LOCAL,
    ROLE_LIMIT_X, /* of the guard */
    ROLE_LIMIT_Y,
    ROLE_SCALAR,
};

enum guard { GUARD_NONE = 0, GUARD_ROW, GUARD_PLANE };

struct kernel_plan {
    uint32_t function;
    uint32_t dimensions;
    uint32_t local_size[3];
    uint32_t items; /* of a group */
    enum role roles[PARAMETERS_MAX];
    enum guard guard;
    uint32_t out_per_item;
    bool is_transposed; /* with a plane: own is x * height + y */

    /* variables */
    uint16_t x, y, local_id, own, chosen;
    uint16_t in, out, group_out, counters, limit_x, limit_y;
    uint16_t memory; /* a local array of uints that is readable at the end; 0: none */

    uint16_t arrays[LOCAL_ARRAYS_MAX]; /* local memory that phases use again */
    bool array_used[LOCAL_ARRAYS_MAX];
    uint32_t array_count;
    bool has_barrier;
};

/* What the tails of several kernels may have in common. */
struct tail_plan {
    uint64_t structure_seed;
    uint64_t constant_seed;
    bool behind_barrier;
};

enum function_kind { FUNCTION_PURE = 0, FUNCTION_PRIVATE, FUNCTION_READ, FUNCTION_EXCHANGE };

struct generator {
    struct rng rng;
    struct program *program;
    struct tree *tree;
    uint32_t function; /* that is being made */
    uint32_t *list;    /* the block's list that statements go to */
    struct known known[KNOWN_MAX];
    uint32_t known_count;
    bool is_uniform; /* expressions must be */
    bool in_kernel;
    bool has_barriers; /* programs without any are run in another way by dispatchers */
    uint32_t loops;    /* around this statement, that a break may leave */
    uint32_t budget;
    uint32_t depth;
    bool may_return; /* no barrier follows */
    uint32_t dimensions;
    uint32_t local_size[3]; /* that most kernels have */
    uint32_t items;
    struct type out_type; /* that most kernels have */
    enum function_kind function_kinds[FUNCTIONS_MAX];
    struct kernel_plan kernels[KERNELS_MAX];
    uint32_t kernel_count;
    struct kernel_plan *kernel; /* that is being made */
};

/* ---- Drawing ---------------------------------------------------------------------------------- */

static inline uint32_t draw(struct generator *g, uint32_t limit)
{
    return (uint32_t)rng_below(&g->rng, limit);
}

static inline bool chance(struct generator *g, uint32_t percent)
{
    return draw(g, 100) < percent;
}

static inline void feature(struct generator *g, enum feature feature)
{
    g->program->features[feature]++;
}

/* ---- Building: build.c ------------------------------------------------------------------------ */

uint16_t build_variable(struct generator *g, struct variable variable);
uint16_t build_parameter(struct generator *g, struct variable variable);
void know(struct generator *g, uint16_t variable, bool is_writable, bool is_uniform);

uint32_t build_constant(struct generator *g, struct type type, uint64_t value);
uint32_t build_uint(struct generator *g, uint64_t value);
uint32_t build_read(struct generator *g, uint16_t variable);
uint32_t build_element(struct generator *g, uint16_t variable, uint32_t index, uint64_t modulus);
uint32_t build_field(struct generator *g, uint32_t place, uint32_t field);
uint32_t build_binary(struct generator *g, enum operator_kind op, uint32_t a, uint32_t b);
uint32_t build_unary(struct generator *g, enum operator_kind op, uint32_t a);
uint32_t build_cast(struct generator *g, struct type type, uint32_t value); /* none if it has it */
uint32_t build_id(struct generator *g, enum id id, uint32_t dimension);

uint32_t build_block(struct generator *g);
void build_statement(struct generator *g, struct node statement); /* at the end of the list */
void build_declare(struct generator *g, uint16_t variable, uint32_t values);
uint16_t build_declared(struct generator *g, struct type type, uint32_t value);
void build_assign(struct generator *g, uint32_t place, enum operator_kind op, uint32_t value);
void build_barrier(struct generator *g);
uint16_t build_counter(struct generator *g); /* the variable of a loop */

/* Statements go to the block until it is left; what is declared inside is then forgotten. */
struct scope {
    uint32_t *list;
    uint32_t known_count;
};
struct scope enter_block(struct generator *g, uint32_t block);
void leave_block(struct generator *g, struct scope scope);

/* ---- Parts: one file each --------------------------------------------------------------------- */

void generate_macros(struct generator *g);
void generate_structures(struct generator *g);
void generate_function(struct generator *g);
void generate_kernel(struct generator *g, const struct tail_plan *tail, bool is_small);
void generate_batches(struct generator *g);

uint32_t generate_expression(struct generator *g, struct type type, uint32_t depth);
uint32_t generate_condition(struct generator *g, uint32_t depth);
uint32_t generate_uniform(struct generator *g, uint32_t depth); /* a uint */
uint32_t generate_uniform_condition(struct generator *g);
struct type generate_scalar_type(struct generator *g);
struct type generate_stored_type(struct generator *g); /* also small integers and vectors */
uint64_t generate_number(struct generator *g, enum base base);

/* Statements without barriers. */
void generate_statements(struct generator *g, uint32_t count);
void generate_statement(struct generator *g);
void generate_declaration(struct generator *g);

/* Statements with barriers, where all work-items of the group come by. */
void generate_phase(struct generator *g, bool in_loop);

/* local id * factor + number: modulo items, another place for each work-item. */
uint32_t generate_permuted(struct generator *g, uint16_t local_id, uint32_t items);

/* A store to a place of this work-item, without the guard; and the guard, 0: none is needed. */
void generate_store(struct generator *g, uint32_t slot, uint32_t value);
uint32_t generate_guard(struct generator *g);
void generate_tail(struct generator *g, const struct tail_plan *plan);

#endif
