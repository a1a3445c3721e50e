/*
 * watch.h: the hang watch: whether there was progress lately.
 *
 * Progress is a number that changes as work moves on; the backend chooses which. Waiting threads
 * report it from time to time. If the same number is reported for the whole limit, the device
 * hangs. While no thread looks, little time counts: between two looks at most a quarter of the
 * limit. So a process that was stopped for longer finds its device as it left it.
 *
 * Thread-safety: any thread.
 */
#ifndef VYRE_BACKEND_COMMON_WATCH_H
#define VYRE_BACKEND_COMMON_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/futex.h"

/* A progress value that no work has: nothing can hang. */
#define VYRE_NOTHING_IN_FLIGHT UINT64_MAX

struct vyre_watch {
    struct vyre_lock lock;
    uint64_t limit_ns;
    uint64_t progress; /* reported last */
    uint64_t last_ns;  /* when it was last reported */
    uint64_t still_ns; /* how much of the time since its first report counts */
};

void vyre_watch_init(struct vyre_watch *watch, uint64_t limit_ns);

/*
 * Whether the progress, which was read before the time, has been the same for more than the limit.
 * If true, the caller asks the device again, and then this function, before it believes that: the
 * device may have made progress while the caller was preempted.
 */
bool vyre_watch_hangs(struct vyre_watch *watch, uint64_t progress, uint64_t now_ns);

#endif
