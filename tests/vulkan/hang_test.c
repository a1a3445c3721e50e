/*
 * hang_test.c: a kernel that runs for minutes, on a device that is given 100 ms: it counts as lost, who
 * waits is told so, later work is refused, and closing does not block.
 *
 * In a child process, which leaves by _exit: the driver cannot stop the kernel. The alarm of the child
 * ends it when something blocks.
 */
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vyre/vyre.h>

#include "support/test.h"

enum { LIMIT_SECONDS = 60, WORDS = 64 };

/* Software drivers end a loop after some 65,000 rounds: so there are many groups, too. */
static const char source[] = "#version 450\n"
                             "layout(local_size_x = 64) in;\n"
                             "layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };\n"
                             "void main() {\n"
                             "    uint x = data[gl_LocalInvocationID.x] + gl_WorkGroupID.x;\n"
                             "    for (uint i = 0u; i < 60000u; i++)\n"
                             "        x = x * 1664525u + 1013904223u + (x >> 7);\n"
                             "    atomicMax(data[gl_LocalInvocationID.x], x);\n"
                             "}\n";

/* The first thing that went wrong, as the child's exit code. */
#define REQUIRE(step, condition) \
    do {                         \
        if (!(condition))        \
            _exit(step);         \
    } while (0)

static _Atomic int called_with = -1;

static void on_complete(void *user, struct vyre_ticket ticket,
                        const struct vyre_batch_result *result)
{
    (void)user;
    (void)ticket;
    atomic_store(&called_with, (int)result->status);
}

static void hang_and_close(bool with_callback)
{
    struct vyre_instance *instance;
    struct vyre_device *device;
    struct vyre_kernel *kernel;
    struct vyre_buffer *buffer;
    struct vyre_batch *batch;
    struct vyre_ticket ticket;
    struct vyre_diag diag;
    const struct vyre_payload payload = {
        .target = VYRE_TARGET_GLSL, .bytes = source, .size_bytes = sizeof source - 1};
    const struct vyre_kernel_desc desc = {.payloads = &payload, .payload_count = 1};
    const struct vyre_device_desc open = {.backend = "vulkan", .hang_timeout_ns = 100000000};
    vyre_diag_reset(&diag);
    REQUIRE(2, vyre_instance_create(NULL, &instance, &diag) == VYRE_OK);
    REQUIRE(3, vyre_device_open(instance, &open, &device, &diag) == VYRE_OK);
    REQUIRE(4, vyre_kernel_create(device, &desc, &kernel, &diag) == VYRE_OK);
    REQUIRE(5, vyre_buffer_create(device, &(struct vyre_buffer_desc){.size_bytes = WORDS * 4},
                                  &buffer, &diag) == VYRE_OK);
    REQUIRE(6, vyre_batch_create(device, NULL, &batch, &diag) == VYRE_OK);
    const struct vyre_slot_binding binding = {.slot = 0, .range = {.buffer = buffer}};
    vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = kernel,
                                                       .groups = {65535, 64, 1},
                                                       .bindings = &binding,
                                                       .binding_count = 1});
    const struct vyre_submit_options options = {.mode = VYRE_MODE_PLAIN,
                                                .on_complete = with_callback ? on_complete : NULL};
    REQUIRE(7, vyre_batch_submit(batch, &options, &ticket, &diag) == VYRE_OK);
    REQUIRE(8, vyre_ticket_wait(device, ticket, VYRE_FOREVER, &diag) == VYRE_DEVICE_LOST);
    REQUIRE(9, diag.id == VYRE_DIAG_DEVICE_HANG);
    REQUIRE(10, vyre_batch_submit(batch, &options, &ticket, &diag) == VYRE_DEVICE_LOST);
    vyre_device_close(&device);
    REQUIRE(11, !with_callback || atomic_load(&called_with) == VYRE_DEVICE_LOST);
    _exit(0);
}

static void run_in_child(bool with_callback)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(LIMIT_SECONDS);
        hang_and_close(with_callback);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_false(WIFSIGNALED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void hang_while_waiting_is_a_loss_and_close_returns(void **state)
{
    (void)state;
    run_in_child(false);
}

static void hang_with_callback_is_a_loss_and_close_returns(void **state)
{
    (void)state;
    run_in_child(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hang_while_waiting_is_a_loss_and_close_returns),
        cmocka_unit_test(hang_with_callback_is_a_loss_and_close_returns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
