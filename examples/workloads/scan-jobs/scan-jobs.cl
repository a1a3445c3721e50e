// CL1.2
// scan-jobs.cl: 16 signatures of at most 16 bytes, looked for in a piece of a log.

// Which signatures start at each byte of the text, as a mask. A signature ends at its first newline.
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void match(__global const uchar *text, __global const uchar *signatures, __global uint *masks,
           uint length)
{
    uint at = get_global_id(0);
    if (at >= length)
        return;
    uint mask = 0;
    for (uint s = 0; s < 16; s++) {
        uint i = 0;
        while (i < 16 && signatures[s * 16 + i] != '\n' && at + i < length &&
               text[at + i] == signatures[s * 16 + i])
            i++;
        if (i == 16 || signatures[s * 16 + i] == '\n')
            mask |= 1u << s;
    }
    masks[at] = mask;
}

// Per signature: hits over all runs, hits of this run, first hit + 1; then the runs.
__kernel __attribute__((reqd_work_group_size(16, 1, 1)))
void tally(__global const uint *masks, __global uint *results, uint length)
{
    uint s = get_local_id(0);
    uint hits = 0;
    uint first = 0;
    for (uint i = 0; i < length; i++) {
        if (masks[i] >> s & 1u) {
            if (hits == 0)
                first = i + 1;
            hits++;
        }
    }
    results[s] += hits;
    results[16 + s] = hits;
    results[32 + s] = first;
    if (s == 0)
        results[48] += 1;
}
