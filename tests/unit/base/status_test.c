/*
 * status_test.c: names of the status codes, and the version.
 */
#include <vyre/status.h>
#include <vyre/version.h>

#include "support/test.h"

static void status_name_every_code_is_its_stable_word(void **state)
{
    (void)state;
    static const struct {
        enum vyre_status status;
        const char *name;
    } cases[] = {
        {VYRE_OK, "ok"},
        {VYRE_INVALID, "invalid"},
        {VYRE_NOT_FOUND, "not-found"},
        {VYRE_UNSUPPORTED, "unsupported"},
        {VYRE_OUT_OF_MEMORY, "out-of-memory"},
        {VYRE_LIMIT, "limit"},
        {VYRE_BUSY, "busy"},
        {VYRE_TIMEOUT, "timeout"},
        {VYRE_DEVICE_LOST, "device-lost"},
        {VYRE_BUILD_FAILED, "build-failed"},
        {VYRE_IO, "io"},
        {VYRE_DRIVER, "driver"},
        {VYRE_INTERNAL, "internal"},
    };
    assert_int_equal(COUNT_OF(cases), VYRE_STATUS_COUNT);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(cases[i].status, i);
        assert_string_equal(vyre_status_name(cases[i].status), cases[i].name);
    }
}

static void status_name_outside_the_enum_is_unknown(void **state)
{
    (void)state;
    assert_string_equal(vyre_status_name((enum vyre_status)VYRE_STATUS_COUNT), "unknown");
    assert_string_equal(vyre_status_name((enum vyre_status) - 1), "unknown");
    assert_string_equal(vyre_status_name((enum vyre_status)INT32_MAX), "unknown");
}

static void version_string_has_the_headers_numbers(void **state)
{
    (void)state;
    char expected[64];
    snprintf(expected, sizeof expected, "%d.%d.%d", VYRE_VERSION_MAJOR, VYRE_VERSION_MINOR,
             VYRE_VERSION_PATCH);
    assert_string_equal(vyre_version_string(), expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_name_every_code_is_its_stable_word),
        cmocka_unit_test(status_name_outside_the_enum_is_unknown),
        cmocka_unit_test(version_string_has_the_headers_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
