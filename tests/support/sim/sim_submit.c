/*
 * sim_submit.c: queueing submissions and waiting for them.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "support/sim/sim_internal.h"

/* ---- Submit ----------------------------------------------------------------------------------- */

static bool counts_down(uint64_t *countdown)
{
    return *countdown > 0 && --*countdown == 0;
}

static struct sim_fate fate_locked(struct vyre_sim *sim)
{
    struct sim_fate fate = {.hangs = counts_down(&sim->hang_countdown),
                            .loses = counts_down(&sim->lose_countdown)};
    if (counts_down(&sim->run_fault.countdown)) {
        fate.status = sim->run_fault.status;
        fate.native_code = sim->run_fault.native_code;
    }
    return fate;
}

static uint64_t enter_persistent_locked(struct sim_device *device)
{
    struct vyre_residency *residency = &device->residency;
    sim_stream_idle_locked(device);
    if (residency->number != residency->ended)
        return 0;
    if (device->sim->desc.switch_drains)
        sim_stream_drain_locked(device);
    residency->number++;
    residency->begin_ns = device->sim->now_ns;
    return device->sim->costs.persistent_setup_ns;
}

void sim_leave_locked(struct sim_device *device, enum vyre_residency_end why)
{
    struct vyre_residency *residency = &device->residency;
    if (residency->number == residency->ended)
        return;
    residency->ended = residency->number;
    residency->ended_begin_ns = residency->begin_ns;
    residency->ended_ns = device->sim->now_ns;
    residency->why = why;
}

/* What submit pays before the launch: for what becomes resident, or leaves. */
static uint64_t switch_cost_locked(struct sim_device *device, enum vyre_mode mode)
{
    const struct vyre_residency *residency = &device->residency;
    if (mode == VYRE_MODE_PERSISTENT)
        return enter_persistent_locked(device);
    if (device->sim->desc.modes_exclude) {
        if (device->sim->desc.switch_drains && residency->number != residency->ended)
            sim_stream_drain_locked(device);
        sim_leave_locked(device, VYRE_RESIDENCY_STOPPED);
    }
    return 0;
}

static uint64_t launch_cost(const struct vyre_sim_costs *costs, enum vyre_mode mode, uint64_t count)
{
    if (mode == VYRE_MODE_PERSISTENT)
        return costs->persistent_round_trip_ns + costs->persistent_item_ns * count;
    if (mode == VYRE_MODE_REPLAY)
        return costs->replay_ns + costs->replay_command_ns * count;
    return costs->submit_ns + costs->submit_command_ns * count;
}

static void check_submission_locked(struct sim_device *device,
                                    const struct vyre_submission *submission,
                                    const struct vyre_batch_plan *plan)
{
    struct vyre_sim *sim = device->sim;
    const struct sim_recording *recording = submission->recording;
    if (submission->sequence != device->submitted + 1)
        sim_violate(sim, "submission %llu after %llu", (unsigned long long)submission->sequence,
                    (unsigned long long)device->submitted);
    if (submission->mode < VYRE_MODE_PLAIN || submission->mode > VYRE_MODE_PERSISTENT)
        sim_violate(sim, "submission in mode %d", (int)submission->mode);
    if ((submission->mode == VYRE_MODE_REPLAY) != (recording != NULL))
        sim_violate(sim, "a recording is for replay, and replay needs one");
    if (submission->mode == VYRE_MODE_PERSISTENT && sim->desc.absent[VYRE_ABILITY_PERSISTENT])
        sim_violate(sim, "persistent without the ability");
    sim_check_view(device, submission->view);
    if (recording && recording->object.device != device)
        sim_violate(sim, "a recording of another device");
    else if (recording && recording->shape != sim_shape(submission->view))
        sim_violate(sim, "a recording of another shape");
    else if (recording &&
             recording->baked != sim_baked(submission->view, sim_bakes(sim, submission->variant)))
        sim_violate(sim, "a recording that holds other constants or destinations");
    if (recording && recording->variant != submission->variant)
        sim_violate(sim, "a recording of another variant");
    if (submission->times &&
        (sim->desc.no_command_times || submission->mode == VYRE_MODE_PERSISTENT ||
         submission->time_count == 0 || submission->time_count > submission->view->command_count))
        sim_violate(sim, "asked for %u times", submission->time_count);
    for (uint32_t i = 0; submission->times && i < submission->time_count; i++) {
        if (submission->times[i].ns != 0)
            sim_violate(sim, "asked for times in memory that is not zeroed");
    }
    if (submission->variant & ~sim->desc.variants)
        sim_violate(sim, "a variant that was not offered");
    if (!recording)
        sim_check_plan(sim, submission->view, plan);
}

static void mark_used(const struct vyre_submission *submission)
{
    const struct vyre_batch_view *view = submission->view;
    if (submission->recording)
        ((struct sim_recording *)submission->recording)->object.last_use = submission->sequence;
    for (uint32_t i = 0; i < view->command_count; i++) {
        if (view->commands[i].kernel)
            ((struct sim_kernel *)view->commands[i].kernel)->object.last_use = submission->sequence;
    }
    for (uint32_t i = 0; i < view->range_count; i++) {
        if (view->ranges[i].buffer)
            ((struct sim_buffer *)view->ranges[i].buffer)->object.last_use = submission->sequence;
    }
}

static enum vyre_status queue_locked(struct sim_device *device,
                                     const struct vyre_submission *submission,
                                     const struct vyre_batch_plan *plan, struct vyre_diag *diag)
{
    struct vyre_sim *sim = device->sim;
    struct sim_pending *pending = calloc(1, sizeof *pending);
    if (!pending || !sim_plan_copy(&pending->own_plan, plan)) {
        free(pending);
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, "sim", 0, "no memory to queue it");
    }
    const struct sim_recording *recording = submission->recording;
    pending->submission = *submission;
    pending->plan = recording ? &recording->plan : &pending->own_plan;
    pending->fate = fate_locked(sim);
    uint64_t switch_ns = switch_cost_locked(device, submission->mode);
    struct vyre_sim_pace pace = sim_pace_locked(device, submission->sequence, sim->now_ns);
    uint64_t launch_ns =
        launch_cost(&sim->costs, submission->mode, submission->view->command_count);
    pending->launch_ns =
        sim_vary_locked(sim, switch_ns + (uint64_t)((double)launch_ns * pace.factor));
    sim->now_ns += pending->launch_ns;
    pending->ready_ns = sim->now_ns;
    if (sim_is_stream(sim))
        sim_stream_queue_locked(device, pending);
    if (!sim_is_stream(sim))
        mark_used(submission);
    if (pending->plan->memory)
        sim->planned++;
    device->submitted = submission->sequence;
    if (sim->desc.completion != VYRE_SIM_COMPLETE_LAZY &&
        sim->desc.completion != VYRE_SIM_COMPLETE_MANUAL)
        device->released = submission->sequence;
    *device->tail = pending;
    device->tail = &pending->next;
    return VYRE_OK;
}

enum vyre_status sim_ask_for_plan(const struct sim_device *device,
                                  const struct vyre_batch_view *view,
                                  struct vyre_batch_plan *memory,
                                  const struct vyre_batch_plan **out_plan, struct vyre_diag *diag)
{
    *out_plan = NULL;
    if (device->sim->desc.order == VYRE_SIM_ORDER_SERIAL)
        return VYRE_OK;
    enum vyre_status status = device->host->plan(device->host->context, view, memory, diag);
    *out_plan = status == VYRE_OK ? memory : NULL;
    return status;
}

enum vyre_status sim_submit(void *self, const struct vyre_submission *submission,
                            struct vyre_diag *diag)
{
    struct sim_device *device = self;
    struct vyre_sim *sim = device->sim;
    struct vyre_batch_plan memory;
    const struct vyre_batch_plan *plan = NULL; /* a recording has it */
    enum vyre_status plan_status = VYRE_OK;
    if (!submission->recording)
        plan_status = sim_ask_for_plan(device, submission->view, &memory, &plan, diag);
    pthread_mutex_lock(&sim->lock);
    sim_call_begin_locked(device, "submit");
    enum vyre_status status = sim_count_call_locked(sim, VYRE_SIM_SUBMIT, diag);
    if (status == VYRE_OK)
        status = plan_status;
    if (status == VYRE_OK &&
        sim_fit_locked(device, submission->view, submission->mode, diag) == VYRE_FIT_NO)
        status = VYRE_UNSUPPORTED;
    if (status == VYRE_OK)
        status = sim_build_all_locked(device, submission->view, submission->mode, diag);
    if (status == VYRE_OK && device->lost)
        status = vyre_diag_set(diag, VYRE_DIAG_DEVICE_LOST, "sim", 7, "the device is lost");
    else if (status == VYRE_DEVICE_LOST)
        sim_drop_locked(device);
    if (status == VYRE_OK) {
        if (!sim_is_stream(sim)) /* would take most of the time of thousands of batches */
            check_submission_locked(device, submission, plan);
        status = queue_locked(device, submission, plan, diag);
    }
    if (status == VYRE_OK && sim->desc.completion == VYRE_SIM_COMPLETE_IN_SUBMIT)
        sim_run_locked(device, false);
    if (status == VYRE_OK && sim->desc.completion == VYRE_SIM_COMPLETE_ON_TIME)
        sim_stream_report_locked(device, false);
    pthread_cond_broadcast(&sim->changed);
    sim_call_end_locked(device);
    pthread_mutex_unlock(&sim->lock);
    return status;
}

enum vyre_status sim_warm_up(void *self, enum vyre_mode mode, struct vyre_diag *diag)
{
    struct sim_device *device = self;
    struct vyre_sim *sim = device->sim;
    pthread_mutex_lock(&sim->lock);
    sim_call_begin_locked(device, "warm_up");
    enum vyre_status status = sim_count_call_locked(sim, VYRE_SIM_WARM_UP, diag);
    if (status == VYRE_DEVICE_LOST)
        sim_drop_locked(device);
    if (status == VYRE_OK && mode == VYRE_MODE_PERSISTENT)
        sim->now_ns += sim_vary_locked(sim, enter_persistent_locked(device));
    sim_call_end_locked(device);
    pthread_mutex_unlock(&sim->lock);
    return status;
}

/* ---- Wait ------------------------------------------------------------------------------------- */

static struct timespec deadline_after(uint64_t timeout_ns)
{
    const uint64_t second_ns = 1000000000;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t nanoseconds = (uint64_t)now.tv_nsec + timeout_ns % second_ns;
    now.tv_sec += (time_t)(timeout_ns / second_ns + nanoseconds / second_ns);
    now.tv_nsec = (long)(nanoseconds % second_ns);
    return now;
}

/* Virtual time is enough to find out that a hang lasts too long. */
static void lose_hung_locked(struct sim_device *device, uint64_t timeout_ns)
{
    const struct sim_pending *head = device->head;
    if (!device->sim->desc.hang_is_lost || !head || !head->fate.hangs || device->lost ||
        timeout_ns < device->hang_timeout_ns)
        return;
    device->sim->now_ns += device->hang_timeout_ns;
    sim_lose_locked(device, VYRE_DIAG_DEVICE_HANG);
}

void sim_wait(void *self, uint64_t sequence, uint64_t timeout_ns)
{
    struct sim_device *device = self;
    struct vyre_sim *sim = device->sim;
    struct timespec deadline = {0};
    int error = 0;
    if (timeout_ns != VYRE_FOREVER)
        deadline = deadline_after(timeout_ns);
    pthread_mutex_lock(&sim->lock);
    sim->calls[VYRE_SIM_WAIT]++;
    if (sequence > device->submitted)
        sim_violate(sim, "wait for submission %llu of %llu", (unsigned long long)sequence,
                    (unsigned long long)device->submitted);
    if (sim_is_stream(sim))
        sim_stream_wait_locked(device, sequence, timeout_ns);
    bool runs = sim->desc.completion == VYRE_SIM_COMPLETE_LAZY && timeout_ns > 0;
    if (runs && sequence > device->released) {
        device->released = sequence;
        pthread_cond_broadcast(&sim->changed);
    }
    /* A look with no time to wait must not reach the kernel: it takes longer than a batch. */
    if (timeout_ns == 0)
        error = ETIMEDOUT;
    while (device->completed < sequence && !device->lost_reported && error != ETIMEDOUT) {
        if (runs && sim_run_locked(device, false) > 0)
            continue;
        lose_hung_locked(device, timeout_ns);
        if (device->completed >= sequence || device->lost_reported)
            break;
        error = timeout_ns == VYRE_FOREVER
                    ? pthread_cond_wait(&sim->changed, &sim->lock)
                    : pthread_cond_timedwait(&sim->changed, &sim->lock, &deadline);
    }
    pthread_mutex_unlock(&sim->lock);
}
