/*
 * generate.h: what the two halves of the generator share: the random numbers and what was made so
 * far.
 */
#ifndef VYRE_TESTS_DIFFERENTIAL_GENERATE_H
#define VYRE_TESTS_DIFFERENTIAL_GENERATE_H

#include "differential/program.h"
#include "support/random.h"

struct generator {
    struct program *program;
    struct rng rng;
    const struct device_shape *shape;
    uint32_t built[PROGRAM_OBJECTS];    /* the step that built the object + 1; 0: none */
    uint32_t builds[PROGRAM_STEPS_MAX]; /* all steps that build */
    uint32_t build_count;
    uint32_t host_used; /* by the build that is being made */
    uint32_t in_flight;
    uint32_t window; /* submits between checks */
    bool even;       /* commands of much the same cost, many to a batch: arms for all workers */
};

static inline bool one_in(struct generator *gen, uint32_t n)
{
    return rng_below(&gen->rng, n) == 0;
}

static inline uint32_t below(struct generator *gen, uint32_t limit)
{
    return (uint32_t)rng_below(&gen->rng, limit);
}

/* A random dispatch, or a random command of another kind; false: the dice found no valid one. */
bool generate_dispatch(struct generator *gen, struct command *command);
bool generate_transfer(struct generator *gen, struct command *command);

/* Changes a valid command a little: other groups or another place, so that it looks much the same. */
void generate_variation(struct generator *gen, struct command *command);

/* Other values for the random ones among the constants. */
void generate_constants(struct generator *gen, const struct command *command,
                        unsigned char *constants);

#endif
