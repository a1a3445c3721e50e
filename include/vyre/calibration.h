/*
 * calibration.h: what launching costs on one live device.
 *
 * Every figure is measured after a warm-up. Figures that are compared with each other take turns,
 * sample by sample. Sampling ends when the 95 % confidence interval of the median is within 5 % of
 * it, or when the figure's time is up. A figure whose interval is then wider than 10 % is measured
 * up to three times more, after all the others, and the best result stays. It is marked as noisy if
 * that does not help. A noisy calibration is due again soon: see vyre_calibration_lifetime_s.
 *
 * Thread-safety: any thread; other work on the device during the measurement makes the result
 * wrong.
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
 * The figures. Times are of the host, in ns. "Batch" is what a batch costs beyond its commands,
 * "command" what each command adds: both with the wait for the end.
 */
enum vyre_cost_id {
    VYRE_COST_EMPTY = 0,          /* submit and wait for a batch without commands */
    VYRE_COST_SUBMIT = 1,         /* submit of a batch of one command, without the wait */
    VYRE_COST_PLAIN_BATCH = 2,    /* plain mode: a batch */
    VYRE_COST_PLAIN_COMMAND = 3,  /* plain mode: each command */
    VYRE_COST_RECORD_BATCH = 4,   /* recording: once per recording */
    VYRE_COST_RECORD_COMMAND = 5, /* recording: each command */
    VYRE_COST_REPLAY_BATCH = 6,   /* replay: a batch */
    VYRE_COST_REPLAY_COMMAND = 7, /* replay: each command */
    VYRE_COST_REPLAY_UPDATE = 8,  /* replay: each command whose constants changed since last time */
    VYRE_COST_DRIVER_RECORD_BATCH = 9,    /* VYRE_VARIANT_DRIVER, recording: once per recording */
    VYRE_COST_DRIVER_RECORD_COMMAND = 10, /* VYRE_VARIANT_DRIVER, recording: each command */
    VYRE_COST_DRIVER_REPLAY_BATCH = 11,   /* VYRE_VARIANT_DRIVER, replay: a batch */
    VYRE_COST_DRIVER_REPLAY_COMMAND = 12, /* VYRE_VARIANT_DRIVER, replay: each command */
    VYRE_COST_DRIVER_REPLAY_UPDATE = 13,  /* VYRE_VARIANT_DRIVER, replay: each changed command */
    VYRE_COST_PERSISTENT_SETUP = 14,      /* from nothing resident to the end of the first item */
    VYRE_COST_PERSISTENT_BATCH = 15,      /* persistent mode: the round trip of a batch */
    VYRE_COST_PERSISTENT_COMMAND = 16,    /* persistent mode: each command */
    VYRE_COST_COPY_BATCH = 17,            /* a copy of 4 bytes on the device */
    VYRE_COST_COPY_MIB = 18,              /* each MiB of a copy */
    VYRE_COST_UPLOAD_BATCH = 19,          /* an upload of 4 bytes */
    VYRE_COST_UPLOAD_MIB = 20,            /* each MiB of an upload */
    VYRE_COST_DOWNLOAD_BATCH = 21,        /* a download of 4 bytes */
    VYRE_COST_DOWNLOAD_MIB = 22,          /* each MiB of a download */
    VYRE_COST_COMPILE = 23,               /* a small kernel, until it has run once */
};
/* How many there are of enum vyre_cost_id. */
#define VYRE_COST_COUNT 24

/* The name of a figure: "plain-command" and so on; "unknown" for anything else. Static. */
VYRE_API const char *vyre_cost_name(enum vyre_cost_id cost);

/* One measured figure. */
struct vyre_cost {
    bool known; /* false: the device cannot do it */
    bool noisy;
    uint32_t samples;
    double min_ns;
    double median_ns;
    double spread_ns;     /* from the lower to the upper quartile */
    double confidence_ns; /* half of the 95 % confidence interval of the median */
};

/*
 * Many figures are differences of two times. If the difference is smaller than its noise, the
 * figure is lost: its median may be 0 by chance, and only an upper bound is known. Auto then uses
 * what the backend states, or the bound if the backend states more or nothing. Returns that bound;
 * 0: the figure is not lost.
 */
VYRE_API double vyre_cost_bound_ns(const struct vyre_cost *cost);

/* All figures of one device. */
struct vyre_calibration {
    struct vyre_cost costs[VYRE_COST_COUNT];
    uint64_t taken_s; /* seconds since 1970; 0: never */
    uint64_t took_ns;
    /*
     * How many calibrations in a row were noisy, this one included: had a noisy figure among those
     * that auto decides by. One that was taken before the last one was due does not count.
     */
    uint32_t noisy_runs;
};

/*
 * Called after each figure: `done` of `count`. A figure that is measured again is reported again,
 * with the same `done`; `result` is the best so far. Returning false ends the calibration
 * (VYRE_BUSY).
 */
typedef bool vyre_calibration_progress(void *user, uint32_t done, uint32_t count,
                                       enum vyre_cost_id cost, const struct vyre_cost *result);

/* How to calibrate. A zeroed struct is fine. */
struct vyre_calibration_options {
    vyre_calibration_progress *progress; /* may be NULL */
    void *user;                          /* Borrowed */
    uint64_t time_ns; /* for every figure once, and as much for noisy ones; 0: 3 s */
};

/*
 * Measures the device, which should be idle, and uses the result: it decides later batches in auto.
 * `options` may be NULL. On failure the device keeps the costs that it had.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_device_calibrate(
    struct vyre_device *device, const struct vyre_calibration_options *options,
    struct vyre_calibration *out_calibration, struct vyre_diag *diag);

/* Uses costs that were measured before on the same device and driver. */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_device_set_calibration(
    struct vyre_device *device, const struct vyre_calibration *calibration, struct vyre_diag *diag);

/*
 * The costs that decisions are made from. Before a calibration taken_s is 0 and no cost is known.
 */
VYRE_API void vyre_device_get_calibration(struct vyre_device *device,
                                          struct vyre_calibration *out_calibration);

#ifdef __cplusplus
}
#endif

#endif
