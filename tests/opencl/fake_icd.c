/*
 * fake_icd.c: an OpenCL driver that misbehaves on request, for the loader to load:
 *
 *   OCL_ICD_VENDORS=<build>/tests/opencl/vendors FAKE_ICD=enqueue-fails ...
 *
 * One platform, one device of OpenCL 1.2. It never runs a kernel: launches are complete at once and
 * change nothing; copies, fills, reads and writes are carried out. Programs have one kernel, `k`,
 * with the arguments (global uint *a, uint c), whatever their source says.
 *
 * FAKE_ICD is a list of words with commas between them, read at every call, so that a test can change
 * it as it goes. Nothing or "ok": it behaves.
 *
 *   size-zero      size queries say that 0 bytes are needed
 *   size-huge      ... SIZE_MAX bytes
 *   size-grows     ... more at each call than at the one before
 *   size-odd       numbers are said to be one byte longer than they are
 *   unterminated   texts come without their terminator
 *   info-fails     queries fail with CL_OUT_OF_HOST_MEMORY
 *   on-platform, on-device, on-program, on-kernel, on-event
 *                  limit the lies above to queries of these; without any of them, all queries lie.
 *                  What the loader itself asks for is always true.
 *   no-platforms   the driver has no platform
 *   null-name      the platform's name is no text: success, and nothing written
 *   no-devices     CL_DEVICE_NOT_FOUND
 *   zero-devices   CL_SUCCESS, and 0 devices
 *   many-devices   claims UINT_MAX devices, hands out one
 *   null-devices   hands out a NULL device
 *   context-fails, queue-fails, buffer-fails, program-fails, kernel-fails, argument-fails
 *   build-fails    with a build log that names line 3
 *   enqueue-fails  every enqueue: CL_OUT_OF_RESOURCES
 *   launch-fails   every launch of a kernel: CL_OUT_OF_RESOURCES
 *   finish-fails   clFinish, clFlush and clWaitForEvents: CL_OUT_OF_RESOURCES
 *   event-fails    launches end with the status CL_OUT_OF_RESOURCES
 *   context-error  each launch calls the context's callback first, on a thread of the driver
 *   svm            the device claims OpenCL 2.0 and fine-grained SVM (without atomics)
 *
 * A launch is counted in the file that FAKE_ICD_LAUNCHES names, one line each, if it is set.
 */
#include "opencl/fake_icd.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static cl_icd_dispatch table; /* filled when the driver is loaded, constant afterwards */
struct fake_object fake_platform = {.dispatch = &table};
static struct fake_object device = {.dispatch = &table};

bool fake_asked(const char *word)
{
    const char *words = getenv("FAKE_ICD");
    size_t length = strlen(word);
    while (words) {
        if (strncmp(words, word, length) == 0 && (words[length] == ',' || words[length] == '\0'))
            return true;
        words = strchr(words, ',');
        words = words ? words + 1 : NULL;
    }
    return false;
}

/* ---- Objects ---------------------------------------------------------------------------------- */

void *fake_set_code(cl_int code, cl_int *out_code, void *value)
{
    if (out_code)
        *out_code = code;
    return code == CL_SUCCESS ? value : NULL;
}

struct fake_object *fake_make(struct fake_object *context)
{
    struct fake_object *object = calloc(1, sizeof *object);
    if (object) {
        object->dispatch = &table;
        object->references = 1;
        object->context = context;
    }
    return object;
}

/* A new object, or the failure that the word asks for. */
static void *create(const char *word, cl_int failure, void *context, cl_int *out_code)
{
    if (fake_asked(word))
        return fake_set_code(failure, out_code, NULL);
    struct fake_object *object = fake_make(context);
    return fake_set_code(object ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY, out_code, object);
}

static cl_int retain(void *handle)
{
    struct fake_object *object = handle;
    object->references++;
    return CL_SUCCESS;
}

static cl_int release(void *handle)
{
    struct fake_object *object = handle;
    if (--object->references > 0)
        return CL_SUCCESS;
    if (object->owns_bytes)
        free(object->bytes);
    free(object);
    return CL_SUCCESS;
}

#define REFERENCES(type, retain_name, release_name)     \
    static cl_int CL_API_CALL retain_name(type object)  \
    {                                                   \
        return retain(object);                          \
    }                                                   \
    static cl_int CL_API_CALL release_name(type object) \
    {                                                   \
        return release(object);                         \
    }
REFERENCES(cl_context, retain_context, release_context)
REFERENCES(cl_command_queue, retain_queue, release_queue)
REFERENCES(cl_mem, retain_memory, release_memory)
REFERENCES(cl_program, retain_program, release_program)
REFERENCES(cl_kernel, retain_kernel, release_kernel)
REFERENCES(cl_event, retain_event, release_event)

static cl_int CL_API_CALL keep_device(cl_device_id id)
{
    (void)id;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL get_device_ids(cl_platform_id id, cl_device_type type, cl_uint capacity,
                                         cl_device_id *out_devices, cl_uint *out_count)
{
    (void)id;
    (void)type;
    bool none = fake_asked("no-devices") || fake_asked("zero-devices");
    if (out_count)
        *out_count = none ? 0 : fake_asked("many-devices") ? UINT_MAX : 1;
    if (fake_asked("no-devices"))
        return CL_DEVICE_NOT_FOUND;
    if (out_devices && capacity > 0 && !none)
        out_devices[0] = fake_asked("null-devices") ? NULL : (cl_device_id)&device;
    return CL_SUCCESS;
}

static cl_context CL_API_CALL create_context(const cl_context_properties *properties, cl_uint count,
                                             const cl_device_id *devices,
                                             fake_context_callback *notify, void *user,
                                             cl_int *out_code)
{
    (void)properties;
    (void)count;
    (void)devices;
    struct fake_object *context = create("context-fails", CL_OUT_OF_RESOURCES, NULL, out_code);
    if (context) {
        context->notify = notify;
        context->user = user;
    }
    return (cl_context)context;
}

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id id,
                                                 cl_command_queue_properties properties,
                                                 cl_int *out_code)
{
    (void)id;
    (void)properties;
    return create("queue-fails", CL_OUT_OF_RESOURCES, context, out_code);
}

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t size,
                                        void *host, cl_int *out_code)
{
    struct fake_object *memory =
        create("buffer-fails", CL_MEM_OBJECT_ALLOCATION_FAILURE, context, out_code);
    if (!memory)
        return NULL;
    memory->size_bytes = size;
    memory->owns_bytes = !(flags & CL_MEM_USE_HOST_PTR);
    memory->bytes = memory->owns_bytes ? calloc(1, size) : host;
    if (memory->bytes && (flags & CL_MEM_COPY_HOST_PTR))
        memcpy(memory->bytes, host, size);
    if (!memory->bytes) {
        free(memory);
        return fake_set_code(CL_MEM_OBJECT_ALLOCATION_FAILURE, out_code, NULL);
    }
    return (cl_mem)memory;
}

static cl_mem CL_API_CALL create_sub_buffer(cl_mem parent, cl_mem_flags flags,
                                            cl_buffer_create_type type, const void *info,
                                            cl_int *out_code)
{
    (void)flags;
    (void)type;
    const cl_buffer_region *region = info;
    const struct fake_object *from = (const struct fake_object *)parent;
    struct fake_object *memory =
        create("buffer-fails", CL_MEM_OBJECT_ALLOCATION_FAILURE, from->context, out_code);
    if (memory) {
        memory->bytes = (char *)from->bytes + region->origin;
        memory->size_bytes = region->size;
    }
    return (cl_mem)memory;
}

static void *CL_API_CALL svm_alloc(cl_context context, cl_svm_mem_flags flags, size_t size,
                                   cl_uint alignment)
{
    (void)context;
    (void)flags;
    (void)alignment;
    if (fake_asked("buffer-fails") || !fake_asked("svm"))
        return NULL;
    return aligned_alloc(128, (size + 127) / 128 * 128);
}

static void CL_API_CALL svm_free(cl_context context, void *bytes)
{
    (void)context;
    free(bytes);
}

/* ---- Programs and kernels --------------------------------------------------------------------- */

static cl_program CL_API_CALL create_program(cl_context context, cl_uint count,
                                             const char **strings, const size_t *lengths,
                                             cl_int *out_code)
{
    (void)count;
    (void)strings;
    (void)lengths;
    return create("program-fails", CL_OUT_OF_HOST_MEMORY, context, out_code);
}

static cl_int CL_API_CALL build_program(cl_program program, cl_uint count,
                                        const cl_device_id *devices, const char *options,
                                        void(CL_CALLBACK *notify)(cl_program, void *), void *user)
{
    (void)count;
    (void)devices;
    (void)options;
    if (notify)
        notify(program, user);
    return fake_asked("build-fails") ? CL_BUILD_PROGRAM_FAILURE : CL_SUCCESS;
}

static cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *out_code)
{
    if (strcmp(name, "k") != 0)
        return fake_set_code(CL_INVALID_KERNEL_NAME, out_code, NULL);
    return create("kernel-fails", CL_OUT_OF_RESOURCES, ((struct fake_object *)program)->context,
                  out_code);
}

static cl_kernel CL_API_CALL clone_kernel(cl_kernel kernel, cl_int *out_code)
{
    return create("kernel-fails", CL_OUT_OF_RESOURCES, ((struct fake_object *)kernel)->context,
                  out_code);
}

static cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, size_t size,
                                       const void *value)
{
    (void)kernel;
    (void)size;
    (void)value;
    if (fake_asked("argument-fails"))
        return CL_OUT_OF_RESOURCES;
    return index < 2 ? CL_SUCCESS : CL_INVALID_ARG_INDEX;
}

static cl_int CL_API_CALL set_svm_argument(cl_kernel kernel, cl_uint index, const void *value)
{
    return set_argument(kernel, index, sizeof value, value);
}

static cl_int CL_API_CALL set_exec_info(cl_kernel kernel, cl_kernel_exec_info what, size_t size,
                                        const void *value)
{
    (void)kernel;
    (void)what;
    (void)size;
    (void)value;
    return CL_SUCCESS;
}

/* ---- The table -------------------------------------------------------------------------------- */

static cl_int unsupported(void)
{
    return CL_INVALID_OPERATION;
}

static void *unsupported_object(void)
{
    return NULL;
}

static void *CL_API_CALL get_function(const char *name);

static void *CL_API_CALL get_platform_function(cl_platform_id id, const char *name)
{
    (void)id;
    return get_function(name);
}

/*
 * Every entry that is not filled fails instead of crashing. The entries are pointers of one size, and
 * what they are called with is ignored.
 */
static void fill_rest(void)
{
    int (*number)(void) = unsupported;
    void *(*object)(void) = unsupported_object;
    void **const objects[] = {
        (void **)&table.clCreateContextFromType,
        (void **)&table.clCreateImage2D,
        (void **)&table.clCreateImage3D,
        (void **)&table.clCreateSampler,
        (void **)&table.clCreateProgramWithBinary,
        (void **)&table.clEnqueueMapImage,
        (void **)&table.clCreateUserEvent,
        (void **)&table.clCreateImage,
        (void **)&table.clCreateProgramWithBuiltInKernels,
        (void **)&table.clLinkProgram,
        (void **)&table.clCreateCommandQueueWithProperties,
        (void **)&table.clCreatePipe,
        (void **)&table.clCreateSamplerWithProperties,
        (void **)&table.clCreateProgramWithIL,
        (void **)&table.clCreateBufferWithProperties,
        (void **)&table.clCreateImageWithProperties,
    };
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++)
        memcpy(objects[i], &object, sizeof object);
    char *entries = (char *)&table;
    for (size_t i = 0; i < sizeof table; i += sizeof number) {
        static const char empty[sizeof number];
        if (memcmp(entries + i, empty, sizeof empty) == 0)
            memcpy(entries + i, &number, sizeof number);
    }
}

static cl_int CL_API_CALL get_platform_ids(cl_uint capacity, cl_platform_id *out_platforms,
                                           cl_uint *out_count);

__attribute__((constructor)) static void fill_table(void)
{
    table = (cl_icd_dispatch){
        .clGetPlatformIDs = get_platform_ids,
        .clGetDeviceIDs = get_device_ids,
        .clRetainDevice = keep_device,
        .clReleaseDevice = keep_device,
        .clCreateContext = create_context,
        .clRetainContext = retain_context,
        .clReleaseContext = release_context,
        .clCreateCommandQueue = create_queue,
        .clRetainCommandQueue = retain_queue,
        .clReleaseCommandQueue = release_queue,
        .clCreateBuffer = create_buffer,
        .clCreateSubBuffer = create_sub_buffer,
        .clRetainMemObject = retain_memory,
        .clReleaseMemObject = release_memory,
        .clSVMAlloc = svm_alloc,
        .clSVMFree = svm_free,
        .clCreateProgramWithSource = create_program,
        .clRetainProgram = retain_program,
        .clReleaseProgram = release_program,
        .clBuildProgram = build_program,
        .clCreateKernel = create_kernel,
        .clCloneKernel = clone_kernel,
        .clRetainKernel = retain_kernel,
        .clReleaseKernel = release_kernel,
        .clSetKernelArg = set_argument,
        .clSetKernelArgSVMPointer = set_svm_argument,
        .clSetKernelExecInfo = set_exec_info,
        .clRetainEvent = retain_event,
        .clReleaseEvent = release_event,
        .clGetExtensionFunctionAddress = get_function,
        .clGetExtensionFunctionAddressForPlatform = get_platform_function,
    };
    fake_add_queries(&table);
    fake_add_commands(&table);
    fill_rest();
}

static cl_int CL_API_CALL get_platform_ids(cl_uint capacity, cl_platform_id *out_platforms,
                                           cl_uint *out_count)
{
    bool none = fake_asked("no-platforms");
    if (out_count)
        *out_count = none ? 0 : 1;
    if (none)
        return -1001; /* CL_PLATFORM_NOT_FOUND_KHR */
    if (out_platforms && capacity > 0)
        out_platforms[0] = (cl_platform_id)&fake_platform;
    return CL_SUCCESS;
}

static void *CL_API_CALL get_function(const char *name)
{
    cl_int(CL_API_CALL * list)(cl_uint, cl_platform_id *, cl_uint *) = get_platform_ids;
    void *symbol = NULL;
    if (strcmp(name, "clIcdGetPlatformIDsKHR") == 0)
        memcpy(&symbol, &list, sizeof symbol);
    return symbol;
}

/* What the loader looks up by name. */
EXPORT cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint capacity, cl_platform_id *out_platforms,
                                                 cl_uint *out_count);
EXPORT void *CL_API_CALL clGetExtensionFunctionAddress(const char *name);
EXPORT cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id id, cl_platform_info what,
                                            size_t capacity, void *out, size_t *out_size);

cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint capacity, cl_platform_id *out_platforms,
                                          cl_uint *out_count)
{
    return get_platform_ids(capacity, out_platforms, out_count);
}

void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
    return get_function(name);
}

cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id id, cl_platform_info what, size_t capacity,
                                     void *out, size_t *out_size)
{
    return table.clGetPlatformInfo(id, what, capacity, out, out_size);
}
