/*
 * refusals_test.c: refusals of a run: in which modes it gets them, what it leaves, what it prints.
 */
#include "run/refusals.h"

#include <stdlib.h>
#include <unistd.h>

#include "run/knowledge.h"
#include "run/proofs.h"

#include "support/sim/sim_backend.h"
#include "support/test.h"

static struct vyre_refusal refusal_of(uint64_t number)
{
    struct vyre_refusal refusal = {.code = {number, ~number}};
    snprintf(refusal.kernel, sizeof refusal.kernel, "kernel %llu", (unsigned long long)number);
    snprintf(refusal.reason, sizeof refusal.reason, "writes %llu", (unsigned long long)number);
    return refusal;
}

/* ---- Lists ------------------------------------------------------------------------------------ */

static void add_keeps_each_code_once_on_one_line_and_no_more_than_fit(void **state)
{
    (void)state;
    struct cli_refusals refusals = {0};
    struct vyre_refusal odd = refusal_of(1);
    memset(odd.kernel, '\n', sizeof odd.kernel);
    cli_refusals_add(&refusals, &odd);
    assert_int_equal(strspn(refusals.items[0].kernel, "?"), sizeof odd.kernel - 1);
    for (uint64_t i = 1; i <= VYRE_REFUSALS_MAX + 5; i++) {
        cli_refusals_add(&refusals, (struct vyre_refusal[]){refusal_of(i)});
        cli_refusals_add(&refusals, (struct vyre_refusal[]){refusal_of(i)});
        assert_int_equal(refusals.count, i < VYRE_REFUSALS_MAX ? i : VYRE_REFUSALS_MAX);
    }
    assert_true(cli_refusals_has(&refusals, refusal_of(VYRE_REFUSALS_MAX).code));
    assert_false(cli_refusals_has(&refusals, refusal_of(VYRE_REFUSALS_MAX + 1).code));
    cli_refusals_deinit(&refusals);
}

/* ---- Runs ------------------------------------------------------------------------------------- */

struct running {
    char path[64]; /* of a store in a folder of its own */
    struct vyre_sim *sim;
    struct vyre_instance *instance;
    struct vyre_device *device;
};

static int set_up(void **state)
{
    static struct running running;
    struct vyre_diag diag;
    strcpy(running.path, "/tmp/vyre-refusals.XXXXXX");
    assert_non_null(mkdtemp(running.path));
    strcat(running.path, "/store.db");
    running.sim = vyre_sim_create(&(struct vyre_sim_desc){.device_count = 1});
    assert_non_null(running.sim);
    assert_int_equal(vyre_instance_create(NULL, &running.instance, &diag), VYRE_OK);
    assert_int_equal(
        vyre_instance_register_backend(running.instance, vyre_sim_ops(running.sim), &diag),
        VYRE_OK);
    const struct vyre_device_desc desc = {.backend = "sim"};
    assert_int_equal(vyre_device_open(running.instance, &desc, &running.device, &diag), VYRE_OK);
    *state = &running;
    return 0;
}

static int tear_down(void **state)
{
    struct running *running = *state;
    vyre_device_close(&running->device);
    vyre_instance_destroy(&running->instance);
    vyre_sim_destroy(&running->sim);
    static const char *const ends[] = {"", "-wal", "-shm"}; /* a look leaves the last two */
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        char file[sizeof running->path + 8];
        snprintf(file, sizeof file, "%s%s", running->path, ends[i]);
        (void)unlink(file);
    }
    *strrchr(running->path, '/') = '\0';
    assert_int_equal(rmdir(running->path), 0);
    return 0;
}

/* How many refusals a run with these options finds; nothing else, unless it is auto. */
static size_t found_by(const struct running *running, const struct cli_options *options,
                       uint64_t learnings)
{
    struct cli_knowledge knowledge;
    struct vyre_diag diag;
    assert_int_equal(cli_knowledge_give(&knowledge, running->device, options, 1, &diag), VYRE_OK);
    size_t count = knowledge.refusals.count;
    assert_int_equal(knowledge.loaded, learnings);
    assert_int_equal(knowledge.source,
                     options->mode == VYRE_MODE_AUTO ? CLI_COSTS_STATED : CLI_COSTS_UNUSED);
    cli_knowledge_close(&knowledge);
    return count;
}

static void give_reports_every_mode_that_may_run_generated_code(void **state)
{
    const struct running *running = *state;
    struct vyre_device_info info;
    struct vyre_refusal given;
    struct vyre_diag diag;
    struct vyre_hash128 signature;
    struct cli_options options = {.mode = VYRE_MODE_PERSISTENT, .store.path = running->path};
    assert_int_equal(found_by(running, &options, 0), 0);
    assert_int_not_equal(access(running->path, F_OK), 0);

    static const char text[] = "vyre-refusal 1\nkernel 1\nwrites 1\n";
    struct vyre_store_device device;
    struct vyre_store *store = NULL;
    vyre_device_get_info(running->device, &info);
    vyre_device_describe(&info, 0, &device);
    const struct vyre_store_learning learning = {
        .shape = {5, 5}, .candidate = VYRE_MODE_PLAIN, .count = 9, .mean_ns = 1000};
    const struct vyre_store_desc desc = {.path = running->path};
    assert_int_equal(vyre_store_open(&desc, &store, &diag), VYRE_OK);
    assert_int_equal(vyre_store_put_device(store, &device, &signature, &diag), VYRE_OK);
    const struct vyre_store_entry entry = {.kind = VYRE_STORE_TUNING,
                                           .device = signature,
                                           .key = refusal_of(1).code,
                                           .bytes = text,
                                           .size_bytes = sizeof text - 1};
    assert_int_equal(vyre_store_put_entry(store, &entry, &diag), VYRE_OK);
    assert_int_equal(vyre_store_put_learnings(store, signature, &learning, 1, &diag), VYRE_OK);
    vyre_store_close(&store);

    assert_int_equal(vyre_device_refusals(running->device, NULL, 0), 0);
    assert_int_equal(found_by(running, &options, 0), 1);
    assert_int_equal(vyre_device_refusals(running->device, &given, 1), 1);
    assert_string_equal(given.kernel, refusal_of(1).kernel);
    options.mode = VYRE_MODE_REPLAY;
    assert_int_equal(found_by(running, &options, 0), 1);
    options.mode = VYRE_MODE_AUTO;
    assert_int_equal(found_by(running, &options, 1), 1);
    options.mode = VYRE_MODE_PLAIN;
    assert_int_equal(found_by(running, &options, 0), 0);
    options = (struct cli_options){.mode = VYRE_MODE_PERSISTENT, .store.none = true};
    assert_int_equal(found_by(running, &options, 0), 0);
}

static void keep_makes_a_store_for_a_refusal_only(void **state)
{
    const struct running *running = *state;
    const struct cli_options options = {.mode = VYRE_MODE_PERSISTENT, .store.path = running->path};
    struct cli_knowledge knowledge;
    struct vyre_diag diag;
    struct cli_refusals refusals = {0};
    assert_int_equal(cli_knowledge_give(&knowledge, running->device, &options, 1, &diag), VYRE_OK);
    cli_knowledge_keep(&knowledge, running->device);
    cli_knowledge_keep_refusals(&knowledge, &refusals, running->device);
    assert_int_not_equal(access(running->path, F_OK), 0);
    cli_refusals_add(&refusals, (struct vyre_refusal[]){refusal_of(2)});
    cli_knowledge_keep_refusals(&knowledge, &refusals, running->device);
    cli_knowledge_close(&knowledge);
    cli_refusals_deinit(&refusals);
    assert_int_equal(access(running->path, F_OK), 0);
    assert_int_equal(found_by(running, &options, 0), 1);
}

/* ---- Output ----------------------------------------------------------------------------------- */

static ssize_t collect(void *user, const char *bytes, size_t size_bytes)
{
    char *text = user;
    size_t used = strlen(text);
    memcpy(text + used, bytes, size_bytes);
    text[used + size_bytes] = '\0';
    return (ssize_t)size_bytes;
}

static size_t count_lines(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

static void print_has_a_line_for_each_thing_that_happened(void **state)
{
    (void)state;
    static struct cli_output out;
    static char text[4096];
    struct cli_proofs proofs = {0};
    struct cli_refusals known = {0};
    struct workload_kernel kernels[1] = {{.name = (char[]){"kernel 2"}}};
    const struct workload workload = {.kernels = kernels, .kernel_count = 1};
    cli_output_init(&out, collect, text);
    cli_proofs_print(&proofs, &out);
    cli_output_flush(&out);
    assert_string_equal(text, "");

    proofs.counters = (struct vyre_proof_counters){
        .proven = 3, .unstable = 1, .refused = 1, .put_off = 2, .time_ns = 1500};
    cli_refusals_add(&proofs.found, (struct vyre_refusal[]){refusal_of(1)});
    cli_refusals_add(&known, (struct vyre_refusal[]){refusal_of(2)});
    cli_refusals_add(&known, (struct vyre_refusal[]){refusal_of(3)});
    cli_proofs_add_known(&proofs, &known, &workload);
    assert_int_equal(proofs.stored.count, 1);
    cli_proofs_print(&proofs, &out);
    cli_output_flush(&out);
    assert_int_equal(count_lines(text), 4);
    assert_contains(text, "kernel 1: writes 1");
    assert_contains(text, "kernel 2: writes 2");
    assert_null(strstr(text, "kernel 3"));

    struct cli_json json;
    text[0] = '\0';
    cli_json_init(&json, &out);
    cli_json_object(&json, NULL);
    cli_proofs_json(&proofs, &json);
    cli_json_end_object(&json);
    cli_json_finish(&json);
    cli_output_flush(&out);
    assert_contains(text, "\"proven\":3");
    assert_contains(text, "\"kernel\":\"kernel 1\",\"reason\":\"writes 1\",\"stored\":false");
    assert_contains(text, "\"kernel\":\"kernel 2\",\"reason\":\"writes 2\",\"stored\":true");
    cli_refusals_deinit(&known);
    cli_proofs_deinit(&proofs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(add_keeps_each_code_once_on_one_line_and_no_more_than_fit),
        cmocka_unit_test_setup_teardown(give_reports_every_mode_that_may_run_generated_code, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(keep_makes_a_store_for_a_refusal_only, set_up, tear_down),
        cmocka_unit_test(print_has_a_line_for_each_thing_that_happened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
