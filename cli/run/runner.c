/*
 * runner.c: runs the schedule of a session.
 */
#include "run/runner.h"

#include <stdlib.h>
#include <string.h>

#include "terminal/interrupt.h"
#include "terminal/units.h"

/* How much work is in flight, as time: Ctrl-C has to wait for it. */
#define WINDOW_NS UINT64_C(150000000)
#define WAIT_NS   UINT64_C(50000000)
/* How long an interrupted run waits for the work in flight. */
#define DRAIN_NS UINT64_C(300000000)
/* How many submissions of each kind are always timed. */
#define TIMED_AT_FIRST 24
/* Once many batches have run, the clock is read for one in this many. */
#define TICK_EVERY 16

enum vyre_status runner_init(struct runner *runner, struct session *session, enum vyre_mode mode,
                             uint64_t repeat, struct vyre_diag *diag)
{
    const struct workload *workload = session->workload;
    *runner = (struct runner){.session = session, .mode = mode, .window = 2};
    runner->kinds = calloc(workload->batch_count + 1, sizeof *runner->kinds);
    if (!runner->kinds)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, workload->name, 0,
                             "no memory for the results");
    runner_announce(runner, repeat);
    return schedule_init(&runner->schedule, workload, repeat, diag);
}

void runner_announce(struct runner *runner, uint64_t repeat)
{
    const struct workload *workload = runner->session->workload;
    for (uint32_t i = 0; i < workload->batch_count; i++)
        runner->kinds[i].repeat_hint = schedule_repeats(workload, repeat, i);
}

void runner_deinit(struct runner *runner)
{
    size_t kinds = runner->kinds ? runner->session->workload->batch_count : 0;
    for (size_t i = 0; i < kinds; i++) {
        for (size_t mode = 0; mode < VYRE_MODE_COUNT; mode++) {
            samples_deinit(&runner->kinds[i].cells[mode].device_ns);
            samples_deinit(&runner->kinds[i].cells[mode].submit_ns);
            samples_deinit(&runner->kinds[i].cells[mode].cost_ns);
        }
    }
    free(runner->kinds);
    runner->kinds = NULL;
    schedule_deinit(&runner->schedule);
}

/* ---- results ----------------------------------------------------------------------------------
 */

static void keep_times(struct runner_cell *cell, const struct vyre_batch_result *result,
                       uint64_t number)
{
    if (result->device_ns > 0)
        samples_add(&cell->device_ns, result->device_ns);
    if (result->host_ns > 0)
        samples_add(&cell->submit_ns, result->host_ns);
    if (result->device_ns > 0 && result->host_ns > 0 && number > RUNNER_COLD)
        samples_add(&cell->cost_ns,
                    result->device_ns > result->host_ns ? result->device_ns : result->host_ns);
}

static enum vyre_status keep_result(struct runner *runner, const struct runner_pending *pending,
                                    struct vyre_diag *diag)
{
    struct vyre_batch_result result;
    enum vyre_status status =
        vyre_ticket_result(runner->session->device, pending->ticket, &result, diag);
    if (status != VYRE_OK)
        return status;
    struct runner_cell *cell = &runner->kinds[pending->batch].cells[result.mode];
    cell->count++;
    if ((unsigned)result.why < VYRE_WHY_COUNT)
        cell->whys[result.why]++;
    if (result.wanted_out != VYRE_WHY_NONE && (unsigned)result.wanted_out < VYRE_WHY_COUNT)
        cell->outs[result.wanted_out]++;
    if (result.wanted != result.mode)
        cell->wanted = result.wanted;
    if (pending->number > 1)
        keep_times(cell, &result, pending->number);
    runner->by_mode[result.mode]++;
    runner->completed++;
    runner->dispatches += runner->session->dispatches[pending->batch];
    return VYRE_OK;
}

/* Waits for the oldest submission. VYRE_TIMEOUT: interrupted, and DRAIN_NS has passed. */
static enum vyre_status reap(struct runner *runner, uint64_t *interrupted_at_ns,
                             struct vyre_diag *diag)
{
    struct runner_pending *oldest = &runner->pending[runner->first_pending];
    enum vyre_status status;
    for (;;) {
        status = vyre_ticket_wait(runner->session->device, oldest->ticket, WAIT_NS, diag);
        if (status != VYRE_TIMEOUT)
            break;
        uint64_t now_ns = cli_now_ns();
        if (runner->progress)
            cli_progress_update(runner->progress, runner->progress_base + runner->completed,
                                now_ns);
        if (cli_interrupted() && *interrupted_at_ns == 0)
            *interrupted_at_ns = now_ns;
        if (*interrupted_at_ns != 0 && now_ns - *interrupted_at_ns > DRAIN_NS)
            return VYRE_TIMEOUT;
    }
    if (status == VYRE_OK)
        status = keep_result(runner, oldest, diag);
    runner->first_pending = (runner->first_pending + 1) % RUNNER_WINDOW_MAX;
    runner->pending_count--;
    return status;
}

static enum vyre_status drain(struct runner *runner, struct vyre_diag *diag)
{
    uint64_t interrupted_at_ns = cli_interrupted() ? cli_now_ns() : 0;
    enum vyre_status status = VYRE_OK;
    while (status == VYRE_OK && runner->pending_count > 0)
        status = reap(runner, &interrupted_at_ns, diag);
    return status;
}

/* ---- verdicts ---------------------------------------------------------------------------------
 */

/* The most events that one submission leaves in the audit. */
#define EVENTS_MAX VYRE_BUNDLE_EVENTS_MAX

/* A submission's verdicts are the counts of the audit that changed during it. */
static void keep_verdicts(struct runner_kind *kind, const struct vyre_audit_counters *before,
                          const struct vyre_audit_counters *after)
{
    for (size_t policy = 0; policy < VYRE_POLICY_COUNT; policy++) {
        for (unsigned char choice = 0; choice < VYRE_AUDIT_CHOICES; choice++) {
            if (after->verdicts[policy][choice] != before->verdicts[policy][choice])
                kind->verdicts[policy] = choice;
        }
    }
}

/* A verdict's saving covers all batches that are still to come. */
static uint64_t saved_per_batch_ns(struct vyre_u128 saved_ns, const struct runner_kind *kind)
{
    uint64_t coming = kind->repeat_hint >= kind->submitted ? kind->repeat_hint - kind->submitted + 1
                                                           : kind->submitted;
    return (saved_ns.hi ? UINT64_MAX : saved_ns.lo) / coming;
}

/* Keeps the saving per batch that the verdicts of a submission predict. */
static void keep_predictions(struct runner_kind *kind, const struct vyre_audit_event *events,
                             size_t count, uint64_t first_sequence)
{
    for (size_t i = 0; i < count; i++) {
        if (events[i].sequence < first_sequence)
            continue;
        uint64_t saved_ns = saved_per_batch_ns(events[i].event.saved_ns, kind);
        if (events[i].event.policy == VYRE_POLICY_COMMAND_REUSE)
            kind->predicted_ns[VYRE_MODE_REPLAY] = saved_ns;
        if (events[i].event.policy == VYRE_POLICY_PERSISTENT_KERNEL)
            kind->predicted_ns[VYRE_MODE_PERSISTENT] = saved_ns;
    }
}

static bool is_power_of_two(uint64_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

/* ---- submit -----------------------------------------------------------------------------------
 */

static enum vyre_status submit(struct runner *runner, uint32_t batch, struct vyre_diag *diag)
{
    struct runner_kind *kind = &runner->kinds[batch];
    struct runner_pending *pending =
        &runner->pending[(runner->first_pending + runner->pending_count) % RUNNER_WINDOW_MAX];
    kind->submitted++;
    *pending = (struct runner_pending){.batch = batch, .number = kind->submitted};
    const struct vyre_submit_options options = {
        .mode = runner->mode,
        .repeat_hint = kind->repeat_hint,
        .timed = kind->submitted <= TIMED_AT_FIRST,
    };
    /* Verdicts change rarely, so they are read after 1, 2, 4, 8 ... submissions. */
    bool audited =
        runner->audit && runner->mode == VYRE_MODE_AUTO && is_power_of_two(kind->submitted);
    struct vyre_audit_snapshot before, after;
    if (audited)
        vyre_audit_snapshot(runner->audit, NULL, 0, &before);
    enum vyre_status status =
        vyre_batch_submit(runner->session->batches[batch], &options, &pending->ticket, diag);
    if (status != VYRE_OK)
        return session_at(diag, "$.batches.%s", runner->session->workload->batches[batch].name);
    runner->pending_count++;
    if (audited) {
        struct vyre_audit_event events[EVENTS_MAX];
        vyre_audit_snapshot(runner->audit, events, EVENTS_MAX, &after);
        keep_verdicts(kind, &before.counters, &after.counters);
        keep_predictions(kind, events, after.count, before.recorded);
    }
    return VYRE_OK;
}

/* Called now and then: shows progress, and fits the window to the time per batch. */
static void tick(struct runner *runner, uint64_t start_ns, uint64_t done)
{
    uint64_t now_ns = cli_now_ns();
    uint64_t each_ns = done > 0 ? (now_ns - start_ns) / done : 0;
    uint64_t window = each_ns > 0 ? WINDOW_NS / each_ns : RUNNER_WINDOW_MAX;
    if (done > 0)
        runner->window = window < 2                   ? 2
                         : window > RUNNER_WINDOW_MAX ? RUNNER_WINDOW_MAX
                                                      : (size_t)window;
    if (runner->progress)
        cli_progress_update(runner->progress, runner->progress_base + runner->completed, now_ns);
}

enum vyre_status runner_run(struct runner *runner, uint64_t count, struct vyre_diag *diag)
{
    uint64_t start_ns = cli_now_ns();
    uint64_t completed_before = runner->completed;
    uint64_t interrupted_at_ns = 0;
    enum vyre_status status = VYRE_OK;
    for (uint64_t i = 0; i < count && !cli_interrupted(); i++) {
        uint32_t batch;
        while (status == VYRE_OK && runner->pending_count >= runner->window)
            status = reap(runner, &interrupted_at_ns, diag);
        if (status != VYRE_OK)
            break;
        if (!schedule_next(&runner->schedule, &batch)) {
            runner->at_end = true;
            break;
        }
        status = submit(runner, batch, diag);
        if (status != VYRE_OK)
            break;
        /* A small window means long batches: reading the clock costs little in comparison. */
        if (i % TICK_EVERY == 0 || i < RUNNER_WINDOW_MAX || runner->window < RUNNER_WINDOW_MAX)
            tick(runner, start_ns, runner->completed - completed_before);
    }
    if (status == VYRE_OK)
        status = drain(runner, diag);
    if (status == VYRE_TIMEOUT) {
        runner->busy = true;
        status = VYRE_OK;
    }
    runner->wall_ns += cli_now_ns() - start_ns;
    return status;
}

bool runner_saved_ns(struct runner_kind *kind, enum vyre_mode mode, int64_t *out_saved_ns)
{
    struct samples *plain = &kind->cells[VYRE_MODE_PLAIN].cost_ns;
    struct samples *other = &kind->cells[mode].cost_ns;
    *out_saved_ns = 0;
    if (mode == VYRE_MODE_PLAIN || plain->seen < RUNNER_SAMPLES_MIN ||
        other->seen < RUNNER_SAMPLES_MIN)
        return false;
    *out_saved_ns =
        (int64_t)samples_quartiles(plain).median - (int64_t)samples_quartiles(other).median;
    return true;
}

uint64_t runner_count_out(const struct runner *runner, enum vyre_why why)
{
    uint64_t count = 0;
    for (size_t i = 0; i < runner->session->workload->batch_count; i++) {
        for (unsigned mode = 0; mode < VYRE_MODE_COUNT; mode++)
            count += runner->kinds[i].cells[mode].outs[why];
    }
    return count;
}
