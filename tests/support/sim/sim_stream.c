/*
 * sim_stream.c: when submissions of a stream end, and reporting it.
 *
 * The end on the device is known at submit: it depends on when the submit was over and on what was queued before.
 * It is reported later:
 *
 *   end_ns    on the device
 *   due_ns    reported at the earliest: end_ns, or the end of its group, rounded up to the period
 *   ON_TIME   reported as soon as the host clock has reached due_ns, and the runtime's clock shows due_ns meanwhile
 *   FOUND     reported by the first wait that returns at due_ns or later, at the clock of that wait
 */
#include "support/sim/sim_internal.h"

bool sim_is_stream(const struct vyre_sim *sim)
{
    return sim->desc.completion == VYRE_SIM_COMPLETE_ON_TIME ||
           sim->desc.completion == VYRE_SIM_COMPLETE_FOUND;
}

struct vyre_sim_pace sim_pace_locked(const struct sim_device *device, uint64_t sequence,
                                     uint64_t start_ns)
{
    const struct vyre_sim_desc *desc = &device->sim->desc;
    return desc->pace ? desc->pace(desc->pace_user, sequence, start_ns)
                      : (struct vyre_sim_pace){.factor = 1.0};
}

static uint64_t execution_ns(const struct vyre_sim_costs *costs, const struct sim_pending *pending)
{
    const struct vyre_batch_view *view = pending->submission.view;
    const struct vyre_sim_device_costs *mode = &costs->on_device[pending->submission.mode];
    uint64_t cost_ns = mode->batch_ns + mode->command_ns * view->command_count;
    for (uint32_t i = 0; i < view->command_count; i++) {
        const struct vyre_command *command = &view->commands[i];
        if (command->type == VYRE_COMMAND_DISPATCH)
            cost_ns +=
                costs->group_ns * command->groups[0] * command->groups[1] * command->groups[2];
        else
            cost_ns += costs->copy_ns +
                       view->ranges[command->first_range].size_bytes * costs->copy_byte_ps / 1000;
    }
    return cost_ns;
}

void sim_stream_queue_locked(struct sim_device *device, struct sim_pending *pending)
{
    uint64_t start_ns = pending->ready_ns;
    if (device->busy_until_ns > start_ns)
        start_ns = device->busy_until_ns;
    struct vyre_sim_pace pace = sim_pace_locked(device, pending->submission.sequence, start_ns);
    double cost_ns = (double)execution_ns(&device->sim->costs, pending) * pace.factor;
    pending->end_ns = start_ns + sim_vary_locked(device->sim, (uint64_t)cost_ns + pace.added_ns);
    device->busy_until_ns = pending->end_ns;
}

/* ---- When an end is reported ------------------------------------------------------------------ */

static uint64_t round_up(uint64_t ns, uint64_t period_ns)
{
    return period_ns > 1 ? (ns + period_ns - 1) / period_ns * period_ns : ns;
}

/* UINT64_MAX: its group is not complete. */
static uint64_t due_ns(const struct sim_device *device, const struct sim_pending *pending)
{
    const struct vyre_sim_desc *desc = &device->sim->desc;
    uint64_t every = desc->report_every > 1 ? desc->report_every : 1;
    while (pending && pending->submission.sequence % every != 0)
        pending = pending->next;
    return pending ? round_up(pending->end_ns, desc->report_period_ns) : UINT64_MAX;
}

static void report_locked(struct sim_device *device, uint64_t stamp_ns)
{
    struct vyre_sim *sim = device->sim;
    struct sim_pending *pending = sim_take_head_locked(device);
    struct vyre_completion completion = {
        .sequence = pending->submission.sequence,
        .status = pending->fate.status,
        .native_code = pending->fate.native_code,
    };
    if (pending->submission.timed)
        completion.device_ns =
            pending->end_ns > pending->ready_ns ? pending->end_ns - pending->ready_ns : 1;
    device->ended = completion.sequence;
    device->stamp_ns = stamp_ns;
    pthread_mutex_unlock(&sim->lock);
    device->host->complete(device->host->context, &completion);
    pthread_mutex_lock(&sim->lock);
    device->stamp_ns = 0;
    device->completed = completion.sequence;
    sim_free_pending(pending);
}

/* Reports what is due, and at the clock of now all up to `flushed`. */
static void report_due_locked(struct sim_device *device, uint64_t flushed, bool is_wait)
{
    struct vyre_sim *sim = device->sim;
    bool found = sim->desc.completion == VYRE_SIM_COMPLETE_FOUND;
    if (device->running)
        return;
    device->running = true;
    device->runner = pthread_self();
    while (sim_can_run_locked(device) && (is_wait || !device->head->submission.called_back)) {
        uint64_t due = due_ns(device, device->head);
        bool is_due = due <= sim->now_ns;
        if (!is_due && device->head->submission.sequence > flushed)
            break;
        report_locked(device, found || !is_due ? sim->now_ns : due);
    }
    device->running = false;
    pthread_cond_broadcast(&sim->changed);
}

void sim_stream_report_locked(struct sim_device *device, bool is_wait)
{
    report_due_locked(device, 0, is_wait);
}

void sim_stream_wait_locked(struct sim_device *device, uint64_t sequence, uint64_t timeout_ns)
{
    struct vyre_sim *sim = device->sim;
    const struct sim_pending *pending = device->head;
    uint64_t flushed = 0;
    while (pending && pending->submission.sequence < sequence)
        pending = pending->next;
    if (pending && timeout_ns > 0) {
        uint64_t due = due_ns(device, pending);
        if (due == UINT64_MAX) {
            due = round_up(device->busy_until_ns, sim->desc.report_period_ns);
            flushed = device->submitted;
        }
        if (due > sim->now_ns && timeout_ns < due - sim->now_ns) {
            due = sim->now_ns + timeout_ns;
            flushed = 0;
        }
        if (due > sim->now_ns)
            sim->now_ns = due;
    }
    report_due_locked(device, flushed, true);
}

/* ---- What is resident ------------------------------------------------------------------------- */

void sim_stream_drain_locked(struct sim_device *device)
{
    if (device->busy_until_ns > device->sim->now_ns)
        device->sim->now_ns = device->busy_until_ns;
    if (sim_is_stream(device->sim))
        report_due_locked(device, device->submitted, false);
}

void sim_stream_idle_locked(struct sim_device *device)
{
    const struct vyre_sim *sim = device->sim;
    if (sim->desc.idle_leave_ns > 0 && device->busy_until_ns < sim->now_ns &&
        sim->now_ns - device->busy_until_ns >= sim->desc.idle_leave_ns)
        sim_leave_locked(device, VYRE_RESIDENCY_IDLE);
}
