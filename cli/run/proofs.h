/*
 * proofs.h: the proofs of generated code in a run: text and JSON.
 */
#ifndef VYRE_CLI_PROOFS_H
#define VYRE_CLI_PROOFS_H

#include <vyre/vyre.h>

#include "run/refusals.h"
#include "terminal/json.h"
#include "terminal/output.h"
#include "workload/workload.h"

/* Of one device or of several. A zeroed struct has none. */
struct cli_proofs {
    struct vyre_proof_counters counters;
    struct cli_refusals found;  /* by this run */
    struct cli_refusals stored; /* by earlier runs, and in the way of this one */
};

void cli_proofs_deinit(struct cli_proofs *proofs);

/* Adds what the device counted and refused. `known` is what it was told before. */
void cli_proofs_add(struct cli_proofs *proofs, struct vyre_device *device,
                    const struct cli_refusals *known);

/* Some batch was unproven: adds what is known of the workload's kernels, by their names. */
void cli_proofs_add_known(struct cli_proofs *proofs, const struct cli_refusals *known,
                          const struct workload *workload);

/* A line for the checks made, one for each refusal, one for those put off. Nothing: no line. */
void cli_proofs_print(const struct cli_proofs *proofs, struct cli_output *out);

/* What this run refused, on standard error: for runs that print nothing else. */
void cli_proofs_warn(const struct cli_proofs *proofs);

/* "proofs": an object. */
void cli_proofs_json(const struct cli_proofs *proofs, struct cli_json *json);

#endif
