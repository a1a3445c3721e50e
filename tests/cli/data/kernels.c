/*
 * kernels.c: host kernels for the tests of the tool; built by them into a shared object.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <vyre/kernel.h>

void add(const struct vyre_host_group *group);
void slow(const struct vyre_host_group *group);
void unsteady(const struct vyre_host_group *group);

/* Makes the file VYRE_TEST_BEGAN when this is the call of a kernel that VYRE_TEST_CALLS names. */
static void tell_progress(void)
{
    static atomic_uint calls;
    const char *path = getenv("VYRE_TEST_BEGAN");
    const char *wanted = getenv("VYRE_TEST_CALLS");
    if (!path || !wanted || atomic_fetch_add(&calls, 1) + 1 != strtoul(wanted, NULL, 10))
        return;
    FILE *file = fopen(path, "w");
    if (file)
        fclose(file);
}

/* x[group] = x[group] * 3 + constant: the number of runs shows. */
void add(const struct vyre_host_group *group)
{
    uint32_t *x = group->buffers[0].data;
    uint32_t i = group->group_id[0];
    tell_progress();
    x[i] = x[i] * 3 + *(const uint32_t *)group->constants;
}

/* Keeps a core busy for as many milliseconds as the constant says. */
void slow(const struct vyre_host_group *group)
{
    uint64_t limit_ns = (uint64_t) * (const uint32_t *)group->constants * 1000000;
    struct timespec start, now;
    uint64_t passed_ns;
    tell_progress();
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
        passed_ns = (uint64_t)(now.tv_sec - start.tv_sec) * 1000000000 + (uint64_t)now.tv_nsec -
                    (uint64_t)start.tv_nsec;
    } while (passed_ns < limit_ns);
    *(uint32_t *)group->buffers[0].data += 1;
}

/* Breaks the contract on purpose: what it writes depends on what ran before it in the process. */
void unsteady(const struct vyre_host_group *group)
{
    static atomic_uint calls;
    *(uint32_t *)group->buffers[0].data = atomic_fetch_add(&calls, 1);
}
