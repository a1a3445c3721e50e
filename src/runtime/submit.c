/*
 * submit.c: takes a built batch to the backend. This is where a decision is carried out.
 */
#include "runtime/submit.h"
#include "runtime/batch.h"
#include "runtime/decide.h"
#include "runtime/emit.h"
#include "runtime/facts.h"
#include "runtime/prove.h"
#include "runtime/record.h"
#include "runtime/shape_keys.h"

/* ---- Checks before anything is queued --------------------------------------------------------- */

static enum vyre_status stale(const char *what, const struct vyre_body *body,
                              struct vyre_diag *diag)
{
    return vyre_diag_set(diag, VYRE_DIAG_BATCH_STALE, body->view.label, 0,
                         "the batch names %s that was destroyed", what);
}

/* Objects were destroyed since the body was last checked: do they belong to it? */
enum vyre_status vyre_batch_check_alive_locked(const struct vyre_device *device,
                                               struct vyre_body *body, struct vyre_diag *diag)
{
    struct vyre_buffer *const *owners = body->owners.items;
    const struct vyre_body_kernel *kernels = body->kernels.items;
    for (uint32_t i = 0; i < body->view.range_count; i++) {
        if (owners[i]->object.identity != body->view.ranges[i].identity)
            return stale("a buffer", body, diag);
    }
    for (uint32_t i = 0; i < body->view.command_count; i++) {
        if (kernels[i].kernel && kernels[i].kernel->object.identity != kernels[i].identity)
            return stale("a kernel", body, diag);
    }
    body->epoch = device->objects.epoch;
    return VYRE_OK;
}

/* Whether there is room as far as is known, and no proof is running. */
static inline bool has_room_locked(const struct vyre_device *device)
{
    uint64_t submitted = atomic_load_explicit(&device->progress.submitted, memory_order_relaxed);
    return submitted < device->completed_seen + device->desc.in_flight_limit &&
           !device->proving.is_on;
}

/* Waits for room and for proofs to end, without the lock, or reports that there is no room. */
static enum vyre_status wait_for_room_locked(struct vyre_device *device, struct vyre_diag *diag)
{
    for (;;) {
        vyre_prove_gate_locked(device);
        uint64_t submitted =
            atomic_load_explicit(&device->progress.submitted, memory_order_relaxed);
        uint64_t limit = device->desc.in_flight_limit;
        if (has_room_locked(device))
            return VYRE_OK;
        /* acquire: pairs with the release in vyre_device_on_complete. */
        device->completed_seen =
            atomic_load_explicit(&device->progress.completed, memory_order_acquire);
        if (submitted < device->completed_seen + limit)
            return VYRE_OK;
        if (vyre_device_is_lost(device))
            return vyre_device_lost_status(device, diag);
        if (device->desc.busy_when_full)
            return vyre_diag_set(diag, VYRE_DIAG_SUBMIT_FULL, device->label, 0,
                                 "%u batches are in flight", device->desc.in_flight_limit);
        vyre_lock_release(&device->lock);
        vyre_device_look(device, submitted - limit + 1, VYRE_FOREVER);
        vyre_lock_acquire(&device->lock);
    }
}

static inline enum vyre_status make_room_locked(struct vyre_device *device, struct vyre_diag *diag)
{
    return has_room_locked(device) ? VYRE_OK : wait_for_room_locked(device, diag);
}

/* ---- Recordings ------------------------------------------------------------------------------- */

/* Notes which objects a new recording uses, so that it is evicted when one of them is destroyed. */
static bool note_objects(struct vyre_recordings *recordings, struct vyre_recording *recording,
                         const struct vyre_body *body)
{
    const struct vyre_body_kernel *kernels = body->kernels.items;
    bool noted = true;
    for (uint32_t i = 0; noted && i < body->view.range_count; i++) {
        uint64_t identity = body->view.ranges[i].identity;
        noted = identity == 0 || vyre_recording_uses(recordings, recording, identity);
    }
    for (uint32_t i = 0; noted && i < body->view.command_count; i++)
        noted =
            !kernels[i].kernel || vyre_recording_uses(recordings, recording, kernels[i].identity);
    vyre_recording_seal(recording);
    return noted;
}

/* The recording under the body's key, made now if there is none. */
static enum vyre_status find_recording_locked(struct vyre_device *device, struct vyre_body *body,
                                              uint32_t variant,
                                              struct vyre_recording **out_recording,
                                              struct vyre_diag *diag)
{
    struct vyre_hash128 key = vyre_body_key(body, vyre_facts_bakes(device, variant), variant);
    *out_recording = vyre_recordings_find(&device->recordings, key);
    if (*out_recording)
        return VYRE_OK;
    void *native = NULL;
    size_t size_bytes = 0;
    uint64_t begin_ns = device->emit ? vyre_device_now_ns(device) : 0;
    enum vyre_status status =
        device->ops->record(device->native, &body->view, variant, &native, &size_bytes, diag);
    if (status != VYRE_OK)
        return status;
    uint64_t completed = atomic_load_explicit(&device->progress.completed, memory_order_acquire);
    *out_recording = vyre_recordings_add(&device->recordings, key, native, size_bytes, completed);
    if (note_objects(&device->recordings, *out_recording, body)) {
        if (device->emit)
            vyre_emit_recorded_locked(device, body, *out_recording, begin_ns);
        return VYRE_OK;
    }
    vyre_recordings_remove(&device->recordings, *out_recording, completed);
    *out_recording = NULL;
    return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, device->label, 0,
                         "no memory for the objects of a recording");
}

/* ---- Modes ------------------------------------------------------------------------------------ */

static enum vyre_status check_mode(const struct vyre_device *device, enum vyre_mode mode,
                                   uint32_t variant, struct vyre_diag *diag)
{
    if ((unsigned)mode >= VYRE_MODE_COUNT)
        return vyre_diag_set(diag, VYRE_DIAG_ARGUMENT_RANGE, device->label, 0,
                             "there is no mode %d", (int)mode);
    const struct vyre_ability *ability = vyre_device_mode_ability(device, mode);
    if (ability && ability->value == 0)
        return vyre_diag_set(diag, VYRE_DIAG_SUBMIT_MODE, device->label, 0, "no %s mode: %s",
                             vyre_mode_name(mode), ability->reason);
    if (variant & ~device->facts.variants[mode])
        return vyre_diag_set(diag, VYRE_DIAG_SUBMIT_MODE, device->label, 0,
                             "%s mode has no variant %u here", vyre_mode_name(mode), variant);
    return VYRE_OK;
}

/* ---- One submission --------------------------------------------------------------------------- */

struct attempt {
    struct vyre_device *device;
    struct vyre_body *body;
    const struct vyre_submit_options *options;
    struct vyre_timing timing;
    struct vyre_choice choice;
    struct vyre_submission submission;
    struct vyre_recording *recording; /* REPLAY; Borrowed */
    bool pays_recording;              /* it was made just now, for the first time */
    bool is_unseen;                   /* it is the runtime's own */
    bool is_unproven;
    bool is_gone; /* lost while the lock was released: the device, an object, or the room */
};

static bool is_auto(const struct attempt *attempt)
{
    return attempt->options->mode == VYRE_MODE_AUTO;
}

static void require(struct vyre_choice *out, enum vyre_mode mode, uint32_t variant)
{
    out->mode = out->wanted = mode;
    out->variant = out->wanted_variant = variant;
    out->wanted_out = VYRE_WHY_NONE;
    out->why = VYRE_WHY_REQUIRED;
    out->is_auto = false;
}

/* Chooses the mode, and whether the submission is timed. */
static void decide_locked(struct attempt *attempt)
{
    const struct vyre_submit_options *options = attempt->options;
    struct vyre_device *device = attempt->device;
    struct vyre_timing *timing = &attempt->timing;
    vyre_timing_init(&device->measure, options->timed, timing);
    if (timing->asked || timing->sampled || device->emit || is_auto(attempt))
        vyre_timing_begin_locked(device, attempt->body, is_auto(attempt), timing);
    if (!is_auto(attempt)) {
        require(&attempt->choice, options->mode, options->variant);
        return;
    }
    bool is_new = !attempt->body->hashed;
    vyre_decide_locked(device, attempt->body, options->repeat_hint, &attempt->choice);
    if (is_new || !attempt->choice.governed.settled)
        vyre_timing_decided_locked(device, &attempt->choice.governed, timing);
}

/* A recording was made for auto: whether it is the first of its shape. */
static bool is_first_recording(const struct attempt *attempt)
{
    struct vyre_shape *shape = vyre_shape_get(attempt->choice.governed.shape);
    if (!shape)
        return true;
    shape->found.recorded += shape->found.recorded < UINT32_MAX;
    return shape->found.recorded == 1;
}

/*
 * Whether a kernel of the batch is new in the chosen mode: a driver may compile it now. A kernel
 * counts as known after two batches; a shape remembers that all of its kernels are.
 */
static bool is_cold(const struct attempt *attempt)
{
    const struct vyre_body *body = attempt->body;
    const struct vyre_body_kernel *kernels = body->kernels.items;
    struct vyre_shape *shape = vyre_shape_get(attempt->choice.governed.shape);
    enum vyre_mode mode = attempt->choice.mode;
    uint32_t tick = (uint32_t)attempt->device->measure.tick + 1;
    bool cold = false;
    if (!shape || (shape->warm & 1u << mode))
        return false;
    for (uint32_t i = 0; i < body->view.command_count; i++) {
        struct vyre_kernel *kernel = kernels[i].kernel;
        if (!kernel || kernel->runs[mode] >= attempt->device->governor.rules->cold)
            continue;
        cold = true;
        if (kernel->last_tick != tick) /* once a batch */
            kernel->runs[mode]++;
        kernel->last_tick = tick;
    }
    if (!cold)
        shape->warm |= (uint8_t)(1u << mode);
    return cold;
}

/* Finds or makes what the mode needs. */
static enum vyre_status ready_locked(struct attempt *attempt, struct vyre_diag *diag)
{
    struct vyre_device *device = attempt->device;
    struct vyre_submission *submission = &attempt->submission;
    enum vyre_status status = VYRE_OK;
    submission->mode = attempt->choice.mode;
    submission->variant = attempt->choice.variant;
    submission->recording = NULL;
    attempt->recording = NULL;
    attempt->pays_recording = false;
    attempt->timing.is_cold = is_auto(attempt) && attempt->timing.timed && is_cold(attempt);
    if (attempt->choice.mode == VYRE_MODE_REPLAY) {
        uint64_t made = device->recordings.made;
        status = find_recording_locked(device, attempt->body, attempt->choice.variant,
                                       &attempt->recording, diag);
        /* A recording that is made again and again is not a fixed cost. */
        if (device->recordings.made != made && is_auto(attempt))
            attempt->pays_recording = is_first_recording(attempt);
        if (status == VYRE_OK)
            submission->recording = attempt->recording->native;
    }
    return status;
}

/* The choice must be built first: the next best runs. */
static void put_off_locked(struct attempt *attempt)
{
    vyre_decide_put_off_locked(attempt->device, attempt->body, attempt->options->repeat_hint,
                               &attempt->choice);
    vyre_timing_decided_locked(attempt->device, &attempt->choice.governed, &attempt->timing);
}

/*
 * Builds and proofs release the lock: meanwhile other threads may have submitted, destroyed objects
 * or lost the device. The time that they took is not part of the batch's cost.
 */
static enum vyre_status come_back_locked(struct attempt *attempt, struct vyre_diag *diag)
{
    struct vyre_device *device = attempt->device;
    enum vyre_status status = make_room_locked(device, diag);
    if (status == VYRE_OK)
        status = vyre_batch_check_locked(device, attempt->body, diag);
    if (device->measure.pending > 0)
        vyre_measure_collect_locked(device);
    vyre_timing_absent_locked(device, &attempt->timing);
    attempt->is_gone = status != VYRE_OK;
    return status;
}

/* Whether the mode may lack something. A batch that is known to run proven code lacks nothing. */
static bool may_lack(const struct attempt *attempt)
{
    const struct vyre_device *device = attempt->device;
    enum vyre_mode mode = attempt->choice.mode;
    return (device->facts.built_modes >> mode & 1u) &&
           !(vyre_proof_applies(device, mode) &&
             vyre_proof_is_known(device, attempt->body, mode, attempt->choice.variant));
}

/*
 * A build in the queue will reopen its shape. If it is not queued, for example because the queue is
 * full, the next batch must ask again.
 */
static void ask_again_locked(const struct attempt *attempt, uint32_t candidate)
{
    const struct vyre_build_token token = {vyre_body_shape(attempt->body), candidate};
    struct vyre_shape *shape = vyre_shape_get(attempt->choice.governed.shape);
    if (shape && !vyre_builds_has_locked(&attempt->device->builds, token))
        vyre_governor_reopen(shape);
}

/*
 * Has a background build make what auto prefers for this batch. What cannot be built is not asked
 * for again soon.
 */
static enum vyre_status build_beside_locked(struct attempt *attempt, struct vyre_diag *diag)
{
    uint32_t candidate = attempt->choice.build - 1u;
    struct vyre_shape *shape = vyre_shape_get(attempt->choice.governed.shape);
    enum vyre_status status =
        vyre_build_later_locked(attempt->device, attempt->body, candidate, NULL);
    if (status == VYRE_DEVICE_LOST)
        return vyre_diag_set(diag, VYRE_DIAG_DEVICE_LOST, attempt->device->label, 0,
                             "the device was lost when a build began");
    if (shape && status != VYRE_OK && status != VYRE_BUSY)
        vyre_facts_failed_locked(shape, candidate, status == VYRE_UNSUPPORTED, false);
    ask_again_locked(attempt, candidate);
    return VYRE_OK;
}

/*
 * Builds what the mode lacks: at once if the mode is required. In auto the build runs in the
 * background, and the batch runs in another mode.
 */
static enum vyre_status build_locked(struct attempt *attempt, struct vyre_diag *diag)
{
    struct vyre_device *device = attempt->device;
    if (!may_lack(attempt) && (!is_auto(attempt) || !attempt->choice.build))
        return VYRE_OK;
    if (!is_auto(attempt)) {
        bool built;
        enum vyre_status status = vyre_build_now_locked(device, attempt->body, attempt->choice.mode,
                                                        attempt->choice.variant, &built, diag);
        return status == VYRE_OK && built ? come_back_locked(attempt, diag) : status;
    }
    enum vyre_status status = VYRE_BUSY;
    while (status == VYRE_BUSY) {
        status = attempt->choice.build ? build_beside_locked(attempt, diag) : VYRE_OK;
        if (status != VYRE_OK)
            return status;
        uint32_t candidate = attempt->choice.governed.candidate;
        status = may_lack(attempt) ? vyre_build_later_locked(device, attempt->body, candidate, diag)
                                   : VYRE_OK;
        if (status != VYRE_BUSY)
            break;
        put_off_locked(attempt);
        ask_again_locked(attempt, candidate);
    }
    return status;
}

/* Generated code is proven before it is used. */
static enum vyre_status prove_locked(struct attempt *attempt, struct vyre_diag *diag)
{
    struct vyre_device *device = attempt->device;
    enum vyre_mode mode = attempt->choice.mode;
    uint32_t variant = attempt->choice.variant;
    if (vyre_proof_is_known(device, attempt->body, mode, variant) ||
        vyre_proof_state_locked(device, attempt->body, mode, variant, NULL) ==
            VYRE_PROOF_NOT_NEEDED)
        return VYRE_OK;
    enum vyre_status status =
        vyre_prove_locked(device, attempt->body, mode, variant, !is_auto(attempt), diag);
    attempt->is_unproven = status != VYRE_OK;
    enum vyre_status back = come_back_locked(attempt, diag);
    return back != VYRE_OK ? back : status;
}

/* If a mode fails, auto falls back to another; plain is always possible. */
static bool may_fall_back(const struct attempt *attempt, enum vyre_status status)
{
    return is_auto(attempt) && attempt->choice.mode != VYRE_MODE_PLAIN && !attempt->is_gone &&
           status != VYRE_DEVICE_LOST && status != VYRE_BUSY;
}

static void fall_back_locked(struct attempt *attempt, enum vyre_status status)
{
    struct vyre_device *device = attempt->device;
    vyre_decide_failed_locked(device, attempt->body, attempt->options->repeat_hint, status,
                              attempt->is_unproven, &attempt->choice);
    attempt->is_unproven = false;
    vyre_timing_decided_locked(device, &attempt->choice.governed, &attempt->timing);
    vyre_timing_absent_locked(device, &attempt->timing);
}

/* The choice will not be measured. */
static void abandon_locked(const struct attempt *attempt)
{
    if (is_auto(attempt))
        vyre_governor_abandon(&attempt->device->governor, attempt->choice.governed.shape,
                              attempt->choice.governed.candidate);
}

/* ---- Submit ----------------------------------------------------------------------------------- */

static struct vyre_result_entry *begin_entry_locked(const struct attempt *attempt,
                                                    uint64_t sequence)
{
    struct vyre_device *device = attempt->device;
    struct vyre_result_entry *entry = &device->results.entries[sequence & device->results.mask];
    if (entry->sequence != 0 && entry->result.status != VYRE_OK)
        device->results.forgotten_failure = entry->sequence;
    entry->sequence = sequence;
    entry->result = (struct vyre_batch_result){
        .mode = attempt->choice.mode,
        .wanted = attempt->choice.wanted,
        .why = attempt->choice.why,
        .variant = attempt->choice.variant,
        .wanted_out = attempt->choice.wanted_out,
    };
    entry->failure = (struct vyre_diag_brief){0};
    entry->body = attempt->body;
    entry->on_complete = attempt->options->on_complete;
    entry->user = attempt->options->user;
    atomic_store_explicit(&entry->ended, 0, memory_order_relaxed);
    return entry;
}

/* Counts the decision. Its record goes to the ring if it is sampled, and to the observer. */
static void record_locked(const struct attempt *attempt, struct vyre_result_entry *entry)
{
    struct vyre_device *device = attempt->device;
    const struct vyre_choice *choice = &attempt->choice;
    bool timed = attempt->timing.timed;
    bool notable = vyre_why_is_try(choice->why) || (choice->is_auto && choice->governed.changed);
    /* A record without times says little, so an untimed decision is only counted. */
    bool kept = device->decisions &&
                vyre_decisions_sample(device->decisions, choice->mode, choice->why,
                                      timed && notable, device->measure.clock_ns) &&
                timed;
    bool observed = device->emit && vyre_emit_listens_locked(device, entry);
    entry->measurement.record = 0;
    if (!kept && !observed)
        return;
    struct vyre_decision_record record;
    vyre_record_fill_locked(device, attempt->body, attempt->options->repeat_hint, choice, observed,
                            &record);
    record.sequence = device->decisions ? vyre_decisions_decided(device->decisions) : 0;
    if (kept)
        entry->measurement.record = vyre_decisions_begin(device->decisions, &record);
    if (observed)
        vyre_emit_submitted_locked(device, entry, attempt->body, &record);
}

/* Asks for the times of the commands if a prediction needs them. Other batches are not touched. */
static void ask_for_times_locked(struct attempt *attempt)
{
    const struct vyre_timing *timing = &attempt->timing;
    bool compared = is_auto(attempt) && !attempt->choice.governed.settled;
    attempt->submission.times = NULL;
    if (attempt->choice.mode != VYRE_MODE_PERSISTENT && is_auto(attempt) && timing->timed &&
        (compared || timing->sampled))
        vyre_execution_ask_locked(attempt->device, attempt->body, &attempt->submission);
}

/* What is known only once the backend has accepted the submission. */
static void note_success_locked(struct attempt *attempt, struct vyre_result_entry *entry)
{
    struct vyre_device *device = attempt->device;
    /* release: pairs with the acquire in vyre_measure_look. */
    atomic_store_explicit(&device->progress.queued, entry->sequence, memory_order_release);
    if (attempt->recording)
        attempt->recording->last_sequence = entry->sequence;
    if (attempt->is_unseen) {
        device->proving.submitted++;
        if (device->emit)
            vyre_emit_unseen_locked(device, entry->sequence);
        return;
    }
    device->by_mode[attempt->choice.mode]++;
    device->measure.tick++;
    if (attempt->timing.timed)
        vyre_measure_submitted_locked(device, &attempt->timing, &attempt->choice, entry);
    record_locked(attempt, entry);
}

/* Hands the submission to the backend, as a whole or not at all. */
static enum vyre_status queue_locked(struct attempt *attempt, uint64_t *out_sequence,
                                     struct vyre_diag *diag)
{
    struct vyre_device *device = attempt->device;
    uint64_t sequence = atomic_load_explicit(&device->progress.submitted, memory_order_relaxed) + 1;
    bool called_back = attempt->options->on_complete != NULL;
    attempt->submission.sequence = sequence;
    struct vyre_result_entry *entry = begin_entry_locked(attempt, sequence);
    uint64_t previous = attempt->body->last_sequence;
    attempt->body->last_sequence = sequence;
    /* Relaxed: tickets reach other threads through the caller, who orders that. */
    atomic_store_explicit(&device->progress.submitted, sequence, memory_order_relaxed);
    if (called_back)
        atomic_fetch_add_explicit(&device->progress.callbacks, 1, memory_order_relaxed);
    entry->measurement.timed = attempt->timing.timed;
    if (attempt->timing.timed)
        vyre_measure_begin_locked(device, &attempt->timing, &attempt->choice,
                                  attempt->pays_recording, entry);
    ask_for_times_locked(attempt);
    enum vyre_status status = device->ops->submit(device->native, &attempt->submission, diag);
    if (status == VYRE_OK) {
        note_success_locked(attempt, entry);
        *out_sequence = sequence;
        return VYRE_OK;
    }
    if (called_back)
        atomic_fetch_sub_explicit(&device->progress.callbacks, 1, memory_order_relaxed);
    vyre_measure_cancel_locked(device, entry);
    vyre_execution_cancel_locked(device, sequence);
    entry->sequence = 0;
    attempt->body->last_sequence = previous;
    atomic_store_explicit(&device->progress.submitted, sequence - 1, memory_order_relaxed);
    return status;
}

static enum vyre_status submit_locked(struct vyre_device *device, struct vyre_body *body,
                                      const struct vyre_submit_options *options,
                                      uint64_t *out_sequence, struct vyre_diag *diag)
{
    enum vyre_status status = make_room_locked(device, diag);
    if (status == VYRE_OK)
        status = vyre_batch_check_locked(device, body, diag);
    if (status != VYRE_OK)
        return status;
    if (device->objects.dead_first)
        vyre_device_reclaim_locked(device);
    if (device->measure.pending > 0) {
        vyre_measure_collect_locked(device);
        vyre_execution_collect_locked(device); /* what is asked for its times is timed */
    }

    struct attempt attempt;
    attempt.device = device;
    attempt.body = body;
    attempt.options = options;
    attempt.is_unseen = false;
    attempt.is_unproven = false;
    attempt.is_gone = false;
    attempt.timing.is_cold = false;
    decide_locked(&attempt);
    attempt.submission = (struct vyre_submission){
        .view = &body->view,
        .timed = attempt.timing.asked || attempt.timing.sampled,
        .called_back = options->on_complete != NULL,
    };
    for (;;) {
        /* While auto may fall back to another mode, the caller's diagnostic stays unchanged. */
        struct vyre_diag own;
        own.id = VYRE_DIAG_NONE;
        bool last = !may_fall_back(&attempt, VYRE_OK);
        struct vyre_diag *reason = last ? diag : &own;
        status = build_locked(&attempt, reason);
        if (status == VYRE_OK)
            status = prove_locked(&attempt, reason);
        if (status == VYRE_OK)
            status = ready_locked(&attempt, reason);
        if (status == VYRE_OK)
            status = queue_locked(&attempt, out_sequence, reason);
        if (status == VYRE_OK)
            return VYRE_OK;
        if (!may_fall_back(&attempt, status)) {
            abandon_locked(&attempt);
            if (!last && diag && own.id != VYRE_DIAG_NONE)
                *diag = own;
            return status;
        }
        fall_back_locked(&attempt, status);
    }
}

enum vyre_status vyre_submit_unseen_locked(struct vyre_device *device, struct vyre_body *body,
                                           enum vyre_mode mode, uint32_t variant,
                                           uint64_t *out_sequence, struct vyre_diag *diag)
{
    const struct vyre_submit_options options = {.mode = mode, .variant = variant};
    struct attempt attempt = {
        .device = device,
        .body = body,
        .options = &options,
        .submission = {.view = &body->view},
        .is_unseen = true,
    };
    require(&attempt.choice, mode, variant);
    enum vyre_status status = ready_locked(&attempt, diag);
    return status == VYRE_OK ? queue_locked(&attempt, out_sequence, diag) : status;
}

enum vyre_status vyre_batch_submit(struct vyre_batch *batch,
                                   const struct vyre_submit_options *options,
                                   struct vyre_ticket *out_ticket, struct vyre_diag *diag)
{
    static const struct vyre_submit_options defaults = {0};
    struct vyre_device *device = batch->object.device;
    uint64_t sequence = 0;
    enum vyre_status status = batch->error.status;
    options = options ? options : &defaults;
    if (out_ticket)
        *out_ticket = (struct vyre_ticket){0};
    if (status != VYRE_OK)
        return vyre_batch_status(batch, diag);
    if (options->mode != VYRE_MODE_AUTO) {
        status = check_mode(device, options->mode, options->variant, diag);
        if (status != VYRE_OK)
            return status;
    } else if (options->variant != 0) {
        return vyre_diag_set(diag, VYRE_DIAG_ARGUMENT_RANGE, device->label, 0,
                             "a variant needs a required mode");
    }
    vyre_measure_look(device);
    vyre_lock_acquire(&device->lock);
    status = submit_locked(device, batch->body, options, &sequence, diag);
    status = vyre_device_unlock(device, status, diag);
    if (status == VYRE_OK && out_ticket)
        *out_ticket = (struct vyre_ticket){device->identity, sequence};
    return status;
}

/* The backend's answer about a batch in a mode, as a status. */
static enum vyre_status check_fit_locked(struct vyre_device *device, const struct vyre_body *body,
                                         enum vyre_mode mode, uint32_t variant,
                                         struct vyre_diag *diag)
{
    if (!device->ops->batch_check)
        return VYRE_OK;
    struct vyre_diag reason;
    vyre_diag_reset(&reason);
    switch (device->ops->batch_check(device->native, &body->view, mode, variant, &reason)) {
    case VYRE_FIT_NO:
        if (diag)
            *diag = reason;
        return VYRE_UNSUPPORTED;
    case VYRE_FIT_UNBUILT:
        return vyre_diag_set(diag, VYRE_DIAG_SUBMIT_UNBUILT, body->view.label, 0,
                             "what %s mode needs for this batch is not built",
                             vyre_mode_name(mode));
    case VYRE_FIT_YES:
    case VYRE_FIT_POOR:
        break;
    }
    return VYRE_OK;
}

enum vyre_status vyre_batch_check_mode(struct vyre_batch *batch, enum vyre_mode mode,
                                       uint32_t variant, struct vyre_diag *diag)
{
    struct vyre_device *device = batch->object.device;
    enum vyre_status status = vyre_batch_status(batch, diag);
    if (status == VYRE_OK)
        status = check_mode(device, mode, variant, diag);
    if (status == VYRE_OK && vyre_device_is_lost(device))
        status = vyre_device_lost_status(device, diag);
    if (status != VYRE_OK || mode == VYRE_MODE_AUTO)
        return status;
    vyre_lock_acquire(&device->lock);
    status = vyre_batch_check_locked(device, batch->body, diag);
    if (status == VYRE_OK)
        status = check_fit_locked(device, batch->body, mode, variant, diag);
    if (status == VYRE_OK)
        status = vyre_proof_refused_locked(device, batch->body, mode, variant, diag);
    return vyre_device_unlock(device, status, diag);
}

enum vyre_status vyre_batch_warm_up(struct vyre_batch *batch, enum vyre_mode mode,
                                    struct vyre_diag *diag)
{
    struct vyre_device *device = batch->object.device;
    enum vyre_status status = vyre_batch_status(batch, diag);
    if (status == VYRE_OK)
        status = check_mode(device, mode, 0, diag);
    if (status == VYRE_OK && vyre_device_is_lost(device))
        status = vyre_device_lost_status(device, diag);
    if (status != VYRE_OK)
        return status;
    struct vyre_recording *recording;
    bool built;
    vyre_lock_acquire(&device->lock);
    status = vyre_batch_check_locked(device, batch->body, diag);
    if (status == VYRE_OK && mode != VYRE_MODE_AUTO)
        status = vyre_build_now_locked(device, batch->body, mode, 0, &built, diag);
    if (status == VYRE_OK && mode == VYRE_MODE_REPLAY)
        status = find_recording_locked(device, batch->body, 0, &recording, diag);
    if (status == VYRE_OK && device->ops->warm_up)
        status = device->ops->warm_up(device->native, mode, diag);
    if (status == VYRE_OK && device->ops->batch_warm_up)
        status = device->ops->batch_warm_up(device->native, &batch->body->view, mode, 0, diag);
    return vyre_device_unlock(device, status, diag);
}
