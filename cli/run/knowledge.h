/*
 * knowledge.h: what a run knows of its device at the start, and what it keeps for later runs.
 *
 *   at the start  the calibration, from the store if it is at most 7 days old, or measured now; what
 *                 earlier runs learned about shapes of work; which generated code they refused
 *   at the end    the run puts what it learned and refused into the store
 *
 * A calibration is measured when the user asked for it. It is also measured when the store has none, or a
 * noisy one that is due again, but can take one, and the schedule is long enough to be worth the time.
 * Otherwise auto uses the noisy one, or the costs that the backend states. A required mode gets the
 * refusals only; plain, which runs no generated code, gets nothing.
 */
#ifndef VYRE_CLI_RUN_KNOWLEDGE_H
#define VYRE_CLI_RUN_KNOWLEDGE_H

#include <vyre/vyre.h>

#include "run/costs.h"
#include "run/options.h"
#include "run/refusals.h"
#include "terminal/progress.h"

/* Schedules of more batches than this are worth a calibration. */
#define CLI_KNOWLEDGE_BATCHES 200

enum cli_costs_source {
    CLI_COSTS_UNUSED = 0, /* a required mode needs no costs */
    CLI_COSTS_STATED = 1, /* by the backend */
    CLI_COSTS_STORED = 2,
    CLI_COSTS_MEASURED = 3, /* now */
};

/* A zeroed struct knows nothing. */
struct cli_knowledge {
    struct vyre_store *store; /* Owned; NULL: none */
    bool keeps;               /* the store is a file that can be written */
    enum cli_costs_source source;
    bool due; /* stored costs that are noisy and should be measured again */
    char reason[VYRE_DIAG_MESSAGE_BYTES]; /* why the costs are the stated ones */
    struct vyre_calibration calibration;
    uint64_t loaded; /* learnings */
    struct cli_store_options place;
    struct cli_refusals refusals; /* loaded */
};

/*
 * Opens the store and gives the device, which must be idle, what is known. `batches` is the length of
 * the schedule. Fails only when --calibrate was given and the calibration fails. Ctrl-C ends a
 * calibration without an error; the costs are then the stored or the stated ones.
 */
VYRE_NODISCARD enum vyre_status cli_knowledge_give(struct cli_knowledge *knowledge,
                                                   struct vyre_device *device,
                                                   const struct cli_options *options,
                                                   uint64_t batches, struct vyre_diag *diag);

/* Puts what the device learned into the store. The store prints a failure on standard error. */
void cli_knowledge_keep(struct cli_knowledge *knowledge, struct vyre_device *device);

/*
 * Puts what the run refused into the store, and opens the store if it is not open yet. `device` is any
 * device of the run; the refusals go into the store through it.
 */
void cli_knowledge_keep_refusals(struct cli_knowledge *knowledge,
                                 const struct cli_refusals *refusals, struct vyre_device *device);

void cli_knowledge_close(struct cli_knowledge *knowledge);

/* One line: which costs, and from when. Nothing for required modes. */
void cli_knowledge_print(const struct cli_knowledge *knowledge, struct cli_output *out);

/* "calibration": an object, null for required modes; and "learnings_loaded". */
void cli_knowledge_json(const struct cli_knowledge *knowledge, struct cli_json *json);

/* Measures a device, with a progress line. Ctrl-C makes it fail: VYRE_BUSY, calibration-stopped. */
VYRE_NODISCARD enum vyre_status cli_calibrate(struct vyre_device *device, uint64_t time_ns,
                                              struct cli_progress *progress, uint64_t progress_base,
                                              struct vyre_calibration *out_calibration,
                                              struct vyre_diag *diag);

/*
 * Puts what the device measured into the store, and returns whether it is in the file. If it is not,
 * `out_failure` says why; its id is NONE if the store's log has already said so.
 */
VYRE_NODISCARD bool cli_calibration_keep(struct vyre_store *store, struct vyre_device *device,
                                         struct vyre_diag *out_failure);

#endif
