/*
 * cpu_fixture.h: an instance, a CPU device and small kernels for the runtime's tests.
 *
 * The device's memory comes from a counting allocator: closing the fixture fails the test when
 * anything is left. Asserts leave the case by longjmp: use these on the test's own thread only.
 */
#ifndef VYRE_TESTS_RUNTIME_CPU_FIXTURE_H
#define VYRE_TESTS_RUNTIME_CPU_FIXTURE_H

#include <time.h>

#include <vyre/vyre.h>

#include "support/counting_allocator.h"
#include "support/test.h"

enum {
    GROUP_WORDS = 16, /* that one group of the kernels below works on */
};

struct fixture {
    struct counting_allocator allocator;
    struct vyre_instance *instance;
    struct vyre_device *device;
};

static const enum vyre_mode all_modes[] = {VYRE_MODE_PLAIN, VYRE_MODE_REPLAY, VYRE_MODE_PERSISTENT,
                                           VYRE_MODE_AUTO};

static inline void assert_ok_at(enum vyre_status status, const struct vyre_diag *diag,
                                const char *file, int line)
{
    if (status == VYRE_OK)
        return;
    char text[600];
    vyre_diag_format(diag, text, sizeof text);
    print_error("%s: %s\n", vyre_status_name(status), text);
    _fail(file, line);
}

#define assert_ok(status, diag) assert_ok_at((status), (diag), __FILE__, __LINE__)

static inline void sleep_us(uint64_t microseconds)
{
    struct timespec time = {.tv_sec = (time_t)(microseconds / 1000000),
                            .tv_nsec = (long)(microseconds % 1000000 * 1000)};
    while (nanosleep(&time, &time) != 0) {
    }
}

static inline void fixture_open_observed(struct fixture *fixture,
                                         const struct vyre_device_desc *desc,
                                         const struct vyre_observer *observer)
{
    memset(fixture, 0, sizeof *fixture);
    struct vyre_diag diag = {0};
    struct vyre_instance_desc instance = {.allocator = counting_allocator_face(&fixture->allocator),
                                          .observer = observer};
    assert_ok(vyre_instance_create(&instance, &fixture->instance, &diag), &diag);
    struct vyre_device_desc device = *desc;
    device.backend = "cpu";
    assert_ok(vyre_device_open(fixture->instance, &device, &fixture->device, &diag), &diag);
}

static inline void fixture_open(struct fixture *fixture, const struct vyre_device_desc *desc)
{
    fixture_open_observed(fixture, desc, NULL);
}

static inline void fixture_close(struct fixture *fixture)
{
    vyre_device_close(&fixture->device);
    assert_null(fixture->device);
    vyre_instance_destroy(&fixture->instance);
    assert_null(fixture->instance);
    assert_int_equal(atomic_load(&fixture->allocator.live_count), 0);
    assert_int_equal(atomic_load(&fixture->allocator.mismatch_count), 0);
}

/* A host kernel that works in place on slot 0 and takes `constant_count` u32 constants. */
static inline struct vyre_kernel *kernel_in_place(struct vyre_device *device, const char *label,
                                                  vyre_host_function *function,
                                                  size_t constant_count)
{
    static const enum vyre_scalar constants[] = {VYRE_SCALAR_U32, VYRE_SCALAR_U32, VYRE_SCALAR_U32,
                                                 VYRE_SCALAR_U32};
    struct vyre_payload payload = {.target = VYRE_TARGET_HOST, .function = function};
    struct vyre_binding_desc binding = {
        .slot = 0, .role = VYRE_ROLE_INPUT_OUTPUT, .element_size_bytes = 4};
    struct vyre_kernel_desc desc = {.label = label,
                                    .payloads = &payload,
                                    .payload_count = 1,
                                    .local_size = {GROUP_WORDS, 1, 1},
                                    .bindings = &binding,
                                    .binding_count = 1,
                                    .constants = constants,
                                    .constant_count = constant_count};
    struct vyre_kernel *kernel = NULL;
    struct vyre_diag diag = {0};
    assert_ok(vyre_kernel_create(device, &desc, &kernel, &diag), &diag);
    return kernel;
}

static inline struct vyre_buffer *buffer_of_groups(struct vyre_device *device, uint32_t groups)
{
    struct vyre_buffer *buffer = NULL;
    struct vyre_diag diag = {0};
    struct vyre_buffer_desc desc = {.size_bytes = (size_t)groups * GROUP_WORDS * 4};
    assert_ok(vyre_buffer_create(device, &desc, &buffer, &diag), &diag);
    return buffer;
}

static inline struct vyre_batch *batch_of(struct vyre_device *device)
{
    struct vyre_batch *batch = NULL;
    struct vyre_diag diag = {0};
    assert_ok(vyre_batch_create(device, &(struct vyre_batch_desc){0}, &batch, &diag), &diag);
    return batch;
}

static inline struct vyre_range whole(struct vyre_buffer *buffer)
{
    return (struct vyre_range){.buffer = buffer};
}

/* Adds a dispatch of an in-place kernel over `groups` groups of `buffer`. */
static inline void add_in_place(struct vyre_batch *batch, struct vyre_kernel *kernel,
                                uint32_t groups, struct vyre_buffer *buffer,
                                const uint32_t *constants, size_t constant_count)
{
    struct vyre_slot_binding binding = {.slot = 0, .range = whole(buffer)};
    vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = kernel,
                                                       .groups = {groups, 1, 1},
                                                       .bindings = &binding,
                                                       .binding_count = 1,
                                                       .constants = constants,
                                                       .constants_size_bytes = constant_count * 4});
}

static inline struct vyre_ticket submit_in(struct vyre_batch *batch, enum vyre_mode mode)
{
    struct vyre_ticket ticket = {0};
    struct vyre_diag diag = {0};
    struct vyre_submit_options options = {.mode = mode};
    assert_ok(vyre_batch_submit(batch, &options, &ticket, &diag), &diag);
    return ticket;
}

static inline void wait_for(struct vyre_device *device, struct vyre_ticket ticket)
{
    struct vyre_diag diag = {0};
    assert_ok(vyre_ticket_wait(device, ticket, VYRE_FOREVER, &diag), &diag);
}

/* The kernel "bump": adds its first constant to every word of the group. */
static inline void bump(const struct vyre_host_group *group)
{
    const uint32_t *amount = group->constants;
    uint32_t *words = (uint32_t *)group->buffers[0].data + (size_t)group->group_id[0] * GROUP_WORDS;
    for (uint32_t i = 0; i < GROUP_WORDS; i++)
        words[i] += *amount;
}

#endif
