/*
 * idle_cpu_test.c: an idle device costs next to nothing. After a burst of work the process does
 * nothing for a second; all its threads together may use 1 % of it. On a busy machine a thread may still
 * have to come to rest then: of up to SECONDS_MAX idle seconds one must be so.
 */
#include <sys/resource.h>

#include "runtime/cpu_fixture.h"

enum {
    GROUPS = 256,
    BURST = 500,
    IDLE_US = 1000000,
    CPU_LIMIT_US = IDLE_US / 100,
    SECONDS_MAX = 10
};

static uint64_t cpu_time_us(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void check_idle(enum vyre_mode mode, uint32_t workers, bool no_inline)
{
    struct fixture fixture;
    fixture_open(&fixture,
                 &(struct vyre_device_desc){.cpu_workers = workers, .cpu_no_inline = no_inline});
    struct vyre_kernel *kernel = kernel_in_place(fixture.device, "bump", bump, 1);
    struct vyre_buffer *buffer = buffer_of_groups(fixture.device, GROUPS);
    struct vyre_batch *batch = batch_of(fixture.device);
    uint32_t amount = 1;
    add_in_place(batch, kernel, GROUPS, buffer, &amount, 1);
    struct vyre_ticket last = {0};
    for (uint32_t i = 0; i < BURST; i++)
        last = submit_in(batch, mode);
    wait_for(fixture.device, last);

    uint64_t used = UINT64_MAX;
    for (int i = 0; i < SECONDS_MAX && used > CPU_LIMIT_US; i++) {
        uint64_t before = cpu_time_us();
        sleep_us(IDLE_US);
        used = cpu_time_us() - before;
        print_message("%s, %u workers: %u us of CPU time in an idle second\n", vyre_mode_name(mode),
                      workers, (unsigned)used);
    }
    assert_in_range(used, 0, CPU_LIMIT_US);

    wait_for(fixture.device, submit_in(batch, mode)); /* and it wakes up again */
    uint32_t word = 0;
    struct vyre_diag diag = {0};
    assert_ok(vyre_buffer_read(buffer, 0, &word, sizeof word, &diag), &diag);
    assert_int_equal(word, BURST + 1);
    fixture_close(&fixture);
}

static void idle_after_persistent_uses_no_cpu(void **state)
{
    (void)state;
    check_idle(VYRE_MODE_PERSISTENT, 0, false);
    check_idle(VYRE_MODE_PERSISTENT, 2, true);
}

static void idle_after_plain_parallel_uses_no_cpu(void **state)
{
    (void)state;
    check_idle(VYRE_MODE_PLAIN, 4, true);
}

static void idle_after_replay_and_auto_uses_no_cpu(void **state)
{
    (void)state;
    check_idle(VYRE_MODE_REPLAY, 2, true);
    check_idle(VYRE_MODE_AUTO, 2, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_after_persistent_uses_no_cpu),
        cmocka_unit_test(idle_after_plain_parallel_uses_no_cpu),
        cmocka_unit_test(idle_after_replay_and_auto_uses_no_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
