/*
 * gate_test.c: submits beside threads that take what has ended: the helper, which calls back, and callers
 * that wait.
 *
 * Runs with the layer of gate_layer.c: between any two calls of the driver that a submit makes, another
 * thread takes one of the batches that were in flight before. The bytes must be right, and the thread
 * sanitizer must be silent: what submit changes and those threads read needs the flight's lock.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "vulkan/subject.h"

enum {
    WORDS = 4096,
    HELD = 64,       /* more than one submit makes calls */
    SUBMITS_MAX = 8, /* beside the others */
    HELD_WORDS = 16,
    SMALL_STAGING = 4096,
};

static struct {
    void (*hold)(void);
    void (*begin)(const _Atomic int *ended);
    int (*end)(void);
} layer;

/* The thread that finds out that batches have ended. */
enum teller { HELPER, WAITER };

struct scene {
    struct subject s;
    enum teller teller;
    struct vyre_buffer *buffer;
    struct vyre_ticket held[HELD];
    struct vyre_ticket last;
    _Atomic int ended; /* of the held ones; relaxed, see gate_layer.c */
    uint32_t held_down[HELD][HELD_WORDS];
    uint32_t up[SUBMITS_MAX][WORDS], down[SUBMITS_MAX][WORDS];
};

static void enter(struct scene *scene, enum teller teller, uint64_t staging_bytes)
{
    *scene = (struct scene){.teller = teller};
    subject_open_as(
        &scene->s, &(struct vyre_device_desc){.backend = "vulkan", .staging_bytes = staging_bytes});
    subject_find(VYRE_TEST_GATE_LAYER, "vyre_gate_hold", &layer.hold);
    subject_find(VYRE_TEST_GATE_LAYER, "vyre_gate_begin", &layer.begin);
    subject_find(VYRE_TEST_GATE_LAYER, "vyre_gate_end", &layer.end);
    scene->buffer = subject_buffer(&scene->s, NULL, sizeof scene->up[0]);
}

/* ---- Batches that are held -------------------------------------------------------------------- */

static void count_end(void *user, struct vyre_ticket ticket, const struct vyre_batch_result *result)
{
    struct scene *scene = user;
    (void)ticket;
    (void)result;
    atomic_fetch_add_explicit(&scene->ended, 1, memory_order_relaxed);
}

static void *wait_for_all(void *argument)
{
    struct scene *scene = argument;
    for (int i = 0; i < HELD; i++) {
        /* Not subject_wait: the diagnostic is the other thread's. */
        if (vyre_ticket_wait(scene->s.device, scene->held[i], VYRE_FOREVER, NULL) != VYRE_OK)
            break; /* the gate stays shut, and the test ends by its time limit */
        atomic_fetch_add_explicit(&scene->ended, 1, memory_order_relaxed);
    }
    return NULL;
}

/* All kinds of what a batch can hold: a frame, a piece of staging memory, a timer, a recording. */
static void submit_held(struct scene *scene, bool moves_bytes)
{
    const struct vyre_range range = {.buffer = scene->buffer, .size_bytes = HELD_WORDS * 4};
    atomic_store_explicit(&scene->ended, 0, memory_order_relaxed);
    layer.hold();
    for (int i = 0; i < HELD; i++) {
        struct vyre_batch *batch = subject_batch(&scene->s, NULL);
        const struct vyre_submit_options options = {
            .mode = i % 3 == 2 ? VYRE_MODE_REPLAY : VYRE_MODE_PLAIN,
            .timed = i % 3 == 1,
            .on_complete = scene->teller == HELPER ? count_end : NULL,
            .user = scene};
        vyre_batch_fill(batch, range, (uint32_t)i);
        if (moves_bytes && i % 3 == 0)
            vyre_batch_download(batch, range, scene->held_down[i]);
        assert_int_equal(vyre_batch_submit(batch, &options, &scene->held[i], NULL), VYRE_OK);
        vyre_batch_destroy(&batch);
    }
}

static void check_held(const struct scene *scene)
{
    for (uint32_t i = 0; i < HELD; i += 3) {
        for (int word = 0; word < HELD_WORDS; word++)
            assert_int_equal(scene->held_down[i][word], i);
    }
}

/* ---- Batches that are submitted beside them --------------------------------------------------- */

static const struct subject_constants constants = {11, 2};

static struct vyre_batch *make_batch(struct scene *scene, int index, uint32_t words)
{
    struct vyre_batch *batch = subject_batch(&scene->s, NULL);
    const struct vyre_range range = {.buffer = scene->buffer, .size_bytes = (size_t)words * 4};
    for (uint32_t i = 0; i < words; i++)
        scene->up[index][i] = (uint32_t)index * 1000 + i;
    if (index % 2 == 0)
        vyre_batch_upload(batch, range, scene->up[index]);
    else
        vyre_batch_upload_borrowed(batch, range, scene->up[index]);
    subject_dispatch(&scene->s, batch, range, words / 64, constants);
    vyre_batch_download(batch, range, scene->down[index]);
    return batch;
}

static void check_batch(const struct scene *scene, int index, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++)
        assert_int_equal(scene->down[index][i], subject_result(scene->up[index][i], constants));
}

/* Submits batches of these sizes (0 ends the list); returns how many of the held ones are left. */
static int submit_beside(struct scene *scene, enum vyre_mode mode, const uint32_t *words)
{
    struct vyre_batch *batches[SUBMITS_MAX];
    pthread_t waiter;
    int count = 0;
    for (; words[count]; count++)
        batches[count] = make_batch(scene, count, words[count]);
    if (scene->teller == WAITER)
        assert_int_equal(pthread_create(&waiter, NULL, wait_for_all, scene), 0);
    layer.begin(&scene->ended);
    for (int i = 0; i < count; i++) {
        const struct vyre_submit_options options = {.mode = mode, .timed = i % 2 == 1};
        assert_int_equal(vyre_batch_submit(batches[i], &options, &scene->last, NULL), VYRE_OK);
    }
    int left = layer.end();
    subject_wait(&scene->s, scene->last);
    if (scene->teller == WAITER)
        pthread_join(waiter, NULL);
    for (int i = 0; i < count; i++) {
        check_batch(scene, i, words[i]);
        vyre_batch_destroy(&batches[i]);
    }
    return left;
}

/* ---- Cases ------------------------------------------------------------------------------------ */

static void submit_that_makes_the_staging_memory(enum teller teller)
{
    static const uint32_t words[] = {256, 0};
    static struct scene scene;
    enter(&scene, teller, 0);
    submit_held(&scene, false);
    /* Something was left to let through at every call. */
    assert_true(submit_beside(&scene, VYRE_MODE_PLAIN, words) > 0);
    subject_close(&scene.s);
}

static void submits_that_go_round_the_staging_memory(enum teller teller)
{
    /* In bytes up to four times the ring. */
    static const uint32_t words[] = {64, 256, 192, 512, 2048, 128, 4096, 0};
    static struct scene scene;
    enter(&scene, teller, SMALL_STAGING);
    for (int round = 0; round < 3; round++) {
        submit_held(&scene, true);
        (void)submit_beside(&scene, VYRE_MODE_PLAIN, words);
        check_held(&scene);
    }
    subject_close(&scene.s);
}

static void submits_of_recordings(enum teller teller)
{
    /* The same size is the same shape: the second take, and a third use that waits. */
    static const uint32_t words[] = {64, 64, 64, 1024, 1024, 4096, 0};
    static struct scene scene;
    enter(&scene, teller, SMALL_STAGING);
    for (int round = 0; round < 3; round++) {
        submit_held(&scene, true);
        (void)submit_beside(&scene, VYRE_MODE_REPLAY, words);
        check_held(&scene);
    }
    subject_close(&scene.s);
}

static void staging_made_beside_the_helper_is_ordered(void **state)
{
    (void)state;
    submit_that_makes_the_staging_memory(HELPER);
}

static void staging_made_beside_a_waiter_is_ordered(void **state)
{
    (void)state;
    submit_that_makes_the_staging_memory(WAITER);
}

static void plain_submits_beside_the_helper_are_ordered(void **state)
{
    (void)state;
    submits_that_go_round_the_staging_memory(HELPER);
}

static void plain_submits_beside_a_waiter_are_ordered(void **state)
{
    (void)state;
    submits_that_go_round_the_staging_memory(WAITER);
}

static void replays_beside_the_helper_are_ordered(void **state)
{
    (void)state;
    submits_of_recordings(HELPER);
}

static void replays_beside_a_waiter_are_ordered(void **state)
{
    (void)state;
    submits_of_recordings(WAITER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(staging_made_beside_the_helper_is_ordered),
        cmocka_unit_test(staging_made_beside_a_waiter_is_ordered),
        cmocka_unit_test(plain_submits_beside_the_helper_are_ordered),
        cmocka_unit_test(plain_submits_beside_a_waiter_are_ordered),
        cmocka_unit_test(replays_beside_the_helper_are_ordered),
        cmocka_unit_test(replays_beside_a_waiter_are_ordered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
