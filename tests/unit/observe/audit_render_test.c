/*
 * audit_render_test.c: events and snapshots as text and as JSON.
 */
#include <vyre/audit.h>

#include "support/format_check.h"
#include "support/json_check.h"
#include "support/test.h"

static size_t format(const void *event, char *out, size_t capacity)
{
    return vyre_audit_event_format(event, out, capacity);
}

static size_t format_json(const void *event, char *out, size_t capacity)
{
    return vyre_audit_event_format_json(event, out, capacity);
}

/* The longest names and the largest numbers of every field. */
static const struct vyre_audit_event longest = {UINT64_MAX,
                                                UINT64_MAX,
                                                {VYRE_POLICY_PERSISTENT_KERNEL,
                                                 VYRE_ACTION_RECORD_AND_REPLAY,
                                                 VYRE_DETAIL_RESOURCE_COUNT_THRESHOLD,
                                                 {UINT64_MAX, UINT64_MAX}}};

static const struct vyre_audit_event usual = {17,
                                              1234567890123,
                                              {VYRE_POLICY_PERSISTENT_KERNEL,
                                               VYRE_ACTION_QUEUE_BATCH,
                                               VYRE_DETAIL_LAUNCH_OVERHEAD,
                                               {4626826, 0}}};

static void event_format_usual_event_is_the_headers_line(void **state)
{
    (void)state;
    assert_formats_as(format, &usual,
                      "17 persistent_kernel queue_batch launch_overhead saved_ns=4626826");
}

static void event_format_largest_numbers_are_whole(void **state)
{
    (void)state;
    assert_formats_as(format, &longest,
                      "18446744073709551615 persistent_kernel record_and_replay "
                      "resource_count_threshold saved_ns=340282366920938463463374607431768211455");
}

static void event_format_json_usual_event_has_every_field(void **state)
{
    (void)state;
    assert_formats_as(format_json, &usual,
                      "{\"sequence\":17,\"time_ns\":1234567890123,"
                      "\"policy\":\"persistent_kernel\",\"action\":\"queue_batch\","
                      "\"detail\":\"launch_overhead\",\"saved_ns\":4626826}");
}

static void event_format_json_largest_numbers_are_whole_and_valid(void **state)
{
    (void)state;
    char text[1024];
    assert_in_range(vyre_audit_event_format_json(&longest, text, sizeof text), 1, sizeof text - 1);
    assert_true(json_is_valid(text));
    assert_contains(text, "\"saved_ns\":340282366920938463463374607431768211455}");
    assert_contains(text, "\"time_ns\":18446744073709551615,");
}

/* Collects the pieces; each must say its size, not rely on a terminator. */
struct collected {
    char text[8192];
    size_t length;
};

static void collect(void *user, const char *bytes, size_t size_bytes)
{
    struct collected *collected = user;
    assert_in_range(size_bytes, 0, sizeof collected->text - 1 - collected->length);
    memcpy(collected->text + collected->length, bytes, size_bytes);
    collected->length += size_bytes;
    collected->text[collected->length] = '\0';
}

static struct vyre_audit_snapshot made_up(size_t count)
{
    struct vyre_audit_snapshot snapshot = {
        .count = count, .recorded = 7001, .dropped = 6002, .event_limit = 4096};
    for (size_t policy = 1; policy < VYRE_POLICY_COUNT; policy++) {
        snapshot.counters.verdicts[policy][1] = 100 + policy;
        snapshot.counters.verdicts[policy][2] = UINT64_MAX - policy;
    }
    return snapshot;
}

static void render_text_snapshot_has_a_line_per_event_and_the_counts(void **state)
{
    (void)state;
    const struct vyre_audit_event events[] = {usual, longest, usual};
    struct vyre_audit_snapshot snapshot = made_up(COUNT_OF(events));
    struct collected collected = {.length = 0};
    vyre_audit_render_text(&snapshot, events, collect, &collected);
    const char *rest = collected.text;
    for (size_t i = 0; i < COUNT_OF(events); i++) {
        char line[512];
        size_t length = vyre_audit_event_format(&events[i], line, sizeof line);
        assert_memory_equal(rest, line, length);
        assert_int_equal(rest[length], '\n');
        rest += length + 1;
    }
    assert_contains(rest, "7001");
    assert_contains(rest, "6002");
    assert_contains(rest, "4096");
    for (size_t policy = 1; policy < VYRE_POLICY_COUNT; policy++) {
        char number[32];
        snprintf(number, sizeof number, "%zu", 100 + policy);
        assert_contains(rest, number);
        snprintf(number, sizeof number, "%llu", (unsigned long long)(UINT64_MAX - policy));
        assert_contains(rest, number);
        assert_contains(rest, vyre_policy_name((enum vyre_policy)policy));
    }
    assert_int_equal(collected.text[collected.length - 1], '\n');
}

static void render_json_any_count_is_one_valid_document(void **state)
{
    (void)state;
    const struct vyre_audit_event events[] = {usual, longest, usual};
    for (size_t count = 0; count <= COUNT_OF(events); count++) {
        struct vyre_audit_snapshot snapshot = made_up(count);
        struct collected collected = {.length = 0};
        vyre_audit_render_json(&snapshot, count ? events : NULL, collect, &collected);
        assert_int_equal(strlen(collected.text), collected.length);
        assert_true(json_is_valid(collected.text));
        assert_contains(collected.text, "\"recorded\":7001");
        assert_contains(collected.text, "\"dropped\":6002");
        assert_contains(collected.text, "18446744073709551614");
        size_t seen = 0;
        for (const char *at = collected.text; (at = strstr(at, "\"sequence\":")); at++)
            seen++;
        assert_int_equal(seen, count);
    }
}

static void json_check_itself_takes_good_and_refuses_bad(void **state)
{
    (void)state;
    static const char *const good[] = {"{}", "[]", " [1,-2.5e+3,\"a\\u00e9\\n\",{\"k\":null}] \n",
                                       "0", "true"};
    static const char *const bad[] = {"",       "{",     "[1,]",  "{\"a\":1,}", "01", "{} {}",
                                      "\"\n\"", "[1 2]", "{a:1}", "+1",         "1.", "\"\\x\""};
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_true(json_is_valid(good[i]));
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_false(json_is_valid(bad[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_check_itself_takes_good_and_refuses_bad),
        cmocka_unit_test(event_format_usual_event_is_the_headers_line),
        cmocka_unit_test(event_format_largest_numbers_are_whole),
        cmocka_unit_test(event_format_json_usual_event_has_every_field),
        cmocka_unit_test(event_format_json_largest_numbers_are_whole_and_valid),
        cmocka_unit_test(render_text_snapshot_has_a_line_per_event_and_the_counts),
        cmocka_unit_test(render_json_any_count_is_one_valid_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
