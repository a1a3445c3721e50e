/*
 * destroy_in_flight_test.c: what work in flight uses may be destroyed: the work is not touched,
 * later submits fail with the reason, and nothing recorded for the old object is taken for the new one.
 */
#include "runtime/cpu_fixture.h"

enum { GROUPS = 8, WORDS = GROUPS * GROUP_WORDS, PAUSE_US = 20000 };

static const enum vyre_mode required_modes[] = {VYRE_MODE_PLAIN, VYRE_MODE_REPLAY,
                                                VYRE_MODE_PERSISTENT};

static atomic_uint groups_run;
static atomic_uint callbacks;

/* Long enough for the test to destroy things behind it. */
static void pause_first(const struct vyre_host_group *group)
{
    (void)group;
    sleep_us(PAUSE_US);
}

static void count_group(const struct vyre_host_group *group)
{
    bump(group);
    atomic_fetch_add(&groups_run, 1);
}

struct scene {
    struct fixture fixture;
    struct vyre_kernel *pause;
    struct vyre_kernel *bump;
    struct vyre_buffer *buffer;
    struct vyre_batch *batch; /* pauses, bumps by 3, downloads */
    uint32_t downloaded[WORDS];
};

static void build(struct scene *scene)
{
    uint32_t amount = 3;
    vyre_batch_reset(scene->batch);
    add_in_place(scene->batch, scene->pause, 1, scene->buffer, NULL, 0);
    add_in_place(scene->batch, scene->bump, GROUPS, scene->buffer, &amount, 1);
    vyre_batch_download(scene->batch, whole(scene->buffer), scene->downloaded);
}

static void scene_open(struct scene *scene)
{
    memset(scene, 0, sizeof *scene);
    atomic_store(&groups_run, 0);
    fixture_open(&scene->fixture,
                 &(struct vyre_device_desc){.cpu_workers = 2, .cpu_no_inline = true});
    scene->pause = kernel_in_place(scene->fixture.device, "pause", pause_first, 0);
    scene->bump = kernel_in_place(scene->fixture.device, "bump", count_group, 1);
    scene->buffer = buffer_of_groups(scene->fixture.device, GROUPS);
    scene->batch = batch_of(scene->fixture.device);
    build(scene);
}

static void assert_downloaded(const struct scene *scene, uint32_t expected)
{
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(scene->downloaded[i], expected);
}

static void assert_stale(struct scene *scene, enum vyre_mode mode)
{
    struct vyre_diag diag = {0};
    struct vyre_ticket ticket = {1, 1};
    struct vyre_submit_options options = {.mode = mode};
    assert_diag(vyre_batch_submit(scene->batch, &options, &ticket, &diag), diag,
                VYRE_DIAG_BATCH_STALE);
    assert_int_equal(ticket.device, 0);
    assert_int_equal(ticket.sequence, 0);
}

static void check_buffer(enum vyre_mode mode)
{
    struct scene scene;
    scene_open(&scene);
    struct vyre_ticket ticket = submit_in(scene.batch, mode);
    vyre_buffer_destroy(&scene.buffer);
    assert_null(scene.buffer);
    assert_stale(&scene, mode);
    struct vyre_buffer *other = buffer_of_groups(scene.fixture.device, GROUPS);
    wait_for(scene.fixture.device, ticket);
    assert_downloaded(&scene, 3);
    uint32_t words[WORDS];
    struct vyre_diag diag = {0};
    assert_ok(vyre_buffer_read(other, 0, words, sizeof words, &diag), &diag);
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(words[i], 0);
    fixture_close(&scene.fixture);
}

static void buffer_destroyed_in_flight_work_is_not_touched(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_modes); i++)
        check_buffer(all_modes[i]);
}

static void check_kernel(enum vyre_mode mode)
{
    struct scene scene;
    scene_open(&scene);
    struct vyre_ticket first = submit_in(scene.batch, mode);
    struct vyre_ticket second = submit_in(scene.batch, mode);
    vyre_kernel_destroy(&scene.bump);
    assert_null(scene.bump);
    assert_stale(&scene, mode);
    wait_for(scene.fixture.device, second);
    wait_for(scene.fixture.device, first);
    assert_downloaded(&scene, 6);
    fixture_close(&scene.fixture);
}

static void kernel_destroyed_in_flight_work_is_not_touched(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_modes); i++)
        check_kernel(all_modes[i]);
}

static void check_batch(enum vyre_mode mode)
{
    struct scene scene;
    scene_open(&scene);
    submit_in(scene.batch, mode);
    uint32_t amount = 100;
    vyre_batch_set_constants(scene.batch, 1, &amount, sizeof amount);
    struct vyre_ticket ticket = submit_in(scene.batch, mode);
    vyre_batch_reset(scene.batch);
    vyre_batch_fill(scene.batch, whole(scene.buffer), 1);
    vyre_batch_destroy(&scene.batch);
    assert_null(scene.batch);
    wait_for(scene.fixture.device, ticket);
    assert_downloaded(&scene, 103);
    fixture_close(&scene.fixture);
}

static void batch_destroyed_in_flight_work_is_not_touched(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_modes); i++)
        check_batch(all_modes[i]);
}

/* The new buffer may well have the old one's address: it must not get the old one's recording. */
static void check_recreated(enum vyre_mode mode)
{
    struct scene scene;
    scene_open(&scene);
    struct vyre_diag diag = {0};
    for (uint32_t round = 1; round <= 8; round++) {
        uint32_t start = round * 1000;
        vyre_batch_reset(scene.batch);
        vyre_batch_fill(scene.batch, whole(scene.buffer), start);
        add_in_place(scene.batch, scene.bump, GROUPS, scene.buffer, &round, 1);
        vyre_batch_download(scene.batch, whole(scene.buffer), scene.downloaded);
        submit_in(scene.batch, mode);
        struct vyre_ticket ticket = submit_in(scene.batch, mode);
        struct vyre_buffer *next = buffer_of_groups(scene.fixture.device, GROUPS);
        if (round % 2 == 0) {
            wait_for(scene.fixture.device, ticket);
            uint32_t words[WORDS];
            assert_ok(vyre_buffer_read(scene.buffer, 0, words, sizeof words, &diag), &diag);
            for (uint32_t i = 0; i < WORDS; i++)
                assert_int_equal(words[i], start + round);
        }
        vyre_buffer_destroy(&scene.buffer);
        scene.buffer = next;
        wait_for(scene.fixture.device, ticket);
        assert_downloaded(&scene, start + round);
    }
    fixture_close(&scene.fixture);
}

static void buffer_created_again_has_no_old_recording(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(required_modes); i++)
        check_recreated(required_modes[i]);
}

static void completed(void *user, struct vyre_ticket ticket, const struct vyre_batch_result *result)
{
    (void)user;
    (void)ticket;
    if (result->status == VYRE_OK)
        atomic_fetch_add(&callbacks, 1);
}

static void check_close(enum vyre_mode mode)
{
    struct scene scene;
    scene_open(&scene);
    atomic_store(&callbacks, 0);
    for (uint32_t i = 0; i < 5; i++) {
        struct vyre_diag diag = {0};
        struct vyre_submit_options options = {.mode = mode, .on_complete = completed};
        assert_ok(vyre_batch_submit(scene.batch, &options, NULL, &diag), &diag);
    }
    fixture_close(&scene.fixture); /* and nothing is left behind */
    assert_int_equal(atomic_load(&groups_run), 5 * GROUPS);
    assert_int_equal(atomic_load(&callbacks), 5);
    assert_downloaded(&scene, 15);
}

static void device_closed_in_flight_all_work_is_done(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_modes); i++)
        check_close(all_modes[i]);
}

/* Memory kept alive for work in flight is given back: a long run of it does not pile up. */
enum { ROUNDS = 4000, SLACK_BYTES = 256 * 1024 };

static void check_given_back(enum vyre_mode mode)
{
    struct fixture fixture;
    fixture_open(&fixture, &(struct vyre_device_desc){
                               .cpu_workers = 2, .in_flight_limit = 16, .recording_limit = 8});
    struct vyre_kernel *kernel = kernel_in_place(fixture.device, "bump", bump, 1);
    struct vyre_batch *batch = batch_of(fixture.device);
    uint32_t amount = 1;
    long long live_then = 0;
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        struct vyre_buffer *buffer = buffer_of_groups(fixture.device, GROUPS);
        vyre_batch_reset(batch);
        add_in_place(batch, kernel, GROUPS, buffer, &amount, 1);
        submit_in(batch, mode);
        vyre_buffer_destroy(&buffer);
        if (i != ROUNDS / 4 && i != ROUNDS)
            continue;
        struct vyre_diag diag = {0};
        struct vyre_device_counters counters;
        assert_ok(vyre_device_wait_idle(fixture.device, VYRE_FOREVER, &diag), &diag);
        buffer =
            buffer_of_groups(fixture.device, 1); /* memory that is freed late is freed by now */
        vyre_buffer_destroy(&buffer);
        vyre_device_get_counters(fixture.device, &counters);
        assert_int_equal(counters.memory_bytes, 0);
        if (i == ROUNDS / 4)
            live_then = atomic_load(&fixture.allocator.live_bytes);
        else /* what is in flight at most and what is recorded at most, not all that ever was */
            assert_in_range(atomic_load(&fixture.allocator.live_bytes), 0, live_then + SLACK_BYTES);
    }
    fixture_close(&fixture);
}

static void buffers_destroyed_in_flight_memory_is_given_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_modes); i++)
        check_given_back(all_modes[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffer_destroyed_in_flight_work_is_not_touched),
        cmocka_unit_test(kernel_destroyed_in_flight_work_is_not_touched),
        cmocka_unit_test(batch_destroyed_in_flight_work_is_not_touched),
        cmocka_unit_test(buffer_created_again_has_no_old_recording),
        cmocka_unit_test(device_closed_in_flight_all_work_is_done),
        cmocka_unit_test(buffers_destroyed_in_flight_memory_is_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
