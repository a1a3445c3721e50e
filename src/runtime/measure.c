/*
 * measure.c: the clocks of submissions, and what each batch cost.
 */
#include "runtime/measure.h"

#include "runtime/emit.h"

/* Batches that take longer than this are always timed. */
#define ALWAYS_TIMED_NS 10000.0
/* Looking at something that is already complete takes less than this. */
#define ONE_LOOK_NS 2000
/* A submit that prepares something for this long observes no completions meanwhile. */
#define LONG_ABSENCE_NS 500000

/* A group is reported at this size at the latest: as many as a stream has in flight. */
#define GROUP_MAX 64

void vyre_measure_init(struct vyre_measure *measure)
{
    *measure = (struct vyre_measure){.next = 1};
}

/* ---- The start -------------------------------------------------------------------------------- */

static void start_clock(struct vyre_device *device, struct vyre_timing *timing)
{
    timing->timed = true;
    timing->start_ns = vyre_device_now_ns(device);
    timing->decided_ns = timing->start_ns;
    device->measure.clock_ns = timing->start_ns;
}

static bool is_short(const struct vyre_device *device, double predicted_ns)
{
    return predicted_ns < ALWAYS_TIMED_NS &&
           device->governor.counters.seen >= device->governor.timed_until;
}

/*
 * Whether the choice for the body stands and the batch is too short to be timed every time. A body that
 * was just built is assumed to be like the one before it.
 */
static bool is_settled_and_short(const struct vyre_device *device, const struct vyre_body *body)
{
    if (!body->hashed)
        return device->measure.is_steady;
    const struct vyre_shape *shape = vyre_shape_get(body->entry);
    return shape && shape->unit.seen + 1 < shape->check_at &&
           shape->epoch == device->governor.epoch && is_short(device, shape->settled_ns);
}

void vyre_timing_begin_locked(struct vyre_device *device, const struct vyre_body *body,
                              bool is_auto, struct vyre_timing *inout_timing)
{
    if (inout_timing->asked || inout_timing->sampled || device->emit ||
        (is_auto && !is_settled_and_short(device, body)))
        start_clock(device, inout_timing);
}

void vyre_timing_absent_locked(struct vyre_device *device, struct vyre_timing *timing)
{
    if (!timing->timed)
        return;
    timing->decided_ns = vyre_device_now_ns(device);
    if (timing->decided_ns - timing->start_ns < LONG_ABSENCE_NS)
        return;
    /* Completions during this time went unobserved. */
    atomic_store_explicit(&device->progress.unseen_last,
                          atomic_load_explicit(&device->progress.submitted, memory_order_relaxed),
                          memory_order_relaxed);
}

void vyre_timing_decided_locked(struct vyre_device *device,
                                const struct vyre_governor_choice *choice,
                                struct vyre_timing *timing)
{
    device->measure.is_steady = choice->settled && is_short(device, choice->predicted_ns);
    if (!timing->timed && !device->measure.is_steady)
        start_clock(device, timing);
}

/* The number of what is resident now; 0: nothing is. */
static uint64_t resident_number(const struct vyre_device *device)
{
    struct vyre_residency residency;
    vyre_device_residency(device, NULL, &residency);
    return residency.serves ? residency.number : 0;
}

void vyre_measure_begin_locked(struct vyre_device *device, struct vyre_timing *timing,
                               const struct vyre_choice *choice, bool pays_recording,
                               struct vyre_result_entry *entry)
{
    struct vyre_measurement *out = &entry->measurement;
    if (choice->mode == VYRE_MODE_PERSISTENT)
        timing->resident = resident_number(device);
    /* acquire: pairs with the release in vyre_device_on_complete. */
    uint64_t completed = atomic_load_explicit(&device->progress.completed, memory_order_acquire);
    *out = (struct vyre_measurement){
        .timed = true,
        .behind = completed + 1 < entry->sequence,
        .was_first = pays_recording,
        .is_cold = timing->is_cold,
        .start_ns = timing->start_ns,
        .decided_ns = timing->decided_ns,
        .end_ns = timing->decided_ns,
    };
    if (choice->is_auto) {
        const struct vyre_governor_choice *governed = &choice->governed;
        out->learns = true;
        out->shape = governed->shape;
        out->candidate = governed->candidate;
        out->why = governed->why;
        out->switched = governed->switched;
        out->leads_in = governed->leads_in;
        out->predicted_ns = governed->predicted_ns;
        out->update_ns = governed->update_ns;
        out->expected_ns = governed->expected_ns;
    }
    if (device->measure.pending++ == 0) {
        device->measure.next = entry->sequence; /* the submissions before it were not timed */
        device->measure.last_known = device->measure.last_known && !out->behind;
    }
    atomic_fetch_add_explicit(&device->progress.timed, 1, memory_order_relaxed);
}

void vyre_measure_cancel_locked(struct vyre_device *device, struct vyre_result_entry *entry)
{
    if (!entry->measurement.timed)
        return;
    device->measure.pending--;
    atomic_fetch_sub_explicit(&device->progress.timed, 1, memory_order_relaxed);
    entry->measurement.timed = false;
}

void vyre_measure_submitted_locked(struct vyre_device *device, const struct vyre_timing *timing,
                                   const struct vyre_choice *choice,
                                   struct vyre_result_entry *entry)
{
    struct vyre_measurement *measurement = &entry->measurement;
    uint64_t now_ns = vyre_device_now_ns(device);
    entry->result.host_ns = now_ns - timing->start_ns;
    /* Setup was paid if nothing was resident before, or something else is now. */
    if (choice->mode == VYRE_MODE_PERSISTENT)
        measurement->was_first =
            timing->resident == 0 || resident_number(device) != timing->resident;
    /* If the choice stands, the first of two samples may follow a pause that was not timed. */
    if (measurement->was_first && choice->is_auto && choice->governed.settled && timing->opens)
        measurement->learns = false;
    /*
     * Relaxed: only completions of a lazy backend read it, and a slightly old value does no harm.
     */
    atomic_store_explicit(&measurement->submitted_ns, now_ns, memory_order_relaxed);
}

/* ---- The end ---------------------------------------------------------------------------------- */

void vyre_measure_look(struct vyre_device *device)
{
    /* Relaxed: looking once too often, or not at all, does no harm. */
    if (!device->facts.completes_lazily ||
        atomic_load_explicit(&device->progress.timed, memory_order_relaxed) == 0 ||
        /* A callback must not come from inside submit. */
        atomic_load_explicit(&device->progress.callbacks, memory_order_relaxed) > 0 ||
        vyre_device_is_lost(device))
        return;
    /* acquire: pairs with the release in note_success_locked. The backend knows this one. */
    uint64_t queued = atomic_load_explicit(&device->progress.queued, memory_order_acquire);
    if (vyre_device_is_complete(device, queued))
        return;
    atomic_fetch_add_explicit(&device->progress.looking, 1, memory_order_relaxed);
    vyre_device_look(device, queued, 0);
    atomic_fetch_sub_explicit(&device->progress.looking, 1, memory_order_relaxed);
}

void vyre_measure_waits(struct vyre_device *device)
{
    if (device->facts.completes_lazily &&
        atomic_load_explicit(&device->progress.timed, memory_order_relaxed) > 0)
        atomic_store_explicit(&device->progress.wait_began_ns, vyre_device_now_ns(device),
                              memory_order_relaxed);
}

void vyre_measure_waited(struct vyre_device *device, uint64_t sequence)
{
    if (atomic_load_explicit(&device->progress.submitted, memory_order_relaxed) != sequence)
        return;
    atomic_store_explicit(&device->progress.waited_ns, vyre_device_now_ns(device),
                          memory_order_relaxed);
    /* release: pairs with the acquire in over_ns. */
    atomic_store_explicit(&device->progress.waited_for, sequence, memory_order_release);
}

/*
 * When the batch was over for the program. If a thread waited for it and nothing was submitted behind
 * it, the way back to that thread counts.
 */
static uint64_t over_ns(struct vyre_device *device, uint64_t sequence, uint64_t end_ns)
{
    /* acquire: pairs with the release in vyre_measure_waited. */
    if (atomic_load_explicit(&device->progress.waited_for, memory_order_acquire) != sequence)
        return end_ns;
    uint64_t waited_ns = atomic_load_explicit(&device->progress.waited_ns, memory_order_relaxed);
    return waited_ns > end_ns ? waited_ns : end_ns;
}

/*
 * When the batch ended. A lazy backend finds out when a thread looks, so the end is known only if a
 * thread looked all the time, from the submit on or since before the end. In a stream of batches
 * that does not matter: what is observed late for one is missing from the next.
 */
static bool is_end_unknown(const struct vyre_device *device, uint64_t sequence,
                           const struct vyre_measurement *measurement)
{
    uint64_t now_ns = measurement->end_ns;
    if (atomic_load_explicit(&device->progress.submitted, memory_order_relaxed) > sequence)
        return false;
    uint64_t wait_ns = atomic_load_explicit(&device->progress.wait_began_ns, memory_order_relaxed);
    uint64_t submitted_ns = atomic_load_explicit(&measurement->submitted_ns, memory_order_relaxed);
    bool inside_submit = submitted_ns == 0;
    bool waited_at_once = wait_ns >= submitted_ns && wait_ns - submitted_ns < ONE_LOOK_NS;
    bool seen_to_end = wait_ns != 0 && wait_ns < now_ns && now_ns - wait_ns >= ONE_LOOK_NS &&
                       wait_ns >= submitted_ns;
    return !inside_submit && !waited_at_once && !seen_to_end;
}

void vyre_measure_ended(struct vyre_device *device, struct vyre_result_entry *entry,
                        const struct vyre_completion *completion)
{
    struct vyre_measurement *measurement = &entry->measurement;
    measurement->end_ns = vyre_device_now_ns(device);
    measurement->look = atomic_load_explicit(&device->progress.looks, memory_order_relaxed);
    if (device->facts.completes_lazily) {
        uint64_t unseen = atomic_load_explicit(&device->progress.unseen_last, memory_order_relaxed);
        bool unknown = !completion->awaited && is_end_unknown(device, entry->sequence, measurement);
        /* The program did other things, and submit looks now: it cost the program its submit. */
        if (unknown && atomic_load_explicit(&device->progress.looking, memory_order_relaxed)) {
            measurement->end_ns =
                atomic_load_explicit(&measurement->submitted_ns, memory_order_relaxed);
            unknown = false;
        }
        measurement->end_unknown = unknown || unseen >= entry->sequence;
    }
    measurement->altered = completion->altered;
    atomic_fetch_sub_explicit(&device->progress.timed, 1, memory_order_relaxed);
}

/* ---- What it cost ----------------------------------------------------------------------------- */

static struct vyre_result_entry *entry_of(struct vyre_device *device, uint64_t sequence)
{
    return &device->results.entries[sequence & device->results.mask];
}

/* The last submission of those observed to end at the same moment, from `first` on. */
static uint64_t group_end(struct vyre_device *device, uint64_t first, uint64_t completed)
{
    uint64_t last = first;
    while (last < completed) {
        const struct vyre_measurement *here = &entry_of(device, last)->measurement;
        const struct vyre_measurement *next = &entry_of(device, last + 1)->measurement;
        bool one_look = next->end_ns - here->end_ns < ONE_LOOK_NS ||
                        (device->facts.completes_lazily && next->look == here->look);
        if (!next->timed || next->start_ns >= here->end_ns || !one_look)
            break;
        last++;
    }
    return last;
}

/*
 * Whether the batches behind a group may belong to it: they run, and may have ended at the same
 * moment. Taken apart, the rest of the group would seem to have taken no time.
 */
static bool may_grow(const struct vyre_device *device, uint64_t first, uint64_t last,
                     uint64_t completed)
{
    return last == completed && last - first + 1 < GROUP_MAX &&
           atomic_load_explicit(&device->progress.submitted, memory_order_relaxed) > completed;
}

/* The cost of the batch is unknown, but the observer sees it. `cost_ns` 0: not even a share is known. */
static void pass_over(struct vyre_device *device, uint64_t sequence, uint64_t cost_ns)
{
    if (device->emit)
        vyre_emit_batch_locked(device, sequence, cost_ns, 0);
}

/* ... because its end went unobserved. */
static void miss(struct vyre_device *device, uint64_t sequence)
{
    struct vyre_shape *shape = vyre_shape_get(entry_of(device, sequence)->measurement.shape);
    if (shape && shape->found.missed < UINT8_MAX)
        shape->found.missed++;
    pass_over(device, sequence, 0);
}

/* The cost of plain launches of the shape so far; 0: not known. */
static double plain_ns(const struct vyre_measurement *measurement)
{
    const struct vyre_shape *shape = vyre_shape_get(measurement->shape);
    return shape ? shape->unit.tracks[0].mean_ns : 0.0;
}

static int64_t saved_ns(const struct vyre_measurement *measurement, uint64_t cost_ns)
{
    double plain = measurement->candidate != 0 ? plain_ns(measurement) : 0.0;
    return plain > 0.0 ? (int64_t)(plain - (double)cost_ns) : 0;
}

static void finish_record(struct vyre_device *device, const struct vyre_result_entry *entry,
                          uint64_t cost_ns)
{
    const struct vyre_measurement *measurement = &entry->measurement;
    const struct vyre_decision_measured measured = {
        .host_ns = entry->result.host_ns,
        .device_ns = entry->result.device_ns,
        .wall_ns = cost_ns,
        .saved_vs_plain_ns = saved_ns(measurement, cost_ns),
    };
    vyre_decisions_finish(device->decisions, measurement->record, &measured);
}

/* Reports the cost of one batch to its record and the observer. */
static void write_down(struct vyre_device *device, uint64_t sequence, uint64_t cost_ns)
{
    const struct vyre_result_entry *entry = entry_of(device, sequence);
    const struct vyre_measurement *measurement = &entry->measurement;
    if (measurement->record)
        finish_record(device, entry, cost_ns);
    if (device->emit)
        vyre_emit_batch_locked(device, sequence, cost_ns, saved_ns(measurement, cost_ns));
}

/* ... and of `count` batches of one kind that ended together to the governor. */
static void tell(struct vyre_device *device, uint64_t last, uint32_t count, uint64_t cost_ns)
{
    const struct vyre_result_entry *entry = entry_of(device, last);
    const struct vyre_measurement *measurement = &entry->measurement;
    for (uint64_t i = last - count + 1; i <= last; i++)
        write_down(device, i, cost_ns / count);
    if (!measurement->learns || measurement->is_cold || measurement->altered ||
        entry->result.status != VYRE_OK)
        return;
    const struct vyre_governor_sample sample = {
        .shape = measurement->shape,
        .update_ns = measurement->update_ns,
        .expected_ns = measurement->expected_ns,
        .measured_ns = cost_ns,
        .batches = count,
        .candidate = measurement->candidate,
        .why = measurement->why,
        .was_first = measurement->was_first,
        .switched = measurement->switched,
        .leads_in = measurement->leads_in,
    };
    vyre_governor_learn(&device->governor, &sample);
    struct vyre_shape *shape = vyre_shape_get(measurement->shape);
    if (shape)
        shape->found.missed = 0;
}

/* Whether a thread was looking when they ended. */
static bool all_seen(struct vyre_device *device, uint64_t first, uint64_t last)
{
    bool all = true;
    for (uint64_t i = first; all && i <= last; i++)
        all = !entry_of(device, i)->measurement.end_unknown;
    return all;
}

/* How the batches of a group compare with its first one. */
struct likeness {
    bool one_way;   /* all ran in the same candidate, or in required modes */
    bool one_shape; /* ... as the same shape, and none paid anything once */
};

static struct likeness compare_group(struct vyre_device *device, uint64_t first, uint64_t last)
{
    const struct vyre_measurement *with = &entry_of(device, first)->measurement;
    struct likeness likeness = {true, true};
    for (uint64_t i = first; i <= last; i++) {
        const struct vyre_result_entry *entry = entry_of(device, i);
        const struct vyre_measurement *measurement = &entry->measurement;
        likeness.one_way &= measurement->learns == with->learns &&
                            measurement->candidate == with->candidate && !measurement->was_first &&
                            !measurement->is_cold && !measurement->altered;
        likeness.one_shape &=
            measurement->shape.serial == with->shape.serial && entry->result.status == VYRE_OK;
    }
    likeness.one_shape &= likeness.one_way && with->learns;
    return likeness;
}

/* What the batch usually takes, if its candidate was measured for the shape. 0: not known. */
static double usual_ns(const struct vyre_measurement *measurement)
{
    const struct vyre_shape *shape = vyre_shape_get(measurement->shape);
    if (!measurement->learns || !shape || measurement->was_first)
        return 0.0;
    const struct vyre_candidate_track *track = &shape->unit.tracks[measurement->candidate];
    return track->count > 0 ? track->mean_ns + measurement->update_ns : 0.0;
}

/*
 * Divides the time of a group that ran in one way by what each batch usually takes, or is predicted
 * to take. The sum stays right, so it is right for a set of shapes that alternate.
 */
static void divide(struct vyre_device *device, uint64_t first, uint64_t last, double total)
{
    double sum = 0.0;
    /* All shares are computed before the first is reported, because that changes what is usual. */
    for (uint64_t i = first; i <= last; i++) {
        struct vyre_measurement *measurement = &entry_of(device, i)->measurement;
        double usual = usual_ns(measurement);
        measurement->usual_ns = usual > 0.0 ? usual : measurement->predicted_ns + 1.0;
        sum += measurement->usual_ns;
    }
    for (uint64_t i = first; i <= last; i++)
        tell(device, i, 1, (uint64_t)(total * entry_of(device, i)->measurement.usual_ns / sum));
}

/*
 * Reports a group of one shape in one candidate. Its first batches may be those that began while
 * others ran in another candidate: they are reported apart.
 */
static void tell_alike(struct vyre_device *device, uint64_t first, uint64_t last, uint64_t total_ns)
{
    uint64_t count = last - first + 1;
    uint32_t leading = 0;
    while (leading < count && entry_of(device, first + leading)->measurement.leads_in)
        leading++;
    uint64_t leading_ns = total_ns * leading / count;
    if (leading > 0)
        tell(device, first + leading - 1, leading, leading_ns);
    if (leading < count)
        tell(device, last, (uint32_t)count - leading, total_ns - leading_ns);
}

/*
 * Reports the time of a group. Where two candidates meet, nothing says which share belongs to which.
 */
static void report_group(struct vyre_device *device, uint64_t first, uint64_t last,
                         uint64_t begin_ns)
{
    uint64_t end_ns = entry_of(device, last)->measurement.end_ns;
    uint64_t total_ns = end_ns > begin_ns ? end_ns - begin_ns : 0;
    uint32_t count = (uint32_t)(last - first + 1);
    struct likeness likeness = compare_group(device, first, last);
    if (first == last || likeness.one_shape)
        tell_alike(device, first, last, total_ns);
    else if (likeness.one_way)
        divide(device, first, last, (double)total_ns);
    else
        for (uint64_t i = first; i <= last; i++)
            pass_over(device, i, total_ns / count);
}

void vyre_measure_collect_locked(struct vyre_device *device)
{
    struct vyre_measure *measure = &device->measure;
    /* acquire: pairs with the release in vyre_device_on_complete. */
    uint64_t completed = atomic_load_explicit(&device->progress.completed, memory_order_acquire);
    if (vyre_device_is_lost(device))
        return;
    while (measure->pending > 0 && measure->next <= completed) {
        uint64_t first = measure->next;
        const struct vyre_measurement *measurement = &entry_of(device, first)->measurement;
        if (!measurement->timed) {
            measure->last_known = false;
            measure->next++;
            continue;
        }
        uint64_t last = group_end(device, first, completed);
        if (may_grow(device, first, last, completed))
            break;
        struct vyre_measurement *ending = &entry_of(device, last)->measurement;
        ending->end_ns = over_ns(device, last, ending->end_ns);
        uint64_t begin_ns = measurement->decided_ns;
        bool known = (!measurement->behind || measure->last_known) && all_seen(device, first, last);
        if (measure->last_known && measure->last_end_ns > begin_ns)
            begin_ns = measure->last_end_ns;
        if (known)
            report_group(device, first, last, begin_ns);
        for (uint64_t i = first; !known && i <= last; i++)
            miss(device, i);
        measure->last_end_ns = entry_of(device, last)->measurement.end_ns;
        measure->last_known = !entry_of(device, last)->measurement.end_unknown;
        measure->pending -= (uint32_t)(last - first + 1);
        measure->next = last + 1;
    }
    if (measure->pending == 0 && measure->next <= completed) {
        measure->next = completed + 1;
        measure->last_known = false;
    }
}
