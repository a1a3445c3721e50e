/*
 * loss.c: the flag, the reason, the message.
 */
#include "backend/common/loss.h"

void vyre_loss_set(struct vyre_loss *loss, const struct vyre_diag *reason)
{
    vyre_lock_acquire(&loss->lock);
    if (!vyre_is_lost(loss)) {
        loss->reason = *reason;
        /* release: pairs with the acquire in vyre_is_lost. */
        atomic_store_explicit(&loss->lost, 1, memory_order_release);
    }
    vyre_lock_release(&loss->lock);
}

void vyre_loss_set_hang(struct vyre_loss *loss, uint64_t hang_ns)
{
    struct vyre_diag reason;
    vyre_diag_reset(&reason);
    (void)vyre_diag_set(&reason, VYRE_DIAG_DEVICE_HANG, NULL, 0,
                        "nothing was completed for %llu ms",
                        (unsigned long long)(hang_ns / 1000000));
    vyre_loss_set(loss, &reason);
}

void vyre_loss_report(const struct vyre_loss *loss)
{
    if (vyre_is_lost(loss))
        loss->host->lost(loss->host->context, &loss->reason);
}

enum vyre_status vyre_loss_status(const struct vyre_loss *loss, struct vyre_diag *diag)
{
    if (diag)
        *diag = loss->reason;
    return VYRE_DEVICE_LOST;
}
