/*
 * recording_cases.c: recordings are used again when the work is the same, never when it is not, and
 * are bounded.
 */
#include "conformance/conformance.h"

enum { WORDS = 128 };

static void same_batch_recorded_once(struct fixture *f)
{
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, f->device, WORDS * 4);
    struct vyre_batch *batch = make_batch(f, f->device);
    add_add(batch, add, whole(data), 1, WORDS);
    for (uint32_t i = 0; i < 50; i++)
        run_in(f, f->device, batch, VYRE_MODE_REPLAY);
    struct vyre_device_counters counters = counters_of(f->device);
    assert_int_equal(counters.recordings_made, 1);
    assert_int_equal(counters.recordings_reused, 49);
    assert_int_equal(counters.recordings_kept, 1);
    assert_int_equal(counters.recordings_evicted, 0);
    assert_true(counters.recording_bytes > 0);
    assert_all_words(f, data, 50, WORDS);
}

/* Constants and uploaded bytes are not part of the shape. */
static void changed_values_use_the_recording_again(struct fixture *f)
{
    uint32_t words[WORDS] = {0};
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, f->device, WORDS * 4);
    struct vyre_batch *batch = make_batch(f, f->device);
    vyre_batch_upload_borrowed(batch, whole(data), words);
    add_add(batch, add, whole(data), 0, WORDS);
    for (uint32_t i = 0; i < 20; i++) {
        words[3] = 1000 * i;
        vyre_batch_set_constants(batch, 1, &(struct add_constants){i, WORDS}, 8);
        run_in(f, f->device, batch, VYRE_MODE_REPLAY);
        assert_int_equal(read_word(f, data, 3), 1001 * i);
        assert_int_equal(read_word(f, data, 4), i);
    }
    assert_int_equal(counters_of(f->device).recordings_made, 1);
    assert_int_equal(counters_of(f->device).recordings_reused, 19);
}

/* The same work built anew, in the same batch and in another one. */
static void equal_batch_gives_right_bytes(struct fixture *f)
{
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, f->device, WORDS * 4);
    struct vyre_batch *batches[2] = {make_batch(f, f->device), make_batch(f, f->device)};
    uint32_t words[WORDS], expected = 0, *seen = calloc(20 * WORDS, sizeof *seen);
    assert_non_null(seen);
    for (uint32_t i = 0; i < 20; i++) {
        struct vyre_batch *batch = batches[i % 2];
        for (size_t j = 0; j < WORDS; j++)
            words[j] = expected;
        vyre_batch_reset(batch);
        vyre_batch_upload(batch, whole(data), words);
        add_add(batch, add, whole(data), i, WORDS);
        vyre_batch_download(batch, whole(data), seen + i * WORDS); /* another place each time */
        run_in(f, f->device, batch, VYRE_MODE_REPLAY);
        expected += i;
        for (size_t j = 0; j < WORDS; j++)
            assert_int_equal(seen[i * WORDS + j], expected);
        expected *= 3;
    }
    free(seen);
}

/* Without anything that a recording could bake in, equal batches share one. */
static void equal_batches_share_a_recording(struct fixture *f)
{
    struct vyre_kernel *identify = make_kernel(f, f->device, KERNEL_IDENTIFY);
    struct vyre_buffer *visits = make_buffer(f, f->device, 64);
    struct vyre_buffer *ids = make_buffer(f, f->device, 24 * 16);
    struct vyre_slot_binding slots[] = {{.slot = 0, .range = whole(visits)},
                                        {.slot = 1, .range = whole(ids)}};
    for (size_t i = 0; i < 10; i++) {
        struct vyre_batch *batch = make_batch(f, f->device);
        vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = identify,
                                                           .groups = {16, 1, 1},
                                                           .bindings = slots,
                                                           .binding_count = 2});
        run_in(f, f->device, batch, VYRE_MODE_REPLAY);
        vyre_batch_destroy(&batch);
    }
    assert_all_words(f, visits, 10, 16);
    assert_int_equal(counters_of(f->device).recordings_made, 1);
    assert_int_equal(counters_of(f->device).recordings_reused, 9);
}

/* What differs: nothing, the kernel, the buffer, the offset, the size, the groups, the commands. */
static void different_work_recorded_anew(struct fixture *f)
{
    size_t align = f->limits.range_alignment < 64 ? 64 : f->limits.range_alignment,
           size = 4 * WORDS;
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_kernel *again = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *a = make_buffer(f, f->device, align + size);
    struct vyre_buffer *b = make_buffer(f, f->device, align + size);
    struct vyre_batch *batch = make_batch(f, f->device);
    const struct {
        struct vyre_kernel *kernel;
        struct vyre_range range;
        uint32_t count;
    } works[] = {{add, range_of(a, 0, size), WORDS},     {again, range_of(a, 0, size), WORDS},
                 {add, range_of(b, 0, size), WORDS},     {add, range_of(a, align, size), WORDS},
                 {add, range_of(a, 0, size + 4), WORDS}, {add, range_of(a, 0, size), 1}};
    for (uint64_t i = 0; i < COUNT_OF(works); i++) {
        vyre_batch_reset(batch);
        add_add(batch, works[i].kernel, works[i].range, 1, works[i].count);
        run_in(f, f->device, batch, VYRE_MODE_REPLAY);
        assert_int_equal(counters_of(f->device).recordings_made, i + 1);
    }
    add_add(batch, add, range_of(a, 0, size), 1, 1);
    run_in(f, f->device, batch, VYRE_MODE_REPLAY);
    assert_int_equal(counters_of(f->device).recordings_made, COUNT_OF(works) + 1);
    assert_int_equal(counters_of(f->device).recordings_reused, 0);
    assert_int_equal(read_word(f, a, 0), 6);
    assert_int_equal(read_word(f, a, 1), 3);
    assert_int_equal(read_word(f, a, align / 4), 4);
    assert_int_equal(read_word(f, b, 0), 1);
}

/* A new buffer at the old one's place, with the old one's size, is another buffer. */
static void recreated_buffer_never_matches(struct fixture *f)
{
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_batch *batch = make_batch(f, f->device);
    for (uint64_t i = 1; i <= 30; i++) {
        struct vyre_buffer *data = make_buffer(f, f->device, WORDS * 4);
        vyre_batch_reset(batch);
        add_add(batch, add, whole(data), 7, WORDS);
        run_in(f, f->device, batch, VYRE_MODE_REPLAY);
        run_in(f, f->device, batch, VYRE_MODE_REPLAY);
        assert_all_words(f, data, 14, WORDS);
        assert_int_equal(counters_of(f->device).recordings_made, i);
        vyre_buffer_destroy(&data);
    }
}

static void recordings_limit_evicts_the_least_recent(struct fixture *f)
{
    enum { LIMIT = 4, SHAPES = 6 };
    struct vyre_device *device =
        open_device(f, &(struct vyre_device_desc){.recording_limit = LIMIT});
    struct vyre_kernel *add = make_kernel(f, device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, device, SHAPES * 64 * 4);
    struct vyre_batch *batches[SHAPES];
    static const struct {
        uint32_t shape;
        bool recorded;
    } steps[] = {{0, true},  {1, true},  {2, true},  {3, true}, /* full */
                 {0, false},                                    /* 1 is now the oldest */
                 {4, true},                                     /* 1 goes */
                 {0, false}, {2, false}, {3, false}, {4, false}, {1, true}, /* 0 goes */
                 {4, false}, {3, false}, {2, false}, /* 1 is now the oldest */
                 {0, true},                          /* 1 goes */
                 {5, true},                          /* 4 goes */
                 {3, false}, {2, false}, {0, false}, {5, false}};
    uint64_t made = 0;
    for (uint32_t i = 0; i < SHAPES; i++) {
        batches[i] = make_batch(f, device);
        add_add(batches[i], add, whole(data), 1, (i + 1) * 64);
    }
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        run_in(f, device, batches[steps[i].shape], VYRE_MODE_REPLAY);
        made += steps[i].recorded;
        struct vyre_device_counters counters = counters_of(device);
        assert_int_equal(counters.recordings_made, made);
        assert_true(counters.recordings_kept <= LIMIT);
        assert_int_equal(counters.recordings_evicted, made - counters.recordings_kept);
    }
    assert_int_equal(read_word(f, data, 0), COUNT_OF(steps));
}

/* Many recordings within few bytes: all work runs, the bytes stay within the limit. */
static void recordings_bytes_are_bounded(struct fixture *f)
{
    enum { SHAPES = 60, COMMANDS = 20 };
    struct vyre_device *device =
        open_device(f, &(struct vyre_device_desc){.recording_bytes = 16384});
    struct vyre_kernel *add = make_kernel(f, device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, device, SHAPES * 64 * 4);
    struct vyre_batch *batch = make_batch(f, device);
    for (uint32_t i = 0; i < SHAPES; i++) {
        vyre_batch_reset(batch);
        for (uint32_t j = 0; j < COMMANDS; j++)
            add_add(batch, add, whole(data), 1, (i + 1) * 64);
        run_in(f, device, batch, VYRE_MODE_REPLAY);
        assert_true(counters_of(device).recording_bytes <= 16384);
    }
    assert_int_equal(read_word(f, data, 0), SHAPES * COMMANDS);
    assert_true(counters_of(device).recordings_evicted > 0);
}

/* Recordings that go while work in flight uses them. */
static void eviction_in_flight_is_safe(struct fixture *f)
{
    enum { SHAPES = 40 };
    struct vyre_device *device =
        open_async_device(f, (struct vyre_device_desc){.recording_limit = 2});
    struct vyre_kernel *gate = make_kernel(f, device, KERNEL_GATE);
    struct vyre_kernel *add = make_kernel(f, device, KERNEL_ADD);
    struct vyre_buffer *door = make_buffer(f, device, 64);
    struct vyre_buffer *data = make_buffer(f, device, SHAPES * 64 * 4);
    struct vyre_batch *batch = make_batch(f, device);
    add_gate(batch, gate, whole(door), &f->gates[0]);
    submit_in(f, batch, VYRE_MODE_REPLAY);
    for (uint32_t i = 0; i < SHAPES; i++) {
        vyre_batch_reset(batch);
        add_add(batch, add, whole(data), 1, (i + 1) * 64);
        submit_in(f, batch, VYRE_MODE_REPLAY);
    }
    gate_open(&f->gates[0]);
    assert_ok(f, vyre_device_wait_idle(device, VYRE_FOREVER, &f->diag));
    assert_int_equal(read_word(f, data, 0), SHAPES);
    assert_int_equal(read_word(f, data, SHAPES * 64 - 1), 1);
    assert_true(counters_of(device).recordings_kept <= 2);
}

static void warm_up_records(struct fixture *f)
{
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, f->device, WORDS * 4);
    struct vyre_batch *batch = make_batch(f, f->device);
    add_add(batch, add, whole(data), 1, WORDS);
    assert_ok(f, vyre_batch_warm_up(batch, VYRE_MODE_REPLAY, &f->diag));
    assert_int_equal(counters_of(f->device).recordings_made, 1);
    run_in(f, f->device, batch, VYRE_MODE_REPLAY);
    assert_int_equal(counters_of(f->device).recordings_made, 1);
    assert_int_equal(counters_of(f->device).recordings_reused, 1);
    assert_all_words(f, data, 1, WORDS);
}

static const struct conformance_case cases[] = {
    {"same_batch_recorded_once", same_batch_recorded_once, NEEDS(REPLAY)},
    {"changed_values_use_the_recording_again", changed_values_use_the_recording_again,
     NEEDS(REPLAY)},
    {"equal_batch_gives_right_bytes", equal_batch_gives_right_bytes, NEEDS(REPLAY)},
    {"equal_batches_share_a_recording", equal_batches_share_a_recording, NEEDS(REPLAY)},
    {"different_work_recorded_anew", different_work_recorded_anew, NEEDS(REPLAY)},
    {"recreated_buffer_never_matches", recreated_buffer_never_matches, NEEDS(REPLAY)},
    {"recordings_limit_evicts_the_least_recent", recordings_limit_evicts_the_least_recent,
     NEEDS(REPLAY)},
    {"recordings_bytes_are_bounded", recordings_bytes_are_bounded, NEEDS(REPLAY)},
    {"eviction_in_flight_is_safe", eviction_in_flight_is_safe, NEEDS(REPLAY) | NEEDS_ASYNC},
    {"warm_up_records", warm_up_records, NEEDS(REPLAY)},
};

const struct conformance_group recording_cases = {"recording", cases, COUNT_OF(cases)};
