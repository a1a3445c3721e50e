/*
 * steady_state_test.c: submitting a known shape allocates nothing.
 *
 * The C library's allocation functions are interposed here, so that an allocation by any thread and
 * by any library is seen, not only those through the instance's allocator. Sanitizers interpose them
 * too: under these only the instance's allocator is watched.
 */
#include "runtime/cpu_fixture.h"

#include <unistd.h>

enum { GROUPS = 64, DEPTH = 8, WARM_UP_SUBMITS = 3000, COUNTED_SUBMITS = 10000 };

/* ---- The C library's heap --------------------------------------------------------------------- */

static atomic_ullong heap_calls; /* allocations, reallocations and frees of this process */

#ifndef VYRE_TEST_SANITIZED
/* glibc's own names for what is interposed. NOLINTBEGIN(bugprone-reserved-identifier) */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);
/* NOLINTEND(bugprone-reserved-identifier) */

void *malloc(size_t size)
{
    atomic_fetch_add(&heap_calls, 1);
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    atomic_fetch_add(&heap_calls, 1);
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    atomic_fetch_add(&heap_calls, 1);
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    atomic_fetch_add(&heap_calls, 1);
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **out_memory, size_t alignment, size_t size)
{
    atomic_fetch_add(&heap_calls, 1);
    *out_memory = __libc_memalign(alignment, size);
    return *out_memory ? 0 : 12; /* ENOMEM */
}

void free(void *memory)
{
    if (memory)
        atomic_fetch_add(&heap_calls, 1);
    __libc_free(memory);
}

/* The counter counts: without this the test could pass because nothing is counted. */
static void heap_calls_are_seen(void **state)
{
    (void)state;
    unsigned long long before = atomic_load(&heap_calls);
    void *volatile memory = malloc(100);
    free(memory);
    assert_int_equal(atomic_load(&heap_calls) - before, 2);
}
#endif

/* ---- The work --------------------------------------------------------------------------------- */

struct work {
    struct fixture fixture;
    enum vyre_mode mode;
    struct vyre_kernel *bump;
    struct vyre_kernel *pause;
    struct vyre_buffer *from;
    struct vyre_buffer *to;
    struct vyre_batch *batch;
    uint32_t uploaded[GROUPS * GROUP_WORDS];
    uint32_t borrowed[GROUP_WORDS];
    uint32_t downloaded[GROUPS * GROUP_WORDS];
    uint64_t submits;
    uint64_t wrong;
};

enum { BUMP_POSITION = 1 };

/* Long enough for submits to pile up behind it. */
static void pause_a_little(const struct vyre_host_group *group)
{
    (void)group;
    sleep_us(3000);
}

static void build(struct work *work, uint32_t value, uint32_t amount)
{
    for (size_t i = 0; i < COUNT_OF(work->uploaded); i++)
        work->uploaded[i] = value;
    vyre_batch_reset(work->batch);
    vyre_batch_upload(work->batch, whole(work->from), work->uploaded);
    add_in_place(work->batch, work->bump, GROUPS, work->from, &amount, 1);
    vyre_batch_copy(work->batch, whole(work->from), whole(work->to));
    vyre_batch_upload_borrowed(
        work->batch, (struct vyre_range){.buffer = work->to, .size_bytes = sizeof work->borrowed},
        work->borrowed);
    vyre_batch_download(work->batch, whole(work->to), work->downloaded);
}

static struct vyre_ticket submit(struct work *work)
{
    work->submits++;
    return submit_in(work->batch, work->mode);
}

static void check(struct work *work, uint32_t expected)
{
    for (size_t i = 0; i < COUNT_OF(work->downloaded); i++)
        work->wrong += work->downloaded[i] != (i < GROUP_WORDS ? 77 : expected);
}

/* The same batch, submitted again with other constants. */
static void round_of_constants(struct work *work, uint32_t amount)
{
    vyre_batch_set_constants(work->batch, BUMP_POSITION, &amount, sizeof amount);
    wait_for(work->fixture.device, submit(work));
    check(work, work->uploaded[0] + amount);
}

/* The same shape, built anew with other bytes. */
static void round_of_building(struct work *work, uint32_t amount)
{
    build(work, amount * 3, amount);
    wait_for(work->fixture.device, submit(work));
    check(work, amount * 4);
}

/* Several in flight, built and changed while they are. */
static void round_of_depth(struct work *work, uint32_t amount)
{
    struct vyre_ticket last = {0};
    for (uint32_t i = 0; i < DEPTH; i++) {
        uint32_t next = amount + i;
        if (i % 2 == 0)
            build(work, next, next);
        else
            vyre_batch_set_constants(work->batch, BUMP_POSITION, &next, sizeof next);
        last = submit(work);
    }
    wait_for(work->fixture.device, last);
    check(work, work->uploaded[0] + amount + DEPTH - 1);
}

static void run_rounds(struct work *work, uint64_t submits)
{
    uint64_t end = work->submits + submits;
    for (uint32_t i = 0; work->submits < end; i++) {
        switch (i % 3) {
        case 0:
            round_of_constants(work, i);
            break;
        case 1:
            round_of_building(work, i);
            break;
        default:
            round_of_depth(work, i);
            break;
        }
        if (i % 512 == 0) /* resident workers leave, and have to come back */
            sleep_us(5000);
    }
}

/* Reaches the depth that the rounds may reach, whatever the timing. */
static void warm_up_depth(struct work *work)
{
    struct vyre_batch *blocker = batch_of(work->fixture.device);
    add_in_place(blocker, work->pause, 1, work->to, NULL, 0);
    for (uint32_t i = 0; i < 4; i++) {
        submit_in(blocker, work->mode);
        round_of_depth(work, i);
    }
    vyre_batch_destroy(&blocker);
}

static void check_observed(enum vyre_mode mode, bool no_inline,
                           const struct vyre_observer *observer)
{
    struct work *work = calloc(1, sizeof *work);
    assert_non_null(work);
    fixture_open_observed(&work->fixture,
                          &(struct vyre_device_desc){.cpu_workers = 2, .cpu_no_inline = no_inline},
                          observer);
    work->mode = mode;
    work->bump = kernel_in_place(work->fixture.device, "bump", bump, 1);
    work->pause = kernel_in_place(work->fixture.device, "pause", pause_a_little, 0);
    work->from = buffer_of_groups(work->fixture.device, GROUPS);
    work->to = buffer_of_groups(work->fixture.device, GROUPS);
    work->batch = batch_of(work->fixture.device);
    for (size_t i = 0; i < COUNT_OF(work->borrowed); i++)
        work->borrowed[i] = 77;
    build(work, 1, 1);
    /* Auto may try any mode at any time: what the first use of each takes is taken now. */
    for (int first = VYRE_MODE_PLAIN; mode == VYRE_MODE_AUTO && first < VYRE_MODE_COUNT; first++) {
        work->mode = (enum vyre_mode)first;
        warm_up_depth(work);
        run_rounds(work, WARM_UP_SUBMITS);
    }
    work->mode = mode;
    warm_up_depth(work);
    run_rounds(work, WARM_UP_SUBMITS);

    unsigned long long heap_before = atomic_load(&heap_calls);
    unsigned long long calls_before = atomic_load(&work->fixture.allocator.call_count);
    unsigned long long freed_before = atomic_load(&work->fixture.allocator.freed_count);
    run_rounds(work, COUNTED_SUBMITS);
    unsigned long long heap = atomic_load(&heap_calls) - heap_before;
    unsigned long long calls = atomic_load(&work->fixture.allocator.call_count) - calls_before;
    unsigned long long freed = atomic_load(&work->fixture.allocator.freed_count) - freed_before;

    assert_int_equal(work->wrong, 0);
    assert_int_equal(calls, 0);
    assert_int_equal(freed, 0);
    assert_int_equal(heap, 0);
    fixture_close(&work->fixture);
    free(work);
}

static void check_mode(enum vyre_mode mode, bool no_inline)
{
    check_observed(mode, no_inline, NULL);
}

static void submit_plain_known_shape_allocates_nothing(void **state)
{
    (void)state;
    check_mode(VYRE_MODE_PLAIN, false);
    check_mode(VYRE_MODE_PLAIN, true);
}

static void submit_replay_known_shape_allocates_nothing(void **state)
{
    (void)state;
    check_mode(VYRE_MODE_REPLAY, false);
    check_mode(VYRE_MODE_REPLAY, true);
}

static void submit_persistent_known_shape_allocates_nothing(void **state)
{
    (void)state;
    check_mode(VYRE_MODE_PERSISTENT, false);
    check_mode(VYRE_MODE_PERSISTENT, true);
}

static void submit_auto_known_shape_allocates_nothing(void **state)
{
    (void)state;
    check_mode(VYRE_MODE_AUTO, false);
    check_mode(VYRE_MODE_AUTO, true);
}

static void submit_while_recorded_allocates_nothing(void **state)
{
    (void)state;
    static const enum vyre_mode modes[] = {VYRE_MODE_PLAIN, VYRE_MODE_REPLAY, VYRE_MODE_PERSISTENT,
                                           VYRE_MODE_AUTO};
    for (size_t i = 0; i < COUNT_OF(modes); i++) {
        char path[] = "/tmp/vyre-steady-state.XXXXXX";
        int descriptor = mkstemp(path);
        assert_true(descriptor >= 0);
        close(descriptor);
        struct vyre_recorder *recorder = NULL;
        struct vyre_diag diag = {0};
        assert_int_equal(vyre_recorder_open(path, NULL, &recorder, &diag), VYRE_OK);
        const struct vyre_observer observer = vyre_recorder_observer(recorder);
        check_observed(modes[i], false, &observer);
        struct vyre_recorder_counters counters;
        vyre_recorder_get_counters(recorder, &counters);
        assert_true(counters.batches_seen > COUNTED_SUBMITS);
        assert_int_equal(vyre_recorder_close(&recorder, &diag), VYRE_OK);
        unlink(path);
    }
}

/* ---- With learnings --------------------------------------------------------------------------- */

enum { CHAIN_GROUPS = 4, CHAIN_COMMANDS = 6, CHAIN_BATCHES = 400, LEARNINGS_MAX = 32 };

struct kept {
    size_t count;
    struct vyre_learning learnings[LEARNINGS_MAX];
};

static bool keep(void *user, const struct vyre_learning *learning)
{
    struct kept *kept = user;
    assert_true(kept->count < LEARNINGS_MAX);
    kept->learnings[kept->count++] = *learning;
    return true;
}

static struct vyre_batch *chain(struct fixture *fixture)
{
    const uint32_t one = 1;
    struct vyre_kernel *kernel = kernel_in_place(fixture->device, "bump", bump, 1);
    struct vyre_buffer *buffer = buffer_of_groups(fixture->device, CHAIN_GROUPS);
    struct vyre_batch *batch = batch_of(fixture->device);
    for (int i = 0; i < CHAIN_COMMANDS; i++)
        add_in_place(batch, kernel, CHAIN_GROUPS, buffer, &one, 1);
    return batch;
}

static void learn(struct fixture *fixture, struct vyre_batch *batch)
{
    for (int i = 0; i < CHAIN_BATCHES; i++)
        wait_for(fixture->device, submit_in(batch, VYRE_MODE_AUTO));
}

/* What one device learned is found by a second one, which takes no memory for it in the steady state. */
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
    for (int i = 0; i < CHAIN_BATCHES; i++) {
        /* Once every mode was tried nothing is allocated, with learnings or without. */
        if (i == CHAIN_BATCHES / 2)
            calls = atomic_load(&fixture.allocator.call_count);
        wait_for(fixture.device, submit_in(batch, VYRE_MODE_AUTO));
    }
    /* A recording that a late trial makes is one object, not one per batch. */
    assert_in_range(atomic_load(&fixture.allocator.call_count) - calls, 0, CHAIN_BATCHES / 20);
    assert_true(vyre_device_export_learnings(fixture.device, keep, &second) > 0);
    assert_true(vyre_hash128_equal(first.learnings[0].shape, second.learnings[0].shape));
    fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifndef VYRE_TEST_SANITIZED
        cmocka_unit_test(heap_calls_are_seen),
#endif
        cmocka_unit_test(submit_plain_known_shape_allocates_nothing),
        cmocka_unit_test(submit_replay_known_shape_allocates_nothing),
        cmocka_unit_test(submit_persistent_known_shape_allocates_nothing),
        cmocka_unit_test(submit_auto_known_shape_allocates_nothing),
        cmocka_unit_test(submit_while_recorded_allocates_nothing),
        cmocka_unit_test(a_second_device_knows_the_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
