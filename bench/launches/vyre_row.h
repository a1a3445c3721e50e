/*
 * vyre_row.h: Vyre's rows: one mode each, on a device of its own, so that what one row learned or left
 * running is not seen by another.
 */
#ifndef VYRE_BENCH_LAUNCHES_VYRE_ROW_H
#define VYRE_BENCH_LAUNCHES_VYRE_ROW_H

#include <vyre/vyre.h>

#include "launches.h"

struct vyre_row_desc {
    const char *name; /* Static */
    struct vyre_device_desc device;
    enum vyre_mode mode;
    uint32_t variant;
    struct vyre_payload payload; /* of the kernel */
};

/* A row for each mode; `base` has the device and the payload. */
struct vyre_row_mode {
    const char *name; /* Static */
    enum vyre_mode mode;
    uint32_t variant;
};
void vyre_row_add(struct launches *launches, const struct vyre_row_desc *base,
                  const struct vyre_row_mode *modes, size_t mode_count);

/* ---- The parts of a row, for what is no pattern ----------------------------------------------- */

struct vyre_row_device {
    struct vyre_instance *instance;
    struct vyre_device *device;
    struct vyre_kernel *kernel;
};

enum vyre_status vyre_row_device_open(const struct vyre_row_desc *desc,
                                      struct vyre_row_device *out_device, struct vyre_diag *diag);
void vyre_row_device_close(struct vyre_row_device *device);

/* Resets the batch and adds the launches. */
void vyre_row_build(struct vyre_batch *batch, struct vyre_kernel *kernel,
                    struct vyre_buffer *buffer, uint32_t groups, uint32_t launches);

/* Prints the diagnostic; always false. */
bool vyre_row_complain(const char *name, const char *what, const struct vyre_diag *diag);

/* A diagnostic in one line. */
void vyre_row_set_absent(char absent[BENCH_ABSENT_BYTES], const struct vyre_diag *diag);

/*
 * Host time of vyre_batch_submit for a batch of `dispatches` one-group launches, on an idle device; the first
 * submit records. `state` is that of a row.
 */
void vyre_row_prepare_submit(void *state, uint32_t dispatches);
bool vyre_row_time_submit(void *state, double *out_ns);

#endif
