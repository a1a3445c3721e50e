/*
 * absent.c: replaces the Vulkan backend in a build without the Vulkan headers.
 */
#include "backend/vulkan/vulkan.h"

static enum vyre_status enumerate(void *backend, struct vyre_device_info *out_infos,
                                  size_t capacity, size_t *out_count, struct vyre_diag *diag)
{
    (void)backend;
    (void)out_infos;
    (void)capacity;
    *out_count = 0;
    return vyre_diag_set(diag, VYRE_DIAG_VULKAN_LOADER, NULL, 0,
                         "this libvyre was built without the Vulkan headers");
}

static enum vyre_status nothing(struct vyre_diag *diag)
{
    size_t count;
    return enumerate(NULL, NULL, 0, &count, diag);
}

static enum vyre_status device_open(void *backend, uint32_t index,
                                    const struct vyre_device_desc *desc,
                                    const struct vyre_device_host *host, void **out_device,
                                    struct vyre_device_facts *out_facts, struct vyre_diag *diag)
{
    (void)backend;
    (void)index;
    (void)desc;
    (void)host;
    (void)out_device;
    (void)out_facts;
    return nothing(diag);
}

/* No device is ever open. These functions exist because the table must be complete. */

static void device_close(void *device)
{
    (void)device;
}

static enum vyre_status buffer_create(void *device, const struct vyre_buffer_desc *desc,
                                      void **out_buffer, void **out_address, struct vyre_diag *diag)
{
    (void)device;
    (void)desc;
    (void)out_buffer;
    (void)out_address;
    return nothing(diag);
}

static void destroy(void *device, void *object)
{
    (void)device;
    (void)object;
}

static enum vyre_status kernel_create(void *device, const struct vyre_kernel_desc *desc,
                                      const struct vyre_binding_plan *plan, void **inout_kernel,
                                      struct vyre_diag *diag)
{
    (void)device;
    (void)desc;
    (void)plan;
    (void)inout_kernel;
    return nothing(diag);
}

static enum vyre_status submit(void *device, const struct vyre_submission *submission,
                               struct vyre_diag *diag)
{
    (void)device;
    (void)submission;
    return nothing(diag);
}

static void wait(void *device, uint64_t sequence, uint64_t timeout_ns)
{
    (void)device;
    (void)sequence;
    (void)timeout_ns;
}

const struct vyre_backend_ops vyre_vulkan_backend_ops = {
    .abi_version = VYRE_BACKEND_ABI_VERSION,
    .size_bytes = sizeof(struct vyre_backend_ops),
    .name = "vulkan",
    .enumerate = enumerate,
    .device_open = device_open,
    .device_close = device_close,
    .buffer_create = buffer_create,
    .buffer_destroy = destroy,
    .kernel_create = kernel_create,
    .kernel_destroy = destroy,
    .submit = submit,
    .wait = wait,
};
