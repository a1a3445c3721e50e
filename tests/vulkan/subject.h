/*
 * subject.h: an open Vulkan device with a kernel, for tests; and functions of a layer's shared object.
 */
#ifndef VYRE_TESTS_VULKAN_SUBJECT_H
#define VYRE_TESTS_VULKAN_SUBJECT_H

#include <dlfcn.h>
#include <string.h>

#include <vyre/vyre.h>

#include "support/test.h"

struct subject {
    struct vyre_instance *instance;
    struct vyre_device *device;
    struct vyre_kernel *kernel;
    struct vyre_diag diag;
};

/* data[i] = data[i] * 3 + value, `rounds` times. */
static const char subject_source[] =
    "#version 450\n"
    "layout(local_size_x = 64) in;\n"
    "layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };\n"
    "layout(push_constant) uniform Constants { uint value; uint rounds; };\n"
    "void main() {\n"
    "    uint x = data[gl_GlobalInvocationID.x];\n"
    "    for (uint i = 0u; i < rounds; i++)\n"
    "        x = x * 3u + value;\n"
    "    data[gl_GlobalInvocationID.x] = x;\n"
    "}\n";

struct subject_constants {
    uint32_t value, rounds;
};

static inline uint32_t subject_result(uint32_t x, struct subject_constants constants)
{
    for (uint32_t i = 0; i < constants.rounds; i++)
        x = x * 3 + constants.value;
    return x;
}

static inline void subject_open_as(struct subject *subject, const struct vyre_device_desc *desc)
{
    const struct vyre_payload payload = {.target = VYRE_TARGET_GLSL,
                                         .bytes = subject_source,
                                         .size_bytes = sizeof subject_source - 1};
    const struct vyre_kernel_desc kernel = {
        .label = "the kernel", .payloads = &payload, .payload_count = 1};
    *subject = (struct subject){0};
    assert_int_equal(vyre_instance_create(NULL, &subject->instance, &subject->diag), VYRE_OK);
    assert_int_equal(vyre_device_open(subject->instance, desc, &subject->device, &subject->diag),
                     VYRE_OK);
    assert_int_equal(vyre_kernel_create(subject->device, &kernel, &subject->kernel, &subject->diag),
                     VYRE_OK);
}

static inline void subject_open(struct subject *subject)
{
    subject_open_as(subject, &(struct vyre_device_desc){.backend = "vulkan"});
}

static inline void subject_close(struct subject *subject)
{
    vyre_device_close(&subject->device);
    vyre_instance_destroy(&subject->instance);
}

static inline struct vyre_buffer *subject_buffer(struct subject *subject, const char *label,
                                                 size_t size_bytes)
{
    struct vyre_buffer *buffer;
    const struct vyre_buffer_desc desc = {.label = label, .size_bytes = size_bytes};
    assert_int_equal(vyre_buffer_create(subject->device, &desc, &buffer, &subject->diag), VYRE_OK);
    return buffer;
}

static inline struct vyre_batch *subject_batch(struct subject *subject, const char *label)
{
    struct vyre_batch *batch;
    const struct vyre_batch_desc desc = {.label = label};
    assert_int_equal(vyre_batch_create(subject->device, &desc, &batch, &subject->diag), VYRE_OK);
    return batch;
}

static inline void subject_dispatch(struct subject *subject, struct vyre_batch *batch,
                                    struct vyre_range range, uint32_t groups,
                                    struct subject_constants constants)
{
    const struct vyre_slot_binding binding = {.slot = 0, .range = range};
    vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = subject->kernel,
                                                       .groups = {groups, 1, 1},
                                                       .bindings = &binding,
                                                       .binding_count = 1,
                                                       .constants = &constants,
                                                       .constants_size_bytes = sizeof constants});
}

static inline struct vyre_ticket subject_submit(struct subject *subject, struct vyre_batch *batch,
                                                enum vyre_mode mode)
{
    struct vyre_ticket ticket;
    const struct vyre_submit_options options = {.mode = mode};
    enum vyre_status status = vyre_batch_submit(batch, &options, &ticket, &subject->diag);
    if (status != VYRE_OK)
        print_error("%s\n", subject->diag.message);
    assert_int_equal(status, VYRE_OK);
    return ticket;
}

static inline void subject_wait(struct subject *subject, struct vyre_ticket ticket)
{
    assert_int_equal(vyre_ticket_wait(subject->device, ticket, VYRE_FOREVER, &subject->diag),
                     VYRE_OK);
}

/* Copies the address of a layer's function to where it is called from. */
static inline void subject_find(const char *library, const char *name, void *out_function)
{
    void *handle = dlopen(library, RTLD_NOW);
    assert_non_null(handle);
    void *function = dlsym(handle, name);
    assert_non_null(function);
    memcpy(out_function, &function, sizeof function);
    dlclose(handle); /* the Vulkan loader holds it while there is an instance */
}

#endif
