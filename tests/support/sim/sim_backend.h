/*
 * sim_backend.h: a backend without a device: the tests' "sim".
 *
 * It is written against vyre/backend.h alone, as any backend outside the library would be. It runs
 * host kernels for real, on memory of its own, but in an order that no caller should rely on: a seeded
 * random one that respects only the plan that came with the batch. A wrong plan gives other
 * bytes than the serial run. Time is virtual: costs are numbers, nothing is measured.
 *
 * Words
 *   order       the part of a plan that the sim obeys: deps, levels, or segments with their arms
 *   completion  who runs submitted work, and when
 *   queue       compute queues count from 0; the transfer queue, if there is one, comes after them
 *   span        one command on one queue, from its virtual start to its virtual end
 *   violation   the runtime broke the contract of backend.h; the first one is kept
 *
 * Virtual time. There is one host clock per sim. Calls add their costs to it. A submission starts on
 * the device when its submit call is over and the submission before it has ended; its completion is
 * delivered no earlier than its end, so that delivering moves the host clock there.
 *
 *   host    |-submit 1-|-submit 2-|                       |-submit 3-|
 *   device             |== 1 =====|== 2 ==================|          |== 3 ==
 *                              delivered ^ here at the earliest
 *
 * Streams. In the completions ON_TIME and FOUND the host and the device overlap: submit returns when its own cost
 * is paid, and the host clock passes the ends of earlier submissions. Commands only take time there, one after
 * another; kernels do not run, and submissions are not checked.
 *
 *   host    |-submit 1-|-submit 2-|-submit 3-|-submit 4-|--wait 2--|
 *   device             |== 1 ========|== 2 =============|== 3 ==|== 4 ==
 *   ON_TIME                      1 ^                  2 ^     3 ^
 *   FOUND                                                          ^ 1, 2, 3
 *
 * Thread-safety: every function may be called from any thread, but vyre_sim_step, vyre_sim_run_all
 * and vyre_sim_lose_now not from completion callbacks.
 */
#ifndef VYRE_TESTS_SUPPORT_SIM_SIM_BACKEND_H
#define VYRE_TESTS_SUPPORT_SIM_SIM_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/backend.h>

struct vyre_sim;

enum vyre_sim_order {
    VYRE_SIM_ORDER_DEPS = 0,
    VYRE_SIM_ORDER_LEVELS = 1, /* a level starts when all lower ones are done */
    VYRE_SIM_ORDER_ARMS = 2,   /* segments one after another, the arms of one in any order */
    VYRE_SIM_ORDER_SERIAL = 3, /* asks for no plan */
};
#define VYRE_SIM_ORDER_COUNT 4

enum vyre_sim_completion {
    /* In submit; work with a callback, and all behind it, on the sim's thread. */
    VYRE_SIM_COMPLETE_IN_SUBMIT = 0,
    VYRE_SIM_COMPLETE_LAZY = 1,   /* as above, when a call waits for it longer than 0 ns */
    VYRE_SIM_COMPLETE_THREAD = 2, /* on the sim's thread, at once */
    VYRE_SIM_COMPLETE_MANUAL = 3, /* in vyre_sim_step and vyre_sim_run_all */
    /* Streams. During `complete` the runtime's clock shows the virtual end. */
    VYRE_SIM_COMPLETE_ON_TIME = 4,
    /* Streams, lazily: a call that waits moves the clock to the end of its submission and finds all ended by then. */
    VYRE_SIM_COMPLETE_FOUND = 5,
};

/* The calls that are counted and can be made to fail. */
enum vyre_sim_entry {
    VYRE_SIM_DEVICE_OPEN = 0,
    VYRE_SIM_BUFFER_CREATE = 1,
    VYRE_SIM_KERNEL_CREATE = 2,
    VYRE_SIM_RECORD = 3,
    VYRE_SIM_SUBMIT = 4,
    VYRE_SIM_WARM_UP = 5,
    VYRE_SIM_BUFFER_WRITE = 6,
    VYRE_SIM_BUFFER_READ = 7,
    VYRE_SIM_WAIT = 8,  /* counted only */
    VYRE_SIM_CHECK = 9, /* counted only */
    VYRE_SIM_BUILD_BEGIN = 10,
    VYRE_SIM_BUILD_RUN = 11, /* counted only; also what submit builds itself */
    VYRE_SIM_BUILD_END = 12,
};
#define VYRE_SIM_ENTRY_COUNT 13

/* What a mode adds on the device, in streams. */
struct vyre_sim_device_costs {
    uint64_t batch_ns;
    uint64_t command_ns;
};

/* What things cost in virtual time. */
struct vyre_sim_costs {
    uint64_t submit_ns; /* plain */
    uint64_t submit_command_ns;
    uint64_t record_ns;
    uint64_t record_command_ns;
    uint64_t replay_ns;
    uint64_t replay_command_ns;
    uint64_t persistent_setup_ns; /* when nothing is resident, of a submission or warm-up */
    uint64_t persistent_item_ns;
    uint64_t persistent_round_trip_ns; /* once per submission */
    uint64_t copy_ns;                  /* copy, fill, upload, download: on the device */
    uint64_t copy_byte_ps;
    uint64_t group_ns;      /* per group of a dispatch; see vyre_sim_set_kernel_cost */
    uint64_t build_ns;      /* of one kernel; stated as such */
    uint32_t noise_percent; /* every cost varies by up to this much, both ways */
    bool report_launch;     /* device_ns covers the costs of submit too */
    struct vyre_sim_device_costs on_device[VYRE_MODE_COUNT];
};
struct vyre_sim_costs vyre_sim_costs_default(void);

/* How long one submission of a stream takes. */
struct vyre_sim_pace {
    double factor;     /* on launch and execution; not on setup and recording */
    uint64_t added_ns; /* to its execution */
};

/*
 * Called twice for each submission, in order, with the sim's lock held: when its launch starts on the host and, with
 * the later time, when it starts on the device. `added_ns` counts the second time.
 */
typedef struct vyre_sim_pace vyre_sim_pace_function(void *user, uint64_t sequence,
                                                    uint64_t start_ns);

/* A zeroed desc: one device, one compute queue, everything a backend can have but a transfer queue. */
struct vyre_sim_desc {
    uint64_t seed;
    uint32_t device_count;   /* 0: 1 */
    uint32_t compute_queues; /* 0: 1 */
    bool transfer_queue;     /* copies, uploads and downloads run there */
    enum vyre_sim_order order;
    enum vyre_sim_completion completion;

    bool no_host_addresses;   /* buffers give no address, views carry no host buffers */
    bool no_direct_access;    /* no buffer_write and buffer_read */
    bool no_record;           /* no record and recording_destroy */
    bool no_warm_up;          /* no warm_up */
    bool no_quiesce;          /* no quiesce: close stops the sim's thread */
    bool hang_is_lost;        /* waiting for a hang as long as hang_timeout_ns loses the device */
    bool stuck_after_hang;    /* a hang goes on after the loss: quiesce says so */
    bool modes_exclude;       /* work of another mode ends what is resident */
    bool failure_keeps_bytes; /* else a submission that fails spoils all that it may write */
    bool no_command_times;    /* the times of commands are not given */
    uint32_t parallel[VYRE_MODE_COUNT]; /* groups that run at the same time; 0: 1, not stated */

    uint32_t bakes;        /* what recordings hold: see enum vyre_recording_bakes */
    uint32_t driver_bakes; /* ... and those of the variant "driver" */
    uint32_t variants;     /* that every mode offers */
    const char
        *unfit_label; /* Borrowed: kernels with this label do not run in persistent mode ... */
    const char *poor_label;        /* ... and those with this one only where it is required */
    bool builds;                   /* persistent mode needs a build for each kernel */
    const char *unbuildable_label; /* Borrowed: builds of kernels with this label are refused */
    const struct vyre_kernel_interface *reflected; /* Borrowed: what every payload says it takes */

    /* A compiler that gets generated code wrong: see vyre/proof.h. */
    uint32_t generated_modes; /* bits: run generated code */
    const char *wrong_label;  /* Borrowed: kernels with this label change a byte there that they
                                should not: so many bytes behind the last of their output */
    ptrdiff_t wrong_behind;
    const char
        *unstable_label; /* Borrowed: kernels with this label end in a byte that no run repeats */

    const char *absent[VYRE_ABILITY_COUNT]; /* Borrowed: the reason; NULL: the ability is there */
    struct vyre_device_limits limits;       /* zeros: generous */
    const struct vyre_sim_costs *costs;     /* NULL: the default ones */
    size_t recording_size_bytes;            /* that record reports; 0: the true one */
    size_t trace_limit;                     /* spans kept; 0: 65,536 */

    /* Streams only. */
    uint32_t
        report_every; /* ends are reported by so many, at the end of the last; a wait for one of an
                                  incomplete group ends with all that was submitted; 0, 1: each by itself */
    uint64_t
        report_period_ns; /* ends are reported when the clock is a multiple of this; 0: at once */
    uint64_t
        idle_leave_ns; /* what is resident leaves after so long with nothing in flight; 0: it stays */
    bool
        switch_drains; /* submit waits for all in flight before something becomes resident or leaves */
    vyre_sim_pace_function *pace; /* NULL: as the costs say */
    void *pace_user;              /* Borrowed */
};

/* NULL when out of memory. */
struct vyre_sim *vyre_sim_create(const struct vyre_sim_desc *desc);
void vyre_sim_destroy(struct vyre_sim **sim); /* all instances that it is registered in are gone */

/* The table to register, owned by the sim; its name is "sim". */
const struct vyre_backend_ops *vyre_sim_ops(const struct vyre_sim *sim);

/* ---- Time and work ---------------------------------------------------------------------------- */

uint64_t vyre_sim_now_ns(struct vyre_sim *sim);
void vyre_sim_advance(struct vyre_sim *sim, uint64_t ns); /* the host does something else */

struct vyre_sim_costs vyre_sim_costs(struct vyre_sim *sim);
void vyre_sim_set_costs(struct vyre_sim *sim, const struct vyre_sim_costs *costs);

/* Per group of every kernel with that label, from now on; false when 32 labels have one. */
bool vyre_sim_set_kernel_cost(struct vyre_sim *sim, const char *label, uint64_t group_ns);

/* MANUAL: runs and completes up to `count` submissions, oldest first; returns how many. */
size_t vyre_sim_step(struct vyre_sim *sim, size_t count);
size_t vyre_sim_run_all(struct vyre_sim *sim);
size_t vyre_sim_in_flight(struct vyre_sim *sim);

/* What is resident leaves, on every device; the next work in persistent mode pays its setup again. */
void vyre_sim_end_residency(struct vyre_sim *sim, enum vyre_residency_end why);

/* The next build_run stays in the middle until it is let go. */
void vyre_sim_hold_build(struct vyre_sim *sim);
void vyre_sim_let_go(struct vyre_sim *sim);

/* Waits until so many builds were begun, counted from the start. */
void vyre_sim_await_builds(struct vyre_sim *sim, uint64_t run_count);

/* The labels of the kernels that were built, in order, with a space behind each. */
void vyre_sim_built(struct vyre_sim *sim, char *out_text, size_t capacity);

/* Throws away all that was built, as a backend does that keeps only so much. */
void vyre_sim_throw_away(struct vyre_sim *sim);

/* ---- Faults ----------------------------------------------------------------------------------- */

/*
 * The `nth` call of `entry` from now (1: the next one) fails. One fault per entry; the last one
 * set counts, nth 0 takes it back. After a call that fails with VYRE_DEVICE_LOST the device is
 * lost, and the runtime gets only the status.
 */
void vyre_sim_fail(struct vyre_sim *sim, enum vyre_sim_entry entry, uint64_t nth,
                   enum vyre_status status, int64_t native_code);

/* These count accepted submissions from now; one of each kind, the last one set counts. */
void vyre_sim_fail_running(struct vyre_sim *sim, uint64_t nth, enum vyre_status status,
                           int64_t native_code);
void vyre_sim_hang_at(struct vyre_sim *sim, uint64_t nth); /* not run, with all behind it ... */
void vyre_sim_unhang(struct vyre_sim *sim);                /* ... until now */
void vyre_sim_lose_at(struct vyre_sim *sim, uint64_t nth); /* lost when it runs; where that is
                                                              inside submit, a thread reports it */

/* Lost by whatever runs at that time. UINT64_MAX: never. */
void vyre_sim_lose_after(struct vyre_sim *sim, uint64_t now_ns);

/*
 * With stuck_after_hang: the hang of each lost device ends after all, and what it runs touches all
 * that it was given. Returns how many there were.
 */
size_t vyre_sim_run_stuck(struct vyre_sim *sim);

/* Every open device is lost when this returns. */
void vyre_sim_lose_now(struct vyre_sim *sim);

/* ---- What was seen ---------------------------------------------------------------------------- */

struct vyre_sim_span {
    uint64_t sequence;
    uint32_t command;
    uint32_t queue;
    enum vyre_command_type type;
    uint64_t start_ns;
    uint64_t end_ns;
};

/* Copies the first `capacity` spans in the order of execution and returns how many there are. */
size_t vyre_sim_trace(struct vyre_sim *sim, struct vyre_sim_span *out_spans, size_t capacity);
void vyre_sim_trace_reset(struct vyre_sim *sim);

uint64_t vyre_sim_calls(struct vyre_sim *sim, enum vyre_sim_entry entry);

/* Submissions accepted with a plan, and buffers, kernels and recordings alive in all devices. */
uint64_t vyre_sim_planned(struct vyre_sim *sim);
size_t vyre_sim_objects(struct vyre_sim *sim);

/* The first violation, or "". Valid until the sim is destroyed. */
const char *vyre_sim_violation(struct vyre_sim *sim);

#endif
