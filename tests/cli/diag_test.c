/*
 * diag_test.c: the tool's own diagnostics: how they are filled and named, and that their table and the
 * library's have nothing in common.
 */
#include "terminal/diag.h"

#include "support/test.h"

struct facts {
    int number;
    const char *name;
    enum vyre_status status;
    const char *summary;
    const char *fix;
};

static const struct facts library[] = {
#define VYRE_DIAG_ID(symbol, number, name, status, summary, fix) \
    {number, name, status, summary, fix},
#include <vyre/diag_ids.def>
#undef VYRE_DIAG_ID
};

static const struct facts tool[] = {
#define CLI_DIAG_ID(symbol, number, name, status, summary, fix) \
    {number, name, status, summary, fix},
#include "terminal/diag_ids.def"
#undef CLI_DIAG_ID
};

static void every_id_fills_a_diagnostic(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(tool); i++) {
        struct vyre_diag diag;
        memset(&diag, 0x5a, sizeof diag);
        enum cli_diag_id id = (enum cli_diag_id)tool[i].number;
        assert_int_equal(cli_diag_set(&diag, id, "label", -3, "%d bytes", 7), tool[i].status);
        assert_int_not_equal(diag.status, VYRE_OK);
        assert_int_equal(diag.status, tool[i].status);
        assert_true(cli_diag_is(&diag, id));
        assert_string_equal(cli_diag_name(&diag), tool[i].name);
        assert_string_equal(diag.message, "7 bytes");
        assert_string_equal(diag.label, "label");
        assert_string_equal(diag.fix, tool[i].fix);
        assert_string_not_equal(diag.fix, "");
        assert_string_not_equal(tool[i].summary, "");
        assert_true(diag.native_code == -3);
        assert_int_equal(cli_diag_set(NULL, id, NULL, 0, "nothing"), tool[i].status);
    }
}

static void no_number_or_name_is_given_twice(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(tool); i++) {
        for (size_t j = 0; j < COUNT_OF(library); j++) {
            assert_int_not_equal(tool[i].number, library[j].number);
            assert_string_not_equal(tool[i].name, library[j].name);
        }
        for (size_t j = 0; j < i; j++) {
            assert_int_not_equal(tool[i].number, tool[j].number);
            assert_string_not_equal(tool[i].name, tool[j].name);
        }
    }
    for (size_t j = 0; j < COUNT_OF(library); j++) /* diag.h leaves these to programs */
        assert_false(library[j].number >= 900 && library[j].number <= 999);
}

static void name_of_a_library_id_is_the_library_s(void **state)
{
    (void)state;
    struct vyre_diag diag;
    (void)vyre_diag_set(&diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0, "none left");
    assert_string_equal(cli_diag_name(&diag), "out-of-memory");
    assert_false(cli_diag_is(&diag, CLI_DIAG_USAGE));
}

static void message_that_does_not_fit_is_marked(void **state)
{
    (void)state;
    struct vyre_diag diag;
    char text[VYRE_DIAG_MESSAGE_BYTES + 100];
    for (size_t length = VYRE_DIAG_MESSAGE_BYTES - 2; length < sizeof text; length++) {
        memset(text, 'x', length);
        text[length] = '\0';
        (void)cli_diag_set(&diag, CLI_DIAG_USAGE, NULL, 0, "%s", text);
        bool is_cut = length >= VYRE_DIAG_MESSAGE_BYTES;
        assert_int_equal(strlen(diag.message), is_cut ? VYRE_DIAG_MESSAGE_BYTES - 1 : length);
        assert_int_equal(strcmp(diag.message + strlen(diag.message) - 3, "...") == 0, is_cut);
    }
}

static void format_prints_the_name_that_is_given(void **state)
{
    (void)state;
    struct vyre_diag diag;
    char text[256];
    (void)cli_diag_set(&diag, CLI_DIAG_USAGE, NULL, 0, "no command");
    size_t length = vyre_diag_format_named(&diag, cli_diag_name(&diag), text, sizeof text);
    assert_string_equal(text, "error[cli-usage]: no command\n  fix: See `vyre --help`.");
    assert_int_equal(length, strlen(text));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_id_fills_a_diagnostic),
        cmocka_unit_test(no_number_or_name_is_given_twice),
        cmocka_unit_test(name_of_a_library_id_is_the_library_s),
        cmocka_unit_test(message_that_does_not_fit_is_marked),
        cmocka_unit_test(format_prints_the_name_that_is_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
