/*
 * hang_test.c: a kernel that runs for minutes, on a device that is given less: it counts as lost, a call
 * that waits says so, later work is refused, closing does not block, and what the driver's threads use
 * stays. What came before the kernel is not held up by it.
 *
 *   hang_test [spread]     beside a large one that ends, so that it hangs on a further queue, where there is
 *                          one
 *
 * In a child process, which leaves by _exit: the driver cannot stop the kernel. The alarm of the child
 * ends it when something blocks.
 *
 * With the argument "unmapped" the device must have memory that the host does not see: see
 * loss_layer.c.
 */
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vyre/vyre.h>

#include "support/test.h"
#include "vulkan/slow_kernel.h"

enum { LIMIT_SECONDS = 300, WORDS = 64 };

#define SHORT_NS UINT64_C(100000000)
#define LONG_NS  UINT64_C(3000000000) /* a machine that stalls for a second changes nothing */

/* The first thing that went wrong, as the child's exit code. */
#define REQUIRE(step, condition) \
    do {                         \
        if (!(condition))        \
            _exit(step);         \
    } while (0)

static _Atomic int called_with = -1;
static bool spread;

static void on_complete(void *user, struct vyre_ticket ticket,
                        const struct vyre_batch_result *result)
{
    (void)user;
    (void)ticket;
    atomic_store(&called_with, (int)result->status);
}

struct world {
    struct vyre_instance *instance;
    struct vyre_device *device;
    struct vyre_kernel *kernel;
    struct vyre_buffer *buffer, *beside;
    struct vyre_batch *quick, *endless;
    struct vyre_diag diag;
};

static void add_dispatch(struct world *world, struct vyre_batch *batch, struct vyre_buffer *buffer,
                         const uint32_t groups[3])
{
    const struct vyre_slot_binding binding = {.slot = 0, .range = {.buffer = buffer}};
    vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = world->kernel,
                                                       .groups = {groups[0], groups[1], groups[2]},
                                                       .bindings = &binding,
                                                       .binding_count = 1});
}

static struct vyre_batch *make_batch(struct world *world, const uint32_t groups[3])
{
    struct vyre_batch *batch;
    REQUIRE(6, vyre_batch_create(world->device, NULL, &batch, &world->diag) == VYRE_OK);
    if (spread)
        add_dispatch(world, batch, world->beside, (uint32_t[]){2, 1, 1});
    add_dispatch(world, batch, world->buffer, groups);
    return batch;
}

static void enter(struct world *world, uint64_t hang_timeout_ns)
{
    const struct vyre_payload payload = {
        .target = VYRE_TARGET_GLSL, .bytes = slow_source, .size_bytes = sizeof slow_source - 1};
    const struct vyre_kernel_desc desc = {.payloads = &payload, .payload_count = 1};
    const struct vyre_device_desc open = {.backend = "vulkan", .hang_timeout_ns = hang_timeout_ns};
    const struct vyre_buffer_desc buffer = {.size_bytes = WORDS * 4};
    struct vyre_diag *diag = &world->diag;
    vyre_diag_reset(diag);
    REQUIRE(2, vyre_instance_create(NULL, &world->instance, diag) == VYRE_OK);
    REQUIRE(3, vyre_device_open(world->instance, &open, &world->device, diag) == VYRE_OK);
    REQUIRE(4, vyre_kernel_create(world->device, &desc, &world->kernel, diag) == VYRE_OK);
    REQUIRE(5, vyre_buffer_create(world->device, &buffer, &world->buffer, diag) == VYRE_OK);
    REQUIRE(22, vyre_buffer_create(world->device, &buffer, &world->beside, diag) == VYRE_OK);
    world->quick = make_batch(world, (uint32_t[]){1, 1, 1});
    world->endless = make_batch(world, (uint32_t[]){65535, 64, 1});
}

static void leave(struct world *world)
{
    vyre_device_close(&world->device);
    vyre_instance_destroy(&world->instance);
}

static void run_quick(struct world *world, int times)
{
    struct vyre_ticket ticket;
    const struct vyre_submit_options options = {.mode = VYRE_MODE_PLAIN};
    for (int i = 0; i < times; i++) {
        REQUIRE(20, vyre_batch_submit(world->quick, &options, &ticket, &world->diag) == VYRE_OK);
        REQUIRE(21, vyre_ticket_wait(world->device, ticket, VYRE_FOREVER, &world->diag) == VYRE_OK);
    }
}

/* On a device that is not lost soon: the driver is still there, for its own threads and for a new device. */
static void go_on(void)
{
    struct world world;
    enter(&world, LIMIT_SECONDS * UINT64_C(1000000000));
    run_quick(&world, 20);
    leave(&world);
}

static void hang_and_close(bool with_callback)
{
    struct world world;
    struct vyre_ticket ticket;
    struct vyre_diag *diag = &world.diag;
    const struct vyre_submit_options options = {.mode = VYRE_MODE_PLAIN,
                                                .on_complete = with_callback ? on_complete : NULL};
    enter(&world, SHORT_NS);
    REQUIRE(7, vyre_batch_submit(world.endless, &options, &ticket, diag) == VYRE_OK);
    REQUIRE(8, vyre_ticket_wait(world.device, ticket, VYRE_FOREVER, diag) == VYRE_DEVICE_LOST);
    REQUIRE(9, diag->id == VYRE_DIAG_DEVICE_HANG);
    REQUIRE(10, vyre_batch_submit(world.endless, &options, &ticket, diag) == VYRE_DEVICE_LOST);
    leave(&world);
    REQUIRE(11, !with_callback || atomic_load(&called_with) == VYRE_DEVICE_LOST);
    go_on();
}

static void hang_on_wait(void)
{
    hang_and_close(false);
}

static void hang_on_callback(void)
{
    hang_and_close(true);
}

/* A timed batch, then one that does not end: the first is not held up, and the second is noticed. */
static void hang_behind_timed(void)
{
    struct world world;
    struct vyre_ticket first, second;
    struct vyre_batch_result result;
    struct vyre_diag *diag = &world.diag;
    const struct vyre_submit_options timed = {.mode = VYRE_MODE_PLAIN, .timed = true};
    const struct vyre_submit_options plain = {.mode = VYRE_MODE_PLAIN};
    go_on(); /* the driver keeps on disk what it compiles here, ... */
    enter(&world, LONG_NS);
    run_quick(&world, 1); /* ... so that this takes little of the hang timeout */
    REQUIRE(7, vyre_batch_submit(world.quick, &timed, &first, diag) == VYRE_OK);
    REQUIRE(8, vyre_batch_submit(world.endless, &plain, &second, diag) == VYRE_OK);
    REQUIRE(9, vyre_ticket_wait(world.device, first, VYRE_FOREVER, diag) == VYRE_OK);
    REQUIRE(10, vyre_ticket_wait(world.device, second, 0, diag) == VYRE_TIMEOUT);
    REQUIRE(11, vyre_ticket_result(world.device, first, &result, diag) == VYRE_OK);
    REQUIRE(12, result.device_ns > 0);
    REQUIRE(13, vyre_ticket_wait(world.device, second, VYRE_FOREVER, diag) == VYRE_DEVICE_LOST);
    REQUIRE(14, diag->id == VYRE_DIAG_DEVICE_HANG);
}

/* Clearing a buffer that the host does not see waits behind the kernel. */
static void hang_before_clear(void)
{
    struct world world;
    struct vyre_ticket ticket;
    struct vyre_buffer *another;
    struct vyre_diag *diag = &world.diag;
    const struct vyre_submit_options options = {.mode = VYRE_MODE_PLAIN};
    enter(&world, SHORT_NS);
    REQUIRE(7, vyre_batch_submit(world.endless, &options, &ticket, diag) == VYRE_OK);
    REQUIRE(8, vyre_buffer_create(world.device, &(struct vyre_buffer_desc){.size_bytes = 4096},
                                  &another, diag) == VYRE_DEVICE_LOST);
    REQUIRE(9, diag->id == VYRE_DIAG_DEVICE_HANG);
    REQUIRE(10, vyre_ticket_wait(world.device, ticket, VYRE_FOREVER, diag) == VYRE_DEVICE_LOST);
    leave(&world);
    go_on();
}

static void run_in_child(void (*test)(void))
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(LIMIT_SECONDS);
        test();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_false(WIFSIGNALED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void hang_while_waiting_is_a_loss_and_close_returns(void **state)
{
    (void)state;
    run_in_child(hang_on_wait);
}

static void hang_with_callback_is_a_loss_and_close_returns(void **state)
{
    (void)state;
    run_in_child(hang_on_callback);
}

static void hang_behind_timed_batch_does_not_hold_it_up(void **state)
{
    (void)state;
    run_in_child(hang_behind_timed);
}

static void hang_met_outside_submit_is_a_loss_and_close_returns(void **state)
{
    (void)state;
    run_in_child(hang_before_clear);
}

int main(int count, char **arguments)
{
    spread = count > 1 && strcmp(arguments[1], "spread") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hang_while_waiting_is_a_loss_and_close_returns),
        cmocka_unit_test(hang_with_callback_is_a_loss_and_close_returns),
        cmocka_unit_test(hang_behind_timed_batch_does_not_hold_it_up),
    };
    const struct CMUnitTest unmapped[] = {
        cmocka_unit_test(hang_met_outside_submit_is_a_loss_and_close_returns),
    };
    if (count > 1 && strcmp(arguments[1], "unmapped") == 0)
        return cmocka_run_group_tests(unmapped, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
