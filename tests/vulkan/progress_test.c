/*
 * progress_test.c: a submit that has to wait inside, behind work that takes longer than the hang timeout
 * in all and much less by itself: a device that gets on is not lost.
 *
 * How long the work takes is measured first, so that the hang timeout fits any machine: far above the
 * longest batch seen, and at least so long that a machine that stalls for a second changes nothing.
 */
#include <time.h>

#include <vyre/vyre.h>

#include "support/test.h"
#include "vulkan/slow_kernel.h"

enum {
    WORDS = 64,
    GROUPS = 60,
    MEASURED = 5,
    HANG_BATCHES = 6,
    BATCHES_MIN = 18,
    BATCHES_MAX = 200
};

#define HANG_MIN_NS UINT64_C(1500000000)

struct world {
    struct vyre_instance *instance;
    struct vyre_device *device;
    struct vyre_kernel *kernel;
    struct vyre_buffer *buffer;
    struct vyre_batch *slow, *quick; /* the quick one downloads */
    uint32_t bytes[WORDS];
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static struct vyre_batch *make_batch(struct world *world, uint32_t groups)
{
    struct vyre_batch *batch;
    const struct vyre_slot_binding binding = {.slot = 0, .range = {.buffer = world->buffer}};
    assert_int_equal(vyre_batch_create(world->device, NULL, &batch, NULL), VYRE_OK);
    vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = world->kernel,
                                                       .groups = {groups, 1, 1},
                                                       .bindings = &binding,
                                                       .binding_count = 1});
    return batch;
}

static void enter(struct world *world, uint64_t hang_timeout_ns)
{
    const struct vyre_payload payload = {
        .target = VYRE_TARGET_GLSL, .bytes = slow_source, .size_bytes = sizeof slow_source - 1};
    const struct vyre_kernel_desc kernel = {.payloads = &payload, .payload_count = 1};
    const struct vyre_device_desc desc = {.backend = "vulkan", .hang_timeout_ns = hang_timeout_ns};
    const struct vyre_buffer_desc buffer = {.size_bytes = sizeof world->bytes};
    assert_int_equal(vyre_instance_create(NULL, &world->instance, NULL), VYRE_OK);
    assert_int_equal(vyre_device_open(world->instance, &desc, &world->device, NULL), VYRE_OK);
    assert_int_equal(vyre_kernel_create(world->device, &kernel, &world->kernel, NULL), VYRE_OK);
    assert_int_equal(vyre_buffer_create(world->device, &buffer, &world->buffer, NULL), VYRE_OK);
    world->slow = make_batch(world, GROUPS);
    world->quick = make_batch(world, 1);
    vyre_batch_download(world->quick, (struct vyre_range){.buffer = world->buffer}, world->bytes);
}

static void leave(struct world *world)
{
    vyre_device_close(&world->device);
    vyre_instance_destroy(&world->instance);
}

static struct vyre_ticket submit(struct vyre_batch *batch, enum vyre_mode mode)
{
    struct vyre_ticket ticket;
    struct vyre_diag diag;
    vyre_diag_reset(&diag);
    const struct vyre_submit_options options = {.mode = mode};
    if (vyre_batch_submit(batch, &options, &ticket, &diag) != VYRE_OK)
        fail_msg("submit: %s", diag.message);
    return ticket;
}

static void finish(struct world *world, struct vyre_ticket ticket)
{
    assert_int_equal(vyre_ticket_wait(world->device, ticket, VYRE_FOREVER, NULL), VYRE_OK);
}

struct plan {
    uint64_t hang_ns;
    uint64_t batches; /* that take longer than that, together */
};

/* From what slow batches take when nothing is to be compiled any more. */
static struct plan measure(void)
{
    struct world world;
    uint64_t longest_ns = 0, shortest_ns = UINT64_MAX;
    enter(&world, 0);
    finish(&world, submit(world.slow, VYRE_MODE_PLAIN));
    for (int i = 0; i < MEASURED; i++) {
        uint64_t start_ns = now_ns();
        finish(&world, submit(world.slow, VYRE_MODE_PLAIN));
        uint64_t slow_ns = now_ns() - start_ns;
        longest_ns = slow_ns > longest_ns ? slow_ns : longest_ns;
        shortest_ns = slow_ns < shortest_ns ? slow_ns : shortest_ns;
    }
    leave(&world);
    struct plan plan = {.hang_ns = longest_ns * HANG_BATCHES};
    if (plan.hang_ns < HANG_MIN_NS)
        plan.hang_ns = HANG_MIN_NS;
    plan.batches = plan.hang_ns * 2 / shortest_ns;
    plan.batches = plan.batches < BATCHES_MIN ? BATCHES_MIN : plan.batches;
    plan.batches = plan.batches > BATCHES_MAX ? BATCHES_MAX : plan.batches;
    print_message("%u batches of %u to %u us, a hang is %u ms\n", (unsigned)plan.batches,
                  (unsigned)(shortest_ns / 1000), (unsigned)(longest_ns / 1000),
                  (unsigned)(plan.hang_ns / 1000000));
    return plan;
}

static void submit_behind_long_work_is_no_hang(void **state)
{
    (void)state;
    struct world world;
    const struct plan plan = measure();
    enter(&world, plan.hang_ns);
    struct vyre_ticket last = submit(world.quick, VYRE_MODE_REPLAY);
    finish(&world, last);
    for (uint64_t i = 0; i < plan.batches; i++)
        last = submit(world.slow, VYRE_MODE_PLAIN);
    /* A recording that moves bytes is in flight twice at most: the third submit waits. */
    for (int i = 0; i < 3; i++)
        last = submit(world.quick, VYRE_MODE_REPLAY);
    finish(&world, last);
    leave(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(submit_behind_long_work_is_no_hang),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
