/*
 * fake_icd_info.c: what the fake driver answers to queries, true or not. See fake_icd.c.
 */
#include "opencl/fake_icd.h"

#include <stdint.h>
#include <string.h>

/* Where an answer goes. */
struct query {
    const char *about; /* the word that limits lies to such queries */
    size_t capacity;
    void *out;        /* NULL: only the size is asked for */
    size_t *out_size; /* may be NULL */
};

/* Whether the word was given, and is meant for such queries. */
static bool lies(const struct query *query, const char *word)
{
    static const char *const limits[] = {"on-platform", "on-device", "on-program", "on-kernel",
                                         "on-event"};
    bool limited = false;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        limited = limited || fake_asked(limits[i]);
    return fake_asked(word) && (!limited || fake_asked(query->about));
}

/* How many bytes the answer claims to need. */
static size_t claimed(const struct query *query, size_t size)
{
    static atomic_size_t calls;
    if (lies(query, "size-zero"))
        return 0;
    if (lies(query, "size-huge"))
        return SIZE_MAX;
    if (lies(query, "size-grows"))
        return size + 64 * (atomic_fetch_add(&calls, 1) + 1);
    return size;
}

static cl_int write_answer(const struct query *query, const void *value, size_t size, size_t claim)
{
    if (query->out_size)
        *query->out_size = claim;
    if (!query->out)
        return CL_SUCCESS;
    if (query->capacity < size)
        return CL_INVALID_VALUE;
    if (size > 0)
        memcpy(query->out, value, size);
    return CL_SUCCESS;
}

static cl_int answer(const struct query *query, const void *value, size_t size, size_t claim)
{
    return lies(query, "info-fails") ? CL_OUT_OF_HOST_MEMORY
                                     : write_answer(query, value, size, claim);
}

static cl_int answer_bytes(const struct query *query, const void *value, size_t size)
{
    return answer(query, value, size, lies(query, "size-odd") ? size + 1 : claimed(query, size));
}

static cl_int answer_uint(const struct query *query, cl_uint value)
{
    return answer_bytes(query, &value, sizeof value);
}

static cl_int answer_ulong(const struct query *query, cl_ulong value)
{
    return answer_bytes(query, &value, sizeof value);
}

static cl_int answer_size(const struct query *query, size_t value)
{
    return answer_bytes(query, &value, sizeof value);
}

static cl_int answer_text(const struct query *query, const char *text)
{
    size_t size = strlen(text) + !lies(query, "unterminated");
    return answer(query, text, size, claimed(query, size));
}

/* What the loader asks for before it lists the platform at all. */
static cl_int answer_loader(const struct query *query, const char *text)
{
    return write_answer(query, text, strlen(text) + 1, strlen(text) + 1);
}

/* SVM came with OpenCL 2.0. */
static const char *version(void)
{
    return fake_asked("svm") ? "OpenCL 2.0 fake" : "OpenCL 1.2 fake";
}

static cl_int CL_API_CALL get_platform_info(cl_platform_id id, cl_platform_info what,
                                            size_t capacity, void *out, size_t *out_size)
{
    const struct query query = {"on-platform", capacity, out, out_size};
    (void)id;
    switch (what) {
    case CL_PLATFORM_EXTENSIONS:
        return answer_loader(&query, "cl_khr_icd");
    case CL_PLATFORM_ICD_SUFFIX_KHR:
        return answer_loader(&query, "FAKE");
    case CL_PLATFORM_PROFILE:
        return answer_text(&query, "FULL_PROFILE");
    case CL_PLATFORM_VERSION:
        return answer_text(&query, version());
    case CL_PLATFORM_NAME:
        if (fake_asked("null-name"))
            return answer(&query, "", 0, 0);
        return answer_text(&query, "Fake platform");
    case CL_PLATFORM_VENDOR:
        return answer_text(&query, "Made Up");
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_int device_text(const struct query *query, cl_device_info what)
{
    static const struct {
        cl_device_info what;
        const char *text;
    } texts[] = {
        {CL_DEVICE_NAME, "Fake device"},
        {CL_DEVICE_VENDOR, "Made Up"},
        {CL_DRIVER_VERSION, "1.0"},
        {CL_DEVICE_PROFILE, "FULL_PROFILE"},
        {CL_DEVICE_OPENCL_C_VERSION, "OpenCL C 1.2 "},
        {CL_DEVICE_EXTENSIONS, "cl_khr_byte_addressable_store"},
        {CL_DEVICE_BUILT_IN_KERNELS, ""},
    };
    if (what == CL_DEVICE_VERSION)
        return answer_text(query, version());
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (texts[i].what == what)
            return answer_text(query, texts[i].text);
    }
    return CL_INVALID_VALUE;
}

static cl_int device_size(const struct query *query, cl_device_info what)
{
    const cl_platform_id handle = (cl_platform_id)&fake_platform;
    static const size_t item_sizes[3] = {1024, 1024, 64};
    switch (what) {
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        return answer_size(query, 1024);
    case CL_DEVICE_MAX_PARAMETER_SIZE:
        return answer_size(query, 1024);
    case CL_DEVICE_PROFILING_TIMER_RESOLUTION:
        return answer_size(query, 1);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
        return answer_bytes(query, item_sizes, sizeof item_sizes);
    case CL_DEVICE_PLATFORM:
        return answer_bytes(query, &handle, sizeof handle);
    default:
        return device_text(query, what);
    }
}

static cl_int device_long(const struct query *query, cl_device_info what)
{
    switch (what) {
    case CL_DEVICE_TYPE:
        return answer_ulong(query, CL_DEVICE_TYPE_ACCELERATOR);
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        return answer_ulong(query, UINT64_C(1) << 28);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
        return answer_ulong(query, UINT64_C(1) << 26);
    case CL_DEVICE_LOCAL_MEM_SIZE:
        return answer_ulong(query, 32768);
    case CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE:
        return answer_ulong(query, 65536);
    case CL_DEVICE_QUEUE_PROPERTIES:
        return answer_ulong(query, CL_QUEUE_PROFILING_ENABLE);
    case CL_DEVICE_EXECUTION_CAPABILITIES:
        return answer_ulong(query, CL_EXEC_KERNEL);
    case CL_DEVICE_SVM_CAPABILITIES:
        return answer_ulong(query, fake_asked("svm") ? CL_DEVICE_SVM_COARSE_GRAIN_BUFFER |
                                                           CL_DEVICE_SVM_FINE_GRAIN_BUFFER
                                                     : 0);
    default:
        return device_size(query, what);
    }
}

static cl_int CL_API_CALL get_device_info(cl_device_id id, cl_device_info what, size_t capacity,
                                          void *out, size_t *out_size)
{
    const struct query query = {"on-device", capacity, out, out_size};
    (void)id;
    switch (what) {
    case CL_DEVICE_VENDOR_ID:
    case CL_DEVICE_PARTITION_MAX_SUB_DEVICES:
        return answer_uint(&query, 0);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        return answer_uint(&query, 4);
    case CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS:
        return answer_uint(&query, 3);
    case CL_DEVICE_MAX_CLOCK_FREQUENCY:
        return answer_uint(&query, 1000);
    case CL_DEVICE_ADDRESS_BITS:
        return answer_uint(&query, 64);
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN:
        return answer_uint(&query, 1024);
    case CL_DEVICE_LOCAL_MEM_TYPE:
        return answer_uint(&query, CL_LOCAL);
    case CL_DEVICE_AVAILABLE:
    case CL_DEVICE_COMPILER_AVAILABLE:
    case CL_DEVICE_LINKER_AVAILABLE:
    case CL_DEVICE_ENDIAN_LITTLE:
        return answer_uint(&query, CL_TRUE);
    case CL_DEVICE_IMAGE_SUPPORT:
    case CL_DEVICE_HOST_UNIFIED_MEMORY:
        return answer_uint(&query, CL_FALSE);
    default:
        return device_long(&query, what);
    }
}

static cl_int CL_API_CALL get_program_info(cl_program program, cl_program_info what,
                                           size_t capacity, void *out, size_t *out_size)
{
    const struct query query = {"on-program", capacity, out, out_size};
    (void)program;
    switch (what) {
    case CL_PROGRAM_NUM_DEVICES:
        return answer_uint(&query, 1);
    case CL_PROGRAM_NUM_KERNELS:
        return answer_size(&query, 1);
    case CL_PROGRAM_KERNEL_NAMES:
        return answer_text(&query, "k");
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_int CL_API_CALL get_build_info(cl_program program, cl_device_id id,
                                         cl_program_build_info what, size_t capacity, void *out,
                                         size_t *out_size)
{
    const struct query query = {"on-program", capacity, out, out_size};
    (void)program;
    (void)id;
    switch (what) {
    case CL_PROGRAM_BUILD_STATUS:
        return answer_uint(
            &query, (cl_uint)(fake_asked("build-fails") ? CL_BUILD_ERROR : CL_BUILD_SUCCESS));
    case CL_PROGRAM_BUILD_LOG:
        return answer_text(
            &query, fake_asked("build-fails") ? "k.cl:3:9: error: this is not OpenCL C\n" : "");
    case CL_PROGRAM_BUILD_OPTIONS:
        return answer_text(&query, "");
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_int CL_API_CALL get_kernel_info(cl_kernel kernel, cl_kernel_info what, size_t capacity,
                                          void *out, size_t *out_size)
{
    const struct query query = {"on-kernel", capacity, out, out_size};
    (void)kernel;
    switch (what) {
    case CL_KERNEL_NUM_ARGS:
        return answer_uint(&query, 2);
    case CL_KERNEL_FUNCTION_NAME:
        return answer_text(&query, "k");
    case CL_KERNEL_ATTRIBUTES:
        return answer_text(&query, "");
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_int CL_API_CALL get_argument_info(cl_kernel kernel, cl_uint index,
                                            cl_kernel_arg_info what, size_t capacity, void *out,
                                            size_t *out_size)
{
    const struct query query = {"on-kernel", capacity, out, out_size};
    (void)kernel;
    if (index >= 2)
        return CL_INVALID_ARG_INDEX;
    switch (what) {
    case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
        return answer_uint(&query, index == 0 ? CL_KERNEL_ARG_ADDRESS_GLOBAL
                                              : CL_KERNEL_ARG_ADDRESS_PRIVATE);
    case CL_KERNEL_ARG_ACCESS_QUALIFIER:
        return answer_uint(&query, CL_KERNEL_ARG_ACCESS_NONE);
    case CL_KERNEL_ARG_TYPE_QUALIFIER:
        return answer_ulong(&query, CL_KERNEL_ARG_TYPE_NONE);
    case CL_KERNEL_ARG_TYPE_NAME:
        return answer_text(&query, index == 0 ? "uint*" : "uint");
    case CL_KERNEL_ARG_NAME:
        return answer_text(&query, index == 0 ? "a" : "c");
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_int CL_API_CALL get_group_info(cl_kernel kernel, cl_device_id id,
                                         cl_kernel_work_group_info what, size_t capacity, void *out,
                                         size_t *out_size)
{
    const struct query query = {"on-kernel", capacity, out, out_size};
    static const size_t none[3] = {0, 0, 0};
    (void)kernel;
    (void)id;
    switch (what) {
    case CL_KERNEL_WORK_GROUP_SIZE:
        return answer_size(&query, 1024);
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
        return answer_size(&query, 8);
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
        return answer_bytes(&query, none, sizeof none);
    case CL_KERNEL_LOCAL_MEM_SIZE:
    case CL_KERNEL_PRIVATE_MEM_SIZE:
        return answer_ulong(&query, 0);
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_int CL_API_CALL get_event_info(cl_event event, cl_event_info what, size_t capacity,
                                         void *out, size_t *out_size)
{
    const struct query query = {"on-event", capacity, out, out_size};
    const struct fake_object *object = (const struct fake_object *)event;
    switch (what) {
    case CL_EVENT_COMMAND_EXECUTION_STATUS:
        return answer_uint(&query, (cl_uint)object->status);
    case CL_EVENT_COMMAND_TYPE:
        return answer_uint(&query, object->type);
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_int CL_API_CALL get_event_times(cl_event event, cl_profiling_info what, size_t capacity,
                                          void *out, size_t *out_size)
{
    const struct query query = {"on-event", capacity, out, out_size};
    (void)event;
    return answer_ulong(&query, 1000 + (what - CL_PROFILING_COMMAND_QUEUED));
}

void fake_add_queries(cl_icd_dispatch *table)
{
    table->clGetPlatformInfo = get_platform_info;
    table->clGetDeviceInfo = get_device_info;
    table->clGetProgramInfo = get_program_info;
    table->clGetProgramBuildInfo = get_build_info;
    table->clGetKernelInfo = get_kernel_info;
    table->clGetKernelArgInfo = get_argument_info;
    table->clGetKernelWorkGroupInfo = get_group_info;
    table->clGetEventInfo = get_event_info;
    table->clGetEventProfilingInfo = get_event_times;
}
