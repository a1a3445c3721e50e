/*
 * watch.c: the hang watch.
 */
#include "backend/common/watch.h"

#include "base/clock.h"

void vyre_watch_init(struct vyre_watch *watch, uint64_t limit_ns)
{
    *watch = (struct vyre_watch){.limit_ns = limit_ns, .progress = VYRE_NOTHING_IN_FLIGHT};
}

static bool look_locked(struct vyre_watch *watch, uint64_t progress, uint64_t now_ns)
{
    if (progress == VYRE_NOTHING_IN_FLIGHT || progress != watch->progress) {
        watch->progress = progress;
        watch->since_ns = now_ns;
    }
    return now_ns - watch->since_ns > watch->limit_ns;
}

bool vyre_watch_hangs(struct vyre_watch *watch, uint64_t progress)
{
    vyre_lock_acquire(&watch->lock);
    uint64_t now_ns = vyre_clock_now_ns(); /* under the lock: not before what another one noted */
    bool hangs = look_locked(watch, progress, now_ns);
    vyre_lock_release(&watch->lock);
    return hangs;
}

bool vyre_watch_hangs_at(struct vyre_watch *watch, uint64_t progress, uint64_t now_ns)
{
    vyre_lock_acquire(&watch->lock);
    bool hangs = look_locked(watch, progress, now_ns);
    vyre_lock_release(&watch->lock);
    return hangs;
}
