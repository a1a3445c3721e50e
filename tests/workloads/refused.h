/*
 * refused.h: asserts that a workload is refused, as the tests of the reader share them.
 */
#ifndef VYRE_TESTS_WORKLOADS_REFUSED_H
#define VYRE_TESTS_WORKLOADS_REFUSED_H

#include "support/test.h"

#include "terminal/diag.h"
#include "workload/workload.h"

#define PATH_BYTES 1024

/* The call failed with this id of the tool, and says why and what to do. */
#define assert_tool_diag(returned, diag, expected_id)    \
    do {                                                 \
        enum vyre_status checked_status = (returned);    \
        assert_true(cli_diag_is(&(diag), expected_id));  \
        assert_int_not_equal(checked_status, VYRE_OK);   \
        assert_int_equal((diag).status, checked_status); \
        assert_string_not_equal((diag).message, "");     \
        assert_string_not_equal((diag).fix, "");         \
    } while (0)

/* The call was refused with this id, at this path, and left nothing. */
static inline void assert_refused(const char *file, enum vyre_status status,
                                  const struct workload *workload, const struct vyre_diag *diag,
                                  const char *id, const char *path)
{
    size_t size = strlen(path);
    bool at_path = strncmp(diag->message, path, size) == 0 && diag->message[size] == ':';
    if (strcmp(cli_diag_name(diag), id) != 0 || !at_path)
        fail_msg("%s: wanted %s at %s, got %s: %s", file, id, path, cli_diag_name(diag),
                 diag->message);
    assert_null(workload);
    assert_int_equal(status, diag->status);
    assert_int_not_equal(status, VYRE_OK);
    assert_string_not_equal(diag->fix, "");
}

static inline void assert_file_refused(const char *path, const char *id, const char *json_path)
{
    struct vyre_diag diag;
    struct workload *workload = (struct workload *)&diag;
    vyre_diag_reset(&diag);
    enum vyre_status status = workload_load(path, &workload, &diag);
    assert_refused(path, status, workload, &diag, id, json_path);
}

static inline void assert_text_refused(const char *text, const char *folder, const char *id,
                                       const char *json_path)
{
    struct vyre_diag diag;
    struct workload *workload = (struct workload *)&diag;
    vyre_diag_reset(&diag);
    enum vyre_status status = workload_parse(text, strlen(text), folder, &workload, &diag);
    assert_refused(text, status, workload, &diag, id, json_path);
}

#endif
