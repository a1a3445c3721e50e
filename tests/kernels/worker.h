/*
 * worker.h: child processes that open drivers and run programs, so that a crash or a hang is a
 * finding. The parent opens no driver.
 *
 * Each worker has a folder of its own for the compile cache of PoCL, until worker_stop. A worker with seeds begins with
 * an empty one each time it is started, so that folders stay small. A serving worker goes on with its own, because every
 * failure ends its process.
 */
#ifndef VYRE_TESTS_KERNELS_WORKER_H
#define VYRE_TESTS_KERNELS_WORKER_H

#include <sys/types.h>

#include "kernels/session.h"

/* What a worker does: programs of seeds, or those that it is sent. */
struct job {
    const struct target *target;
    const uint64_t *seeds;     /* NULL: serves until a program fails */
    uint64_t first, step, end; /* indices of the seeds; at most WORKER_PROGRAMS_MAX of them */
};

enum { WORKER_PROGRAMS_MAX = 25 };

struct worker {
    pid_t pid;
    int pipe;            /* outcomes are read from it */
    int orders;          /* programs are written to it, for one that serves */
    char cache[256];     /* the folder's path; "": there is none */
    struct outcome last; /* STARTED: what it is busy with */
};

/* `worker` is zero, or one that ended. */
void worker_start(struct worker *worker, const struct job *job);

/*
 * Waits up to `seconds` for the next outcome. A worker that dies or is silent gives CRASHED or HUNG
 * for what it was busy with. Returns false when the worker is gone; the outcome's verdict is DONE when it had ended
 * well.
 */
bool worker_next(struct worker *worker, uint32_t seconds, struct outcome *out_outcome);

/*
 * Has a serving worker run a program, starting the worker if there is none; returns whether the
 * program failed, and how. The first build of a process takes a second, so workers are kept; one in
 * which something failed leaves.
 */
bool worker_serve(struct worker *worker, const struct target *target, const struct program *program,
                  uint32_t seconds, struct outcome *out_failed);

/* Ends it, whatever it does, and removes its folder. Also for one that has ended. */
void worker_stop(struct worker *worker);

#endif
