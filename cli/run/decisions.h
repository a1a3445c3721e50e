/*
 * decisions.h: why the batches of a run were launched as they were, and how well this was predicted.
 */
#ifndef VYRE_CLI_RUN_DECISIONS_H
#define VYRE_CLI_RUN_DECISIONS_H

#include <vyre/vyre.h>

#include "run/samples.h"
#include "terminal/json.h"

/* The decisions with one reason. */
struct cli_why {
    uint64_t count; /* exact */
    struct samples predicted_ns;
    struct samples measured_ns;
    struct samples ratios; /* measured over predicted, in 1/1,000 */
};

struct cli_decisions {
    uint64_t before[VYRE_WHY_COUNT]; /* counts when the run began */
    uint64_t first_sequence;
    struct cli_why whys[VYRE_WHY_COUNT];
};

/* Starts counting: earlier decisions of the device are left out. */
void cli_decisions_begin(struct cli_decisions *decisions, struct vyre_device *device);

/* Counts the decisions since then, and reads the records that are still kept. Call once. */
void cli_decisions_end(struct cli_decisions *decisions, struct vyre_device *device);
void cli_decisions_deinit(struct cli_decisions *decisions);

/* A table of the reasons that occurred. */
void cli_decisions_print(struct cli_decisions *decisions, bool colour, struct cli_output *out);

/* "whys": counts by name; "predictions": an array of those that were recorded. */
void cli_decisions_json(struct cli_decisions *decisions, struct cli_json *json);

#endif
