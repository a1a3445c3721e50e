/*
 * reader_test.c: workload files, read and refused.
 *
 * broken/ is held against expected.txt: the id of the diagnostic and the JSON path that its message
 * starts with. valid/ is read and looked at.
 */
#include "support/test.h"

#include <dirent.h>
#include <unistd.h>

#include "refused.h"

#define LINE_BYTES 512
#define NAME_BYTES 256

/* ---- Help -------------------------------------------------------------------------------------- */

static size_t count_json(const char *folder)
{
    size_t count = 0;
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        size_t size = strlen(entry->d_name);
        count += size > 5 && strcmp(entry->d_name + size - 5, ".json") == 0;
    }
    closedir(directory);
    return count;
}

static struct workload *load(const char *folder, const char *name)
{
    char path[PATH_BYTES];
    struct vyre_diag diag;
    struct workload *workload;
    snprintf(path, sizeof path, "%s/%s.json", folder, name);
    vyre_diag_reset(&diag);
    if (workload_load(path, &workload, &diag) != VYRE_OK)
        fail_msg("%s: %s", path, diag.message);
    assert_string_equal(workload->path, path);
    return workload;
}

static struct workload *load_valid(const char *name)
{
    return load(VYRE_TEST_WORKLOADS "/valid", name);
}

/* ---- broken/ ----------------------------------------------------------------------------------- */

/* Checks one line of the table; false for a comment. */
static bool check_expectation(char *line)
{
    line[strcspn(line, "\n")] = '\0';
    if (line[0] == '#')
        return false;
    char *rest = line;
    const char *file = strsep(&rest, " ");
    const char *id = strsep(&rest, " ");
    (void)strsep(&rest, " "); /* what the schema sees: schema_test.py */
    assert_non_null(rest);
    char path[PATH_BYTES];
    snprintf(path, sizeof path, VYRE_TEST_WORKLOADS "/broken/%s", file);
    assert_file_refused(path, id, rest);
    struct workload *workload;
    assert_int_not_equal(workload_load(path, &workload, NULL), VYRE_OK);
    assert_null(workload);
    return true;
}

static void load_broken_refuses_with_id_and_path(void **state)
{
    (void)state;
    char line[LINE_BYTES];
    size_t count = 0;
    FILE *table = fopen(VYRE_TEST_WORKLOADS "/expected.txt", "r");
    assert_non_null(table);
    while (fgets(line, sizeof line, table))
        count += check_expectation(line);
    fclose(table);
    assert_true(count >= 60);
    assert_int_equal(count, count_json(VYRE_TEST_WORKLOADS "/broken"));
}

/* ---- valid/ ------------------------------------------------------------------------------------ */

static void check_folder(const char *folder, size_t at_least)
{
    size_t count = 0;
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        char name[NAME_BYTES];
        snprintf(name, sizeof name, "%s", entry->d_name);
        char *end = strstr(name, ".json");
        if (!end)
            continue;
        *end = '\0';
        struct workload *workload = load(folder, name);
        workload_destroy(&workload);
        assert_null(workload);
        count++;
    }
    closedir(directory);
    assert_true(count >= at_least);
}

static void load_valid_succeeds(void **state)
{
    (void)state;
    check_folder(VYRE_TEST_WORKLOADS "/valid", 12);
}

static void load_examples_succeeds(void **state)
{
    (void)state;
    if (access(VYRE_TEST_EXAMPLES, R_OK) != 0)
        skip();
    check_folder(VYRE_TEST_EXAMPLES, 1);
}

static void load_base_resolves_names_and_layout(void **state)
{
    (void)state;
    struct workload *workload = load_valid("base");
    assert_string_equal(workload->name, "workload");
    assert_int_equal(workload->buffer_count, 2);
    assert_int_equal(workload->memory_bytes, 512);
    assert_string_equal(workload->buffers[1].name, "y");
    assert_int_equal(workload->buffers[1].type, WORKLOAD_U32);
    const struct workload_kernel *kernel = &workload->kernels[0];
    assert_string_equal(kernel->host_name, "k");
    assert_string_equal(kernel->entry, "k");
    assert_string_equal(kernel->spirv_entry, "main");
    assert_int_equal(kernel->local_size[0], 0);
    assert_true(kernel->bindings_given && kernel->constants_given);
    assert_int_equal(kernel->constants_size_bytes, 8);
    const struct workload_command *command = &workload->batches[0].commands[0];
    assert_int_equal(command->bind_count, 2);
    assert_int_equal(command->binds[1].range.buffer, 1);
    assert_int_equal(command->binds[1].range.size_bytes, 256);
    struct {
        float a;
        uint32_t n;
    } constants = {2.5f, 64};
    assert_memory_equal(command->constants, &constants, sizeof constants);
    assert_null(command->specialization);
    assert_int_equal(workload->steps[0].times, 2);
    assert_int_equal(workload->outputs[0], 1);
    workload_destroy(&workload);
}

static void load_payloads_resolves_paths(void **state)
{
    (void)state;
    struct workload *workload = load_valid("all_payloads");
    const struct workload_kernel *kernel = &workload->kernels[0];
    assert_null(kernel->host_name);
    assert_string_equal(kernel->host_symbol, "k");
    assert_string_equal(kernel->entry, "k_main");
    assert_string_equal(kernel->spirv_entry, "start");
    assert_int_equal(kernel->local_size[0], 64);
    assert_int_equal(kernel->glsl_path[0], '/');
    assert_contains(kernel->opencl_path, "/valid/kernel.cl");
    assert_contains(kernel->spirv_path, "/valid/sub/kernel.spv");
    assert_contains(kernel->host_library, "/valid/sub/kernel.so");
    workload_destroy(&workload);
}

static void load_reflected_keeps_slots_and_values(void **state)
{
    (void)state;
    struct workload *workload = load_valid("reflected");
    assert_false(workload->kernels[0].bindings_given);
    assert_false(workload->kernels[0].constants_given);
    const struct workload_command *command = &workload->batches[0].commands[0];
    assert_int_equal(command->bind_count, 3);
    assert_int_equal(command->binds[1].slot, 7);
    assert_int_equal(command->binds[1].access, VYRE_ACCESS_READ);
    assert_int_equal(command->binds[2].local_bytes, 256);
    assert_null(command->constants);
    assert_int_equal(command->value_count, 2);
    uint64_t bits;
    assert_string_equal(command->values[0].name, "a");
    assert_int_equal(workload_scalar_encode(VYRE_SCALAR_F32, &command->values[0], &bits, NULL),
                     VYRE_OK);
    assert_int_equal(bits, 0x40200000);
    struct vyre_diag diag;
    assert_tool_diag(workload_scalar_encode(VYRE_SCALAR_I64, &command->values[0], &bits, &diag),
                     diag, CLI_DIAG_WORKLOAD_NUMBER);
    assert_contains(diag.message, "`a`");
    workload_destroy(&workload);
}

static void load_local_adds_declared_sizes(void **state)
{
    (void)state;
    struct workload *workload = load_valid("tables_and_local_memory");
    const struct workload_kernel *kernel = &workload->kernels[0];
    assert_true(kernel->bindings[2].table);
    assert_int_equal(kernel->bindings[3].role, VYRE_ROLE_SHARED);
    assert_int_equal(kernel->bindings[3].element_count, 1024);
    assert_int_equal(kernel->bindings[4].element_count, 0);
    const struct workload_command *command = &workload->batches[0].commands[0];
    assert_int_equal(command->bind_count, 6);
    assert_int_equal(command->binds[2].table_count, 3);
    assert_int_equal(command->binds[2].table[1], 1);
    assert_int_equal(command->binds[5].slot, 2);
    assert_int_equal(command->binds[5].kind, WORKLOAD_BIND_LOCAL);
    assert_int_equal(command->binds[5].local_bytes, 1024);
    workload_destroy(&workload);
}

static void load_scalars_lays_out_as_c_does(void **state)
{
    (void)state;
    struct layout {
        uint32_t a;
        double b;
        int32_t c;
        uint64_t d;
        int64_t e;
        float f;
    } wanted;
    memset(&wanted, 0, sizeof wanted);
    wanted.a = UINT32_MAX;
    wanted.b = 0.1;
    wanted.c = INT32_MIN;
    wanted.d = INT64_MAX;
    wanted.e = INT64_MIN;
    wanted.f = -1.0f;
    struct workload *workload = load_valid("every_scalar");
    const struct workload_kernel *kernel = &workload->kernels[0];
    const struct workload_command *command = &workload->batches[0].commands[0];
    assert_int_equal(kernel->constants_size_bytes, sizeof wanted);
    assert_int_equal(kernel->constants[3].offset_bytes, offsetof(struct layout, d));
    assert_memory_equal(command->constants, &wanted, sizeof wanted);
    assert_int_equal(command->specialization[0], 0xffffffff);
    assert_int_equal(command->specialization[1], 0x40000000);
    assert_int_equal(command->specialization[2], UINT64_C(1) << 63);
    assert_int_equal(kernel->specializations[1].value, 0x3fc00000);
    workload_destroy(&workload);
}

static void load_commands_resolves_ranges(void **state)
{
    (void)state;
    struct workload *workload = load_valid("every_command");
    const struct workload_command *commands = workload->batches[0].commands;
    assert_int_equal(commands[0].type, WORKLOAD_UPLOAD);
    assert_int_equal(commands[0].init.seed, 9);
    assert_int_equal(commands[1].target.size_bytes, 128);
    assert_int_equal(commands[1].init.kind, WORKLOAD_INIT_RAMP);
    assert_false(commands[1].init.is_integer);
    assert_int_equal(commands[3].type, WORKLOAD_COPY);
    assert_int_equal(commands[3].target.offset_bytes, 128);
    assert_int_equal(commands[3].target.size_bytes, 64);
    assert_int_equal(commands[5].fill_word, UINT32_MAX);
    assert_int_equal(commands[6].type, WORKLOAD_DOWNLOAD);
    assert_int_equal(commands[6].target.size_bytes, 3);
    workload_destroy(&workload);
}

static void load_shuffle_keeps_repeats_and_seed(void **state)
{
    (void)state;
    struct workload *workload = load_valid("shuffle");
    assert_int_equal(workload->step_count, 3);
    assert_true(workload->steps[0].shuffle);
    assert_int_equal(workload->steps[0].batch_count, 3);
    assert_int_equal(workload->steps[0].times, 1000);
    assert_int_equal(workload->steps[0].seed, INT64_MAX);
    assert_int_equal(workload->steps[1].times, 1);
    assert_false(workload->steps[1].shuffle);
    workload_destroy(&workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(load_broken_refuses_with_id_and_path),
        cmocka_unit_test(load_valid_succeeds),
        cmocka_unit_test(load_examples_succeeds),
        cmocka_unit_test(load_base_resolves_names_and_layout),
        cmocka_unit_test(load_payloads_resolves_paths),
        cmocka_unit_test(load_reflected_keeps_slots_and_values),
        cmocka_unit_test(load_local_adds_declared_sizes),
        cmocka_unit_test(load_scalars_lays_out_as_c_does),
        cmocka_unit_test(load_commands_resolves_ranges),
        cmocka_unit_test(load_shuffle_keeps_repeats_and_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
