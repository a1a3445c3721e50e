/*
 * watch.c: the hang watch.
 */
#include "backend/common/watch.h"

void vyre_watch_init(struct vyre_watch *watch, uint64_t limit_ns)
{
    *watch = (struct vyre_watch){.limit_ns = limit_ns, .progress = VYRE_NOTHING_IN_FLIGHT};
}

bool vyre_watch_hangs(struct vyre_watch *watch, uint64_t progress, uint64_t now_ns)
{
    const uint64_t step_max_ns = watch->limit_ns / 4 + 1;
    vyre_lock_acquire(&watch->lock);
    if (progress == VYRE_NOTHING_IN_FLIGHT || progress != watch->progress) {
        watch->progress = progress;
        watch->last_ns = now_ns;
        watch->still_ns = 0;
    }
    if (now_ns > watch->last_ns) { /* another thread's time may be later */
        uint64_t step_ns = now_ns - watch->last_ns;
        watch->still_ns += step_ns < step_max_ns ? step_ns : step_max_ns;
        watch->last_ns = now_ns;
    }
    bool hangs = watch->still_ns > watch->limit_ns;
    vyre_lock_release(&watch->lock);
    return hangs;
}
