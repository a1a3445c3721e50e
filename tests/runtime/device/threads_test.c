/*
 * threads_test.c: many threads, one device; and each with its own.
 *
 * Every thread works on bytes of its own, which it checks after each wait, and adds 1 to every word
 * of a buffer that all share: submits are put in one order, so no addition may be lost.
 */
#include <pthread.h>

#include "runtime/cpu_fixture.h"
#include "support/random.h"

#ifdef VYRE_TEST_SANITIZED
enum { SUBMITS = 300 };
#else
enum { SUBMITS = 3000 };
#endif
enum { THREADS = 4, GROUPS = 8, WORDS = GROUPS * GROUP_WORDS, WINDOW = 6 };

/* What the threads have in common. */
struct team {
    struct vyre_device *device;
    struct vyre_kernel *bump;
    struct vyre_buffer *shared;
    pthread_mutex_t lock; /* of `last` */
    struct vyre_ticket last[THREADS];
    atomic_uint callbacks;
};

struct member {
    struct team *team;
    uint32_t index;
    enum vyre_mode mode; /* AUTO: all in turn */
    struct vyre_buffer *own;
    struct vyre_batch *own_batch;
    struct vyre_batch *shared_batch;
    uint32_t uploaded[WORDS];
    uint32_t downloaded[WORDS];
    uint32_t callbacks_asked;
    uint32_t failures; /* what went wrong: asserts belong to the main thread */
    struct vyre_diag first_failure;
    uint32_t wrong;
};

static void completed(void *user, struct vyre_ticket ticket, const struct vyre_batch_result *result)
{
    struct team *team = user;
    (void)ticket;
    (void)result;
    atomic_fetch_add(&team->callbacks, 1);
}

static void note(struct member *member, enum vyre_status status, const struct vyre_diag *diag)
{
    if (status == VYRE_OK)
        return;
    if (member->failures++ == 0)
        member->first_failure = *diag;
}

static struct vyre_ticket submit(struct member *member, struct vyre_batch *batch, uint32_t round)
{
    struct vyre_ticket ticket = {0};
    bool called_back = round % 7 == 0;
    struct vyre_submit_options options = {
        .mode = member->mode == VYRE_MODE_AUTO ? (enum vyre_mode)(round % VYRE_MODE_COUNT)
                                               : member->mode,
        .on_complete = called_back ? completed : NULL,
        .user = member->team,
    };
    struct vyre_diag diag = {0};
    note(member, vyre_batch_submit(batch, &options, &ticket, &diag), &diag);
    member->callbacks_asked += called_back;
    return ticket;
}

/* Own bytes up, bumped, and down again. */
static void work_alone(struct member *member, uint32_t round)
{
    uint32_t amount = round + member->index;
    for (uint32_t i = 0; i < WORDS; i++)
        member->uploaded[i] = round * 31 + i;
    vyre_batch_reset(member->own_batch);
    vyre_batch_upload(member->own_batch, whole(member->own), member->uploaded);
    add_in_place(member->own_batch, member->team->bump, GROUPS, member->own, &amount, 1);
    vyre_batch_download(member->own_batch, whole(member->own), member->downloaded);
    struct vyre_ticket ticket = submit(member, member->own_batch, round);
    struct vyre_diag diag = {0};
    note(member, vyre_ticket_wait(member->team->device, ticket, VYRE_FOREVER, &diag), &diag);
    for (uint32_t i = 0; i < WORDS; i++)
        member->wrong += member->downloaded[i] != member->uploaded[i] + amount;
}

/* Shows the others what was submitted last, and waits for what one of them did. */
static void wait_for_another(struct member *member, struct vyre_ticket ticket, uint32_t other)
{
    struct team *team = member->team;
    pthread_mutex_lock(&team->lock);
    team->last[member->index] = ticket;
    struct vyre_ticket theirs = team->last[other];
    pthread_mutex_unlock(&team->lock);
    struct vyre_diag diag = {0};
    if (theirs.sequence != 0)
        note(member, vyre_ticket_wait(team->device, theirs, VYRE_FOREVER, &diag), &diag);
}

static void *work(void *argument)
{
    struct member *member = argument;
    struct rng rng = rng_seeded(member->index);
    for (uint32_t round = 0; round < SUBMITS; round++) {
        struct vyre_ticket ticket = submit(member, member->shared_batch, round);
        if (rng_below(&rng, 3) == 0)
            work_alone(member, round);
        if (rng_below(&rng, WINDOW) == 0)
            wait_for_another(member, ticket, (uint32_t)rng_below(&rng, THREADS));
    }
    return NULL;
}

static struct member *member_of(struct team *team, uint32_t index, enum vyre_mode mode)
{
    struct member *member = calloc(1, sizeof *member);
    assert_non_null(member);
    member->team = team;
    member->index = index;
    member->mode = mode;
    member->own = buffer_of_groups(team->device, GROUPS);
    member->own_batch = batch_of(team->device);
    member->shared_batch = batch_of(team->device);
    uint32_t one = 1;
    add_in_place(member->shared_batch, team->bump, GROUPS, team->shared, &one, 1);
    return member;
}

static void team_open(struct team *team, struct fixture *fixture, uint32_t workers)
{
    memset(team, 0, sizeof *team);
    fixture_open(fixture, &(struct vyre_device_desc){.cpu_workers = workers,
                                                     .in_flight_limit = 8,
                                                     .persistent_idle_ns = 200000});
    team->device = fixture->device;
    team->bump = kernel_in_place(team->device, "bump", bump, 1);
    team->shared = buffer_of_groups(team->device, GROUPS);
    assert_int_equal(pthread_mutex_init(&team->lock, NULL), 0);
}

static void team_close(struct team *team, struct fixture *fixture, uint32_t expected,
                       uint32_t callbacks)
{
    uint32_t words[WORDS];
    struct vyre_diag diag = {0};
    assert_ok(vyre_buffer_read(team->shared, 0, words, sizeof words, &diag), &diag);
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(words[i], expected);
    fixture_close(fixture);
    assert_int_equal(atomic_load(&team->callbacks), callbacks);
    pthread_mutex_destroy(&team->lock);
}

/* Checks a member after its thread has ended, and frees it; returns the callbacks it asked for. */
static uint32_t member_end(struct member *member)
{
    uint32_t asked = member->callbacks_asked;
    if (member->failures != 0)
        assert_ok(member->first_failure.status, &member->first_failure);
    assert_int_equal(member->wrong, 0);
    free(member);
    return asked;
}

static void check_one_device(enum vyre_mode mode, uint32_t workers)
{
    struct fixture fixture;
    struct team team;
    struct member *members[THREADS];
    pthread_t threads[THREADS];
    team_open(&team, &fixture, workers);
    for (uint32_t i = 0; i < THREADS; i++)
        members[i] = member_of(&team, i, mode);
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, members[i]), 0);
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    uint32_t asked = 0;
    for (uint32_t i = 0; i < THREADS; i++)
        asked += member_end(members[i]);
    team_close(&team, &fixture, THREADS * SUBMITS, asked);
}

static void submit_from_many_threads_nothing_is_lost(void **state)
{
    (void)state;
    check_one_device(VYRE_MODE_PLAIN, 2);
    check_one_device(VYRE_MODE_REPLAY, 1);
    check_one_device(VYRE_MODE_PERSISTENT, 2);
}

static void submit_from_many_threads_in_all_modes_nothing_is_lost(void **state)
{
    (void)state;
    check_one_device(VYRE_MODE_AUTO, 1);
    check_one_device(VYRE_MODE_AUTO, 4);
}

static void submit_each_to_own_device_nothing_is_lost(void **state)
{
    (void)state;
    struct fixture fixtures[THREADS];
    struct team *teams = calloc(THREADS, sizeof *teams);
    struct member *members[THREADS];
    pthread_t threads[THREADS];
    assert_non_null(teams);
    for (uint32_t i = 0; i < THREADS; i++) {
        team_open(&teams[i], &fixtures[i], 1);
        members[i] = member_of(&teams[i], i, VYRE_MODE_AUTO);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, members[i]), 0);
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        uint32_t asked = member_end(members[i]);
        team_close(&teams[i], &fixtures[i], SUBMITS, asked);
    }
    free(teams);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(submit_from_many_threads_nothing_is_lost),
        cmocka_unit_test(submit_from_many_threads_in_all_modes_nothing_is_lost),
        cmocka_unit_test(submit_each_to_own_device_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
