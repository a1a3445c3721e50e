/*
 * kernel.c: kernels, checked against what their device can take.
 */
#include <string.h>

#include "base/memory.h"
#include "plan/interface_agree.h"
#include "runtime/emit.h"
#include "runtime/shape_keys.h"

static void free_kernel(struct vyre_device *device, struct vyre_object *object)
{
    struct vyre_kernel *kernel = (struct vyre_kernel *)object;
    device->ops->kernel_destroy(device->native, kernel->native);
    object->next = device->objects.spare_kernels;
    device->objects.spare_kernels = object;
}

/* The size of the constants, laid out as in a C struct. */
static enum vyre_status layout_constants(const struct vyre_kernel_desc *desc, uint32_t *out_size,
                                         struct vyre_diag *diag)
{
    uint32_t alignment;
    for (size_t i = 0; i < desc->constant_count; i++) {
        if (vyre_scalar_size(desc->constants[i]) == 0)
            return vyre_diag_set(diag, VYRE_DIAG_KERNEL_CONSTANTS, desc->label, 0,
                                 "constant %zu has the unknown type %d", i,
                                 (int)desc->constants[i]);
    }
    *out_size = vyre_scalars_layout(desc->constants, desc->constant_count, &alignment);
    if (*out_size <= VYRE_CONSTANTS_BYTES_MAX)
        return VYRE_OK;
    return vyre_diag_set(diag, VYRE_DIAG_KERNEL_CONSTANTS, desc->label, 0,
                         "%zu constants take more than %d bytes", desc->constant_count,
                         VYRE_CONSTANTS_BYTES_MAX);
}

static enum vyre_status check_desc(const struct vyre_device *device,
                                   const struct vyre_kernel_desc *desc, struct vyre_diag *diag)
{
    const struct vyre_device_limits *limits = &device->facts.limits;
    if (desc->binding_count > limits->bindings)
        return vyre_diag_set(diag, VYRE_DIAG_KERNEL_BINDINGS, desc->label, 0,
                             "%zu bindings, the device takes %u", desc->binding_count,
                             limits->bindings);
    if (desc->specialization_count > VYRE_SPECIALIZATION_VALUES_MAX)
        return vyre_diag_set(diag, VYRE_DIAG_KERNEL_SPECIALIZATION, desc->label, 0,
                             "%zu specialization values, at most %d are taken",
                             desc->specialization_count, VYRE_SPECIALIZATION_VALUES_MAX);
    uint64_t invocations = 1;
    for (int i = 0; i < 3; i++) {
        invocations *= desc->local_size[i] ? desc->local_size[i] : 1;
        if (invocations > limits->group_invocations)
            return vyre_diag_set(diag, VYRE_DIAG_KERNEL_LOCAL_SIZE, desc->label, 0,
                                 "a local size of %u x %u x %u, the device takes %u invocations",
                                 desc->local_size[0], desc->local_size[1], desc->local_size[2],
                                 limits->group_invocations);
    }
    return VYRE_OK;
}

static bool is_plain(const struct vyre_binding_plan *plan)
{
    for (size_t i = 0; i < plan->binding_count; i++) {
        if (plan->bindings[i].table || plan->bindings[i].role == VYRE_ROLE_SHARED)
            return false;
    }
    return true;
}

/*
 * Fills in from the payload what the desc leaves out. The kernel owns the interface's arrays, so
 * the desc may point into them.
 */
static void complete_desc(struct vyre_kernel_interface *interface, struct vyre_kernel_desc *desc)
{
    bool no_local_size = !desc->local_size[0] && !desc->local_size[1] && !desc->local_size[2];
    if (desc->binding_count == 0 && interface->has_bindings) {
        desc->bindings = interface->bindings;
        desc->binding_count = interface->binding_count;
    }
    if (desc->constant_count == 0 && interface->has_constants) {
        desc->constants = interface->constants;
        desc->constant_count = interface->constant_count;
    }
    if (desc->specialization_count == 0 && interface->has_specialization) {
        desc->specialization_defaults = interface->specialization_defaults;
        desc->specialization_ids = interface->specialization_ids;
        desc->specialization_count = interface->specialization_count;
    } else {
        interface->specialization_mixed = 0; /* declared defaults are values */
    }
    if (no_local_size && interface->has_local_size)
        memcpy(desc->local_size, interface->local_size, sizeof desc->local_size);
    for (int i = 0; i < 3; i++)
        desc->local_size[i] = desc->local_size[i] ? desc->local_size[i] : 1;
}

/* Describes what the finished kernel takes. */
static void describe(const struct vyre_kernel_desc *desc, uint32_t constants_size_bytes,
                     struct vyre_kernel_interface *interface)
{
    interface->has_bindings = interface->has_constants = true;
    interface->has_local_size = interface->has_specialization = true;
    interface->binding_count = (uint32_t)desc->binding_count;
    for (size_t i = 0; i < desc->binding_count; i++) {
        interface->bindings[i] = desc->bindings[i];
        interface->bindings[i].label = NULL;
    }
    interface->constant_count = 0;
    interface->constants_size_bytes = constants_size_bytes;
    if (desc->constant_count <= VYRE_KERNEL_CONSTANTS_MAX) {
        interface->constant_count = (uint32_t)desc->constant_count;
        for (size_t i = 0; i < desc->constant_count; i++)
            interface->constants[i] = desc->constants[i];
    }
    memcpy(interface->local_size, desc->local_size, sizeof interface->local_size);
    interface->specialization_count = (uint32_t)desc->specialization_count;
    for (uint32_t i = 0; i < interface->specialization_count; i++) {
        interface->specialization_ids[i] =
            desc->specialization_ids ? desc->specialization_ids[i] : i;
        interface->specialization_defaults[i] = desc->specialization_defaults[i];
    }
}

/* Fills a kernel that is not linked yet, except its native part. */
static enum vyre_status build_plan(const struct vyre_device *device, struct vyre_kernel_desc *desc,
                                   struct vyre_kernel *kernel, struct vyre_diag *diag)
{
    uint32_t reflected_bytes = kernel->interface.constants_size_bytes;
    complete_desc(&kernel->interface, desc);
    enum vyre_status status = check_desc(device, desc, diag);
    if (status == VYRE_OK)
        status = layout_constants(desc, &kernel->constants_size_bytes, diag);
    if (status == VYRE_OK && desc->constant_count == 0 && kernel->interface.has_constants)
        kernel->constants_size_bytes = reflected_bytes;
    if (status == VYRE_OK)
        status = vyre_binding_plan_build(desc->bindings, desc->binding_count, kernel->bindings,
                                         VYRE_KERNEL_BINDINGS_MAX, &kernel->plan, diag);
    /* Compares only if the desc is valid in itself. */
    if (status == VYRE_OK && device->ops->kernel_reflect)
        status = vyre_interface_agree(desc, &kernel->interface, diag);
    if (status != VYRE_OK)
        return status;
    /* The labels are the caller's and need not live as long as the kernel. */
    for (size_t i = 0; i < kernel->plan.binding_count; i++)
        kernel->bindings[i].label = NULL;
    kernel->plain_ranges = is_plain(&kernel->plan);
    describe(desc, kernel->constants_size_bytes, &kernel->interface);
    return VYRE_OK;
}

static enum vyre_status build(struct vyre_device *device, const struct vyre_kernel_desc *given,
                              struct vyre_kernel *kernel, struct vyre_diag *diag)
{
    const struct vyre_backend_ops *ops = device->ops;
    struct vyre_kernel_desc desc = *given;
    enum vyre_status status = VYRE_OK;
    kernel->native = NULL;
    memset(&kernel->interface, 0, sizeof kernel->interface);
    if (ops->kernel_reflect)
        status =
            ops->kernel_reflect(device->native, given, &kernel->native, &kernel->interface, diag);
    if (status == VYRE_OK)
        status = build_plan(device, &desc, kernel, diag);
    if (status == VYRE_OK)
        status = ops->kernel_create(device->native, &desc, &kernel->plan, &kernel->native, diag);
    if (status != VYRE_OK && kernel->native)
        ops->kernel_destroy(device->native, kernel->native);
    return status;
}

static struct vyre_kernel *take_struct_locked(struct vyre_device *device)
{
    struct vyre_object *spare = device->objects.spare_kernels;
    if (!spare)
        return vyre_memory_allocate(&device->allocator, sizeof(struct vyre_kernel),
                                    _Alignof(struct vyre_kernel));
    device->objects.spare_kernels = spare->next;
    return (struct vyre_kernel *)spare;
}

static enum vyre_status create_locked(struct vyre_device *device,
                                      const struct vyre_kernel_desc *desc,
                                      struct vyre_kernel **out_kernel, struct vyre_diag *diag)
{
    struct vyre_kernel *kernel = take_struct_locked(device);
    if (!kernel)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, desc->label, 0,
                             "no memory for a kernel");
    enum vyre_status status = build(device, desc, kernel, diag);
    if (status != VYRE_OK) {
        kernel->object.next = device->objects.spare_kernels;
        device->objects.spare_kernels = &kernel->object;
        return status;
    }
    kernel->content = vyre_kernel_content(desc);
    kernel->execution = (struct vyre_kernel_execution){0};
    vyre_object_link_locked(device, &kernel->object, free_kernel, desc->label);
    *out_kernel = kernel;
    return VYRE_OK;
}

enum vyre_status vyre_kernel_create(struct vyre_device *device, const struct vyre_kernel_desc *desc,
                                    struct vyre_kernel **out_kernel, struct vyre_diag *diag)
{
    *out_kernel = NULL;
    if (vyre_device_is_lost(device))
        return vyre_device_lost_status(device, diag);
    vyre_lock_acquire(&device->lock);
    uint64_t begin_ns = device->emit ? vyre_device_now_ns(device) : 0;
    enum vyre_status status = create_locked(device, desc, out_kernel, diag);
    if (status == VYRE_OK && device->emit)
        vyre_emit_kernel_locked(device, *out_kernel, begin_ns);
    return vyre_device_unlock(device, status, diag);
}

void vyre_kernel_destroy(struct vyre_kernel **kernel)
{
    if (!kernel || !*kernel)
        return;
    struct vyre_kernel *dying = *kernel;
    struct vyre_device *device = dying->object.device;
    *kernel = NULL;
    vyre_lock_acquire(&device->lock);
    vyre_object_bury_locked(&dying->object);
    vyre_lock_release(&device->lock);
}

const char *vyre_kernel_label(const struct vyre_kernel *kernel)
{
    return kernel->object.label;
}

void vyre_kernel_get_interface(const struct vyre_kernel *kernel,
                               struct vyre_kernel_interface *out_interface)
{
    *out_interface = kernel->interface;
}

uint32_t vyre_kernel_constants_size(const struct vyre_kernel *kernel)
{
    return kernel->constants_size_bytes;
}
