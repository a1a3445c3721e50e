/*
 * resident.c: dispatcher programs.
 */
#include "backend/opencl/resident.h"

#include <stdio.h>
#include <string.h>

#include "backend/opencl/device.h"
#include "backend/opencl/failure.h"
#include "backend/opencl/ring_host.h"
#include "base/groups.h"
#include "base/memory.h"

static enum vyre_status refuse_for(const char *label, int64_t code, const char *reason,
                                   struct vyre_diag *diag)
{
    return vyre_diag_set(diag, VYRE_DIAG_SUBMIT_MODE, label, code, "not in persistent mode: %s",
                         reason);
}

static enum vyre_status refuse(const char *label, const char *reason, struct vyre_diag *diag)
{
    return refuse_for(label, 0, reason, diag);
}

/* ---- Finding ---------------------------------------------------------------------------------- */

/* The local memory of a dispatch, in the order of bindings; false: more than we take. */
static bool read_locals(const struct vyre_batch_view *view, const struct vyre_command *command,
                        uint32_t out_bytes[VYRE_CL_RESIDENT_LOCALS_MAX])
{
    uint32_t count = 0;
    memset(out_bytes, 0, VYRE_CL_RESIDENT_LOCALS_MAX * sizeof *out_bytes);
    for (uint32_t i = 0; i < command->binding_count; i++) {
        const struct vyre_command_binding *binding = &view->bindings[command->first_binding + i];
        if (binding->kind != VYRE_BINDING_LOCAL)
            continue;
        if (count == VYRE_CL_RESIDENT_LOCALS_MAX)
            return false;
        out_bytes[count++] = binding->local_bytes;
    }
    return true;
}

static bool find_served(const struct vyre_cl_resident *resident,
                        const struct vyre_cl_kernel *kernel, const uint32_t *local_bytes,
                        uint32_t *out_index)
{
    for (uint32_t i = 0; i < resident->served_count; i++) {
        const struct vyre_cl_served *served = &resident->served[i];
        if (served->kernel == kernel &&
            memcmp(served->local_bytes, local_bytes, sizeof served->local_bytes) == 0) {
            *out_index = i;
            return true;
        }
    }
    return false;
}

/* ---- Making ----------------------------------------------------------------------------------- */

static bool has_locals(const struct vyre_cl_kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        if (kernel->parameters[i].space == VYRE_CL_SPACE_LOCAL)
            return true;
    }
    return false;
}

static bool uses_build(const struct vyre_cl_kernel *kernel, const struct vyre_cl_built *built)
{
    for (uint32_t i = 0; i < VYRE_CL_VARIANTS_MAX; i++) {
        if (kernel->variants[i].built == built)
            return true;
    }
    return false;
}

/* Kernels of the same build and shape that are there now come along. */
static void add_neighbours(const struct vyre_cl_device *device, struct vyre_cl_resident *resident)
{
    for (const struct vyre_cl_kernel *kernel = device->kernels; kernel; kernel = kernel->next) {
        if (kernel != resident->served[0].kernel && uses_build(kernel, resident->built) &&
            memcmp(kernel->local_size, resident->local_size, sizeof resident->local_size) == 0 &&
            !has_locals(kernel) && resident->served_count < VYRE_CL_DISPATCHER_KERNELS)
            resident->served[resident->served_count++].kernel = kernel;
    }
}

/* How the dispatcher gives a kernel its arguments. */
static void describe(const struct vyre_cl_served *served, struct vyre_cl_argument *arguments,
                     struct vyre_cl_dispatcher_kernel *out)
{
    const struct vyre_cl_kernel *kernel = served->kernel;
    uint32_t addresses = 0;
    uint32_t locals = 0;
    uint32_t constants = 0;
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        struct vyre_cl_argument *argument = &arguments[i];
        *argument = (struct vyre_cl_argument){0};
        switch (kernel->parameters[i].space) {
        case VYRE_CL_SPACE_GLOBAL:
            argument->kind = VYRE_CL_ARGUMENT_GLOBAL;
            argument->address = addresses++;
            break;
        case VYRE_CL_SPACE_CONSTANT:
            argument->kind = VYRE_CL_ARGUMENT_CONSTANT;
            argument->address = addresses++;
            break;
        case VYRE_CL_SPACE_LOCAL:
            argument->kind = VYRE_CL_ARGUMENT_LOCAL;
            argument->size_bytes = served->local_bytes[locals++];
            break;
        case VYRE_CL_SPACE_SCALAR:
            argument->kind = VYRE_CL_ARGUMENT_SCALAR;
            argument->offset_bytes = kernel->constants[constants].offset_bytes;
            argument->size_bytes = kernel->constants[constants++].size_bytes;
            break;
        }
    }
    *out = (struct vyre_cl_dispatcher_kernel){.entry = kernel->entry,
                                              .arguments = arguments,
                                              .argument_count = kernel->parameter_count,
                                              .address_count = addresses};
}

/* Source of the dispatcher for `count` of the kernels. */
static enum vyre_status generate(struct vyre_cl_device *device,
                                 const struct vyre_cl_resident *resident, uint32_t count,
                                 struct vyre_cl_dispatcher_output *out, struct vyre_diag *diag)
{
    const struct vyre_cl_built *built = resident->built;
    const char *defines[VYRE_CL_DEFINES_MAX];
    struct vyre_cl_dispatcher_kernel kernels[VYRE_CL_DISPATCHER_KERNELS];
    size_t bytes = (size_t)count * VYRE_CL_ARGUMENTS_MAX * sizeof(struct vyre_cl_argument);
    struct vyre_cl_argument *arguments =
        vyre_memory_allocate(&device->allocator, bytes, _Alignof(struct vyre_cl_argument));
    if (!arguments)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0, "no memory for a dispatcher");
    for (uint32_t i = 0; i < count; i++)
        describe(&resident->served[i], arguments + (size_t)i * VYRE_CL_ARGUMENTS_MAX, &kernels[i]);
    for (uint32_t i = 0; i < built->defines.count; i++)
        defines[i] = built->defines.text[i];
    const struct vyre_cl_dispatcher_input input = {
        .source = built->source,
        .source_bytes = built->source_bytes,
        .defines = defines,
        .define_count = built->defines.count,
        .kernels = kernels,
        .kernel_count = count,
        .local_size = {(uint32_t)resident->local_size[0], (uint32_t)resident->local_size[1],
                       (uint32_t)resident->local_size[2]},
        .work_dim = 3,
        .resident_groups = device->persistent->groups,
        .splits_at_barriers = device->traits.splits_at_barriers,
    };
    enum vyre_status status = vyre_cl_dispatcher_generate(&device->allocator, &input, out, diag);
    vyre_memory_free(&device->allocator, arguments, bytes, _Alignof(struct vyre_cl_argument));
    return status;
}

/* What the driver says that a kernel needs; 0 where it does not say. */
static uint64_t local_bytes_of(struct vyre_cl_device *device, cl_kernel native)
{
    cl_ulong bytes = 0;
    (void)device->api->clGetKernelWorkGroupInfo(native, device->id, CL_KERNEL_LOCAL_MEM_SIZE,
                                                sizeof bytes, &bytes, NULL);
    return bytes;
}

/* Names the generated code: its text and the options that it is built with. */
static struct vyre_hash128 hash_code(const struct vyre_cl_device *device,
                                     const struct vyre_cl_built *built,
                                     const struct vyre_cl_dispatcher_output *output)
{
    struct vyre_hash128 parts[2 + VYRE_CL_DEFINES_MAX];
    uint32_t count = 0;
    parts[count++] = vyre_hash128(output->source, output->source_bytes);
    parts[count++] = (struct vyre_hash128){device->traits.c_version, device->traits.correct_divide};
    for (uint32_t i = 0; i < built->defines.count; i++)
        parts[count++] = vyre_hash128(built->defines.text[i], strlen(built->defines.text[i]));
    return vyre_hash128(parts, count * sizeof parts[0]);
}

/* Builds the program. A build that fails is a refusal: only the compiler could see it. */
static enum vyre_status compile(struct vyre_cl_device *device, struct vyre_cl_resident *resident,
                                const struct vyre_cl_dispatcher_output *output,
                                struct vyre_diag *diag)
{
    static const char entry[] = "vyre_resident";
    cl_int code = CL_SUCCESS;
    resident->code = hash_code(device, resident->built, output);
    enum vyre_status status =
        vyre_cl_build_program(device, entry, output->source, output->source_bytes,
                              &resident->built->defines, &resident->program, diag);
    if (status != VYRE_OK)
        return status == VYRE_BUILD_FAILED ? VYRE_UNSUPPORTED : status;
    resident->native = device->api->clCreateKernel(resident->program, entry, &code);
    if (!resident->native)
        return vyre_cl_failed(diag, entry, code, "clCreateKernel");
    if (local_bytes_of(device, resident->native) > device->traits.local_bytes)
        return vyre_diag_set(diag, VYRE_DIAG_SUBMIT_MODE, entry, CL_OUT_OF_RESOURCES,
                             "its local memory and the dispatcher's own take %llu bytes of %llu",
                             (unsigned long long)local_bytes_of(device, resident->native),
                             (unsigned long long)device->traits.local_bytes);
    code = device->api->clSetKernelArgSVMPointer(resident->native, 0, device->persistent->control);
    if (code != CL_SUCCESS)
        return vyre_cl_failed(diag, entry, code, "clSetKernelArgSVMPointer");
    for (int i = 0; i < 3; i++)
        resident->launch_global[i] = resident->launch_local[i] = output->launch_local_size[i];
    resident->launch_global[0] *= device->persistent->groups;
    return VYRE_OK;
}

/* Makes room: the least recently used dispatcher that does not run goes. */
static void evict(struct vyre_cl_device *device)
{
    struct vyre_cl_persistent *persistent = device->persistent;
    struct vyre_cl_resident *oldest = NULL;
    for (struct vyre_cl_resident *at = persistent->first; at; at = at->next) {
        if (at != persistent->current && (!oldest || at->last_used < oldest->last_used))
            oldest = at;
    }
    if (oldest)
        vyre_cl_resident_destroy(device, oldest);
}

static void release_program(struct vyre_cl_device *device, struct vyre_cl_resident *resident)
{
    if (resident->native)
        (void)device->api->clReleaseKernel(resident->native);
    if (resident->program)
        (void)device->api->clReleaseProgram(resident->program);
    resident->native = NULL;
    resident->program = NULL;
}

/* Source, program and a first launch for the kernels that are listed. */
static enum vyre_status attempt(struct vyre_cl_device *device, struct vyre_cl_resident *resident,
                                struct vyre_diag *diag)
{
    struct vyre_cl_dispatcher_output output = {0};
    vyre_diag_reset(diag);
    enum vyre_status status = generate(device, resident, resident->served_count, &output, diag);
    if (status == VYRE_OK)
        status = compile(device, resident, &output, diag);
    vyre_cl_dispatcher_free(&device->allocator, &output);
    /* One that is made for items that fall back is never launched. */
    if (status == VYRE_OK && !vyre_cl_is_retired(device))
        status = vyre_cl_ring_warm(device, resident, diag);
    return status;
}

static enum vyre_status fill(struct vyre_cl_device *device, struct vyre_cl_resident *resident,
                             struct vyre_diag *diag)
{
    struct vyre_diag own;
    enum vyre_status status = attempt(device, resident, &own);
    if (status == VYRE_UNSUPPORTED && resident->served_count > 1) {
        release_program(device, resident);
        resident->served_count = 1; /* a neighbour may be the reason */
        status = attempt(device, resident, &own);
    }
    if (status == VYRE_UNSUPPORTED) {
        /* Kept, so that the next batch is refused without another try. */
        snprintf(resident->refusal, sizeof resident->refusal, "%.*s",
                 (int)sizeof resident->refusal - 1, own.message);
        resident->refusal_code = own.native_code;
        resident->served_count = 1;
        return VYRE_OK;
    }
    if (status != VYRE_OK && diag)
        *diag = own;
    return status;
}

static enum vyre_status make(struct vyre_cl_device *device, const struct vyre_cl_kernel *kernel,
                             struct vyre_cl_built *built, const uint32_t *local_bytes,
                             struct vyre_cl_resident **out_resident, struct vyre_diag *diag)
{
    struct vyre_cl_persistent *persistent = device->persistent;
    if (persistent->count >= VYRE_CL_RESIDENTS_MAX)
        evict(device);
    struct vyre_cl_resident *resident = vyre_memory_allocate(&device->allocator, sizeof *resident,
                                                             _Alignof(struct vyre_cl_resident));
    if (!resident)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, kernel->label, 0,
                             "no memory for a dispatcher");
    resident->built = built;
    built->users++;
    memcpy(resident->local_size, kernel->local_size, sizeof resident->local_size);
    resident->served_count = 1;
    resident->served[0].kernel = kernel;
    memcpy(resident->served[0].local_bytes, local_bytes, sizeof resident->served[0].local_bytes);
    add_neighbours(device, resident);
    resident->next = persistent->first;
    persistent->first = resident;
    persistent->count++;
    persistent->generation++;
    enum vyre_status status = fill(device, resident, diag);
    if (status != VYRE_OK) {
        vyre_cl_resident_destroy(device, resident);
        return status;
    }
    *out_resident = resident;
    return VYRE_OK;
}

void vyre_cl_resident_destroy(struct vyre_cl_device *device, struct vyre_cl_resident *resident)
{
    struct vyre_cl_persistent *persistent = device->persistent;
    struct vyre_cl_resident **link = &persistent->first;
    while (*link != resident)
        link = &(*link)->next;
    *link = resident->next;
    persistent->count--;
    persistent->generation++;
    for (uint32_t i = 0; i < resident->served_count; i++) {
        if (resident->served[i].single)
            (void)device->api->clReleaseKernel(resident->served[i].single);
    }
    release_program(device, resident);
    vyre_cl_build_release(device, resident->built);
    vyre_memory_free(&device->allocator, resident, sizeof *resident,
                     _Alignof(struct vyre_cl_resident));
}

enum vyre_status vyre_cl_resident_find(struct vyre_cl_device *device,
                                       const struct vyre_batch_view *view,
                                       const struct vyre_command *command,
                                       struct vyre_cl_resident **out_resident, uint32_t *out_index,
                                       struct vyre_diag *diag)
{
    struct vyre_cl_persistent *persistent = device->persistent;
    struct vyre_cl_kernel *kernel = command->kernel;
    uint32_t local_bytes[VYRE_CL_RESIDENT_LOCALS_MAX];
    struct vyre_cl_variant *variant;
    if (vyre_groups_total(command->groups) > UINT32_MAX)
        return refuse(kernel->label, "more than 2^32 groups", diag);
    if (persistent->memo.kernel == kernel &&
        persistent->memo.generation == persistent->generation) {
        *out_resident = persistent->memo.resident;
        *out_index = persistent->memo.index;
        return VYRE_OK;
    }
    enum vyre_status status = vyre_cl_kernel_variant(device, kernel, command, &variant, diag);
    if (status != VYRE_OK)
        return status;
    if (!read_locals(view, command, local_bytes))
        return refuse(kernel->label, "more than 8 arguments of local memory", diag);
    if (kernel->binding_count > VYRE_CL_SLOT_ADDRESSES_MAX)
        return refuse(kernel->label, "more than 32 buffers", diag);
    struct vyre_cl_resident *resident = persistent->first;
    while (resident && !(resident->built == variant->built &&
                         find_served(resident, kernel, local_bytes, out_index)))
        resident = resident->next;
    *out_index = resident ? *out_index : 0;
    if (!resident)
        status = make(device, kernel, variant->built, local_bytes, &resident, diag);
    if (status != VYRE_OK)
        return status;
    if (resident->refusal[0] != '\0')
        return refuse_for(kernel->label, resident->refusal_code, resident->refusal, diag);
    resident->last_used = ++persistent->use_count;
    *out_resident = resident;
    if (kernel->specialization_count == 0 && !has_locals(kernel))
        persistent->memo =
            (struct vyre_cl_memo){kernel, persistent->generation, resident, *out_index};
    return VYRE_OK;
}
