/*
 * reflect.c: the arguments of a built kernel, as the driver reports them.
 */
#include <string.h>

#include "backend/opencl/device.h"
#include "backend/opencl/failure.h"
#include "backend/opencl/kernel.h"
#include "plan/interface_agree.h"

#define TYPE_BYTES 256

/* Types of arguments by value, as drivers name them. A vector type has a number at the end. */
static const struct type_name {
    const char *name;
    uint32_t size_bytes;
    enum vyre_scalar scalar;
} TYPES[] = {
    {"unsigned char", 1, VYRE_SCALAR_NONE},
    {"unsigned short", 2, VYRE_SCALAR_NONE},
    {"unsigned int", 4, VYRE_SCALAR_U32},
    {"unsigned long", 8, VYRE_SCALAR_U64},
    {"char", 1, VYRE_SCALAR_NONE},
    {"uchar", 1, VYRE_SCALAR_NONE},
    {"short", 2, VYRE_SCALAR_NONE},
    {"ushort", 2, VYRE_SCALAR_NONE},
    {"half", 2, VYRE_SCALAR_NONE},
    {"bool", 1, VYRE_SCALAR_NONE},
    {"int", 4, VYRE_SCALAR_I32},
    {"uint", 4, VYRE_SCALAR_U32},
    {"float", 4, VYRE_SCALAR_F32},
    {"long", 8, VYRE_SCALAR_I64},
    {"ulong", 8, VYRE_SCALAR_U64},
    {"double", 8, VYRE_SCALAR_F64},
};

/*
 * The number of scalars in a vector, from its name; a vector of 3 takes the room of 4. 0: not a
 * vector.
 */
static uint32_t vector_count(const char *number)
{
    static const char *const NUMBERS[] = {"2", "3", "4", "8", "16"};
    static const uint32_t COUNTS[] = {2, 4, 4, 8, 16};
    for (size_t i = 0; i < sizeof COUNTS / sizeof COUNTS[0]; i++) {
        if (strcmp(number, NUMBERS[i]) == 0)
            return COUNTS[i];
    }
    return 0;
}

/* What is known of the type of an argument by value. */
static void read_type(const char *type, struct vyre_cl_parameter *out)
{
    for (size_t i = 0; i < sizeof TYPES / sizeof TYPES[0]; i++) {
        size_t length = strlen(TYPES[i].name);
        if (strncmp(type, TYPES[i].name, length) != 0)
            continue;
        bool scalar = type[length] == '\0';
        uint32_t count = scalar ? 1 : vector_count(type + length);
        if (count == 0)
            continue;
        out->size_bytes = TYPES[i].size_bytes * count;
        out->scalar = scalar ? TYPES[i].scalar : VYRE_SCALAR_NONE;
        return;
    }
}

static bool is_opaque(const char *type)
{
    return strncmp(type, "image", 5) == 0 || strncmp(type, "sampler", 7) == 0 ||
           strncmp(type, "pipe", 4) == 0 || strncmp(type, "queue", 5) == 0 ||
           strncmp(type, "event", 5) == 0;
}

/* An answer about one argument: exactly `size` bytes, or a text of at most that. */
static bool ask(struct vyre_cl_device *device, cl_kernel native, cl_uint index,
                cl_kernel_arg_info what, void *out, size_t size, bool text)
{
    size_t needed = 0;
    memset(out, 0, size);
    if (device->api->clGetKernelArgInfo(native, index, what, 0, NULL, &needed) != CL_SUCCESS)
        return false;
    if (text ? needed == 0 || needed >= size : needed != size)
        return false;
    return device->api->clGetKernelArgInfo(native, index, what, needed, out, NULL) == CL_SUCCESS;
}

static enum vyre_status refuse(const struct vyre_cl_kernel *kernel, cl_uint index, const char *why,
                               struct vyre_diag *diag)
{
    return vyre_diag_set(diag, VYRE_DIAG_OPENCL_ARGUMENTS, kernel->label, 0, "argument %u of %s %s",
                         index, kernel->entry, why);
}

static enum vyre_status reflect_one(struct vyre_cl_device *device, cl_kernel native, cl_uint index,
                                    struct vyre_cl_kernel *kernel, struct vyre_diag *diag)
{
    struct vyre_cl_parameter *parameter = &kernel->parameters[index];
    cl_kernel_arg_address_qualifier space;
    cl_kernel_arg_type_qualifier qualifier;
    char type[TYPE_BYTES];
    if (!ask(device, native, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, &space, sizeof space, false) ||
        !ask(device, native, index, CL_KERNEL_ARG_TYPE_QUALIFIER, &qualifier, sizeof qualifier,
             false) ||
        !ask(device, native, index, CL_KERNEL_ARG_TYPE_NAME, type, sizeof type, true))
        return refuse(kernel, index, "cannot be reflected: the driver does not describe it", diag);
    if (is_opaque(type) || (qualifier & CL_KERNEL_ARG_TYPE_PIPE))
        return refuse(kernel, index, "is an image, a sampler, a pipe, a queue or an event", diag);
    switch (space) {
    case CL_KERNEL_ARG_ADDRESS_GLOBAL:
        parameter->space = VYRE_CL_SPACE_GLOBAL;
        parameter->read_only = (qualifier & CL_KERNEL_ARG_TYPE_CONST) != 0;
        break;
    case CL_KERNEL_ARG_ADDRESS_CONSTANT:
        parameter->space = VYRE_CL_SPACE_CONSTANT;
        parameter->read_only = true;
        break;
    case CL_KERNEL_ARG_ADDRESS_LOCAL:
        parameter->space = VYRE_CL_SPACE_LOCAL;
        break;
    default:
        parameter->space = VYRE_CL_SPACE_SCALAR;
        read_type(type, parameter);
        break;
    }
    return VYRE_OK;
}

void vyre_cl_argument_ask(struct vyre_cl_device *device, cl_kernel native, uint32_t index,
                          struct vyre_cl_argument_text *out)
{
    memset(out, 0, sizeof *out);
    (void)ask(device, native, index, CL_KERNEL_ARG_TYPE_NAME, out->type, sizeof out->type, true);
    (void)ask(device, native, index, CL_KERNEL_ARG_NAME, out->name, sizeof out->name, true);
}

enum vyre_status vyre_cl_reflect(struct vyre_cl_device *device, cl_kernel native,
                                 struct vyre_cl_kernel *kernel, struct vyre_diag *diag)
{
    cl_uint count = 0;
    size_t required[3] = {0};
    cl_int code =
        device->api->clGetKernelInfo(native, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL);
    if (code != CL_SUCCESS)
        return vyre_cl_failed(diag, kernel->label, code, "clGetKernelInfo");
    if (count > VYRE_CL_ARGUMENTS_MAX)
        return vyre_diag_set(diag, VYRE_DIAG_OPENCL_ARGUMENTS, kernel->label, 0,
                             "%s has %u arguments, at most %d are taken", kernel->entry, count,
                             VYRE_CL_ARGUMENTS_MAX);
    kernel->parameter_count = count;
    for (cl_uint i = 0; i < count; i++) {
        enum vyre_status status = reflect_one(device, native, i, kernel, diag);
        if (status != VYRE_OK)
            return status;
    }
    (void)device->api->clGetKernelWorkGroupInfo(
        native, device->id, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof required, required, NULL);
    for (int i = 0; i < 3; i++)
        kernel->required_local[i] = required[i] <= UINT32_MAX ? (uint32_t)required[i] : 0;
    return VYRE_OK;
}

void vyre_cl_describe(const struct vyre_cl_kernel *kernel, struct vyre_kernel_interface *out)
{
    bool constants_known = true;
    uint32_t bindings = 0;
    uint32_t constants = 0;
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        const struct vyre_cl_parameter *parameter = &kernel->parameters[i];
        if (parameter->space == VYRE_CL_SPACE_SCALAR) {
            constants_known = constants_known && parameter->scalar != VYRE_SCALAR_NONE &&
                              constants < VYRE_KERNEL_CONSTANTS_MAX;
            if (constants_known)
                out->constants[constants] = parameter->scalar;
            constants++;
        } else if (bindings < VYRE_KERNEL_BINDINGS_MAX) {
            struct vyre_binding_desc *binding = &out->bindings[bindings];
            binding->slot = bindings++;
            binding->access = parameter->read_only ? VYRE_ACCESS_READ : VYRE_ACCESS_READWRITE;
            if (parameter->space == VYRE_CL_SPACE_LOCAL)
                binding->role = VYRE_ROLE_SHARED;
        }
    }
    out->has_bindings = true;
    out->binding_count = bindings;
    out->has_constants = constants_known;
    out->constant_count = constants_known ? constants : 0;
    uint32_t alignment;
    if (constants_known)
        out->constants_size_bytes = vyre_scalars_layout(out->constants, constants, &alignment);
    out->has_local_size = kernel->required_local[0] != 0;
    memcpy(out->local_size, kernel->required_local, sizeof out->local_size);
}
