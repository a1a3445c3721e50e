/*
 * random.h: the generator that the workload format prescribes: xoshiro256**, seeded by splitmix64.
 */
#ifndef VYRE_CLI_WORKLOAD_RANDOM_H
#define VYRE_CLI_WORKLOAD_RANDOM_H

#include <stdint.h>

struct cli_random {
    uint64_t state[4];
};

struct cli_random cli_random_seed(uint64_t seed);
uint64_t cli_random_next(struct cli_random *random);

#endif
