/*
 * lifetime_cases.c: destroying what work in flight uses, stale batches, closing with work in flight.
 */
#include "conformance/conformance.h"

enum { WORDS = 200 };

/* A closed gate in flight, so that everything submitted after it waits. */
static struct vyre_device *open_held(struct fixture *f, struct vyre_device_desc desc)
{
    struct vyre_device *device = open_async_device(f, desc);
    struct vyre_batch *batch = make_batch(f, device);
    struct vyre_kernel *gate = make_kernel(f, device, KERNEL_GATE);
    struct vyre_buffer *door = make_buffer(f, device, 64);
    gate_close(&f->gates[0]);
    add_gate(batch, gate, whole(door), &f->gates[0]);
    submit_in(f, batch, VYRE_MODE_PLAIN);
    vyre_kernel_destroy(&gate); /* the gate's own objects too */
    vyre_buffer_destroy(&door);
    vyre_batch_destroy(&batch);
    return device;
}

static void destroy_in_flight_work_goes_on(struct fixture *f)
{
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    for (size_t i = 0; i < mode_count; i++) {
        uint32_t words[WORDS], seen[WORDS] = {0};
        struct vyre_device *device = open_held(f, (struct vyre_device_desc){0});
        struct vyre_kernel *add = make_kernel(f, device, KERNEL_ADD);
        struct vyre_kernel *mix = make_kernel(f, device, KERNEL_MIX);
        struct vyre_buffer *a = make_buffer(f, device, sizeof words);
        struct vyre_buffer *b = make_buffer(f, device, sizeof words);
        struct vyre_batch *batch = make_batch(f, device);
        for (uint32_t j = 0; j < WORDS; j++)
            words[j] = 9 * j;
        vyre_batch_upload(batch, whole(a), words);
        add_add(batch, add, whole(a), 5, WORDS);
        add_mix(batch, mix, whole(a), whole(b), 1, WORDS);
        vyre_batch_download(batch, whole(b), seen);
        struct vyre_ticket ticket = submit_in(f, batch, modes[i]);
        vyre_batch_destroy(&batch);
        vyre_kernel_destroy(&add);
        vyre_kernel_destroy(&mix);
        vyre_buffer_destroy(&a);
        vyre_buffer_destroy(&b);
        assert_null(a);
        /* What is created now must not get the memory that is still in use. */
        struct vyre_buffer *late[4];
        for (size_t j = 0; j < COUNT_OF(late); j++)
            late[j] = make_buffer(f, device, sizeof words);
        gate_open(&f->gates[0]);
        wait_for(f, device, ticket);
        for (uint32_t j = 0; j < WORDS; j++)
            assert_int_equal(seen[j], 9 * j + 5 + j);
        for (size_t j = 0; j < COUNT_OF(late); j++)
            assert_all_words(f, late[j], 0, WORDS);
        close_device(f, &device);
    }
}

/* A recording that is still in flight when its kernel is destroyed goes before the kernel does. */
static void recording_in_flight_goes_before_its_kernel(struct fixture *f)
{
    struct vyre_kernel *first = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_kernel *second = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, f->device, WORDS * 4);
    struct vyre_batch *batch = make_batch(f, f->device);
    add_add(batch, first, whole(data), 1, WORDS);
    struct vyre_ticket ticket = submit_in(f, batch, VYRE_MODE_REPLAY);
    vyre_kernel_destroy(&first);
    wait_for(f, f->device, ticket);
    (void)make_buffer(f, f->device, WORDS * 4); /* what is dead goes now */
    vyre_batch_reset(batch);
    add_add(batch, second, whole(data), 2, WORDS);
    run_in(f, f->device, batch, VYRE_MODE_REPLAY);
    assert_all_words(f, data, 3, WORDS);
}

static void destroyed_memory_is_given_back(struct fixture *f)
{
    struct vyre_device *device = open_held(f, (struct vyre_device_desc){0});
    struct vyre_buffer *data = make_buffer(f, device, 1 << 20);
    struct vyre_batch *batch = make_batch(f, device);
    vyre_batch_fill(batch, whole(data), 1);
    submit_in(f, batch, VYRE_MODE_PLAIN);
    vyre_batch_destroy(&batch);
    vyre_buffer_destroy(&data);
    gate_open(&f->gates[0]);
    assert_ok(f, vyre_device_wait_idle(device, VYRE_FOREVER, &f->diag));
    make_buffer(f, device, 64); /* at the latest, the next call frees what waited */
    assert_true(counters_of(device).memory_bytes < 1 << 20);
}

static void close_waits_for_work(struct fixture *f)
{
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    for (size_t i = 0; i < mode_count; i++) {
        uint32_t seen[WORDS] = {0};
        struct gate_opener opener;
        struct vyre_device *device = open_held(f, (struct vyre_device_desc){0});
        struct vyre_buffer *data = make_buffer(f, device, sizeof seen);
        struct vyre_batch *batch = make_batch(f, device);
        vyre_batch_fill(batch, whole(data), 0x77);
        vyre_batch_download(batch, whole(data), seen);
        submit_in(f, batch, modes[i]);
        gate_opener_start(&opener, &f->gates[0], 20000000);
        close_device(f, &device); /* with all that was created from it */
        bool opened = atomic_load(&opener.opened);
        gate_opener_join(&opener);
        assert_true(opened);
        assert_int_equal(seen[0], 0x77);
        assert_int_equal(seen[WORDS - 1], 0x77);
    }
}

/* ---- Stale batches ---------------------------------------------------------------------------- */

static void refuse_stale(struct fixture *f, struct vyre_batch *batch)
{
    enum vyre_mode modes[4];
    size_t mode_count = device_modes(f->device, modes);
    modes[mode_count++] = VYRE_MODE_AUTO;
    for (size_t i = 0; i < mode_count; i++) {
        struct vyre_ticket ticket = {7, 7};
        struct vyre_submit_options options = {.mode = modes[i]};
        assert_refused(f, vyre_batch_submit(batch, &options, &ticket, &f->diag),
                       VYRE_DIAG_BATCH_STALE);
        assert_int_equal(ticket.sequence, 0);
        assert_refused(f, vyre_batch_warm_up(batch, modes[i], &f->diag), VYRE_DIAG_BATCH_STALE);
    }
}

static void destroyed_buffer_makes_batch_stale(struct fixture *f)
{
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    for (size_t i = 0; i < 5; i++) {
        char bytes[64];
        struct vyre_buffer *data = make_buffer(f, f->device, 64);
        struct vyre_buffer *other = make_buffer(f, f->device, 64);
        struct vyre_batch *batch = make_batch(f, f->device);
        if (i == 0)
            add_add(batch, add, whole(data), 1, 16);
        if (i == 1)
            vyre_batch_copy(batch, whole(other), whole(data));
        if (i == 2)
            vyre_batch_fill(batch, whole(data), 1);
        if (i == 3)
            vyre_batch_upload(batch, whole(data), bytes);
        if (i == 4)
            vyre_batch_download(batch, whole(data), bytes);
        memset(bytes, 0, sizeof bytes);
        if (i != 3)
            for (size_t j = 0; j < mode_count; j++)
                run_in(f, f->device, batch, modes[j]); /* recordings of it exist */
        vyre_buffer_destroy(&data);
        struct vyre_buffer *same_place = make_buffer(f, f->device, 64);
        refuse_stale(f, batch);
        assert_all_words(f, same_place, 0, 16);
        vyre_batch_reset(batch);
        vyre_batch_fill(batch, whole(same_place), 3);
        run_in(f, f->device, batch, VYRE_MODE_AUTO);
        assert_all_words(f, same_place, 3, 16);
    }
}

static void destroyed_kernel_makes_batch_stale(struct fixture *f)
{
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, f->device, 64);
    struct vyre_batch *batch = make_batch(f, f->device);
    add_add(batch, add, whole(data), 1, 16);
    run_in(f, f->device, batch, VYRE_MODE_AUTO);
    vyre_kernel_destroy(&add);
    add = make_kernel(f, f->device, KERNEL_ADD);
    refuse_stale(f, batch);
    assert_all_words(f, data, 1, 16);
    vyre_batch_reset(batch);
    add_add(batch, add, whole(data), 1, 16);
    run_in(f, f->device, batch, VYRE_MODE_AUTO);
    assert_all_words(f, data, 2, 16);
}

static void destroyed_table_member_makes_batch_stale(struct fixture *f)
{
    struct vyre_kernel *table_add = make_kernel(f, f->device, KERNEL_TABLE_ADD);
    struct vyre_buffer *members[5];
    struct vyre_batch *batch = make_batch(f, f->device);
    for (size_t i = 0; i < 5; i++)
        members[i] = make_buffer(f, f->device, TABLE_ADD_WORDS * 4);
    struct vyre_slot_binding slot = {.slot = 0, .table = members, .table_count = 5};
    vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = table_add,
                                                       .groups = {5, 1, 1},
                                                       .bindings = &slot,
                                                       .binding_count = 1});
    run_in(f, f->device, batch, VYRE_MODE_AUTO);
    vyre_buffer_destroy(&members[3]);
    refuse_stale(f, batch);
    assert_all_words(f, members[4], 5, TABLE_ADD_WORDS);
}

/* Opening and closing over and over, with work, leaves nothing behind. */
static void open_and_close_many_times(struct fixture *f)
{
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    for (size_t i = 0; i < 20; i++) {
        struct vyre_device *device = open_device(f, NULL);
        struct vyre_kernel *add = make_kernel(f, device, KERNEL_ADD);
        struct vyre_buffer *data = make_buffer(f, device, WORDS * 4);
        struct vyre_batch *batch = make_batch(f, device);
        add_add(batch, add, whole(data), 1, WORDS);
        for (size_t j = 0; j < i; j++)
            submit_in(f, batch, modes[j % mode_count]);
        close_device(f, &device);
    }
}

static const struct conformance_case cases[] = {
    {"destroy_in_flight_work_goes_on", destroy_in_flight_work_goes_on, NEEDS_ASYNC},
    {"recording_in_flight_goes_before_its_kernel", recording_in_flight_goes_before_its_kernel,
     NEEDS(REPLAY)},
    {"destroyed_memory_is_given_back", destroyed_memory_is_given_back, NEEDS_ASYNC},
    {"close_waits_for_work", close_waits_for_work, NEEDS_ASYNC},
    {"destroyed_buffer_makes_batch_stale", destroyed_buffer_makes_batch_stale, 0},
    {"destroyed_kernel_makes_batch_stale", destroyed_kernel_makes_batch_stale, 0},
    {"destroyed_table_member_makes_batch_stale", destroyed_table_member_makes_batch_stale,
     NEEDS(BINDLESS)},
    {"open_and_close_many_times", open_and_close_many_times, 0},
};

const struct conformance_group lifetime_cases = {"lifetime", cases, COUNT_OF(cases)};
