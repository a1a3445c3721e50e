/*
 * sim_run.c: submissions that are queued, until they complete or the device is lost.
 *
 *   submit -> pending (head .. tail) -> released -> run by one runner at a time -> complete
 *                                                                              \-> lost
 *
 * Invariants: completed <= ended <= released <= submitted, except that a manual step moves
 * `released` and a lost device stops where it is. A thread that loses the device while another one runs
 * leaves the report to that one, so that no complete call follows the lost call.
 */
#include <stdlib.h>

#include "support/sim/sim_internal.h"

/* ---- Loss ------------------------------------------------------------------------------------- */

void sim_free_pending(struct sim_pending *pending)
{
    if (!pending)
        return;
    sim_plan_free(&pending->own_plan);
    free(pending);
}

struct sim_pending *sim_take_head_locked(struct sim_device *device)
{
    struct sim_pending *pending = device->head;
    device->head = pending->next;
    if (!device->head)
        device->tail = &device->head;
    return pending;
}

void sim_forget_pending_locked(struct sim_device *device)
{
    if (device->sim->desc.stuck_after_hang && device->head && device->head->fate.hangs)
        device->stuck = sim_take_head_locked(device);
    while (device->head)
        sim_free_pending(sim_take_head_locked(device));
}

void sim_drop_locked(struct sim_device *device)
{
    device->lost = true;
    device->lost_reported = true;
    sim_leave_locked(device, VYRE_RESIDENCY_STOPPED);
    sim_forget_pending_locked(device);
    pthread_cond_broadcast(&device->sim->changed);
}

/* lost may not be called from inside submit; while another thread runs, that thread reports it. */
static bool may_report_locked(const struct sim_device *device)
{
    bool inside = device->call_depth > 0 && pthread_equal(device->caller, pthread_self());
    return !inside && (!device->running || pthread_equal(device->runner, pthread_self()));
}

static void tell_lost_locked(struct sim_device *device)
{
    struct vyre_diag reason;
    vyre_diag_reset(&reason);
    (void)vyre_diag_set(&reason, device->lose_id, "sim", 7, "the test lost the device");
    device->lose_pending = false;
    device->lost = true;
    sim_leave_locked(device, VYRE_RESIDENCY_STOPPED);
    sim_forget_pending_locked(device);
    pthread_mutex_unlock(&device->sim->lock);
    device->host->lost(device->host->context, &reason);
    pthread_mutex_lock(&device->sim->lock);
    device->lost_reported = true;
    pthread_cond_broadcast(&device->sim->changed);
}

void sim_lose_locked(struct sim_device *device, enum vyre_diag_id id)
{
    if (device->lost)
        return;
    device->lose_pending = true;
    device->lose_id = id;
    if (may_report_locked(device))
        tell_lost_locked(device);
    else
        pthread_cond_broadcast(&device->sim->changed);
}

/* ---- Running ---------------------------------------------------------------------------------- */

static void execute(struct sim_device *device, const struct sim_pending *pending,
                    const uint32_t *order)
{
    const struct vyre_batch_view *view = pending->submission.view;
    struct rng rng = rng_seeded(device->sim->desc.seed + pending->submission.sequence);
    uint32_t count = view->command_count;
    if (pending->fate.status != VYRE_OK)
        count = (uint32_t)rng_below(&rng, count + UINT64_C(1)); /* it got that far */
    for (uint32_t i = 0; i < count; i++)
        sim_execute(device, view, order[i], &rng);
    for (uint32_t i = 0; i < count; i++)
        sim_miscompile(device, &pending->submission, &view->commands[order[i]]);
    if (pending->fate.status != VYRE_OK && !device->sim->desc.failure_keeps_bytes)
        sim_spoil(view, &rng);
}

/* Runs the submission, which is no longer on the list. False when it did not complete. */
static bool run_one_locked(struct sim_device *device, struct sim_pending *pending)
{
    struct vyre_sim *sim = device->sim;
    uint32_t count = pending->submission.view->command_count;
    uint32_t *order = calloc(count + 1U, sizeof *order);
    if (!order) {
        sim_violate(sim, "the sim has no memory left: results are wrong");
        sim_lose_locked(device, VYRE_DIAG_DEVICE_LOST);
        return false;
    }
    struct sim_times times = sim_schedule_locked(device, pending, order);
    if (times.end_ns >= sim->lose_after_ns || pending->fate.loses) {
        free(order);
        sim_lose_locked(device, VYRE_DIAG_DEVICE_LOST);
        return false;
    }
    pthread_mutex_unlock(&sim->lock);
    execute(device, pending, order);
    free(order);
    pthread_mutex_lock(&sim->lock);
    if (device->lose_pending || device->lost)
        return false;

    if (times.end_ns > sim->now_ns)
        sim->now_ns = times.end_ns;
    struct vyre_completion completion = {
        .sequence = pending->submission.sequence,
        .status = pending->fate.status,
        .native_code = pending->fate.native_code,
    };
    if (pending->submission.timed) {
        completion.device_ns = times.end_ns - times.start_ns;
        if (sim->costs.report_launch)
            completion.device_ns += pending->launch_ns;
        if (completion.device_ns == 0)
            completion.device_ns = 1; /* 0 means "not timed" */
    }
    device->ended = completion.sequence;
    pthread_mutex_unlock(&sim->lock);
    device->host->complete(device->host->context, &completion);
    pthread_mutex_lock(&sim->lock);
    device->completed = completion.sequence;
    pthread_cond_broadcast(&sim->changed);
    return true;
}

bool sim_can_run_locked(const struct sim_device *device)
{
    const struct sim_pending *head = device->head;
    return !device->lost && !device->lose_pending && head &&
           head->submission.sequence <= device->released && !head->fate.hangs;
}

size_t sim_run_locked(struct sim_device *device, bool may_call_back)
{
    size_t count = 0;
    if (sim_is_stream(device->sim)) {
        sim_stream_report_locked(device, true);
        return 0;
    }
    if (device->running)
        return 0; /* the runner sees what was released */
    device->running = true;
    device->runner = pthread_self();
    while (sim_can_run_locked(device) && (may_call_back || !device->head->submission.called_back)) {
        struct sim_pending *pending = sim_take_head_locked(device);
        count += run_one_locked(device, pending);
        sim_free_pending(pending);
    }
    if (device->lose_pending && !device->lost && may_report_locked(device))
        tell_lost_locked(device);
    device->running = false;
    pthread_cond_broadcast(&device->sim->changed); /* the thread takes what is left */
    return count;
}

size_t vyre_sim_run_stuck(struct vyre_sim *sim)
{
    size_t count = 0;
    pthread_mutex_lock(&sim->lock);
    for (struct sim_device *device = sim->devices; device; device = device->next) {
        struct sim_pending *stuck = device->stuck;
        if (!stuck)
            continue;
        struct rng rng = rng_seeded(sim->desc.seed);
        for (uint32_t i = 0; i < stuck->submission.view->command_count; i++)
            sim_execute(device, stuck->submission.view, i, &rng);
        device->stuck = NULL;
        sim_free_pending(stuck);
        count++;
    }
    pthread_mutex_unlock(&sim->lock);
    return count;
}

void *sim_thread(void *self)
{
    struct sim_device *device = self;
    struct vyre_sim *sim = device->sim;
    pthread_mutex_lock(&sim->lock);
    while (!device->stop) {
        bool mine = !sim_is_stream(sim) && sim_can_run_locked(device) && !device->running &&
                    (sim->desc.completion == VYRE_SIM_COMPLETE_THREAD ||
                     device->head->submission.called_back);
        if (mine)
            sim_run_locked(device, true);
        else if (device->lose_pending && !device->lost && may_report_locked(device))
            tell_lost_locked(device);
        else
            pthread_cond_wait(&sim->changed, &sim->lock);
    }
    pthread_mutex_unlock(&sim->lock);
    return NULL;
}
