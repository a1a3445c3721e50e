/*
 * batch_cases.c: building, sticky errors, reuse of a batch, changed constants.
 */
#include "conformance/conformance.h"

enum { WORDS = 256 };

/* ---- Building --------------------------------------------------------------------------------- */

static void destroy_null_ignored(struct fixture *f)
{
    struct vyre_batch *batch = NULL;
    (void)f;
    vyre_batch_destroy(&batch);
    vyre_batch_destroy(NULL);
}

static void command_count_counts_all(struct fixture *f)
{
    char bytes[64] = {0};
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *a = make_buffer(f, f->device, 64);
    struct vyre_buffer *b = make_buffer(f, f->device, 64);
    struct vyre_batch *batch = make_batch(f, f->device);
    assert_int_equal(vyre_batch_command_count(batch), 0);
    add_add(batch, add, whole(a), 1, 16);
    add_add(batch, add, whole(a), 1, 0); /* no groups: counted all the same */
    vyre_batch_copy(batch, whole(a), whole(b));
    vyre_batch_fill(batch, whole(a), 1);
    vyre_batch_upload(batch, whole(a), bytes);
    vyre_batch_upload_borrowed(batch, whole(a), bytes);
    vyre_batch_download(batch, whole(a), bytes);
    assert_int_equal(vyre_batch_command_count(batch), 7);
    assert_int_equal(vyre_batch_status(batch, &f->diag), VYRE_OK);
    vyre_batch_reset(batch);
    assert_int_equal(vyre_batch_command_count(batch), 0);
}

static void submit_empty_completes(struct fixture *f)
{
    struct vyre_batch *batch = make_batch(f, f->device);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    for (size_t i = 0; i < mode_count; i++)
        run_in(f, f->device, batch, modes[i]);
    run_in(f, f->device, batch, VYRE_MODE_AUTO);
}

static void submit_null_options_and_ticket_accepted(struct fixture *f)
{
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, f->device, WORDS * 4);
    struct vyre_batch *batch = make_batch(f, f->device);
    add_add(batch, add, whole(data), 2, WORDS);
    assert_ok(f, vyre_batch_submit(batch, NULL, NULL, &f->diag));
    assert_ok(f, vyre_batch_submit(batch, NULL, NULL, NULL));
    assert_all_words(f, data, 4, WORDS);
}

/* The commands see each other's results in order, whatever could run beside what. */
static void commands_run_in_order(struct fixture *f)
{
    enum { COUNT = 50 };
    uint32_t expected[COUNT + 1] = {COUNT};
    struct vyre_kernel *append = make_kernel(f, f->device, KERNEL_APPEND);
    struct vyre_buffer *log = make_buffer(f, f->device, sizeof expected);
    struct vyre_batch *batch = make_batch(f, f->device);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    vyre_batch_fill(batch, whole(log), 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        expected[1 + i] = i * i;
        add_append(batch, append, whole(log), i * i);
    }
    for (size_t i = 0; i < 4 * mode_count; i++) {
        run_in(f, f->device, batch, modes[i % mode_count]);
        assert_words(f, log, expected, COUNT + 1);
    }
}

static void batches_run_in_submit_order(struct fixture *f)
{
    enum { COUNT = 200 };
    uint32_t expected[COUNT + 1] = {COUNT};
    struct vyre_kernel *append = make_kernel(f, f->device, KERNEL_APPEND);
    struct vyre_buffer *log = make_buffer(f, f->device, sizeof expected);
    struct vyre_batch *batch = make_batch(f, f->device);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    for (uint32_t i = 0; i < COUNT; i++) {
        expected[1 + i] = 7 * i;
        vyre_batch_reset(batch); /* the one before may be in flight */
        add_append(batch, append, whole(log), 7 * i);
        submit_in(f, batch, modes[i * 5 / 7 % mode_count]);
    }
    assert_words(f, log, expected, COUNT + 1);
}

/* ---- Reuse ------------------------------------------------------------------------------------ */

static void submit_same_batch_many_times(struct fixture *f)
{
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, f->device, WORDS * 4);
    struct vyre_batch *batch = make_batch(f, f->device);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    uint32_t expected = 0;
    add_add(batch, add, whole(data), 1, WORDS);
    for (size_t i = 0; i < mode_count; i++) {
        struct vyre_ticket last = {0};
        for (size_t j = 0; j < 1000; j++, expected++)
            last = submit_in(f, batch, modes[i]);
        wait_for(f, f->device, last);
        assert_all_words(f, data, expected, WORDS);
    }
}

static void change_after_submit_leaves_it_alone(struct fixture *f)
{
    struct vyre_device *device = open_async_device(f, (struct vyre_device_desc){0});
    struct vyre_kernel *gate = make_kernel(f, device, KERNEL_GATE);
    struct vyre_kernel *add = make_kernel(f, device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, device, WORDS * 4);
    struct vyre_buffer *door = make_buffer(f, device, 64);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(device, modes);
    for (size_t i = 0; i < mode_count; i++) {
        uint32_t words[WORDS], seen[WORDS] = {0};
        struct vyre_batch *holding = make_batch(f, device);
        struct vyre_batch *batch = make_batch(f, device);
        gate_close(&f->gates[0]);
        add_gate(holding, gate, whole(door), &f->gates[0]);
        submit_in(f, holding, VYRE_MODE_PLAIN);
        for (uint32_t j = 0; j < WORDS; j++)
            words[j] = j;
        vyre_batch_upload(batch, whole(data), words);
        add_add(batch, add, whole(data), 1000, WORDS);
        vyre_batch_download(batch, whole(data), seen);
        struct vyre_ticket ticket = submit_in(f, batch, modes[i]);

        memset(words, 0xff, sizeof words);
        vyre_batch_set_constants(batch, 1, &(struct add_constants){5, WORDS}, 8);
        vyre_batch_fill(batch, whole(data), 0xdead);
        vyre_batch_reset(batch);
        vyre_batch_fill(batch, whole(data), 0xbeef);
        vyre_batch_fill(batch, whole(data), 0xbeef);
        if (i % 2)
            vyre_batch_destroy(&batch);
        gate_open(&f->gates[0]);
        wait_for(f, device, ticket);
        for (uint32_t j = 0; j < WORDS; j++)
            assert_int_equal(seen[j], j + 1000);
        assert_int_equal(read_word(f, data, 7), 1007);
    }
}

/* ---- Constants -------------------------------------------------------------------------------- */

static void set_constants_changes_one_dispatch(struct fixture *f)
{
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *a = make_buffer(f, f->device, WORDS * 4);
    struct vyre_buffer *b = make_buffer(f, f->device, WORDS * 4);
    struct vyre_batch *batch = make_batch(f, f->device);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    uint32_t a_sum = 0, b_sum = 0;
    add_add(batch, add, whole(a), 9, 0);     /* 0: a legal no-op, and still a dispatch */
    add_add(batch, add, whole(a), 1, WORDS); /* 1 */
    vyre_batch_fill(batch, range_of(b, 0, 4), 0);
    add_add(batch, add, whole(b), 1, WORDS); /* 3 */
    for (uint32_t i = 0; i < 30; i++) {
        vyre_batch_set_constants(batch, 0, &(struct add_constants){1, 0}, 8);
        vyre_batch_set_constants(batch, 3, &(struct add_constants){10 + i, WORDS}, 8);
        run_in(f, f->device, batch, modes[i % mode_count]);
        a_sum += 1;
        b_sum += 10 + i;
    }
    assert_all_words(f, a, a_sum, WORDS);
    assert_int_equal(read_word(f, b, 0), 39);
    assert_int_equal(read_word(f, b, 1), b_sum);
    assert_int_equal(read_word(f, b, WORDS - 1), b_sum);
}

/* Every submit keeps the constants that it was submitted with. */
static void set_constants_while_in_flight(struct fixture *f)
{
    enum { COUNT = 60 };
    struct vyre_device *device = open_async_device(f, (struct vyre_device_desc){0});
    struct vyre_kernel *gate = make_kernel(f, device, KERNEL_GATE);
    struct vyre_kernel *append = make_kernel(f, device, KERNEL_APPEND);
    struct vyre_buffer *door = make_buffer(f, device, 64);
    struct vyre_batch *holding = make_batch(f, device);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(device, modes);
    add_gate(holding, gate, whole(door), &f->gates[0]);
    for (size_t i = 0; i < mode_count; i++) {
        uint32_t expected[COUNT + 1] = {COUNT};
        struct vyre_buffer *log = make_buffer(f, device, sizeof expected);
        struct vyre_batch *batch = make_batch(f, device);
        add_append(batch, append, whole(log), 0);
        gate_close(&f->gates[0]);
        submit_in(f, holding, VYRE_MODE_PLAIN);
        for (uint32_t j = 0; j < COUNT; j++) {
            expected[1 + j] = 3 * j + 1;
            struct append_constants constants = append_constants_for(whole(log), expected[1 + j]);
            vyre_batch_set_constants(batch, 0, &constants, sizeof constants);
            submit_in(f, batch, modes[i]);
        }
        gate_open(&f->gates[0]);
        assert_words(f, log, expected, COUNT + 1);
    }
}

static void set_constants_wrong_refused(struct fixture *f)
{
    struct add_constants constants = {1, 1};
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, f->device, 64);
    struct vyre_batch *batch = make_batch(f, f->device);
    for (size_t i = 0; i < 5; i++) {
        vyre_batch_reset(batch);
        add_add(batch, add, whole(data), 1, 16);
        vyre_batch_fill(batch, whole(data), 1);
        switch (i) {
        case 0: /* past the end */
            vyre_batch_set_constants(batch, 2, &constants, 8);
            assert_building_error(f, batch, VYRE_DIAG_BATCH_COMMAND);
            break;
        case 1: /* a fill */
            vyre_batch_set_constants(batch, 1, &constants, 8);
            assert_building_error(f, batch, VYRE_DIAG_BATCH_COMMAND);
            break;
        case 2:
            vyre_batch_set_constants(batch, 0, &constants, 4);
            assert_building_error(f, batch, VYRE_DIAG_BATCH_CONSTANTS);
            break;
        case 3:
            vyre_batch_set_constants(batch, SIZE_MAX, &constants, 8);
            assert_building_error(f, batch, VYRE_DIAG_BATCH_COMMAND);
            break;
        default:
            vyre_batch_set_constants(batch, 0, NULL, 8);
            assert_building_error(f, batch, VYRE_DIAG_BATCH_CONSTANTS);
        }
    }
    assert_all_words(f, data, 0, 16);
}

/* ---- Sticky errors ---------------------------------------------------------------------------- */

static void first_error_sticks_until_reset(struct fixture *f)
{
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, f->device, WORDS * 4);
    struct vyre_batch *batch = make_batch(f, f->device);
    struct vyre_device_counters before = counters_of(f->device);
    add_add(batch, add, whole(data), 1, WORDS);
    vyre_batch_fill(batch, range_of(data, 2, 4), 1);                    /* the first error */
    vyre_batch_fill(batch, range_of(data, WORDS * 4, 4), 1);            /* another */
    vyre_batch_copy(batch, range_of(data, 0, 8), range_of(data, 4, 8)); /* and another */
    add_add(batch, add, whole(data), 1, WORDS);                         /* right, but too late */
    assert_building_error(f, batch, VYRE_DIAG_BATCH_ALIGNMENT);
    assert_building_error(f, batch, VYRE_DIAG_BATCH_ALIGNMENT); /* submit does not clear it */
    assert_int_equal(vyre_batch_command_count(batch), 1);
    assert_int_equal(counters_of(f->device).submitted, before.submitted);
    assert_all_words(f, data, 0, WORDS); /* nothing ran */

    vyre_batch_reset(batch);
    assert_int_equal(vyre_batch_status(batch, &f->diag), VYRE_OK);
    assert_int_equal(vyre_batch_command_count(batch), 0);
    add_add(batch, add, whole(data), 1, WORDS);
    run_in(f, f->device, batch, VYRE_MODE_AUTO);
    assert_all_words(f, data, 1, WORDS);
}

static void error_in_one_batch_leaves_others_alone(struct fixture *f)
{
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, f->device, WORDS * 4);
    struct vyre_batch *bad = make_batch(f, f->device);
    struct vyre_batch *good = make_batch(f, f->device);
    vyre_batch_fill(bad, range_of(data, 0, 6), 1);
    add_add(good, add, whole(data), 4, WORDS);
    for (size_t i = 0; i < 3; i++) {
        assert_building_error(f, bad, VYRE_DIAG_BATCH_ALIGNMENT);
        run_in(f, f->device, good, VYRE_MODE_PLAIN);
    }
    assert_all_words(f, data, 12, WORDS);
}

/* Of the object that the error is about: the buffer, the kernel or the batch. */
static void labels_reach_diagnostics(struct fixture *f)
{
    struct vyre_batch *batch = NULL;
    struct vyre_buffer *data = NULL;
    char label[] = "frame";
    struct vyre_buffer_desc desc = {.size_bytes = 64, .label = "pressure"};
    struct vyre_kernel *append = make_kernel(f, f->device, KERNEL_APPEND);
    assert_ok(f, vyre_buffer_create(f->device, &desc, &data, &f->diag));
    assert_ok(f, vyre_batch_create(f->device, &(struct vyre_batch_desc){.label = label}, &batch,
                                   &f->diag));
    memset(label, 'x', sizeof label - 1);
    vyre_batch_fill(batch, range_of(data, 2, 4), 1);
    assert_refused(f, vyre_batch_submit(batch, NULL, NULL, &f->diag), VYRE_DIAG_BATCH_ALIGNMENT);
    assert_string_equal(f->diag.label, "pressure");
    vyre_batch_reset(batch);
    vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = append, .groups = {1, 1, 1}});
    assert_refused(f, vyre_batch_submit(batch, NULL, NULL, &f->diag), VYRE_DIAG_BATCH_CONSTANTS);
    assert_string_equal(f->diag.label, "append");
    vyre_batch_reset(batch);
    vyre_batch_fill(batch, (struct vyre_range){0}, 1);
    assert_refused(f, vyre_batch_submit(batch, NULL, NULL, &f->diag), VYRE_DIAG_ARGUMENT_NULL);
    assert_string_equal(f->diag.label, "frame");
}

/* ---- Warm-up ---------------------------------------------------------------------------------- */

static void warm_up_runs_nothing(struct fixture *f)
{
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, f->device, WORDS * 4);
    struct vyre_batch *batch = make_batch(f, f->device);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    add_add(batch, add, whole(data), 1, WORDS);
    assert_ok(f, vyre_batch_warm_up(batch, VYRE_MODE_AUTO, &f->diag));
    for (uint32_t i = 0; i < mode_count; i++) {
        uint64_t submitted = counters_of(f->device).submitted;
        assert_ok(f, vyre_batch_warm_up(batch, modes[i], &f->diag));
        assert_ok(f, vyre_batch_warm_up(batch, modes[i], &f->diag));
        assert_int_equal(counters_of(f->device).submitted, submitted);
        assert_all_words(f, data, i, WORDS);
        run_in(f, f->device, batch, modes[i]);
        assert_all_words(f, data, i + 1, WORDS);
    }
}

static const struct conformance_case cases[] = {
    {"destroy_null_ignored", destroy_null_ignored, 0},
    {"command_count_counts_all", command_count_counts_all, 0},
    {"submit_empty_completes", submit_empty_completes, 0},
    {"submit_null_options_and_ticket_accepted", submit_null_options_and_ticket_accepted, 0},
    {"commands_run_in_order", commands_run_in_order, 0},
    {"batches_run_in_submit_order", batches_run_in_submit_order, 0},
    {"submit_same_batch_many_times", submit_same_batch_many_times, 0},
    {"change_after_submit_leaves_it_alone", change_after_submit_leaves_it_alone, NEEDS_ASYNC},
    {"set_constants_changes_one_dispatch", set_constants_changes_one_dispatch, 0},
    {"set_constants_while_in_flight", set_constants_while_in_flight, NEEDS_ASYNC},
    {"set_constants_wrong_refused", set_constants_wrong_refused, 0},
    {"first_error_sticks_until_reset", first_error_sticks_until_reset, 0},
    {"error_in_one_batch_leaves_others_alone", error_in_one_batch_leaves_others_alone, 0},
    {"labels_reach_diagnostics", labels_reach_diagnostics, 0},
    {"warm_up_runs_nothing", warm_up_runs_nothing, 0},
};

const struct conformance_group batch_cases = {"batch", cases, COUNT_OF(cases)};
