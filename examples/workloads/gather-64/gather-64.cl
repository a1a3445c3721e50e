// CL2.0
// gather-64.cl: rows that lie in 64 shards; the table holds the shards' addresses (SVM).

// Sums of 8 rows of 16 words. An id names the shard (6 bits) and the row (6 bits).
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void lookup(__global const ulong *table, __global const uint *ids, __global uint *sums, uint first)
{
    uint i = get_global_id(0);
    uint at = (first + i / 16) * 8;
    uint sum = 0;
    for (uint k = 0; k < 8; k++) {
        uint id = ids[at + k];
        __global const uint *shard = (__global const uint *)table[id & 63u];
        sum += shard[(id >> 6 & 63u) * 16 + i % 16];
    }
    sums[i] = sums[i] * 3u + sum;
}

// One shard to a group; every word becomes 5 * word + addend. The table itself is only read.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void update(__global const ulong *table, uint words, uint addend)
{
    __global uint *shard = (__global uint *)table[get_group_id(0)];
    for (uint i = get_local_id(0); i < words; i += get_local_size(0))
        shard[i] = shard[i] * 5u + addend;
}
