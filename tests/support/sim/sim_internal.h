/*
 * sim_internal.h: what the files of the sim share.
 *
 *   sim_backend.c   the sim itself: creation, knobs, what was seen
 *   sim_device.c    devices: what they say of themselves, opening and closing
 *   sim_objects.c   buffers, kernels, recordings
 *   sim_build.c     whether batches fit persistent mode, and building what it needs
 *   sim_submit.c    queueing submissions and waiting for them
 *   sim_run.c       running what is queued, completing it, losing the device
 *   sim_stream.c    when submissions of a stream end, and reporting it
 *   sim_schedule.c  in which order and at which virtual times a batch's commands run
 *   sim_execute.c   running one command on the sim's memory
 *   sim_check.c     whether what the runtime hands over is what backend.h promises
 *
 * One lock per sim guards everything below except the bytes of buffers, which belong to the thread
 * that runs the submission. The host functions are called without the lock.
 */
#ifndef VYRE_TESTS_SUPPORT_SIM_SIM_INTERNAL_H
#define VYRE_TESTS_SUPPORT_SIM_SIM_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "support/random.h"
#include "support/sim/sim_backend.h"

enum { SIM_KERNEL_COSTS_MAX = 32, SIM_VIOLATION_BYTES = 256 };

struct sim_device;

/* A copy of a plan: the runtime's is valid during the call only. */
struct sim_plan {
    struct vyre_batch_plan view; /* its arrays lie in `memory` */
    void *memory;                /* Owned; NULL: no plan, run in order */
    size_t size_bytes;
};

struct sim_object {
    struct sim_object *next;
    struct sim_object **previous; /* the pointer that points here */
    struct sim_device *device;
    void (*free_memory)(struct sim_device *device, struct sim_object *object);
    uint64_t last_use; /* the last submission that names it */
    uint32_t holders;  /* recordings that name it, once for each time */
};

struct sim_buffer {
    struct sim_object object; /* first, in all three */
    unsigned char *data;      /* Owned */
    size_t size_bytes;
};

struct sim_kernel {
    struct sim_object object;
    vyre_host_function *function;
    uint32_t local_size[3];
    uint32_t binding_count;
    size_t scratch_bytes;
    char label[VYRE_DIAG_LABEL_BYTES];
    bool is_built;
    bool is_refused; /* ... or would be, but its build is refused */
};

struct sim_build {
    struct sim_build *next;
    struct sim_kernel *kernel; /* NULL once it is destroyed */
    char label[VYRE_DIAG_LABEL_BYTES];
    uint32_t runs;
};

struct sim_recording {
    struct sim_object object;
    struct sim_object **held; /* Owned list of kernels and buffers; an entry may be NULL */
    uint32_t held_count;
    struct sim_plan plan;
    uint64_t shape;
    uint64_t baked; /* hash of what the recording holds beyond the shape */
    uint32_t variant;
};

/* What is to become of one submission. */
struct sim_fate {
    enum vyre_status status;
    int64_t native_code;
    bool hangs;
    bool loses;
};

struct sim_pending {
    struct sim_pending *next;
    struct vyre_submission submission; /* `plan` is not to be used: see below */
    struct sim_plan own_plan;
    const struct sim_plan *plan; /* the own one or the recording's */
    struct sim_fate fate;
    uint64_t ready_ns;  /* when its submit was over */
    uint64_t launch_ns; /* what its submit cost */
    uint64_t end_ns;    /* streams: on the device */
};

struct sim_device {
    struct sim_device *next;
    struct vyre_sim *sim;
    const struct vyre_device_host *host;
    uint64_t hang_timeout_ns;
    struct sim_object *objects;
    struct sim_build *builds; /* Owned: under way */

    struct sim_pending *head; /* Owned, oldest first */
    struct sim_pending **tail;
    uint64_t submitted; /* sequences */
    uint64_t released;  /* may run */
    uint64_t ended;     /* ran; its completion may not be reported yet */
    uint64_t completed; /* reported to the runtime */
    uint64_t busy_until_ns;
    _Atomic uint64_t
        stamp_ns; /* streams: the clock that the runtime sees in complete; 0: the host's */
    struct vyre_residency residency; /* `serves` is not used */
    struct sim_pending *stuck;       /* Owned: runs on after the loss */

    bool running;      /* a thread runs submissions ... */
    pthread_t runner;  /* ... and this is which */
    bool lose_pending; /* the next that may call the host reports the loss to it */
    enum vyre_diag_id lose_id;
    bool lost;
    bool lost_reported;

    pthread_t caller; /* the thread inside a call that must be alone */
    unsigned call_depth;

    pthread_t thread;
    bool has_thread;
    bool stop;
    bool abandoned; /* quiesce said that something still runs: it is never closed */
};

struct sim_fault {
    uint64_t countdown; /* 0: none */
    enum vyre_status status;
    int64_t native_code;
};

struct sim_kernel_cost {
    char label[VYRE_DIAG_LABEL_BYTES];
    uint64_t group_ns;
};

struct vyre_sim {
    struct vyre_backend_ops ops;
    struct vyre_sim_desc desc; /* no zeros left that mean a default */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* anything that a waiter looks at */
    struct sim_device *devices;
    struct rng noise;

    _Atomic uint64_t now_ns; /* written under the lock */
    struct vyre_sim_costs costs;
    struct sim_kernel_cost kernel_costs[SIM_KERNEL_COSTS_MAX];
    size_t kernel_cost_count;

    struct sim_fault faults[VYRE_SIM_ENTRY_COUNT];
    struct sim_fault run_fault;
    uint64_t hang_countdown;
    uint64_t lose_countdown;
    uint64_t lose_after_ns;

    uint64_t calls[VYRE_SIM_ENTRY_COUNT];
    bool holds_next_build;
    bool holds_build;
    char built[1024];
    uint64_t planned;
    struct vyre_sim_span *spans; /* Owned */
    size_t span_count;
    size_t span_capacity;

    pthread_mutex_t violation_lock; /* innermost */
    char violation[SIM_VIOLATION_BYTES];
};

/* sim_backend.c */
void sim_violate(struct vyre_sim *sim, const char *format, ...) VYRE_PRINTF(2, 3);
uint64_t sim_vary_locked(struct vyre_sim *sim, uint64_t cost_ns);
enum vyre_status sim_count_call_locked(struct vyre_sim *sim, enum vyre_sim_entry entry,
                                       struct vyre_diag *diag);
enum vyre_status sim_refuse(struct vyre_diag *diag, enum vyre_status status, int64_t native_code);

/* sim_device.c */
void sim_device_fill_ops(struct vyre_backend_ops *ops);

/* sim_objects.c */
void sim_objects_fill_ops(struct vyre_backend_ops *ops);
void sim_objects_free_locked(struct sim_device *device);
void sim_kernels_unbuild_locked(struct sim_device *device);

/* Calls that the runtime must make one at a time. */
void sim_call_begin_locked(struct sim_device *device, const char *what);
void sim_call_end_locked(struct sim_device *device);
bool sim_plan_copy(struct sim_plan *out_plan, const struct vyre_batch_plan *plan);
void sim_plan_free(struct sim_plan *plan);

/* sim_submit.c */
enum vyre_status sim_submit(void *device, const struct vyre_submission *submission,
                            struct vyre_diag *diag);
void sim_wait(void *device, uint64_t sequence, uint64_t timeout_ns);
enum vyre_status sim_warm_up(void *device, enum vyre_mode mode, struct vyre_diag *diag);

/* What was resident is not any more. */
void sim_leave_locked(struct sim_device *device, enum vyre_residency_end why);

/* sim_run.c */
void *sim_thread(void *device);
void sim_lose_locked(struct sim_device *device, enum vyre_diag_id id);
void sim_drop_locked(struct sim_device *device); /* lost without a word to the runtime */
void sim_forget_pending_locked(struct sim_device *device);
size_t sim_run_locked(struct sim_device *device, bool may_call_back);

bool sim_can_run_locked(const struct sim_device *device);
struct sim_pending *sim_take_head_locked(struct sim_device *device);
void sim_free_pending(struct sim_pending *pending);

/* sim_stream.c */
bool sim_is_stream(const struct vyre_sim *sim);
struct vyre_sim_pace sim_pace_locked(const struct sim_device *device, uint64_t sequence,
                                     uint64_t start_ns);
void sim_stream_queue_locked(struct sim_device *device, struct sim_pending *pending);
void sim_stream_report_locked(struct sim_device *device, bool is_wait);
void sim_stream_wait_locked(struct sim_device *device, uint64_t sequence, uint64_t timeout_ns);
void sim_stream_drain_locked(struct sim_device *device);
void sim_stream_idle_locked(
    struct sim_device *device); /* what is resident leaves if its time is up */

/* sim_schedule.c: fills `out_order` (one entry per command) and adds the spans. */
struct sim_times {
    uint64_t start_ns;
    uint64_t end_ns;
};
struct sim_times sim_schedule_locked(struct sim_device *device, const struct sim_pending *pending,
                                     uint32_t *out_order);

/* sim_execute.c */
void sim_execute(struct sim_device *device, const struct vyre_batch_view *view, uint32_t command,
                 struct rng *rng);
void sim_spoil(const struct vyre_batch_view *view, struct rng *rng);

/* What is wrong with the kernel's code, if it is one of those that the desc names. */
void sim_miscompile(struct sim_device *device, const struct vyre_submission *submission,
                    const struct vyre_command *command);

/* sim_submit.c: the host's plan, without the sim's lock; none in an order that needs none. */
enum vyre_status sim_ask_for_plan(const struct sim_device *device,
                                  const struct vyre_batch_view *view,
                                  struct vyre_batch_plan *memory,
                                  const struct vyre_batch_plan **out_plan, struct vyre_diag *diag);

/* sim_check.c */
void sim_check_view(struct sim_device *device, const struct vyre_batch_view *view);
void sim_check_plan(struct vyre_sim *sim, const struct vyre_batch_view *view,
                    const struct vyre_batch_plan *plan);
uint64_t sim_shape(const struct vyre_batch_view *view);

/* A hash of what a recording holds: bits of enum vyre_recording_bakes. */
uint64_t sim_baked(const struct vyre_batch_view *view, uint32_t bakes);
uint32_t sim_bakes(const struct vyre_sim *sim, uint32_t variant);

/* sim_build.c */
void sim_build_fill_ops(struct vyre_backend_ops *ops);
enum vyre_fit sim_fit_locked(const struct sim_device *device, const struct vyre_batch_view *view,
                             enum vyre_mode mode, struct vyre_diag *diag);

/* What submit builds itself. */
enum vyre_status sim_build_all_locked(struct sim_device *device, const struct vyre_batch_view *view,
                                      enum vyre_mode mode, struct vyre_diag *diag);
void sim_builds_forget_locked(struct sim_device *device, const struct sim_kernel *kernel);

#endif
