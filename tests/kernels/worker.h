/*
 * worker.h: child processes that open drivers and run programs, so that a crash or a hang is a
 * finding. The parent opens no driver.
 *
 * Each worker has a folder of its own for the compile cache of PoCL, which goes with it.
 */
#ifndef VYRE_TESTS_KERNELS_WORKER_H
#define VYRE_TESTS_KERNELS_WORKER_H

#include <sys/types.h>

#include "kernels/session.h"

/* What a worker does: a program that is given, or those of seeds. */
struct job {
    const struct target *target;
    const struct program *program; /* NULL: from the seeds */
    const uint64_t *seeds;
    uint64_t first, step, end; /* indices of the seeds; at most WORKER_PROGRAMS_MAX of them */
};

enum { WORKER_PROGRAMS_MAX = 25 };

struct worker {
    pid_t pid;
    int pipe; /* outcomes are read from it */
    char cache[64];
    struct outcome last; /* STARTED: what it is busy with */
};

void worker_start(struct worker *worker, const struct job *job);

/*
 * Waits up to `seconds` for the next outcome. A worker that dies or is silent gives CRASHED or HUNG
 * for what it was busy with. Returns false when the worker is gone, which is then cleaned up; the
 * outcome's verdict is DONE when it had ended well.
 */
bool worker_next(struct worker *worker, uint32_t seconds, struct outcome *out_outcome);

/* Ends it, whatever it does. */
void worker_stop(struct worker *worker);

#endif
