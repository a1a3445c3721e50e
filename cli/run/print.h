/*
 * print.h: what `vyre run` prints.
 */
#ifndef VYRE_CLI_RUN_PRINT_H
#define VYRE_CLI_RUN_PRINT_H

#include "run/decisions.h"
#include "run/knowledge.h"
#include "run/proofs.h"
#include "run/runner.h"
#include "terminal/output.h"

/* A run that has ended, complete or interrupted. */
struct run_summary {
    struct runner *runner; /* Borrowed */
    struct vyre_device_info device;
    uint64_t repeat;
    uint64_t planned;                         /* submissions of the whole run */
    char (*digests)[VYRE_HASH128_TEXT_BYTES]; /* Borrowed: one per output; NULL: not read */
    bool interrupted;
    const struct cli_knowledge *knowledge; /* Borrowed */
    struct cli_decisions *decisions;       /* Borrowed */
    const struct cli_proofs *proofs;       /* Borrowed */
};

void run_print_text(const struct run_summary *summary, bool colour, struct cli_output *out);
void run_print_json(const struct run_summary *summary, struct cli_output *out);

/* The name of a policy's choice, such as "record-and-replay"; NULL: nothing was decided. */
const char *run_verdict_name(enum vyre_policy policy, unsigned choice);

#endif
