/*
 * persistent.h: the host's side of resident kernels.
 *
 * A dispatcher is a program made from the source of the user's kernels (dispatcher/dispatcher.h),
 * with a ring of its own. It serves the kernels of one build and one local shape. At most one
 * dispatcher is resident at a time. A batch that needs another one waits until the ring is empty
 * and switches.
 *
 * Order with the queue: items in the ring and work in the queue never run at the same time. One is
 * drained before the other gets work. The host does the copies, fills, uploads and downloads of a
 * persistent batch in shared memory while the ring is empty.
 *
 * Thread-safety: submit and what it uses are called one at a time; is_done, tend and the like from
 * any thread.
 */
#ifndef VYRE_BACKEND_OPENCL_PERSISTENT_H
#define VYRE_BACKEND_OPENCL_PERSISTENT_H

#include <vyre/backend.h>

struct vyre_cl_device;
struct vyre_cl_kernel;

/* Finds out whether the device can have resident kernels. Not having them is not a failure. */
enum vyre_status vyre_cl_persistent_create(struct vyre_cl_device *device, struct vyre_diag *diag);

/*
 * Asks the resident kernel to leave. False if it does not. On a lost device it waits only a moment.
 */
bool vyre_cl_persistent_stop(struct vyre_cl_device *device);
void vyre_cl_persistent_destroy(struct vyre_cl_device *device);

/* Resident groups, or 0 and the reason. */
uint32_t vyre_cl_persistent_groups(const struct vyre_cl_device *device);
const char *vyre_cl_persistent_reason(const struct vyre_cl_device *device);

/* Counts dispatchers made and destroyed. */
const uint64_t *vyre_cl_persistent_epoch(const struct vyre_cl_device *device);

enum vyre_status vyre_cl_persistent_submit(struct vyre_cl_device *device,
                                           const struct vyre_submission *submission,
                                           struct vyre_diag *diag);

/* Waits inside submit until the ring is empty, or the device is lost. */
enum vyre_status vyre_cl_persistent_settle(struct vyre_cl_device *device, struct vyre_diag *diag);

/* Whether all items before `last_item` are done. */
bool vyre_cl_persistent_is_done(const struct vyre_cl_device *device, uint32_t last_item);

/* Changes while a resident kernel completes items. */
uint64_t vyre_cl_persistent_progress(const struct vyre_cl_device *device);

/* Whether the ring holds items that a resident kernel has not completed. */
bool vyre_cl_persistent_is_busy(const struct vyre_cl_device *device);

/* Whether the last resident kernel was launched less than `age_ns` ago. */
bool vyre_cl_persistent_is_new(const struct vyre_cl_device *device, uint64_t age_ns);

/* The driver's code if nothing can run the items, so that the ring stands still; else 0. */
int64_t vyre_cl_persistent_failure(const struct vyre_cl_device *device);

/*
 * Launches a dispatcher again if one has left with work in the ring, and ends leases. From any
 * thread. False if nothing is resident and there is nothing to do.
 */
bool vyre_cl_persistent_tend(struct vyre_cl_device *device);

/* A kernel is destroyed: no dispatcher serves it any more. */
void vyre_cl_persistent_forget(struct vyre_cl_device *device, const struct vyre_cl_kernel *kernel);

/* Entries of the backend's table. */
enum vyre_fit vyre_cl_batch_check(void *native, const struct vyre_batch_view *view,
                                  enum vyre_mode mode, uint32_t variant, struct vyre_diag *diag);
enum vyre_status vyre_cl_generated(void *native, const struct vyre_batch_view *view,
                                   uint32_t command, enum vyre_mode mode, uint32_t variant,
                                   struct vyre_hash128 *out_code, struct vyre_diag *diag);
enum vyre_status vyre_cl_batch_warm_up(void *native, const struct vyre_batch_view *view,
                                       enum vyre_mode mode, uint32_t variant,
                                       struct vyre_diag *diag);
enum vyre_status vyre_cl_build_begin(void *native, const struct vyre_batch_view *view,
                                     enum vyre_mode mode, uint32_t variant, void **out_build,
                                     struct vyre_diag *diag);
void vyre_cl_build_run(void *native, void *build);
enum vyre_status vyre_cl_build_end(void *native, void *build, struct vyre_diag *diag);
void vyre_cl_residency(void *native, const struct vyre_batch_view *view,
                       struct vyre_residency *out);

#endif
