/*
 * mode_cases.c: a required mode runs or is refused, auto says what it did and why, and no mode is
 * visible in the results.
 */
#include "conformance/conformance.h"

enum { WORDS = 500 };

static const struct {
    enum vyre_mode mode;
    enum vyre_ability_id ability;
} optional_modes[] = {{VYRE_MODE_REPLAY, VYRE_ABILITY_REPLAY},
                      {VYRE_MODE_PERSISTENT, VYRE_ABILITY_PERSISTENT}};

static struct vyre_batch_result result_of(struct fixture *f, struct vyre_device *device,
                                          struct vyre_ticket ticket)
{
    struct vyre_batch_result result = {0};
    wait_for(f, device, ticket);
    assert_ok(f, vyre_ticket_result(device, ticket, &result, &f->diag));
    return result;
}

static void required_mode_runs_in_it(struct fixture *f)
{
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, f->device, WORDS * 4);
    struct vyre_batch *batch = make_batch(f, f->device);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    add_add(batch, add, whole(data), 1, WORDS);
    for (size_t i = 0; i < 20 * mode_count; i++) { /* also going to and fro */
        enum vyre_mode mode = modes[i % mode_count];
        struct vyre_device_counters before = counters_of(f->device);
        struct vyre_batch_result result = result_of(f, f->device, submit_in(f, batch, mode));
        struct vyre_device_counters after = counters_of(f->device);
        assert_int_equal(result.status, VYRE_OK);
        assert_string_equal(vyre_mode_name(result.mode), vyre_mode_name(mode));
        assert_string_equal(vyre_mode_name(result.wanted), vyre_mode_name(mode));
        assert_int_equal(result.why, VYRE_WHY_REQUIRED);
        assert_int_equal(after.submitted, before.submitted + 1);
        assert_int_equal(after.completed, before.completed + 1);
        assert_int_equal(after.failed, before.failed);
        for (size_t j = 0; j < VYRE_MODE_COUNT; j++)
            assert_int_equal(after.by_mode[j], before.by_mode[j] + (j == (size_t)mode));
    }
    assert_all_words(f, data, 20 * (uint32_t)mode_count, WORDS);
}

static void required_mode_absent_refused(struct fixture *f)
{
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, f->device, WORDS * 4);
    struct vyre_batch *batch = make_batch(f, f->device);
    add_add(batch, add, whole(data), 1, WORDS);
    for (size_t i = 0; i < COUNT_OF(optional_modes); i++) {
        struct vyre_ticket ticket = {7, 7};
        struct vyre_submit_options options = {.mode = optional_modes[i].mode};
        if (device_has(f->device, optional_modes[i].ability))
            continue;
        assert_refused(f, vyre_batch_submit(batch, &options, &ticket, &f->diag),
                       VYRE_DIAG_SUBMIT_MODE);
        assert_int_equal(ticket.device, 0);
        assert_int_equal(ticket.sequence, 0);
        assert_refused(f, vyre_batch_warm_up(batch, optional_modes[i].mode, &f->diag),
                       VYRE_DIAG_SUBMIT_MODE);
    }
    assert_all_words(f, data, 0, WORDS); /* nothing ran */
}

static void mode_outside_enum_refused(struct fixture *f)
{
    struct vyre_batch *batch = make_batch(f, f->device);
    struct vyre_submit_options options = {.mode = (enum vyre_mode)17};
    struct vyre_ticket ticket = {7, 7};
    vyre_diag_reset(&f->diag);
    assert_int_not_equal(vyre_batch_submit(batch, &options, &ticket, &f->diag), VYRE_OK);
    assert_int_not_equal(f->diag.id, VYRE_DIAG_NONE);
    assert_int_equal(ticket.sequence, 0);
    assert_int_not_equal(vyre_batch_warm_up(batch, (enum vyre_mode)17, &f->diag), VYRE_OK);
}

static void check_auto(struct fixture *f, const struct vyre_batch_result *result)
{
    bool has[VYRE_MODE_COUNT] = {[VYRE_MODE_PLAIN] = true};
    for (size_t i = 0; i < COUNT_OF(optional_modes); i++)
        has[optional_modes[i].mode] = device_has(f->device, optional_modes[i].ability);
    assert_int_equal(result->status, VYRE_OK);
    assert_true(result->mode > VYRE_MODE_AUTO && (size_t)result->mode < VYRE_MODE_COUNT);
    assert_true(has[result->mode]);
    assert_true(result->why >= VYRE_WHY_ONLY_FEASIBLE && result->why <= VYRE_WHY_DRIFT_RECHECK);
    if (result->wanted_out != VYRE_WHY_NONE) {
        assert_true(result->wanted_out >= VYRE_WHY_ABILITY_ABSENT &&
                    result->wanted_out <= VYRE_WHY_UNBUILT);
        assert_int_not_equal(result->wanted, VYRE_MODE_PLAIN);
    }
    if (result->wanted_out == VYRE_WHY_ABILITY_ABSENT)
        assert_false(has[result->wanted]);
    /* What the policies ask for runs, unless it cannot. */
    if (result->why == VYRE_WHY_VERDICT && result->wanted_out == VYRE_WHY_NONE)
        assert_int_equal(result->mode, result->wanted);
}

/* Nothing is measured on a new device: the policies decide, and a shape without a hint stays plain. */
static void the_first_batch_runs_what_the_policies_ask(struct fixture *f)
{
    static const uint32_t hints[] = {0, 1, 2, 50, 1000, 1000000};
    for (size_t i = 0; i < COUNT_OF(hints); i++) {
        struct vyre_device *device = open_device(f, NULL);
        struct vyre_kernel *add = make_kernel(f, device, KERNEL_ADD);
        struct vyre_buffer *data = make_buffer(f, device, WORDS * 4);
        struct vyre_batch *batch = make_batch(f, device);
        for (size_t j = 0; j <= 4 * i; j++)
            add_add(batch, add, whole(data), 1, WORDS);
        struct vyre_explanation said;
        struct vyre_ticket ticket;
        const struct vyre_submit_options options = {.repeat_hint = hints[i], .timed = true};
        assert_ok(f, vyre_batch_explain(batch, hints[i], &said, &f->diag));
        assert_ok(f, vyre_batch_submit(batch, &options, &ticket, &f->diag));
        struct vyre_batch_result result = result_of(f, device, ticket);
        struct vyre_decision_record record;
        assert_int_equal(vyre_device_read_decisions(device, 1, &record, 1), 1);
        assert_int_equal(vyre_verdict_mode(&said.verdicts), said.wanted);
        if (hints[i] == 0)
            assert_int_equal(said.wanted, VYRE_MODE_PLAIN);
        if (result.wanted_out == VYRE_WHY_NONE) {
            assert_int_equal(result.wanted, said.wanted);
            assert_int_equal(result.mode, said.wanted);
            assert_true(result.why == VYRE_WHY_VERDICT || result.why == VYRE_WHY_ONLY_FEASIBLE);
        }
        /* The record says the same, and that no measurement stands behind it. */
        assert_int_equal(record.mode, result.mode);
        assert_int_equal(record.wanted, result.wanted);
        assert_int_equal(record.why, result.why);
        assert_int_equal(record.wanted_out, result.wanted_out);
        assert_int_equal(record.evidence, VYRE_EVIDENCE_NONE);
        close_device(f, &device);
    }
}

static void auto_reports_mode_and_reason(struct fixture *f)
{
    static const uint32_t hints[] = {0, 1, 2, 100, 1000000, UINT32_MAX};
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_kernel *mix = make_kernel(f, f->device, KERNEL_MIX);
    struct vyre_buffer *a = make_buffer(f, f->device, WORDS * 4);
    struct vyre_buffer *b = make_buffer(f, f->device, WORDS * 4);
    uint32_t expected = 0;
    for (size_t i = 0; i < COUNT_OF(hints); i++) {
        struct vyre_batch *batch = make_batch(f, f->device);
        for (size_t j = 0; j <= 3 * i; j++) {
            add_add(batch, add, whole(a), 1, WORDS);
            add_mix(batch, mix, whole(a), whole(b), 1, WORDS);
        }
        for (size_t j = 0; j < 40; j++) {
            struct vyre_ticket ticket;
            struct vyre_submit_options options = {.repeat_hint = hints[i], .timed = j % 2};
            assert_ok(f, vyre_batch_submit(batch, &options, &ticket, &f->diag));
            struct vyre_batch_result result = result_of(f, f->device, ticket);
            check_auto(f, &result);
            expected += (uint32_t)(3 * i) + 1;
        }
        assert_all_words(f, a, expected, WORDS);
    }
}

static void timed_batch_has_times(struct fixture *f)
{
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, f->device, WORDS * 4);
    struct vyre_batch *batch = make_batch(f, f->device);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    for (size_t i = 0; i < 30; i++)
        add_add(batch, add, whole(data), 1, WORDS);
    for (size_t i = 0; i < mode_count; i++) {
        struct vyre_ticket ticket;
        struct vyre_submit_options options = {.mode = modes[i], .timed = true};
        uint64_t start = now_ns();
        assert_ok(f, vyre_batch_submit(batch, &options, &ticket, &f->diag));
        struct vyre_batch_result result = result_of(f, f->device, ticket);
        uint64_t all = now_ns() - start;
        assert_in_range(result.host_ns, 1, all);
        if (device_has(f->device, VYRE_ABILITY_TIMESTAMPS))
            assert_in_range(result.device_ns, 1, all);
    }
}

/* The verdicts of auto go to the instance's audit, one bundle a submit; required modes ask no policy. */
static void auto_reports_the_audit(struct fixture *f)
{
    enum { COUNT = 30 };
    struct vyre_audit_snapshot before, after;
    assert_ok(f, vyre_audit_create(&(struct vyre_audit_desc){0}, &f->audit, &f->diag));
    struct vyre_device *device = open_in_other(f, &(struct vyre_instance_desc){.audit = f->audit});
    struct vyre_kernel *add = make_kernel(f, device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, device, WORDS * 4);
    struct vyre_batch *batch = make_batch(f, device);
    add_add(batch, add, whole(data), 1, WORDS);
    run_in(f, device, batch, VYRE_MODE_PLAIN);
    vyre_audit_snapshot(f->audit, NULL, 0, &before);
    for (size_t i = 0; i < COUNT; i++)
        run_in(f, device, batch, VYRE_MODE_AUTO);
    vyre_audit_snapshot(f->audit, NULL, 0, &after);
    uint64_t first = 0, second = 0;
    for (size_t i = 0; i < VYRE_AUDIT_CHOICES; i++) {
        first += before.counters.verdicts[VYRE_POLICY_COMMAND_REUSE][i];
        second += after.counters.verdicts[VYRE_POLICY_COMMAND_REUSE][i];
    }
    assert_int_equal(first, 0);
    assert_int_equal(second, COUNT);
}

/* A long batch of everything: the bytes are the same in every mode, and in auto. */
static void modes_give_the_same_bytes(struct fixture *f)
{
    enum { BUFFERS = 5, ROUNDS = 12 };
    static uint32_t results[4][BUFFERS * WORDS];
    struct vyre_kernel *mix = make_kernel(f, f->device, KERNEL_MIX);
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    enum vyre_mode modes[4];
    size_t mode_count = device_modes(f->device, modes);
    modes[mode_count++] = VYRE_MODE_AUTO;
    for (size_t i = 0; i < mode_count; i++) {
        struct vyre_buffer *buffers[BUFFERS];
        struct vyre_batch *batch = make_batch(f, f->device);
        for (size_t j = 0; j < BUFFERS; j++)
            buffers[j] = make_buffer(f, f->device, WORDS * 4);
        for (uint32_t j = 0; j < ROUNDS; j++) {
            struct vyre_buffer *from = buffers[j % BUFFERS], *to = buffers[(j * 3 + 1) % BUFFERS];
            vyre_batch_fill(batch, range_of(from, 8 * (size_t)j, 400), j * 77);
            if (from != to)
                add_mix(batch, mix, whole(from), whole(to), 31 + j, WORDS);
            add_add(batch, add, whole(buffers[(j + 2) % BUFFERS]), j, WORDS);
            if (from != to)
                vyre_batch_copy(batch, range_of(to, 100, 900), range_of(from, 300, 900));
        }
        for (size_t j = 0; j < BUFFERS; j++)
            vyre_batch_download(batch, whole(buffers[j]), &results[i][j * WORDS]);
        for (size_t j = 0; j < 5; j++)
            run_in(f, f->device, batch, modes[i]);
        assert_memory_equal(results[i], results[0], sizeof results[0]);
    }
    size_t zeros = 0;
    for (size_t i = 0; i < BUFFERS * WORDS; i++)
        zeros += results[0][i] == 0;
    assert_true(zeros < BUFFERS * WORDS / 4); /* the work did something */
}

/* Work in flight in one mode is seen by the next batch in another. */
static void switching_modes_keeps_order(struct fixture *f)
{
    enum { COUNT = 300 };
    uint32_t expected[COUNT + 1] = {COUNT};
    struct vyre_kernel *append = make_kernel(f, f->device, KERNEL_APPEND);
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *log = make_buffer(f, f->device, sizeof expected);
    struct vyre_buffer *other = make_buffer(f, f->device, 1 << 16);
    struct vyre_batch *batch = make_batch(f, f->device);
    enum vyre_mode modes[4];
    size_t mode_count = device_modes(f->device, modes);
    modes[mode_count++] = VYRE_MODE_AUTO;
    for (uint32_t i = 0; i < COUNT; i++) {
        expected[1 + i] = i ^ 0x5555;
        vyre_batch_reset(batch);
        if (i % 5 == 0)
            add_add(batch, add, whole(other), 1, 1 << 14); /* something longer before it */
        add_append(batch, append, whole(log), i ^ 0x5555);
        submit_in(f, batch, modes[i * 7 / 3 % mode_count]);
        if (i % 50 == 49)
            sleep_ns(4000000); /* a resident kernel leaves meanwhile */
    }
    assert_words(f, log, expected, COUNT + 1);
    assert_all_words(f, other, COUNT / 5, 1 << 14);
}

/* A lease that is over in the middle of the work does not show. */
static void persistent_short_lease_and_idle(struct fixture *f)
{
    enum { COUNT = 2000 };
    struct vyre_device_desc desc = {.persistent_idle_ns = 50000, .persistent_lease_ns = 200000};
    struct vyre_device *device = open_device(f, &desc);
    struct vyre_kernel *add = make_kernel(f, device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, device, WORDS * 4);
    struct vyre_batch *batch = make_batch(f, device);
    add_add(batch, add, whole(data), 1, WORDS);
    for (uint32_t i = 0; i < COUNT; i++) {
        struct vyre_ticket ticket = submit_in(f, batch, VYRE_MODE_PERSISTENT);
        if (i % 16 == 0)
            wait_for(f, device, ticket);
        if (i % 100 == 0)
            sleep_ns(300000);
    }
    assert_all_words(f, data, COUNT, WORDS);
    assert_int_equal(counters_of(device).by_mode[VYRE_MODE_PERSISTENT], COUNT);
}

static const struct conformance_case cases[] = {
    {"required_mode_runs_in_it", required_mode_runs_in_it, 0},
    {"required_mode_absent_refused", required_mode_absent_refused, 0},
    {"mode_outside_enum_refused", mode_outside_enum_refused, 0},
    {"the_first_batch_runs_what_the_policies_ask", the_first_batch_runs_what_the_policies_ask, 0},
    {"auto_reports_mode_and_reason", auto_reports_mode_and_reason, 0},
    {"auto_reports_the_audit", auto_reports_the_audit, 0},
    {"timed_batch_has_times", timed_batch_has_times, 0},
    {"modes_give_the_same_bytes", modes_give_the_same_bytes, 0},
    {"switching_modes_keeps_order", switching_modes_keeps_order, 0},
    {"persistent_short_lease_and_idle", persistent_short_lease_and_idle, NEEDS(PERSISTENT)},
};

const struct conformance_group mode_cases = {"mode", cases, COUNT_OF(cases)};
