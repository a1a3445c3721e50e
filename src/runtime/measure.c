/*
 * measure.c: from the times of submissions to what each batch cost.
 */
#include "runtime/measure.h"

#include "runtime/emit.h"

void vyre_measure_init(struct vyre_measure *measure)
{
    *measure = (struct vyre_measure){.next = 1};
}

static struct vyre_result_entry *entry_of(struct vyre_device *device, uint64_t sequence)
{
    return &device->results[sequence & device->results_mask];
}

/* The last submission of those that were seen to end at one moment, from `first` on. */
static uint64_t group_end(struct vyre_device *device, uint64_t first, uint64_t completed)
{
    uint64_t last = first;
    while (last < completed) {
        const struct vyre_measurement *here = &entry_of(device, last)->measurement;
        const struct vyre_measurement *next = &entry_of(device, last + 1)->measurement;
        bool one_look = device->facts.completes_lazily
                            ? next->look == here->look
                            : next->end_ns - here->end_ns < VYRE_ONE_LOOK_NS;
        if (!next->timed || next->start_ns >= here->end_ns || !one_look)
            break;
        last++;
    }
    return last;
}

/* The note of the batch's shape; NULL when the shape is forgotten. */
static struct vyre_shape_note *note_of(struct vyre_device *device,
                                       const struct vyre_measurement *measurement)
{
    const struct vyre_governor_shape *shape = measurement->shape;
    return shape && shape->serial == measurement->serial ? vyre_device_shape_note(device, shape)
                                                         : NULL;
}

/* Nothing can be said of what the batch cost. */
static void forget(struct vyre_device *device, uint64_t sequence)
{
    const struct vyre_measurement *measurement = &entry_of(device, sequence)->measurement;
    if (measurement->learns)
        vyre_governor_abandon(&device->governor, measurement->shape, measurement->serial,
                              measurement->candidate);
}

/* ... and whoever watches is told of the batch all the same. `cost_ns` 0: not even a share is known. */
static void pass_over(struct vyre_device *device, uint64_t sequence, uint64_t cost_ns)
{
    forget(device, sequence);
    if (device->emit)
        vyre_emit_batch_locked(device, sequence, cost_ns, 0);
}

/* ... because nobody was looking when it ended. */
static void miss(struct vyre_device *device, uint64_t sequence)
{
    struct vyre_shape_note *note = note_of(device, &entry_of(device, sequence)->measurement);
    if (note)
        note->missed = note->missed < UINT8_MAX ? (uint8_t)(note->missed + 1) : UINT8_MAX;
    pass_over(device, sequence, 0);
}

/* What plain launches of the shape cost so far; 0: not known. */
static double plain_ns(const struct vyre_measurement *measurement)
{
    const struct vyre_governor_shape *shape = measurement->shape;
    return shape && shape->serial == measurement->serial ? shape->tracks[0].mean_ns : 0.0;
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

/* Tells what one batch cost. */
static void tell(struct vyre_device *device, uint64_t sequence, uint64_t cost_ns)
{
    const struct vyre_result_entry *entry = entry_of(device, sequence);
    const struct vyre_measurement *measurement = &entry->measurement;
    if (measurement->record)
        finish_record(device, entry, cost_ns);
    if (device->emit)
        vyre_emit_batch_locked(device, sequence, cost_ns, saved_ns(measurement, cost_ns));
    if (measurement->learns && entry->result.status == VYRE_OK) {
        const struct vyre_governor_sample sample = {
            .shape = measurement->shape,
            .serial = measurement->serial,
            .update_ns = measurement->update_ns,
            .measured_ns = cost_ns,
            .now_ns = measurement->end_ns,
            .candidate = measurement->candidate,
            .why = measurement->why,
            .was_first = measurement->was_first,
        };
        vyre_governor_learn(&device->governor, &sample);
        struct vyre_shape_note *note = note_of(device, measurement);
        if (note)
            note->missed = 0;
    } else {
        forget(device, sequence);
    }
}

/* Whether somebody was looking when they ended. */
static bool all_seen(struct vyre_device *device, uint64_t first, uint64_t last)
{
    bool all = true;
    for (uint64_t i = first; all && i <= last; i++)
        all = !entry_of(device, i)->measurement.end_unknown;
    return all;
}

/* A batch in a required mode has no prediction: nobody knows its share. */
static bool all_predicted(struct vyre_device *device, uint64_t first, uint64_t last)
{
    bool all = true;
    for (uint64_t i = first; all && i <= last; i++)
        all = entry_of(device, i)->measurement.predicted_ns > 0.0;
    return all;
}

/* What the batch is known to take: its candidate was measured for the shape. 0: not known. */
static double usual_ns(const struct vyre_measurement *measurement)
{
    const struct vyre_governor_shape *shape = measurement->shape;
    if (!measurement->learns || !shape || shape->serial != measurement->serial ||
        measurement->was_first)
        return 0.0;
    const struct vyre_candidate_track *track = &shape->tracks[measurement->candidate];
    return track->count > 0 ? track->mean_ns + measurement->update_ns : 0.0;
}

/*
 * Shares the time of a group out. Where all batches are known, they took more or less than usual by
 * the same factor. Where some are not, the others took what they usually take, and the rest is
 * theirs, by what was predicted for each.
 */
static void tell_group(struct vyre_device *device, uint64_t first, uint64_t last, uint64_t begin_ns)
{
    uint64_t end_ns = entry_of(device, last)->measurement.end_ns;
    double total = end_ns > begin_ns ? (double)(end_ns - begin_ns) : 0.0;
    double usual = 0.0;
    double predicted = 0.0;
    /* All shares are known before the first is told: telling changes what is usual. */
    for (uint64_t i = first; i <= last; i++) {
        struct vyre_measurement *measurement = &entry_of(device, i)->measurement;
        measurement->usual_ns = usual_ns(measurement);
        usual += measurement->usual_ns;
        predicted += measurement->usual_ns > 0.0 ? 0.0 : measurement->predicted_ns + 1.0;
    }
    double rest = total - usual > total * 0.1 ? total - usual : total * 0.1;
    for (uint64_t i = first; i <= last; i++) {
        const struct vyre_measurement *measurement = &entry_of(device, i)->measurement;
        double known = measurement->usual_ns;
        if (known <= 0.0)
            tell(device, i, (uint64_t)(rest * (measurement->predicted_ns + 1.0) / predicted));
        else if (predicted <= 0.0)
            tell(device, i, (uint64_t)(total * known / usual));
        else
            pass_over(device, i, (uint64_t)((total - rest) * known / usual));
    }
}

void vyre_measure_collect_locked(struct vyre_device *device)
{
    struct vyre_measure *measure = &device->measure;
    /* acquire: pairs with the release in vyre_device_on_complete. */
    uint64_t completed = atomic_load_explicit(&device->completed, memory_order_acquire);
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
        uint64_t begin_ns = measurement->decided_ns;
        bool known = (!measurement->behind || measure->last_known) &&
                     all_seen(device, first, last) &&
                     (first == last || all_predicted(device, first, last));
        if (measure->last_known && measure->last_end_ns > begin_ns)
            begin_ns = measure->last_end_ns;
        if (known)
            tell_group(device, first, last, begin_ns);
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
