/*
 * learnings_test.c: learnings of the CPU: measured here, found again there, and no memory taken on
 * the way. No time is asserted.
 */
#include "runtime/fixture.h"

enum { GROUPS = 4, COMMANDS = 6, BATCHES = 400, KEPT = 32 };

struct kept {
    size_t count;
    struct vyre_learning learnings[KEPT];
};

static bool keep(void *user, const struct vyre_learning *learning)
{
    struct kept *kept = user;
    assert_true(kept->count < KEPT);
    kept->learnings[kept->count++] = *learning;
    return true;
}

static struct vyre_batch *chain(struct fixture *fixture)
{
    const uint32_t one = 1;
    struct vyre_kernel *kernel = kernel_in_place(fixture->device, "bump", bump, 1);
    struct vyre_buffer *buffer = buffer_of_groups(fixture->device, GROUPS);
    struct vyre_batch *batch = batch_of(fixture->device);
    for (int i = 0; i < COMMANDS; i++)
        add_in_place(batch, kernel, GROUPS, buffer, &one, 1);
    return batch;
}

static void learn(struct fixture *fixture, struct vyre_batch *batch)
{
    for (int i = 0; i < BATCHES; i++)
        wait_for(fixture->device, submit_in(batch, VYRE_MODE_AUTO));
}

static void a_second_device_knows_the_shape(void **state)
{
    (void)state;
    struct fixture fixture;
    struct kept first = {0};
    struct kept second = {0};
    struct vyre_diag diag = {0};
    fixture_open(&fixture, &(struct vyre_device_desc){0});
    learn(&fixture, chain(&fixture));
    assert_true(vyre_device_export_learnings(fixture.device, keep, &first) > 0);
    fixture_close(&fixture);

    fixture_open(&fixture, &(struct vyre_device_desc){0});
    for (size_t i = 0; i < first.count; i++)
        assert_ok(vyre_device_import_learning(fixture.device, &first.learnings[i], &diag), &diag);
    struct vyre_batch *batch = chain(&fixture);
    unsigned long long calls = 0;
    for (int i = 0; i < BATCHES; i++) {
        /* Once every mode was tried nothing is allocated, learnings or not. */
        if (i == BATCHES / 2)
            calls = atomic_load(&fixture.allocator.call_count);
        wait_for(fixture.device, submit_in(batch, VYRE_MODE_AUTO));
    }
    /* A recording that a late trial makes is one object, not one per batch. */
    assert_in_range(atomic_load(&fixture.allocator.call_count) - calls, 0, BATCHES / 20);
    assert_true(vyre_device_export_learnings(fixture.device, keep, &second) > 0);
    assert_true(vyre_hash128_equal(first.learnings[0].shape, second.learnings[0].shape));
    fixture_close(&fixture);
}

/* Every allocation of the import fails in turn: it is refused, and nothing is lost. */
static void an_import_without_memory_is_refused(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_diag diag = {0};
    const struct vyre_learning learning = {
        .shape = {1, 2}, .mode = VYRE_MODE_PLAIN, .mean_ns = 7.0, .count = 8};
    fixture_open(&fixture, &(struct vyre_device_desc){0});
    for (unsigned long long i = 1; i <= 2; i++) {
        atomic_store(&fixture.allocator.fail_at, atomic_load(&fixture.allocator.call_count) + i);
        assert_int_equal(vyre_device_import_learning(fixture.device, &learning, &diag),
                         VYRE_OUT_OF_MEMORY);
    }
    assert_ok(vyre_device_import_learning(fixture.device, &learning, &diag), &diag);
    fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_device_knows_the_shape),
        cmocka_unit_test(an_import_without_memory_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
