/*
 * watch_test.c: the hang watch on given times.
 */
#include "backend/common/watch.h"

#include "support/test.h"

enum { LIMIT = 100, STEP = LIMIT / 4 };

/* Looks at the same progress every STEP, until `until`. Returns the last answer. */
static bool look_until(struct vyre_watch *watch, uint64_t progress, uint64_t from, uint64_t until)
{
    bool hangs = false;
    for (uint64_t now = from; now < until; now += STEP)
        hangs = vyre_watch_hangs(watch, progress, now) || hangs;
    return vyre_watch_hangs(watch, progress, until) || hangs;
}

static void watch_same_progress_past_the_limit_hangs(void **state)
{
    struct vyre_watch watch;
    (void)state;
    vyre_watch_init(&watch, LIMIT);
    assert_false(look_until(&watch, 7, 1000, 1000 + LIMIT));
    assert_true(vyre_watch_hangs(&watch, 7, 1001 + LIMIT));
    assert_true(vyre_watch_hangs(&watch, 7, 1002 + LIMIT)); /* it still does */
}

static void watch_other_progress_begins_anew(void **state)
{
    struct vyre_watch watch;
    (void)state;
    vyre_watch_init(&watch, LIMIT);
    assert_false(look_until(&watch, 7, 1000, 1000 + LIMIT));
    assert_false(look_until(&watch, 8, 1001 + LIMIT, 1001 + 2 * LIMIT));
    assert_false(look_until(&watch, 7, 3000, 3000 + LIMIT)); /* back is another one, too */
    assert_true(vyre_watch_hangs(&watch, 7, 3001 + LIMIT));
}

/* A stopped process looks at nothing: the time until it goes on is no proof of a hang. */
static void watch_time_without_a_look_is_no_hang(void **state)
{
    struct vyre_watch watch;
    (void)state;
    vyre_watch_init(&watch, LIMIT);
    assert_false(vyre_watch_hangs(&watch, 7, 1000));
    assert_false(vyre_watch_hangs(&watch, 7, 1000 + 100 * LIMIT));
    assert_false(vyre_watch_hangs(&watch, 7, 1000 + 200 * LIMIT));
    /* Also when it had stood still for a while before. */
    assert_false(look_until(&watch, 8, 100000, 100000 + LIMIT / 2));
    assert_false(vyre_watch_hangs(&watch, 8, 200000));
    assert_false(vyre_watch_hangs(&watch, 9, 200001));
}

/* Rare looks find a hang all the same, after a few of them. */
static void watch_rare_looks_find_a_hang(void **state)
{
    struct vyre_watch watch;
    (void)state;
    vyre_watch_init(&watch, LIMIT);
    for (uint64_t i = 0; i < 4; i++)
        assert_false(vyre_watch_hangs(&watch, 7, 1000 + i * LIMIT));
    assert_true(vyre_watch_hangs(&watch, 7, 1000 + 4 * LIMIT));
}

/* Between a look that was found too late and the next one the device has moved. */
static void watch_asked_again_with_new_progress_does_not_hang(void **state)
{
    struct vyre_watch watch;
    (void)state;
    vyre_watch_init(&watch, LIMIT);
    assert_true(look_until(&watch, 7, 1000, 5000));
    assert_false(vyre_watch_hangs(&watch, 9, 5000));
}

static void watch_nothing_in_flight_never_hangs(void **state)
{
    struct vyre_watch watch;
    (void)state;
    vyre_watch_init(&watch, LIMIT);
    assert_false(vyre_watch_hangs(&watch, VYRE_NOTHING_IN_FLIGHT, 1000));
    assert_false(vyre_watch_hangs(&watch, VYRE_NOTHING_IN_FLIGHT, 100000));
    /* The same number before and after an idle time is not the same work. */
    assert_false(vyre_watch_hangs(&watch, 7, 200000));
    assert_false(vyre_watch_hangs(&watch, VYRE_NOTHING_IN_FLIGHT, 200001));
    assert_false(vyre_watch_hangs(&watch, 7, 300000));
}

static void watch_that_is_new_knows_no_progress(void **state)
{
    struct vyre_watch watch;
    (void)state;
    vyre_watch_init(&watch, LIMIT);
    assert_false(vyre_watch_hangs(&watch, 0, 1000000)); /* 0 is a progress as any other */
}

/* Another thread has noted a later time: the time since then is not a long one. */
static void watch_earlier_time_does_not_hang(void **state)
{
    struct vyre_watch watch;
    (void)state;
    vyre_watch_init(&watch, LIMIT);
    assert_false(vyre_watch_hangs(&watch, 7, 1000));
    assert_false(vyre_watch_hangs(&watch, 7, 999));
    assert_false(vyre_watch_hangs(&watch, 7, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(watch_same_progress_past_the_limit_hangs),
        cmocka_unit_test(watch_other_progress_begins_anew),
        cmocka_unit_test(watch_time_without_a_look_is_no_hang),
        cmocka_unit_test(watch_rare_looks_find_a_hang),
        cmocka_unit_test(watch_asked_again_with_new_progress_does_not_hang),
        cmocka_unit_test(watch_nothing_in_flight_never_hangs),
        cmocka_unit_test(watch_that_is_new_knows_no_progress),
        cmocka_unit_test(watch_earlier_time_does_not_hang),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
