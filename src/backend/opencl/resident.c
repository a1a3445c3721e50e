/*
 * resident.c: dispatcher programs.
 */
#include "backend/opencl/resident.h"

#include <stdio.h>
#include <string.h>

#include "backend/opencl/device.h"
#include "backend/opencl/encode.h"
#include "backend/opencl/failure.h"
#include "backend/opencl/ring_host.h"
#include "base/groups.h"
#include "base/memory.h"

/* How often a dispatcher is made before giving up: with its neighbours, and alone. */
#define MAKES_MAX 2

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

static enum vyre_fit unfit(const char *label, const char *reason, struct vyre_diag *diag)
{
    (void)refuse(label, reason, diag);
    return VYRE_FIT_NO;
}

/* ---- Finding ---------------------------------------------------------------------------------- */

/* The local memory of a dispatch, in the order of bindings. False: there are too many. */
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

/* Adds existing kernels of the same build and shape. */
static void add_neighbours(const struct vyre_cl_device *device, struct vyre_cl_resident *resident)
{
    for (const struct vyre_cl_kernel *kernel = device->kernels; kernel; kernel = kernel->next) {
        if (kernel != resident->served[0].kernel && uses_build(kernel, resident->built) &&
            memcmp(kernel->local_size, resident->local_size, sizeof resident->local_size) == 0 &&
            !has_locals(kernel) && resident->served_count < VYRE_CL_DISPATCHER_KERNELS)
            resident->served[resident->served_count++].kernel = kernel;
    }
}

/* How the dispatcher passes a kernel its arguments. */
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

/* Source of the dispatcher for the kernels that are listed. */
static enum vyre_status generate(struct vyre_cl_device *device,
                                 const struct vyre_cl_resident *resident,
                                 struct vyre_cl_dispatcher_output *out, struct vyre_diag *diag)
{
    const struct vyre_cl_built *built = resident->built;
    uint32_t count = resident->served_count;
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

/* What the driver says a kernel needs; 0 if it does not say. */
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

/*
 * Builds the program. A failed build is a refusal, since only the compiler could find the reason.
 */
static enum vyre_status compile(struct vyre_cl_device *device, struct vyre_cl_resident *resident,
                                const struct vyre_cl_dispatcher_output *output,
                                struct vyre_diag *diag)
{
    static const char entry[] = "vyre_resident";
    cl_int code = CL_SUCCESS;
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

static bool is_refusal(const struct vyre_cl_resident *resident)
{
    return resident->refusal[0] != '\0';
}

/*
 * Makes room: removes the least recently used dispatcher that is not running, or the oldest
 * refusal.
 */
static void evict(struct vyre_cl_device *device, bool refusal)
{
    struct vyre_cl_persistent *persistent = device->persistent;
    struct vyre_cl_resident *oldest = NULL;
    for (struct vyre_cl_resident *at = persistent->first; at; at = at->next) {
        if (at != persistent->current && is_refusal(at) == refusal &&
            (!oldest || at->last_used < oldest->last_used))
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

/* ---- The three steps -------------------------------------------------------------------------- */

static void free_resident(struct vyre_cl_device *device, struct vyre_cl_resident *resident)
{
    for (uint32_t i = 0; i < resident->served_count; i++) {
        if (resident->served[i].single)
            (void)device->api->clReleaseKernel(resident->served[i].single);
    }
    release_program(device, resident);
    vyre_cl_build_release(device, resident->built);
    vyre_memory_free(&device->allocator, resident, sizeof *resident,
                     _Alignof(struct vyre_cl_resident));
}

static void free_build(struct vyre_cl_device *device, struct vyre_cl_resident_build *build)
{
    vyre_cl_dispatcher_free(&device->allocator, &build->text);
    if (build->resident)
        free_resident(device, build->resident);
    vyre_memory_free(&device->allocator, build, sizeof *build,
                     _Alignof(struct vyre_cl_resident_build));
}

/* The dispatcher without its text. */
static enum vyre_status prepare(struct vyre_cl_device *device, const struct vyre_batch_view *view,
                                const struct vyre_command *command,
                                struct vyre_cl_resident_build **out_build, struct vyre_diag *diag)
{
    struct vyre_cl_kernel *kernel = command->kernel;
    struct vyre_cl_variant *variant;
    *out_build = NULL;
    enum vyre_status status = vyre_cl_kernel_variant(device, kernel, command, &variant, diag);
    if (status != VYRE_OK)
        return status;
    struct vyre_cl_resident_build *build = vyre_memory_allocate(
        &device->allocator, sizeof *build, _Alignof(struct vyre_cl_resident_build));
    struct vyre_cl_resident *resident = vyre_memory_allocate(&device->allocator, sizeof *resident,
                                                             _Alignof(struct vyre_cl_resident));
    if (!build || !resident) {
        vyre_memory_free(&device->allocator, build, sizeof *build,
                         _Alignof(struct vyre_cl_resident_build));
        vyre_memory_free(&device->allocator, resident, sizeof *resident,
                         _Alignof(struct vyre_cl_resident));
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, kernel->label, 0,
                             "no memory for a dispatcher");
    }
    build->resident = resident;
    resident->built = variant->built;
    resident->built->users++;
    memcpy(resident->local_size, kernel->local_size, sizeof resident->local_size);
    resident->served_count = 1;
    resident->served[0].kernel = kernel;
    (void)read_locals(view, command, resident->served[0].local_bytes); /* found to fit */
    if (!kernel->is_alone)
        add_neighbours(device, resident);
    *out_build = build;
    return VYRE_OK;
}

enum vyre_status vyre_cl_resident_begin(struct vyre_cl_device *device,
                                        const struct vyre_batch_view *view,
                                        const struct vyre_command *command,
                                        struct vyre_cl_resident_build **out_build,
                                        struct vyre_diag *diag)
{
    struct vyre_cl_resident_build *build;
    enum vyre_status status = prepare(device, view, command, &build, diag);
    *out_build = NULL;
    if (status != VYRE_OK)
        return status;
    struct vyre_cl_resident *resident = build->resident;
    build->status = generate(device, resident, &build->text, &build->failure);
    if (build->status == VYRE_UNSUPPORTED && resident->served_count > 1) {
        resident->served_count = 1; /* a neighbour may be the reason */
        ((struct vyre_cl_kernel *)resident->served[0].kernel)->is_alone = true;
        vyre_cl_dispatcher_free(&device->allocator, &build->text);
        vyre_diag_reset(&build->failure);
        build->status = generate(device, resident, &build->text, &build->failure);
    }
    if (build->status != VYRE_OK && build->status != VYRE_UNSUPPORTED) {
        status = build->status;
        if (diag)
            *diag = build->failure;
        free_build(device, build);
        return status;
    }
    if (build->status == VYRE_OK)
        resident->code = hash_code(device, resident->built, &build->text);
    build->next = device->persistent->building;
    device->persistent->building = build;
    *out_build = build;
    return VYRE_OK;
}

void vyre_cl_resident_run(struct vyre_cl_device *device, struct vyre_cl_resident_build *build)
{
    build->has_run = true;
    if (vyre_is_lost(&device->flight.loss))
        return;
    if (build->status == VYRE_OK)
        build->status = compile(device, build->resident, &build->text, &build->failure);
    /* A dispatcher for items that fall back is never launched. */
    if (build->status == VYRE_OK && !vyre_cl_is_retired(device))
        build->status = vyre_cl_trial_run(device, build->resident, &build->failure);
}

bool vyre_cl_resident_is_begun(const struct vyre_cl_device *device,
                               const struct vyre_batch_view *view,
                               const struct vyre_command *command)
{
    const struct vyre_cl_built *built = vyre_cl_kernel_look(device, command->kernel, command);
    uint32_t local_bytes[VYRE_CL_RESIDENT_LOCALS_MAX];
    uint32_t index;
    if (!built || !read_locals(view, command, local_bytes))
        return false;
    const struct vyre_cl_resident_build *build = device->persistent->building;
    while (build && !(build->resident->built == built &&
                      find_served(build->resident, command->kernel, local_bytes, &index)))
        build = build->next;
    return build != NULL;
}

void vyre_cl_resident_forget(struct vyre_cl_device *device, const struct vyre_cl_kernel *kernel)
{
    struct vyre_cl_resident_build *build = device->persistent->building;
    for (; build; build = build->next) {
        for (uint32_t i = 0; i < build->resident->served_count; i++) {
            if (build->resident->served[i].kernel == kernel)
                build->resident->served[i].kernel = NULL;
        }
    }
}

/* Whether a dispatcher made meanwhile serves the kernel, or the kernel is gone. */
static bool is_needless(const struct vyre_cl_device *device,
                        const struct vyre_cl_resident *resident)
{
    const struct vyre_cl_served *first = &resident->served[0];
    uint32_t index;
    const struct vyre_cl_resident *at = device->persistent->first;
    while (first->kernel && at &&
           !(at->built == resident->built &&
             find_served(at, first->kernel, first->local_bytes, &index)))
        at = at->next;
    return !first->kernel || at;
}

/* Adds the dispatcher, or the reason why there is none, to the list. */
static void take_in(struct vyre_cl_device *device, struct vyre_cl_resident *resident)
{
    struct vyre_cl_persistent *persistent = device->persistent;
    bool refusal = is_refusal(resident);
    /* Counted apart: refusals are never used, so among dispatchers they would be evicted first. */
    uint32_t *count = refusal ? &persistent->refusal_count : &persistent->count;
    if (*count >= (refusal ? VYRE_CL_REFUSALS_MAX : VYRE_CL_RESIDENTS_MAX))
        evict(device, refusal);
    resident->next = persistent->first;
    resident->last_used = ++persistent->use_count;
    persistent->first = resident;
    (*count)++;
    persistent->generation++;
}

/* Kept, so that the next batch is refused without another attempt. */
static void note_refusal(struct vyre_cl_device *device, struct vyre_cl_resident *resident,
                         const struct vyre_diag *failure)
{
    release_program(device, resident);
    snprintf(resident->refusal, sizeof resident->refusal, "%.*s", (int)sizeof resident->refusal - 1,
             failure->message);
    resident->refusal_code = failure->native_code;
}

static enum vyre_status settle(struct vyre_cl_device *device, struct vyre_cl_resident_build *build,
                               struct vyre_diag *diag)
{
    struct vyre_cl_resident *resident = build->resident;
    struct vyre_cl_kernel *kernel = (struct vyre_cl_kernel *)resident->served[0].kernel;
    if (!build->has_run)
        return VYRE_OK;
    if (vyre_is_lost(&device->flight.loss))
        return vyre_loss_status(&device->flight.loss, diag);
    if (is_needless(device, resident))
        return VYRE_OK;
    if (build->status == VYRE_UNSUPPORTED && resident->served_count > 1) {
        kernel->is_alone = true; /* a neighbour may be the reason */
        return VYRE_BUSY;
    }
    if (build->status != VYRE_OK && build->status != VYRE_UNSUPPORTED) {
        if (diag)
            *diag = build->failure;
        return build->status;
    }
    build->resident = NULL;
    if (build->status == VYRE_UNSUPPORTED)
        note_refusal(device, resident, &build->failure);
    take_in(device, resident);
    return build->status == VYRE_OK
               ? VYRE_OK
               : refuse_for(kernel->label, resident->refusal_code, resident->refusal, diag);
}

enum vyre_status vyre_cl_resident_end(struct vyre_cl_device *device,
                                      struct vyre_cl_resident_build *build, struct vyre_diag *diag)
{
    struct vyre_cl_resident_build **link = &device->persistent->building;
    while (*link != build)
        link = &(*link)->next;
    *link = build->next;
    enum vyre_status status = settle(device, build, diag);
    free_build(device, build);
    return status;
}

void vyre_cl_resident_destroy(struct vyre_cl_device *device, struct vyre_cl_resident *resident)
{
    struct vyre_cl_persistent *persistent = device->persistent;
    struct vyre_cl_resident **link = &persistent->first;
    while (*link != resident)
        link = &(*link)->next;
    *link = resident->next;
    if (is_refusal(resident))
        persistent->refusal_count--;
    else
        persistent->count--;
    persistent->generation++;
    free_resident(device, resident);
}

/* ---- Looking and finding ---------------------------------------------------------------------- */

enum vyre_fit vyre_cl_resident_look(const struct vyre_cl_device *device,
                                    const struct vyre_batch_view *view,
                                    const struct vyre_command *command,
                                    struct vyre_cl_resident **out_resident, uint32_t *out_index,
                                    struct vyre_diag *diag)
{
    const struct vyre_cl_persistent *persistent = device->persistent;
    const struct vyre_cl_kernel *kernel = command->kernel;
    uint32_t local_bytes[VYRE_CL_RESIDENT_LOCALS_MAX];
    *out_resident = NULL;
    if (vyre_groups_total(command->groups) > UINT32_MAX)
        return unfit(kernel->label, "more than 2^32 groups", diag);
    if (persistent->memo.kernel == kernel &&
        persistent->memo.generation == persistent->generation) {
        *out_resident = persistent->memo.resident;
        *out_index = persistent->memo.index;
        return VYRE_FIT_YES;
    }
    if (!read_locals(view, command, local_bytes))
        return unfit(kernel->label, "more than 8 arguments of local memory", diag);
    if (kernel->binding_count > VYRE_CL_SLOT_ADDRESSES_MAX)
        return unfit(kernel->label, "more than 32 buffers", diag);
    const struct vyre_cl_built *built = vyre_cl_kernel_look(device, kernel, command);
    struct vyre_cl_resident *resident = built ? persistent->first : NULL;
    while (resident &&
           !(resident->built == built && find_served(resident, kernel, local_bytes, out_index)))
        resident = resident->next;
    if (!resident)
        return VYRE_FIT_UNBUILT;
    if (is_refusal(resident)) {
        (void)refuse_for(kernel->label, resident->refusal_code, resident->refusal, diag);
        return VYRE_FIT_NO;
    }
    *out_resident = resident;
    return VYRE_FIT_YES;
}

bool vyre_cl_is_served(const struct vyre_command *command)
{
    return command->type == VYRE_COMMAND_DISPATCH && !vyre_cl_is_empty(command);
}

/* Whether one dispatcher may serve both. */
static bool share_one(const struct vyre_batch_view *view, const struct vyre_command *a,
                      const struct vyre_command *b)
{
    const struct vyre_cl_kernel *first = a->kernel;
    const struct vyre_cl_kernel *second = b->kernel;
    uint32_t local_bytes[2][VYRE_CL_RESIDENT_LOCALS_MAX];
    if (!vyre_cl_kernel_same_build(a, b))
        return false;
    if (first != second)
        return !has_locals(first) && !has_locals(second) && !first->is_alone && !second->is_alone &&
               memcmp(first->local_size, second->local_size, sizeof first->local_size) == 0;
    return !has_locals(first) ||
           (read_locals(view, a, local_bytes[0]) && read_locals(view, b, local_bytes[1]) &&
            memcmp(local_bytes[0], local_bytes[1], sizeof local_bytes[0]) == 0);
}

bool vyre_cl_residents_have_room(const struct vyre_batch_view *view)
{
    const struct vyre_command *different[VYRE_CL_RESIDENTS_MAX - 1];
    uint32_t count = 0;
    if (view->command_count < VYRE_CL_RESIDENTS_MAX)
        return true;
    for (uint32_t i = 0; i < view->command_count; i++) {
        const struct vyre_command *command = &view->commands[i];
        uint32_t at = 0;
        if (!vyre_cl_is_served(command))
            continue;
        while (at < count && !share_one(view, different[at], command))
            at++;
        if (at == VYRE_CL_RESIDENTS_MAX - 1)
            return false;
        if (at == count)
            different[count++] = command;
    }
    return true;
}

/* Makes the dispatcher at once: with its neighbours, and if that fails without them. */
static enum vyre_status make(struct vyre_cl_device *device, const struct vyre_batch_view *view,
                             const struct vyre_command *command, struct vyre_diag *diag)
{
    struct vyre_cl_resident_build *build;
    enum vyre_status status = vyre_cl_resident_begin(device, view, command, &build, diag);
    if (status != VYRE_OK)
        return status;
    vyre_cl_resident_run(device, build);
    status = vyre_cl_resident_end(device, build, diag);
    return status == VYRE_BUSY ? VYRE_OK : status;
}

enum vyre_status vyre_cl_resident_find(struct vyre_cl_device *device,
                                       const struct vyre_batch_view *view,
                                       const struct vyre_command *command,
                                       struct vyre_cl_resident **out_resident, uint32_t *out_index,
                                       struct vyre_diag *diag)
{
    struct vyre_cl_persistent *persistent = device->persistent;
    const struct vyre_cl_kernel *kernel = command->kernel;
    enum vyre_status status = VYRE_OK;
    enum vyre_fit fit = VYRE_FIT_UNBUILT;
    if (persistent->memo.kernel == kernel &&
        persistent->memo.generation == persistent->generation &&
        vyre_groups_total(command->groups) <= UINT32_MAX) {
        *out_resident = persistent->memo.resident;
        *out_index = persistent->memo.index;
        return VYRE_OK;
    }
    for (uint32_t i = 0; fit == VYRE_FIT_UNBUILT && status == VYRE_OK; i++) {
        fit = vyre_cl_resident_look(device, view, command, out_resident, out_index, diag);
        if (fit == VYRE_FIT_UNBUILT && vyre_is_lost(&device->flight.loss))
            return vyre_loss_status(&device->flight.loss, diag);
        if (fit == VYRE_FIT_UNBUILT && i == MAKES_MAX)
            return refuse(kernel->label, "its dispatcher was evicted before it could be used",
                          diag);
        if (fit == VYRE_FIT_UNBUILT)
            status = make(device, view, command, diag);
    }
    if (fit == VYRE_FIT_NO)
        return VYRE_UNSUPPORTED;
    if (status != VYRE_OK)
        return status;
    struct vyre_cl_resident *resident = *out_resident;
    resident->last_used = ++persistent->use_count;
    if (kernel->specialization_count == 0 && !has_locals(kernel))
        persistent->memo =
            (struct vyre_cl_memo){kernel, persistent->generation, resident, *out_index};
    return VYRE_OK;
}
