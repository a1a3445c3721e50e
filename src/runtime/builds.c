/*
 * builds.c: building what a batch needs.
 */
#include "runtime/builds.h"

#include "runtime/batch.h"
#include "runtime/facts.h"
#include "runtime/internal.h"
#include "runtime/prove.h"
#include "runtime/shape_keys.h"

void vyre_builds_init(struct vyre_builds *builds, uint64_t stated_ns)
{
    *builds = (struct vyre_builds){.build_ns = stated_ns};
}

static void note_time(struct vyre_builds *builds, uint64_t time_ns)
{
    builds->build_ns = builds->made == 0 ? time_ns : (builds->build_ns * 3 + time_ns) / 4;
}

static void note_end(struct vyre_builds *builds)
{
    /* Relaxed: waiting threads take the lock before they look. */
    atomic_fetch_add_explicit(&builds->ended, 1, memory_order_relaxed);
    vyre_futex_wake(&builds->ended, UINT32_MAX >> 1);
}

/* Carries out one build. Releases the lock during its long part. */
static enum vyre_status carry_out_locked(struct vyre_device *device, void *build,
                                         struct vyre_diag *diag)
{
    struct vyre_builds *builds = &device->builds;
    uint64_t begin_ns = vyre_device_now_ns(device);
    vyre_lock_release(&device->lock);
    device->ops->build_run(device->native, build);
    uint64_t run_ns =
        vyre_device_now_ns(device) - begin_ns; /* without waiting for the lock and the gate */
    vyre_lock_acquire(&device->lock);
    vyre_prove_gate_locked(device); /* ending the build now would change what is being proven */
    enum vyre_status status = device->ops->build_end(device->native, build, diag);
    if (status == VYRE_OK) {
        note_time(builds, run_ns);
        builds->made++;
    }
    builds->refused += status == VYRE_UNSUPPORTED;
    note_end(builds);
    return status;
}

/* Waits until a build has ended. */
static void wait_for_end_locked(struct vyre_device *device)
{
    uint32_t ended = atomic_load_explicit(&device->builds.ended, memory_order_relaxed);
    vyre_lock_release(&device->lock);
    vyre_futex_wait(&device->builds.ended, ended, UINT64_MAX);
    vyre_lock_acquire(&device->lock);
}

enum vyre_status vyre_build_now_locked(struct vyre_device *device, struct vyre_body *body,
                                       enum vyre_mode mode, uint32_t variant, bool *out_built,
                                       struct vyre_diag *diag)
{
    enum vyre_status status = VYRE_OK;
    *out_built = false;
    if (!(device->facts.built_modes >> mode & 1u))
        return VYRE_OK;
    /* A backend that cannot keep all of it at once is asked at most once per command. */
    uint32_t left = body->view.command_count;
    while (status == VYRE_OK && left > 0) {
        void *build = NULL;
        status = device->ops->build_begin(device->native, &body->view, mode, variant, &build, diag);
        if (status != VYRE_BUSY && !build)
            break;
        *out_built = true;
        if (build)
            status = carry_out_locked(device, build, diag);
        else
            wait_for_end_locked(device); /* another thread builds what this batch needs */
        left -= status != VYRE_BUSY;
        if (status == VYRE_OK || status == VYRE_BUSY)
            status = vyre_batch_check_locked(device, body, diag);
    }
    return status;
}

/* ---- The queue -------------------------------------------------------------------------------- */

static bool is_same(const struct vyre_build_token *a, const struct vyre_build_token *b)
{
    return a->candidate == b->candidate && vyre_hash128_equal(a->shape, b->shape);
}

bool vyre_builds_has_locked(const struct vyre_builds *builds, struct vyre_build_token token)
{
    bool found = builds->is_running && is_same(&builds->running, &token);
    for (uint32_t i = 0; !found && i < builds->count; i++)
        found = is_same(&builds->jobs[(builds->first + i) % VYRE_BUILDS_MAX].token, &token);
    return found;
}

/* Frees a build that will not be carried out. */
static void drop_locked(struct vyre_device *device, void *build)
{
    enum vyre_status dropped = device->ops->build_end(device->native, build, NULL);
    (void)dropped;
    note_end(&device->builds);
}

/*
 * What is known of the shape changed, so it is compared again. A failed build is not retried soon.
 */
static void reopen_locked(struct vyre_device *device, struct vyre_build_token token,
                          enum vyre_status status)
{
    struct vyre_shape *shape = vyre_shapes_find(&device->shapes, token.shape);
    if (!shape)
        return;
    if (status == VYRE_OK)
        shape->found.builds += shape->found.builds < UINT32_MAX;
    else if (status != VYRE_BUSY)
        vyre_facts_failed_locked(shape, token.candidate, status == VYRE_UNSUPPORTED, false);
    vyre_governor_reopen(shape);
}

static void run_next_locked(struct vyre_device *device)
{
    struct vyre_builds *builds = &device->builds;
    struct vyre_build_job job = builds->jobs[builds->first];
    struct vyre_diag diag;
    vyre_diag_reset(&diag);
    builds->first = (builds->first + 1) % VYRE_BUILDS_MAX;
    builds->count--;
    if (builds->stop || device->loss.is_known) {
        drop_locked(device, job.build);
        return;
    }
    builds->is_running = true;
    builds->running = job.token;
    enum vyre_status status = carry_out_locked(device, job.build, &diag);
    builds->is_running = false;
    note_end(builds); /* for threads that wait until nothing runs */
    reopen_locked(device, job.token, status);
    if (status == VYRE_DEVICE_LOST) {
        (void)vyre_device_unlock(device, status, &diag);
        vyre_lock_acquire(&device->lock);
    }
}

static void *run_queue(void *user)
{
    struct vyre_device *device = user;
    struct vyre_builds *builds = &device->builds;
    vyre_lock_acquire(&device->lock);
    for (;;) {
        while (builds->count > 0)
            run_next_locked(device);
        if (builds->stop)
            break;
        /* Relaxed: it is written under the lock. */
        uint32_t news = atomic_load_explicit(&builds->news, memory_order_relaxed);
        vyre_lock_release(&device->lock);
        vyre_futex_wait(&builds->news, news, UINT64_MAX);
        vyre_lock_acquire(&device->lock);
    }
    vyre_lock_release(&device->lock);
    return NULL;
}

static void wake_queue(struct vyre_builds *builds)
{
    /* Relaxed: the thread takes the lock before it looks. */
    atomic_fetch_add_explicit(&builds->news, 1, memory_order_relaxed);
    vyre_futex_wake(&builds->news, 1);
}

/* Puts a build into the queue, which has room. VYRE_BUSY: it waits there. */
static enum vyre_status push_locked(struct vyre_device *device, void *build,
                                    struct vyre_build_token token, struct vyre_diag *diag)
{
    struct vyre_builds *builds = &device->builds;
    if (!builds->is_started)
        builds->is_started = pthread_create(&builds->thread, NULL, run_queue, device) == 0;
    if (!builds->is_started) {
        drop_locked(device, build);
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, device->label, 0,
                             "no thread for builds can be started");
    }
    builds->jobs[(builds->first + builds->count++) % VYRE_BUILDS_MAX] =
        (struct vyre_build_job){build, token};
    wake_queue(builds);
    return VYRE_BUSY;
}

static bool has_room(const struct vyre_builds *builds)
{
    return builds->count < VYRE_BUILDS_MAX && !builds->stop;
}

static bool is_unbuilt(struct vyre_device *device, const struct vyre_body *body,
                       const struct vyre_candidate *way)
{
    return device->ops->batch_check &&
           device->ops->batch_check(device->native, &body->view, way->mode, way->variant, NULL) ==
               VYRE_FIT_UNBUILT;
}

enum vyre_status vyre_build_later_locked(struct vyre_device *device, struct vyre_body *body,
                                         uint32_t candidate, struct vyre_diag *diag)
{
    const struct vyre_candidate *way = &device->candidates.list[candidate];
    const struct vyre_build_token token = {vyre_body_shape(body), candidate};
    void *build = NULL;
    if (!(device->facts.built_modes >> way->mode & 1u))
        return VYRE_OK;
    if (vyre_builds_has_locked(&device->builds, token))
        return VYRE_BUSY;
    if (!has_room(&device->builds)) /* beginning a build only to drop it takes time and memory */
        return is_unbuilt(device, body, way) ? VYRE_BUSY : VYRE_OK;
    enum vyre_status status = device->ops->build_begin(device->native, &body->view, way->mode,
                                                       way->variant, &build, diag);
    return build ? push_locked(device, build, token, diag) : status;
}

void vyre_builds_drain(struct vyre_device *device)
{
    struct vyre_builds *builds = &device->builds;
    vyre_lock_acquire(&device->lock);
    while (builds->count > 0 || builds->is_running)
        wait_for_end_locked(device);
    vyre_lock_release(&device->lock);
}

void vyre_builds_stop(struct vyre_device *device)
{
    struct vyre_builds *builds = &device->builds;
    vyre_lock_acquire(&device->lock);
    builds->stop = true;
    bool joins = builds->is_started;
    wake_queue(builds);
    vyre_lock_release(&device->lock);
    if (joins)
        pthread_join(builds->thread, NULL);
    builds->is_started = false;
}
