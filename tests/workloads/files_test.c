/*
 * files_test.c: workloads that are refused for what lies around them, or only when they are large.
 */
#include "support/test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "refused.h"

/* ---- Files ------------------------------------------------------------------------------------- */

static const char with_payload[] =
    "{\"vyre\": 1, \"buffers\": {}, \"kernels\": {\"k\": {\"opencl\": \"k.cl\"}}, \"batches\": "
    "{\"b\": []}, \"schedule\": [{\"batch\": \"b\"}]}";

/* A folder of its own; `name` in it leads to `target`. */
static void make_folder_with_link(char *folder, const char *target)
{
    char path[PATH_BYTES];
    strcpy(folder, "/tmp/vyre-workload-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/k.cl", folder);
    assert_int_equal(symlink(target, path), 0);
}

static void remove_folder(const char *folder)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/k.cl", folder);
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

static void parse_link_out_of_folder_refuses(void **state)
{
    (void)state;
    char folder[64];
    make_folder_with_link(folder, "/etc/passwd");
    assert_text_refused(with_payload, folder, "workload-path", "$.kernels.k.opencl");
    remove_folder(folder);
}

static void parse_link_loop_refuses(void **state)
{
    (void)state;
    char folder[64];
    make_folder_with_link(folder, "k.cl");
    assert_text_refused(with_payload, folder, "workload-file", "$.kernels.k.opencl");
    remove_folder(folder);
}

static void parse_pipe_refuses_without_blocking(void **state)
{
    (void)state;
    char folder[64];
    char path[PATH_BYTES];
    make_folder_with_link(folder, "nowhere");
    snprintf(path, sizeof path, "%s/k.cl", folder);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_text_refused(with_payload, folder, "workload-file", "$.kernels.k.opencl");
    remove_folder(folder);
}

static void load_large_file_refuses(void **state)
{
    (void)state;
    char path[] = "/tmp/vyre-workload-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, (off_t)WORKLOAD_FILE_BYTES_MAX + 1), 0);
    close(file);
    assert_file_refused(path, "workload-size", "$");
    assert_int_equal(unlink(path), 0);
}

static void load_missing_file_refuses(void **state)
{
    (void)state;
    assert_file_refused("/nonexistent/workload.json", "workload-open", "$");
    assert_file_refused(VYRE_TEST_WORKLOADS, "workload-open", "$");
}

static void parse_too_many_values_refuses(void **state)
{
    (void)state;
    size_t size = WORKLOAD_VALUES_MAX + 1;
    char *text = malloc(size + 1);
    assert_non_null(text);
    memset(text, ',', size);
    text[0] = '[';
    text[size] = '\0';
    assert_text_refused(text, "/", "workload-limit", "$");
    /* One less is for the parser to judge. */
    text[size - 1] = '\0';
    text[size - 2] = ' ';
    assert_text_refused(text, "/", "workload-syntax", "$[0]");
    free(text);
}

static void parse_misspelt_suggests(void **state)
{
    (void)state;
    struct vyre_diag diag;
    struct workload *workload;
    const char text[] = "{\"vyre\": 1, \"bufers\": {}}";
    assert_tool_diag(workload_parse(text, strlen(text), "/", &workload, &diag), diag,
                     CLI_DIAG_WORKLOAD_KEY_UNKNOWN);
    assert_contains(diag.fix, "`buffers`");
}

static void parse_long_path_keeps_its_end(void **state)
{
    (void)state;
    char text[2048] = "{\"vyre\": 1, \"buffers\": {}, \"batches\": {\"b\": [{\"copy\": ";
    for (int i = 0; i < 20; i++)
        strcat(text, "{\"a-rather-long-key-of-some-kind\": ");
    strcat(text, "nonsense");
    struct vyre_diag diag;
    struct workload *workload;
    assert_tool_diag(workload_parse(text, strlen(text), "/", &workload, &diag), diag,
                     CLI_DIAG_WORKLOAD_SYNTAX);
    assert_int_equal(strncmp(diag.message, "$...", 4), 0);
    assert_contains(diag.message, ".a-rather-long-key-of-some-kind: line 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parse_link_out_of_folder_refuses),
        cmocka_unit_test(parse_link_loop_refuses),
        cmocka_unit_test(parse_pipe_refuses_without_blocking),
        cmocka_unit_test(load_large_file_refuses),
        cmocka_unit_test(load_missing_file_refuses),
        cmocka_unit_test(parse_too_many_values_refuses),
        cmocka_unit_test(parse_misspelt_suggests),
        cmocka_unit_test(parse_long_path_keeps_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
