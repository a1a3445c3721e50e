/*
 * nonsense_icd.c: an ICD that answers every question about its device with a size that cannot be.
 */
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_icd.h>

struct _cl_platform_id {
    const cl_icd_dispatch *dispatch;
};
struct _cl_device_id {
    const cl_icd_dispatch *dispatch;
};

static cl_int CL_API_CALL platform_info(cl_platform_id platform, cl_platform_info what, size_t size,
                                        void *out, size_t *out_size)
{
    /* The loader itself needs these two. */
    const char *text = what == CL_PLATFORM_ICD_SUFFIX_KHR ? "NONSENSE" : "cl_khr_icd";
    (void)platform;
    if (what == CL_PLATFORM_NAME) { /* longer than it says, without an end */
        if (out)
            memset(out, 'x', size);
        if (out_size)
            *out_size = 7;
        return CL_SUCCESS;
    }
    if (out && size >= strlen(text) + 1)
        strcpy(out, text);
    if (out_size)
        *out_size = strlen(text) + 1;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, size_t size,
                                      void *out, size_t *out_size)
{
    (void)device;
    if (out)
        memset(out, 'x', size);
    if (out_size) /* one in three fits nothing, one is nothing, one is a little too much */
        *out_size = what % 3 == 0 ? (size_t)-1 : what % 3 == 1 ? 0 : size + 1;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL device_ids(cl_platform_id platform, cl_device_type type, cl_uint capacity,
                                     cl_device_id *out, cl_uint *out_count);
static cl_int CL_API_CALL platform_ids(cl_uint capacity, cl_platform_id *out, cl_uint *out_count);

static const cl_icd_dispatch dispatch = {
    .clGetPlatformIDs = platform_ids,
    .clGetPlatformInfo = platform_info,
    .clGetDeviceIDs = device_ids,
    .clGetDeviceInfo = device_info,
};
static struct _cl_platform_id the_platform = {&dispatch};
static struct _cl_device_id the_device = {&dispatch};

static cl_int CL_API_CALL device_ids(cl_platform_id platform, cl_device_type type, cl_uint capacity,
                                     cl_device_id *out, cl_uint *out_count)
{
    (void)platform;
    (void)type;
    for (cl_uint i = 0; out && i < capacity && i < 3; i++)
        out[i] = &the_device;
    if (out_count)
        *out_count = 4000000000u;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL platform_ids(cl_uint capacity, cl_platform_id *out, cl_uint *out_count)
{
    if (out && capacity > 0)
        out[0] = &the_platform;
    if (out_count)
        *out_count = 1;
    return CL_SUCCESS;
}

#define EXPORT __attribute__((visibility("default")))
EXPORT cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint capacity, cl_platform_id *out,
                                                 cl_uint *out_count)
{
    return platform_ids(capacity, out, out_count);
}

EXPORT void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
    union {
        clIcdGetPlatformIDsKHR_fn function;
        void *address;
    } entry = {.function = clIcdGetPlatformIDsKHR};
    return strcmp(name, "clIcdGetPlatformIDsKHR") == 0 ? entry.address : NULL;
}

EXPORT cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info what,
                                            size_t size, void *out, size_t *out_size)
{
    return platform_info(platform, what, size, out, out_size);
}
