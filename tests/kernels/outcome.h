/*
 * outcome.h: what came of one program in one mode, as workers report it.
 */
#ifndef VYRE_TESTS_KERNELS_OUTCOME_H
#define VYRE_TESTS_KERNELS_OUTCOME_H

#include <vyre/device.h>

#include "kernels/program.h"

enum verdict {
    VERDICT_NONE = 0,
    VERDICT_STARTED, /* the worker has begun with it */
    VERDICT_AGREED,  /* all bytes as the oracle has them */
    VERDICT_REFUSED, /* some batches did not run in the mode; the bytes agree */
    VERDICT_ABSENT,  /* the device does not have the mode */
    VERDICT_DIFFERS, /* other bytes */
    VERDICT_BROKEN,  /* a call failed */
    VERDICT_CRASHED, /* the worker died */
    VERDICT_HUNG,    /* the worker was silent for too long */
    VERDICT_INVALID, /* the oracle refuses the program: the generator's mistake */
    VERDICT_NO_DEVICE,
    VERDICT_READY, /* the worker waits for another program */
    VERDICT_DONE,  /* the worker has nothing left to do */
};

/* Small enough to be written to a pipe as a whole. */
struct outcome {
    enum verdict verdict;
    enum vyre_mode mode;
    uint64_t index; /* of the program in the campaign */
    uint64_t seed;
    uint32_t features[FEATURE_COUNT];  /* with INVALID and AGREED in plain mode */
    uint32_t outside;                  /* DIFFERS: bytes that lie in no range that is written */
    uint32_t batches;                  /* submits in the mode */
    uint32_t by_mode[VYRE_MODE_COUNT]; /* in auto: what they became */
    char text[700];                    /* what differs, or why */
};

static inline bool outcome_is_failure(const struct outcome *outcome)
{
    return outcome->verdict == VERDICT_DIFFERS || outcome->verdict == VERDICT_BROKEN ||
           outcome->verdict == VERDICT_CRASHED || outcome->verdict == VERDICT_HUNG;
}

#endif
