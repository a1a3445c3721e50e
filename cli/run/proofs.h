/*
 * proofs.h: the proofs of generated code in a run: text and JSON.
 */
#ifndef VYRE_CLI_RUN_PROOFS_H
#define VYRE_CLI_RUN_PROOFS_H

#include <vyre/vyre.h>

#include "run/refusals.h"
#include "terminal/json.h"
#include "terminal/output.h"
#include "workload/workload.h"

/* The proofs of one device or of several. A zeroed struct is empty. */
struct cli_proofs {
    struct vyre_proof_counters counters;
    struct cli_refusals found;  /* by this run */
    struct cli_refusals stored; /* by earlier runs, of code that this run needed */
};

void cli_proofs_deinit(struct cli_proofs *proofs);

/* Adds what the device counted and refused. `known`: refusals that it was given at the start. */
void cli_proofs_add(struct cli_proofs *proofs, struct vyre_device *device,
                    const struct cli_refusals *known);

/* For a run with an unproven batch: adds the known refusals of the workload's kernels, by name. */
void cli_proofs_add_known(struct cli_proofs *proofs, const struct cli_refusals *known,
                          const struct workload *workload);

/* A line for the checks, one for each refusal, and one for checks put off; none if there are none. */
void cli_proofs_print(const struct cli_proofs *proofs, struct cli_output *out);

/* Prints what this run refused on standard error, for runs that print nothing else. */
void cli_proofs_warn(const struct cli_proofs *proofs);

/* "proofs": an object. */
void cli_proofs_json(const struct cli_proofs *proofs, struct cli_json *json);

#endif
