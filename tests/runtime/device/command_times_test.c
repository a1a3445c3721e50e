/*
 * command_times_test.c: a batch on the CPU gives the times of its commands, whichever threads run
 * it, so that its kernels become known.
 */
#include <string.h>

#include "runtime/batch.h"
#include "runtime/cpu_fixture.h"
#include "runtime/execution.h"
#include "runtime/internal.h"

enum { SUBMITS = 400 };

static void note(void *user, struct vyre_ticket ticket, const struct vyre_batch_result *result)
{
    (void)user;
    (void)ticket;
    (void)result;
}

/* Runs `commands` dispatches in auto and checks that their kernel is known afterwards. */
static void expect_times(const struct vyre_device_desc *desc, uint32_t groups, uint32_t commands,
                         vyre_completion_function *on_complete)
{
    struct fixture fixture;
    struct vyre_diag diag = {0};
    const uint32_t one = 1;
    fixture_open(&fixture, desc);
    struct vyre_kernel *kernel = kernel_in_place(fixture.device, "bump", bump, 1);
    struct vyre_buffer *buffer = buffer_of_groups(fixture.device, groups);
    struct vyre_batch *batch = batch_of(fixture.device);
    for (uint32_t i = 0; i < commands; i++)
        add_in_place(batch, kernel, groups, buffer, &one, 1);
    uint32_t submits = 0;
    while (submits < SUBMITS && kernel->execution.line.count < 2) {
        struct vyre_ticket ticket;
        const struct vyre_submit_options options = {.on_complete = on_complete};
        assert_ok(vyre_batch_submit(batch, &options, &ticket, &diag), &diag);
        wait_for(fixture.device, ticket);
        submits++;
    }
    assert_in_range(kernel->execution.line.count, 2, UINT32_MAX);
    vyre_lock_acquire(&fixture.device->lock);
    assert_true(vyre_execution_predict_locked(fixture.device, batch->body) > 0.0);
    vyre_lock_release(&fixture.device->lock);
    uint32_t first;
    assert_ok(vyre_buffer_read(buffer, 0, &first, sizeof first, &diag), &diag);
    assert_int_equal(first, submits * commands);
    fixture_close(&fixture);
}

static void small_batch_on_the_caller(void **state)
{
    (void)state;
    expect_times(&(struct vyre_device_desc){.cpu_workers = 1}, 1, 3, NULL);
}

static void batch_on_a_worker(void **state)
{
    (void)state;
    expect_times(&(struct vyre_device_desc){.cpu_workers = 1, .cpu_no_inline = true}, 2, 3, NULL);
    expect_times(&(struct vyre_device_desc){.cpu_workers = 1}, 2, 3, note);
}

static void large_batch_on_several_threads(void **state)
{
    (void)state;
    expect_times(&(struct vyre_device_desc){.cpu_workers = 2}, 16384, 2, NULL);
}

/* A batch of more commands than are timed. */
static void long_batch(void **state)
{
    (void)state;
    expect_times(&(struct vyre_device_desc){.cpu_workers = 1}, 1, VYRE_EXECUTION_COMMANDS_MAX * 3,
                 NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_batch_on_the_caller),
        cmocka_unit_test(batch_on_a_worker),
        cmocka_unit_test(large_batch_on_several_threads),
        cmocka_unit_test(long_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
