/*
 * calibration.h: what launching costs on one live device.
 *
 * Every figure is measured after a warm-up, in samples that take turns with those of the other
 * figures where the two are compared, until the 95 % confidence interval of the median is within 5 %
 * of it or the figure's time is up. One whose interval is then wider than 10 % is measured once more
 * and marked as noisy if it stays so.
 *
 * Thread-safety: any thread; other work on the device during the measurement falsifies it.
 */
#ifndef VYRE_CALIBRATION_H
#define VYRE_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/device.h>
#include <vyre/diag.h>
#include <vyre/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Times are of the host, in ns. "Batch" is what a batch costs beyond its commands, "command" what
 * each of them adds: both with the wait for the end.
 */
enum vyre_cost_id {
    VYRE_COST_EMPTY = 0,  /* submit and wait for a batch without commands */
    VYRE_COST_SUBMIT = 1, /* submit of a batch of one command, not waited for */
    VYRE_COST_PLAIN_BATCH = 2,
    VYRE_COST_PLAIN_COMMAND = 3,
    VYRE_COST_RECORD_BATCH = 4,   /* once per recording ... */
    VYRE_COST_RECORD_COMMAND = 5, /* ... and per command of it */
    VYRE_COST_REPLAY_BATCH = 6,
    VYRE_COST_REPLAY_COMMAND = 7,
    VYRE_COST_REPLAY_UPDATE = 8,       /* per command whose constants are others than last time */
    VYRE_COST_DRIVER_RECORD_BATCH = 9, /* the same of VYRE_VARIANT_DRIVER */
    VYRE_COST_DRIVER_RECORD_COMMAND = 10,
    VYRE_COST_DRIVER_REPLAY_BATCH = 11,
    VYRE_COST_DRIVER_REPLAY_COMMAND = 12,
    VYRE_COST_DRIVER_REPLAY_UPDATE = 13,
    VYRE_COST_PERSISTENT_SETUP = 14, /* from nothing resident to the end of the first item */
    VYRE_COST_PERSISTENT_BATCH = 15, /* round trip */
    VYRE_COST_PERSISTENT_COMMAND = 16,
    VYRE_COST_COPY_BATCH = 17, /* a copy of 4 bytes on the device */
    VYRE_COST_COPY_MIB = 18,   /* each MiB of it */
    VYRE_COST_UPLOAD_BATCH = 19,
    VYRE_COST_UPLOAD_MIB = 20,
    VYRE_COST_DOWNLOAD_BATCH = 21,
    VYRE_COST_DOWNLOAD_MIB = 22,
    VYRE_COST_COMPILE = 23, /* a small kernel, until it has run once */
};
#define VYRE_COST_COUNT 24

/* "plain-command" and so on; "unknown" for anything else. Static. */
VYRE_API const char *vyre_cost_name(enum vyre_cost_id cost);

struct vyre_cost {
    bool known; /* false: the device cannot do it */
    bool noisy;
    uint32_t samples;
    double min_ns;
    double median_ns;
    double spread_ns;     /* from the lower to the upper quartile */
    double confidence_ns; /* half of the 95 % confidence interval of the median */
};

struct vyre_calibration {
    struct vyre_cost costs[VYRE_COST_COUNT];
    uint64_t taken_s; /* seconds since 1970; 0: never */
    uint64_t took_ns;
};

/* Called after each figure: `done` of `count`. Returning false ends the calibration (VYRE_BUSY). */
typedef bool vyre_calibration_progress(void *user, uint32_t done, uint32_t count,
                                       enum vyre_cost_id cost, const struct vyre_cost *result);

/* A zeroed struct is fine. */
struct vyre_calibration_options {
    vyre_calibration_progress *progress; /* may be NULL */
    void *user;                          /* Borrowed */
    uint64_t time_ns;                    /* for everything; 0: 3 s */
};

/*
 * Measures the device, which should be idle, and goes on with the result: later batches in auto are
 * decided by it. On failure the device keeps the costs that it had.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_device_calibrate(
    struct vyre_device *device, const struct vyre_calibration_options *options,
    struct vyre_calibration *out_calibration, struct vyre_diag *diag);

/* Goes on with costs that were measured before on the same device and driver. */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_device_set_calibration(
    struct vyre_device *device, const struct vyre_calibration *calibration, struct vyre_diag *diag);

/* What decisions are made from; taken_s is 0 and nothing is known before a calibration. */
VYRE_API void vyre_device_get_calibration(struct vyre_device *device,
                                          struct vyre_calibration *out_calibration);

#ifdef __cplusplus
}
#endif

#endif
