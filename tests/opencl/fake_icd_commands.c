/*
 * fake_icd_commands.c: the fake driver's commands, which are complete at once. See fake_icd.c.
 */
#include "opencl/fake_icd.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends a command that was carried out: with its event, if one is wanted. */
static cl_int done(cl_command_queue queue, cl_command_type type, cl_int status, cl_event *out_event)
{
    if (!out_event)
        return CL_SUCCESS;
    struct fake_object *event = fake_make(((struct fake_object *)queue)->context);
    if (!event)
        return CL_OUT_OF_HOST_MEMORY;
    event->type = type;
    event->status = status;
    *out_event = (cl_event)event;
    return CL_SUCCESS;
}

static bool refuses(void)
{
    return fake_asked("enqueue-fails");
}

static void *notify_context(void *handle)
{
    struct fake_object *context = handle;
    context->notify("fake: the device has had enough", "fake", 4, context->user);
    return NULL;
}

static void report_error(struct fake_object *context)
{
    pthread_t thread;
    if (context->notify && pthread_create(&thread, NULL, notify_context, context) == 0)
        pthread_join(thread, NULL);
}

static void count_launch(void)
{
    const char *path = getenv("FAKE_ICD_LAUNCHES");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (file) {
        fputs("launch\n", file);
        fclose(file);
    }
}

static cl_int CL_API_CALL enqueue_launch(cl_command_queue queue, cl_kernel kernel,
                                         cl_uint dimensions, const size_t *offset,
                                         const size_t *global, const size_t *local,
                                         cl_uint wait_count, const cl_event *waits,
                                         cl_event *out_event)
{
    (void)kernel;
    (void)dimensions;
    (void)offset;
    (void)global;
    (void)local;
    (void)wait_count;
    (void)waits;
    count_launch();
    if (fake_asked("context-error"))
        report_error(((struct fake_object *)queue)->context);
    if (refuses() || fake_asked("launch-fails"))
        return CL_OUT_OF_RESOURCES;
    return done(queue, CL_COMMAND_NDRANGE_KERNEL,
                fake_asked("event-fails") ? CL_OUT_OF_RESOURCES : CL_COMPLETE, out_event);
}

static cl_int CL_API_CALL enqueue_read(cl_command_queue queue, cl_mem memory, cl_bool blocking,
                                       size_t offset, size_t size, void *out, cl_uint wait_count,
                                       const cl_event *waits, cl_event *out_event)
{
    (void)blocking;
    (void)wait_count;
    (void)waits;
    if (refuses())
        return CL_OUT_OF_RESOURCES;
    memcpy(out, (char *)((struct fake_object *)memory)->bytes + offset, size);
    return done(queue, CL_COMMAND_READ_BUFFER, CL_COMPLETE, out_event);
}

static cl_int CL_API_CALL enqueue_write(cl_command_queue queue, cl_mem memory, cl_bool blocking,
                                        size_t offset, size_t size, const void *bytes,
                                        cl_uint wait_count, const cl_event *waits,
                                        cl_event *out_event)
{
    (void)blocking;
    (void)wait_count;
    (void)waits;
    if (refuses())
        return CL_OUT_OF_RESOURCES;
    memcpy((char *)((struct fake_object *)memory)->bytes + offset, bytes, size);
    return done(queue, CL_COMMAND_WRITE_BUFFER, CL_COMPLETE, out_event);
}

static cl_int CL_API_CALL enqueue_copy(cl_command_queue queue, cl_mem from, cl_mem to,
                                       size_t from_offset, size_t to_offset, size_t size,
                                       cl_uint wait_count, const cl_event *waits,
                                       cl_event *out_event)
{
    (void)wait_count;
    (void)waits;
    if (refuses())
        return CL_OUT_OF_RESOURCES;
    memmove((char *)((struct fake_object *)to)->bytes + to_offset,
            (char *)((struct fake_object *)from)->bytes + from_offset, size);
    return done(queue, CL_COMMAND_COPY_BUFFER, CL_COMPLETE, out_event);
}

static void fill_bytes(char *bytes, const void *pattern, size_t pattern_size, size_t size)
{
    for (size_t i = 0; i + pattern_size <= size; i += pattern_size)
        memcpy(bytes + i, pattern, pattern_size);
}

static cl_int CL_API_CALL enqueue_fill(cl_command_queue queue, cl_mem memory, const void *pattern,
                                       size_t pattern_size, size_t offset, size_t size,
                                       cl_uint wait_count, const cl_event *waits,
                                       cl_event *out_event)
{
    (void)wait_count;
    (void)waits;
    if (refuses())
        return CL_OUT_OF_RESOURCES;
    fill_bytes((char *)((struct fake_object *)memory)->bytes + offset, pattern, pattern_size, size);
    return done(queue, CL_COMMAND_FILL_BUFFER, CL_COMPLETE, out_event);
}

static cl_int CL_API_CALL enqueue_svm_copy(cl_command_queue queue, cl_bool blocking, void *to,
                                           const void *from, size_t size, cl_uint wait_count,
                                           const cl_event *waits, cl_event *out_event)
{
    (void)blocking;
    (void)wait_count;
    (void)waits;
    if (refuses())
        return CL_OUT_OF_RESOURCES;
    memmove(to, from, size);
    return done(queue, CL_COMMAND_SVM_MEMCPY, CL_COMPLETE, out_event);
}

static cl_int CL_API_CALL enqueue_svm_fill(cl_command_queue queue, void *bytes, const void *pattern,
                                           size_t pattern_size, size_t size, cl_uint wait_count,
                                           const cl_event *waits, cl_event *out_event)
{
    (void)wait_count;
    (void)waits;
    if (refuses())
        return CL_OUT_OF_RESOURCES;
    fill_bytes(bytes, pattern, pattern_size, size);
    return done(queue, CL_COMMAND_SVM_MEMFILL, CL_COMPLETE, out_event);
}

static void *CL_API_CALL enqueue_map(cl_command_queue queue, cl_mem memory, cl_bool blocking,
                                     cl_map_flags flags, size_t offset, size_t size,
                                     cl_uint wait_count, const cl_event *waits, cl_event *out_event,
                                     cl_int *out_code)
{
    (void)blocking;
    (void)flags;
    (void)size;
    (void)wait_count;
    (void)waits;
    if (refuses())
        return fake_set_code(CL_OUT_OF_RESOURCES, out_code, NULL);
    return fake_set_code(done(queue, CL_COMMAND_MAP_BUFFER, CL_COMPLETE, out_event), out_code,
                         (char *)((struct fake_object *)memory)->bytes + offset);
}

static cl_int CL_API_CALL enqueue_unmap(cl_command_queue queue, cl_mem memory, void *bytes,
                                        cl_uint wait_count, const cl_event *waits,
                                        cl_event *out_event)
{
    (void)memory;
    (void)bytes;
    (void)wait_count;
    (void)waits;
    if (refuses())
        return CL_OUT_OF_RESOURCES;
    return done(queue, CL_COMMAND_UNMAP_MEM_OBJECT, CL_COMPLETE, out_event);
}

static cl_int CL_API_CALL enqueue_marker(cl_command_queue queue, cl_uint wait_count,
                                         const cl_event *waits, cl_event *out_event)
{
    (void)wait_count;
    (void)waits;
    if (refuses())
        return CL_OUT_OF_RESOURCES;
    return done(queue, CL_COMMAND_MARKER, CL_COMPLETE, out_event);
}

static cl_int CL_API_CALL finish(cl_command_queue queue)
{
    (void)queue;
    return fake_asked("finish-fails") ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

static cl_int CL_API_CALL wait_events(cl_uint count, const cl_event *events)
{
    if (fake_asked("finish-fails"))
        return CL_OUT_OF_RESOURCES;
    for (cl_uint i = 0; i < count; i++) {
        if (((struct fake_object *)events[i])->status < CL_COMPLETE)
            return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }
    return CL_SUCCESS;
}

static cl_int CL_API_CALL set_event_callback(cl_event event, cl_int when,
                                             void(CL_CALLBACK *notify)(cl_event, cl_int, void *),
                                             void *user)
{
    (void)when;
    notify(event, ((struct fake_object *)event)->status, user);
    return CL_SUCCESS;
}

void fake_add_commands(cl_icd_dispatch *table)
{
    table->clEnqueueNDRangeKernel = enqueue_launch;
    table->clEnqueueReadBuffer = enqueue_read;
    table->clEnqueueWriteBuffer = enqueue_write;
    table->clEnqueueCopyBuffer = enqueue_copy;
    table->clEnqueueFillBuffer = enqueue_fill;
    table->clEnqueueSVMMemcpy = enqueue_svm_copy;
    table->clEnqueueSVMMemFill = enqueue_svm_fill;
    table->clEnqueueMapBuffer = enqueue_map;
    table->clEnqueueUnmapMemObject = enqueue_unmap;
    table->clEnqueueMarkerWithWaitList = enqueue_marker;
    table->clEnqueueBarrierWithWaitList = enqueue_marker;
    table->clFlush = finish;
    table->clFinish = finish;
    table->clWaitForEvents = wait_events;
    table->clSetEventCallback = set_event_callback;
}
