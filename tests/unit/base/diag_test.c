/*
 * diag_test.c: filling, cutting and formatting diagnostics, and the facts of every id.
 */
#include <vyre/diag.h>

#include "support/format_check.h"
#include "support/test.h"

struct facts {
    enum vyre_diag_id id;
    int number;
    const char *name;
    enum vyre_status status;
    const char *summary;
    const char *fix;
};

static const struct facts all_facts[] = {
#define VYRE_DIAG_ID(symbol, number, name, status, summary, fix) \
    {VYRE_DIAG_##symbol, number, name, status, summary, fix},
#include <vyre/diag_ids.def>
#undef VYRE_DIAG_ID
};

static struct vyre_diag filled(void)
{
    struct vyre_diag diag;
    memset(&diag, 0x5a, sizeof diag);
    return diag;
}

static void set_known_id_fills_every_field(void **state)
{
    (void)state;
    struct vyre_diag diag = filled();
    enum vyre_status status = vyre_diag_set(&diag, VYRE_DIAG_OUT_OF_MEMORY, "weights", -12,
                                            "%d bytes of %s", 77, "nothing");
    assert_int_equal(status, VYRE_OUT_OF_MEMORY);
    assert_int_equal(diag.status, VYRE_OUT_OF_MEMORY);
    assert_int_equal(diag.id, VYRE_DIAG_OUT_OF_MEMORY);
    assert_true(diag.native_code == -12);
    assert_string_equal(diag.label, "weights");
    assert_string_equal(diag.message, "77 bytes of nothing");
    assert_string_equal(diag.fix, vyre_diag_id_fix(VYRE_DIAG_OUT_OF_MEMORY));
}

static void set_null_diag_gives_the_status(void **state)
{
    (void)state;
    assert_int_equal(vyre_diag_set(NULL, VYRE_DIAG_SLOT_SET_FULL, "x", 1, "%s", "y"), VYRE_LIMIT);
    vyre_diag_set_fix(NULL, "%d", 1);
    vyre_diag_reset(NULL);
}

static void set_null_label_is_the_empty_label(void **state)
{
    (void)state;
    struct vyre_diag diag = filled();
    assert_int_equal(vyre_diag_set(&diag, VYRE_DIAG_CAPACITY, NULL, 0, "m"), VYRE_LIMIT);
    assert_string_equal(diag.label, "");
    assert_true(diag.native_code == 0);
}

static void set_id_outside_the_enum_is_internal(void **state)
{
    (void)state;
    struct vyre_diag diag = filled();
    enum vyre_diag_id id = (enum vyre_diag_id)777;
    assert_int_equal(vyre_diag_set(&diag, id, NULL, 0, "m"), VYRE_INTERNAL);
    assert_int_equal(diag.status, VYRE_INTERNAL);
    assert_string_equal(vyre_diag_id_name(id), "unknown");
    assert_int_equal(vyre_diag_id_status(id), VYRE_INTERNAL);
    assert_string_equal(vyre_diag_id_summary(id), "");
    assert_string_equal(vyre_diag_id_fix(id), "");
}

/* A text of `length` letters that differ at its end, so that a wrong cut shows. */
static void fill_letters(char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        text[i] = (char)('a' + i % 26);
    text[length] = '\0';
}

static void assert_kept_or_marked(const char *field, size_t capacity, const char *given)
{
    size_t length = strlen(given);
    if (length < capacity) {
        assert_string_equal(field, given);
        return;
    }
    assert_int_equal(strlen(field), capacity - 1);
    assert_memory_equal(field, given, capacity - 4);
    assert_string_equal(field + capacity - 4, "...");
}

static void set_long_texts_are_cut_and_marked(void **state)
{
    (void)state;
    char text[VYRE_DIAG_MESSAGE_BYTES + 10];
    for (size_t length = 0; length < sizeof text; length++) {
        struct vyre_diag diag = filled();
        fill_letters(text, length);
        assert_int_equal(vyre_diag_set(&diag, VYRE_DIAG_CAPACITY, text, 3, "%s", text), VYRE_LIMIT);
        vyre_diag_set_fix(&diag, "%s", text);
        assert_kept_or_marked(diag.label, sizeof diag.label, text);
        assert_kept_or_marked(diag.message, sizeof diag.message, text);
        assert_kept_or_marked(diag.fix, sizeof diag.fix, text);
        assert_int_equal(diag.status, VYRE_LIMIT);
        assert_true(diag.native_code == 3);
    }
}

/* Characters of each width, moved byte by byte over the place of the cut. */
static void set_long_utf8_is_cut_between_characters(void **state)
{
    (void)state;
    static const char *const characters[] = {"\u00b5", "\u20ac", "\U0001d11e"};
    for (size_t i = 0; i < COUNT_OF(characters); i++) {
        size_t width = strlen(characters[i]);
        for (size_t shift = 0; shift < 4; shift++) {
            char text[VYRE_DIAG_LABEL_BYTES + 12] = "abcd";
            size_t length = shift;
            while (length < VYRE_DIAG_LABEL_BYTES + 4) {
                memcpy(text + length, characters[i], width + 1);
                length += width;
            }
            struct vyre_diag diag = filled();
            assert_int_equal(vyre_diag_set(&diag, VYRE_DIAG_CAPACITY, text, 0, "m"), VYRE_LIMIT);
            size_t kept = strlen(diag.label) - 3;
            assert_int_equal((kept - shift) % width, 0);
            assert_in_range(kept, VYRE_DIAG_LABEL_BYTES - 4 - (width - 1),
                            VYRE_DIAG_LABEL_BYTES - 4);
            assert_memory_equal(diag.label, text, kept);
            assert_string_equal(diag.label + kept, "...");
        }
    }
}

/* Bytes that are no UTF-8 are cut somewhere near the end, not eaten. */
static void set_long_rubbish_is_cut_near_the_end(void **state)
{
    (void)state;
    char text[VYRE_DIAG_LABEL_BYTES + 10] = {0};
    memset(text, 0x80, sizeof text - 1);
    struct vyre_diag diag = filled();
    assert_int_equal(vyre_diag_set(&diag, VYRE_DIAG_CAPACITY, text, 0, "m"), VYRE_LIMIT);
    assert_in_range(strlen(diag.label), VYRE_DIAG_LABEL_BYTES - 4, VYRE_DIAG_LABEL_BYTES - 1);
}

static void set_fix_replaces_the_fix_alone(void **state)
{
    (void)state;
    struct vyre_diag diag = filled();
    assert_int_equal(vyre_diag_set(&diag, VYRE_DIAG_CAPACITY, "l", 3, "m"), VYRE_LIMIT);
    vyre_diag_set_fix(&diag, "give %d more", 5);
    assert_string_equal(diag.fix, "give 5 more");
    assert_string_equal(diag.message, "m");
    assert_string_equal(diag.label, "l");
    assert_int_equal(diag.id, VYRE_DIAG_CAPACITY);
}

static void reset_filled_diag_is_no_diagnostic(void **state)
{
    (void)state;
    struct vyre_diag diag = filled();
    vyre_diag_reset(&diag);
    assert_int_equal(diag.status, VYRE_OK);
    assert_int_equal(diag.id, VYRE_DIAG_NONE);
    assert_true(diag.native_code == 0);
    assert_string_equal(diag.label, "");
    assert_string_equal(diag.message, "");
    assert_string_equal(diag.fix, "");
}

static size_t format(const void *diag, char *out, size_t capacity)
{
    return vyre_diag_format(diag, out, capacity);
}

static void format_all_parts_stand_in_order(void **state)
{
    (void)state;
    struct vyre_diag diag = filled();
    assert_int_equal(vyre_diag_set(&diag, VYRE_DIAG_CAPACITY, "w", INT64_MIN, "no room"),
                     VYRE_LIMIT);
    vyre_diag_set_fix(&diag, "make room");
    assert_formats_as(format, &diag,
                      "error[capacity]: no room (in w) (native code -9223372036854775808)\n"
                      "  fix: make room");
}

static void format_absent_parts_are_left_out(void **state)
{
    (void)state;
    struct vyre_diag diag = filled();
    assert_int_equal(vyre_diag_set(&diag, VYRE_DIAG_CAPACITY, NULL, 0, "no room"), VYRE_LIMIT);
    vyre_diag_set_fix(&diag, "%s", "");
    assert_formats_as(format, &diag, "error[capacity]: no room");
}

static void facts_every_id_agrees_with_the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_facts); i++) {
        const struct facts *facts = &all_facts[i];
        assert_int_equal(facts->id, facts->number);
        assert_string_equal(vyre_diag_id_name(facts->id), facts->name);
        assert_int_equal(vyre_diag_id_status(facts->id), facts->status);
        assert_string_equal(vyre_diag_id_summary(facts->id), facts->summary);
        assert_string_equal(vyre_diag_id_fix(facts->id), facts->fix);
    }
}

static void facts_every_id_has_status_summary_and_fix(void **state)
{
    (void)state;
    assert_int_equal(all_facts[0].id, VYRE_DIAG_NONE);
    assert_int_equal(all_facts[0].status, VYRE_OK);
    for (size_t i = 1; i < COUNT_OF(all_facts); i++) {
        const struct facts *facts = &all_facts[i];
        assert_in_range(facts->status, VYRE_OK + 1, VYRE_STATUS_COUNT - 1);
        assert_in_range(strlen(facts->summary), 5, VYRE_DIAG_MESSAGE_BYTES - 1);
        assert_in_range(strlen(facts->fix), 5, VYRE_DIAG_FIX_BYTES - 1);
        assert_int_equal(facts->summary[strlen(facts->summary) - 1], '.');
        assert_int_equal(facts->fix[strlen(facts->fix) - 1], '.');
    }
}

static void facts_numbers_and_names_are_unique(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all_facts); i++) {
        assert_string_not_equal(all_facts[i].name, "unknown");
        assert_int_equal(strspn(all_facts[i].name, "abcdefghijklmnopqrstuvwxyz0123456789-"),
                         strlen(all_facts[i].name));
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(all_facts[i].name, all_facts[j].name);
            assert_int_not_equal(all_facts[i].number, all_facts[j].number);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_known_id_fills_every_field),
        cmocka_unit_test(set_null_diag_gives_the_status),
        cmocka_unit_test(set_null_label_is_the_empty_label),
        cmocka_unit_test(set_id_outside_the_enum_is_internal),
        cmocka_unit_test(set_long_texts_are_cut_and_marked),
        cmocka_unit_test(set_long_utf8_is_cut_between_characters),
        cmocka_unit_test(set_long_rubbish_is_cut_near_the_end),
        cmocka_unit_test(set_fix_replaces_the_fix_alone),
        cmocka_unit_test(reset_filled_diag_is_no_diagnostic),
        cmocka_unit_test(format_all_parts_stand_in_order),
        cmocka_unit_test(format_absent_parts_are_left_out),
        cmocka_unit_test(facts_every_id_agrees_with_the_table),
        cmocka_unit_test(facts_every_id_has_status_summary_and_fix),
        cmocka_unit_test(facts_numbers_and_names_are_unique),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
