/*
 * builds.h: building what a batch needs in a mode, before it is submitted.
 *
 * The backend splits a build into three steps (backend.h: build_begin, build_run, build_end). The
 * long one, build_run, runs without the device's lock. Meanwhile other threads submit, kernels may
 * be destroyed, and the device may be lost. The backend holds references to what a build uses, so
 * the runtime keeps nothing for it, and destroyed objects are freed as usual.
 *
 * Required modes and warm-up build at once. In auto the batch runs in another mode, and a queue
 * with one thread builds in the background:
 *
 *   jobs  [first] [first + 1] ... [first + count - 1]       in order; VYRE_BUILDS_MAX at most
 *           '--> the thread takes one, runs it without the lock, ends it with the lock
 *
 * The thread starts with the first job. When the device is lost or closed, the current build is
 * finished and the others are dropped. The queue allocates no memory.
 *
 * Thread-safety: the caller holds the device's lock, except where it says otherwise.
 */
#ifndef VYRE_RUNTIME_BUILDS_H
#define VYRE_RUNTIME_BUILDS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vyre/vyre.h>

struct vyre_body;

#define VYRE_BUILDS_MAX 16

/* What a build is for. */
struct vyre_build_token {
    struct vyre_hash128 shape;
    uint32_t candidate;
};

struct vyre_build_job {
    void *build; /* Owned: from build_begin */
    struct vyre_build_token token;
};

struct vyre_builds {
    uint64_t made;     /* builds that ran and succeeded */
    uint64_t refused;  /* ... after which the backend still refuses what they were for */
    uint64_t build_ns; /* a running mean of one build's time; at first what the backend states */
    _Atomic uint32_t ended; /* counts all that ended: threads that wait for one sleep on it */
    struct vyre_build_job jobs[VYRE_BUILDS_MAX];
    uint32_t first;
    uint32_t count;
    bool is_running; /* the thread has a job that it took from the list: ... */
    struct vyre_build_token running;
    bool is_started;
    bool stop;
    pthread_t thread;
    _Atomic uint32_t news; /* counts jobs and the stop: the thread sleeps on it */
};

void vyre_builds_init(struct vyre_builds *builds, uint64_t stated_ns);

/*
 * Builds at once all that the batch lacks in a mode. Releases the lock meanwhile: afterwards the
 * device may be lost and the batch stale, whatever the result. *out_built: something was built, or
 * waited for. VYRE_UNSUPPORTED with the reason if the backend refuses.
 */
VYRE_NODISCARD enum vyre_status vyre_build_now_locked(struct vyre_device *device,
                                                      struct vyre_body *body, enum vyre_mode mode,
                                                      uint32_t variant, bool *out_built,
                                                      struct vyre_diag *diag);

/*
 * In auto, has a background build make what the batch lacks in a candidate. VYRE_OK: nothing is
 * missing. VYRE_BUSY: it is being built or queued, or the queue is full and the caller should ask
 * again. Other failures: it cannot be built.
 */
VYRE_NODISCARD enum vyre_status vyre_build_later_locked(struct vyre_device *device,
                                                        struct vyre_body *body, uint32_t candidate,
                                                        struct vyre_diag *diag);

/* Whether a build with that token is running or queued. */
bool vyre_builds_has_locked(const struct vyre_builds *builds, struct vyre_build_token token);

/* Waits until nothing is being built or queued. The caller does not hold the lock. */
void vyre_builds_drain(struct vyre_device *device);

/*
 * Finishes the current build, drops the others and ends the thread. The caller does not hold the
 * lock.
 */
void vyre_builds_stop(struct vyre_device *device);

#endif
