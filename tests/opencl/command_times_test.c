/*
 * command_times_test.c: the times of single commands on a real device, from a queue of their own and from a main
 * queue that profiles; order and bytes stay as they are without them.
 *
 *   command_times_test DEVICE
 */
#include "opencl/driver_hooks.h"
#include "runtime/batch.h"
#include "runtime/execution.h"
#include "runtime/internal.h"

enum { SUBMITS = 300, COMMANDS = 12, AHEAD = 16, GROUPS = 32, BYTES = GROUPS * 8 * 4 };

/* Five such tables take more than the ring. */
#define TABLE_ENTRIES 65536
#define TABLES        5

static const char source[] =
    "__kernel void advance(__global uint *o) { uint i = get_global_id(0); o[i] = o[i] * 3 + 1; }\n";

/* Adds a chain of dispatches. */
static void add_steps(struct fixture *f, struct vyre_kernel *kernel, struct vyre_buffer *buffer,
                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        fixture_dispatch(f, kernel, buffer, (struct vyre_dispatch){.groups = {GROUPS, 1, 1}});
}

/* Submits in auto, `ahead` at a time, until the kernel is known. Returns how often. */
static uint32_t submit_until_known(struct fixture *f, const struct vyre_kernel *kernel,
                                   uint32_t ahead)
{
    uint32_t submits = 0;
    while (submits < SUBMITS && kernel->execution.line.count < 3 * COMMANDS) {
        struct vyre_ticket ticket;
        for (uint32_t i = 0; i < ahead; i++, submits++)
            assert_int_equal(vyre_batch_submit(f->batch, NULL, &ticket, &f->diag), VYRE_OK);
        assert_int_equal(vyre_ticket_wait(f->device, ticket, VYRE_FOREVER, &f->diag), VYRE_OK);
    }
    return submits;
}

static void expect_known(struct vyre_device_desc desc, uint32_t ahead)
{
    struct fixture f;
    uint32_t expected = 0;
    hooks_open(&f, desc);
    struct vyre_buffer *buffer = fixture_buffer(&f, BYTES);
    struct vyre_kernel *kernel = hooks_kernel(&f, source, "advance");
    add_steps(&f, kernel, buffer, COMMANDS);
    uint32_t submits = submit_until_known(&f, kernel, ahead);
    assert_in_range(kernel->execution.line.count, 1, UINT32_MAX);
    vyre_lock_acquire(&f.device->lock);
    assert_true(vyre_execution_predict_locked(f.device, f.batch->body) > 0.0);
    vyre_lock_release(&f.device->lock);
    for (uint32_t i = 0; i < submits * COMMANDS; i++)
        expected = expected * 3 + 1;
    hooks_expect_word(&f, buffer, expected);
    fixture_close(&f);
}

static void one_by_one(void **state)
{
    (void)state;
    expect_known((struct vyre_device_desc){0}, 1);
}

/* What follows a sampled batch waits for it. */
static void one_behind_the_other(void **state)
{
    (void)state;
    expect_known((struct vyre_device_desc){0}, AHEAD);
}

static void on_a_queue_that_profiles(void **state)
{
    (void)state;
    expect_known((struct vyre_device_desc){.device_times = true}, 1);
    expect_known((struct vyre_device_desc){.device_times = true}, AHEAD);
}

/* Transfers around them, and a batch of more commands than are timed. */
static void long_batch_with_transfers(void **state)
{
    struct fixture f;
    uint32_t word = 7, read = 0, expected = 7;
    (void)state;
    hooks_open(&f, (struct vyre_device_desc){0});
    struct vyre_buffer *buffer = fixture_buffer(&f, BYTES);
    struct vyre_kernel *kernel = hooks_kernel(&f, source, "advance");
    const struct vyre_range first = {.buffer = buffer, .size_bytes = sizeof word};
    vyre_batch_upload(f.batch, first, &word);
    add_steps(&f, kernel, buffer, VYRE_EXECUTION_COMMANDS_MAX + 50);
    vyre_batch_download(f.batch, first, &read);
    for (uint32_t i = 0; i < VYRE_EXECUTION_COMMANDS_MAX + 50; i++)
        expected = expected * 3 + 1;
    for (uint32_t i = 0; i < 40; i++) {
        read = 0;
        fixture_must_run(&f, VYRE_MODE_AUTO);
        assert_int_equal(read, expected);
    }
    assert_in_range(kernel->execution.line.count, 1, UINT32_MAX);
    fixture_close(&f);
}

/*
 * Without shared memory, the main queue fills a new buffer with zeros. A batch in another queue could
 * overtake that.
 */
static void new_buffer_keeps_the_main_queue(void **state)
{
    struct fixture f;
    (void)state;
    hooked_no_svm = true;
    hooks_open(&f, (struct vyre_device_desc){0});
    struct vyre_kernel *kernel = hooks_kernel(&f, source, "advance");
    struct vyre_buffer *buffer = NULL;
    for (uint32_t i = 0; i < 8; i++) {
        buffer = fixture_buffer(&f, BYTES);
        vyre_batch_reset(f.batch);
        add_steps(&f, kernel, buffer, 1);
        fixture_must_run(&f, VYRE_MODE_AUTO);
        assert_int_equal(hooked_device->sample.sequence, 0);
        hooks_expect_word(&f, buffer, 1);
    }
    assert_int_equal(kernel->execution.line.count, 0);
    for (uint32_t i = 0; i < SUBMITS && kernel->execution.line.count == 0; i++)
        fixture_must_run(&f, VYRE_MODE_AUTO);
    assert_in_range(kernel->execution.line.count, 1, UINT32_MAX);
    fixture_close(&f);
}

/*
 * Whether the last submission was to run side by side, and its commands were timed. Then it ran one command after
 * another, and says nothing about its mode. Counts those that do.
 */
static bool is_altered(struct fixture *f, uint32_t *out_learned)
{
    vyre_lock_acquire(&f->device->lock);
    uint64_t last = atomic_load(&f->device->progress.submitted);
    const struct vyre_measurement *measurement =
        &f->device->results.entries[last & f->device->results.mask].measurement;
    bool sampled = hooked_device->sample.sequence == last;
    bool learns = measurement->timed && measurement->learns && !measurement->altered;
    bool serial = f->device->candidates.list[measurement->candidate].variant & VYRE_VARIANT_SERIAL;
    vyre_lock_release(&f->device->lock);
    assert_false(sampled && learns && !serial);
    *out_learned += learns;
    return sampled && !serial;
}

/* Commands that could run side by side on two queues. */
static void independent_commands(void **state)
{
    struct fixture f;
    struct vyre_buffer *buffers[COMMANDS];
    uint32_t expected = 0, altered = 0, learned = 0;
    (void)state;
    hooks_open(&f, (struct vyre_device_desc){0});
    struct vyre_kernel *kernel = hooks_kernel(&f, source, "advance");
    for (uint32_t i = 0; i < COMMANDS; i++) {
        buffers[i] = fixture_buffer(&f, BYTES);
        add_steps(&f, kernel, buffers[i], 1);
    }
    for (uint32_t i = 0; i < SUBMITS; i++) {
        fixture_must_run(&f, VYRE_MODE_AUTO);
        expected = expected * 3 + 1;
        altered += is_altered(&f, &learned);
    }
    assert_in_range(kernel->execution.line.count, 1, UINT32_MAX);
    assert_in_range(altered, 1, SUBMITS);
    assert_in_range(learned, 1, SUBMITS);
    for (uint32_t i = 0; i < COMMANDS; i++)
        hooks_expect_word(&f, buffers[i], expected);
    fixture_close(&f);
}

static const char table_source[] =
    "__kernel void add(__global const ulong *table, __global uint *o, uint last)\n"
    "{ uint i = get_global_id(0); o[i] = o[i] * 3 + *(__global const uint *)table[last]; }\n";

/*
 * Dispatches whose tables have so many entries, each with a last one of its own: expects the right bytes, and
 * returns whether the kernel became known within `submits`.
 */
static bool is_known_with_tables(uint32_t entries, uint32_t submits)
{
    static struct vyre_buffer *table[TABLE_ENTRIES];
    static const enum vyre_scalar constants[] = {VYRE_SCALAR_U32};
    const struct vyre_binding_desc bindings[] = {
        {.slot = 0, .access = VYRE_ACCESS_READ, .table = true},
        {.slot = 1, .access = VYRE_ACCESS_READWRITE}};
    const uint32_t last = entries - 1;
    struct fixture f;
    uint32_t expected = 0;
    hooks_open(&f, (struct vyre_device_desc){0});
    struct vyre_buffer *out = fixture_buffer(&f, BYTES);
    struct vyre_kernel *kernel =
        fixture_kernel(&f, table_source, "add",
                       (struct vyre_kernel_desc){.local_size = {8, 1, 1},
                                                 .bindings = bindings,
                                                 .binding_count = COUNT_OF(bindings),
                                                 .constants = constants,
                                                 .constant_count = 1});
    for (uint32_t i = 0; i < TABLES; i++) {
        const uint32_t value = i + 1;
        struct vyre_buffer *member = fixture_buffer(&f, 256);
        assert_int_equal(vyre_buffer_write(member, 0, &value, sizeof value, &f.diag), VYRE_OK);
        for (uint32_t j = 0; j < entries; j++)
            table[j] = member;
        const struct vyre_slot_binding bound[] = {
            {.slot = 0, .table = table, .table_count = entries},
            {.slot = 1, .range = {out, 0, 0}},
        };
        vyre_batch_dispatch(f.batch, &(struct vyre_dispatch){.kernel = kernel,
                                                             .groups = {GROUPS, 1, 1},
                                                             .bindings = bound,
                                                             .binding_count = COUNT_OF(bound),
                                                             .constants = &last,
                                                             .constants_size_bytes = sizeof last});
    }
    for (uint32_t i = 0; i < submits; i++) {
        fixture_must_run(&f, VYRE_MODE_AUTO);
        for (uint32_t j = 0; j < TABLES; j++)
            expected = expected * 3 + j + 1;
    }
    hooks_expect_word(&f, out, expected);
    bool known = kernel->execution.line.count > 0;
    fixture_close(&f);
    return known;
}

/* All tables of the long batch are more than the ring holds: the bytes are right without its times. */
static void batches_with_tables(void **state)
{
    (void)state;
    assert_true(is_known_with_tables(20, SUBMITS));
    (void)is_known_with_tables(TABLE_ENTRIES, 10);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        HOOKS_CASE(one_by_one),
        HOOKS_CASE(one_behind_the_other),
        HOOKS_CASE(on_a_queue_that_profiles),
        HOOKS_CASE(long_batch_with_transfers),
        HOOKS_CASE(new_buffer_keeps_the_main_queue),
        HOOKS_CASE(independent_commands),
        HOOKS_CASE(batches_with_tables),
    };
    return hooks_start(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 2;
}
