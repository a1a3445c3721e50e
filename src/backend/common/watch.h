/*
 * watch.h: the hang watch: whether anything has moved for some time.
 *
 * Progress is a number that changes when work moves on; which number is the backend's business. Those who
 * wait bring it from time to time. It hangs when nobody brought another one for the limit. What nobody
 * looks at does not hang.
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
    uint64_t since_ns; /* when it was first brought */
};

void vyre_watch_init(struct vyre_watch *watch, uint64_t limit_ns);

/*
 * Whether the progress, which was read before the time, is that of more than the limit ago. A thread that may
 * have slept in between reads both once more and asks again before it believes that.
 */
bool vyre_watch_hangs(struct vyre_watch *watch, uint64_t progress, uint64_t now_ns);

#endif
