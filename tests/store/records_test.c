/*
 * records_test.c: every kind of record goes in and comes out, in memory and through a file.
 */
#include "store/fixture.h"

#include <math.h>

#include "support/counting_allocator.h"

static void open_without_path_keeps_records_in_memory(void **state)
{
    (void)state;
    struct vyre_store *store;
    assert_int_equal(vyre_store_open(NULL, &store, NULL), VYRE_OK);
    assert_int_equal(fixture_mode(store), VYRE_STORE_MEMORY);
    assert_int_equal(fixture_put(store, 1), VYRE_OK);
    assert_true(fixture_has(store, 1));
    assert_false(fixture_has(store, 2));
    assert_int_equal(vyre_store_flush(store, NULL), VYRE_OK);
    vyre_store_close(&store);
    assert_null(store);
    vyre_store_close(&store);
}

static void open_wrong_desc_is_refused(void **state)
{
    (void)state;
    struct vyre_store *store;
    struct vyre_diag diag;
    const struct vyre_store_desc descs[] = {{.path = ""},
                                            {.size_limit_bytes = 1000},
                                            {.memory_limit_bytes = 1000},
                                            {.busy_timeout_ms = UINT32_MAX}};
    for (size_t i = 0; i < sizeof descs / sizeof descs[0]; i++) {
        assert_int_equal(vyre_store_open(&descs[i], &store, &diag), VYRE_INVALID);
        assert_int_equal(diag.id, VYRE_DIAG_ARGUMENT_RANGE);
        assert_null(store);
    }
}

static void signature_is_stable(void **state)
{
    (void)state;
    struct vyre_store_device device = fixture_device(1);
    struct vyre_hash128 signature = vyre_store_device_signature(&device);
    char text[VYRE_HASH128_TEXT_BYTES];
    vyre_hash128_format(signature, text);
    /* Files of other machines and versions depend on it. */
    assert_string_equal(text, "792a0979919195c807a908c26a657583");

    /* What stands behind the terminator does not count; every field does. */
    memset(device.name + 40, 'x', 10);
    assert_true(vyre_hash128_equal(signature, vyre_store_device_signature(&device)));
    for (int field = 0; field < 4; field++) {
        struct vyre_store_device other = fixture_device(1);
        char *fields[] = {other.backend, other.name, other.driver, (char *)other.uuid};
        fields[field][0] ^= 1;
        assert_false(vyre_hash128_equal(signature, vyre_store_device_signature(&other)));
    }
}

static void device_is_found_again(void **state)
{
    struct fixture *fixture = *state;
    struct vyre_store_device device = fixture_device(3), found;
    memcpy(device.name, "K\xc3\xb6ln \xff\x01", sizeof "K\xc3\xb6ln \xff\x01");
    struct vyre_hash128 signature;
    struct vyre_store *store = fixture_open(fixture);
    assert_int_equal(vyre_store_put_device(store, &device, &signature, NULL), VYRE_OK);
    assert_true(vyre_hash128_equal(signature, vyre_store_device_signature(&device)));
    vyre_store_close(&store);
    store = fixture_open(fixture);
    assert_int_equal(vyre_store_get_device(store, signature, &found, NULL), VYRE_OK);
    assert_string_equal(found.name, "K\xc3\xb6ln ??");
    assert_string_equal(found.backend, "cpu");
    assert_memory_equal(found.uuid, device.uuid, sizeof found.uuid);
    assert_int_equal(vyre_store_get_device(store, fixture_hash(9), &found, NULL), VYRE_NOT_FOUND);

    struct vyre_diag diag;
    memset(device.driver, 'd', sizeof device.driver);
    assert_int_equal(vyre_store_put_device(store, &device, &signature, &diag), VYRE_INVALID);
    assert_int_equal(diag.id, VYRE_DIAG_STORE_VALUE);
    vyre_store_close(&store);
}

static void calibration_is_replaced_whole(void **state)
{
    struct fixture *fixture = *state;
    struct vyre_store *store = fixture_open(fixture);
    struct vyre_store_calibration calibration = fixture_calibration(5), found;
    assert_int_equal(vyre_store_get_calibration(store, fixture_hash(1), &found, NULL),
                     VYRE_NOT_FOUND);
    assert_int_equal(vyre_store_put_calibration(store, fixture_hash(1), &calibration, NULL),
                     VYRE_OK);
    calibration.cost_count = 1;
    calibration.taken_at = 7777;
    calibration.costs[0].median_ns = 0.1;
    assert_int_equal(vyre_store_put_calibration(store, fixture_hash(1), &calibration, NULL),
                     VYRE_OK);
    vyre_store_close(&store);
    store = fixture_open(fixture);
    assert_int_equal(vyre_store_get_calibration(store, fixture_hash(1), &found, NULL), VYRE_OK);
    assert_int_equal(found.cost_count, 1);
    assert_int_equal(found.taken_at, 7777);
    assert_string_equal(found.tool, "vyre 0.1.0");
    assert_string_equal(found.costs[0].name, "submit-wait");
    assert_true(found.costs[0].median_ns == 0.1);
    assert_int_equal(found.costs[0].samples, 100);
    vyre_store_close(&store);
}

static void calibration_wrong_value_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct vyre_store *store = fixture_open(fixture);
    for (int i = 0; i < 6; i++) {
        struct vyre_store_calibration calibration = fixture_calibration(5);
        struct vyre_store_cost *cost = &calibration.costs[1];
        if (i == 0)
            cost->min_ns = -1;
        else if (i == 1)
            cost->spread_ns = (double)NAN;
        else if (i == 2)
            memcpy(cost->name, "submit-wait", sizeof "submit-wait");
        else if (i == 3)
            memcpy(cost->name, "Bad name", sizeof "Bad name");
        else if (i == 4)
            calibration.cost_count = VYRE_STORE_COSTS_MAX + 1;
        else
            memset(calibration.tool, 'v', sizeof calibration.tool);
        struct vyre_diag diag;
        assert_int_equal(vyre_store_put_calibration(store, fixture_hash(1), &calibration, &diag),
                         VYRE_INVALID);
        assert_int_equal(diag.id, VYRE_DIAG_STORE_VALUE);
    }
    vyre_store_close(&store);
}

static void learnings_come_by_shape_and_candidate(void **state)
{
    struct fixture *fixture = *state;
    struct vyre_store *store = fixture_open(fixture);
    struct vyre_store_learning put[10], found[8];
    size_t count;
    for (uint32_t i = 0; i < 10; i++)
        put[i] = (struct vyre_store_learning){.shape = fixture_hash(i % 2),
                                              .candidate = 9 - i,
                                              .count = i,
                                              .mean_ns = i * 1.5,
                                              .deviation_ns = 0.25,
                                              .updated_at = 100 + i};
    assert_int_equal(vyre_store_put_learnings(store, fixture_hash(1), put, 10, NULL), VYRE_OK);
    vyre_store_close(&store);
    store = fixture_open(fixture);
    assert_int_equal(
        vyre_store_get_learnings(store, fixture_hash(1), fixture_hash(1), found, 8, &count, NULL),
        VYRE_OK);
    assert_int_equal(count, 5);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(found[i].candidate, 2 * i);
        assert_true(found[i].mean_ns == (double)(9 - 2 * i) * 1.5);
        assert_int_equal(found[i].updated_at, 109 - 2 * i);
    }
    assert_int_equal(
        vyre_store_get_learnings(store, fixture_hash(1), fixture_hash(1), found, 2, &count, NULL),
        VYRE_OK);
    assert_int_equal(count, 2);
    assert_int_equal(found[1].candidate, 2);
    assert_int_equal(
        vyre_store_get_learnings(store, fixture_hash(2), fixture_hash(1), found, 8, &count, NULL),
        VYRE_NOT_FOUND);
    assert_int_equal(count, 0);

    /* One that is wrong keeps out all of them. */
    put[0].shape = fixture_hash(77);
    put[1].mean_ns = (double)INFINITY;
    assert_int_equal(vyre_store_put_learnings(store, fixture_hash(1), put, 2, NULL), VYRE_INVALID);
    assert_int_equal(
        vyre_store_get_learnings(store, fixture_hash(1), fixture_hash(77), found, 8, &count, NULL),
        VYRE_NOT_FOUND);
    vyre_store_close(&store);
}

static void entry_limits_hold(void **state)
{
    struct fixture *fixture = *state;
    struct vyre_store *store = fixture_open(fixture);
    size_t size = VYRE_STORE_PIPELINE_BYTES_MAX;
    unsigned char *bytes = calloc(1, size + 1);
    struct vyre_diag diag;
    struct vyre_store_entry entry = {.kind = VYRE_STORE_PIPELINE, .bytes = bytes, .key = {1, 1}};
    assert_non_null(bytes);
    bytes[size - 1] = 42;
    entry.size_bytes = size + 1;
    assert_int_equal(vyre_store_put_entry(store, &entry, &diag), VYRE_LIMIT);
    assert_int_equal(diag.id, VYRE_DIAG_STORE_SIZE);
    entry.size_bytes = size;
    assert_int_equal(vyre_store_put_entry(store, &entry, NULL), VYRE_OK);
    entry.kind = VYRE_STORE_TUNING;
    assert_int_equal(vyre_store_put_entry(store, &entry, NULL), VYRE_LIMIT);
    entry.size_bytes = VYRE_STORE_TUNING_BYTES_MAX;
    assert_int_equal(vyre_store_put_entry(store, &entry, NULL), VYRE_OK);
    entry.size_bytes = 0;
    entry.key.lo = 2;
    assert_int_equal(vyre_store_put_entry(store, &entry, NULL), VYRE_OK);
    entry.kind = (enum vyre_store_kind)3;
    assert_int_equal(vyre_store_put_entry(store, &entry, NULL), VYRE_INVALID);

    struct vyre_store_entry found;
    struct vyre_hash128 device = {0}, key = {1, 1}, empty = {2, 1};
    assert_int_equal(
        vyre_store_get_entry(store, VYRE_STORE_PIPELINE, device, key, bytes, 10, &found, &diag),
        VYRE_LIMIT);
    assert_int_equal(diag.id, VYRE_DIAG_CAPACITY);
    assert_int_equal(found.size_bytes, size);
    memset(bytes, 1, size);
    assert_int_equal(
        vyre_store_get_entry(store, VYRE_STORE_PIPELINE, device, key, bytes, size, &found, NULL),
        VYRE_OK);
    assert_int_equal(bytes[0], 0);
    assert_int_equal(bytes[size - 1], 42);
    assert_int_equal(
        vyre_store_get_entry(store, VYRE_STORE_TUNING, device, empty, NULL, 0, &found, NULL),
        VYRE_OK);
    assert_int_equal(found.size_bytes, 0);
    free(bytes);
    vyre_store_close(&store);
}

struct tally {
    unsigned devices, calibrations, learnings, entries, stop_after;
    bool wrong;
};

static bool on_device(void *user, struct vyre_hash128 signature,
                      const struct vyre_store_device *device, int64_t last_seen)
{
    struct tally *tally = user;
    tally->wrong |= !vyre_hash128_equal(signature, vyre_store_device_signature(device));
    tally->wrong |= last_seen == 0;
    return ++tally->devices != tally->stop_after;
}

static bool on_calibration(void *user, struct vyre_hash128 device,
                           const struct vyre_store_calibration *calibration)
{
    struct tally *tally = user;
    (void)device;
    tally->wrong |= calibration->cost_count != 2;
    tally->calibrations++;
    return true;
}

static bool on_learning(void *user, struct vyre_hash128 device,
                        const struct vyre_store_learning *learning,
                        const struct vyre_store_heat *heat)
{
    struct tally *tally = user;
    (void)device;
    tally->wrong |= learning->mean_ns != 3 || heat->use_count == 0;
    tally->learnings++;
    return true;
}

static bool on_entry(void *user, const struct vyre_store_entry *entry, bool matches_checksum,
                     const struct vyre_store_heat *heat)
{
    struct tally *tally = user;
    (void)heat;
    tally->wrong |= !matches_checksum || entry->size_bytes >= 8192;
    tally->entries++;
    return true;
}

static void visit_sees_every_record_once(void **state)
{
    struct fixture *fixture = *state;
    struct vyre_store *store = fixture_open(fixture);
    struct vyre_hash128 signature;
    for (unsigned i = 0; i < 3; i++) {
        struct vyre_store_device device = fixture_device(i);
        struct vyre_store_calibration calibration = fixture_calibration(i);
        struct vyre_store_learning learning = {.shape = fixture_hash(i), .mean_ns = 3};
        assert_int_equal(vyre_store_put_device(store, &device, &signature, NULL), VYRE_OK);
        assert_int_equal(vyre_store_put_calibration(store, signature, &calibration, NULL), VYRE_OK);
        assert_int_equal(vyre_store_put_learnings(store, signature, &learning, 1, NULL), VYRE_OK);
        assert_int_equal(fixture_put(store, i), VYRE_OK);
    }
    vyre_store_close(&store);

    /* Read only: what is put again stays in memory and hides what the file has. */
    struct vyre_store_desc desc = fixture_desc(fixture);
    desc.read_only = true;
    assert_int_equal(vyre_store_open(&desc, &store, NULL), VYRE_OK);
    assert_int_equal(fixture_mode(store), VYRE_STORE_READ_ONLY);
    assert_int_equal(fixture_put(store, 2), VYRE_OK);
    assert_int_equal(fixture_put(store, 3), VYRE_OK);
    struct tally tally = {0};
    struct vyre_store_visitor visitor = {&tally, on_device, on_calibration, on_learning, on_entry};
    assert_int_equal(vyre_store_visit(store, &visitor, NULL), VYRE_OK);
    assert_false(tally.wrong);
    assert_int_equal(tally.devices, 3);
    assert_int_equal(tally.calibrations, 3);
    assert_int_equal(tally.learnings, 3);
    assert_int_equal(tally.entries, 4);
    tally = (struct tally){.stop_after = 2};
    assert_int_equal(vyre_store_visit(store, &visitor, NULL), VYRE_OK);
    assert_int_equal(tally.devices, 2);
    assert_int_equal(tally.entries, 0);
    vyre_store_close(&store);
    store = fixture_open(fixture);
    assert_false(fixture_has(store, 3));
    assert_true(fixture_has(store, 2));
    vyre_store_close(&store);
    assert_int_equal(atomic_load(&fixture->log.count), 0);
}

static void memory_comes_from_the_allocator(void **state)
{
    struct fixture *fixture = *state;
    struct counting_allocator counting = {0};
    struct vyre_store_desc desc = fixture_desc(fixture);
    struct vyre_store *store;
    desc.allocator = counting_allocator_face(&counting);
    assert_int_equal(vyre_store_open(&desc, &store, NULL), VYRE_OK);
    assert_int_equal(fixture_put(store, 1), VYRE_OK);
    vyre_store_close(&store);
    unsigned long long calls = atomic_load(&counting.call_count);
    assert_true(calls >= 2);
    assert_int_equal(atomic_load(&counting.live_count), 0);
    assert_int_equal(atomic_load(&counting.mismatch_count), 0);
    for (unsigned long long i = 1; i <= calls; i++) {
        atomic_store(&counting.call_count, 0);
        atomic_store(&counting.fail_at, i);
        if (vyre_store_open(&desc, &store, NULL) == VYRE_OK) {
            assert_int_equal(fixture_put(store, 1), VYRE_OK);
            assert_true(fixture_has(store, 1));
            vyre_store_close(&store);
        }
        assert_null(store);
        assert_int_equal(atomic_load(&counting.live_count), 0);
    }
    assert_int_equal(fixture_asides(fixture), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIXTURE_CASE(open_without_path_keeps_records_in_memory),
        FIXTURE_CASE(open_wrong_desc_is_refused),
        FIXTURE_CASE(signature_is_stable),
        FIXTURE_CASE(device_is_found_again),
        FIXTURE_CASE(calibration_is_replaced_whole),
        FIXTURE_CASE(calibration_wrong_value_is_refused),
        FIXTURE_CASE(learnings_come_by_shape_and_candidate),
        FIXTURE_CASE(entry_limits_hold),
        FIXTURE_CASE(visit_sees_every_record_once),
        FIXTURE_CASE(memory_comes_from_the_allocator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
