/*
 * changes.h: `vyre run --audit`: one line for each change of a batch's decision.
 *
 *     batch step, run 1: plain, predicted at 24.0 us
 *     batch step, run 14: replay instead of plain, measured at 3.90 us against 21.1 us
 *
 * Batches of the same shape are decided together and carry the name of the first: "batch step and
 * others like it". A trial of another way prints no line; a choice that changes because of it does.
 */
#ifndef VYRE_CLI_RUN_CHANGES_H
#define VYRE_CLI_RUN_CHANGES_H

#include <vyre/vyre.h>

#include "terminal/output.h"
#include "terminal/progress.h"

struct changes_entry;

/* A zeroed struct is empty. */
struct changes {
    struct cli_output *out;        /* Borrowed; NULL: standard error */
    struct cli_progress *progress; /* Borrowed: cleared before a line is printed */
    struct changes_entry *entries; /* Owned: mask + 1 of them */
    size_t mask;
    size_t used;
    uint64_t left_out; /* batches without a decision record or a free entry */
};

/* `batches`: at most how many different batches will come. */
VYRE_NODISCARD enum vyre_status changes_init(struct changes *changes, size_t batches,
                                             struct vyre_diag *diag);
void changes_deinit(struct changes *changes);

/* Prints a line if this batch runs in another way than the one before it. */
void changes_take(struct changes *changes, const struct vyre_event_batch_completed *batch);

#endif
