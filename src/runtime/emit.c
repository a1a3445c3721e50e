/*
 * emit.c: reports to the instance's observer what happens on a device.
 */
#include "runtime/emit.h"

#include <string.h>

#include "base/checked.h"
#include "base/memory.h"
#include "runtime/explain.h"
#include "runtime/record.h"
#include "runtime/shape_keys.h"

/*
 * The most shapes that a device reports. Each needs a plan, and a stream may have a new shape every
 * time.
 */
#define SHAPES_REPORTED_MAX 1024

/* A submission that was not reported yet. */
struct pending {
    bool muted;
    const char *label; /* Borrowed from the batch */
    struct vyre_shape_profile profile;
    struct vyre_decision_record decision;
};

struct vyre_emit {
    struct vyre_observer observer;
    uint32_t muted;
    uint64_t reported;    /* the last submission that was reported */
    uint64_t last_end_ns; /* ... and its end */
    uint32_t shapes_reported;
    uint64_t lease_begun; /* the last residency whose begin was reported ... */
    uint64_t lease_ended; /* ... and whose end was; smaller while one is open */
    uint64_t lease_begin_ns;
    size_t size_bytes;
    uint64_t mask; /* entries of `pending` - 1 */
    struct pending pending[];
};

/* ---- Reporting -------------------------------------------------------------------------------- */

static void tell(const struct vyre_device *device, struct vyre_event *event)
{
    const struct vyre_observer *observer = &device->emit->observer;
    event->size_bytes = sizeof *event;
    event->device = device->identity;
    if (event->time_ns == 0)
        event->time_ns = vyre_device_now_ns(device);
    observer->event(observer->user, event);
}

static const char *label_or_null(const char *label)
{
    return label && label[0] != '\0' ? label : NULL;
}

static void report_opened(const struct vyre_device *device)
{
    const struct vyre_event_device_opened opened = {
        .size_bytes = sizeof opened,
        .ability_count = VYRE_ABILITY_COUNT,
        .info = &device->facts.info,
        .label = label_or_null(device->label),
        .abilities = device->facts.abilities,
        .calibration = device->costs.calibration.taken_s != 0 ? &device->costs.calibration : NULL,
    };
    struct vyre_event event = {.type = VYRE_EVENT_DEVICE_OPENED, .as.device_opened = &opened};
    tell(device, &event);
}

static void report_closed(struct vyre_device *device)
{
    struct vyre_device_counters counters;
    struct vyre_decision_counters decisions;
    vyre_device_get_counters(device, &counters);
    vyre_device_count_decisions(device, &decisions);
    const struct vyre_event_device_closed closed = {
        .size_bytes = sizeof closed,
        .counters = &counters,
        .decisions = device->decisions ? &decisions : NULL,
    };
    struct vyre_event event = {.type = VYRE_EVENT_DEVICE_CLOSED, .as.device_closed = &closed};
    tell(device, &event);
}

/* ---- What is resident ------------------------------------------------------------------------- */

static void report_lease(const struct vyre_device *device, const struct vyre_event_lease *lease)
{
    struct vyre_event event = {
        .type = VYRE_EVENT_LEASE,
        .time_ns = lease->end_ns ? lease->end_ns : lease->begin_ns,
        .as.lease = lease,
    };
    tell(device, &event);
}

static void begin_lease(struct vyre_device *device, uint64_t number, uint64_t begin_ns)
{
    const struct vyre_event_lease lease = {
        .size_bytes = sizeof lease, .lease = number, .begin_ns = begin_ns};
    device->emit->lease_begun = number;
    device->emit->lease_begin_ns = begin_ns;
    report_lease(device, &lease);
}

/* Ends the open lease. Without a reason the end is not known, only that it came by `end_ns`. */
static void end_lease(struct vyre_device *device, uint64_t end_ns, enum vyre_residency_end why)
{
    struct vyre_emit *emit = device->emit;
    const struct vyre_event_lease lease = {
        .size_bytes = sizeof lease,
        .is_derived = why == VYRE_RESIDENCY_NONE,
        .lease = emit->lease_begun,
        .begin_ns = emit->lease_begin_ns,
        .end_ns = end_ns > emit->lease_begin_ns ? end_ns : emit->lease_begin_ns,
        .why = (uint32_t)why,
    };
    emit->lease_ended = emit->lease_begun;
    report_lease(device, &lease);
}

static bool has_open_lease(const struct vyre_emit *emit)
{
    return emit->lease_begun > emit->lease_ended;
}

/* Reports the end of the open lease if it is over. */
static void end_known_lease(struct vyre_device *device, const struct vyre_residency *residency)
{
    const struct vyre_emit *emit = device->emit;
    if (!has_open_lease(emit) || residency->ended < emit->lease_begun)
        return;
    if (residency->ended == emit->lease_begun)
        end_lease(device, residency->ended_ns, residency->why);
    else /* others came and went since, so it left before they began */
        end_lease(device, residency->ended_begin_ns, VYRE_RESIDENCY_NONE);
}

/* Reports what is new in the backend's account of what is resident. */
static void report_residency(struct vyre_device *device)
{
    struct vyre_emit *emit = device->emit;
    struct vyre_residency residency;
    if (emit->muted)
        return;
    vyre_device_residency(device, NULL, &residency);
    end_known_lease(device, &residency);
    if (residency.ended > emit->lease_begun) {
        begin_lease(device, residency.ended, residency.ended_begin_ns);
        end_lease(device, residency.ended_ns, residency.why);
    }
    if (residency.number > residency.ended && residency.number > emit->lease_begun)
        begin_lease(device, residency.number, residency.begin_ns);
}

/* What happened while nothing was reported is not reported afterwards. */
static void skip_residency(struct vyre_device *device)
{
    struct vyre_emit *emit = device->emit;
    struct vyre_residency residency;
    vyre_device_residency(device, NULL, &residency);
    end_known_lease(device, &residency);
    if (residency.number != emit->lease_begun)
        emit->lease_begun = emit->lease_ended = residency.number;
}

void vyre_emit_calibrated_locked(struct vyre_device *device)
{
    const struct vyre_event_calibrated calibrated = {.size_bytes = sizeof calibrated,
                                                     .calibration = &device->costs.calibration};
    struct vyre_event event = {.type = VYRE_EVENT_CALIBRATED, .as.calibrated = &calibrated};
    tell(device, &event);
    for (uint32_t i = 0; i < device->shapes.used; i++)
        vyre_shapes_at(&device->shapes, i)->profile->reported = false;
}

void vyre_emit_kernel_locked(struct vyre_device *device, const struct vyre_kernel *kernel,
                             uint64_t begin_ns)
{
    if (device->emit->muted)
        return;
    uint64_t now_ns = vyre_device_now_ns(device);
    const struct vyre_event_kernel_created created = {
        .size_bytes = sizeof created,
        .label = label_or_null(kernel->object.label),
        .begin_ns = begin_ns,
        .compile_ns = now_ns - begin_ns,
    };
    struct vyre_event event = {
        .type = VYRE_EVENT_KERNEL_CREATED, .time_ns = now_ns, .as.kernel_created = &created};
    tell(device, &event);
}

/* ---- Recordings ------------------------------------------------------------------------------- */

void vyre_emit_recorded_locked(struct vyre_device *device, struct vyre_body *body,
                               struct vyre_recording *recording, uint64_t begin_ns)
{
    if (device->emit->muted)
        return;
    uint64_t now_ns = vyre_device_now_ns(device);
    recording->shape = vyre_body_shape(body);
    const struct vyre_event_recording made = {
        .size_bytes = sizeof made,
        .change = VYRE_RECORDING_MADE,
        .shape_lo = recording->shape.lo,
        .shape_hi = recording->shape.hi,
        .size_of_recording_bytes = recording->size_bytes,
        .begin_ns = begin_ns,
        .record_ns = now_ns - begin_ns,
    };
    struct vyre_event event = {
        .type = VYRE_EVENT_RECORDING, .time_ns = now_ns, .as.recording = &made};
    tell(device, &event);
}

/*
 * Called by the recordings. A recording whose making was not reported has no shape, and its end is
 * not reported either.
 */
static void on_evicted(void *user, const struct vyre_recording *recording)
{
    const struct vyre_device *device = user;
    if (!device->emit || (recording->shape.lo == 0 && recording->shape.hi == 0))
        return;
    const struct vyre_event_recording evicted = {
        .size_bytes = sizeof evicted,
        .change = VYRE_RECORDING_EVICTED,
        .shape_lo = recording->shape.lo,
        .shape_hi = recording->shape.hi,
        .size_of_recording_bytes = recording->size_bytes,
    };
    struct vyre_event event = {.type = VYRE_EVENT_RECORDING, .as.recording = &evicted};
    tell(device, &event);
}

/* ---- What is reported of a batch -------------------------------------------------------------- */

/* Once per shape and set of costs, because planning the batch takes longer than a submit. */
static void report_shape(struct vyre_device *device, struct vyre_body *body, uint32_t repeat_hint,
                         const struct vyre_shape *entry)
{
    struct vyre_emit *emit = device->emit;
    struct vyre_shape_profile *profile = entry->profile;
    if (profile->reported || emit->shapes_reported == SHAPES_REPORTED_MAX)
        return;
    profile->reported = true;
    emit->shapes_reported++;
    struct vyre_explanation explanation;
    vyre_explain_locked(device, body, repeat_hint, &explanation);
    const struct vyre_event_shape shape = {
        .size_bytes = sizeof shape,
        .shape_lo = entry->link.key.lo,
        .shape_hi = entry->link.key.hi,
        .explanation = &explanation,
    };
    struct vyre_event event = {.type = VYRE_EVENT_SHAPE, .as.shape = &shape};
    tell(device, &event);
}

bool vyre_emit_listens_locked(struct vyre_device *device, const struct vyre_result_entry *entry)
{
    struct pending *pending = &device->emit->pending[entry->sequence & device->emit->mask];
    pending->muted = device->emit->muted != 0;
    return !pending->muted;
}

void vyre_emit_unseen_locked(struct vyre_device *device, uint64_t sequence)
{
    device->emit->pending[sequence & device->emit->mask].muted = true;
}

void vyre_emit_submitted_locked(struct vyre_device *device, const struct vyre_result_entry *entry,
                                struct vyre_body *body, const struct vyre_decision_record *record)
{
    struct vyre_emit *emit = device->emit;
    struct pending *pending = &emit->pending[entry->sequence & emit->mask];
    const struct vyre_shape *shape = vyre_record_profile_locked(device, body);
    pending->label = body->view.label;
    pending->decision = *record;
    report_shape(device, body, record->repeat_hint, shape);
    pending->profile = *shape->profile;
    report_residency(device);
}

/*
 * From its submit, or from the end of the batch before it, to its end, as far as it was observed.
 */
static uint64_t seen_wall_ns(const struct vyre_emit *emit, const struct vyre_measurement *times)
{
    uint64_t begin_ns = times->start_ns > emit->last_end_ns ? times->start_ns : emit->last_end_ns;
    return times->end_ns > begin_ns ? times->end_ns - begin_ns : 1;
}

static void report_batch(struct vyre_device *device, uint64_t sequence, enum vyre_status status,
                         uint64_t cost_ns, int64_t saved_ns)
{
    struct vyre_emit *emit = device->emit;
    struct pending *pending = &emit->pending[sequence & emit->mask];
    const struct vyre_result_entry *entry =
        &device->results.entries[sequence & device->results.mask];
    const struct vyre_shape_profile *profile = &pending->profile;
    bool ended = status != VYRE_DEVICE_LOST; /* otherwise the times of its end were not written */
    if (ended && cost_ns == 0)
        cost_ns = seen_wall_ns(emit, &entry->measurement);
    emit->reported = sequence;
    if (ended)
        emit->last_end_ns = entry->measurement.end_ns;
    if (pending->muted)
        return;
    struct vyre_decision_record *record = &pending->decision;
    record->host_ns = entry->result.host_ns;
    record->device_ns = ended ? entry->result.device_ns : 0;
    record->wall_ns = cost_ns;
    record->saved_vs_plain_ns = saved_ns;
    struct vyre_event_batch_completed batch = {
        .size_bytes = sizeof batch,
        .status = status,
        .sequence = sequence,
        .label = label_or_null(pending->label),
        .decision = record,
        .submit_begin_ns = entry->measurement.start_ns,
        .submit_ns = record->host_ns,
        .device_begin_ns = ended ? entry->result.device_begin_ns : 0,
        .device_ns = record->device_ns,
        .complete_ns = ended ? entry->measurement.end_ns : 0,
        .kernel_count = profile->kernel_count,
        .copied_bytes = profile->copied_bytes,
    };
    memcpy(batch.commands, profile->commands, sizeof batch.commands);
    for (uint32_t i = 0; i < profile->kernel_count; i++) {
        batch.kernels[i].label = label_or_null(profile->kernels[i].kernel->object.label);
        batch.kernels[i].dispatch_count = profile->kernels[i].dispatch_count;
    }
    struct vyre_event event = {
        .type = VYRE_EVENT_BATCH_COMPLETED,
        .time_ns = batch.complete_ns,
        .as.batch_completed = &batch,
    };
    tell(device, &event);
    report_residency(device);
}

void vyre_emit_batch_locked(struct vyre_device *device, uint64_t sequence, uint64_t cost_ns,
                            int64_t saved_ns)
{
    const struct vyre_result_entry *entry =
        &device->results.entries[sequence & device->results.mask];
    report_batch(device, sequence, entry->result.status, cost_ns, saved_ns);
}

void vyre_emit_flush_locked(struct vyre_device *device)
{
    vyre_measure_collect_locked(device);
    report_residency(device);
    if (!vyre_device_is_lost(device))
        return;
    /* Nothing is measured any more. A batch that was complete before keeps its status. */
    uint64_t submitted = atomic_load_explicit(&device->progress.submitted, memory_order_relaxed);
    for (uint64_t i = device->emit->reported + 1; i <= submitted; i++) {
        const struct vyre_result_entry *entry = &device->results.entries[i & device->results.mask];
        bool ended = vyre_device_is_complete(device, i);
        report_batch(device, i, ended ? entry->result.status : VYRE_DEVICE_LOST, 0, 0);
    }
}

void vyre_emit_mute(struct vyre_device *device, bool muted)
{
    if (!device->emit)
        return;
    vyre_lock_acquire(&device->lock);
    vyre_emit_flush_locked(device);
    if (muted)
        device->emit->muted++;
    else if (--device->emit->muted == 0)
        skip_residency(device);
    vyre_lock_release(&device->lock);
}

/* ---- Open and close --------------------------------------------------------------------------- */

enum vyre_status vyre_emit_open(struct vyre_device *device, struct vyre_diag *diag)
{
    const struct vyre_observer *observer = &device->instance->observer;
    if (!observer->event)
        return VYRE_OK;
    /*
     * What is in flight was not reported. A submit reports all that is complete before it adds
     * itself.
     */
    size_t entries = 2;
    while (entries <= device->desc.in_flight_limit)
        entries *= 2;
    size_t size_bytes = 0;
    struct vyre_emit *emit = NULL;
    if (vyre_checked_mul_size(entries, sizeof emit->pending[0], &size_bytes) &&
        vyre_checked_add_size(size_bytes, sizeof *emit, &size_bytes))
        emit = vyre_memory_allocate(&device->allocator, size_bytes, _Alignof(struct vyre_emit));
    if (!emit)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, device->label, 0,
                             "no memory for reports to the observer");
    emit->observer = *observer;
    emit->size_bytes = size_bytes;
    emit->mask = entries - 1;
    device->emit = emit;
    device->recordings.on_evicted = on_evicted;
    device->recordings.on_evicted_user = device;
    report_opened(device);
    return VYRE_OK;
}

void vyre_emit_close(struct vyre_device *device)
{
    if (!device->emit)
        return;
    vyre_lock_acquire(&device->lock);
    vyre_emit_flush_locked(device);
    if (has_open_lease(device->emit)) /* it hangs, or the backend does not report its end */
        end_lease(device, vyre_device_now_ns(device), VYRE_RESIDENCY_NONE);
    vyre_lock_release(&device->lock);
    report_closed(device);
    vyre_emit_free(device);
}

void vyre_emit_free(struct vyre_device *device)
{
    if (device->emit)
        vyre_memory_free(&device->allocator, device->emit, device->emit->size_bytes,
                         _Alignof(struct vyre_emit));
    device->emit = NULL;
}
