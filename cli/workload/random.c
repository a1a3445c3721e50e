/*
 * random.c: xoshiro256**, seeded by splitmix64.
 */
#include "workload/random.h"

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t rotate_left(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

struct cli_random cli_random_seed(uint64_t seed)
{
    struct cli_random random;
    for (int i = 0; i < 4; i++)
        random.state[i] = splitmix64(&seed);
    return random;
}

uint64_t cli_random_next(struct cli_random *random)
{
    uint64_t *s = random->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}
