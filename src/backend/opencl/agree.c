/*
 * agree.c: compares a kernel's declaration with the arguments that the driver reports.
 *
 * Pointers in order are the bindings; scalars in order are the constants. Constants have 4 or 8
 * bytes. An argument of another size is refused here, by its name, and not by the driver at a
 * launch.
 */
#include <string.h>

#include "backend/opencl/device.h"
#include "backend/opencl/kernel.h"
#include "plan/interface_agree.h"

/*
 * The declaration has as many as the kernel takes. Otherwise names the first one too many or too
 * few.
 */
static enum vyre_status match_count(struct vyre_cl_device *device,
                                    const struct vyre_cl_kernel *kernel, bool bindings,
                                    size_t declared, const struct vyre_binding_plan *plan,
                                    struct vyre_diag *diag)
{
    struct vyre_cl_argument_text text;
    uint32_t count = 0;
    uint32_t missing = 0; /* the argument that has no declaration */
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        if (bindings == (kernel->parameters[i].space == VYRE_CL_SPACE_SCALAR))
            continue;
        if (count++ == declared)
            missing = i;
    }
    if (count == declared)
        return VYRE_OK;
    enum vyre_status status =
        vyre_diag_set(diag, VYRE_DIAG_OPENCL_ARGUMENTS, kernel->label, 0,
                      "%s declared: %zu; %s that %s takes: %u", bindings ? "bindings" : "constants",
                      declared, bindings ? "pointers" : "scalars", kernel->entry, count);
    if (declared < count) {
        vyre_cl_argument_ask(device, kernel->last->call.native, missing, &text);
        vyre_diag_set_fix(diag, "Declare argument %u (%s) as well, or no %s at all.", missing,
                          text.name, bindings ? "bindings" : "constants");
    } else if (bindings) {
        vyre_diag_set_fix(diag, "Leave slot %u out of the declaration, or add a pointer to %s.",
                          plan->bindings[count].slot, kernel->entry);
    } else {
        vyre_diag_set_fix(diag, "Leave constant %u out of the declaration, or add it to %s.", count,
                          kernel->entry);
    }
    return status;
}

static enum vyre_status match_bindings(struct vyre_cl_device *device, struct vyre_cl_kernel *kernel,
                                       const struct vyre_binding_plan *plan, struct vyre_diag *diag)
{
    enum vyre_status status = match_count(device, kernel, true, plan->binding_count, plan, diag);
    if (status != VYRE_OK)
        return status;
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        const struct vyre_cl_parameter *parameter = &kernel->parameters[i];
        if (parameter->space == VYRE_CL_SPACE_SCALAR)
            continue;
        const struct vyre_binding *binding = &plan->bindings[kernel->binding_count];
        bool local = parameter->space == VYRE_CL_SPACE_LOCAL;
        if (local != (binding->role == VYRE_ROLE_SHARED))
            return vyre_diag_set(diag, VYRE_DIAG_OPENCL_ARGUMENTS, kernel->label, 0,
                                 "slot %u and argument %u of %s: one is local memory, the "
                                 "other is not",
                                 binding->slot, i, kernel->entry);
        bool writes = !local && !parameter->read_only && !binding->table;
        if (writes && !(binding->access & VYRE_ACCESS_WRITE))
            return vyre_diag_set(diag, VYRE_DIAG_OPENCL_ARGUMENTS, kernel->label, 0,
                                 "slot %u is declared as read, argument %u of %s is not const",
                                 binding->slot, i, kernel->entry);
        kernel->binding_arguments[kernel->binding_count++] = i;
    }
    return VYRE_OK;
}

/* The type of that scalar argument in OpenCL C, and what it is called in a declaration. */
static const struct scalar_words {
    const char *type;
    const char *name;
} SCALARS[] = {
    [VYRE_SCALAR_U32] = {"uint", "u32"},  [VYRE_SCALAR_I32] = {"int", "i32"},
    [VYRE_SCALAR_F32] = {"float", "f32"}, [VYRE_SCALAR_U64] = {"ulong", "u64"},
    [VYRE_SCALAR_I64] = {"long", "i64"},  [VYRE_SCALAR_F64] = {"double", "f64"},
};

/* The type that an argument should have instead of this one, or NULL. */
static const char *wider_type(const char *type)
{
    static const char *const WIDER[][2] = {
        {"char", "int"},           {"short", "int"},   {"uchar", "uint"},
        {"unsigned char", "uint"}, {"ushort", "uint"}, {"unsigned short", "uint"},
        {"bool", "uint"},          {"half", "float"},
    };
    for (size_t i = 0; i < sizeof WIDER / sizeof WIDER[0]; i++) {
        if (strcmp(type, WIDER[i][0]) == 0)
            return WIDER[i][1];
    }
    return NULL;
}

static void set_fix(const struct vyre_cl_parameter *parameter, uint32_t constant,
                    enum vyre_scalar declared, const struct vyre_cl_argument_text *text,
                    struct vyre_diag *diag)
{
    const char *name = text->name[0] ? text->name : "the argument";
    const char *wider = wider_type(text->type);
    bool has_room = parameter->size_bytes == 4 || parameter->size_bytes == 8;
    if (parameter->scalar != VYRE_SCALAR_NONE)
        vyre_diag_set_fix(diag, "Declare constant %u as %s.", constant,
                          SCALARS[parameter->scalar].name);
    else if (wider)
        vyre_diag_set_fix(diag, "Change the type of %s to %s: constants have 4 or 8 bytes.", name,
                          wider);
    else if (!declared && (has_room || parameter->size_bytes == 0))
        vyre_diag_set_fix(diag, "Declare the kernel's constants.");
    else
        vyre_diag_set_fix(diag, "Pass %s in a buffer, or as several scalars of 4 or 8 bytes.",
                          name);
}

/* `declared` is the constant at its place; NONE: no constants are declared. */
static enum vyre_status refuse_type(struct vyre_cl_device *device,
                                    const struct vyre_cl_kernel *kernel, uint32_t argument,
                                    uint32_t constant, enum vyre_scalar declared,
                                    struct vyre_diag *diag)
{
    struct vyre_cl_argument_text text;
    enum vyre_status status;
    vyre_cl_argument_ask(device, kernel->last->call.native, argument, &text);
    if (declared)
        status = vyre_diag_set(
            diag, VYRE_DIAG_OPENCL_ARGUMENTS, kernel->label, 0,
            "argument %u (%s) of %s has the type %s, constant %u is declared as %s", argument,
            text.name, kernel->entry, text.type, constant, SCALARS[declared].name);
    else
        status = vyre_diag_set(diag, VYRE_DIAG_OPENCL_ARGUMENTS, kernel->label, 0,
                               "argument %u (%s) of %s has the type %s, which cannot be reflected",
                               argument, text.name, kernel->entry, text.type);
    set_fix(&kernel->parameters[argument], constant, declared, &text, diag);
    return status;
}

/* Whether a constant of this size can be passed for the argument. */
static bool fits(struct vyre_cl_device *device, const struct vyre_cl_kernel *kernel,
                 uint32_t argument, enum vyre_scalar declared)
{
    const struct vyre_cl_parameter *parameter = &kernel->parameters[argument];
    static const uint64_t zero;
    uint32_t size = vyre_scalar_size(declared);
    if (parameter->scalar != VYRE_SCALAR_NONE)
        return parameter->scalar == declared;
    if (parameter->size_bytes != 0)
        return parameter->size_bytes == size;
    /*
     * The type is the program's own. All constants are set again before a launch, so this leaves no
     * trace.
     */
    return device->api->clSetKernelArg(kernel->last->call.native, argument, size, &zero) !=
           CL_INVALID_ARG_SIZE;
}

/* The first argument by value whose type could not be reflected, or the number of arguments. */
static uint32_t first_unknown(const struct vyre_cl_kernel *kernel)
{
    uint32_t i = 0;
    while (i < kernel->parameter_count && (kernel->parameters[i].space != VYRE_CL_SPACE_SCALAR ||
                                           kernel->parameters[i].scalar != VYRE_SCALAR_NONE))
        i++;
    return i;
}

static enum vyre_status match_constants(struct vyre_cl_device *device,
                                        struct vyre_cl_kernel *kernel,
                                        const struct vyre_kernel_desc *desc, struct vyre_diag *diag)
{
    uint32_t unknown = first_unknown(kernel);
    if (desc->constant_count == 0 && unknown < kernel->parameter_count)
        return refuse_type(device, kernel, unknown, 0, VYRE_SCALAR_NONE, diag);
    enum vyre_status status = match_count(device, kernel, false, desc->constant_count, NULL, diag);
    if (status != VYRE_OK)
        return status;
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        if (kernel->parameters[i].space != VYRE_CL_SPACE_SCALAR)
            continue;
        uint32_t number = kernel->constant_count++;
        enum vyre_scalar declared = desc->constants[number];
        if (!fits(device, kernel, i, declared))
            return refuse_type(device, kernel, i, number, declared, diag);
        uint32_t size = vyre_scalar_size(declared);
        uint32_t offset = (kernel->constants_size_bytes + size - 1) & ~(size - 1);
        kernel->constants[number] = (struct vyre_cl_constant){i, offset, size};
        kernel->constants_size_bytes = offset + size;
    }
    return VYRE_OK;
}

static enum vyre_status match_local_size(struct vyre_cl_device *device,
                                         struct vyre_cl_kernel *kernel,
                                         const struct vyre_kernel_desc *desc,
                                         struct vyre_diag *diag)
{
    const uint32_t *given = desc->local_size;
    const uint32_t *required = kernel->required_local;
    size_t most = 0;
    if (required[0] != 0 && memcmp(given, required, sizeof kernel->required_local) != 0)
        return vyre_diag_set(diag, VYRE_DIAG_OPENCL_ARGUMENTS, kernel->label, 0,
                             "a local size of %u x %u x %u is declared, %s requires %u x %u x %u",
                             given[0], given[1], given[2], kernel->entry, required[0], required[1],
                             required[2]);
    (void)device->api->clGetKernelWorkGroupInfo(
        kernel->last->call.native, device->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
    size_t total = (size_t)given[0] * given[1] * given[2];
    if (most != 0 && total > most)
        return vyre_diag_set(diag, VYRE_DIAG_KERNEL_LOCAL_SIZE, kernel->label, 0,
                             "a group of %zu invocations; the device takes %zu of this kernel",
                             total, most);
    for (int i = 0; i < 3; i++)
        kernel->local_size[i] = given[i];
    return VYRE_OK;
}

enum vyre_status vyre_cl_agree(struct vyre_cl_device *device, struct vyre_cl_kernel *kernel,
                               const struct vyre_kernel_desc *desc,
                               const struct vyre_binding_plan *plan, struct vyre_diag *diag)
{
    enum vyre_status status = match_bindings(device, kernel, plan, diag);
    if (status == VYRE_OK)
        status = match_constants(device, kernel, desc, diag);
    if (status == VYRE_OK)
        status = match_local_size(device, kernel, desc, diag);
    return status;
}
