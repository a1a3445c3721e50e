/*
 * prove.c: runs one batch as the driver launches it and as generated, on saved and restored bytes.
 *
 *   before    what the batch writes (written.h), as it was; restored after each run
 *   expected  the same after a plain run
 *   found     ... after a run of the generated code
 */
#include "runtime/prove.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/groups.h"
#include "base/memory.h"
#include "runtime/batch.h"
#include "runtime/submit.h"
#include "runtime/written.h"

/*
 * If the generated code differs, this many plain runs show which bytes depend on the order of
 * groups.
 */
#define PLAIN_RUNS 3

/* How long the device may take to become idle while callbacks submit further work, or run. */
#define DRAIN_ROUNDS 64
#define CALLBACK_NS  UINT64_C(1000000000)
#define NAP_NS       UINT64_C(50000)

struct code {
    struct vyre_hash128 code;
    uint32_t class_bit;
    const char *kernel; /* Borrowed: its label */
};

struct proof {
    struct vyre_device *device;
    struct vyre_body *body;   /* Borrowed: the caller's */
    struct vyre_batch *batch; /* Owned: a copy without downloads */
    enum vyre_mode mode;
    uint32_t variant;
    struct code *codes; /* Owned: the codes of the batch's dispatches, found before the runs */
    uint32_t code_count;
    uint32_t code_capacity;
    uint64_t epoch; /* when they were found */
    struct vyre_written written;
    unsigned char *memory;          /* Owned: three times written.total_bytes */
    char reason[VYRE_REASON_BYTES]; /* why the code is refused; "": it is not */
    size_t difference_bytes;        /* where the first difference is, counted over all extents */
};

static enum vyre_status out_of_memory(const struct proof *proof, struct vyre_diag *diag)
{
    return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, proof->device->label, 0,
                         "no memory to prove a batch");
}

static enum vyre_status put_off(const struct proof *proof, struct vyre_diag *diag, const char *why,
                                const char *fix)
{
    enum vyre_status status =
        vyre_diag_set(diag, VYRE_DIAG_PROOF_LIMIT, proof->device->label, 0, "%s", why);
    vyre_diag_set_fix(diag, "%s", fix);
    return status;
}

/* ---- What is known ---------------------------------------------------------------------------- */

static bool is_zero(struct vyre_hash128 hash)
{
    return vyre_hash128_equal(hash, (struct vyre_hash128){0});
}

/* The generated code of a command; zero: none. A command that submit refuses has none. */
static enum vyre_status code_of(struct vyre_device *device, const struct vyre_body *body,
                                uint32_t command, enum vyre_mode mode, uint32_t variant,
                                struct vyre_hash128 *out_code, struct vyre_diag *diag)
{
    const struct vyre_command *at = &body->view.commands[command];
    *out_code = (struct vyre_hash128){0};
    if (at->type != VYRE_COMMAND_DISPATCH || vyre_groups_total(at->groups) == 0)
        return VYRE_OK;
    enum vyre_status status =
        device->ops->generated(device->native, &body->view, command, mode, variant, out_code, diag);
    return status == VYRE_UNSUPPORTED ? VYRE_OK : status;
}

static void note_known(const struct vyre_device *device, struct vyre_body *body,
                       enum vyre_mode mode, uint32_t variant)
{
    uint64_t epoch = vyre_proof_epoch(device);
    body->proven = body->proof_epoch == epoch ? body->proven : 0;
    body->proven |= vyre_proof_bit(mode, variant);
    body->proof_epoch = epoch;
}

enum vyre_proof_state vyre_proof_state_locked(struct vyre_device *device, struct vyre_body *body,
                                              enum vyre_mode mode, uint32_t variant,
                                              const struct vyre_refusal **out_refusal)
{
    enum vyre_proof_state state = VYRE_PROOF_NOT_NEEDED;
    if (vyre_proof_is_known(device, body, mode, variant))
        return state;
    for (uint32_t i = 0; i < body->view.command_count; i++) {
        struct vyre_hash128 code;
        if (code_of(device, body, i, mode, variant, &code, NULL) != VYRE_OK) {
            state = VYRE_PROOF_DUE; /* not built, or it cannot be named: it is not trusted */
            continue;
        }
        if (is_zero(code))
            continue;
        const struct vyre_refusal *refusal = vyre_proofs_refusal(&device->proving.proofs, code);
        if (refusal) {
            if (out_refusal)
                *out_refusal = refusal;
            return VYRE_PROOF_REFUSED;
        }
        uint32_t bit = vyre_proof_class_bit(body->view.commands[i].groups);
        if (!vyre_proofs_has(&device->proving.proofs, code, bit))
            state = VYRE_PROOF_DUE;
    }
    if (state == VYRE_PROOF_NOT_NEEDED)
        note_known(device, body, mode, variant);
    return state;
}

static enum vyre_status refuse(const struct vyre_device *device, const struct vyre_refusal *refusal,
                               struct vyre_diag *diag)
{
    return vyre_diag_set(diag, VYRE_DIAG_PROOF_DIFFERS, device->label, 0, "kernel %s: %s",
                         refusal->kernel, refusal->reason);
}

enum vyre_status vyre_proof_refused_locked(struct vyre_device *device, struct vyre_body *body,
                                           enum vyre_mode mode, uint32_t variant,
                                           struct vyre_diag *diag)
{
    const struct vyre_refusal *refusal = NULL;
    if (vyre_proof_state_locked(device, body, mode, variant, &refusal) != VYRE_PROOF_REFUSED)
        return VYRE_OK;
    return refuse(device, refusal, diag);
}

/* Finds the codes that the batch will run. */
static enum vyre_status find_codes(struct proof *proof, struct vyre_diag *diag)
{
    struct vyre_device *device = proof->device;
    const struct vyre_body *body = proof->body;
    const struct vyre_body_kernel *kernels = body->kernels.items;
    proof->code_capacity = body->view.command_count;
    proof->codes = vyre_memory_allocate(
        &device->allocator, proof->code_capacity * sizeof *proof->codes, _Alignof(struct code));
    if (!proof->codes)
        return out_of_memory(proof, diag);
    for (uint32_t i = 0; i < body->view.command_count; i++) {
        struct vyre_hash128 code;
        enum vyre_status status =
            code_of(device, body, i, proof->mode, proof->variant, &code, diag);
        if (status == VYRE_BUSY) /* built before, and thrown away since */
            return put_off(proof, diag, "its generated code is not built",
                           "Submit the batch again.");
        if (status != VYRE_OK)
            return status;
        if (!is_zero(code))
            proof->codes[proof->code_count++] =
                (struct code){code, vyre_proof_class_bit(body->view.commands[i].groups),
                              kernels[i].kernel->object.label};
    }
    proof->epoch = vyre_proof_epoch(device);
    return VYRE_OK;
}

/* Notes the result of the check. Without a reason the codes were right. */
static void note_codes(struct proof *proof, const char *reason)
{
    struct vyre_device *device = proof->device;
    for (uint32_t i = 0; i < proof->code_count; i++) {
        const struct code *code = &proof->codes[i];
        if (!reason) {
            (void)vyre_proofs_add(&device->proving.proofs, &device->allocator, code->code,
                                  code->class_bit);
            continue;
        }
        struct vyre_refusal refusal = {.code = code->code};
        snprintf(refusal.kernel, sizeof refusal.kernel, "%s", code->kernel);
        snprintf(refusal.reason, sizeof refusal.reason, "%s", reason);
        (void)vyre_proofs_refuse(&device->proving.proofs, &device->allocator, &refusal);
    }
}

/* ---- Saved bytes ------------------------------------------------------------------------------ */

static unsigned char *before(const struct proof *proof)
{
    return proof->memory;
}

static unsigned char *expected(const struct proof *proof)
{
    return proof->memory + proof->written.total_bytes;
}

static unsigned char *found(const struct proof *proof)
{
    return proof->memory + 2 * proof->written.total_bytes;
}

/* ---- Runs ------------------------------------------------------------------------------------- */

/*
 * A failed run of the proof is not a batch of the caller's: it is not counted and not remembered.
 */
static void forget_failure_locked(struct vyre_device *device, uint64_t sequence)
{
    struct vyre_result_entry *entry = &device->results.entries[sequence & device->results.mask];
    if (entry->sequence != sequence || entry->result.status == VYRE_OK)
        return;
    entry->result.status = VYRE_OK;
    atomic_fetch_sub_explicit(&device->progress.failed, 1, memory_order_relaxed);
}

/* Runs the copy to its end and saves what it wrote. Releases the lock while it runs. */
static enum vyre_status run_locked(struct proof *proof, enum vyre_mode mode, uint32_t variant,
                                   unsigned char *out_bytes, struct vyre_diag *diag)
{
    struct vyre_device *device = proof->device;
    uint64_t sequence = 0;
    enum vyre_status status = vyre_written_restore_locked(&proof->written, before(proof), diag);
    if (status == VYRE_OK)
        status =
            vyre_submit_unseen_locked(device, proof->batch->body, mode, variant, &sequence, diag);
    if (status != VYRE_OK)
        return status;
    vyre_lock_release(&device->lock);
    status = vyre_ticket_wait(device, (struct vyre_ticket){device->identity, sequence},
                              VYRE_FOREVER, diag);
    vyre_lock_acquire(&device->lock);
    if (vyre_device_is_complete(device, sequence)) {
        device->proving.completed++;
        forget_failure_locked(device, sequence);
    }
    if (status == VYRE_OK)
        status = vyre_written_save_locked(&proof->written, out_bytes, diag);
    return status;
}

static enum vyre_status run_plain_locked(struct proof *proof, unsigned char *out_bytes,
                                         struct vyre_diag *diag)
{
    uint32_t serial = proof->device->facts.variants[VYRE_MODE_PLAIN] & VYRE_VARIANT_SERIAL;
    return run_locked(proof, VYRE_MODE_PLAIN, serial, out_bytes, diag);
}

/* Whether the generated code was right, and if not, where it differs. */
static bool agrees(struct proof *proof)
{
    const unsigned char *right = expected(proof);
    const unsigned char *own = found(proof);
    if (memcmp(right, own, proof->written.total_bytes) == 0)
        return true;
    proof->difference_bytes = 0;
    while (right[proof->difference_bytes] == own[proof->difference_bytes])
        proof->difference_bytes++;
    return false;
}

/*
 * The generated code differs. Bytes in which two plain runs differ depend on the order of groups;
 * they are outside the promise and count as right. Does it differ in other bytes? `again` replaces
 * the saved bytes.
 */
static enum vyre_status judge_locked(struct proof *proof, bool *out_agrees, struct vyre_diag *diag)
{
    unsigned char *again =
        vyre_memory_allocate(&proof->device->allocator, proof->written.total_bytes, 1);
    enum vyre_status status = VYRE_OK;
    *out_agrees = false;
    if (!again)
        return out_of_memory(proof, diag);
    for (int i = 0; status == VYRE_OK && !*out_agrees && i < PLAIN_RUNS; i++) {
        status = run_plain_locked(proof, again, diag);
        for (size_t at = 0; status == VYRE_OK && at < proof->written.total_bytes; at++) {
            if (again[at] != expected(proof)[at])
                found(proof)[at] = expected(proof)[at];
        }
        *out_agrees = status == VYRE_OK && agrees(proof);
    }
    vyre_memory_free(&proof->device->allocator, again, proof->written.total_bytes, 1);
    return status;
}

/* ---- The verdict ------------------------------------------------------------------------------ */

static void describe_difference(const struct proof *proof, char out[VYRE_REASON_BYTES])
{
    size_t offset = 0;
    const struct vyre_written_extent *extent =
        vyre_written_at(&proof->written, proof->difference_bytes, &offset);
    const char *label = extent->buffer->object.label;
    snprintf(out, VYRE_REASON_BYTES,
             "generated, it writes 0x%02x where the driver's launch writes "
             "0x%02x: byte %zu of %.20s",
             found(proof)[proof->difference_bytes], expected(proof)[proof->difference_bytes],
             offset, label[0] ? label : "a buffer");
}

static void log_refusal(const struct proof *proof)
{
    const struct vyre_device *device = proof->device;
    char text[256];
    snprintf(text, sizeof text, "proof-differs: %s mode refused for kernel %s: %s",
             vyre_mode_name(proof->mode), proof->codes[0].kernel, proof->reason);
    if (device->instance->log)
        device->instance->log(device->instance->log_user, VYRE_LOG_WARNING, text);
}

/* All runs. Restores the bytes, unless the device is lost. */
static enum vyre_status compare_locked(struct proof *proof, bool is_patient, bool *out_agrees,
                                       struct vyre_diag *diag)
{
    struct vyre_device *device = proof->device;
    uint64_t begin_ns = vyre_device_now_ns(device);
    enum vyre_status status = vyre_written_save_locked(&proof->written, before(proof), diag);
    if (status != VYRE_OK)
        return status;
    status = run_plain_locked(proof, expected(proof), diag);
    uint64_t plain_ns = vyre_device_now_ns(device) - begin_ns;
    if (status == VYRE_OK && !is_patient && plain_ns > device->desc.proof_ns) {
        status =
            vyre_diag_set(diag, VYRE_DIAG_PROOF_LIMIT, device->label, 0,
                          "the batch takes %llu ns; a proof may take %llu",
                          (unsigned long long)plain_ns, (unsigned long long)device->desc.proof_ns);
        vyre_diag_set_fix(diag, "Raise proof_ns, or submit a smaller batch of these kernels.");
    }
    if (status == VYRE_OK)
        status = run_locked(proof, proof->mode, proof->variant, found(proof), diag);
    *out_agrees = status == VYRE_OK && agrees(proof);
    if (status == VYRE_OK && !*out_agrees) {
        status = judge_locked(proof, out_agrees, diag);
        device->proving.proofs.counters.unstable += *out_agrees;
    }
    if (status == VYRE_DEVICE_LOST)
        return status;
    enum vyre_status restored = vyre_written_restore_locked(&proof->written, before(proof),
                                                            status == VYRE_OK ? diag : NULL);
    if (restored != VYRE_OK)
        vyre_written_poison(&proof->written, restored);
    else if (status != VYRE_OK)
        vyre_written_heal(&proof->written);
    return status == VYRE_OK ? restored : status;
}

/* A copy of the batch that does not touch the caller's memory. */
static enum vyre_status copy_batch(struct proof *proof, struct vyre_diag *diag)
{
    enum vyre_status status = vyre_batch_create(proof->device, NULL, &proof->batch, diag);
    if (status != VYRE_OK)
        return status;
    struct vyre_body *copy = proof->batch->body;
    if (!vyre_body_copy(copy, proof->body))
        return out_of_memory(proof, diag);
    struct vyre_command *commands = copy->commands.items;
    struct vyre_body_kernel *kernels = copy->kernels.items;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < copy->view.command_count; i++) {
        if (commands[i].type == VYRE_COMMAND_DOWNLOAD)
            continue;
        commands[kept] = commands[i];
        kernels[kept++] = kernels[i];
    }
    copy->view.command_count = kept;
    copy->hashed = false;
    copy->keyed = false;
    copy->entry = (struct vyre_shape_ref){0};
    memset(copy->words, 0, sizeof copy->words);
    return VYRE_OK;
}

/* Makes the check and notes the result. */
static enum vyre_status settle_locked(struct proof *proof, bool is_patient, struct vyre_diag *diag)
{
    struct vyre_device *device = proof->device;
    bool right = false;
    enum vyre_status status = compare_locked(proof, is_patient, &right, diag);
    if (status != VYRE_OK)
        return status;
    if (right && proof->epoch != vyre_proof_epoch(device))
        return put_off(proof, diag, "the generated code was built again meanwhile",
                       "Submit the batch again.");
    if (right) {
        device->proving.proofs.counters.proven++;
        note_codes(proof, NULL);
        return VYRE_OK;
    }
    describe_difference(proof, proof->reason);
    device->proving.proofs.counters.refused++;
    note_codes(proof, proof->reason);
    return vyre_diag_set(diag, VYRE_DIAG_PROOF_DIFFERS, device->label, 0, "kernel %s: %s",
                         proof->codes[0].kernel, proof->reason);
}

/* ---- The device belongs to the prover --------------------------------------------------------- */

static bool is_inside_callback(const struct vyre_device *device)
{
    return atomic_load_explicit(&device->progress.calling, memory_order_relaxed) != 0 &&
           pthread_equal(
               (pthread_t)atomic_load_explicit(&device->progress.caller, memory_order_relaxed),
               pthread_self());
}

/* Callbacks pass, because their thread may be the one that completes the work being waited for. */
void vyre_prove_gate_slow_locked(struct vyre_device *device)
{
    while (device->proving.is_on && !is_inside_callback(device)) {
        vyre_lock_release(&device->lock);
        vyre_lock_acquire(&device->proving.lock);
        vyre_lock_release(&device->proving.lock);
        vyre_lock_acquire(&device->lock);
    }
}

/*
 * Waits until nothing is in flight and no callback runs, with the gate closed. False if the device
 * is lost, callbacks keep submitting, or one does not return, perhaps because it waits for
 * something held here.
 */
static bool drain_locked(struct vyre_device *device)
{
    uint64_t begin_ns = vyre_clock_now_ns();
    for (uint32_t rounds = 0; rounds < DRAIN_ROUNDS && !vyre_device_is_lost(device);) {
        uint64_t submitted =
            atomic_load_explicit(&device->progress.submitted, memory_order_relaxed);
        bool idle = vyre_device_is_complete(device, submitted);
        /* acquire: pairs with the release after a callback. */
        uint32_t calling = atomic_load_explicit(&device->progress.calling, memory_order_acquire);
        if (idle && calling == 0)
            return true;
        if (idle && vyre_clock_now_ns() - begin_ns > CALLBACK_NS)
            return false;
        vyre_lock_release(&device->lock);
        if (idle)
            vyre_futex_wait(&device->progress.calling, calling, NAP_NS);
        else
            vyre_device_look(device, submitted, VYRE_FOREVER);
        vyre_lock_acquire(&device->lock);
        rounds += !idle;
    }
    return false;
}

static bool reads_or_writes_poison(struct vyre_device *device, const struct vyre_body *body)
{
    struct vyre_buffer *const *owners = body->owners.items;
    bool poisoned = false;
    if (atomic_load_explicit(&device->progress.poisoned, memory_order_relaxed) == 0)
        return false;
    vyre_lock_acquire(&device->failure_lock);
    for (uint32_t i = 0; !poisoned && i < body->view.range_count; i++)
        poisoned = owners[i]->poison.count > 0;
    vyre_lock_release(&device->failure_lock);
    return poisoned;
}

/* Whether the batch can be proven; allocates what that needs. */
static enum vyre_status prepare_locked(struct proof *proof, struct vyre_diag *diag)
{
    struct vyre_device *device = proof->device;
    if (proof->body->host_overlap)
        return put_off(proof, diag, "its uploads depend on its downloads",
                       "Submit a batch of these kernels without them first, or set no_proof.");
    if (reads_or_writes_poison(device, proof->body))
        return put_off(proof, diag, "its buffers hold undefined bytes since a batch failed",
                       "Write these bytes, or submit these kernels on other buffers first.");
    if (!vyre_written_init(&proof->written, device, proof->body))
        return out_of_memory(proof, diag);
    if (proof->written.total_bytes > device->desc.proof_bytes)
        return vyre_diag_set(diag, VYRE_DIAG_PROOF_LIMIT, device->label, 0,
                             "the batch writes %zu bytes; a proof may save %llu",
                             proof->written.total_bytes,
                             (unsigned long long)device->desc.proof_bytes);
    proof->memory = vyre_memory_allocate(&device->allocator, 3 * proof->written.total_bytes + 1, 1);
    if (!proof->memory)
        return out_of_memory(proof, diag);
    return find_codes(proof, diag);
}

/* The device is idle and belongs to the prover: other threads wait at the gate. */
static enum vyre_status prove_locked(struct proof *proof, bool is_patient, struct vyre_diag *diag)
{
    struct vyre_device *device = proof->device;
    enum vyre_status status = prepare_locked(proof, diag);
    if (status != VYRE_OK)
        return status;
    vyre_lock_release(&device->lock);
    status = copy_batch(proof, diag);
    vyre_lock_acquire(&device->lock);
    if (status == VYRE_OK)
        status = vyre_batch_check_locked(device, proof->body, diag);
    if (status == VYRE_OK)
        status = settle_locked(proof, is_patient, diag);
    vyre_lock_release(&device->lock);
    vyre_batch_destroy(&proof->batch);
    if (proof->reason[0])
        log_refusal(proof);
    vyre_lock_acquire(&device->lock);
    return status;
}

static void free_proof(struct proof *proof)
{
    const struct vyre_allocator *allocator = &proof->device->allocator;
    if (proof->codes)
        vyre_memory_free(allocator, proof->codes, proof->code_capacity * sizeof *proof->codes,
                         _Alignof(struct code));
    if (proof->memory)
        vyre_memory_free(allocator, proof->memory, 3 * proof->written.total_bytes + 1, 1);
    vyre_written_deinit(&proof->written);
}

/* Behind the closed gate: an earlier prover may have settled what was due. */
static enum vyre_status prove_if_due_locked(struct proof *proof, bool is_patient,
                                            struct vyre_diag *diag)
{
    struct vyre_device *device = proof->device;
    const struct vyre_refusal *refusal = NULL;
    if (!drain_locked(device))
        return vyre_device_is_lost(device)
                   ? vyre_device_lost_status(device, diag)
                   : put_off(proof, diag, "the device does not become idle: callbacks keep it busy",
                             "Submit a batch of these kernels before callbacks are under way.");
    enum vyre_status status = vyre_batch_check_locked(device, proof->body, diag);
    if (status != VYRE_OK)
        return status;
    switch (vyre_proof_state_locked(device, proof->body, proof->mode, proof->variant, &refusal)) {
    case VYRE_PROOF_NOT_NEEDED:
        return VYRE_OK;
    case VYRE_PROOF_REFUSED:
        return refuse(device, refusal, diag);
    case VYRE_PROOF_DUE:
        break;
    }
    return prove_locked(proof, is_patient, diag);
}

enum vyre_status vyre_prove_locked(struct vyre_device *device, struct vyre_body *body,
                                   enum vyre_mode mode, uint32_t variant, bool is_patient,
                                   struct vyre_diag *diag)
{
    const struct vyre_refusal *refusal = NULL;
    struct proof proof = {.device = device, .body = body, .mode = mode, .variant = variant};
    enum vyre_proof_state state = vyre_proof_state_locked(device, body, mode, variant, &refusal);
    enum vyre_status status = VYRE_OK;
    if (state == VYRE_PROOF_NOT_NEEDED)
        return VYRE_OK;
    if (state == VYRE_PROOF_REFUSED)
        return refuse(device, refusal, diag);
    if (is_inside_callback(device)) {
        status = put_off(&proof, diag, "a callback cannot wait for a proof",
                         "Submit a batch of these kernels outside of callbacks first.");
    } else {
        uint64_t begin_ns = vyre_device_now_ns(device);
        vyre_prove_gate_locked(device);
        device->proving.is_on = true;
        vyre_lock_acquire(&device->proving.lock);
        status = prove_if_due_locked(&proof, is_patient, diag);
        device->proving.is_on = false;
        vyre_lock_release(&device->proving.lock);
        device->proving.proofs.counters.time_ns += vyre_device_now_ns(device) - begin_ns;
    }
    device->proving.proofs.counters.put_off += status == VYRE_LIMIT || status == VYRE_OUT_OF_MEMORY;
    free_proof(&proof);
    return status;
}
