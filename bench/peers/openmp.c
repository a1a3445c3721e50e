/*
 * openmp.c: gcc's OpenMP. P1 is a `parallel for` each; P2 and P3 are one parallel region with a
 * work-sharing loop per launch, whose implicit barrier is all that keeps the order.
 *
 * Rows: every launch in parallel; the same with an if clause, as one who knows the machine would
 * write it, so that small launches stay on the calling thread; and, in a process of its own (see
 * openmp_child.c), OMP_WAIT_POLICY=active, which can only be set before the start.
 */
#include <omp.h>

#include "host_memory.h"

#include "../launch.h"

/* Below this many groups (about 1 us of work) waking a second thread does not pay. */
#define IF_GROUPS 256

struct openmp {
    struct host_memory memory;
    uint32_t parallel_from_groups;
};

static void launch_each(const struct openmp *openmp, uint32_t groups, uint32_t repeats)
{
    const uint32_t constant = launches_constant(0);
    struct vyre_host_group group = host_memory_group(&openmp->memory, groups, &constant);
    const bool parallel = groups >= openmp->parallel_from_groups;
    for (uint32_t r = 0; r < repeats; r++) {
#pragma omp parallel for schedule(static) firstprivate(group) if (parallel)
        for (uint32_t g = 0; g < groups; g++) {
            group.group_id[0] = g;
            launch_kernel(&group);
        }
    }
}

static void launch_in_one_region(const struct openmp *openmp, const struct launches_cell *cell,
                                 uint32_t repeats)
{
    const uint32_t groups = cell->groups;
    const uint32_t launches = cell->launches;
    const bool parallel = groups >= openmp->parallel_from_groups;
#pragma omp parallel if (parallel)
    {
        uint32_t constant = 0;
        struct vyre_host_group group = host_memory_group(&openmp->memory, groups, &constant);
        for (uint32_t r = 0; r < repeats; r++) {
            for (uint32_t k = 0; k < launches; k++) {
                constant = launches_constant(k);
#pragma omp for schedule(static)
                for (uint32_t g = 0; g < groups; g++) {
                    group.group_id[0] = g;
                    launch_kernel(&group);
                }
            }
        }
    }
}

static bool run(void *state, const struct launches_cell *cell, uint32_t repeats)
{
    const struct openmp *openmp = state;
    switch (cell->pattern) {
    case LAUNCHES_P1:
    case LAUNCHES_P1_REBUILT:
        launch_each(openmp, cell->groups, repeats);
        break;
    case LAUNCHES_P2:
        for (uint32_t r = 0; r < repeats; r++)
            launch_in_one_region(openmp, cell, 1);
        break;
    case LAUNCHES_P3:
        launch_in_one_region(openmp, cell, repeats);
        break;
    }
    return true;
}

static bool write_bytes(void *state, const void *bytes, size_t size_bytes)
{
    const struct openmp *openmp = state;
    memcpy(openmp->memory.buffer.data, bytes, size_bytes);
    return true;
}

static bool read_bytes(void *state, void *out_bytes, size_t size_bytes)
{
    const struct openmp *openmp = state;
    memcpy(out_bytes, openmp->memory.buffer.data, size_bytes);
    return true;
}

/* Idle threads of the pool would spin into the next contender's time. */
static void rest(void *state)
{
    (void)state;
    omp_pause_resource_all(omp_pause_soft);
}

static void close_openmp(void *state)
{
    struct openmp *openmp = state;
    host_memory_deinit(&openmp->memory);
    free(openmp);
}

static void open_openmp(const char *name, uint32_t parallel_from_groups,
                        struct launches_row *out_row)
{
    struct openmp *openmp = calloc(1, sizeof *openmp);
    out_row->name = name;
    if (openmp)
        host_memory_init(&openmp->memory);
    if (!openmp || !openmp->memory.buffer.data) {
        snprintf(out_row->absent, BENCH_ABSENT_BYTES, "out of memory");
        free(openmp);
        return;
    }
    openmp->parallel_from_groups = parallel_from_groups;
    out_row->state = openmp;
    out_row->patterns = LAUNCHES_NOT_REBUILT;
    out_row->run = run;
    out_row->write = write_bytes;
    out_row->read = read_bytes;
    out_row->rest = rest;
    out_row->close = close_openmp;
}

void launch_open_openmp(struct launches_row *out_row)
{
    open_openmp("OpenMP", 0, out_row);
}

void launch_open_openmp_if(struct launches_row *out_row)
{
    open_openmp("OpenMP if(groups>=256)", IF_GROUPS, out_row);
}
