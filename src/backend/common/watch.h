/*
 * watch.h: the hang watch: whether anything has moved for some time.
 *
 * Progress is a number that changes when work moves on; which number is the backend's business. Those who
 * wait bring it from time to time. It hangs when the same one was brought for the limit. What nobody looks
 * at does not hang: between two looks at most a quarter of the limit counts, so that a process that was
 * stopped for longer finds its device as it left it.
 *
 * Thread-safety: any thread.
 */
#ifndef VYRE_BACKEND_COMMON_WATCH_H
#define VYRE_BACKEND_COMMON_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/futex.h"

/* A progress that no work has: nothing can hang. */
#define VYRE_NOTHING_IN_FLIGHT UINT64_MAX

struct vyre_watch {
    struct vyre_lock lock;
    uint64_t limit_ns;
    uint64_t progress; /* brought last */
    uint64_t last_ns;  /* when it was last brought */
    uint64_t still_ns; /* what counts of the time since it was first brought */
};

void vyre_watch_init(struct vyre_watch *watch, uint64_t limit_ns);

/*
 * Whether the progress, which was read before the time, has been the same for more than the limit. A caller
 * that gets true asks the device again, and then this, before it believes that: the device may have moved
 * while the caller was put off its core.
 */
bool vyre_watch_hangs(struct vyre_watch *watch, uint64_t progress, uint64_t now_ns);

#endif
