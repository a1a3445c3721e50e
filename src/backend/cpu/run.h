/*
 * run.h: carrying out commands on the calling thread.
 */
#ifndef VYRE_BACKEND_CPU_RUN_H
#define VYRE_BACKEND_CPU_RUN_H

#include <stdatomic.h>
#include <stdbool.h>

#include <vyre/backend.h>

#include "backend/cpu/kernel.h"
#include "base/groups.h"

/* The thread that runs, which determines its slice of scratch memory. 0 is the caller's thread. */
struct vyre_cpu_runner {
    _Atomic uint64_t steps; /* commands and parts run by this runner: a sign of life */
    uint32_t participant;
    const _Atomic uint32_t *lost;   /* Borrowed: when set, nothing further may be touched */
    _Atomic uint32_t *cost_version; /* Borrowed: incremented when a kernel's cost changed much */
    uint64_t clock_ns;              /* what reading the clock adds to a measured time */
    void (*on_wait)(void *user);    /* called now and then while a task waits; may be NULL */
    void *user;
};

/* All groups of all commands [first, first + count), in order; stops early on a lost device. */
void vyre_cpu_run_commands(struct vyre_cpu_runner *runner, const struct vyre_batch_view *view,
                           uint32_t first, uint32_t count);

/* One command: all of it, or groups [begin, end) of a dispatch, counted with x running fastest. */
void vyre_cpu_run_command(struct vyre_cpu_runner *runner, const struct vyre_batch_view *view,
                          const struct vyre_command *command);
void vyre_cpu_run_groups(struct vyre_cpu_runner *runner, const struct vyre_batch_view *view,
                         const struct vyre_command *command, uint64_t begin, uint64_t end);

/* Groups of a dispatch, timed: updates the cost of its kernel. Returns the time. */
uint64_t vyre_cpu_run_measured(struct vyre_cpu_runner *runner, const struct vyre_batch_view *view,
                               const struct vyre_command *command, uint64_t begin, uint64_t end);

/* Times of commands that a submission asks for. */
struct vyre_cpu_times {
    struct vyre_command_time *times; /* Borrowed: the runtime's; NULL: none are asked for */
    uint32_t count;
};

/*
 * All commands, in order. Those that take long compared with reading the clock are timed, and in any
 * case one of them by `chosen`.
 */
void vyre_cpu_run_timed(struct vyre_cpu_runner *runner, const struct vyre_batch_view *view,
                        uint32_t chosen, const struct vyre_cpu_times *asked);

/* The times of commands whose parts ran on several threads: by what their kernels cost. */
void vyre_cpu_times_from_costs(const struct vyre_batch_view *view,
                               const struct vyre_cpu_times *asked);

/* One writer; relaxed: a sign of life orders nothing. */
static inline void vyre_cpu_count_step(struct vyre_cpu_runner *runner)
{
    uint64_t steps = atomic_load_explicit(&runner->steps, memory_order_relaxed);
    atomic_store_explicit(&runner->steps, steps + 1, memory_order_relaxed);
}

/* Groups of a dispatch; 1 for other commands. */
static inline uint64_t vyre_cpu_command_groups(const struct vyre_command *command)
{
    return command->type == VYRE_COMMAND_DISPATCH ? vyre_groups_total(command->groups) : 1;
}

#endif
