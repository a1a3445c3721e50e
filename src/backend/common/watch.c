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
    vyre_lock_acquire(&watch->lock);
    if (progress == VYRE_NOTHING_IN_FLIGHT || progress != watch->progress) {
        watch->progress = progress;
        watch->since_ns = now_ns;
    }
    /* Another one's time may be later. */
    bool hangs = now_ns > watch->since_ns && now_ns - watch->since_ns > watch->limit_ns;
    vyre_lock_release(&watch->lock);
    return hangs;
}
