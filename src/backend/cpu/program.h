/*
 * program.h: a batch cut into tasks that several threads can take.
 *
 *   commands   c0 c1 c2 | c3 (large) | c4 c5 c6 c7 (two arms)
 *   tasks      [c0..c2] | [c3 a][c3 b][c3 c][c3 d] | [c4 c6] [c5 c7] |
 *   wait_for       0    |  1     1     1     1     |    5       5
 *
 * Tasks are taken in order. A task starts when the first `wait_for` tasks of the program are done.
 * That makes the result the same as that of the serial run, whatever the number of threads.
 *
 *   run    commands that are too small to be worth a barrier: one task, in order
 *   split  one command with many groups: a task per part
 *   arms   independent commands of a segment: a task per arm
 *
 * Thread-safety: built by one thread; then only read.
 */
#ifndef VYRE_BACKEND_CPU_PROGRAM_H
#define VYRE_BACKEND_CPU_PROGRAM_H

#include <stdbool.h>

#include <vyre/backend.h>

struct vyre_cpu_task {
    uint32_t first; /* a command, or an index into `order` */
    uint32_t count;
    uint32_t wait_for;
    bool ordered;         /* first and count refer to `order` */
    uint64_t group_begin; /* a part of one command if group_end is not 0 */
    uint64_t group_end;
};

struct vyre_cpu_program {
    struct vyre_allocator allocator;
    struct vyre_cpu_task *tasks; /* Owned */
    uint32_t *order;             /* Owned: commands of arms, one after another */
    uint32_t task_count;
    uint32_t task_capacity;
    uint32_t order_count;
    uint32_t order_capacity;
    struct vyre_cpu_program *next; /* in a list of free programs */
};

/* Costs in ns that decide what is worth a task. */
struct vyre_cpu_grain {
    uint32_t participants;
    uint64_t barrier_ns; /* the cost of one more step between participants */
};

/*
 * The measured hand-over moves one line between two cores. A real one also moves the job, the
 * commands and the data, so it must save this many measured ones to pay (measured: with 2, work of
 * 1.3 us became 1.4 times slower).
 */
#define VYRE_CPU_WORTH_BARRIERS 6

/* Empty; NULL when out of memory. */
struct vyre_cpu_program *vyre_cpu_program_create(const struct vyre_allocator *allocator);
void vyre_cpu_program_destroy(struct vyre_cpu_program *program); /* NULL is ignored */
size_t vyre_cpu_program_size(const struct vyre_cpu_program *program);

/*
 * Cuts a batch into tasks. Without a plan (NULL) the commands are a chain. False when out of
 * memory; the program is then empty.
 */
bool vyre_cpu_program_build(struct vyre_cpu_program *program, const struct vyre_batch_view *view,
                            const struct vyre_batch_plan *plan, const struct vyre_cpu_grain *grain);

/* The expected time of a command; unknown kernels count as expensive. */
uint64_t vyre_cpu_command_cost_ns(const struct vyre_batch_view *view,
                                  const struct vyre_command *command, bool *out_known);

#endif
