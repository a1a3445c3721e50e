/*
 * error_cases.c: what the building of a batch refuses. Every one is a sticky error with its id; the
 * batch and the device are fine after a reset.
 */
#include "conformance/conformance.h"

enum { WORDS = 64 };

/* A dispatch of `mix` that is right; each case spoils one thing. */
struct good {
    struct vyre_batch *batch;
    struct vyre_buffer *a;
    struct vyre_buffer *b;
    struct vyre_slot_binding slots[3];
    struct mix_constants constants;
    struct vyre_dispatch dispatch;
};

static void good_init(struct good *good, struct fixture *f)
{
    *good = (struct good){.batch = make_batch(f, f->device),
                          .a = make_buffer(f, f->device, WORDS * 4),
                          .b = make_buffer(f, f->device, WORDS * 4),
                          .constants = {1, WORDS}};
    good->slots[0] = (struct vyre_slot_binding){.slot = 0, .range = whole(good->a)};
    good->slots[1] = (struct vyre_slot_binding){.slot = 1, .range = whole(good->b)};
    good->dispatch = (struct vyre_dispatch){.kernel = make_kernel(f, f->device, KERNEL_MIX),
                                            .groups = {1, 1, 1},
                                            .bindings = good->slots,
                                            .binding_count = 2,
                                            .constants = &good->constants,
                                            .constants_size_bytes = sizeof good->constants};
}

/* Refused with `id`; nothing ran; after a reset the right dispatch runs. */
static void refuse_dispatch(struct fixture *f, struct good *good, enum vyre_diag_id id)
{
    struct vyre_slot_binding right[2] = {{.slot = 0, .range = whole(good->a)},
                                         {.slot = 1, .range = whole(good->b)}};
    struct mix_constants constants = {0, WORDS};
    vyre_batch_reset(good->batch);
    vyre_batch_dispatch(good->batch, &good->dispatch);
    assert_building_error(f, good->batch, id);
    vyre_batch_reset(good->batch);
    vyre_batch_dispatch(good->batch,
                        &(struct vyre_dispatch){.kernel = make_kernel(f, f->device, KERNEL_MIX),
                                                .groups = {1, 1, 1},
                                                .bindings = right,
                                                .binding_count = 2,
                                                .constants = &constants,
                                                .constants_size_bytes = sizeof constants});
    run_in(f, f->device, good->batch, VYRE_MODE_PLAIN);
    assert_int_equal(read_word(f, good->b, WORDS - 1), WORDS - 1);
}

static void dispatch_null_refused(struct fixture *f)
{
    struct good good;
    good_init(&good, f);
    struct vyre_kernel *kernel = good.dispatch.kernel;
    good.dispatch.kernel = NULL;
    refuse_dispatch(f, &good, VYRE_DIAG_ARGUMENT_NULL);
    good.dispatch.kernel = kernel;
    good.dispatch.constants = NULL;
    refuse_dispatch(f, &good, VYRE_DIAG_BATCH_CONSTANTS);
    good.dispatch.constants = &good.constants;
    good.slots[1].range.buffer = NULL;
    refuse_dispatch(f, &good, VYRE_DIAG_ARGUMENT_NULL);
}

static void dispatch_wrong_slots_refused(struct fixture *f)
{
    struct good good;
    good_init(&good, f);
    good.slots[1].slot = 5;
    vyre_batch_reset(good.batch);
    vyre_batch_dispatch(good.batch, &good.dispatch);
    assert_int_equal(vyre_batch_status(good.batch, &f->diag), VYRE_INVALID);
    assert_contains(f->diag.fix, "slot 5"); /* is the one to go; the kernel has these */
    assert_contains(f->diag.fix, "0, 1");
    refuse_dispatch(f, &good, VYRE_DIAG_BATCH_SLOT_UNKNOWN);
    good.slots[1].slot = 0;
    refuse_dispatch(f, &good, VYRE_DIAG_BATCH_SLOT_REPEATED);
    good.slots[1].slot = 1;
    good.dispatch.binding_count = 1;
    refuse_dispatch(f, &good, VYRE_DIAG_BATCH_SLOT_MISSING);
    good.dispatch.binding_count = 0;
    good.dispatch.bindings = NULL;
    refuse_dispatch(f, &good, VYRE_DIAG_BATCH_SLOT_MISSING);
}

static void dispatch_wrong_kind_of_slot_refused(struct fixture *f)
{
    struct good good;
    struct vyre_buffer *table[1];
    good_init(&good, f);
    table[0] = good.a;
    good.slots[0] = (struct vyre_slot_binding){.slot = 0, .table = table, .table_count = 1};
    refuse_dispatch(f, &good, VYRE_DIAG_BATCH_SLOT_KIND); /* a table for a range */
    good.slots[0] = (struct vyre_slot_binding){.slot = 0, .local_bytes = 64};
    refuse_dispatch(f, &good, VYRE_DIAG_BATCH_SLOT_KIND); /* local memory for a range */

    good.dispatch = (struct vyre_dispatch){.kernel = make_kernel(f, f->device, KERNEL_REVERSE),
                                           .groups = {1, 1, 1},
                                           .bindings = good.slots,
                                           .binding_count = 3};
    good.slots[0] = (struct vyre_slot_binding){.slot = 0, .range = whole(good.a)};
    good.slots[2] =
        (struct vyre_slot_binding){.slot = 2, .range = whole(make_buffer(f, f->device, 256))};
    refuse_dispatch(f, &good, VYRE_DIAG_BATCH_SLOT_KIND); /* a range for local memory */
    good.slots[2] = (struct vyre_slot_binding){.slot = 2, .table = table, .table_count = 1};
    refuse_dispatch(f, &good, VYRE_DIAG_BATCH_SLOT_KIND); /* a table for local memory */
}

static void dispatch_wrong_table_refused(struct fixture *f)
{
    struct good good;
    struct vyre_buffer *table[2];
    uint32_t count = f->limits.table_entries + 1;
    good_init(&good, f);
    table[0] = good.a;
    table[1] = NULL;
    good.dispatch = (struct vyre_dispatch){.kernel = make_kernel(f, f->device, KERNEL_TABLE_ADD),
                                           .groups = {1, 1, 1},
                                           .bindings = good.slots,
                                           .binding_count = 1};
    refuse_dispatch(f, &good, VYRE_DIAG_BATCH_SLOT_KIND); /* a range for a table */
    good.slots[0] = (struct vyre_slot_binding){.slot = 0, .table = table, .table_count = 0};
    refuse_dispatch(f, &good, VYRE_DIAG_BATCH_TABLE);
    good.slots[0].table_count = 2;
    refuse_dispatch(f, &good, VYRE_DIAG_ARGUMENT_NULL);
    struct vyre_buffer **many = calloc(count, sizeof *many);
    assert_non_null(many);
    for (uint32_t i = 0; i < count; i++)
        many[i] = good.a;
    good.slots[0].table = many;
    good.slots[0].table_count = count;
    refuse_dispatch(f, &good, VYRE_DIAG_BATCH_TABLE);
    free(many);
}

static void dispatch_wrong_range_refused(struct fixture *f)
{
    struct good good;
    size_t align = f->limits.range_alignment;
    good_init(&good, f);
    good.slots[0].range = range_of(good.a, 0, WORDS * 4 + 1);
    refuse_dispatch(f, &good, VYRE_DIAG_BUFFER_RANGE);
    good.slots[0].range = range_of(good.a, align, SIZE_MAX - align + 1);
    refuse_dispatch(f, &good, VYRE_DIAG_BUFFER_RANGE);
    good.slots[0].range = range_of(good.a, 4096, 0);
    refuse_dispatch(f, &good, VYRE_DIAG_BUFFER_RANGE);
    if (align > 1) {
        good.slots[0].range = range_of(good.a, align / 2, 4);
        refuse_dispatch(f, &good, VYRE_DIAG_BATCH_ALIGNMENT);
        good.slots[0].range = range_of(good.a, align - 1, 4);
        refuse_dispatch(f, &good, VYRE_DIAG_BATCH_ALIGNMENT);
    }
    good.slots[0].range = range_of(good.a, 0, 6); /* one word and a half */
    refuse_dispatch(f, &good, VYRE_DIAG_BATCH_BINDING_SIZE);
}

static void dispatch_smaller_than_declared_refused(struct fixture *f)
{
    struct vyre_binding_desc bindings[2];
    struct kernel_plan plan;
    struct good good;
    good_init(&good, f);
    kernel_plan_init(&plan, KERNEL_MIX);
    memcpy(bindings, plan.desc.bindings, sizeof bindings);
    bindings[0].element_count = WORDS;
    plan.desc.bindings = bindings;
    assert_ok(f, vyre_kernel_create(f->device, &plan.desc, &good.dispatch.kernel, &f->diag));
    good.slots[0].range = range_of(good.a, 0, WORDS * 4 - 4);
    refuse_dispatch(f, &good, VYRE_DIAG_BATCH_BINDING_SIZE);
}

static void dispatch_wrong_local_memory_refused(struct fixture *f)
{
    struct vyre_binding_desc bindings[3];
    struct kernel_plan plan;
    struct good good;
    good_init(&good, f);
    good.dispatch = (struct vyre_dispatch){.kernel = make_kernel(f, f->device, KERNEL_REVERSE),
                                           .groups = {1, 1, 1},
                                           .bindings = good.slots,
                                           .binding_count = 3};
    good.slots[2] = (struct vyre_slot_binding){.slot = 2};
    refuse_dispatch(f, &good, VYRE_DIAG_BATCH_LOCAL); /* given neither here nor there */
    if (f->limits.local_bytes < UINT32_MAX) {
        good.slots[2].local_bytes = f->limits.local_bytes + 1;
        refuse_dispatch(f, &good, VYRE_DIAG_BATCH_LOCAL);
    }
    kernel_plan_init(&plan, KERNEL_REVERSE);
    memcpy(bindings, plan.desc.bindings, sizeof bindings);
    bindings[2].element_count = LOCAL_SIZE;
    plan.desc.bindings = bindings;
    assert_ok(f, vyre_kernel_create(f->device, &plan.desc, &good.dispatch.kernel, &f->diag));
    good.slots[2].local_bytes = 2 * LOCAL_SIZE * 4; /* not what was declared */
    refuse_dispatch(f, &good, VYRE_DIAG_BATCH_LOCAL);
}

/* Ranges of one buffer that touch end to end are disjoint. */
static void dispatch_adjacent_ranges_accepted(struct fixture *f)
{
    size_t align = f->limits.range_alignment < 64 ? 64 : f->limits.range_alignment;
    struct good good;
    good_init(&good, f);
    struct vyre_buffer *large = make_buffer(f, f->device, 8 * align);
    good.constants.count = 4;
    good.slots[0].range = range_of(large, 0, 4 * align);
    good.slots[1].range = range_of(large, 4 * align, 4 * align);
    vyre_batch_dispatch(good.batch, &good.dispatch);
    run_in(f, f->device, good.batch, VYRE_MODE_PLAIN);
    assert_int_equal(read_word(f, large, align + 3), 3);
}

/* Two slots that only read may share bytes. */
static void dispatch_two_readers_of_one_range_accepted(struct fixture *f)
{
    uint32_t words[LOCAL_SIZE], expected[LOCAL_SIZE];
    struct vyre_kernel *sparse = make_kernel(f, f->device, KERNEL_SPARSE);
    struct vyre_batch *batch = make_batch(f, f->device);
    for (uint32_t i = 0; i < LOCAL_SIZE; i++) {
        words[i] = i;
        expected[i] = 1001 * i;
    }
    struct vyre_buffer *in = make_words(f, f->device, words, LOCAL_SIZE);
    struct vyre_buffer *out = make_buffer(f, f->device, sizeof words);
    struct vyre_slot_binding slots[] = {{.slot = 2, .range = whole(in)},
                                        {.slot = 5, .range = whole(in)},
                                        {.slot = 9, .range = whole(out)}};
    vyre_batch_dispatch(
        batch, &(struct vyre_dispatch){
                   .kernel = sparse, .groups = {1, 1, 1}, .bindings = slots, .binding_count = 3});
    run_in(f, f->device, batch, VYRE_MODE_PLAIN);
    assert_words(f, out, expected, LOCAL_SIZE);
}

static void dispatch_wrong_constants_refused(struct fixture *f)
{
    static const size_t sizes[] = {0, 4, 7, 9, 12, 128, 4096};
    struct good good;
    char bytes[4096] = {0};
    good_init(&good, f);
    good.dispatch.constants = bytes;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        good.dispatch.constants_size_bytes = sizes[i];
        refuse_dispatch(f, &good, VYRE_DIAG_BATCH_CONSTANTS);
    }
}

static void dispatch_above_group_limit_refused(struct fixture *f)
{
    struct good good;
    good_init(&good, f);
    for (size_t i = 0; i < 3; i++) {
        if (f->limits.group_count[i] == UINT32_MAX)
            continue;
        good.dispatch.groups[i] = f->limits.group_count[i] + 1;
        refuse_dispatch(f, &good, VYRE_DIAG_BATCH_GROUPS);
        good.dispatch.groups[i] = UINT32_MAX;
        refuse_dispatch(f, &good, VYRE_DIAG_BATCH_GROUPS);
        good.dispatch.groups[(i + 1) % 3] = 0; /* a no-op is checked all the same */
        refuse_dispatch(f, &good, VYRE_DIAG_BATCH_GROUPS);
        good.dispatch.groups[0] = good.dispatch.groups[1] = good.dispatch.groups[2] = 1;
    }
    /* A product of 2^64 or so must not wrap into something small. */
    for (size_t i = 0; i < 3; i++) {
        uint32_t most = i == 0 ? 1u << 16 : 1u << 24;
        good.dispatch.groups[i] = f->limits.group_count[i] < most ? f->limits.group_count[i] : most;
    }
    uint64_t layer = (uint64_t)good.dispatch.groups[0] * good.dispatch.groups[1];
    if (good.dispatch.groups[2] > VYRE_GROUPS_TOTAL_MAX / layer)
        refuse_dispatch(f, &good, VYRE_DIAG_BATCH_GROUPS);
}

static void transfer_wrong_argument_refused(struct fixture *f)
{
    struct vyre_buffer *data = make_buffer(f, f->device, 64);
    struct vyre_batch *batch = make_batch(f, f->device);
    struct vyre_range outside = range_of(data, 60, 8), nothing = {0}, far = range_of(data, 65, 0);
    char bytes[64] = {0};
    for (int i = 0; i < 16; i++) {
        enum vyre_diag_id id = i < 8 ? VYRE_DIAG_ARGUMENT_NULL : VYRE_DIAG_BUFFER_RANGE;
        vyre_batch_reset(batch);
        switch (i) {
        case 0:
            vyre_batch_fill(batch, nothing, 1);
            break;
        case 1:
            vyre_batch_copy(batch, nothing, whole(data));
            break;
        case 2:
            vyre_batch_copy(batch, whole(data), nothing);
            break;
        case 3:
            vyre_batch_upload(batch, nothing, bytes);
            break;
        case 4:
            vyre_batch_upload(batch, whole(data), NULL);
            break;
        case 5:
            vyre_batch_upload_borrowed(batch, whole(data), NULL);
            break;
        case 6:
            vyre_batch_download(batch, nothing, bytes);
            break;
        case 7:
            vyre_batch_download(batch, whole(data), NULL);
            break;
        case 8:
            vyre_batch_fill(batch, outside, 1);
            break;
        case 9:
            vyre_batch_upload(batch, outside, bytes);
            break;
        case 10:
            vyre_batch_upload_borrowed(batch, outside, bytes);
            break;
        case 11:
            vyre_batch_download(batch, outside, bytes);
            break;
        case 12:
            vyre_batch_copy(batch, outside, range_of(data, 0, 8));
            break;
        case 13:
            vyre_batch_copy(batch, range_of(data, 0, 8), outside);
            break;
        case 14:
            vyre_batch_upload(batch, far, bytes);
            break;
        default:
            vyre_batch_fill(batch, range_of(data, 4, SIZE_MAX - 3), 1);
        }
        assert_building_error(f, batch, id);
    }
}

static void foreign_objects_refused(struct fixture *f)
{
    struct vyre_device *other = open_device(f, NULL);
    struct vyre_buffer *mine = make_buffer(f, f->device, 64);
    struct vyre_buffer *theirs = make_buffer(f, other, 64);
    struct vyre_kernel *my_add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_kernel *their_add = make_kernel(f, other, KERNEL_ADD);
    struct vyre_batch *batch = make_batch(f, f->device);
    char bytes[64] = {0};
    for (int i = 0; i < 7; i++) {
        vyre_batch_reset(batch);
        switch (i) {
        case 0:
            add_add(batch, their_add, whole(mine), 1, 16);
            break;
        case 1:
            add_add(batch, my_add, whole(theirs), 1, 16);
            break;
        case 2:
            vyre_batch_copy(batch, whole(theirs), whole(mine));
            break;
        case 3:
            vyre_batch_copy(batch, whole(mine), whole(theirs));
            break;
        case 4:
            vyre_batch_fill(batch, whole(theirs), 1);
            break;
        case 5:
            vyre_batch_upload(batch, whole(theirs), bytes);
            break;
        default:
            vyre_batch_download(batch, whole(theirs), bytes);
        }
        assert_building_error(f, batch, VYRE_DIAG_BATCH_FOREIGN);
    }
}

static void batch_beyond_limit_refused(struct fixture *f)
{
    static char bytes[1 << 20];
    struct vyre_device *device =
        open_device(f, &(struct vyre_device_desc){.batch_bytes_limit = 1 << 18});
    struct vyre_buffer *data = make_buffer(f, device, sizeof bytes);
    struct vyre_batch *batch = make_batch(f, device);
    for (size_t round = 0; round < 3; round++) {
        vyre_batch_reset(batch);
        vyre_batch_upload(batch, whole(data), bytes);
        assert_building_error(f, batch, VYRE_DIAG_BATCH_LIMIT);

        vyre_batch_reset(batch); /* many small commands reach it as well */
        for (size_t i = 0; i < 1 << 16; i++)
            vyre_batch_fill(batch, whole(data), 1);
        assert_building_error(f, batch, VYRE_DIAG_BATCH_LIMIT);

        vyre_batch_reset(batch); /* borrowed bytes do not count */
        vyre_batch_upload_borrowed(batch, whole(data), bytes);
        run_in(f, device, batch, VYRE_MODE_PLAIN);
    }
}

/* A successful call leaves the diagnostic as it was. */
static void success_leaves_diagnostic_alone(struct fixture *f)
{
    struct vyre_diag diag, before;
    struct vyre_instance *instance = NULL;
    struct vyre_device_desc desc = {.backend = f->subject->backend,
                                    .name = f->subject->device_name,
                                    .index = f->subject->device_index};
    struct vyre_batch_result result;
    struct vyre_ticket ticket;
    struct kernel_plan plan;
    enum vyre_mode modes[4];
    uint32_t words[WORDS] = {0};
    kernel_plan_init(&plan, KERNEL_ADD);
    memset(&diag, 0x5a, sizeof diag);
    before = diag;
    assert_int_equal(vyre_instance_create(NULL, &instance, &diag), VYRE_OK);
    vyre_instance_destroy(&instance);
    assert_int_equal(vyre_device_open(f->instance, &desc, &f->devices[0], &diag), VYRE_OK);
    struct vyre_device *device = f->devices[0];
    struct vyre_buffer *data = make_buffer(f, device, sizeof words);
    struct vyre_kernel *add = NULL;
    struct vyre_batch *batch = NULL;
    assert_int_equal(vyre_kernel_create(device, &plan.desc, &add, &diag), VYRE_OK);
    assert_int_equal(vyre_buffer_write(data, 0, words, sizeof words, &diag), VYRE_OK);
    assert_int_equal(vyre_batch_create(device, NULL, &batch, &diag), VYRE_OK);
    add_add(batch, add, whole(data), 1, WORDS);
    assert_int_equal(vyre_batch_status(batch, &diag), VYRE_OK);
    size_t mode_count = device_modes(device, modes);
    modes[mode_count++] = VYRE_MODE_AUTO;
    for (size_t i = 0; i < mode_count; i++) {
        struct vyre_submit_options options = {.mode = modes[i]};
        assert_int_equal(vyre_batch_warm_up(batch, modes[i], &diag), VYRE_OK);
        assert_int_equal(vyre_batch_submit(batch, &options, &ticket, &diag), VYRE_OK);
        assert_int_equal(vyre_ticket_wait(device, ticket, VYRE_FOREVER, &diag), VYRE_OK);
        assert_int_equal(vyre_ticket_poll(device, ticket, &diag), VYRE_OK);
        assert_int_equal(vyre_ticket_result(device, ticket, &result, &diag), VYRE_OK);
        assert_int_equal(vyre_device_wait_idle(device, VYRE_FOREVER, &diag), VYRE_OK);
    }
    assert_int_equal(vyre_buffer_read(data, 0, words, sizeof words, &diag), VYRE_OK);
    assert_memory_equal(&diag, &before, sizeof diag);
    assert_int_equal(words[WORDS - 1], mode_count);
}

static const struct conformance_case cases[] = {
    {"dispatch_null_refused", dispatch_null_refused, 0},
    {"dispatch_wrong_slots_refused", dispatch_wrong_slots_refused, 0},
    {"dispatch_wrong_kind_of_slot_refused", dispatch_wrong_kind_of_slot_refused, 0},
    {"dispatch_wrong_table_refused", dispatch_wrong_table_refused, NEEDS(BINDLESS)},
    {"dispatch_wrong_range_refused", dispatch_wrong_range_refused, 0},
    {"dispatch_smaller_than_declared_refused", dispatch_smaller_than_declared_refused, 0},
    {"dispatch_wrong_local_memory_refused", dispatch_wrong_local_memory_refused, 0},
    {"dispatch_adjacent_ranges_accepted", dispatch_adjacent_ranges_accepted, 0},
    {"dispatch_two_readers_of_one_range_accepted", dispatch_two_readers_of_one_range_accepted, 0},
    {"dispatch_wrong_constants_refused", dispatch_wrong_constants_refused, 0},
    {"dispatch_above_group_limit_refused", dispatch_above_group_limit_refused, 0},
    {"transfer_wrong_argument_refused", transfer_wrong_argument_refused, 0},
    {"foreign_objects_refused", foreign_objects_refused, 0},
    {"success_leaves_diagnostic_alone", success_leaves_diagnostic_alone, 0},
    {"batch_beyond_limit_refused", batch_beyond_limit_refused, 0},
};

const struct conformance_group error_cases = {"error", cases, COUNT_OF(cases)};
