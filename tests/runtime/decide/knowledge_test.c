/*
 * knowledge_test.c: what a device knows goes to a store, and a device of another process finds it there.
 * Time is virtual; "another process" is another sim, instance and device.
 */
#include <stdlib.h>

#include "runtime/sim_fixture.h"
#include "support/counting_allocator.h"

enum { BYTES = 256, COMMANDS = 16 };

static struct vyre_store *open_store(void)
{
    struct vyre_store *store = NULL;
    struct vyre_diag diag;
    assert_int_equal(vyre_store_open(&(struct vyre_store_desc){0}, &store, &diag), VYRE_OK);
    return store;
}

static void save(struct fixture *fixture, struct vyre_store *store, uint32_t parts)
{
    assert_int_equal(vyre_device_save(fixture->device, store, parts, &fixture->diag), VYRE_OK);
}

static struct vyre_knowledge load(struct fixture *fixture, struct vyre_store *store, uint32_t parts)
{
    struct vyre_knowledge knowledge;
    memset(&knowledge, 0x5a, sizeof knowledge);
    assert_int_equal(vyre_device_load(fixture->device, store, parts, &knowledge, &fixture->diag),
                     VYRE_OK);
    return knowledge;
}

static struct vyre_store_info info_of(struct vyre_store *store)
{
    struct vyre_store_info info;
    vyre_store_get_info(store, &info);
    return info;
}

static struct vyre_refusal refusal_of(uint64_t number)
{
    struct vyre_refusal refusal = {.code = {number, ~number}};
    snprintf(refusal.kernel, sizeof refusal.kernel, "kernel %llu", (unsigned long long)number);
    snprintf(refusal.reason, sizeof refusal.reason, "writes %llu", (unsigned long long)number);
    return refusal;
}

/* ---- Nothing ---------------------------------------------------------------------------------- */

static void save_of_a_fresh_device_writes_nothing(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_store *store = open_store();
    fixture_open(&fixture, NULL, NULL);
    vyre_diag_reset(&fixture.diag);
    save(&fixture, store, VYRE_KNOWS_ALL);
    struct vyre_store_info info = info_of(store);
    assert_int_equal(info.device_count, 0);
    struct vyre_knowledge knowledge = load(&fixture, store, VYRE_KNOWS_ALL);
    assert_int_equal(fixture.diag.id, VYRE_DIAG_NONE);
    assert_int_equal(knowledge.costs, VYRE_STORED_COSTS_NONE);
    assert_int_equal(knowledge.calibration.taken_s, 0);
    assert_int_equal(knowledge.learning_count, 0);
    assert_int_equal(knowledge.refusal_count, 0);
    assert_int_equal(vyre_device_load(fixture.device, store, VYRE_KNOWS_ALL, NULL, NULL), VYRE_OK);
    assert_int_equal(info_of(store).device_count, 0);
    assert_diag(vyre_device_load(fixture.device, store, 8, NULL, &fixture.diag), fixture.diag,
                VYRE_DIAG_ARGUMENT_RANGE);
    assert_diag(vyre_device_save(fixture.device, store, VYRE_KNOWS_ALL | 8, &fixture.diag),
                fixture.diag, VYRE_DIAG_ARGUMENT_RANGE);
    fixture_close(&fixture);
    vyre_store_close(&store);
}

/* ---- Costs ------------------------------------------------------------------------------------ */

/* Puts costs that a device did not measure under its name. */
static void put_costs(struct fixture *fixture, struct vyre_store *store, int64_t taken_at,
                      double median_ns)
{
    struct vyre_device_info info;
    struct vyre_store_device described;
    struct vyre_hash128 signature;
    struct vyre_store_calibration stored = {
        .taken_at = taken_at, .tool = "test", .cost_count = 2, .costs = {{.samples = 9}}};
    snprintf(stored.costs[0].name, sizeof stored.costs[0].name, "%s",
             vyre_cost_name(VYRE_COST_PLAIN_BATCH));
    snprintf(stored.costs[1].name, sizeof stored.costs[1].name, "of_a_later_version");
    stored.costs[0].median_ns = median_ns;
    vyre_device_get_info(fixture->device, &info);
    vyre_device_describe(&info, 0, &described);
    assert_int_equal(vyre_store_put_device(store, &described, &signature, NULL), VYRE_OK);
    assert_int_equal(vyre_store_put_calibration(store, signature, &stored, NULL), VYRE_OK);
}

static void load_costs_that_another_process_measured(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_calibration measured, loaded;
    struct vyre_store *store = open_store();
    fixture_open(&fixture, NULL, NULL);
    assert_int_equal(vyre_device_calibrate(fixture.device, NULL, &measured, &fixture.diag),
                     VYRE_OK);
    save(&fixture, store, VYRE_KNOWS_LEARNINGS | VYRE_KNOWS_REFUSALS);
    assert_int_equal(info_of(store).calibration_count, 0);
    save(&fixture, store, VYRE_KNOWS_CALIBRATION);
    assert_int_equal(info_of(store).calibration_count, 1);
    /* Once saved they are the store's: newer ones there are not replaced. */
    put_costs(&fixture, store, (int64_t)measured.taken_s + 5, 70.0);
    save(&fixture, store, VYRE_KNOWS_CALIBRATION);
    assert_true(load(&fixture, store, VYRE_KNOWS_CALIBRATION)
                    .calibration.costs[VYRE_COST_PLAIN_BATCH]
                    .median_ns == 70.0);
    assert_int_equal(vyre_device_calibrate(fixture.device, NULL, &measured, &fixture.diag),
                     VYRE_OK);
    save(&fixture, store, VYRE_KNOWS_CALIBRATION);
    fixture_close(&fixture);

    fixture_open(&fixture, NULL, NULL);
    (void)load(&fixture, store, VYRE_KNOWS_LEARNINGS | VYRE_KNOWS_REFUSALS);
    vyre_device_get_calibration(fixture.device, &loaded);
    assert_int_equal(loaded.taken_s, 0);
    struct vyre_knowledge knowledge = load(&fixture, store, VYRE_KNOWS_CALIBRATION);
    assert_int_equal(knowledge.costs, VYRE_STORED_COSTS_LOADED);
    vyre_device_get_calibration(fixture.device, &loaded);
    assert_int_equal(loaded.taken_s, measured.taken_s);
    assert_int_equal(knowledge.calibration.taken_s, measured.taken_s);
    for (int i = 0; i < VYRE_COST_COUNT; i++) {
        assert_int_equal(loaded.costs[i].known, measured.costs[i].known);
        assert_true(loaded.costs[i].median_ns == measured.costs[i].median_ns);
        assert_true(loaded.costs[i].min_ns == measured.costs[i].min_ns);
        assert_int_equal(loaded.costs[i].samples, measured.costs[i].samples);
    }
    fixture_close(&fixture);

    /* Another number of workers is another device. */
    fixture_open(&fixture, NULL, &(struct vyre_device_desc){.cpu_workers = 3});
    assert_int_equal(load(&fixture, store, VYRE_KNOWS_ALL).costs, VYRE_STORED_COSTS_NONE);
    fixture_close(&fixture);
    vyre_store_close(&store);
}

static void load_old_and_wrong_costs_are_left(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_calibration taken;
    struct vyre_store *store = open_store();
    fixture_open(&fixture, NULL, NULL);
    put_costs(&fixture, store, 1000, 50.0);
    struct vyre_knowledge knowledge = load(&fixture, store, VYRE_KNOWS_ALL);
    assert_int_equal(knowledge.costs, VYRE_STORED_COSTS_OLD);
    assert_int_equal(knowledge.calibration.taken_s, 1000);
    assert_true(vyre_calibration_age_s(&knowledge.calibration) > VYRE_CALIBRATION_AGE_MAX_S);
    put_costs(&fixture, store, 0, 1e300); /* 0: now */
    assert_int_equal(load(&fixture, store, VYRE_KNOWS_ALL).costs, VYRE_STORED_COSTS_WRONG);
    vyre_device_get_calibration(fixture.device, &taken);
    assert_int_equal(taken.taken_s, 0);
    put_costs(&fixture, store, 0, 50.0);
    assert_int_equal(load(&fixture, store, VYRE_KNOWS_ALL).costs, VYRE_STORED_COSTS_LOADED);
    vyre_device_get_calibration(fixture.device, &taken);
    assert_true(taken.costs[VYRE_COST_PLAIN_BATCH].known);
    assert_false(taken.costs[VYRE_COST_REPLAY_BATCH].known);

    /* What was loaded is not written back: the store may have something newer by now. */
    put_costs(&fixture, store, 0, 70.0);
    save(&fixture, store, VYRE_KNOWS_ALL);
    assert_true(
        load(&fixture, store, VYRE_KNOWS_ALL).calibration.costs[VYRE_COST_PLAIN_BATCH].median_ns ==
        70.0);
    fixture_close(&fixture);
    vyre_store_close(&store);
}

/* ---- Learnings -------------------------------------------------------------------------------- */

static void run(struct fixture *fixture, uint32_t times)
{
    struct vyre_batch *batch = fixture_batch(fixture);
    struct vyre_buffer *in = fixture_buffer(fixture, BYTES);
    struct vyre_buffer *out = fixture_buffer(fixture, BYTES);
    for (uint32_t i = 0; i < COMMANDS; i++)
        fixture_mix(fixture, batch, (struct vyre_range){.buffer = in},
                    (struct vyre_range){.buffer = out}, i);
    for (uint32_t i = 0; i < times; i++)
        assert_int_equal(fixture_wait(fixture, fixture_submit(fixture, batch, VYRE_MODE_AUTO)),
                         VYRE_OK);
}

static void load_learnings_that_are_well_founded(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_store *store = open_store();
    fixture_open(&fixture, NULL, NULL);
    run(&fixture, VYRE_LEARNING_COUNT_MIN - 2);
    save(&fixture, store, VYRE_KNOWS_ALL);
    assert_int_equal(info_of(store).learning_count, 0);
    run(&fixture, 200);
    save(&fixture, store, VYRE_KNOWS_ALL);
    uint64_t count = info_of(store).learning_count;
    assert_true(count > 0);
    save(&fixture, store, VYRE_KNOWS_ALL); /* again: the same ones */
    assert_int_equal(info_of(store).learning_count, count);
    fixture_close(&fixture);

    fixture_open(&fixture, NULL, NULL);
    assert_int_equal(load(&fixture, store, VYRE_KNOWS_CALIBRATION).learning_count, 0);
    assert_int_equal(load(&fixture, store, VYRE_KNOWS_LEARNINGS).learning_count, count);
    fixture_close(&fixture);
    fixture_open(&fixture, NULL, &(struct vyre_device_desc){.cpu_workers = 3});
    assert_int_equal(load(&fixture, store, VYRE_KNOWS_LEARNINGS).learning_count, 0);
    fixture_close(&fixture);
    vyre_store_close(&store);
}

struct stored {
    struct vyre_hash128 device;
    struct vyre_store_learning learnings[32];
    size_t count;
};

static bool on_learning(void *user, struct vyre_hash128 device,
                        const struct vyre_store_learning *learning,
                        const struct vyre_store_heat *heat)
{
    struct stored *stored = user;
    (void)heat;
    stored->device = device;
    assert_true(stored->count < COUNT_OF(stored->learnings));
    stored->learnings[stored->count++] = *learning;
    return true;
}

static struct stored read_learnings(struct vyre_store *store)
{
    struct stored stored = {.count = 0};
    const struct vyre_store_visitor visitor = {.user = &stored, .learning = on_learning};
    assert_int_equal(vyre_store_visit(store, &visitor, NULL), VYRE_OK);
    return stored;
}

/* A mode that this process tried and left does not replace what another knows well. */
static void save_leaves_what_is_known_better(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_store *store = open_store();
    fixture_open(&fixture, NULL, NULL);
    run(&fixture, 200);
    save(&fixture, store, VYRE_KNOWS_ALL);
    struct stored before = read_learnings(store);
    size_t tried = 0;
    for (size_t i = 0; i < before.count; i++) {
        tried += before.learnings[i].count < VYRE_LEARNING_COUNT_MIN;
        before.learnings[i].count = 1000;
        before.learnings[i].mean_ns = 12345.0;
    }
    assert_true(tried > 0 && tried < before.count);
    assert_int_equal(
        vyre_store_put_learnings(store, before.device, before.learnings, before.count, NULL),
        VYRE_OK);
    save(&fixture, store, VYRE_KNOWS_ALL);
    const struct stored after = read_learnings(store);
    size_t kept = 0;
    assert_int_equal(after.count, before.count);
    for (size_t i = 0; i < after.count; i++)
        kept += after.learnings[i].mean_ns == 12345.0;
    assert_int_equal(kept, tried);
    fixture_close(&fixture);
    vyre_store_close(&store);
}

/* Modes with variants come back as what they were; what the device lacks is left. */
static void load_learnings_of_variants(void **state)
{
    (void)state;
    static const uint32_t candidates[] = {VYRE_MODE_PLAIN,
                                          VYRE_MODE_PLAIN | VYRE_VARIANT_SERIAL << 8,
                                          VYRE_MODE_REPLAY | VYRE_VARIANT_SERIAL << 8,
                                          VYRE_MODE_REPLAY | VYRE_VARIANT_DRIVER << 8, 77};
    struct fixture fixture;
    struct vyre_store *store = open_store();
    struct vyre_device_info info;
    struct vyre_store_device described;
    struct vyre_hash128 signature;
    struct vyre_store_learning learnings[COUNT_OF(candidates)];
    for (size_t i = 0; i < COUNT_OF(candidates); i++)
        learnings[i] = (struct vyre_store_learning){
            .shape = {5, 5}, .candidate = candidates[i], .count = 9, .mean_ns = 1000};
    fixture_open(&fixture, &(struct vyre_sim_desc){.variants = VYRE_VARIANT_SERIAL}, NULL);
    vyre_device_get_info(fixture.device, &info);
    vyre_device_describe(&info, 0, &described);
    assert_int_equal(vyre_store_put_device(store, &described, &signature, NULL), VYRE_OK);
    assert_int_equal(
        vyre_store_put_learnings(store, signature, learnings, COUNT_OF(learnings), NULL), VYRE_OK);
    assert_int_equal(load(&fixture, store, VYRE_KNOWS_ALL).learning_count, 3);
    fixture_close(&fixture);
    vyre_store_close(&store);
}

static void save_without_memory_says_so(void **state)
{
    (void)state;
    struct fixture fixture;
    struct counting_allocator allocator = {0};
    const struct vyre_instance_desc instance = {.allocator = counting_allocator_face(&allocator)};
    const struct vyre_refusal refusal = refusal_of(1);
    struct vyre_store *store = open_store();
    fixture_open_in(&fixture, NULL, NULL, &instance);
    run(&fixture, 200);
    assert_int_equal(vyre_device_import_refusal(fixture.device, &refusal, NULL), VYRE_OK);
    counting_fail_after(&allocator, 0);
    /* The refusals find none, the learnings do: a part that fails does not keep another back. */
    assert_diag(vyre_device_save(fixture.device, store, VYRE_KNOWS_ALL, &fixture.diag),
                fixture.diag, VYRE_DIAG_OUT_OF_MEMORY);
    assert_int_equal(info_of(store).tuning_count, 0);
    assert_true(info_of(store).learning_count > 0);
    save(&fixture, store, VYRE_KNOWS_ALL);
    assert_int_equal(info_of(store).tuning_count, 1);
    counting_fail_after(&allocator, 0);
    atomic_store(&allocator.fails_on, true);
    struct vyre_knowledge knowledge;
    assert_diag(vyre_device_load(fixture.device, store, VYRE_KNOWS_ALL, &knowledge, &fixture.diag),
                fixture.diag, VYRE_DIAG_OUT_OF_MEMORY);
    assert_int_equal(knowledge.learning_count, 0);
    counting_fail_never(&allocator);
    fixture_close(&fixture);
    assert_int_equal(atomic_load(&allocator.live_count), 0);
    assert_int_equal(atomic_load(&allocator.mismatch_count), 0);
    vyre_store_close(&store);
}

/* ---- Refusals --------------------------------------------------------------------------------- */

static void load_refusals_of_that_driver(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_store *store = open_store();
    struct vyre_refusal found[4];
    fixture_open(&fixture, NULL, &(struct vyre_device_desc){.cpu_workers = 3});
    for (uint64_t i = 1; i <= 3; i++) {
        const struct vyre_refusal refusal = refusal_of(i);
        assert_int_equal(vyre_device_import_refusal(fixture.device, &refusal, NULL), VYRE_OK);
    }
    save(&fixture, store, VYRE_KNOWS_CALIBRATION | VYRE_KNOWS_LEARNINGS);
    assert_int_equal(info_of(store).tuning_count, 0);
    save(&fixture, store, VYRE_KNOWS_REFUSALS);
    save(&fixture, store, VYRE_KNOWS_REFUSALS);
    assert_int_equal(info_of(store).tuning_count, 3);
    fixture_close(&fixture);

    /* A number of workers changes no compiler. */
    fixture_open(&fixture, NULL, NULL);
    assert_int_equal(load(&fixture, store, VYRE_KNOWS_ALL).refusal_count, 3);
    assert_int_equal(vyre_device_refusals(fixture.device, found, 4), 3);
    for (size_t i = 0; i < 3; i++) {
        const struct vyre_refusal expected = refusal_of(found[i].code.lo);
        assert_string_equal(found[i].kernel, expected.kernel);
        assert_string_equal(found[i].reason, expected.reason);
    }
    fixture_close(&fixture);

    /* Another device has another compiler, for all we know. */
    struct vyre_device_desc second = {.index = 1};
    fixture_open(&fixture, &(struct vyre_sim_desc){.device_count = 2}, &second);
    assert_int_equal(load(&fixture, store, VYRE_KNOWS_ALL).refusal_count, 0);
    fixture_close(&fixture);
    vyre_store_close(&store);
}

/* A device keeps the last 256; one that is new among them is saved, too. */
static void save_refusals_past_the_limit(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_store *store = open_store();
    fixture_open(&fixture, NULL, NULL);
    for (uint64_t i = 1; i <= VYRE_REFUSALS_MAX; i++) {
        const struct vyre_refusal refusal = refusal_of(i);
        assert_int_equal(vyre_device_import_refusal(fixture.device, &refusal, NULL), VYRE_OK);
    }
    save(&fixture, store, VYRE_KNOWS_ALL);
    const struct vyre_refusal late = refusal_of(1000);
    assert_int_equal(vyre_device_import_refusal(fixture.device, &late, NULL), VYRE_OK);
    save(&fixture, store, VYRE_KNOWS_ALL);
    assert_int_equal(info_of(store).tuning_count, VYRE_REFUSALS_MAX + 1);
    assert_int_equal(load(&fixture, store, VYRE_KNOWS_ALL).refusal_count, VYRE_REFUSALS_MAX);
    fixture_close(&fixture);
    vyre_store_close(&store);
}

static void save_refusals_keeps_each_on_its_lines(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_store *store = open_store();
    struct vyre_refusal odd = refusal_of(1), found;
    memset(odd.kernel, '\n', sizeof odd.kernel);
    memset(odd.reason, 'r', sizeof odd.reason);
    fixture_open(&fixture, NULL, NULL);
    assert_int_equal(vyre_device_import_refusal(fixture.device, &odd, NULL), VYRE_OK);
    save(&fixture, store, VYRE_KNOWS_ALL);
    fixture_close(&fixture);
    fixture_open(&fixture, NULL, NULL);
    assert_int_equal(load(&fixture, store, VYRE_KNOWS_ALL).refusal_count, 1);
    assert_int_equal(vyre_device_refusals(fixture.device, &found, 1), 1);
    assert_int_equal(strspn(found.kernel, "?"), sizeof found.kernel - 1);
    assert_int_equal(strspn(found.reason, "r"), sizeof found.reason - 1);
    fixture_close(&fixture);
    vyre_store_close(&store);
}

static bool reads(const char *bytes, size_t size, struct vyre_refusal *out)
{
    /* On the heap, so that a sanitizer sees a read past the end. */
    void *copy = malloc(size + 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    void *exact = realloc(copy, size ? size : 1);
    const struct vyre_store_entry entry = {
        .kind = VYRE_STORE_TUNING, .key = {7, 8}, .bytes = exact, .size_bytes = size};
    bool is_one = vyre_refusal_read(&entry, out);
    free(exact);
    return is_one;
}

static void read_of_anything_else_is_no_refusal(void **state)
{
    (void)state;
    static const char right[] = "vyre-refusal 1\nk\nit differs\n";
    static const char *const wrong[] = {
        "",
        "vyre-refusal 1\n",
        "vyre-refusal 1\nk\n",
        "vyre-refusal 1\nk\nit differs",
        "vyre-refusal 1\nk\nit differs\n\n",
        "vyre-refusal 1\nk\nit differs\nmore\n",
        "vyre-refusal 1\nk\tk\nit differs\n",
        "vyre-refusal 1\nk\nit \x1b[31mdiffers\n",
        "vyre-refusal 2\nk\nit differs\n",
        "vyre-refusal 10\nk\nit differs\n",
        "Vyre-refusal 1\nk\nit differs\n",
    };
    struct vyre_refusal refusal;
    assert_true(reads(right, sizeof right - 1, &refusal));
    assert_int_equal(refusal.code.lo, 7);
    assert_string_equal(refusal.kernel, "k");
    assert_string_equal(refusal.reason, "it differs");
    assert_true(reads("vyre-refusal 1\n\nx\n", 18, &refusal));
    for (size_t i = 0; i < sizeof right - 1; i++)
        assert_false(reads(right, i, &refusal));
    assert_false(reads(right, sizeof right, &refusal)); /* with its terminator */
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        assert_false(reads(wrong[i], strlen(wrong[i]), &refusal));
    char text[512];
    for (size_t size = 62; size <= 65; size++) {
        int length = snprintf(text, sizeof text, "vyre-refusal 1\n%0*d\nr\n", (int)size, 0);
        assert_int_equal(reads(text, (size_t)length, &refusal), size < sizeof refusal.kernel);
        length = snprintf(text, sizeof text, "vyre-refusal 1\nk\n%0*d\n", (int)size + 32, 0);
        assert_int_equal(reads(text, (size_t)length, &refusal), size + 32 < VYRE_REASON_BYTES);
    }
    const struct vyre_store_entry pipeline = {
        .kind = VYRE_STORE_PIPELINE, .key = {7, 8}, .bytes = right, .size_bytes = sizeof right - 1};
    assert_false(vyre_refusal_read(&pipeline, &refusal));
    const struct vyre_store_entry no_code = {
        .kind = VYRE_STORE_TUNING, .bytes = right, .size_bytes = sizeof right - 1};
    assert_false(vyre_refusal_read(&no_code, &refusal));
}

static void load_leaves_tunings_of_others_alone(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_store *store = open_store();
    struct vyre_device_info info;
    struct vyre_store_device described;
    struct vyre_hash128 signature;
    fixture_open(&fixture, NULL, NULL);
    vyre_device_get_info(fixture.device, &info);
    vyre_device_describe(&info, 0, &described);
    assert_int_equal(vyre_store_put_device(store, &described, &signature, NULL), VYRE_OK);
    const struct vyre_store_entry entry = {.kind = VYRE_STORE_TUNING,
                                           .device = signature,
                                           .key = {1, 1},
                                           .bytes = "x",
                                           .size_bytes = 1};
    assert_int_equal(vyre_store_put_entry(store, &entry, NULL), VYRE_OK);
    assert_int_equal(load(&fixture, store, VYRE_KNOWS_ALL).refusal_count, 0);
    fixture_close(&fixture);
    vyre_store_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(save_of_a_fresh_device_writes_nothing),
        cmocka_unit_test(load_costs_that_another_process_measured),
        cmocka_unit_test(load_old_and_wrong_costs_are_left),
        cmocka_unit_test(load_learnings_that_are_well_founded),
        cmocka_unit_test(save_leaves_what_is_known_better),
        cmocka_unit_test(load_learnings_of_variants),
        cmocka_unit_test(save_without_memory_says_so),
        cmocka_unit_test(load_refusals_of_that_driver),
        cmocka_unit_test(save_refusals_past_the_limit),
        cmocka_unit_test(save_refusals_keeps_each_on_its_lines),
        cmocka_unit_test(read_of_anything_else_is_no_refusal),
        cmocka_unit_test(load_leaves_tunings_of_others_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
