/*
 * spans.c: when the batches of a record ran on their devices.
 */
#include <stdlib.h>

#include "record/record.h"

struct by_completion {
    int64_t complete_ns;
    size_t batch;
};

static int compare_completion(const void *a, const void *b)
{
    const struct by_completion *left = a;
    const struct by_completion *right = b;
    if (left->complete_ns != right->complete_ns)
        return left->complete_ns < right->complete_ns ? -1 : 1;
    return (left->batch > right->batch) - (left->batch < right->batch);
}

/* Derives the times of one device's batches, given in the order of completion. */
static void derive(const struct record *record, const struct by_completion *order, size_t count,
                   uint32_t device, struct record_span *spans)
{
    int64_t free_ns = RECORD_UNKNOWN;
    for (size_t i = 0; i < count; i++) {
        const struct record_batch *batch = &record->batches.items[order[i].batch];
        struct record_span *span = &spans[order[i].batch];
        if (batch->device != device)
            continue;
        if (batch->device_begin_ns != RECORD_UNKNOWN) {
            *span = (struct record_span){batch->device_begin_ns,
                                         batch->device_begin_ns + batch->device_ns, false};
        } else if (batch->complete_ns != RECORD_UNKNOWN &&
                   batch->submit_begin_ns != RECORD_UNKNOWN) {
            int64_t begin = batch->submit_begin_ns > free_ns ? batch->submit_begin_ns : free_ns;
            int64_t end = batch->complete_ns;
            *span = (struct record_span){begin < end ? begin : end, end, true};
        } else {
            continue;
        }
        if (span->end_ns > free_ns)
            free_ns = span->end_ns;
    }
}

struct record_span *record_device_spans(const struct record *record)
{
    size_t count = record->batches.count;
    struct record_span *spans = calloc(count + 1, sizeof *spans);
    struct by_completion *order = calloc(count + 1, sizeof *order);
    if (!spans || !order) {
        free(spans);
        free(order);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        spans[i] = (struct record_span){RECORD_UNKNOWN, RECORD_UNKNOWN, false};
        order[i] = (struct by_completion){record->batches.items[i].complete_ns, i};
    }
    qsort(order, count, sizeof *order, compare_completion);
    for (size_t device = 1; device <= record->devices.count; device++)
        derive(record, order, count, (uint32_t)device, spans);
    free(order);
    return spans;
}
