/*
 * watch_test.c: what the driver gets: labels through VK_EXT_debug_utils, and which uploads are copied
 * by the host beside a running kernel.
 *
 * Runs with the layer of watch_layer.c, which the Vulkan loader brings in by its environment.
 */
#include <vulkan/vulkan_core.h>

#include "vulkan/subject.h"

static struct {
    int (*noted)(int type, const char *text);
    int (*note_count)(void);
    int (*open_labels)(void);
    int (*copies)(void);
} layer;

static void find_layer(void)
{
    subject_find(VYRE_TEST_WATCH_LAYER, "vyre_watch_noted", &layer.noted);
    subject_find(VYRE_TEST_WATCH_LAYER, "vyre_watch_note_count", &layer.note_count);
    subject_find(VYRE_TEST_WATCH_LAYER, "vyre_watch_open_labels", &layer.open_labels);
    subject_find(VYRE_TEST_WATCH_LAYER, "vyre_watch_copies", &layer.copies);
}

/* ---- Labels ----------------------------------------------------------------------------------- */

static void labels_of_objects_and_batches_reach_the_driver(void **state)
{
    (void)state;
    struct subject s;
    subject_open(&s);
    find_layer();
    assert_int_equal(layer.noted(VK_OBJECT_TYPE_BUFFER, "the buffer"), 0);
    assert_int_equal(layer.noted(0, "the plain batch"), 0);
    struct vyre_buffer *buffer = subject_buffer(&s, "the buffer", 4096);
    assert_int_equal(layer.noted(VK_OBJECT_TYPE_BUFFER, "the buffer"), 1);

    struct vyre_batch *plain = subject_batch(&s, "the plain batch");
    subject_dispatch(&s, plain, (struct vyre_range){.buffer = buffer}, 16,
                     (struct subject_constants){1, 1});
    subject_wait(&s, subject_submit(&s, plain, VYRE_MODE_PLAIN));
    assert_true(layer.noted(VK_OBJECT_TYPE_PIPELINE, "the kernel") >= 1);
    assert_int_equal(layer.noted(0, "the plain batch"), 1);

    /* A recording is labelled when it is made, and not again. */
    struct vyre_batch *recorded = subject_batch(&s, "the recorded batch");
    subject_dispatch(&s, recorded, (struct vyre_range){.buffer = buffer}, 16,
                     (struct subject_constants){2, 1});
    for (int i = 0; i < 3; i++)
        subject_wait(&s, subject_submit(&s, recorded, VYRE_MODE_REPLAY));
    assert_int_equal(layer.noted(0, "the recorded batch"), 1);
    assert_int_equal(layer.open_labels(), 0);
    subject_close(&s);
}

static void without_labels_nothing_is_said(void **state)
{
    (void)state;
    struct subject s;
    subject_open(&s);
    find_layer();
    struct vyre_buffer *warm = subject_buffer(&s, NULL, 4096);
    struct vyre_batch *batch = subject_batch(&s, NULL);
    subject_dispatch(&s, batch, (struct vyre_range){.buffer = warm}, 16,
                     (struct subject_constants){1, 1});
    subject_wait(&s, subject_submit(&s, batch, VYRE_MODE_PLAIN)); /* the kernel has its pipeline */
    int before = layer.note_count();
    struct vyre_buffer *buffer = subject_buffer(&s, NULL, 4096);
    assert_non_null(buffer);
    subject_wait(&s, subject_submit(&s, batch, VYRE_MODE_PLAIN));
    subject_wait(&s, subject_submit(&s, batch, VYRE_MODE_REPLAY));
    assert_int_equal(layer.note_count(), before);
    subject_close(&s);
}

/* ---- Uploads beside a kernel ------------------------------------------------------------------ */

enum { WORDS = 65536, HALF = WORDS / 2 };

static uint32_t up[HALF], down[WORDS];

static bool is_pending(struct subject *s, struct vyre_ticket ticket)
{
    return vyre_ticket_poll(s->device, ticket, &s->diag) == VYRE_BUSY;
}

/* Submits an upload of half the buffer; returns how many copies were recorded for the device. */
static int upload_half(struct subject *s, struct vyre_buffer *buffer, uint32_t half,
                       uint32_t first_word)
{
    struct vyre_batch *batch = subject_batch(s, NULL);
    for (uint32_t i = 0; i < HALF; i++)
        up[i] = first_word + i;
    vyre_batch_upload(batch,
                      (struct vyre_range){.buffer = buffer,
                                          .offset_bytes = (size_t)half * HALF * 4,
                                          .size_bytes = sizeof up},
                      up);
    int before = layer.copies();
    (void)subject_submit(s, batch, VYRE_MODE_PLAIN);
    int copies = layer.copies() - before;
    vyre_batch_destroy(&batch);
    return copies;
}

/*
 * One try: a kernel on the lower half, then uploads to the upper half, which it does not touch, and to
 * the lower half. False when the kernel was done too soon for that to say anything.
 */
static bool upload_beside_kernel(struct subject *s, struct vyre_buffer *buffer, uint32_t rounds)
{
    const struct vyre_range lower = {.buffer = buffer, .size_bytes = HALF * 4};
    struct vyre_batch *busy = subject_batch(s, NULL);
    subject_dispatch(s, busy, lower, HALF / 64, (struct subject_constants){7, rounds});
    struct vyre_ticket ticket = subject_submit(s, busy, VYRE_MODE_PLAIN);
    int beside = upload_half(s, buffer, 1, 1000);
    int behind = upload_half(s, buffer, 0, 5000);
    bool pending = is_pending(s, ticket);
    vyre_batch_destroy(&busy);
    struct vyre_batch *read = subject_batch(s, NULL);
    vyre_batch_download(read, (struct vyre_range){.buffer = buffer}, down);
    subject_wait(s, subject_submit(s, read, VYRE_MODE_PLAIN));
    vyre_batch_destroy(&read);
    for (uint32_t i = 0; i < HALF; i++) {
        assert_int_equal(down[i], 5000 + i);
        assert_int_equal(down[HALF + i], 1000 + i);
    }
    if (pending) {
        assert_int_equal(beside, 0);
        assert_int_equal(behind, 1);
    }
    return pending;
}

static void upload_beside_a_kernel_is_copied_by_the_host_if_ranges_are_disjoint(void **state)
{
    (void)state;
    struct subject s;
    subject_open(&s);
    find_layer();
    struct vyre_buffer *buffer = subject_buffer(&s, NULL, WORDS * 4);
    bool seen = false;
    for (uint32_t rounds = 2000; !seen && rounds < 60000; rounds *= 2)
        seen = upload_beside_kernel(&s, buffer, rounds);
    assert_true(seen);
    subject_close(&s);
}

/* Nothing in flight: the same bytes need no copy either. */
static void upload_to_an_idle_device_is_copied_by_the_host(void **state)
{
    (void)state;
    struct subject s;
    subject_open(&s);
    find_layer();
    struct vyre_buffer *buffer = subject_buffer(&s, NULL, WORDS * 4);
    assert_int_equal(upload_half(&s, buffer, 0, 1), 0);
    subject_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_of_objects_and_batches_reach_the_driver),
        cmocka_unit_test(without_labels_nothing_is_said),
        cmocka_unit_test(upload_beside_a_kernel_is_copied_by_the_host_if_ranges_are_disjoint),
        cmocka_unit_test(upload_to_an_idle_device_is_copied_by_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
