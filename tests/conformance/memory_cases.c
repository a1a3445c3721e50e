/*
 * memory_cases.c: where memory comes from: all of it from the instance's allocator, all of it given
 * back, none on the steady path, and no harm done when there is none.
 */
#include "conformance/conformance.h"

enum { WORDS = 256, LARGE_WORDS = 1 << 16, WAYS_MAX = 3 * (VYRE_VARIANT_MASK + 1) + 1 };

/* One pass over the API. Returns the first status that is not OK; closes everything. */
static enum vyre_status use_everything(struct fixture *f)
{
    const struct subject *subject = f->subject;
    const struct vyre_instance_desc instance_desc = {.allocator = f->allocator};
    struct vyre_diag *diag = &f->diag;
    struct vyre_device *device = NULL;
    struct vyre_kernel *add = NULL;
    struct vyre_buffer *data = NULL;
    struct vyre_batch *batch = NULL;
    struct kernel_plan plan;
    enum vyre_mode modes[3];
    uint32_t words[WORDS] = {0};
    struct vyre_device_desc desc = {
        .backend = subject->backend, .name = subject->device_name, .index = subject->device_index};
    kernel_plan_init(&plan, KERNEL_ADD);
    struct vyre_instance *instance = subject_instance(subject, &instance_desc, diag);
    enum vyre_status status = instance ? VYRE_OK : diag->status;
    if (status == VYRE_OK)
        status = vyre_device_open(instance, &desc, &device, diag);
    if (status == VYRE_OK)
        status = vyre_kernel_create(device, &plan.desc, &add, diag);
    if (status == VYRE_OK)
        status = vyre_buffer_create(device, &(struct vyre_buffer_desc){.size_bytes = sizeof words},
                                    &data, diag);
    if (status == VYRE_OK)
        status = vyre_batch_create(device, NULL, &batch, diag);
    size_t mode_count = device ? device_modes(device, modes) : 0;
    for (size_t i = 0; status == VYRE_OK && i < 2 * mode_count; i++) {
        struct vyre_submit_options options = {.mode = modes[i / 2]};
        vyre_batch_reset(batch);
        vyre_batch_upload(batch, whole(data), words);
        add_add(batch, add, whole(data), 1, WORDS);
        vyre_batch_download(batch, whole(data), words);
        status = vyre_batch_submit(batch, &options, NULL, diag);
        if (status == VYRE_OK)
            status = vyre_device_wait_idle(device, VYRE_FOREVER, diag);
    }
    if (status == VYRE_OK && (words[0] != 2 * mode_count || words[WORDS - 1] != 2 * mode_count))
        status = VYRE_INTERNAL; /* it ran, and wrongly */
    vyre_device_close(&device);
    vyre_instance_destroy(&instance);
    return status;
}

static void all_memory_is_given_back(struct fixture *f)
{
    for (size_t i = 0; i < 3; i++) {
        assert_ok(f, use_everything(f));
        assert_int_equal(atomic_load(&f->counting.live_count), 0);
        assert_int_equal(atomic_load(&f->counting.mismatch_count), 0);
    }
    assert_true(atomic_load(&f->counting.taken_count) > 0); /* it was asked at all */
}

/* The n-th allocation fails, for every n: a status, nothing lost, and the next try works. */
static void out_of_memory_anywhere_is_survived(struct fixture *f)
{
    assert_ok(f, use_everything(f));
    unsigned long long total = atomic_load(&f->counting.taken_count);
    unsigned long long failures = 0;
    for (unsigned long long i = 0; i < total; i++) {
        counting_fail_after(&f->counting, i);
        enum vyre_status status = use_everything(f);
        counting_fail_never(&f->counting);
        if (status != VYRE_OK)
            assert_int_equal(status, VYRE_OUT_OF_MEMORY);
        failures += status != VYRE_OK;
        assert_int_equal(atomic_load(&f->counting.live_count), 0);
    }
    assert_true(failures > 4); /* instance, device, kernel, buffer and batch at least */
    assert_ok(f, use_everything(f));
}

/*
 * One round of a stream: a large batch built anew, then a small one submitted again, twice: three
 * submits a round, so that the large one comes to every place of whatever ring there is.
 */
static struct vyre_ticket stream_round(struct fixture *f, struct vyre_batch *anew,
                                       struct vyre_batch *again, struct vyre_kernel *add,
                                       struct vyre_buffer *data, uint32_t value,
                                       const struct vyre_submit_options *options)
{
    static const uint32_t zeros[LARGE_WORDS];
    vyre_batch_reset(anew);
    vyre_batch_upload(anew, whole(data), zeros);
    add_add(anew, add, whole(data), value, LARGE_WORDS);
    struct vyre_ticket ticket;
    assert_ok(f, vyre_batch_submit(anew, options, &ticket, &f->diag));
    assert_ok(f, vyre_batch_submit(again, options, NULL, &f->diag));
    assert_ok(f, vyre_batch_submit(again, options, NULL, &f->diag));
    return ticket;
}

/*
 * All ways to run the stream, auto last: what it may come to try, however late, was used before it. Each
 * mode and each variant that the device has of it.
 */
static size_t list_ways(struct fixture *f, struct vyre_device *device, struct vyre_batch *batch,
                        struct vyre_submit_options out_ways[WAYS_MAX])
{
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(device, modes);
    size_t count = 0;
    for (size_t i = 0; i < mode_count; i++) {
        assert_ok(f, vyre_batch_warm_up(batch, modes[i], &f->diag));
        for (uint32_t variant = 0; variant <= VYRE_VARIANT_MASK; variant++) {
            if (vyre_batch_check_mode(batch, modes[i], variant, &f->diag) == VYRE_OK)
                out_ways[count++] =
                    (struct vyre_submit_options){.mode = modes[i], .variant = variant};
        }
    }
    assert_true(count >= mode_count);
    out_ways[count++] = (struct vyre_submit_options){.mode = VYRE_MODE_AUTO};
    return count;
}

/* After a while nothing is allocated any more, in any mode and variant. */
static void steady_stream_allocates_nothing(struct fixture *f)
{
    /* Recordings that keep constants are made for each value: few, so that all are kept. */
    enum { WARM = 300, STEADY = 100, VALUES = 16 };
    struct vyre_submit_options ways[WAYS_MAX];
    struct vyre_device *device =
        open_in_other(f, &(struct vyre_instance_desc){.allocator = f->allocator});
    struct vyre_kernel *add = make_kernel(f, device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, device, LARGE_WORDS * 4);
    struct vyre_batch *again = make_batch(f, device), *anew = make_batch(f, device);
    add_add(again, add, whole(data), 1, WORDS);
    size_t way_count = list_ways(f, device, again, ways);
    for (size_t i = 0; i < way_count; i++) {
        for (uint32_t j = 0; j < WARM; j++) { /* many bodies of `anew` in flight at once */
            struct vyre_ticket ticket =
                stream_round(f, anew, again, add, data, j % VALUES, &ways[i]);
            if (j % 16 == 15)
                wait_for(f, device, ticket);
        }
        assert_ok(f, vyre_device_wait_idle(device, VYRE_FOREVER, &f->diag));
        unsigned long long before = atomic_load(&f->counting.taken_count);
        for (uint32_t j = 0; j < STEADY; j++) /* one at a time */
            wait_for(f, device, stream_round(f, anew, again, add, data, j % VALUES, &ways[i]));
        assert_int_equal(atomic_load(&f->counting.taken_count) - before, 0);
        assert_int_equal(read_word(f, data, 0), (STEADY - 1) % VALUES + 2);
        assert_int_equal(read_word(f, data, LARGE_WORDS - 1), (STEADY - 1) % VALUES);
    }
    close_device(f, &device);
    vyre_instance_destroy(&f->other);
    assert_int_equal(atomic_load(&f->counting.live_count), 0);
}

static const struct conformance_case cases[] = {
    {"all_memory_is_given_back", all_memory_is_given_back, 0},
    {"out_of_memory_anywhere_is_survived", out_of_memory_anywhere_is_survived, 0},
    {"steady_stream_allocates_nothing", steady_stream_allocates_nothing, 0},
};

const struct conformance_group memory_cases = {"memory", cases, COUNT_OF(cases)};
