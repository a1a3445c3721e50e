/*
 * observer.h: what happens on the devices of an instance, as events for a callback or a file.
 *
 *   program ----> struct vyre_observer ----> its own callback
 *                        |
 *                        +----------------> vyre_recorder ----> OUT.json (docs/record-format.md)
 *
 * Words
 *   event     something that happened; borrowed: nothing in it outlives the call
 *   recorder  an observer that writes a file of bounded size
 *   metrics   what a device has counted, as Prometheus reads it
 *
 * All times are those of vyre_clock_ns; 0 means "not known". Structs begin with their size and grow
 * only at the end.
 *
 * A program gives its observer to vyre_instance_create. Every batch is then timed by the clock of
 * the host. The observer receives a batch's event when the cost of the batch is known: in a later
 * submit, in vyre_device_wait_idle, or when the device is closed. What a calibration submits makes
 * no events.
 *
 * Thread-safety: events come from any thread that uses the instance, several at once. An observer
 * must not call back into Vyre. A recorder belongs to one instance.
 */
#ifndef VYRE_OBSERVER_H
#define VYRE_OBSERVER_H

#include <stddef.h>
#include <stdint.h>

#include <vyre/allocator.h>
#include <vyre/backend.h>
#include <vyre/calibration.h>
#include <vyre/decision.h>
#include <vyre/device.h>
#include <vyre/diag.h>
#include <vyre/explain.h>
#include <vyre/export.h>
#include <vyre/proof.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Events ----------------------------------------------------------------------------------- */

/* What happened. */
enum vyre_event_type {
    VYRE_EVENT_NONE = 0,            /* not set: never sent */
    VYRE_EVENT_DEVICE_OPENED = 1,   /* a device was opened */
    VYRE_EVENT_DEVICE_CLOSED = 2,   /* a device is closed; its last event */
    VYRE_EVENT_CALIBRATED = 3,      /* a device got other costs */
    VYRE_EVENT_KERNEL_CREATED = 4,  /* a kernel was created */
    VYRE_EVENT_BATCH_COMPLETED = 5, /* a batch is complete and what it cost is known */
    VYRE_EVENT_LEASE = 6,           /* a persistent kernel became resident or left */
    VYRE_EVENT_RECORDING = 7,       /* a recording was made or evicted */
    VYRE_EVENT_SHAPE = 8,           /* a batch of a new shape is decided */
};
/* How many there are of enum vyre_event_type. */
#define VYRE_EVENT_TYPE_COUNT 9

/* The name of an event: "none", "device-opened" and so on; "unknown" for anything else. Static. */
VYRE_API const char *vyre_event_type_name(enum vyre_event_type type);

/* How many there are of enum vyre_command_type. */
#define VYRE_COMMAND_TYPE_COUNT 5

/* The name of a command: "dispatch", "copy" and so on; "unknown" for anything else. Static. */
VYRE_API const char *vyre_command_type_name(enum vyre_command_type type);

/* A device was opened. */
struct vyre_event_device_opened {
    uint32_t size_bytes;
    uint32_t ability_count;
    const struct vyre_device_info *info;
    const char *label;                          /* may be NULL */
    const struct vyre_ability *abilities;       /* by enum vyre_ability_id */
    const struct vyre_calibration *calibration; /* NULL: not calibrated */
};

/* A device is closed: what it counted. */
struct vyre_event_device_closed {
    uint32_t size_bytes;
    uint32_t reserved;
    const struct vyre_device_counters *counters;
    const struct vyre_decision_counters *decisions; /* NULL: none were counted */
};

/* A device got other costs. */
struct vyre_event_calibrated {
    uint32_t size_bytes;
    uint32_t reserved;
    const struct vyre_calibration *calibration;
};

/* A kernel was created. */
struct vyre_event_kernel_created {
    uint32_t size_bytes;
    uint32_t reserved;
    const char *label; /* may be NULL */
    uint64_t begin_ns;
    uint64_t compile_ns;
};

/* The most kernels that the event of a batch names. */
#define VYRE_EVENT_KERNELS_MAX 8

/* How often a batch dispatches one kernel. */
struct vyre_event_kernel_use {
    const char *label; /* may be NULL */
    uint32_t dispatch_count;
    uint32_t reserved;
};

/* A batch is complete: what was decided for it, and what it took. */
struct vyre_event_batch_completed {
    uint32_t size_bytes;
    enum vyre_status status;
    uint64_t sequence; /* of its ticket */
    const char *label; /* may be NULL */

    /* Holds mode, variant and reason, and the candidates when they were compared for the batch. */
    const struct vyre_decision_record *decision;

    uint64_t submit_begin_ns;
    uint64_t submit_ns;
    uint64_t device_begin_ns;
    uint64_t device_ns;
    uint64_t complete_ns;

    uint32_t commands[VYRE_COMMAND_TYPE_COUNT]; /* by enum vyre_command_type */
    uint32_t kernel_count;                      /* in `kernels` */
    uint64_t copied_bytes;                      /* by copies, uploads and downloads */
    struct vyre_event_kernel_use kernels[VYRE_EVENT_KERNELS_MAX];
};

/* A persistent kernel became resident (end_ns is 0) or left. */
struct vyre_event_lease {
    uint32_t size_bytes;
    uint32_t is_derived; /* 1: the end was not seen; it lies at end_ns or before */
    uint64_t lease;      /* counts the device's leases from 1; gaps were not seen */
    uint64_t begin_ns;
    uint64_t end_ns; /* when it was seen to have left */
    uint32_t why;    /* enum vyre_residency_end; NONE: it has not left, or not known */
    uint32_t reserved;
};

/* What became of a recording. */
enum vyre_recording_change {
    VYRE_RECORDING_MADE = 0,    /* it was made */
    VYRE_RECORDING_EVICTED = 1, /* it was dropped to make room */
};

/* A recording was made or evicted. */
struct vyre_event_recording {
    uint32_t size_bytes;
    enum vyre_recording_change change;
    uint64_t shape_lo;
    uint64_t shape_hi;
    uint64_t size_of_recording_bytes; /* 0: not known */
    uint64_t begin_ns;                /* made: when recording it began */
    uint64_t record_ns;               /* made: what recording it took */
};

/*
 * A batch has a shape that the device has not met, or not since its costs changed: what the six
 * policies are asked about it and what they answer. Comes before the event of the batch. Do not
 * rely on `next` of the explanation: the batch has its own decision.
 */
struct vyre_event_shape {
    uint32_t size_bytes;
    uint32_t reserved;
    uint64_t shape_lo;
    uint64_t shape_hi;
    const struct vyre_explanation *explanation;
};

/* One event. */
struct vyre_event {
    uint32_t size_bytes;
    enum vyre_event_type type; /* says which pointer of `as` is valid */
    uint64_t time_ns;
    uint64_t device; /* the identity that the device's tickets carry */
    /* The event itself, by its type. */
    union {
        const struct vyre_event_device_opened *device_opened;
        const struct vyre_event_device_closed *device_closed;
        const struct vyre_event_calibrated *calibrated;
        const struct vyre_event_kernel_created *kernel_created;
        const struct vyre_event_batch_completed *batch_completed;
        const struct vyre_event_lease *lease;
        const struct vyre_event_recording *recording;
        const struct vyre_event_shape *shape;
    } as;
};

/* A callback for events. A zeroed one receives none. */
struct vyre_observer {
    size_t size_bytes;
    void *user; /* Borrowed: passed back to `event` */
    void (*event)(void *user, const struct vyre_event *event);
};

/* ---- The recorder ----------------------------------------------------------------------------- */

/* An observer that writes a file of bounded size. */
struct vyre_recorder;

/* The limit of a record's file when the options name none. */
#define VYRE_RECORDER_DEFAULT_BYTES (UINT64_C(64) << 20)
/* The smallest limit of a record's file. */
#define VYRE_RECORDER_MIN_BYTES (UINT64_C(16) << 10)

/* How to record. A zeroed struct is fine. */
struct vyre_recorder_options {
    struct vyre_allocator allocator;
    uint64_t limit_bytes; /* of the file; 0: 64 MiB; at least 16 KiB */
};

/* What a recorder has seen and kept so far. */
struct vyre_recorder_counters {
    uint64_t batches_seen;
    uint64_t batches_kept;
    uint64_t events_seen; /* all others */
    uint64_t events_kept;
    uint64_t stride;     /* one batch in so many is kept now */
    uint64_t size_bytes; /* of the file, without its end */
};

/*
 * Creates the file, or empties it, and writes its head. It must be a regular file. All memory is
 * taken here (about 1 MiB). After each write the file is a whole JSON document: a process that dies
 * leaves a valid record. `options` may be NULL.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_recorder_open(
    const char *path, const struct vyre_recorder_options *options,
    struct vyre_recorder **out_recorder, struct vyre_diag *diag);

/* The observer to give to an instance. The recorder must outlive the instance. */
VYRE_API struct vyre_observer vyre_recorder_observer(struct vyre_recorder *recorder);

/* What the recorder has seen and kept. Any thread, at any time before close. */
VYRE_API void vyre_recorder_get_counters(struct vyre_recorder *recorder,
                                         struct vyre_recorder_counters *out_counters);

/*
 * Ends the file, frees the recorder and sets *recorder to NULL, also when it fails. Fails when any
 * write has failed; what was written before is then still a whole document where the disk allows.
 * NULL and a pointer to NULL are ignored.
 */
VYRE_API enum vyre_status vyre_recorder_close(struct vyre_recorder **recorder,
                                              struct vyre_diag *diag);

/* ---- Metrics ---------------------------------------------------------------------------------- */

/* One device's counts at one moment. */
struct vyre_metrics {
    size_t size_bytes;
    struct vyre_device_info info;
    const char *label; /* Borrowed; NULL: the device's name */
    struct vyre_device_counters counters;
    struct vyre_decision_counters decisions;
    struct vyre_device_memory memory;
    struct vyre_proof_counters proofs;
};

/* Reads a device's counts. `label` is valid until the device is closed. Any thread, at any time. */
VYRE_API void vyre_device_get_metrics(struct vyre_device *device, struct vyre_metrics *out_metrics);

/*
 * Writes Prometheus' text format (version 0.0.4) for `count` devices: HELP and TYPE once per
 * metric, labels escaped. Works as snprintf does: always terminated when `capacity` is not 0, and
 * returns the length that the whole text has.
 */
VYRE_API size_t vyre_metrics_text(const struct vyre_metrics *metrics, size_t count, char *out,
                                  size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
