/*
 * uncured_backend.c: the OpenCL backend whose dispatchers lack what keeps their cases apart on PoCL
 * (VYRE_CASE_END in dispatcher/prelude.c), as an out-of-tree backend: to show that the tests and the proof
 * find what goes wrong then.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "backend/opencl/backend.h"
#include "backend/opencl/opencl.h"

#define TEXTS_MAX 4

typedef __typeof__(clCreateProgramWithSource) create_function;
static _Atomic(create_function *) real_create;

/* The macro asks for PoCL by this name; with another one of the same length it finds another driver. */
static char *copy_uncured(const char *text, size_t size)
{
    static const char asked[] = "#ifdef POCL_DEVICE_ADDRESS_BITS\n#define VYRE_CASE_END";
    char *copy = malloc(size + 1);
    if (!copy)
        abort();
    memcpy(copy, text, size);
    copy[size] = '\0';
    char *at = strstr(copy, asked);
    if (at)
        memcpy(at + sizeof "#ifdef " - 1, "NONE", 4);
    return copy;
}

static cl_program CL_API_CALL create(cl_context context, cl_uint count, const char **texts,
                                     const size_t *sizes, cl_int *out_code)
{
    char *copies[TEXTS_MAX];
    for (cl_uint i = 0; i < count && i < TEXTS_MAX; i++)
        copies[i] = copy_uncured(texts[i], sizes && sizes[i] ? sizes[i] : strlen(texts[i]));
    cl_program program = atomic_load(&real_create)(context, count < TEXTS_MAX ? count : TEXTS_MAX,
                                                   (const char **)copies, sizes, out_code);
    for (cl_uint i = 0; i < count && i < TEXTS_MAX; i++)
        free(copies[i]);
    return program;
}

static enum vyre_status enumerate(void *native, struct vyre_device_info *out_infos, size_t capacity,
                                  size_t *out_count, struct vyre_diag *diag)
{
    struct vyre_cl_backend *backend = native;
    enum vyre_status status = vyre_cl_enumerate(native, out_infos, capacity, out_count, diag);
    if (backend->api.clCreateProgramWithSource != create) {
        atomic_store(&real_create, backend->api.clCreateProgramWithSource);
        backend->api.clCreateProgramWithSource = create;
    }
    return status;
}

__attribute__((visibility("default"))) const struct vyre_backend_ops *vyre_backend_entry(void);

const struct vyre_backend_ops *vyre_backend_entry(void)
{
    static struct vyre_backend_ops ops;
    ops = vyre_opencl_backend_ops;
    ops.name = "opencl-uncured";
    ops.enumerate = enumerate;
    return &ops;
}
