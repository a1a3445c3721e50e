/*
 * builds.c: building what a batch needs.
 */
#include "runtime/builds.h"

#include "runtime/batch.h"
#include "runtime/internal.h"
#include "runtime/prove.h"

void vyre_builds_init(struct vyre_builds *builds, uint64_t stated_ns)
{
    *builds = (struct vyre_builds){.build_ns = stated_ns};
}

static void note_time(struct vyre_builds *builds, uint64_t time_ns)
{
    builds->build_ns = builds->made == 0 ? time_ns : (builds->build_ns * 3 + time_ns) / 4;
}

/* Carries one out. The lock is released for its long part. */
static enum vyre_status carry_out_locked(struct vyre_device *device, void *build,
                                         struct vyre_diag *diag)
{
    struct vyre_builds *builds = &device->builds;
    uint64_t begin_ns = vyre_device_now_ns(device);
    vyre_lock_release(&device->lock);
    device->ops->build_run(device->native, build);
    vyre_lock_acquire(&device->lock);
    vyre_prove_gate_locked(device); /* what is taken in now would change what is being proven */
    enum vyre_status status = device->ops->build_end(device->native, build, diag);
    if (status == VYRE_OK) {
        note_time(builds, vyre_device_now_ns(device) - begin_ns);
        builds->made++;
    }
    builds->refused += status == VYRE_UNSUPPORTED;
    atomic_fetch_add_explicit(&builds->ended, 1, memory_order_relaxed);
    vyre_futex_wake(&builds->ended, UINT32_MAX >> 1);
    return status;
}

/* Somebody else builds what this batch needs: waits until a build has ended. */
static void wait_for_other_locked(struct vyre_device *device)
{
    uint32_t ended = atomic_load_explicit(&device->builds.ended, memory_order_relaxed);
    vyre_lock_release(&device->lock);
    vyre_futex_wait(&device->builds.ended, ended, UINT64_MAX);
    vyre_lock_acquire(&device->lock);
}

/* The lock was released: what was true before need not be true any more. */
static enum vyre_status check_locked(struct vyre_device *device, struct vyre_body *body,
                                     struct vyre_diag *diag)
{
    if (device->is_lost)
        return vyre_device_lost_status(device, diag);
    return body->epoch == device->epoch ? VYRE_OK
                                        : vyre_batch_check_alive_locked(device, body, diag);
}

enum vyre_status vyre_build_now_locked(struct vyre_device *device, struct vyre_body *body,
                                       enum vyre_mode mode, uint32_t variant, bool *out_built,
                                       struct vyre_diag *diag)
{
    enum vyre_status status = VYRE_OK;
    *out_built = false;
    if (!device->ops->build_begin)
        return VYRE_OK;
    /* Where a backend cannot keep all of it at a time, submit builds the rest when it gets there. */
    uint32_t left = body->view.command_count;
    while (status == VYRE_OK && left > 0) {
        void *build = NULL;
        status = device->ops->build_begin(device->native, &body->view, mode, variant, &build, diag);
        if (status != VYRE_BUSY && !build)
            break;
        *out_built = true;
        if (build)
            status = carry_out_locked(device, build, diag);
        else
            wait_for_other_locked(device);
        left -= status != VYRE_BUSY;
        if (status == VYRE_OK || status == VYRE_BUSY)
            status = check_locked(device, body, diag);
    }
    return status;
}
