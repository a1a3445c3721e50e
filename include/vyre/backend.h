/*
 * backend.h: what a backend implements, built in or not.
 *
 * The runtime validates once; a backend may assume that its arguments are valid, in bounds, alive
 * and of its own device. It gets whole batches with their plan, and decides only how to carry them
 * out. It completes batches in submit order and reports this through the host functions that it
 * gets when a device is opened.
 *
 * Words
 *   view       a batch as the backend sees it: commands in order, everything resolved
 *   plan       what may run beside what: see struct vyre_plan_node
 *   recording  what a backend keeps of a batch to submit it again with less work
 *
 * ABI: the table starts with `abi_version` and `size_bytes` and grows only at its end. A backend
 * fills both from the header that it was compiled with. Entries marked optional may be NULL.
 *
 * Thread-safety: for one device the runtime makes one call at a time of submit, record, the create
 * and destroy functions, the entries that are "called like submit", and those that ask something of
 * a batch. Any number of threads may call wait and build_run beside them.
 */
#ifndef VYRE_BACKEND_H
#define VYRE_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/allocator.h>
#include <vyre/batch.h>
#include <vyre/device.h>
#include <vyre/diag.h>
#include <vyre/export.h>
#include <vyre/hash.h>
#include <vyre/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the table below; a backend of another version is refused. */
#define VYRE_BACKEND_ABI_VERSION 4

/* ---- Commands --------------------------------------------------------------------------------- */

/* What a command does. */
enum vyre_command_type {
    VYRE_COMMAND_DISPATCH = 0, /* runs a kernel */
    VYRE_COMMAND_COPY = 1,     /* copies between ranges on the device */
    VYRE_COMMAND_FILL = 2,     /* writes a word over a range */
    VYRE_COMMAND_UPLOAD = 3,   /* copies from the host to a range */
    VYRE_COMMAND_DOWNLOAD = 4, /* copies from a range to the host */
};

/* A range of a buffer, resolved. */
struct vyre_bound_range {
    void *buffer; /* the backend's buffer; NULL for local memory */
    uint64_t identity;
    size_t offset_bytes;
    size_t size_bytes;
    enum vyre_access access;
};

/* What a slot is bound to. */
enum vyre_binding_kind {
    VYRE_BINDING_RANGE = 0, /* one range of a buffer */
    VYRE_BINDING_TABLE = 1, /* many ranges, one array of addresses */
    VYRE_BINDING_LOCAL = 2, /* memory of the work-group */
};

/* One slot of a dispatch, in the order of slots. */
struct vyre_command_binding {
    uint32_t slot;
    enum vyre_binding_kind kind;
    uint32_t first_range; /* into the view's ranges */
    uint32_t range_count; /* 1; tables: any number; local: 0 */
    uint32_t local_bytes;
};

/*
 * One command. Bindings, ranges, host buffers and data lie in the view's arrays, so that a command
 * has a fixed size and a batch can be walked without a pointer per command.
 */
struct vyre_command {
    enum vyre_command_type type;
    uint32_t first_range;       /* all ranges that the command touches: hazards come from these */
    uint32_t range_count;       /* copy: from, to; fill, upload, download: 1 */
    uint32_t first_binding;     /* DISPATCH */
    uint32_t binding_count;     /* DISPATCH */
    uint32_t first_host_buffer; /* DISPATCH; one per binding; only with host addresses */
    uint32_t groups[3];         /* DISPATCH; with a 0 among them there is nothing to do */
    uint32_t constants_size_bytes;
    uint32_t specialization_count;  /* the kernel's; 0: none given, and its defaults are mixed */
    uint32_t fill_word;             /* FILL */
    void *kernel;                   /* DISPATCH: the backend's kernel */
    const void *constants;          /* DISPATCH */
    const uint64_t *specialization; /* DISPATCH */
    const void *upload_bytes;       /* UPLOAD */
    void *download_bytes;           /* DOWNLOAD */
    bool upload_owned;              /* UPLOAD: the bytes are the batch's, not the caller's */
};

/*
 * What may run beside what. Commands of one segment that are in different arms touch nothing of
 * each other; commands of one arm run in order; a segment starts when the one before it is done.
 * The level is the length of the longest chain of hazards before the command: commands of one level
 * are independent too, whatever their arms. `deps` are the commands that must be complete before
 * this one starts, without those that follow from others.
 */
struct vyre_plan_node {
    uint32_t segment;
    uint32_t arm; /* within the segment */
    uint32_t level;
    uint32_t first_dep; /* into the plan's deps */
    uint32_t dep_count;
};

/* A run of commands whose arms touch nothing of each other. */
struct vyre_plan_segment {
    uint32_t first_command; /* segments are runs of the batch's commands */
    uint32_t command_count;
    uint32_t arm_count;
};

/* The plan of a batch: a node per command, the segments, and all dependencies. */
struct vyre_batch_plan {
    const struct vyre_plan_node *nodes; /* one per command */
    const struct vyre_plan_segment *segments;
    const uint32_t *deps;
    uint32_t node_count;
    uint32_t segment_count;
    uint32_t dep_count;
    uint32_t level_count;
    uint32_t interval_count; /* disjoint byte intervals that the batch touches */
};

/* A batch as the backend sees it. Valid and unchanged until every submission of it is complete. */
struct vyre_batch_view {
    const struct vyre_command *commands;
    const struct vyre_command_binding *bindings;
    const struct vyre_bound_range *ranges;
    const struct vyre_host_buffer *host_buffers; /* NULL when buffers have no host address */
    uint32_t command_count;
    uint32_t binding_count;
    uint32_t range_count;
    bool is_chain; /* each command runs after the one before it: no plan is needed */
    const char *label;
    /*
     * Room for the backend: zeroed when the view is new, kept while the same unchanged batch is
     * submitted again, so that what was derived from it need not be derived again.
     */
    uint64_t *backend_words; /* VYRE_VIEW_WORDS of them */
};
/* Words that each view has for the backend. */
#define VYRE_VIEW_WORDS 4

/* ---- Submissions ------------------------------------------------------------------------------ */

/* The time of one command. */
struct vyre_command_time {
    uint64_t ns;       /* from its start to its end; 0: not known */
    uint32_t parallel; /* groups of it that ran at the same time; 0 counts as 1 */
};

/* One submit of a batch. */
struct vyre_submission {
    uint64_t sequence; /* counts up by 1 per device, from 1 */
    enum vyre_mode mode;
    const struct vyre_batch_view *view;
    void *recording;  /* REPLAY: what record made of this shape */
    bool timed;       /* report device_ns */
    bool called_back; /* complete calls the caller back: not on the thread inside submit */
    uint32_t variant; /* bits of enum vyre_variant, of those that facts state */
    /*
     * Asks for the times of the first `time_count` commands. NULL: not asked; at most one submission
     * in flight asks. Zeroed, valid until the device is closed. The backend fills in what it knows
     * before it calls complete, and leaves the rest 0, such as commands that ran at the same time
     * without times of their own. Never in persistent mode, and only if facts say `command_times`.
     */
    struct vyre_command_time *times;
    uint32_t time_count;
};

/* How a submission ended. */
struct vyre_completion {
    uint64_t sequence;
    enum vyre_status status;
    uint64_t device_ns; /* 0: not timed */
    int64_t native_code;
    uint64_t device_begin_ns; /* on the clock of vyre_clock_ns; 0: not known */
    bool awaited;             /* it ended while a submit waited for all that was in flight */
    bool altered;             /* to time its commands one by one, none of them ran side by side */
};

/* What the runtime offers to an open device. `context` is passed back. */
struct vyre_device_host {
    void *context;
    struct vyre_allocator allocator;

    /*
     * Reports that the submission and all before it are complete. Called once per submission, in
     * order, from any thread, also from inside submit.
     */
    void (*complete)(void *context, const struct vyre_completion *completion);

    /*
     * Reports that the device is lost: every pending submission ends with VYRE_DEVICE_LOST, and
     * later calls of complete are ignored. Not from inside submit, record or a create function:
     * these return the status.
     */
    void (*lost)(void *context, const struct vyre_diag *reason);

    /*
     * Gives the plan of the view that submit or record received. It is made once for as long as the
     * batch stays as it is, and valid until that call returns.
     */
    enum vyre_status (*plan)(void *context, const struct vyre_batch_view *view,
                             struct vyre_batch_plan *out_plan, struct vyre_diag *diag);

    /* Passes a line to the instance's log function, if it has one. */
    void (*log)(void *context, enum vyre_log_level level, const char *text);
};

/*
 * What a recording holds beyond the batch's shape: a recording is used again only for batches that
 * agree in these. Bits.
 */
enum vyre_recording_bakes {
    VYRE_BAKES_CONSTANTS = 1, /* the constants of dispatches */
    VYRE_BAKES_DOWNLOADS = 2, /* the addresses that downloads go to */
};

/* What launching costs until it is measured, for the verdicts. Zeros mean "no model": plain. */
struct vyre_launch_costs {
    uint64_t plain_command_ns;    /* beyond the execution, per command */
    uint64_t plan_command_ns;     /* the same again where the batch must be planned: no chain */
    uint64_t record_command_ns;   /* once per command of a recording */
    uint64_t replay_command_ns;   /* per command of a replayed batch */
    uint64_t persistent_setup_ns; /* until a resident kernel runs */
    uint64_t build_ns;            /* one build: see build_begin */
};

/* Whether a batch fits a mode. */
enum vyre_fit {
    VYRE_FIT_NO = 0,      /* submit refuses it: the diagnostic says why (submit-mode) */
    VYRE_FIT_YES = 1,     /* it fits, and all that it needs is built */
    VYRE_FIT_UNBUILT = 2, /* nothing speaks against it; only a build can show whether it fits */
    VYRE_FIT_POOR = 3, /* it runs when it is required, unless a build shows otherwise; auto leaves
                             it to other modes: the diagnostic says why */
};

/* What stays on a device between batches of persistent mode. One at a time; times as of now_ns. */
struct vyre_residency {
    uint64_t number;   /* of the newest; counts from 1; 0: nothing was resident yet */
    uint64_t begin_ns; /* of the newest */
    uint64_t ended;    /* number of the newest that has ended; `number` when nothing is resident */
    uint64_t ended_begin_ns;
    uint64_t ended_ns; /* when it was seen to have ended */
    enum vyre_residency_end why;
    bool serves; /* what is resident now would serve the view without a new launch or setup */
};

/* What a backend says of a device when it is opened. */
struct vyre_device_facts {
    struct vyre_device_info info; /* `backend` and `index` are the runtime's to fill */
    struct vyre_device_limits limits;
    struct vyre_ability abilities[VYRE_ABILITY_COUNT];
    bool host_addresses; /* buffer_create gives addresses: views carry host_buffers */
    struct vyre_launch_costs costs;
    uint32_t cpu_workers;  /* what a cpu_workers of 0 became */
    bool completes_lazily; /* complete is called when a thread waits or polls, not at the end */
    uint32_t variants[VYRE_MODE_COUNT]; /* that each mode offers beside 0: bits of vyre_variant */
    uint32_t bakes;                     /* recordings: bits of enum vyre_recording_bakes ... */
    uint32_t driver_bakes;              /* ... and those of VYRE_VARIANT_DRIVER */
    struct vyre_feature features[VYRE_FEATURES_MAX];
    uint32_t feature_count;
    /*
     * Bits, 1 << mode: modes that may need a build (VYRE_FIT_UNBUILT). If one is set, the table
     * must have the three build entries. Never that of plain mode.
     */
    uint32_t built_modes;
    /*
     * Bits, 1 << mode: modes that run code generated around the kernels. If one is set, the table
     * must have generated, buffer_read and buffer_write.
     */
    uint32_t generated_modes;
    /*
     * Borrowed: changes when a batch may meet other generated code than before. Read under the
     * rules of submit. NULL: never changes.
     */
    const uint64_t *generated_epoch;
    bool command_times; /* submit gives the times of commands when it is asked for them */
    /* By mode: groups of one dispatch that run at the same time; 0: not known. */
    uint32_t parallel[VYRE_MODE_COUNT];
};

/* ---- The table -------------------------------------------------------------------------------- */

/*
 * What a backend implements. It is constant and outlives every instance that it is registered with.
 */
struct vyre_backend_ops {
    uint32_t abi_version; /* VYRE_BACKEND_ABI_VERSION */
    uint32_t size_bytes;  /* sizeof(struct vyre_backend_ops) */
    const char *name;     /* short, lower case */
    void *user;           /* Borrowed: passed to create */

    /* Creates the backend's own state in one instance. Optional, with destroy: no state. */
    enum vyre_status (*create)(void *user, const struct vyre_allocator *allocator,
                               void **out_backend, struct vyre_diag *diag);
    /* Frees what create made. */
    void (*destroy)(void *backend);

    /*
     * Lists the devices: fills up to `capacity` entries, and *out_count with how many there are.
     * VYRE_NOT_FOUND or VYRE_UNSUPPORTED with the reason when the backend cannot work here.
     */
    enum vyre_status (*enumerate)(void *backend, struct vyre_device_info *out_infos,
                                  size_t capacity, size_t *out_count, struct vyre_diag *diag);

    /*
     * Opens a device and fills in its facts. `desc` has no zeros left that mean a default of the
     * runtime. `host` stays valid until close.
     */
    enum vyre_status (*device_open)(void *backend, uint32_t index,
                                    const struct vyre_device_desc *desc,
                                    const struct vyre_device_host *host, void **out_device,
                                    struct vyre_device_facts *out_facts, struct vyre_diag *diag);

    /* Closes a device. Nothing is in flight and nothing runs: see quiesce. */
    void (*device_close)(void *device);

    /* Creates a buffer of zeroed memory. *out_address only with host_addresses, else NULL. */
    enum vyre_status (*buffer_create)(void *device, const struct vyre_buffer_desc *desc,
                                      void **out_buffer, void **out_address,
                                      struct vyre_diag *diag);
    /* No work uses the buffer. */
    void (*buffer_destroy)(void *device, void *buffer);

    /*
     * Creates a kernel. `plan` is the kernel's checked bindings, in the order of slots. `desc` is
     * complete: what the caller left out comes from kernel_reflect. *inout_kernel holds what
     * kernel_reflect made, to be finished, or NULL without that entry. After a failure the runtime
     * destroys what is there.
     */
    enum vyre_status (*kernel_create)(void *device, const struct vyre_kernel_desc *desc,
                                      const struct vyre_binding_plan *plan, void **inout_kernel,
                                      struct vyre_diag *diag);
    /* No work uses the kernel. */
    void (*kernel_destroy)(void *device, void *kernel);

    /*
     * Makes a recording of a batch, and says how much memory it takes. Optional, with
     * recording_destroy; without them the ability REPLAY must be 0.
     */
    enum vyre_status (*record)(void *device, const struct vyre_batch_view *view, uint32_t variant,
                               void **out_recording, size_t *out_size_bytes,
                               struct vyre_diag *diag);
    /* No work uses the recording; the kernels and buffers that it names are destroyed after it. */
    void (*recording_destroy)(void *device, void *recording);

    /* Queues the whole submission or nothing. */
    enum vyre_status (*submit)(void *device, const struct vyre_submission *submission,
                               struct vyre_diag *diag);

    /*
     * Blocks until `sequence` is complete or lost, or the time is up. It may run work, except with
     * a timeout of 0: then it only reports what is complete or lost, and returns at once. So does
     * submit's thread before a submission, to see when the batches that are timed end. The runtime
     * relies on the calls of complete and lost, so the backend only has to return at the right
     * time.
     */
    void (*wait)(void *device, uint64_t sequence, uint64_t timeout_ns);

    /*
     * Optional: stops everything before close. Returns false when something of a lost device may
     * still run and cannot be stopped: the runtime then keeps the memory that it may touch, and
     * does not call close. Must not block on a lost device.
     */
    bool (*quiesce)(void *device);

    /* Optional: makes the next submission in `mode` start at once. */
    enum vyre_status (*warm_up)(void *device, enum vyre_mode mode, struct vyre_diag *diag);

    /*
     * Optional: writes bytes while nothing is in flight. Without it writes are one-command batches.
     */
    enum vyre_status (*buffer_write)(void *device, void *buffer, size_t offset_bytes,
                                     const void *bytes, size_t size_bytes, struct vyre_diag *diag);
    /*
     * Optional: reads bytes while nothing is in flight. Without it reads are one-command batches.
     */
    enum vyre_status (*buffer_read)(void *device, void *buffer, size_t offset_bytes,
                                    void *out_bytes, size_t size_bytes, struct vyre_diag *diag);

    /*
     * Optional: builds a kernel as far as is needed to know what its payload takes, and reports
     * that. Called before kernel_create, with the caller's desc.
     */
    enum vyre_status (*kernel_reflect)(void *device, const struct vyre_kernel_desc *desc,
                                       void **out_kernel,
                                       struct vyre_kernel_interface *out_interface,
                                       struct vyre_diag *diag);

    /*
     * Optional: whether a batch fits a mode that the device has. Pure: it builds, launches and
     * changes nothing. Submit and record refuse in the same way what it refuses. Without it
     * everything fits.
     */
    enum vyre_fit (*batch_check)(void *device, const struct vyre_batch_view *view,
                                 enum vyre_mode mode, uint32_t variant, struct vyre_diag *diag);

    /*
     * Optional: makes the next submission of this batch in `mode` start at once; runs nothing. All
     * that build_begin reported as missing was built before.
     */
    enum vyre_status (*batch_warm_up)(void *device, const struct vyre_batch_view *view,
                                      enum vyre_mode mode, uint32_t variant,
                                      struct vyre_diag *diag);

    /* Optional: what the driver reports of memory. */
    void (*memory_info)(void *device, struct vyre_device_memory *out_memory);

    /*
     * Optional: the clock by which work is timed, where it is not that of vyre_clock_ns. From any
     * thread, also from inside complete.
     */
    uint64_t (*now_ns)(void *device);

    /*
     * Optional: names the generated code that would run a dispatch of a batch that fits `mode`: a
     * hash of its text, its build options and the kernel's place in it, the same in every process.
     * A zero hash means the driver's own code of the kernel as it is. VYRE_UNSUPPORTED where submit
     * refuses, VYRE_BUSY (submit-unbuilt) where the code is not built. Builds nothing.
     */
    enum vyre_status (*generated)(void *device, const struct vyre_batch_view *view,
                                  uint32_t command, enum vyre_mode mode, uint32_t variant,
                                  struct vyre_hash128 *out_code, struct vyre_diag *diag);

    /*
     * Optional, with build_run and build_end, for the modes in built_modes: builds in steps, so
     * that the long step needs no lock. Submit and batch_warm_up work without them too, and then
     * build what is missing themselves.
     *
     * Starts a build of what the batch lacks in a mode, or of one part of it: the runtime asks
     * again after build_end, until *out_build is NULL. Called like submit. VYRE_BUSY
     * (submit-unbuilt): another build that has not ended makes it. VYRE_UNSUPPORTED where submit
     * refuses. The build holds references of its own: kernels and buffers of the view may be
     * destroyed before it ends.
     */
    enum vyre_status (*build_begin)(void *device, const struct vyre_batch_view *view,
                                    enum vyre_mode mode, uint32_t variant, void **out_build,
                                    struct vyre_diag *diag);
    /*
     * The long step. Called once per build, from any thread, beside every other call of the device.
     */
    void (*build_run)(void *device, void *build);
    /*
     * Takes the result of a build in, or keeps the refusal (VYRE_UNSUPPORTED), so that batch_check
     * says no from then on. VYRE_BUSY: the build failed, and the next one may succeed. Called like
     * submit. Always frees `build`; without a run before it, or on a lost device, it does nothing
     * else.
     */
    enum vyre_status (*build_end)(void *device, void *build, struct vyre_diag *diag);

    /*
     * Optional: what is resident. Without it nothing stays resident. `view` may be NULL: `serves`
     * then says whether anything is resident. Called like submit, also after quiesce; waits for
     * nothing.
     */
    void (*residency)(void *device, const struct vyre_batch_view *view, struct vyre_residency *out);
};

#ifdef __cplusplus
}
#endif

#endif
