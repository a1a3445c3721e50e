/*
 * execution.h: what commands take on the device, learned from sampled times of single commands.
 *
 * A command takes a part that does not depend on its size, and time in proportion to its size:
 *
 *   ns |            x large       the size of a dispatch is its number of rounds: groups, divided by
 *      |        .                 the groups that run at the same time, rounded up;
 *      |    x small               the size of a transfer is its number of bytes
 *      |.
 *      +--------------- size
 *
 * A line keeps two points, of the smallest and of the largest size that was sampled, and predicts
 * from the slope between them. The part that does not depend on the size is left out of predictions:
 * it belongs to launching, whose cost calibration knows (candidates.h). With a single size, the part
 * is the one that other kernels showed, but at most three quarters of the time.
 *
 * Each kernel has a line. What all kernels take per round and invocation predicts a kernel that was
 * never sampled. The first submission of a kernel is never sampled: it may compile, and touch its
 * memory for the first time.
 *
 * Batches are asked for their times in auto, except in persistent mode, when they are compared or
 * timed anyway: from the second submission of one of their kernels on, then ever more rarely, and when
 * a kernel has more than double the groups sampled so far, or fewer than half. One submission at a
 * time. A backend may have no answer; then a later submission is asked. Memory is part of the kernel
 * and of the device; nothing is allocated.
 *
 * Thread-safety: the caller holds the device's lock.
 */
#ifndef VYRE_RUNTIME_EXECUTION_H
#define VYRE_RUNTIME_EXECUTION_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/backend.h>
#include <vyre/observer.h>

struct vyre_body;
struct vyre_device;
struct vyre_kernel;

/* Commands of a batch that are sampled at most: its first ones. */
#define VYRE_EXECUTION_COMMANDS_MAX 128

/* ---- Lines: pure arithmetic ------------------------------------------------------------------- */

struct vyre_execution_point {
    double size;
    double ns; /* leans towards the shortest: other work on the machine only adds time */
};

struct vyre_execution_line {
    struct vyre_execution_point small;
    struct vyre_execution_point large;
    uint32_t count; /* samples, saturating; 0: nothing is known */
};

/* Learns that a command of this size took so long. Ignores sizes and times of 0. */
void vyre_execution_line_learn(struct vyre_execution_line *line, double size, double ns);

/* Whether the two points are far enough apart to show the slope. */
bool vyre_execution_line_is_split(const struct vyre_execution_line *line);

/* The part of the time that does not depend on the size; 0 if the line is not split. */
double vyre_execution_line_part(const struct vyre_execution_line *line);

/* Time per size. `part_ns`: what other lines showed, for a line that is not split. */
double vyre_execution_line_slope(const struct vyre_execution_line *line, double part_ns);

/* ---- Kernels and devices ---------------------------------------------------------------------- */

/* What a kernel knows about itself. Zeroed when the kernel is new. */
struct vyre_kernel_execution {
    struct vyre_execution_line line; /* sizes are rounds */
    uint32_t runs;                   /* submissions that were looked at, saturating */
    uint32_t sample_at;              /* the next one to be sampled */
    uint64_t mark;                   /* the last submission that was looked at */
    uint64_t groups_least;           /* of all samples ... */
    uint64_t groups_most;            /* ... 0: none yet */
};

/* A command whose time is awaited. */
struct vyre_execution_command {
    struct vyre_kernel
        *kernel;       /* Borrowed: structs outlive the device's batches; NULL: a transfer */
    uint64_t identity; /* of the kernel */
    uint64_t amount;   /* groups, or bytes */
    enum vyre_command_type type;
};

struct vyre_execution {
    struct vyre_execution_line transfers[VYRE_COMMAND_TYPE_COUNT]; /* sizes are bytes */
    double part_ns;         /* of dispatches, whatever their size: a running mean; 0: not known */
    double invocation_log;  /* log2 of ns per round and invocation: a running mean over kernels */
    uint32_t kernel_count;  /* samples in it, saturating */
    uint64_t marks;         /* submissions that were looked at */
    uint64_t ask_at;        /* none is sampled before this one */
    uint32_t unanswered;    /* altered batches in a row without a time */
    uint64_t sequence;      /* the submission that is sampled; 0: none */
    uint32_t command_count; /* of it */
    struct vyre_execution_command commands[VYRE_EXECUTION_COMMANDS_MAX];
    struct vyre_command_time times[VYRE_EXECUTION_COMMANDS_MAX];
};

/*
 * Looks at a body that is about to be submitted. If its turn has come, asks for the times of its
 * commands in `submission`, which has its sequence.
 */
void vyre_execution_ask_locked(struct vyre_device *device, const struct vyre_body *body,
                               struct vyre_submission *submission);

/* The backend refused the submission. */
void vyre_execution_cancel_locked(struct vyre_device *device, uint64_t sequence);

/* Learns from the sampled submission, if it is complete. */
void vyre_execution_collect_locked(struct vyre_device *device);

/*
 * The predicted execution of the batch's commands one after another in plain mode, without what
 * launching costs. 0: nothing is known.
 */
double vyre_execution_predict_locked(const struct vyre_device *device,
                                     const struct vyre_body *body);

/* ... in each mode, which may run more or fewer groups at the same time. */
void vyre_execution_predict_modes_locked(const struct vyre_device *device,
                                         const struct vyre_body *body,
                                         double out_ns[VYRE_MODE_COUNT]);

#endif
