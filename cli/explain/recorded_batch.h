/*
 * recorded_batch.h: a batch of a record, with all that its explanation needs.
 */
#ifndef VYRE_CLI_EXPLAIN_RECORDED_BATCH_H
#define VYRE_CLI_EXPLAIN_RECORDED_BATCH_H

#include "explain/print.h"
#include "record/record.h"

/* Must not move: `said` points into it. */
struct recorded_batch {
    const struct record *record;
    const struct record_batch *batch;
    const struct record_device *device;
    const struct record_batch *compared; /* the batch whose comparison applies; NULL: unknown */
    struct vyre_explanation explanation; /* assembled from the record */
    struct explain_subject said;         /* what to print about it */
};

/* Assembles what the record says of the batch with this index. The record must outlive `subject`. */
void recorded_batch_find(struct recorded_batch *subject, const struct record *record, size_t index);

#endif
