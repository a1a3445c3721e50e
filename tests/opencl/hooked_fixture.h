/*
 * hooked_fixture.h: a device of the hooked backend, with one batch and the few steps that tests share.
 *
 * A step that fails ends the test.
 */
#ifndef VYRE_TESTS_OPENCL_HOOKED_FIXTURE_H
#define VYRE_TESTS_OPENCL_HOOKED_FIXTURE_H

#include <vyre/vyre.h>

#include "opencl/hooked_backend.h"

struct fixture {
    struct vyre_instance *instance;
    struct vyre_device *device;
    struct vyre_batch *batch;
    struct vyre_diag diag;
};

/* `name`: a part of the device's. */
void fixture_open(struct fixture *f, const char *name, struct vyre_device_desc desc,
                  void (*install)(struct vyre_cl_api *api));
void fixture_open_in(struct fixture *f, const struct vyre_instance_desc *instance, const char *name,
                     struct vyre_device_desc desc, void (*install)(struct vyre_cl_api *api));
void fixture_close(struct fixture *f);

/* One work-item to a group, unless `desc` says otherwise. */
struct vyre_kernel *fixture_kernel(struct fixture *f, const char *source, const char *entry,
                                   struct vyre_kernel_desc desc);
struct vyre_buffer *fixture_buffer(struct fixture *f, size_t size_bytes);

/* Adds one group of a kernel with one buffer; the rest as in `dispatch`. */
void fixture_dispatch(struct fixture *f, struct vyre_kernel *kernel, struct vyre_buffer *buffer,
                      struct vyre_dispatch dispatch);

/* Submits the batch and waits: the first status that is not VYRE_OK. */
enum vyre_status fixture_run(struct fixture *f, enum vyre_mode mode);

/* The same, where it must be VYRE_OK. */
void fixture_must_run(struct fixture *f, enum vyre_mode mode);

/* The first word of a buffer. */
uint32_t fixture_word(struct fixture *f, struct vyre_buffer *buffer);

#endif
