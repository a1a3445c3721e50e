/*
 * kernel.c: host kernels.
 */
#include "backend/cpu/kernel.h"

#include <dlfcn.h>
#include <string.h>

#include "base/checked.h"
#include "base/memory.h"

#define SLICE_ALIGNMENT 64

static const struct vyre_payload *find_payload(const struct vyre_kernel_desc *desc)
{
    for (size_t i = 0; i < desc->payload_count; i++) {
        enum vyre_target target = desc->payloads[i].target;
        if (target == VYRE_TARGET_HOST || target == VYRE_TARGET_HOST_LIBRARY)
            return &desc->payloads[i];
    }
    return NULL;
}

static enum vyre_status load_library(const struct vyre_payload *payload, const char *label,
                                     struct vyre_cpu_kernel *kernel, struct vyre_diag *diag)
{
    const char *entry = payload->entry ? payload->entry : label;
    if (!payload->path || !entry || entry[0] == '\0')
        return vyre_diag_set(diag, VYRE_DIAG_KERNEL_PAYLOAD, label, 0,
                             "a kernel in a shared object needs a path and an entry");
    kernel->library = dlopen(payload->path, RTLD_NOW | RTLD_LOCAL);
    if (!kernel->library)
        return vyre_diag_set(diag, VYRE_DIAG_KERNEL_LIBRARY, label, 0, "%s", dlerror());
    void *symbol = dlsym(kernel->library, entry);
    if (!symbol)
        return vyre_diag_set(diag, VYRE_DIAG_KERNEL_SYMBOL, label, 0, "%s has no symbol %s",
                             payload->path, entry);
    /* POSIX promises that a symbol's address fits a function pointer. C has no cast for it. */
    memcpy(&kernel->function, &symbol, sizeof symbol);
    return VYRE_OK;
}

static enum vyre_status find_function(const struct vyre_kernel_desc *desc,
                                      struct vyre_cpu_kernel *kernel, struct vyre_diag *diag)
{
    const struct vyre_payload *payload = find_payload(desc);
    if (!payload)
        return vyre_diag_set(diag, VYRE_DIAG_KERNEL_NO_PAYLOAD, desc->label, 0,
                             "none of %zu payloads is for the host", desc->payload_count);
    if (payload->target == VYRE_TARGET_HOST_LIBRARY)
        return load_library(payload, desc->label, kernel, diag);
    kernel->function = payload->function;
    if (!payload->function)
        return vyre_diag_set(diag, VYRE_DIAG_KERNEL_PAYLOAD, desc->label, 0,
                             "a host payload needs a function");
    return VYRE_OK;
}

/* Bytes of scratch and local memory per participant. */
static enum vyre_status measure_slice(const struct vyre_kernel_desc *desc,
                                      const struct vyre_binding_plan *plan,
                                      struct vyre_cpu_kernel *kernel, struct vyre_diag *diag)
{
    size_t size = desc->scratch_bytes;
    bool fits = vyre_checked_align_size(size, SLICE_ALIGNMENT, &size);
    for (size_t i = 0; fits && i < plan->binding_count; i++) {
        if (plan->bindings[i].role != VYRE_ROLE_SHARED)
            continue;
        size_t local =
            plan->bindings[i].size_bytes ? plan->bindings[i].size_bytes : VYRE_CPU_LOCAL_BYTES;
        kernel->has_local = true;
        fits = vyre_checked_align_size(local, SLICE_ALIGNMENT, &local) &&
               vyre_checked_add_size(size, local, &size);
    }
    kernel->slice_bytes = size;
    size_t total;
    if (!fits || !vyre_checked_mul_size(size, kernel->slice_count, &total))
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, desc->label, 0,
                             "scratch and local memory do not fit in memory");
    return VYRE_OK;
}

enum vyre_status vyre_cpu_kernel_create(const struct vyre_allocator *allocator,
                                        const struct vyre_kernel_desc *desc,
                                        const struct vyre_binding_plan *plan, uint32_t participants,
                                        struct vyre_cpu_kernel **out_kernel, struct vyre_diag *diag)
{
    struct vyre_cpu_kernel *kernel =
        vyre_memory_allocate(allocator, sizeof *kernel, _Alignof(struct vyre_cpu_kernel));
    if (!kernel)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, desc->label, 0,
                             "no memory for a kernel");
    memcpy(kernel->local_size, desc->local_size, sizeof kernel->local_size);
    kernel->scratch_bytes = desc->scratch_bytes;
    kernel->slice_count = participants;
    enum vyre_status status = find_function(desc, kernel, diag);
    if (status == VYRE_OK)
        status = measure_slice(desc, plan, kernel, diag);
    if (status == VYRE_OK && kernel->slice_bytes > 0) {
        kernel->slices =
            vyre_memory_allocate(allocator, kernel->slice_bytes * participants, SLICE_ALIGNMENT);
        if (!kernel->slices)
            status = vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, desc->label, 0,
                                   "no memory for %u times %zu bytes of scratch", participants,
                                   kernel->slice_bytes);
    }
    if (status != VYRE_OK) {
        vyre_cpu_kernel_destroy(allocator, kernel);
        return status;
    }
    *out_kernel = kernel;
    return VYRE_OK;
}

void vyre_cpu_kernel_destroy(const struct vyre_allocator *allocator, struct vyre_cpu_kernel *kernel)
{
    vyre_memory_free(allocator, kernel->slices, kernel->slice_bytes * kernel->slice_count,
                     SLICE_ALIGNMENT);
    if (kernel->library)
        dlclose(kernel->library);
    vyre_memory_free(allocator, kernel, sizeof *kernel, _Alignof(struct vyre_cpu_kernel));
}

bool vyre_cpu_kernel_learn(struct vyre_cpu_kernel *kernel, uint64_t groups, uint64_t elapsed_ns)
{
    uint64_t known = atomic_load_explicit(&kernel->group_cost, memory_order_relaxed);
    uint64_t seen = elapsed_ns * 16 / (groups ? groups : 1);
    if (seen == 0)
        seen = 1;
    if (seen > UINT32_MAX)
        seen = UINT32_MAX;
    /* A preempted thread looks slow once, so a sample counts at most double. */
    uint64_t taken = known && seen > 2 * known ? 2 * known : seen;
    uint64_t mean = known ? (3 * known + taken + 2) / 4 : taken;
    if (mean > UINT32_MAX)
        mean = UINT32_MAX;
    atomic_store_explicit(&kernel->group_cost, (uint32_t)mean, memory_order_relaxed);
    return known == 0 || mean > known + known / 4 || mean < known - known / 4;
}
