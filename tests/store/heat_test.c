/*
 * heat_test.c: limits, what goes when they are reached, and pruning.
 */
#include "store/fixture.h"

#define LIMIT      (1u << 20)
#define BLOB_BYTES 20000

static struct vyre_store *open_small(struct fixture *fixture)
{
    struct vyre_store_desc desc = fixture_desc(fixture);
    struct vyre_store *store = NULL;
    desc.size_limit_bytes = LIMIT;
    assert_int_equal(vyre_store_open(&desc, &store, NULL), VYRE_OK);
    return store;
}

static void put_blob(struct vyre_store *store, uint64_t number, int64_t updated_at)
{
    static unsigned char bytes[BLOB_BYTES];
    struct vyre_store_entry entry = {.kind = VYRE_STORE_PIPELINE,
                                     .key = fixture_hash(number),
                                     .device = fixture_hash(0),
                                     .bytes = bytes,
                                     .size_bytes = sizeof bytes,
                                     .updated_at = updated_at};
    memset(bytes, (int)number, sizeof bytes);
    assert_int_equal(vyre_store_put_entry(store, &entry, NULL), VYRE_OK);
}

static bool has_blob(struct vyre_store *store, uint64_t number)
{
    static unsigned char bytes[BLOB_BYTES];
    struct vyre_store_entry entry;
    return vyre_store_get_entry(store, VYRE_STORE_PIPELINE, fixture_hash(0), fixture_hash(number),
                                bytes, sizeof bytes, &entry, NULL) == VYRE_OK;
}

static void full_store_drops_the_coldest(void **state)
{
    struct fixture *fixture = *state;
    struct vyre_store *store = open_small(fixture);
    struct vyre_store_calibration calibration = fixture_calibration(1);
    assert_int_equal(vyre_store_put_calibration(store, fixture_hash(0), &calibration, NULL),
                     VYRE_OK);
    for (uint64_t i = 0; i < 30; i++)
        put_blob(store, i, 0);
    /* The first ones are old, but in use. */
    for (int use = 0; use < 5; use++) {
        for (uint64_t i = 0; i < 10; i++)
            assert_true(has_blob(store, i));
    }
    for (uint64_t i = 30; i < 300; i++) {
        put_blob(store, i, 0);
        struct vyre_store_info info;
        vyre_store_get_info(store, &info);
        assert_true(info.size_bytes <= LIMIT);
    }
    for (uint64_t i = 0; i < 10; i++)
        assert_true(has_blob(store, i));
    for (uint64_t i = 10; i < 30; i++)
        assert_false(has_blob(store, i));
    assert_true(has_blob(store, 299));
    assert_int_equal(vyre_store_get_calibration(store, fixture_hash(0), &calibration, NULL),
                     VYRE_OK);
    vyre_store_close(&store);
    assert_true(fixture_size(fixture->path) <= (off_t)LIMIT);
    assert_int_equal(atomic_load(&fixture->log.count), 0);
}

static void heat_cools_with_time(void **state)
{
    struct fixture *fixture = *state;
    struct vyre_store *store = open_small(fixture);
    for (uint64_t i = 0; i < 20; i++)
        put_blob(store, i, 1000); /* long ago */
    for (uint64_t i = 20; i < 60; i++)
        put_blob(store, i, 0);
    for (uint64_t i = 0; i < 12; i++)
        assert_false(has_blob(store, i));
    for (uint64_t i = 30; i < 60; i++)
        assert_true(has_blob(store, i));
    vyre_store_close(&store);
}

static void smaller_limit_shrinks_the_file(void **state)
{
    struct fixture *fixture = *state;
    struct vyre_store *store = fixture_open(fixture);
    for (uint64_t i = 0; i < 200; i++)
        put_blob(store, i, 0);
    vyre_store_close(&store);
    assert_true(fixture_size(fixture->path) > 3000000);
    store = open_small(fixture);
    put_blob(store, 200, 0);
    assert_true(has_blob(store, 200));
    assert_true(has_blob(store, 199));
    vyre_store_close(&store);
    assert_true(fixture_size(fixture->path) <= (off_t)LIMIT);
}

static void learnings_of_a_device_are_bounded(void **state)
{
    struct fixture *fixture = *state;
    struct vyre_store_desc desc = fixture_desc(fixture);
    struct vyre_store *store;
    desc.learnings_limit = 100;
    assert_int_equal(vyre_store_open(&desc, &store, NULL), VYRE_OK);
    struct vyre_store_info info;
    struct vyre_store_learning learnings[101] = {0}, found;
    size_t count;
    for (uint32_t i = 0; i < 101; i++)
        learnings[i] = (struct vyre_store_learning){.shape = fixture_hash(i), .mean_ns = i};
    assert_int_equal(vyre_store_put_learnings(store, fixture_hash(1), learnings, 101, NULL),
                     VYRE_LIMIT);
    assert_int_equal(vyre_store_put_learnings(store, fixture_hash(1), learnings, 60, NULL),
                     VYRE_OK);
    assert_int_equal(vyre_store_put_learnings(store, fixture_hash(2), learnings, 60, NULL),
                     VYRE_OK);
    assert_int_equal(
        vyre_store_get_learnings(store, fixture_hash(1), fixture_hash(3), &found, 1, &count, NULL),
        VYRE_OK);
    for (uint32_t i = 0; i < 60; i++)
        learnings[i].shape = fixture_hash(1000 + i);
    assert_int_equal(vyre_store_put_learnings(store, fixture_hash(1), learnings, 60, NULL),
                     VYRE_OK);
    vyre_store_get_info(store, &info);
    assert_int_equal(info.learning_count, 160);
    /* 20 had to go: the oldest, except the one that was read. */
    assert_int_equal(
        vyre_store_get_learnings(store, fixture_hash(1), fixture_hash(3), &found, 1, &count, NULL),
        VYRE_OK);
    assert_int_equal(
        vyre_store_get_learnings(store, fixture_hash(1), fixture_hash(4), &found, 1, &count, NULL),
        VYRE_NOT_FOUND);
    assert_int_equal(vyre_store_get_learnings(store, fixture_hash(1), fixture_hash(1059), &found, 1,
                                              &count, NULL),
                     VYRE_OK);
    vyre_store_close(&store);
}

static void devices_are_bounded(void **state)
{
    (void)state;
    struct vyre_store *store;
    struct vyre_hash128 signature;
    struct vyre_store_info info;
    assert_int_equal(vyre_store_open(NULL, &store, NULL), VYRE_OK);
    for (unsigned i = 0; i < VYRE_STORE_DEVICES_MAX + 20; i++) {
        struct vyre_store_device device = fixture_device(i);
        struct vyre_store_calibration calibration = fixture_calibration(i);
        assert_int_equal(vyre_store_put_device(store, &device, &signature, NULL), VYRE_OK);
        assert_int_equal(vyre_store_put_calibration(store, signature, &calibration, NULL), VYRE_OK);
    }
    vyre_store_get_info(store, &info);
    assert_int_equal(info.device_count, VYRE_STORE_DEVICES_MAX);
    assert_true(info.calibration_count <= VYRE_STORE_DEVICES_MAX + 1);
    vyre_store_close(&store);
}

static void prune_removes_what_is_asked(void **state)
{
    struct fixture *fixture = *state;
    struct vyre_store *store = fixture_open(fixture);
    struct vyre_hash128 devices[2];
    uint64_t removed;
    for (unsigned i = 0; i < 2; i++) {
        struct vyre_store_device device = fixture_device(i);
        struct vyre_store_calibration calibration = fixture_calibration(i);
        struct vyre_store_learning learnings[2] = {{.shape = fixture_hash(1), .updated_at = 2000},
                                                   {.shape = fixture_hash(2), .updated_at = 0}};
        assert_int_equal(vyre_store_put_device(store, &device, &devices[i], NULL), VYRE_OK);
        assert_int_equal(vyre_store_put_calibration(store, devices[i], &calibration, NULL),
                         VYRE_OK);
        assert_int_equal(vyre_store_put_learnings(store, devices[i], learnings, 2, NULL), VYRE_OK);
    }
    struct vyre_store_prune_desc desc = {0};
    assert_int_equal(vyre_store_prune(store, &desc, &removed, NULL), VYRE_OK);
    assert_int_equal(removed, 0);
    desc = (struct vyre_store_prune_desc){.unused_since = 1500, .device = devices[0]};
    assert_int_equal(vyre_store_prune(store, &desc, &removed, NULL), VYRE_OK);
    assert_int_equal(removed, 1); /* its calibration */
    desc = (struct vyre_store_prune_desc){.unused_since = 10000};
    assert_int_equal(vyre_store_prune(store, &desc, &removed, NULL), VYRE_OK);
    assert_int_equal(removed, 3); /* a learning each, the other calibration */
    desc = (struct vyre_store_prune_desc){.device = devices[1]};
    assert_int_equal(vyre_store_prune(store, &desc, &removed, NULL), VYRE_OK);
    assert_int_equal(removed, 2); /* a learning, and the device */
    for (uint64_t i = 0; i < 50; i++)
        put_blob(store, i, 0);
    desc = (struct vyre_store_prune_desc){.size_bytes = 300000};
    assert_int_equal(vyre_store_prune(store, &desc, &removed, NULL), VYRE_OK);
    assert_true(removed > 30 && removed < 50);
    struct vyre_store_info info;
    vyre_store_get_info(store, &info);
    assert_true(info.size_bytes <= 300000);
    assert_true(fixture_size(fixture->path) <= 300000);
    desc = (struct vyre_store_prune_desc){.all = true};
    assert_int_equal(vyre_store_prune(store, &desc, &removed, NULL), VYRE_OK);
    vyre_store_get_info(store, &info);
    assert_int_equal(info.device_count + info.learning_count + info.pipeline_count, 0);
    vyre_store_close(&store);

    struct vyre_store_desc read_only = fixture_desc(fixture);
    read_only.read_only = true;
    assert_int_equal(vyre_store_open(&read_only, &store, NULL), VYRE_OK);
    assert_int_equal(vyre_store_prune(store, &desc, &removed, NULL), VYRE_IO);
    vyre_store_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_CASE(full_store_drops_the_coldest),
        FIXTURE_CASE(heat_cools_with_time),
        FIXTURE_CASE(smaller_limit_shrinks_the_file),
        FIXTURE_CASE(learnings_of_a_device_are_bounded),
        FIXTURE_CASE(devices_are_bounded),
        FIXTURE_CASE(prune_removes_what_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
