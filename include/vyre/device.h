/*
 * device.h: devices, what they can do, and the tickets of submitted work.
 *
 * Words
 *   ability  something that a device can do beyond plain launches; absent ones carry the reason
 *   mode     the way a batch is launched: plain, replay or persistent
 *   variant  a way to carry out a mode that differs in time only
 *   lease    the bounded time that a persistent kernel may stay on the device
 *   ticket   names one submitted batch of one device; a plain value
 *   lost     the device failed or a kernel did not end: pending tickets end with VYRE_DEVICE_LOST and
 *            nothing more runs; close the device and open it again
 *
 * Thread-safety: every function may be called from any thread. Open and close of one device belong
 * to one thread, and no thread may use a device that is being closed.
 */
#ifndef VYRE_DEVICE_H
#define VYRE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/diag.h>
#include <vyre/export.h>
#include <vyre/instance.h>
#include <vyre/why.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An open device, with all that is created from it. */
struct vyre_device;

/* Bytes of a device's or driver's name, the terminator included. */
#define VYRE_NAME_BYTES 128
/* Bytes of a reason, the terminator included. */
#define VYRE_REASON_BYTES 96
/* Bytes of a UUID. */
#define VYRE_UUID_BYTES 16

/* How a batch is launched. */
enum vyre_mode {
    VYRE_MODE_AUTO = 0,       /* Vyre chooses one of the others, batch by batch */
    VYRE_MODE_PLAIN = 1,      /* every command is launched; always works */
    VYRE_MODE_REPLAY = 2,     /* the batch is recorded once and submitted as a whole */
    VYRE_MODE_PERSISTENT = 3, /* a resident kernel takes the commands from a queue */
};
/* How many there are of enum vyre_mode. */
#define VYRE_MODE_COUNT 4

/* Ways to carry out a mode that differ in time only. Bits; 0 is what the backend does by itself. */
enum vyre_variant {
    VYRE_VARIANT_SERIAL = 1, /* one command after another, though some could run side by side */
    VYRE_VARIANT_DRIVER = 2, /* replay: the driver's own recording, not a list that Vyre walks */
};
/* All bits of enum vyre_variant. */
#define VYRE_VARIANT_MASK 3

/*
 * The name of a mode: "auto", "plain", "replay", "persistent"; "unknown" for anything else. Static.
 */
VYRE_API const char *vyre_mode_name(enum vyre_mode mode);

/* What a device is. */
enum vyre_device_kind {
    VYRE_DEVICE_KIND_ANY = 0,        /* in a desc: no matter which */
    VYRE_DEVICE_KIND_CPU = 1,        /* the cores of this machine */
    VYRE_DEVICE_KIND_INTEGRATED = 2, /* a GPU that shares the host's memory */
    VYRE_DEVICE_KIND_DISCRETE = 3,   /* a GPU with memory of its own */
    VYRE_DEVICE_KIND_SOFTWARE = 4,   /* a GPU API implemented on the CPU */
    VYRE_DEVICE_KIND_SIMULATED = 5,  /* a device of tests */
};

/* The name of a kind: "any", "cpu", "integrated" and so on; "unknown" for anything else. Static. */
VYRE_API const char *vyre_device_kind_name(enum vyre_device_kind kind);

/* Which device it is. */
struct vyre_device_info {
    const char *backend; /* Static: the backend's name */
    uint32_t index;      /* among the backend's devices */
    enum vyre_device_kind kind;
    char name[VYRE_NAME_BYTES];
    char driver[VYRE_NAME_BYTES];
    uint8_t uuid[VYRE_UUID_BYTES]; /* zeros: the device has none */
};

/* Lists the devices of all backends. Fills up to `capacity` entries, returns how many there are. */
VYRE_API size_t vyre_instance_devices(struct vyre_instance *instance,
                                      struct vyre_device_info *out_infos, size_t capacity);

/* What a device can do beyond plain launches. Where no value is named, present means not 0. */
enum vyre_ability_id {
    VYRE_ABILITY_REPLAY = 0,       /* replay mode */
    VYRE_ABILITY_PERSISTENT = 1,   /* persistent mode */
    VYRE_ABILITY_ARMS = 2,         /* value: commands that can run at the same time */
    VYRE_ABILITY_COPY_OVERLAP = 3, /* uploads beside kernels */
    VYRE_ABILITY_BINDLESS = 4,     /* table bindings; value: buffers in a table, at most */
    VYRE_ABILITY_SPECIALIZE = 5,   /* kernels take specialization values */
    VYRE_ABILITY_TIMESTAMPS = 6,   /* device times are measured, not derived */
    VYRE_ABILITY_HOST_VISIBLE = 7, /* buffers can be mapped */
};
/* How many there are of enum vyre_ability_id. */
#define VYRE_ABILITY_COUNT 8

/*
 * The name of an ability: "replay", "copy-overlap" and so on; "unknown" for anything else. Static.
 */
VYRE_API const char *vyre_ability_name(enum vyre_ability_id ability);

/* One ability of a device: present, or absent with the reason. */
struct vyre_ability {
    uint64_t value;                 /* 0: absent */
    char reason[VYRE_REASON_BYTES]; /* why it is absent, else "" */
};

/*
 * One fact about a device that is no ability of Vyre and explains what the device can do: "svm",
 * "fine-grain buffer"; "command-buffer", "0.9.0". Absent ones have an empty value and the reason.
 */
struct vyre_feature {
    char name[32];
    char value[64];
    char reason[VYRE_REASON_BYTES];
};
/* The most features that a device states. */
#define VYRE_FEATURES_MAX 24

/* Groups of one dispatch, all dimensions together, on any device. */
#define VYRE_GROUPS_TOTAL_MAX (UINT64_C(1) << 48)

/* The most that a device takes. */
struct vyre_device_limits {
    uint64_t buffer_size_bytes; /* the largest buffer */
    uint64_t memory_bytes;      /* all buffers together */
    uint32_t range_alignment;   /* of offsets in bindings; a power of two */
    uint32_t group_count[3];    /* of a dispatch; 2^48 groups in all */
    uint32_t group_invocations; /* of a work-group */
    uint32_t bindings;          /* of a kernel */
    uint32_t table_entries;     /* of a table binding */
    uint32_t constants_bytes;   /* always 128 */
    uint32_t local_bytes;       /* local memory of a work-group */
};

/*
 * How to open a device. A zeroed desc opens the first device there is, by the order of the backends
 * in the instance's list; the CPU comes first.
 */
struct vyre_device_desc {
    const char *backend;        /* NULL: any */
    const char *name;           /* NULL: any; else a part of the device's name, case ignored */
    enum vyre_device_kind kind; /* 0: any */
    uint32_t index;             /* among those that match */
    const char *label;          /* copied; NULL: the device's name */

    uint32_t in_flight_limit; /* batches submitted and not complete; 0: 256; at most 65,536 */
    bool busy_when_full;      /* submit past the limit returns VYRE_BUSY instead of blocking */
    uint32_t recording_limit; /* recordings kept; 0: 128; at most 65,536 */
    size_t recording_bytes;   /* memory of kept recordings; 0: 64 MiB */
    size_t batch_bytes_limit; /* commands and uploads of one batch; 0: 256 MiB */
    uint64_t hang_timeout_ns; /* the device is lost when no command ends for this long; 0: 10 s */
    uint64_t persistent_idle_ns;  /* a resident kernel leaves after so long without work; 0: 2 ms */
    uint64_t persistent_lease_ns; /* a resident kernel leaves after so long in any case; 0: 1 s */
    uint32_t cpu_workers; /* CPU backend: threads beside the caller; 0: cores - 1, at least 1 */
    bool cpu_no_inline;   /* CPU backend: never run a kernel on a submitting or waiting thread */

    const uint8_t *uuid; /* NULL: any; else VYRE_UUID_BYTES: only the device that has it */
    bool device_times;   /* measure on the device what is timed, even where that slows it down */
    uint64_t memory_limit_bytes; /* of all buffers together; 0: what the device reports */
    uint64_t staging_bytes;      /* for uploads and downloads of one device; 0: 16 MiB */
    uint32_t shape_limit;        /* shapes that auto remembers; 0: 1,024; at most 1,048,576 */
    uint32_t explore_bps;    /* auto may spend this much of the running time on trying modes that
                              were slower before, in 1/10,000; 0: 300; at most 10,000 */
    bool no_exploration;     /* auto tries each mode once at most */
    uint32_t decision_limit; /* decision records kept; 0: 256; at most 1,048,576 */
    bool no_decisions;       /* keep none and count none */
    const char *spirv_tools_path; /* the module for GLSL and SPIR-V; NULL: beside the library, then
                                     as the loader finds it */
    bool no_proof;                /* generated code is used unproven: see proof.h */
    uint64_t proof_bytes;         /* a batch that writes more is not proven; 0: 32 MiB */
    uint64_t proof_ns;            /* auto does not prove a batch that takes longer; 0: 1 s */
};

/*
 * Opens a device. `desc` may be NULL: the first device there is. The caller owns the device and
 * closes it before it destroys the instance.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_device_open(struct vyre_instance *instance,
                                                          const struct vyre_device_desc *desc,
                                                          struct vyre_device **out_device,
                                                          struct vyre_diag *diag);

/*
 * Waits for all submitted work, then frees the device with all that was created from it (buffers,
 * kernels, batches: their pointers are dead) and sets *device to NULL. For a lost device it does
 * not wait, and it keeps memory that a running kernel may still touch. NULL and a pointer to NULL
 * are ignored.
 */
VYRE_API void vyre_device_close(struct vyre_device **device);

/* The desc that the device was opened with, its zeros replaced by what they became. */
VYRE_API void vyre_device_get_desc(const struct vyre_device *device,
                                   struct vyre_device_desc *out_desc);

/* Which device it is: backend, name, driver, kind, UUID. */
VYRE_API void vyre_device_get_info(const struct vyre_device *device,
                                   struct vyre_device_info *out_info);

/* The most that the device takes: buffers, groups, bindings and so on. */
VYRE_API void vyre_device_get_limits(const struct vyre_device *device,
                                     struct vyre_device_limits *out_limits);

/* One ability: its value, or 0 with the reason. */
VYRE_API void vyre_device_get_ability(const struct vyre_device *device,
                                      enum vyre_ability_id ability,
                                      struct vyre_ability *out_ability);

/* Copies up to `capacity` features, and returns how many the device states. */
VYRE_API size_t vyre_device_features(const struct vyre_device *device,
                                     struct vyre_feature *out_features, size_t capacity);

/* Memory as the driver sees it now; what the driver does not report is 0. */
struct vyre_device_memory {
    uint64_t budget_bytes;     /* that this process may use */
    uint64_t used_bytes;       /* that this process uses, everything included */
    uint64_t reserved_bytes;   /* that this device has taken from the driver */
    uint64_t staging_bytes;    /* the part of reserved_bytes for uploads and downloads */
    uint32_t allocation_count; /* allocations from the driver behind reserved_bytes */
};

/* Asks the driver about memory. */
VYRE_API void vyre_device_get_memory(struct vyre_device *device,
                                     struct vyre_device_memory *out_memory);

/* ---- Tickets ---------------------------------------------------------------------------------- */

/* One submitted batch. A zeroed ticket belongs to no device. */
struct vyre_ticket {
    uint64_t device;   /* the identity of the device */
    uint64_t sequence; /* counts from 1 in submit order */
};

/* A timeout that never runs out. */
#define VYRE_FOREVER UINT64_MAX

/*
 * Waits until the batch is complete. Returns VYRE_OK or the status with which the batch ended;
 * VYRE_TIMEOUT means that it still runs. The calling thread may run some of the work (see
 * cpu_no_inline). When VYRE_OK is returned, downloads are in the caller's memory.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_ticket_wait(struct vyre_device *device,
                                                          struct vyre_ticket ticket,
                                                          uint64_t timeout_ns,
                                                          struct vyre_diag *diag);

/*
 * Looks whether the batch is complete and runs no work. VYRE_BUSY while it is not; else as
 * vyre_ticket_wait.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_ticket_poll(struct vyre_device *device,
                                                          struct vyre_ticket ticket,
                                                          struct vyre_diag *diag);

/* Waits for everything submitted so far. VYRE_TIMEOUT means that some of it still runs. */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_device_wait_idle(struct vyre_device *device,
                                                               uint64_t timeout_ns,
                                                               struct vyre_diag *diag);

/* Why a resident kernel left. */
enum vyre_residency_end {
    VYRE_RESIDENCY_NONE = 0,    /* it has not left, or the reason is not known */
    VYRE_RESIDENCY_IDLE = 1,    /* no work came for persistent_idle_ns */
    VYRE_RESIDENCY_LEASE = 2,   /* persistent_lease_ns ran out */
    VYRE_RESIDENCY_CHANGED = 3, /* another one took its place */
    VYRE_RESIDENCY_STOPPED = 4, /* work of another mode, a destroyed kernel, close or loss */
};

/* The name of a reason: "none", "idle", "lease", "changed", "stopped"; else "unknown". Static. */
VYRE_API const char *vyre_residency_end_name(enum vyre_residency_end why);

/*
 * What is known of a complete batch. Kept for the last 1,024 batches at least, or for twice
 * `in_flight_limit` if that is more.
 */
struct vyre_batch_result {
    enum vyre_status status;
    enum vyre_mode mode;      /* that it ran in */
    enum vyre_mode wanted;    /* that the policies or the caller asked for */
    enum vyre_why why;        /* why it ran so */
    uint64_t host_ns;         /* spent in submit; 0: not timed */
    uint64_t device_ns;       /* from its start to its end on the device; 0: not timed */
    uint32_t variant;         /* bits of enum vyre_variant */
    uint64_t device_begin_ns; /* its start, on the clock of vyre_clock_ns; 0: not known */
    enum vyre_why wanted_out; /* why `wanted` cannot run; VYRE_WHY_NONE: it can */
};

/* The clock of all times that Vyre reports: nanoseconds, monotonic, with an arbitrary start. */
VYRE_API uint64_t vyre_clock_ns(void);

/*
 * What is known of a complete batch. VYRE_BUSY while the batch is not complete; VYRE_NOT_FOUND when
 * its result is no longer kept.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_ticket_result(struct vyre_device *device,
                                                            struct vyre_ticket ticket,
                                                            struct vyre_batch_result *out_result,
                                                            struct vyre_diag *diag);

/* What a device has done so far. */
struct vyre_device_counters {
    uint64_t submitted;
    uint64_t completed;
    uint64_t failed;
    uint64_t by_mode[VYRE_MODE_COUNT];
    uint64_t recordings_made;
    uint64_t recordings_reused;
    uint64_t recordings_evicted;
    uint32_t recordings_kept;
    uint64_t recording_bytes;
    uint64_t memory_bytes; /* of buffers alive */
    uint64_t builds_made;  /* of what modes need beside the kernels: in warm-up, submit or beside */
    uint64_t builds_refused; /* builds that failed: the batch does not fit the mode */
};

/* The counts of a device up to now. Any thread. */
VYRE_API void vyre_device_get_counters(struct vyre_device *device,
                                       struct vyre_device_counters *out_counters);

#ifdef __cplusplus
}
#endif

#endif
