/*
 * recorder_lines.h: the lines of a record, one function per kind. docs/record-format.md says what
 * they mean; the longest, a device with all its costs, is below RECORD_LINE_BYTES.
 */
#ifndef VYRE_OBSERVE_RECORDER_LINES_H
#define VYRE_OBSERVE_RECORDER_LINES_H

#include <stdint.h>

#include <vyre/observer.h>

#include "observe/recorder_text.h"

/* Exact sums over all batches, including those not kept. */
struct vyre_record_totals {
    struct vyre_recorder_counters counters;
    uint64_t labels_dropped;
    uint64_t by_mode[VYRE_MODE_COUNT];
    uint64_t by_why[VYRE_WHY_COUNT];
    uint64_t by_status[VYRE_STATUS_COUNT];
    uint64_t commands[VYRE_COMMAND_TYPE_COUNT];
    uint64_t copied_bytes;
    uint64_t submit_ns;
    uint64_t device_ns;
    uint64_t wall_ns;
    int64_t saved_ns;
};

/* What a batch's row needs besides its event: numbers that were defined before. */
struct vyre_record_batch_ids {
    uint32_t device;
    uint32_t label;
    uint32_t kernels[VYRE_EVENT_KERNELS_MAX];
};

/* The measured time of a batch: that of its decision, or else from submit to completion. */
uint64_t vyre_record_wall_ns(const struct vyre_event_batch_completed *batch);

/* Everything before the first record. */
void vyre_record_line_head(struct vyre_record_text *line, uint64_t start_ns, uint64_t start_unix_ns,
                           uint64_t limit_bytes);

/* The last record and the end of the document. */
void vyre_record_line_end(struct vyre_record_text *line, const struct vyre_record_totals *totals,
                          uint64_t time_ns, int is_closed);

void vyre_record_line_label(struct vyre_record_text *line, uint32_t number, const char *label);
void vyre_record_line_opened(struct vyre_record_text *line, uint32_t device, int64_t time_ns,
                             const struct vyre_event_device_opened *opened);
void vyre_record_line_closed(struct vyre_record_text *line, uint32_t device, int64_t time_ns,
                             const struct vyre_event_device_closed *closed);
void vyre_record_line_calibrated(struct vyre_record_text *line, uint32_t device, int64_t time_ns,
                                 const struct vyre_event_calibrated *calibrated);
void vyre_record_line_kernel(struct vyre_record_text *line, uint32_t device, uint32_t label,
                             uint64_t start_ns, const struct vyre_event_kernel_created *kernel);
void vyre_record_line_lease(struct vyre_record_text *line, uint32_t device, uint64_t start_ns,
                            const struct vyre_event_lease *lease);
void vyre_record_line_recording(struct vyre_record_text *line, uint32_t device, uint64_t start_ns,
                                int64_t time_ns, const struct vyre_event_recording *recording);
void vyre_record_line_shape(struct vyre_record_text *line, uint32_t device,
                            const struct vyre_event_shape *shape);
void vyre_record_line_batch(struct vyre_record_text *line, const struct vyre_record_batch_ids *ids,
                            uint64_t start_ns, const struct vyre_event_batch_completed *batch);

#endif
