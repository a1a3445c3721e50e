/*
 * launch.c: submit and record: small work runs on the caller, large work goes to the ring.
 */
#include "backend/cpu/device.h"
#include "base/clock.h"
#include "base/memory.h"

#define TICKETS_MAX ((1u << 23) - 1)
/* Longer batches are always timed: compared with them, reading the clock costs nothing. */
#define ALWAYS_TIMED_NS 10000

struct cpu_recording {
    struct vyre_cpu_program *program; /* Owned */
    uint32_t cost_version;            /* the version of the costs that it was built with */
    uint64_t last_sequence;
};

/* ---- Estimates -------------------------------------------------------------------------------- */

/* What a view's backend_words hold. Computed again when a kernel's cost has changed. */
enum { WORD_VERSION, WORD_COST_NS, WORD_FLAGS };
enum { FLAG_KNOWN = 1, FLAG_PARALLEL = 2 };

static struct vyre_cpu_grain grain_of(const struct vyre_cpu_device *device)
{
    return (struct vyre_cpu_grain){.participants = device->pool.worker_count + 1,
                                   .barrier_ns = device->pool.handoff_ns};
}

/* Time that all participants save on `cost_ns` of work that divides evenly. */
static uint64_t gain_ns(const struct vyre_cpu_device *device, uint64_t cost_ns)
{
    return cost_ns - cost_ns / (device->pool.worker_count + 1);
}

static void estimate(const struct vyre_cpu_device *device, const struct vyre_batch_view *view,
                     uint32_t version)
{
    uint64_t total_ns = 0;
    uint64_t flags = FLAG_KNOWN;
    uint64_t worth_ns = VYRE_CPU_WORTH_BARRIERS * device->pool.handoff_ns;
    for (uint32_t i = 0; i < view->command_count; i++) {
        const struct vyre_command *command = &view->commands[i];
        bool known;
        uint64_t cost_ns = vyre_cpu_command_cost_ns(view, command, &known);
        total_ns += cost_ns;
        if (!known)
            flags &= ~(uint64_t)FLAG_KNOWN;
        if (gain_ns(device, cost_ns) > worth_ns && vyre_cpu_command_groups(command) > 1)
            flags |= FLAG_PARALLEL;
    }
    if (!view->is_chain && gain_ns(device, total_ns) > worth_ns)
        flags |= FLAG_PARALLEL;
    view->backend_words[WORD_COST_NS] = total_ns;
    view->backend_words[WORD_FLAGS] = flags;
    view->backend_words[WORD_VERSION] = version;
}

/* ---- Submit ----------------------------------------------------------------------------------- */

/* Whether the batch should run at once, on the caller's thread. */
static bool runs_inline(struct vyre_cpu_device *device, const struct vyre_submission *submission)
{
    const uint64_t *words = submission->view->backend_words;
    bool trusted = (words[WORD_FLAGS] & FLAG_KNOWN) && !device->no_inline;
    uint64_t cost_ns = words[WORD_COST_NS];
    if (submission->mode == VYRE_MODE_PERSISTENT || submission->called_back || !trusted ||
        !vyre_cpu_ring_is_complete(&device->ring, submission->sequence - 1))
        return false;
    if (!(words[WORD_FLAGS] & FLAG_PARALLEL))
        return cost_ns <= device->pool.wake_ns;
    if (vyre_cpu_pool_is_awake(&device->pool))
        return false;
    /* The workers sleep. They are woken once they would have saved as much as waking them costs. */
    device->missed_ns += gain_ns(device, cost_ns);
    if (cost_ns > device->pool.wake_ns || device->missed_ns > device->pool.wake_ns) {
        device->missed_ns = 0;
        return false;
    }
    return true;
}

/* Each time one command of a timed batch is measured, so that the costs stay current. */
static void run_sampled(struct vyre_cpu_device *device, const struct vyre_submission *submission)
{
    const struct vyre_batch_view *view = submission->view;
    uint32_t count = view->command_count;
    uint32_t chosen = count ? (uint32_t)(device->sample++ % count) : 0;
    if (submission->times) {
        const struct vyre_cpu_times asked = {submission->times, submission->time_count};
        vyre_cpu_run_timed(&device->caller, view, chosen, &asked);
        return;
    }
    if (count == 0 || view->commands[chosen].type != VYRE_COMMAND_DISPATCH) {
        vyre_cpu_run_commands(&device->caller, view, 0, count);
        return;
    }
    const struct vyre_command *command = &view->commands[chosen];
    vyre_cpu_run_commands(&device->caller, view, 0, chosen);
    (void)vyre_cpu_run_measured(&device->caller, view, command, 0,
                                vyre_cpu_command_groups(command));
    vyre_cpu_run_commands(&device->caller, view, chosen + 1, count - chosen - 1);
}

static enum vyre_status run_inline(struct vyre_cpu_device *device,
                                   const struct vyre_submission *submission, struct vyre_diag *diag)
{
    const struct vyre_batch_view *view = submission->view;
    struct vyre_completion completion = {.sequence = submission->sequence};
    if (submission->timed || submission->times) {
        uint64_t start_ns = vyre_clock_now_ns();
        run_sampled(device, submission);
        uint64_t elapsed_ns = vyre_clock_now_ns() - start_ns;
        completion.device_ns = submission->timed ? elapsed_ns : 0;
    } else {
        vyre_cpu_run_commands(&device->caller, view, 0, view->command_count);
    }
    /* The loss may have ended the run early. */
    if (vyre_is_lost(&device->ring.loss))
        return vyre_diag_set(diag, VYRE_DIAG_DEVICE_LOST, NULL, 0,
                             "the device was lost while the batch ran");
    device->host.complete(device->host.context, &completion);
    /*
     * No thread sleeps for this job: none has its ticket yet, and wait_idle takes the lock.
     * release: pairs with (F) of ring.h. Completed is stored first, so that a worker that sees the
     * new head finds nothing to do.
     */
    atomic_store_explicit(&device->ring.completed, submission->sequence, memory_order_release);
    atomic_store_explicit(&device->ring.head, submission->sequence, memory_order_release);
    return VYRE_OK;
}

/* Cuts the batch into tasks, in the memory of the job or of the recording. */
static enum vyre_status build_program(struct vyre_cpu_device *device,
                                      const struct vyre_batch_view *view,
                                      struct vyre_cpu_program *program, struct vyre_diag *diag)
{
    struct vyre_cpu_grain grain = grain_of(device);
    struct vyre_batch_plan plan;
    if (!view->is_chain) {
        enum vyre_status status = device->host.plan(device->host.context, view, &plan, diag);
        if (status != VYRE_OK)
            return status;
    }
    if (program && vyre_cpu_program_build(program, view, view->is_chain ? NULL : &plan, &grain) &&
        program->task_count <= TICKETS_MAX)
        return VYRE_OK;
    return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, view->label, 0,
                         "no memory for the tasks of a batch");
}

static void reclaim_program(struct vyre_cpu_device *device, struct vyre_cpu_job *job)
{
    if (!job->own)
        return;
    job->own->next = device->free_programs;
    device->free_programs = job->own;
    job->own = NULL;
}

/*
 * An empty program for the job: one that a complete job has left, so that a steady load reuses the
 * same few and stops allocating. `job` is free, even if the ring does not know yet.
 */
static struct vyre_cpu_program *take_program(struct vyre_cpu_device *device,
                                             struct vyre_cpu_job *job)
{
    uint64_t completed = atomic_load_explicit(&device->ring.completed, memory_order_acquire);
    uint64_t slots = device->ring.mask + 1;
    /* Jobs that ran on their caller had no slot, so nothing is older than one lap of the ring. */
    if (completed - device->reclaimed > slots)
        device->reclaimed = completed - slots;
    while (device->reclaimed < completed) {
        struct vyre_cpu_job *old = vyre_cpu_ring_slot(&device->ring, ++device->reclaimed);
        if (old->sequence <= completed) /* else a later, incomplete job is in the slot */
            reclaim_program(device, old);
    }
    reclaim_program(device, job);
    job->own = device->free_programs;
    if (job->own)
        device->free_programs = job->own->next;
    else
        job->own = vyre_cpu_program_create(&device->allocator);
    return job->own;
}

/* The program of a job: none (one task), a recording's, or one made now. */
static enum vyre_status choose_program(struct vyre_cpu_device *device,
                                       const struct vyre_submission *submission,
                                       struct vyre_cpu_job *job, struct vyre_diag *diag)
{
    const struct vyre_batch_view *view = submission->view;
    uint32_t version = atomic_load_explicit(&device->pool.cost_version, memory_order_relaxed);
    job->program = NULL;
    if (!(view->backend_words[WORD_FLAGS] & FLAG_PARALLEL))
        return VYRE_OK;
    struct cpu_recording *recording = submission->recording;
    if (!recording) {
        job->program = take_program(device, job);
        return build_program(device, view, job->own, diag);
    }
    bool idle = vyre_cpu_ring_is_complete(&device->ring, recording->last_sequence);
    if (recording->cost_version != version && idle) {
        enum vyre_status status = build_program(device, view, recording->program, diag);
        if (status != VYRE_OK)
            return status;
        recording->cost_version = version;
    }
    recording->last_sequence = submission->sequence;
    job->program = recording->program;
    return VYRE_OK;
}

static enum vyre_status enqueue(struct vyre_cpu_device *device,
                                const struct vyre_submission *submission, struct vyre_diag *diag)
{
    struct vyre_cpu_job *job = vyre_cpu_ring_slot(&device->ring, submission->sequence);
    const uint64_t *words = submission->view->backend_words;
    enum vyre_status status = choose_program(device, submission, job, diag);
    if (status != VYRE_OK)
        return status;
    bool persistent = submission->mode == VYRE_MODE_PERSISTENT;
    bool known = (words[WORD_FLAGS] & FLAG_KNOWN) != 0;
    job->sequence = submission->sequence;
    job->view = submission->view;
    job->ticket_count = job->program ? job->program->task_count : 1;
    job->timed = submission->timed || words[WORD_COST_NS] >= ALWAYS_TIMED_NS;
    job->learn = !known;
    job->sampled = submission->times != NULL;
    if (job->sampled)
        device->ring.asked = (struct vyre_cpu_times){submission->times, submission->time_count};
    job->start_ns = 0;
    if (job->ticket_count == 0) { /* no commands */
        job->program = NULL;
        job->ticket_count = 1;
    }
    uint32_t tickets = job->ticket_count;
    if (persistent)
        vyre_cpu_pool_stay(&device->pool);
    bool helpable = known && !persistent && !submission->called_back && !device->no_inline;
    vyre_cpu_ring_publish(&device->ring, job, helpable);
    vyre_cpu_pool_wake(&device->pool, tickets);
    return VYRE_OK;
}

enum vyre_status vyre_cpu_submit(void *native, const struct vyre_submission *submission,
                                 struct vyre_diag *diag)
{
    struct vyre_cpu_device *device = native;
    const struct vyre_batch_view *view = submission->view;
    uint32_t version = atomic_load_explicit(&device->pool.cost_version, memory_order_relaxed);
    if (view->backend_words[WORD_VERSION] != version)
        estimate(device, view, version);
    if (runs_inline(device, submission))
        return run_inline(device, submission, diag);
    return enqueue(device, submission, diag);
}

void vyre_cpu_recording_destroy(void *native, void *native_recording)
{
    struct vyre_cpu_device *device = native;
    struct cpu_recording *recording = native_recording;
    vyre_cpu_program_destroy(recording->program);
    vyre_memory_free(&device->allocator, recording, sizeof *recording,
                     _Alignof(struct cpu_recording));
}

enum vyre_status vyre_cpu_record(void *native, const struct vyre_batch_view *view, uint32_t variant,
                                 void **out_recording, size_t *out_size_bytes,
                                 struct vyre_diag *diag)
{
    (void)variant; /* the device offers none */
    struct vyre_cpu_device *device = native;
    struct cpu_recording *recording =
        vyre_memory_allocate(&device->allocator, sizeof *recording, _Alignof(struct cpu_recording));
    if (!recording)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, view->label, 0,
                             "no memory for a recording");
    recording->program = vyre_cpu_program_create(&device->allocator);
    recording->cost_version =
        atomic_load_explicit(&device->pool.cost_version, memory_order_relaxed);
    enum vyre_status status = build_program(device, view, recording->program, diag);
    if (status != VYRE_OK) {
        vyre_cpu_recording_destroy(device, recording);
        return status;
    }
    *out_recording = recording;
    *out_size_bytes = sizeof *recording + vyre_cpu_program_size(recording->program);
    return VYRE_OK;
}
