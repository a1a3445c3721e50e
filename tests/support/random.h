/*
 * random.h: the tests' generator: xoshiro256** seeded by splitmix64, the same on every machine.
 *
 * Besides uniform numbers it draws "edge" numbers, a mixture that hits what arithmetic gets wrong:
 * 0, 1, the maximum, powers of two and their neighbours, small numbers, and uniform numbers of
 * every width.
 */
#ifndef VYRE_TESTS_SUPPORT_RANDOM_H
#define VYRE_TESTS_SUPPORT_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
    uint64_t state[4];
};

static inline struct rng rng_seeded(uint64_t seed)
{
    struct rng rng;
    for (unsigned i = 0; i < 4; i++) {
        seed += UINT64_C(0x9e3779b97f4a7c15);
        uint64_t mixed = seed;
        mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
        rng.state[i] = mixed ^ (mixed >> 31);
    }
    return rng;
}

static inline uint64_t rng_rotate(uint64_t value, unsigned bits)
{
    return (value << bits) | (value >> (64 - bits));
}

static inline uint64_t rng_next(struct rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t result = rng_rotate(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rng_rotate(s[3], 45);
    return result;
}

/* Uniform in 0 .. limit - 1, except for a bias below limit / 2^64. `limit` is not 0. */
static inline uint64_t rng_below(struct rng *rng, uint64_t limit)
{
    return rng_next(rng) % limit;
}

static inline bool rng_bool(struct rng *rng)
{
    return rng_next(rng) >> 63;
}

/* An edge number of `bits` (1 to 64) bits at most. */
static inline uint64_t rng_edge(struct rng *rng, unsigned bits)
{
    uint64_t max = UINT64_MAX >> (64 - bits);
    uint64_t power = UINT64_C(1) << rng_below(rng, bits);
    switch (rng_below(rng, 10)) {
    case 0:
        return rng_below(rng, 2);
    case 1:
        return max - rng_below(rng, 2);
    case 2:
        return power;
    case 3:
        return power - 1;
    case 4:
        return (power + 1) & max;
    case 5:
        return rng_below(rng, 64) & max;
    case 6:
        return rng_next(rng) & max;
    default:
        return rng_next(rng) & max >> rng_below(rng, bits);
    }
}

static inline uint64_t rng_edge_u64(struct rng *rng)
{
    return rng_edge(rng, 64);
}

static inline uint32_t rng_edge_u32(struct rng *rng)
{
    return (uint32_t)rng_edge(rng, 32);
}

#endif
