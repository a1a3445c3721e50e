/*
 * learnings_test.c: what one process learned is found by another under the same stable shape, and
 * decides for it. Time is virtual; "another process" is another sim, instance and device.
 */
#include <math.h>

#include "runtime/sim_fixture.h"

enum { BYTES = 256, COMMANDS = 16, KEPT = 64 };

struct kept {
    size_t count;
    size_t limit; /* the export is ended here; 0: never */
    struct vyre_learning learnings[KEPT];
};

static bool keep(void *user, const struct vyre_learning *learning)
{
    struct kept *kept = user;
    assert_true(kept->count < KEPT);
    kept->learnings[kept->count++] = *learning;
    return kept->count != kept->limit;
}

static struct kept export_of(struct fixture *fixture)
{
    struct kept kept = {0};
    size_t count = vyre_device_export_learnings(fixture->device, keep, &kept);
    assert_int_equal(count, kept.count);
    return kept;
}

static const struct vyre_learning *find(const struct kept *kept, enum vyre_mode mode)
{
    for (size_t i = 0; i < kept->count; i++) {
        if (kept->learnings[i].mode == mode)
            return &kept->learnings[i];
    }
    return NULL;
}

static enum vyre_mode run(struct fixture *fixture, struct vyre_batch *batch, uint32_t hint)
{
    struct vyre_ticket ticket;
    const struct vyre_submit_options options = {.repeat_hint = hint};
    assert_int_equal(vyre_batch_submit(batch, &options, &ticket, &fixture->diag), VYRE_OK);
    assert_int_equal(fixture_wait(fixture, ticket), VYRE_OK);
    return fixture_result(fixture, ticket).mode;
}

static void import(struct fixture *fixture, const struct kept *kept)
{
    for (size_t i = 0; i < kept->count; i++)
        assert_int_equal(
            vyre_device_import_learning(fixture->device, &kept->learnings[i], &fixture->diag),
            VYRE_OK);
}

/* ---- Decisions -------------------------------------------------------------------------------- */

/* Replay is slow, and the calibration says that it is cheap. */
static void open_misled(struct fixture *fixture)
{
    struct vyre_sim_costs costs = vyre_sim_costs_default();
    struct vyre_calibration calibration;
    costs.group_ns = 10;
    costs.replay_ns = 4000000;
    fixture_open(
        fixture,
        &(struct vyre_sim_desc){.costs = &costs, .absent = {[VYRE_ABILITY_PERSISTENT] = "no ring"}},
        NULL);
    assert_int_equal(vyre_device_calibrate(fixture->device, NULL, &calibration, &fixture->diag),
                     VYRE_OK);
    calibration.costs[VYRE_COST_REPLAY_BATCH].median_ns = 10.0;
    calibration.costs[VYRE_COST_REPLAY_COMMAND].median_ns = 1.0;
    assert_int_equal(vyre_device_set_calibration(fixture->device, &calibration, &fixture->diag),
                     VYRE_OK);
}

static struct vyre_batch *long_batch(struct fixture *fixture)
{
    struct vyre_batch *batch = fixture_batch(fixture);
    struct vyre_buffer *in = fixture_buffer(fixture, BYTES);
    struct vyre_buffer *out = fixture_buffer(fixture, BYTES);
    for (uint32_t i = 0; i < COMMANDS; i++)
        fixture_mix(fixture, batch, (struct vyre_range){.buffer = in},
                    (struct vyre_range){.buffer = out}, i);
    return batch;
}

static void what_was_learned_decides_the_first_batch(void **state)
{
    (void)state;
    struct fixture fixture;
    open_misled(&fixture);
    struct vyre_batch *batch = long_batch(&fixture);
    assert_int_equal(run(&fixture, batch, 1000), VYRE_MODE_REPLAY); /* as calibration says */
    for (int i = 0; i < 100; i++)
        (void)run(&fixture, batch, 1000);
    struct kept kept = export_of(&fixture);
    fixture_close(&fixture);
    const struct vyre_learning *plain = find(&kept, VYRE_MODE_PLAIN);
    const struct vyre_learning *replay = find(&kept, VYRE_MODE_REPLAY);
    assert_non_null(plain);
    assert_non_null(replay);
    assert_true(plain->count >= 8);
    assert_true(replay->mean_ns > 10 * plain->mean_ns);
    assert_true(vyre_hash128_equal(plain->shape, replay->shape));

    open_misled(&fixture);
    vyre_sim_advance(fixture.sim, 1000000000); /* a record is due again */
    (void)fixture_buffer(&fixture, 4 * BYTES); /* other identities than before */
    import(&fixture, &kept);
    batch = long_batch(&fixture);
    assert_int_equal(run(&fixture, batch, 1000), VYRE_MODE_PLAIN);
    struct vyre_decision_record record;
    struct vyre_decision_counters counters; /* the calibration's decisions come first */
    vyre_device_count_decisions(fixture.device, &counters);
    assert_int_equal(vyre_device_read_decisions(fixture.device, counters.decided, &record, 1), 1);
    assert_int_equal(record.why, VYRE_WHY_PREDICTED_BEST);
    assert_int_equal(record.evidence, VYRE_EVIDENCE_STORE);
    assert_int_equal(record.wanted, VYRE_MODE_REPLAY);
    /* The prediction is the learned mean: overhead and execution together. */
    assert_in_range(record.predicted_ns, (uint64_t)(plain->mean_ns * 0.9),
                    (uint64_t)(plain->mean_ns * 1.1));
    fixture_close(&fixture);
}

/* What is measured replaces a learning that is wrong. */
static void a_wrong_learning_is_corrected(void **state)
{
    (void)state;
    struct fixture fixture;
    open_misled(&fixture);
    struct vyre_batch *batch = long_batch(&fixture);
    for (int i = 0; i < 100; i++)
        (void)run(&fixture, batch, 1000);
    struct kept kept = export_of(&fixture);
    fixture_close(&fixture);
    for (size_t i = 0; i < kept.count; i++)
        kept.learnings[i].mean_ns *= kept.learnings[i].mode == VYRE_MODE_PLAIN ? 10 : 0.01;
    open_misled(&fixture);
    import(&fixture, &kept);
    batch = long_batch(&fixture);
    assert_int_equal(run(&fixture, batch, 1000), VYRE_MODE_REPLAY);
    uint32_t plain = 0;
    for (int i = 0; i < 50; i++)
        (void)run(&fixture, batch, 1000);
    for (int i = 0; i < 20; i++)
        plain += run(&fixture, batch, 1000) == VYRE_MODE_PLAIN;
    assert_in_range(plain, 15, 20);
    fixture_close(&fixture);
}

/* ---- Shapes ----------------------------------------------------------------------------------- */

/* One dispatch or copy; what makes another shape is a field. */
struct work {
    uint32_t groups;
    size_t in_bytes;
    size_t out_bytes;
    size_t offset_bytes;
    uint64_t specialization;
    uint32_t constant;
    bool same_buffer; /* a third command reads the first buffer again, not a new one */
    bool fills;
    uint32_t spare_buffers; /* made before the others */
    enum fixture_kernel kernel;
};

static struct vyre_batch *build(struct fixture *fixture, const struct work *work)
{
    for (uint32_t i = 0; i < work->spare_buffers; i++)
        (void)fixture_buffer(fixture, 64);
    struct vyre_buffer *in = fixture_buffer(fixture, work->in_bytes);
    struct vyre_buffer *out = fixture_buffer(fixture, work->out_bytes);
    struct vyre_buffer *other = fixture_buffer(fixture, work->in_bytes);
    struct vyre_batch *batch = fixture_batch(fixture);
    const struct vyre_range whole = {.buffer = out, .size_bytes = 128};
    const struct vyre_range part = {
        .buffer = in, .offset_bytes = work->offset_bytes, .size_bytes = 64};
    const struct vyre_slot_binding mix[] = {{.slot = 0, .range = part},
                                            {.slot = 5, .range = whole}};
    const struct vyre_slot_binding set[] = {{.slot = 2, .range = whole}};
    bool mixes = work->kernel == KERNEL_MIX;
    vyre_batch_dispatch(batch, &(struct vyre_dispatch){
                                   .kernel = fixture->kernels[work->kernel],
                                   .groups = {work->groups, 1, 1},
                                   .bindings = mixes ? mix : set,
                                   .binding_count = mixes ? 2 : 1,
                                   .constants = &work->constant,
                                   .constants_size_bytes = sizeof work->constant,
                                   .specialization = mixes ? &work->specialization : NULL,
                                   .specialization_count = mixes,
                               });
    vyre_batch_copy(batch,
                    (struct vyre_range){.buffer = work->same_buffer ? in : other, .size_bytes = 64},
                    (struct vyre_range){.buffer = out, .size_bytes = 64});
    if (work->fills)
        vyre_batch_fill(batch, (struct vyre_range){.buffer = out}, 7);
    assert_int_equal(vyre_batch_status(batch, &fixture->diag), VYRE_OK);
    return batch;
}

static struct vyre_hash128 shape_of(const struct work *work)
{
    struct fixture fixture;
    fixture_open(&fixture, NULL, NULL);
    struct vyre_batch *batch = build(&fixture, work);
    for (int i = 0; i < 12; i++)
        (void)run(&fixture, batch, 0);
    struct kept kept = export_of(&fixture);
    assert_true(kept.count > 0);
    struct vyre_hash128 shape = kept.learnings[0].shape;
    for (size_t i = 1; i < kept.count; i++)
        assert_true(vyre_hash128_equal(kept.learnings[i].shape, shape));
    fixture_close(&fixture);
    return shape;
}

static void the_same_work_has_the_same_stable_shape(void **state)
{
    (void)state;
    const struct work base = {.groups = 2, .in_bytes = 256, .out_bytes = 512, .specialization = 3};
    struct work same = base;
    struct vyre_hash128 shape = shape_of(&base);
    assert_true(vyre_hash128_equal(shape_of(&same), shape));
    same.spare_buffers = 5; /* identities do not count, nor do the values of constants */
    same.constant = 77;
    assert_true(vyre_hash128_equal(shape_of(&same), shape));
}

static void other_work_has_another_stable_shape(void **state)
{
    (void)state;
    enum { COUNT = 9 };
    const struct work base = {.groups = 2, .in_bytes = 256, .out_bytes = 512, .specialization = 3};
    struct work works[COUNT];
    for (int i = 0; i < COUNT; i++)
        works[i] = base;
    works[1].groups = 3;
    works[2].in_bytes = 320;
    works[3].out_bytes = 1024;
    works[4].offset_bytes = 64;
    works[5].specialization = 4;
    works[6].same_buffer = true;
    works[7].fills = true;
    works[8].kernel = KERNEL_SET;
    struct vyre_hash128 shapes[COUNT];
    for (int i = 0; i < COUNT; i++) {
        shapes[i] = shape_of(&works[i]);
        for (int j = 0; j < i; j++) {
            if (vyre_hash128_equal(shapes[i], shapes[j]))
                fail_msg("works %d and %d have the same shape", j, i);
        }
    }
}

static void an_unnamed_function_has_no_stable_shape(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_open(&fixture, NULL, NULL);
    const struct fixture_kernel_facts *facts = &fixture_kernels[KERNEL_SET];
    const struct vyre_binding_desc binding = {
        .slot = 2, .role = VYRE_ROLE_OUTPUT, .element_size_bytes = 4};
    const enum vyre_scalar constants[] = {VYRE_SCALAR_U32};
    for (int named = 0; named < 2; named++) {
        const struct vyre_payload payload = {
            .target = VYRE_TARGET_HOST, .function = facts->function, .entry = named ? "set" : NULL};
        struct vyre_kernel *kernel;
        const struct vyre_kernel_desc desc = {.payloads = &payload,
                                              .payload_count = 1,
                                              .bindings = &binding,
                                              .binding_count = 1,
                                              .constants = constants,
                                              .constant_count = 1};
        assert_int_equal(vyre_kernel_create(fixture.device, &desc, &kernel, &fixture.diag),
                         VYRE_OK);
        struct vyre_batch *batch = fixture_batch(&fixture);
        const uint32_t constant = 1;
        const struct vyre_slot_binding bound = {
            .slot = 2, .range = {.buffer = fixture_buffer(&fixture, BYTES)}};
        vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = kernel,
                                                           .groups = {1, 1, 1},
                                                           .bindings = &bound,
                                                           .binding_count = 1,
                                                           .constants = &constant,
                                                           .constants_size_bytes = 4});
        for (int i = 0; i < 12; i++)
            (void)run(&fixture, batch, 0);
        assert_int_equal(export_of(&fixture).count > 0, named);
    }
    fixture_close(&fixture);
}

/* ---- Limits ----------------------------------------------------------------------------------- */

static void an_export_ends_when_asked_to(void **state)
{
    (void)state;
    struct fixture fixture;
    open_misled(&fixture);
    struct vyre_batch *batch = long_batch(&fixture);
    struct kept kept = {.limit = 1};
    assert_int_equal(vyre_device_export_learnings(fixture.device, keep, &kept), 0);
    for (int i = 0; i < 3; i++) /* fewer than are worth a hash */
        (void)run(&fixture, batch, 1000);
    assert_int_equal(vyre_device_export_learnings(fixture.device, keep, &kept), 0);
    for (int i = 0; i < 100; i++)
        (void)run(&fixture, batch, 1000);
    assert_int_equal(export_of(&fixture).count, 2);
    assert_int_equal(vyre_device_export_learnings(fixture.device, keep, &kept), 1);
    fixture_close(&fixture);
}

static void imports_are_bounded(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_learning learning = {.mode = VYRE_MODE_PLAIN, .mean_ns = 5000.0, .count = 9};
    fixture_open(&fixture, NULL, NULL);
    for (uint64_t i = 0; i < VYRE_LEARNED_SHAPES_MAX; i++) {
        learning.shape = (struct vyre_hash128){.lo = i * 3, .hi = i};
        assert_int_equal(vyre_device_import_learning(fixture.device, &learning, &fixture.diag),
                         VYRE_OK);
    }
    learning.mode = VYRE_MODE_REPLAY; /* of a shape that is there */
    assert_int_equal(vyre_device_import_learning(fixture.device, &learning, &fixture.diag),
                     VYRE_OK);
    learning.shape.hi = UINT64_MAX;
    assert_int_equal(vyre_device_import_learning(fixture.device, &learning, &fixture.diag),
                     VYRE_LIMIT);
    assert_int_equal(fixture.diag.id, VYRE_DIAG_LEARNING_LIMIT);
    assert_int_equal(export_of(&fixture).count, 0); /* what was only imported is not news */
    fixture_close(&fixture);
}

static void what_is_no_learning_is_refused(void **state)
{
    (void)state;
    static const double wrong[] = {0.0, -1.0, 1e300, INFINITY, NAN};
    struct fixture fixture;
    fixture_open(&fixture, NULL, NULL);
    struct vyre_learning learning = {.mode = VYRE_MODE_PLAIN, .mean_ns = 1.0, .count = 0};
    assert_int_equal(vyre_device_import_learning(fixture.device, &learning, &fixture.diag),
                     VYRE_INVALID);
    learning.count = 1;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        learning.mean_ns = wrong[i];
        assert_int_equal(vyre_device_import_learning(fixture.device, &learning, &fixture.diag),
                         VYRE_INVALID);
        assert_int_equal(fixture.diag.id, VYRE_DIAG_ARGUMENT_RANGE);
    }
    learning.mean_ns = 1.0;
    learning.variant = VYRE_VARIANT_DRIVER; /* the sim offers none */
    assert_int_equal(vyre_device_import_learning(fixture.device, &learning, &fixture.diag),
                     VYRE_UNSUPPORTED);
    assert_int_equal(fixture.diag.id, VYRE_DIAG_LEARNING_CANDIDATE);
    learning.variant = 0;
    learning.mode = VYRE_MODE_AUTO;
    assert_int_equal(vyre_device_import_learning(fixture.device, &learning, &fixture.diag),
                     VYRE_UNSUPPORTED);
    learning.mode = (enum vyre_mode)99;
    assert_int_equal(vyre_device_import_learning(fixture.device, &learning, &fixture.diag),
                     VYRE_UNSUPPORTED);
    fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_learned_decides_the_first_batch),
        cmocka_unit_test(a_wrong_learning_is_corrected),
        cmocka_unit_test(the_same_work_has_the_same_stable_shape),
        cmocka_unit_test(other_work_has_another_stable_shape),
        cmocka_unit_test(an_unnamed_function_has_no_stable_shape),
        cmocka_unit_test(an_export_ends_when_asked_to),
        cmocka_unit_test(imports_are_bounded),
        cmocka_unit_test(what_is_no_learning_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
