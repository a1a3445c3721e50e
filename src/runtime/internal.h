/*
 * internal.h: the objects behind the public handles.
 *
 *   instance ── backends[]          each: ops table + its state
 *      │
 *   device ── lock                  one submit, create or destroy at a time
 *      ├── objects                  buffers, kernels, batches: alive, or destroyed with work in flight
 *      ├── results                  a ring, one entry per submission
 *      ├── loss                     why the device is lost, and what its work may still touch
 *      ├── costs, candidates        deciding: what each way to run a batch costs,
 *      │   shapes, governor           what was seen, found out and measured of each shape,
 *      │   execution                  what each kernel takes per group
 *      ├── planner, recordings      carrying out: hazards and arms, replayable shapes,
 *      │   builds, proving            what modes need besides the kernels, and whether it is trusted
 *      ├── measure, decisions, emit  measuring and reporting
 *      └── progress                 counters that threads share without the lock
 *
 * Nothing that work in flight may touch is freed. A destroyed object goes to the dead list with the
 * sequence of the last submission before its destruction, and is freed when that submission is
 * complete. So submit retains nothing. The device's epoch, which counts destructions, shows whether
 * a batch may name a dead object: a batch built in an older epoch is checked object by object.
 */
#ifndef VYRE_RUNTIME_INTERNAL_H
#define VYRE_RUNTIME_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>

#include <vyre/backend.h>
#include <vyre/vyre.h>

#include "base/clock.h"
#include "base/futex.h"
#include "observe/decisions.h"
#include "plan/batch_plan.h"
#include "runtime/builds.h"
#include "runtime/candidates.h"
#include "runtime/execution.h"
#include "runtime/governor.h"
#include "runtime/measure.h"
#include "runtime/poison.h"
#include "runtime/proofs.h"
#include "runtime/recordings.h"
#include "runtime/shapes.h"

#define VYRE_CACHE_LINE_BYTES 64
#define VYRE_LABEL_BYTES      64

struct vyre_instance_backend {
    const struct vyre_backend_ops *ops; /* Borrowed */
    void *state;                        /* Owned by the backend; NULL if it has none or is absent */
    struct vyre_diag absent;            /* why it is absent; id NONE if it is present */
};

struct vyre_instance {
    struct vyre_allocator allocator;
    vyre_log_function *log;
    void *log_user;
    struct vyre_audit *audit; /* Borrowed; may be NULL */
    struct vyre_observer observer;
    _Atomic uint64_t next_identity;
    size_t backend_count;
    struct vyre_instance_backend backends[VYRE_BACKENDS_MAX];
};

/* Identities count from 1 over all objects of an instance and are never reused. */
uint64_t vyre_instance_new_identity(struct vyre_instance *instance);

/* ---- Objects that outlive their destruction --------------------------------------------------- */

struct vyre_body;
struct vyre_object;
typedef void vyre_object_free(struct vyre_device *device, struct vyre_object *object);

/* The first member of everything that a device owns. */
struct vyre_object {
    struct vyre_device *device; /* Borrowed */
    struct vyre_object *next,
        *prev; /* in the device's list of living objects, or `next` in the list of dead ones */
    vyre_object_free *free; /* called under the lock, once no work uses it */
    uint64_t last_sequence; /* once dead: free it when this submission is complete */
    uint64_t identity;      /* 0 once dead */
    char label[VYRE_LABEL_BYTES];
};

/* Caller holds the device's lock. */
void vyre_object_link_locked(struct vyre_device *device, struct vyre_object *object,
                             vyre_object_free *free_function, const char *label);
void vyre_object_bury_locked(struct vyre_object *object);
void vyre_device_reclaim_locked(struct vyre_device *device);

struct vyre_buffer {
    struct vyre_object object;
    void *native;
    unsigned char *address; /* NULL without host addresses */
    size_t size_bytes;
    bool is_mapped; /* the caller has its address: bytes may change while work is in flight */
    struct vyre_poison poison;
    uint64_t shape_mark; /* shape_keys.c: the run that last saw it, and its number there */
    uint32_t shape_number;
};

struct vyre_kernel {
    struct vyre_object object;
    void *native;
    struct vyre_binding_plan plan;
    struct vyre_binding bindings[VYRE_KERNEL_BINDINGS_MAX];
    struct vyre_kernel_interface interface;
    uint32_t constants_size_bytes;
    struct vyre_hash128 content;   /* the same in every process; zero: not known */
    uint32_t last_tick;            /* submit.c: the batch that counted it last */
    uint8_t runs[VYRE_MODE_COUNT]; /* batches that ran it, by mode, until it is not cold */
    bool plain_ranges;             /* no tables, no local memory: bindings need no second pass */
    struct vyre_kernel_execution execution; /* what it takes on the device */
};

/* ---- Device ----------------------------------------------------------------------------------- */

/* One submission. Written under the lock before the backend sees it; `status` and times by complete. */
struct vyre_result_entry {
    uint64_t sequence;
    struct vyre_batch_result result;
    struct vyre_diag_brief {
        enum vyre_diag_id id;
        int64_t native_code;
        uint64_t cause; /* the sequence of the batch that failed first; 0: this one */
    } failure;
    const struct vyre_body *body; /* Borrowed: alive while in flight */
    vyre_completion_function *on_complete;
    void *user;
    struct vyre_measurement measurement;
    _Atomic uint32_t ended; /* the thread that sets it calls on_complete */
};

/* The costs that the device uses. Under the lock. */
struct vyre_device_costs {
    struct vyre_calibration calibration;
    uint64_t number; /* counts the calibrations that the device has used */
    bool is_own;     /* measured here, not given, and not yet saved */
};

/* Under the lock. */
struct vyre_device_objects {
    uint64_t epoch; /* destructions of buffers and kernels so far, plus 1 */
    struct vyre_object *living;
    struct vyre_object *dead_first, *dead_last; /* ascending last_sequence */
    struct vyre_object *spare_buffers;          /* structs of freed buffers, for reuse */
    struct vyre_object *spare_kernels;
    uint64_t memory_bytes; /* of living buffers */
};

/* A ring, one entry per submission, by sequence. */
struct vyre_device_results {
    struct vyre_result_entry *entries; /* Owned: mask + 1 */
    uint64_t mask;
    uint64_t forgotten_failure; /* the latest failed submission whose entry was reused */
};

/* What is known about generated code, and the one proof that may run: prove.h. */
struct vyre_device_proving {
    struct vyre_proofs proofs;
    struct vyre_lock lock; /* held by the thread that proves; taken after the device's, or alone */
    bool is_on;            /* others wait at the gate */
    uint64_t submitted;    /* submissions that proofs made, not callers */
    uint64_t completed;
};

struct vyre_device_loss {
    bool is_known;           /* `lost`, as seen by threads that hold the lock */
    struct vyre_diag reason; /* written before `lost` */
    void *left_behind;       /* Owned: memory that work of the lost device may touch, from ... */
    size_t left_behind_bytes;
};

/* What submitting, waiting and completing threads share: a cache line for each side. */
struct vyre_device_progress {
    _Alignas(VYRE_CACHE_LINE_BYTES) _Atomic uint64_t submitted; /* written under the lock */
    _Atomic uint64_t queued; /* the last that the backend has accepted; written under the lock */
    /*
     * Submissions in flight with a callback. While it is 0, completions need not read their entry.
     */
    _Alignas(VYRE_CACHE_LINE_BYTES) _Atomic uint32_t callbacks;
    _Atomic uint32_t calling;    /* callbacks that are running ... */
    _Atomic uintptr_t caller;    /* ... and the thread of the latest */
    _Atomic uint32_t timed;      /* the same for submissions whose end is timed */
    _Atomic uint32_t looking;    /* lazy backends: submits that look */
    _Atomic uint64_t looks;      /* lazy backends: how often a thread began to look */
    _Atomic uint64_t waited_ns;  /* when a thread that waited for the last submission went on ... */
    _Atomic uint64_t waited_for; /* ... and for which: stored after the time */
    _Atomic uint64_t wait_began_ns; /* lazy backends: when a thread last began to wait */
    _Atomic uint64_t unseen_last;   /* ... the last that may have ended unobserved */
    _Alignas(VYRE_CACHE_LINE_BYTES) _Atomic uint64_t completed; /* written by complete, in order */
    _Atomic uint64_t failed;                                    /* submissions that failed */
    _Atomic uint32_t poisoned; /* buffers that hold poison; written under the failure_lock */
    _Atomic uint32_t lost;
};

struct vyre_device {
    /* Identity. Set when the device is opened. */
    struct vyre_instance *instance; /* Borrowed */
    const struct vyre_backend_ops *ops;
    void *native;
    struct vyre_allocator allocator;
    struct vyre_device_desc desc;
    struct vyre_device_facts facts;
    struct vyre_device_host host;
    uint32_t workers_asked; /* the caller's cpu_workers; 0: not set */
    uint64_t identity;
    char label[VYRE_LABEL_BYTES];

    /* What every submit touches is together, with the large parts after it. */
    struct vyre_lock lock;   /* protects all that follows, up to failure_lock */
    uint64_t completed_seen; /* an earlier `completed`: reading that one costs a cache miss */
    uint64_t by_mode[VYRE_MODE_COUNT];
    struct vyre_device_objects objects;
    struct vyre_device_results results;

    /* Measuring and reporting. */
    struct vyre_measure measure;
    struct vyre_decisions *decisions; /* Owned; NULL: none are kept */
    struct vyre_emit *emit;           /* Owned; NULL: there is no observer */

    /* Carrying out. */
    struct vyre_device_loss loss;
    struct vyre_device_proving proving;
    struct vyre_recordings recordings;
    struct vyre_batch_planner planner;
    struct vyre_builds builds;

    /* Deciding. */
    struct vyre_device_costs costs;
    struct vyre_candidates candidates;
    struct vyre_shapes shapes;
    struct vyre_governor governor;
    struct vyre_execution execution;

    struct vyre_lock failure_lock; /* poison of all buffers; taken after `lock`, or alone */
    struct vyre_device_progress progress;
};

/* Host functions of struct vyre_device_host. */
void vyre_device_on_complete(void *context, const struct vyre_completion *completion);
void vyre_device_on_lost(void *context, const struct vyre_diag *reason);

/*
 * Releases the lock after a backend call that returned `status`. If that is VYRE_DEVICE_LOST, ends
 * everything pending. Returns the status.
 */
enum vyre_status vyre_device_unlock(struct vyre_device *device, enum vyre_status status,
                                    const struct vyre_diag *diag);

/* The clock that times the device's work. */
static inline uint64_t vyre_device_now_ns(const struct vyre_device *device)
{
    return device->ops->now_ns ? device->ops->now_ns(device->native) : vyre_clock_now_ns();
}

static inline bool vyre_device_has(const struct vyre_device *device, enum vyre_ability_id ability)
{
    return device->facts.abilities[ability].value != 0;
}

/* The ability that a mode needs; NULL: none. */
static inline const struct vyre_ability *vyre_device_mode_ability(const struct vyre_device *device,
                                                                  enum vyre_mode mode)
{
    if (mode == VYRE_MODE_REPLAY)
        return &device->facts.abilities[VYRE_ABILITY_REPLAY];
    return mode == VYRE_MODE_PERSISTENT ? &device->facts.abilities[VYRE_ABILITY_PERSISTENT] : NULL;
}

static inline bool vyre_device_has_mode(const struct vyre_device *device, enum vyre_mode mode)
{
    const struct vyre_ability *ability = vyre_device_mode_ability(device, mode);
    return !ability || ability->value != 0;
}

/* What is resident on the device. `view` may be NULL. The caller holds the lock. */
static inline void vyre_device_residency(const struct vyre_device *device,
                                         const struct vyre_batch_view *view,
                                         struct vyre_residency *out)
{
    *out = (struct vyre_residency){0};
    if (device->ops->residency)
        device->ops->residency(device->native, view, out);
}

/* Whether a batch in persistent mode would find what it needs resident. */
static inline bool vyre_device_is_served(const struct vyre_device *device,
                                         const struct vyre_batch_view *view)
{
    struct vyre_residency residency;
    vyre_device_residency(device, view, &residency);
    return residency.serves;
}

/* Waits in the backend. What it finds complete meanwhile counts as found by one look. */
static inline void vyre_device_look(struct vyre_device *device, uint64_t sequence,
                                    uint64_t timeout_ns)
{
    if (device->facts.completes_lazily)
        atomic_fetch_add_explicit(&device->progress.looks, 1, memory_order_relaxed);
    device->ops->wait(device->native, sequence, timeout_ns);
}

/* VYRE_DEVICE_LOST with the reason. */
enum vyre_status vyre_device_lost_status(const struct vyre_device *device, struct vyre_diag *diag);

static inline bool vyre_device_is_lost(const struct vyre_device *device)
{
    /* acquire: pairs with the release in vyre_device_on_lost. */
    return atomic_load_explicit(&device->progress.lost, memory_order_acquire) != 0;
}

static inline bool vyre_device_is_complete(const struct vyre_device *device, uint64_t sequence)
{
    /* acquire: pairs with the release in vyre_device_on_complete. */
    return atomic_load_explicit(&device->progress.completed, memory_order_acquire) >= sequence;
}

/* Copies a label, cut to fit. */
void vyre_label_copy(char out[VYRE_LABEL_BYTES], const char *label);

#endif
