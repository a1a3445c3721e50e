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
 * A program gives its observer to vyre_instance_create. With one, every batch is timed by the clock of
 * the host and told once what it cost is known: by a later submit, by vyre_device_wait_idle or when
 * the device is closed. What a calibration submits is not told.
 *
 * Thread-safety: events come from any thread that uses the instance, several at once. An observer must
 * not call back into Vyre. A recorder belongs to one instance.
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

enum vyre_event_type {
    VYRE_EVENT_NONE = 0,
    VYRE_EVENT_DEVICE_OPENED = 1,
    VYRE_EVENT_DEVICE_CLOSED = 2,
    VYRE_EVENT_CALIBRATED = 3,
    VYRE_EVENT_KERNEL_CREATED = 4,
    VYRE_EVENT_BATCH_COMPLETED = 5,
    VYRE_EVENT_LEASE = 6,
    VYRE_EVENT_RECORDING = 7,
    VYRE_EVENT_SHAPE = 8,
};
#define VYRE_EVENT_TYPE_COUNT 9

/* "none", "device-opened" and so on; "unknown" for anything else. Static. */
VYRE_API const char *vyre_event_type_name(enum vyre_event_type type);

/* How many there are of enum vyre_command_type. */
#define VYRE_COMMAND_TYPE_COUNT 5

/* "dispatch", "copy" and so on; "unknown" for anything else. Static. */
VYRE_API const char *vyre_command_type_name(enum vyre_command_type type);

struct vyre_event_device_opened {
    uint32_t size_bytes;
    uint32_t ability_count;
    const struct vyre_device_info *info;
    const char *label;                          /* may be NULL */
    const struct vyre_ability *abilities;       /* by enum vyre_ability_id */
    const struct vyre_calibration *calibration; /* NULL: not calibrated */
};

struct vyre_event_device_closed {
    uint32_t size_bytes;
    uint32_t reserved;
    const struct vyre_device_counters *counters;
    const struct vyre_decision_counters *decisions; /* NULL: none were counted */
};

struct vyre_event_calibrated {
    uint32_t size_bytes;
    uint32_t reserved;
    const struct vyre_calibration *calibration;
};

struct vyre_event_kernel_created {
    uint32_t size_bytes;
    uint32_t reserved;
    const char *label; /* may be NULL */
    uint64_t begin_ns;
    uint64_t compile_ns;
};

/* As many different kernels are named per batch. */
#define VYRE_EVENT_KERNELS_MAX 8

struct vyre_event_kernel_use {
    const char *label; /* may be NULL */
    uint32_t dispatch_count;
    uint32_t reserved;
};

struct vyre_event_batch_completed {
    uint32_t size_bytes;
    enum vyre_status status;
    uint64_t sequence; /* of its ticket */
    const char *label; /* may be NULL */

    /* Mode, variant and reason are in here; with candidates when the batch was compared. */
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
    uint32_t is_derived; /* 1: nobody saw the end; it lies at end_ns or before */
    uint64_t lease;      /* counts the device's leases from 1; gaps were not seen */
    uint64_t begin_ns;
    uint64_t end_ns; /* when it was seen to have left */
    uint32_t why;    /* enum vyre_residency_end; NONE: it has not left, or nobody knows */
    uint32_t reserved;
};

enum vyre_recording_change {
    VYRE_RECORDING_MADE = 0,
    VYRE_RECORDING_EVICTED = 1,
};

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
 * A batch of a shape that was not met before, or not since the device's costs changed: what the six
 * policies are asked of it and what they say. Comes before the batch. Of the explanation's `next`
 * nothing is to be relied on: the batch has its own decision.
 */
struct vyre_event_shape {
    uint32_t size_bytes;
    uint32_t reserved;
    uint64_t shape_lo;
    uint64_t shape_hi;
    const struct vyre_explanation *explanation;
};

struct vyre_event {
    uint32_t size_bytes;
    enum vyre_event_type type; /* says which pointer of `as` is valid */
    uint64_t time_ns;
    uint64_t device; /* the identity that the device's tickets carry */
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

/* Who is told. A zeroed one is nobody. */
struct vyre_observer {
    size_t size_bytes;
    void *user; /* Borrowed: passed back to `event` */
    void (*event)(void *user, const struct vyre_event *event);
};

/* ---- The recorder ----------------------------------------------------------------------------- */

struct vyre_recorder;

#define VYRE_RECORDER_DEFAULT_BYTES (UINT64_C(64) << 20)
#define VYRE_RECORDER_MIN_BYTES     (UINT64_C(16) << 10)

/* A zeroed struct is fine. */
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
    uint64_t stride;     /* every so many-th batch is kept now */
    uint64_t size_bytes; /* of the file, without its end */
};

/*
 * Creates the file, or empties it, and writes its head. It must be a regular file. All memory is
 * taken here (about 1 MiB). The file is a whole JSON document after each write, so that a process
 * that dies leaves what it had written by then.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_recorder_open(
    const char *path, const struct vyre_recorder_options *options,
    struct vyre_recorder **out_recorder, struct vyre_diag *diag);

/* The observer to create instances with. The recorder must outlive them. */
VYRE_API struct vyre_observer vyre_recorder_observer(struct vyre_recorder *recorder);

/* Any thread, at any time before close. */
VYRE_API void vyre_recorder_get_counters(struct vyre_recorder *recorder,
                                         struct vyre_recorder_counters *out_counters);

/*
 * Ends the file, frees the recorder and sets *recorder to NULL, also when it fails. Fails when any
 * write has failed; what was written before is then still a whole document where the disk allows.
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

/* Fills it in. `label` is valid until the device is closed. Any thread, at any time. */
VYRE_API void vyre_device_get_metrics(struct vyre_device *device, struct vyre_metrics *out_metrics);

/*
 * Prometheus' text format (version 0.0.4) for `count` devices: HELP and TYPE once per metric, labels
 * escaped. Writes as snprintf does: always terminated when `capacity` is not 0, and returns the
 * length that the whole text has.
 */
VYRE_API size_t vyre_metrics_text(const struct vyre_metrics *metrics, size_t count, char *out,
                                  size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
