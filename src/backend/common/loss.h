/*
 * loss.h: a lost device: the flag that every thread reads, and the first reason.
 *
 * Finding a loss and reporting it to the runtime are two steps. Submit, record and the create
 * functions may not report; they return the status. A waiting thread that sees a loss reports it
 * before it returns, no matter which thread found it. The runtime keeps the first report.
 *
 * Thread-safety: any thread. The reason does not change once the device is lost.
 */
#ifndef VYRE_BACKEND_COMMON_LOSS_H
#define VYRE_BACKEND_COMMON_LOSS_H

#include <stdatomic.h>
#include <stdbool.h>

#include <vyre/backend.h>

#include "base/futex.h"

/* Zeroed except for the host: nothing is lost. */
struct vyre_loss {
    _Atomic uint32_t lost;               /* set once */
    struct vyre_lock lock;               /* of threads that set it */
    const struct vyre_device_host *host; /* Borrowed */
    struct vyre_diag reason;             /* written before `lost` */
};

static inline bool vyre_is_lost(const struct vyre_loss *loss)
{
    /* acquire: pairs with the release in vyre_loss_set. */
    return atomic_load_explicit(&loss->lost, memory_order_acquire) != 0;
}

/* The device is lost. Keeps the first reason. Reports nothing. */
void vyre_loss_set(struct vyre_loss *loss, const struct vyre_diag *reason);

/* The same, because nothing was completed for `hang_ns`. */
void vyre_loss_set_hang(struct vyre_loss *loss, uint64_t hang_ns);

/*
 * Reports to the runtime if the device is lost. Not from inside submit, record or a create
 * function.
 */
void vyre_loss_report(const struct vyre_loss *loss);

/* The status of a lost device, and why. `diag` may be NULL. */
enum vyre_status vyre_loss_status(const struct vyre_loss *loss, struct vyre_diag *diag);

#endif
