/*
 * changes.h: `vyre run --audit`: one line for each change of a batch's decision.
 *
 *     batch step: plain at submission 1: predicted 24.0 us
 *     batch step: from plain to replay at submission 14: measured 21.1 us against 3.90 us
 *
 * Batches of the same shape are decided together and named after the first of them: "batch step and
 * others alike". A try of another way is no decision: what it taught is, when the choice moves by it.
 */
#ifndef VYRE_CLI_CHANGES_H
#define VYRE_CLI_CHANGES_H

#include <vyre/vyre.h>

#include "terminal/output.h"
#include "terminal/progress.h"

struct changes_entry;

/* A zeroed struct follows nothing. */
struct changes {
    struct cli_output *out;        /* Borrowed; NULL: standard error */
    struct cli_progress *progress; /* Borrowed: cleared before a line is printed */
    struct changes_entry *entries; /* Owned: mask + 1 of them */
    size_t mask;
    size_t used;
    uint64_t left_out; /* batches that found no room */
};

/* `batches` is how many different ones there will be, at most. */
VYRE_NODISCARD enum vyre_status changes_init(struct changes *changes, size_t batches,
                                             struct vyre_diag *diag);
void changes_deinit(struct changes *changes);

/* Prints a line if this batch was decided otherwise than the one before it. */
void changes_take(struct changes *changes, const struct vyre_event_batch_completed *batch);

#endif
