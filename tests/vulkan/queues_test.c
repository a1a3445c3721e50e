/*
 * queues_test.c: which queues a batch goes to, with the default limits. That the bytes are
 * right whatever the order is the differential test's: here it is only looked at in passing.
 *
 * Runs with the layer of queue_layer.c: three compute queues of family 0, one transfer queue of family 2,
 * and memory that the host does not see.
 */
#include "vulkan/subject.h"

enum { ARMS = 3, GROUPS = 1024, WORDS = GROUPS * 64, COMPUTE = 0, TRANSFER = 2 };

static struct {
    uint64_t (*submits)(uint32_t family, uint32_t index);
    uint64_t (*waits)(void);
} layer;

static uint32_t up[WORDS], down[ARMS][WORDS];

struct counts {
    uint64_t compute[ARMS];
    uint64_t transfer;
    uint64_t waits;
};

static struct counts count(void)
{
    struct counts counts = {.transfer = layer.submits(TRANSFER, 0), .waits = layer.waits()};
    for (uint32_t i = 0; i < ARMS; i++)
        counts.compute[i] = layer.submits(COMPUTE, i);
    return counts;
}

/* What has been submitted since. */
static struct counts since(struct counts before)
{
    struct counts now = count();
    for (uint32_t i = 0; i < ARMS; i++)
        now.compute[i] -= before.compute[i];
    now.transfer -= before.transfer;
    now.waits -= before.waits;
    return now;
}

static void open_all(struct subject *s, struct vyre_buffer *out_buffers[ARMS])
{
    subject_open(s);
    subject_find(VYRE_TEST_QUEUE_LAYER, "vyre_queues_submits", &layer.submits);
    subject_find(VYRE_TEST_QUEUE_LAYER, "vyre_queues_waits", &layer.waits);
    for (int i = 0; i < ARMS; i++)
        out_buffers[i] = subject_buffer(s, NULL, sizeof up);
}

/* Two dependent dispatches on each buffer. */
static struct vyre_batch *fan_out(struct subject *s, struct vyre_buffer *const buffers[ARMS],
                                  uint32_t groups)
{
    struct vyre_batch *batch = subject_batch(s, NULL);
    for (uint32_t step = 0; step < 2; step++) {
        for (uint32_t i = 0; i < ARMS; i++)
            subject_dispatch(s, batch, (struct vyre_range){.buffer = buffers[i]}, groups,
                             (struct subject_constants){i + 1, 2});
    }
    return batch;
}

/* What `times` runs of the fan-out leave. */
static void check_all(struct subject *s, struct vyre_buffer *const buffers[ARMS], uint32_t words,
                      uint32_t times)
{
    struct vyre_batch *batch = subject_batch(s, NULL);
    for (int i = 0; i < ARMS; i++)
        vyre_batch_download(batch, (struct vyre_range){.buffer = buffers[i]}, down[i]);
    subject_wait(s, subject_submit(s, batch, VYRE_MODE_PLAIN));
    for (uint32_t i = 0; i < ARMS; i++) {
        uint32_t wanted = subject_result(0, (struct subject_constants){i + 1, 4 * times});
        for (uint32_t j = 0; j < WORDS; j++)
            assert_int_equal(down[i][j], j < words ? wanted : 0);
    }
}

static void device_states_its_queues(void **state)
{
    (void)state;
    struct subject s;
    struct vyre_feature features[32];
    bool compute = false, transfer = false;
    subject_open(&s);
    size_t features_count = vyre_device_features(s.device, features, 32);
    for (size_t i = 0; i < features_count && i < 32; i++) {
        compute |= strcmp(features[i].name, "extra-compute-queues") == 0 &&
                   strncmp(features[i].value, "2,", 2) == 0;
        transfer |= strcmp(features[i].name, "transfer-queue") == 0 && features[i].value[0] != 0;
    }
    assert_true(compute);
    assert_true(transfer);
    subject_close(&s);
}

static void large_arms_go_to_queues_of_their_own(void **state)
{
    (void)state;
    static const enum vyre_mode modes[] = {VYRE_MODE_PLAIN, VYRE_MODE_REPLAY};
    struct subject s;
    struct vyre_buffer *buffers[ARMS];
    open_all(&s, buffers);
    struct vyre_batch *batch = fan_out(&s, buffers, GROUPS);
    for (uint32_t i = 0; i < 6; i++) {
        struct counts before = count();
        struct vyre_ticket ticket = subject_submit(&s, batch, modes[i % 2]);
        struct counts sent = since(before);
        /* One step each, and the end on the first queue; if it is timed, the beginning, too. */
        uint64_t timed = sent.compute[0] - 2;
        assert_true(timed <= 1);
        assert_int_equal(sent.compute[1], 1);
        assert_int_equal(sent.compute[2], 1);
        assert_int_equal(sent.transfer, 0);
        assert_int_equal(sent.waits, 4 + 2 * timed);
        if (i % 3 == 2)
            subject_wait(&s, ticket);
    }
    check_all(&s, buffers, WORDS, 6);
    subject_close(&s);
}

static void small_arms_share_a_queue(void **state)
{
    (void)state;
    struct subject s;
    struct vyre_buffer *buffers[ARMS];
    open_all(&s, buffers);
    struct vyre_batch *batch = fan_out(&s, buffers, 1);
    struct counts before = count();
    subject_wait(&s, subject_submit(&s, batch, VYRE_MODE_PLAIN));
    subject_wait(&s, subject_submit(&s, batch, VYRE_MODE_REPLAY));
    struct counts sent = since(before);
    assert_int_equal(sent.compute[0], 2);
    assert_int_equal(sent.compute[1] + sent.compute[2] + sent.transfer + sent.waits, 0);
    check_all(&s, buffers, 64, 2);
    subject_close(&s);
}

static void serial_variant_uses_one_queue(void **state)
{
    (void)state;
    struct subject s;
    struct vyre_buffer *buffers[ARMS];
    struct vyre_ticket ticket;
    open_all(&s, buffers);
    struct vyre_batch *batch = fan_out(&s, buffers, GROUPS);
    struct counts before = count();
    const struct vyre_submit_options options = {.mode = VYRE_MODE_PLAIN,
                                                .variant = VYRE_VARIANT_SERIAL};
    assert_int_equal(vyre_batch_submit(batch, &options, &ticket, &s.diag), VYRE_OK);
    subject_wait(&s, ticket);
    assert_int_equal(since(before).compute[0], 1);
    assert_int_equal(since(before).waits, 0);
    subject_close(&s);
}

/*
 * A kernel on one buffer, then a batch that begins with an upload: into another buffer it goes ahead on
 * the transfer queue, waiting for nothing; into the same one it waits.
 */
static void upload_goes_ahead(enum vyre_mode mode, bool same)
{
    struct subject s;
    struct vyre_buffer *buffers[ARMS];
    open_all(&s, buffers);
    struct vyre_buffer *target = buffers[same ? 0 : 1];
    struct vyre_batch *busy = subject_batch(&s, NULL);
    struct vyre_batch *batch = subject_batch(&s, NULL);
    for (uint32_t i = 0; i < WORDS; i++)
        up[i] = i;
    subject_dispatch(&s, busy, (struct vyre_range){.buffer = buffers[0]}, GROUPS,
                     (struct subject_constants){9, 1000});
    vyre_batch_upload(batch, (struct vyre_range){.buffer = target}, up);
    subject_dispatch(&s, batch, (struct vyre_range){.buffer = target}, GROUPS,
                     (struct subject_constants){5, 1});
    vyre_batch_download(batch, (struct vyre_range){.buffer = target}, down[0]);
    struct vyre_ticket running = subject_submit(&s, busy, VYRE_MODE_PLAIN);
    struct counts before = count();
    struct vyre_ticket ticket = subject_submit(&s, batch, mode);
    struct counts sent = since(before);
    bool pending = vyre_ticket_poll(s.device, running, &s.diag) == VYRE_BUSY;
    subject_wait(&s, ticket);
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(down[0][i], i * 3 + 5);
    if (same && mode == VYRE_MODE_PLAIN && pending) {
        assert_int_equal(sent.transfer, 0);
    } else if (!same || pending) {
        assert_int_equal(sent.transfer, 1);
        uint64_t timed = sent.compute[0] - 1;
        assert_true(timed <= 1);
        assert_int_equal(sent.waits, same ? 2 + timed : 1); /* the rest for the upload */
    }
    subject_close(&s);
}

static void upload_to_idle_bytes_goes_ahead_on_the_transfer_queue(void **state)
{
    (void)state;
    upload_goes_ahead(VYRE_MODE_PLAIN, false);
    upload_goes_ahead(VYRE_MODE_REPLAY, false);
}

static void upload_to_busy_bytes_waits(void **state)
{
    (void)state;
    upload_goes_ahead(VYRE_MODE_PLAIN, true);
    upload_goes_ahead(VYRE_MODE_REPLAY, true);
}

/* An upload to one buffer beside a kernel on another, in one batch, with something before both. */
static void transfers_beside_a_kernel_go_to_the_transfer_queue(void **state)
{
    (void)state;
    struct subject s;
    struct vyre_buffer *buffers[ARMS];
    open_all(&s, buffers);
    struct vyre_batch *batch = subject_batch(&s, NULL);
    subject_dispatch(&s, batch, (struct vyre_range){.buffer = buffers[0]}, GROUPS,
                     (struct subject_constants){3, 1});
    vyre_batch_copy(batch, (struct vyre_range){.buffer = buffers[1]},
                    (struct vyre_range){.buffer = buffers[2]});
    struct counts before = count();
    subject_wait(&s, subject_submit(&s, batch, VYRE_MODE_PLAIN));
    assert_int_equal(since(before).transfer, 1);
    subject_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_states_its_queues),
        cmocka_unit_test(large_arms_go_to_queues_of_their_own),
        cmocka_unit_test(small_arms_share_a_queue),
        cmocka_unit_test(serial_variant_uses_one_queue),
        cmocka_unit_test(upload_to_idle_bytes_goes_ahead_on_the_transfer_queue),
        cmocka_unit_test(upload_to_busy_bytes_waits),
        cmocka_unit_test(transfers_beside_a_kernel_go_to_the_transfer_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
