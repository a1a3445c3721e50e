/*
 * text_test.c: a text built from pieces keeps snprintf's contract, wherever the cut falls.
 */
#include "base/text.h"

#include "base/clock.h"
#include "support/format_check.h"
#include "support/test.h"

static size_t build(const void *value, char *out, size_t capacity)
{
    (void)value;
    struct vyre_text text = vyre_text_begin(out, capacity);
    vyre_text_append(&text, "a");
    vyre_text_append(&text, "");
    vyre_text_append_u64(&text, UINT64_MAX);
    vyre_text_appendf(&text, "[%s:%d]", "x", -5);
    vyre_text_append_u128(&text, (struct vyre_u128){0, 1});
    vyre_text_appendf(&text, "%s", "");
    vyre_text_append(&text, "z");
    return text.length;
}

static void append_pieces_cut_anywhere_keep_the_contract(void **state)
{
    (void)state;
    assert_formats_as(build, NULL, "a18446744073709551615[x:-5]18446744073709551616z");
}

static void begin_no_pieces_is_the_empty_text(void **state)
{
    (void)state;
    char out[4] = "abc";
    struct vyre_text text = vyre_text_begin(out, sizeof out);
    assert_string_equal(out, "");
    assert_int_equal(text.length, 0);
}

static void clock_read_often_never_goes_back(void **state)
{
    (void)state;
    uint64_t first = vyre_clock_now_ns(), last = first;
    for (int i = 0; i < 100000; i++) {
        uint64_t now = vyre_clock_now_ns();
        assert_true(now >= last);
        last = now;
    }
    assert_true(last > first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(append_pieces_cut_anywhere_keep_the_contract),
        cmocka_unit_test(begin_no_pieces_is_the_empty_text),
        cmocka_unit_test(clock_read_often_never_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
