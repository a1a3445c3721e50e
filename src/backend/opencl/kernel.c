/*
 * kernel.c: kernels and their variants.
 */
#include "backend/opencl/kernel.h"

#include <stdio.h>
#include <string.h>

#include "backend/opencl/device.h"
#include "backend/opencl/failure.h"
#include "backend/opencl/persistent.h"
#include "base/memory.h"

/* ---- Specialization --------------------------------------------------------------------------- */

static bool is_identifier(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char rest[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    size_t first = strspn(name, letters);
    return first > 0 && name[strspn(name, rest)] == '\0' && strlen(name) < 64;
}

static enum vyre_status read_names(const struct vyre_kernel_desc *desc,
                                   struct vyre_cl_kernel *kernel, struct vyre_diag *diag)
{
    if (desc->specialization_count > VYRE_SPECIALIZATION_VALUES_MAX)
        return vyre_diag_set(diag, VYRE_DIAG_KERNEL_SPECIALIZATION, desc->label, 0,
                             "%zu specialization values, at most %d are taken",
                             desc->specialization_count, VYRE_SPECIALIZATION_VALUES_MAX);
    kernel->specialization_count = (uint32_t)desc->specialization_count;
    for (uint32_t i = 0; i < kernel->specialization_count; i++) {
        const char *name = desc->specialization_names ? desc->specialization_names[i] : NULL;
        kernel->spec_defaults[i] = desc->specialization_defaults[i];
        if (!name)
            continue;
        if (!is_identifier(name))
            return vyre_diag_set(diag, VYRE_DIAG_OPENCL_ARGUMENTS, desc->label, 0,
                                 "specialization value %u has a name that is no macro's", i);
        snprintf(kernel->spec_names[i], sizeof kernel->spec_names[i], "%s", name);
    }
    return VYRE_OK;
}

/* A value in a form that the preprocessor and the compiler both read. */
static void add_define(struct vyre_cl_defines *defines, const char *name, uint64_t value)
{
    const char *suffix = value <= INT32_MAX ? "" : value <= UINT32_MAX ? "u" : "ul";
    snprintf(defines->text[defines->count++], VYRE_CL_DEFINE_BYTES, "%s=%llu%s", name,
             (unsigned long long)value, suffix);
}

/* Each value has a macro by number, and one by name if it has a name. */
static void write_defines(const struct vyre_cl_kernel *kernel, const uint64_t *values,
                          struct vyre_cl_defines *defines)
{
    defines->count = 0;
    for (uint32_t i = 0; i < kernel->specialization_count; i++) {
        char number[sizeof kernel->spec_names[i]];
        snprintf(number, sizeof number, "VYRE_SPEC_%u", i);
        add_define(defines, number, values[i]);
        if (kernel->spec_names[i][0] != '\0' && strcmp(kernel->spec_names[i], number) != 0)
            add_define(defines, kernel->spec_names[i], values[i]);
    }
}

static void drop_variant(struct vyre_cl_device *device, struct vyre_cl_variant *variant)
{
    vyre_cl_call_deinit(device, &variant->call);
    vyre_cl_build_release(device, variant->built);
    variant->built = NULL;
}

/* Puts a variant in the place of the least recently used one. */
static enum vyre_status make_variant(struct vyre_cl_device *device, struct vyre_cl_kernel *kernel,
                                     const uint64_t *values, struct vyre_cl_variant **out_variant,
                                     struct vyre_diag *diag)
{
    struct vyre_cl_variant *oldest = &kernel->variants[0];
    struct vyre_cl_defines defines;
    struct vyre_cl_built *built;
    for (uint32_t i = 1; i < VYRE_CL_VARIANTS_MAX && oldest->built; i++) {
        struct vyre_cl_variant *variant = &kernel->variants[i];
        if (!variant->built || variant->last_used < oldest->last_used)
            oldest = variant;
    }
    write_defines(kernel, values, &defines);
    const struct vyre_cl_built *first = kernel->first_built;
    enum vyre_status status = vyre_cl_build_acquire(device, kernel->label, first->source,
                                                    first->source_bytes, &defines, &built, diag);
    if (status != VYRE_OK)
        return status;
    if (oldest->built)
        drop_variant(device, oldest);
    status = vyre_cl_call_init(device, kernel, built->program, oldest->bound, &oldest->call, diag);
    if (status != VYRE_OK) {
        vyre_cl_build_release(device, built);
        return status;
    }
    oldest->built = built;
    memcpy(oldest->values, values, kernel->specialization_count * sizeof *values);
    *out_variant = oldest;
    return VYRE_OK;
}

static const uint64_t *values_of(const struct vyre_cl_kernel *kernel,
                                 const struct vyre_command *command)
{
    return command->specialization_count ? command->specialization : kernel->spec_defaults;
}

static struct vyre_cl_variant *find_variant(const struct vyre_cl_kernel *kernel,
                                            const uint64_t *values)
{
    size_t bytes = kernel->specialization_count * sizeof(uint64_t);
    if (kernel->last->built && memcmp(kernel->last->values, values, bytes) == 0)
        return kernel->last;
    for (uint32_t i = 0; i < VYRE_CL_VARIANTS_MAX; i++) {
        struct vyre_cl_variant *variant = &kernel->variants[i];
        if (variant->built && memcmp(variant->values, values, bytes) == 0)
            return variant;
    }
    return NULL;
}

const struct vyre_cl_built *vyre_cl_kernel_look(const struct vyre_cl_device *device,
                                                const struct vyre_cl_kernel *kernel,
                                                const struct vyre_command *command)
{
    const uint64_t *values = values_of(kernel, command);
    const struct vyre_cl_variant *variant =
        kernel->specialization_count == 0 ? kernel->last : find_variant(kernel, values);
    if (variant)
        return variant->built;
    struct vyre_cl_defines defines;
    write_defines(kernel, values, &defines);
    return vyre_cl_build_look(device, kernel->first_built->source,
                              kernel->first_built->source_bytes, &defines);
}

bool vyre_cl_kernel_same_build(const struct vyre_command *a, const struct vyre_command *b)
{
    const struct vyre_cl_kernel *first = a->kernel;
    const struct vyre_cl_kernel *second = b->kernel;
    uint32_t count = first->specialization_count;
    if (first == second)
        return memcmp(values_of(first, a), values_of(second, b), count * sizeof(uint64_t)) == 0;
    if (count == 0 || second->specialization_count != count)
        return count == second->specialization_count && first->first_built == second->first_built;
    if (first->first_built->source_bytes != second->first_built->source_bytes ||
        memcmp(first->first_built->source, second->first_built->source,
               first->first_built->source_bytes) != 0)
        return false;
    struct vyre_cl_defines defines[2];
    write_defines(first, values_of(first, a), &defines[0]);
    write_defines(second, values_of(second, b), &defines[1]);
    return vyre_cl_defines_equal(&defines[0], &defines[1]);
}

enum vyre_status vyre_cl_kernel_specialize(struct vyre_cl_device *device,
                                           struct vyre_cl_kernel *kernel,
                                           const struct vyre_command *command,
                                           struct vyre_cl_variant **out_variant,
                                           struct vyre_diag *diag)
{
    const uint64_t *values = values_of(kernel, command);
    enum vyre_status status = VYRE_OK;
    *out_variant = find_variant(kernel, values);
    if (*out_variant == kernel->last)
        return VYRE_OK;
    if (!*out_variant)
        status = make_variant(device, kernel, values, out_variant, diag);
    if (status == VYRE_OK) {
        (*out_variant)->last_used = ++kernel->use_count;
        kernel->last = *out_variant;
    }
    return status;
}

/* ---- Creation --------------------------------------------------------------------------------- */

static const struct vyre_payload *find_payload(const struct vyre_kernel_desc *desc)
{
    for (size_t i = 0; i < desc->payload_count; i++) {
        if (desc->payloads[i].target == VYRE_TARGET_OPENCL_C)
            return &desc->payloads[i];
    }
    return NULL;
}

static enum vyre_status check_payload(const struct vyre_kernel_desc *desc,
                                      const struct vyre_payload *payload, struct vyre_diag *diag)
{
    if (!payload)
        return vyre_diag_set(diag, VYRE_DIAG_KERNEL_NO_PAYLOAD, desc->label, 0,
                             "the device runs OpenCL C, the kernel has none");
    const char *entry = payload->entry ? payload->entry : desc->label;
    if (!payload->bytes || payload->size_bytes == 0 || !entry || !entry[0])
        return vyre_diag_set(diag, VYRE_DIAG_KERNEL_PAYLOAD, desc->label, 0,
                             "OpenCL C needs a source, and an entry or a label that names it");
    if (strlen(entry) >= VYRE_CL_ENTRY_BYTES || !is_identifier(entry))
        return vyre_diag_set(diag, VYRE_DIAG_OPENCL_ENTRY, desc->label, 0,
                             "the entry's name is no function's");
    return VYRE_OK;
}

/* Builds the default variant, whose source the others share. */
static enum vyre_status build_first(struct vyre_cl_device *device, struct vyre_cl_kernel *kernel,
                                    const struct vyre_payload *payload, struct vyre_diag *diag)
{
    struct vyre_cl_defines defines;
    struct vyre_cl_variant *variant = &kernel->variants[0];
    write_defines(kernel, kernel->spec_defaults, &defines);
    enum vyre_status status =
        vyre_cl_build_acquire(device, kernel->label, payload->bytes, payload->size_bytes, &defines,
                              &kernel->first_built, diag);
    if (status == VYRE_OK)
        status = vyre_cl_call_init(device, kernel, kernel->first_built->program, variant->bound,
                                   &variant->call, diag);
    if (status != VYRE_OK)
        return status;
    kernel->first_built->users++;
    kernel->shows_dimensions = kernel->first_built->shows_dimensions;
    variant->built = kernel->first_built;
    memcpy(variant->values, kernel->spec_defaults, sizeof variant->values);
    kernel->last = variant;
    return vyre_cl_reflect(device, variant->call.native, kernel, diag);
}

enum vyre_status vyre_cl_kernel_reflect(void *native, const struct vyre_kernel_desc *desc,
                                        void **out_kernel,
                                        struct vyre_kernel_interface *out_interface,
                                        struct vyre_diag *diag)
{
    struct vyre_cl_device *device = native;
    const struct vyre_payload *payload = find_payload(desc);
    enum vyre_status status = check_payload(desc, payload, diag);
    if (status != VYRE_OK)
        return status;
    struct vyre_cl_kernel *kernel =
        vyre_memory_allocate(&device->allocator, sizeof *kernel, _Alignof(struct vyre_cl_kernel));
    if (kernel)
        kernel->variants = vyre_memory_allocate(&device->allocator,
                                                VYRE_CL_VARIANTS_MAX * sizeof *kernel->variants,
                                                _Alignof(struct vyre_cl_variant));
    if (!kernel || !kernel->variants) {
        vyre_memory_free(&device->allocator, kernel, sizeof *kernel,
                         _Alignof(struct vyre_cl_kernel));
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, desc->label, 0,
                             "no memory for a kernel");
    }
    *out_kernel = kernel;
    snprintf(kernel->entry, sizeof kernel->entry, "%s",
             payload->entry ? payload->entry : desc->label);
    snprintf(kernel->label, sizeof kernel->label, "%.*s", (int)sizeof kernel->label - 1,
             desc->label ? desc->label : kernel->entry);
    status = read_names(desc, kernel, diag);
    if (status == VYRE_OK)
        status = build_first(device, kernel, payload, diag);
    if (status == VYRE_OK)
        vyre_cl_describe(kernel, out_interface);
    /*
     * Declared bindings stand for the pointers in the order of their slots. A pointer that is not
     * const does not say what is read. kernel_create compares these argument by argument.
     */
    if (desc->binding_count > 0)
        out_interface->has_bindings = false;
    if (desc->constant_count > 0)
        out_interface->has_constants = false;
    if (desc->local_size[0] != 0)
        out_interface->has_local_size = false;
    return vyre_flight_note_loss(&device->flight, status, diag);
}

enum vyre_status vyre_cl_kernel_create(void *native, const struct vyre_kernel_desc *desc,
                                       const struct vyre_binding_plan *plan, void **inout_kernel,
                                       struct vyre_diag *diag)
{
    struct vyre_cl_device *device = native;
    struct vyre_cl_kernel *kernel = *inout_kernel;
    enum vyre_status status = vyre_cl_agree(device, kernel, desc, plan, diag);
    if (status != VYRE_OK)
        return status;
    kernel->owner = device;
    kernel->next = device->kernels;
    device->kernels = kernel;
    return VYRE_OK;
}

void vyre_cl_kernel_destroy(void *native, void *native_kernel)
{
    struct vyre_cl_device *device = native;
    struct vyre_cl_kernel *kernel = native_kernel;
    if (kernel->owner) {
        struct vyre_cl_kernel **link = &device->kernels;
        while (*link != kernel)
            link = &(*link)->next;
        *link = kernel->next;
        vyre_cl_persistent_forget(device, kernel);
    }
    for (uint32_t i = 0; i < VYRE_CL_VARIANTS_MAX; i++) {
        if (kernel->variants[i].built || kernel->variants[i].call.native)
            drop_variant(device, &kernel->variants[i]);
    }
    vyre_cl_build_release(device, kernel->first_built);
    vyre_memory_free(&device->allocator, kernel->variants,
                     VYRE_CL_VARIANTS_MAX * sizeof *kernel->variants,
                     _Alignof(struct vyre_cl_variant));
    vyre_memory_free(&device->allocator, kernel, sizeof *kernel, _Alignof(struct vyre_cl_kernel));
}
