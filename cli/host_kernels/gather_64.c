/*
 * gather_64.c: rows spread over 64 shards. The table is an array of the shards' addresses.
 */
#include <stddef.h>

#include "host_kernels/kernels.h"

#define ROW_WORDS      16
#define IDS_PER_SAMPLE 8

/* Sums of 8 rows. An id names the shard (6 bits) and the row (6 bits). */
void gather_64_lookup(const struct vyre_host_group *group)
{
    uint32_t first_sample = *(const uint32_t *)group->constants;
    const uint32_t *const *table = host_input(group, 0);
    const uint32_t *ids = host_input(group, 1);
    uint32_t *restrict sums = host_output(group, 2);
    uint32_t first = host_first(group);
    for (uint32_t i = first; i < first + group->local_size[0]; i++) {
        const uint32_t *wanted = ids + (size_t)(first_sample + i / ROW_WORDS) * IDS_PER_SAMPLE;
        uint32_t sum = 0;
        for (uint32_t k = 0; k < IDS_PER_SAMPLE; k++) {
            uint32_t row = wanted[k] >> 6 & 63u;
            sum += table[wanted[k] & 63u][row * ROW_WORDS + i % ROW_WORDS];
        }
        sums[i] = sums[i] * 3u + sum;
    }
}

/* One shard per group; every word becomes 5 * word + addend. */
void gather_64_update(const struct vyre_host_group *group)
{
    const struct {
        uint32_t words, addend;
    } *c = group->constants;
    uint32_t *const *table = host_input(group, 0);
    uint32_t *shard = table[group->group_id[0]];
    uint32_t addend = c->addend;
    for (uint32_t i = 0, words = c->words; i < words; i++)
        shard[i] = shard[i] * 5u + addend;
}
