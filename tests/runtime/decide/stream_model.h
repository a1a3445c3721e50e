/*
 * stream_model.h: a program that submits a stream of batches to a simulated device, in one mode from start to end.
 *
 * Words
 *   device      what each mode costs, on the host and on the device; both overlap if several batches are in flight
 *   program     which shapes come in which order, how many batches are in flight, and whether the program idles
 *   completion  when the program, and so the runtime, learns that batches ended
 *   seed        of the noise, of the order of shapes and of the error of calibration
 *   warm-up     batches at the start that do not count for `warm_ns` and for the changes
 *
 * Noise is a factor on all costs of a batch except recording and setup. It depends on the number of the batch and on
 * virtual time, never on the mode, so that the ratio of two runs with one seed shows what was chosen.
 *
 * Time during which the program idles, with nothing in flight, is not counted.
 */
#ifndef VYRE_TESTS_RUNTIME_DECIDE_STREAM_MODEL_H
#define VYRE_TESTS_RUNTIME_DECIDE_STREAM_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/vyre.h>

enum { STREAM_BATCHES_MAX = 6000, STREAM_SHAPES_MAX = 64, STREAM_DEPTH_MAX = 64 };

/* Times in ns. A batch takes fixed (once), then host on the host and device on the device. */
struct stream_mode {
    double fixed;
    double host_batch, host_command;
    double device_batch, device_command;
};

struct stream_device {
    const char *name;
    uint32_t commands;
    double execution; /* per command, on the device, in every mode */
    struct stream_mode plain, replay, persistent;
    bool no_persistent;
};

enum stream_completion {
    STREAM_AT_ONCE = 0, /* at their ends */
    STREAM_FOUND,       /* when the program waits */
    STREAM_BY_EIGHT,    /* eight at the same moment */
    STREAM_BY_PERIOD,   /* when the program waits, at multiples of the time of two plain batches */
};
#define STREAM_COMPLETION_COUNT 4

enum stream_order {
    STREAM_IN_TURN = 0,
    STREAM_SHUFFLED,
    STREAM_FRESH, /* every batch is a new shape, with new buffers */
};

struct stream_program {
    uint32_t batches;
    uint32_t warm_up;
    uint32_t shapes; /* 0: 1 */
    enum stream_order order;
    uint32_t depth; /* in flight; when there are so many, the program waits for the oldest */
    enum stream_completion completion;
    bool hinted;
    bool swings; /* a quarter of virtual time everything takes 1.5 times as long */
    bool cold;   /* the first two batches take 1,000 plain batches longer, in every mode */
    uint64_t
        frame_ns; /* the program waits for all batches and idles until the next frame; 0: never */
    uint32_t frame_batches; /* that it submits in a frame */
};

struct stream_result {
    double all_ns;
    double warm_ns;
    uint32_t switches; /* batches in another mode than the batch of the shape before */
    uint32_t choices;  /* ... of those that are not tries */
    uint64_t recordings;
    uint64_t by_mode[VYRE_MODE_COUNT];
};

/* Runs the program in `mode`; VYRE_MODE_AUTO with a calibration that is up to 30 % off. */
void stream_run(const struct stream_device *device, const struct stream_program *program,
                enum vyre_mode mode, uint64_t seed, struct stream_result *out_result);

const char *stream_completion_name(enum stream_completion completion);

#endif
