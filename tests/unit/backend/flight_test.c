/*
 * flight_test.c: submissions in flight, on a backend without a device: it is as far as the test says.
 *
 * No case looks at the time. What must happen is waited for. What must not happen cannot happen any more when a
 * case ends: every thread that could do it has had its turn.
 */
#include "backend/common/flight.h"

#include <pthread.h>
#include <sched.h>

#include "base/memory.h"
#include "support/test.h"

enum { LIMIT = 4, ENDS_MAX = 20000 };

#define FOREVER UINT64_MAX

struct entry {
    struct vyre_flight_entry head;
    bool held;
};

struct fake {
    struct vyre_flight flight;
    struct vyre_device_host host;
    _Atomic uint64_t reached;  /* submissions that are over */
    uint64_t seen;             /* of these, by the last poll; where there is one */
    _Atomic uint32_t held;     /* by entries */
    _Atomic uint32_t dropped;  /* entries that never ended */
    _Atomic uint32_t sleepers; /* how often a thread slept */
    bool naps;                 /* otherwise only news wakes a sleeper: a lost wake-up shows */
    _Atomic uint32_t tended;
    _Atomic uint32_t tend_again; /* how often tending is asked for once more */

    /* What was reported to the runtime. */
    uint64_t ends[ENDS_MAX]; /* sequences, in the order of the calls */
    pthread_t tellers[ENDS_MAX];
    bool awaited[ENDS_MAX];
    uint32_t end_count; /* by one at a time: the thread sanitizer sees to it */
    _Atomic uint32_t losses;
    _Atomic uint32_t loss_id;
};

/* ---- The backend ------------------------------------------------------------------------------ */

static bool take_locked(void *device, struct vyre_flight_entry *head)
{
    struct fake *fake = device;
    struct entry *entry = (struct entry *)head;
    if (head->completion.sequence > atomic_load(&fake->reached))
        return false;
    atomic_fetch_sub(&fake->held, entry->held ? 1 : 0);
    entry->held = false;
    head->completion.device_ns = head->completion.sequence * 10;
    return true;
}

static void drop(void *device, struct vyre_flight_entry *head)
{
    struct fake *fake = device;
    struct entry *entry = (struct entry *)head;
    atomic_fetch_sub(&fake->held, entry->held ? 1 : 0);
    atomic_fetch_add(&fake->dropped, 1);
}

static void sleep_for(void *device, uint64_t sequence, uint64_t waited_ns, uint64_t limit_ns)
{
    struct fake *fake = device;
    uint32_t news = vyre_flight_news(&fake->flight);
    (void)waited_ns;
    atomic_fetch_add(&fake->sleepers, 1);
    if (atomic_load(&fake->reached) < sequence && !vyre_is_lost(&fake->flight.loss))
        vyre_flight_sleep(&fake->flight, news, fake->naps ? limit_ns : UINT64_MAX);
}

static uint64_t progress_locked(void *device)
{
    struct fake *fake = device;
    return atomic_load(&fake->reached);
}

static bool tend(void *device)
{
    struct fake *fake = device;
    atomic_fetch_add(&fake->tended, 1);
    uint32_t left = atomic_load(&fake->tend_again);
    return left > 0 && atomic_compare_exchange_strong(&fake->tend_again, &left, left - 1);
}

static const struct vyre_flight_ops ops = {
    .take_locked = take_locked,
    .drop = drop,
    .sleep = sleep_for,
    .progress_locked = progress_locked,
    .tend = tend,
    .spin_ns = 1000,
};

/* ---- The runtime ------------------------------------------------------------------------------ */

static void on_complete(void *context, const struct vyre_completion *completion)
{
    struct fake *fake = context;
    if (fake->end_count == ENDS_MAX || completion->device_ns != completion->sequence * 10)
        abort();
    fake->tellers[fake->end_count] = pthread_self();
    fake->awaited[fake->end_count] = completion->awaited;
    fake->ends[fake->end_count++] = completion->sequence;
}

static void on_lost(void *context, const struct vyre_diag *reason)
{
    struct fake *fake = context;
    atomic_store(&fake->loss_id, (uint32_t)reason->id);
    atomic_fetch_add(&fake->losses, 1);
}

/* ---- Cases ------------------------------------------------------------------------------------ */

static struct fake *open_fake(uint32_t limit, uint64_t hang_ns)
{
    const struct vyre_device_desc desc = {.in_flight_limit = limit, .hang_timeout_ns = hang_ns};
    const struct vyre_allocator none = {0};
    struct fake *fake;
    assert_int_equal(posix_memalign((void **)&fake, _Alignof(struct fake), sizeof *fake), 0);
    memset(fake, 0, sizeof *fake);
    fake->host = (struct vyre_device_host){.context = fake,
                                           .allocator = vyre_allocator_resolve(&none),
                                           .complete = on_complete,
                                           .lost = on_lost};
    assert_int_equal(
        vyre_flight_init(&fake->flight, &ops, fake, sizeof(struct entry), &fake->host, &desc, NULL),
        VYRE_OK);
    return fake;
}

static void close_fake(struct fake *fake)
{
    vyre_flight_stop_helper(&fake->flight);
    vyre_flight_deinit(&fake->flight);
    assert_int_equal(atomic_load(&fake->held), 0);
    free(fake);
}

static void submit(struct fake *fake, bool called_back)
{
    uint64_t sequence = vyre_flight_submitted(&fake->flight) + 1;
    struct entry *entry = vyre_flight_at(&fake->flight, sequence);
    *entry = (struct entry){
        .head = {.completion = {.sequence = sequence}, .called_back = called_back}, .held = true};
    atomic_fetch_add(&fake->held, 1);
    vyre_flight_push(&fake->flight, &entry->head);
}

static void reach(struct fake *fake, uint64_t sequence)
{
    atomic_store(&fake->reached, sequence);
    vyre_flight_wake(&fake->flight);
}

/* The device: brings submissions to their end, one after the other. */
struct device {
    struct fake *fake;
    uint64_t last;
};

static void *run_device(void *argument)
{
    const struct device *device = argument;
    for (uint64_t ended = 0; ended < device->last;) {
        if (vyre_flight_submitted(&device->fake->flight) == ended)
            sched_yield();
        else
            reach(device->fake, ++ended);
    }
    return NULL;
}

static void assert_ends(const struct fake *fake, uint32_t count)
{
    assert_int_equal(fake->end_count, count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(fake->ends[i], i + 1);
}

static void harvest_reports_nothing(void **state)
{
    struct fake *fake = open_fake(LIMIT, FOREVER);
    (void)state;
    for (int i = 0; i < 3; i++)
        submit(fake, false);
    reach(fake, 2);
    vyre_flight_harvest(&fake->flight);
    assert_int_equal(vyre_flight_harvested(&fake->flight), 2);
    assert_int_equal(atomic_load(&fake->held), 1);
    assert_ends(fake, 0);
    vyre_flight_wait(&fake->flight, 2, FOREVER);
    assert_ends(fake, 2);
    vyre_flight_wait(&fake->flight, 3, 0); /* not over: a look and no more */
    assert_ends(fake, 2);
    reach(fake, 3);
    vyre_flight_wait(&fake->flight, 3, FOREVER);
    assert_ends(fake, 3);
    close_fake(fake);
}

static void callback_is_left_to_the_helper(void **state)
{
    struct fake *fake = open_fake(LIMIT, FOREVER);
    (void)state;
    submit(fake, false);
    submit(fake, true); /* there is no helper yet */
    submit(fake, false);
    reach(fake, 3);
    vyre_flight_wait(&fake->flight, 3, 0);
    assert_int_equal(vyre_flight_harvested(&fake->flight), 3);
    assert_ends(fake, 1);
    assert_int_equal(vyre_flight_start_helper(&fake->flight, NULL), VYRE_OK);
    assert_int_equal(vyre_flight_start_helper(&fake->flight, NULL), VYRE_OK); /* one is enough */
    pthread_t helper = fake->flight.helper;
    vyre_flight_wait(&fake->flight, 3, FOREVER);
    vyre_flight_stop_helper(&fake->flight);
    assert_ends(fake, 3);
    assert_true(pthread_equal(fake->tellers[0], pthread_self()));
    assert_true(pthread_equal(fake->tellers[1], helper));
    close_fake(fake);
}

static void callback_needs_no_waiter(void **state)
{
    struct fake *fake = open_fake(LIMIT, FOREVER);
    (void)state;
    assert_int_equal(vyre_flight_start_helper(&fake->flight, NULL), VYRE_OK);
    submit(fake, false);
    submit(fake, true);
    while (atomic_load(&fake->sleepers) == 0) /* the helper sleeps in the backend */
        sched_yield();
    reach(fake, 2);
    while (atomic_load_explicit(&fake->flight.delivered, memory_order_acquire) < 2)
        sched_yield();
    assert_ends(fake, 2);
    close_fake(fake);
}

static void ring_is_used_again(void **state)
{
    struct fake *fake = open_fake(LIMIT, FOREVER);
    uint64_t submitted = 0;
    (void)state;
    for (uint64_t ended = 0; ended < 1000; ended++) {
        while (submitted < ended + LIMIT) {
            submit(fake, false);
            submitted++;
        }
        reach(fake, ended + 1);
        vyre_flight_wait(&fake->flight, ended + 1, FOREVER);
        assert_int_equal(atomic_load(&fake->held), LIMIT - 1);
    }
    assert_ends(fake, 1000);
    reach(fake, submitted);
    vyre_flight_wait(&fake->flight, submitted, FOREVER);
    close_fake(fake);
}

/* ---- Losses ----------------------------------------------------------------------------------- */

struct waiter {
    pthread_t thread;
    struct fake *fake;
    uint64_t sequence;
    uint32_t losses_seen; /* reported before the wait returned */
};

static void *wait_in_thread(void *argument)
{
    struct waiter *waiter = argument;
    vyre_flight_wait(&waiter->fake->flight, waiter->sequence, FOREVER);
    waiter->losses_seen = atomic_load(&waiter->fake->losses);
    return NULL;
}

static void start_waiters(struct fake *fake, struct waiter *waiters, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        waiters[i] = (struct waiter){.fake = fake, .sequence = i + 1};
        assert_int_equal(pthread_create(&waiters[i].thread, NULL, wait_in_thread, &waiters[i]), 0);
    }
}

static struct vyre_diag lost_reason(void)
{
    struct vyre_diag reason;
    vyre_diag_reset(&reason);
    (void)vyre_diag_set(&reason, VYRE_DIAG_DEVICE_LOST, NULL, 0, "a made-up loss");
    return reason;
}

static void loss_is_reported_by_every_waiter(void **state)
{
    struct fake *fake = open_fake(LIMIT, FOREVER);
    const struct vyre_diag reason = lost_reason();
    struct waiter waiters[3];
    (void)state;
    for (int i = 0; i < 3; i++)
        submit(fake, false);
    start_waiters(fake, waiters, 3);
    while (atomic_load(&fake->sleepers) < 3)
        sched_yield();
    vyre_flight_lose(&fake->flight, &reason); /* as submit does: it reports nothing itself */
    for (int i = 0; i < 3; i++) {
        pthread_join(waiters[i].thread, NULL);
        assert_true(waiters[i].losses_seen > 0);
    }
    assert_int_equal(atomic_load(&fake->losses), 3); /* each of them once */
    assert_int_equal(atomic_load(&fake->loss_id), VYRE_DIAG_DEVICE_LOST);
    assert_ends(fake, 0);
    vyre_flight_deinit(&fake->flight);
    assert_int_equal(atomic_load(&fake->dropped), 3);
    close_fake(fake);
}

static void loss_is_reported_once_by_the_helper(void **state)
{
    struct fake *fake = open_fake(LIMIT, FOREVER);
    const struct vyre_diag reason = lost_reason();
    (void)state;
    assert_int_equal(vyre_flight_start_helper(&fake->flight, NULL), VYRE_OK);
    submit(fake, true);
    vyre_flight_lose(&fake->flight, &reason);
    while (atomic_load(&fake->losses) == 0)
        sched_yield();
    for (int i = 0; i < 100; i++)
        vyre_flight_wake_helper(&fake->flight);
    vyre_flight_stop_helper(&fake->flight);
    assert_int_equal(atomic_load(&fake->losses), 1);
    assert_ends(fake, 0);
    close_fake(fake);
}

static void work_that_does_not_move_is_a_hang(void **state)
{
    struct fake *fake = open_fake(LIMIT, 0); /* any time is too long */
    struct vyre_diag diag;
    (void)state;
    vyre_flight_wait(&fake->flight, 0, 0); /* nothing in flight cannot hang */
    for (int i = 0; i < 100; i++)
        assert_true(vyre_flight_check(&fake->flight));
    fake->naps = true;
    submit(fake, false);
    vyre_flight_wait(&fake->flight, 1, FOREVER);
    assert_int_equal(atomic_load(&fake->losses), 1);
    assert_int_equal(atomic_load(&fake->loss_id), VYRE_DIAG_DEVICE_HANG);
    assert_diag(vyre_loss_status(&fake->flight.loss, &diag), diag, VYRE_DIAG_DEVICE_HANG);
    assert_false(vyre_flight_check(&fake->flight));
    close_fake(fake);
}

static void hang_that_submit_finds_is_reported_by_a_waiter(void **state)
{
    struct fake *fake = open_fake(LIMIT, FOREVER);
    struct vyre_diag diag;
    (void)state;
    submit(fake, false);
    vyre_flight_lose_hang(&fake->flight, 7000000);
    assert_diag(vyre_loss_status(&fake->flight.loss, &diag), diag, VYRE_DIAG_DEVICE_HANG);
    assert_contains(diag.message, "7 ms");
    assert_int_equal(atomic_load(&fake->losses), 0);
    vyre_flight_wait(&fake->flight, 1, FOREVER);
    assert_int_equal(atomic_load(&fake->losses), 1);
    close_fake(fake);
}

static void *wait_for_one(void *user)
{
    struct fake *fake = user;
    vyre_flight_wait(&fake->flight, 1, FOREVER);
    return NULL;
}

/* A driver's call reports the loss while another thread sleeps without a limit. */
static void loss_that_submit_meets_wakes_who_waits(void **state)
{
    (void)state;
    for (int named = 0; named < 2; named++) {
        struct fake *fake = open_fake(LIMIT, FOREVER);
        struct vyre_diag diag = lost_reason();
        const enum vyre_diag_id id = named ? diag.id : VYRE_DIAG_DEVICE_LOST;
        pthread_t thread;
        submit(fake, false);
        assert_int_equal(pthread_create(&thread, NULL, wait_for_one, fake), 0);
        while (atomic_load(&fake->sleepers) == 0)
            sched_yield();
        assert_int_equal(vyre_flight_note_loss(&fake->flight, VYRE_BUSY, &diag), VYRE_BUSY);
        assert_false(vyre_is_lost(&fake->flight.loss));
        assert_int_equal(
            vyre_flight_note_loss(&fake->flight, VYRE_DEVICE_LOST, named ? &diag : NULL),
            VYRE_DEVICE_LOST);
        pthread_join(thread, NULL);
        assert_int_equal(atomic_load(&fake->loss_id), id);
        /* A later one is answered with the first reason. */
        (void)vyre_diag_set(&diag, VYRE_DIAG_VULKAN_LOST, NULL, 0, "later");
        assert_diag(vyre_flight_note_loss(&fake->flight, VYRE_DEVICE_LOST, &diag), diag, id);
        close_fake(fake);
    }
}

/* The device has moved on, and what it was asked last does not say so. */
static void poll_late(void *device)
{
    struct fake *fake = device;
    vyre_lock_acquire(&fake->flight.lock);
    fake->seen = atomic_load(&fake->reached);
    vyre_flight_harvest_locked(&fake->flight);
    vyre_lock_release(&fake->flight.lock);
}

static uint64_t seen_locked(void *device)
{
    return ((const struct fake *)device)->seen;
}

static void device_is_asked_again_before_it_counts_as_hanging(void **state)
{
    struct vyre_flight_ops cached = ops;
    cached.poll = poll_late;
    cached.progress_locked = seen_locked;
    (void)state;
    for (int moves = 0; moves < 2; moves++) {
        struct fake *fake = open_fake(LIMIT, 0); /* any time is too long */
        fake->flight.ops = &cached;
        submit(fake, false);
        submit(fake, false);
        assert_true(vyre_flight_check(&fake->flight)); /* the first look */
        atomic_store(&fake->reached, (uint64_t)moves);
        assert_int_equal(vyre_flight_check(&fake->flight), moves);
        close_fake(fake);
    }
}

struct awaited {
    struct fake *fake;
    uint32_t looks;
    uint32_t over_after;
    uint32_t moves; /* so many looks find another progress */
    uint32_t pauses;
};

static bool look(void *context)
{
    struct awaited *awaited = context;
    return ++awaited->looks > awaited->over_after;
}

static uint64_t move(void *context)
{
    const struct awaited *awaited = context;
    return awaited->looks < awaited->moves ? awaited->looks : awaited->moves;
}

static void rest(void *context)
{
    ((struct awaited *)context)->pauses++;
}

static void await_ends_with_what_it_waits_for(void **state)
{
    struct fake *fake = open_fake(LIMIT, FOREVER);
    struct awaited own = {.fake = fake, .over_after = 100};
    struct vyre_awaited awaited = {.context = &own, .is_over = look, .pause = rest};
    (void)state;
    awaited.limit_ns = FOREVER;
    assert_true(vyre_flight_await(&fake->flight, &awaited));
    assert_int_equal(own.looks, 101);
    assert_int_equal(own.pauses, 100);
    /* It moves for as long as it takes. */
    own = (struct awaited){.fake = fake, .over_after = 100, .moves = 200};
    awaited.progress = move;
    awaited.limit_ns = 0;
    assert_true(vyre_flight_await(&fake->flight, &awaited));
    assert_false(vyre_is_lost(&fake->flight.loss));
    close_fake(fake);
}

static void await_finds_hangs_and_sees_losses(void **state)
{
    struct vyre_diag diag;
    (void)state;
    for (int hangs = 0; hangs < 2; hangs++) {
        struct fake *fake = open_fake(LIMIT, FOREVER);
        struct awaited own = {.fake = fake, .over_after = UINT32_MAX, .moves = 10};
        const struct vyre_awaited awaited = {.context = &own,
                                             .is_over = look,
                                             .progress = move,
                                             .limit_ns = hangs ? 3000000 : FOREVER};
        const struct vyre_diag reason = lost_reason();
        if (!hangs)
            vyre_flight_lose(&fake->flight, &reason);
        assert_false(vyre_flight_await(&fake->flight, &awaited));
        assert_diag(vyre_loss_status(&fake->flight.loss, &diag), diag,
                    hangs ? VYRE_DIAG_DEVICE_HANG : reason.id);
        if (hangs)
            assert_contains(diag.message, "3 ms"); /* its own limit, not the flight's */
        else
            assert_int_equal(own.looks, 1);
        assert_int_equal(atomic_load(&fake->losses), 0); /* it reports nothing */
        close_fake(fake);
    }
}

/* Ends two more submissions once a drain looks for them. */
static void *end_two_in_drain(void *argument)
{
    struct fake *fake = argument;
    while (atomic_load(&fake->flight.drains) == 0)
        sched_yield();
    reach(fake, 3);
    return NULL;
}

/* What ended before it began was not awaited, and what has a callback is left to the helper. */
static void drain_reports_what_it_awaited(void **state)
{
    struct fake *fake = open_fake(LIMIT, FOREVER);
    pthread_t thread;
    (void)state;
    assert_true(vyre_flight_drain(&fake->flight)); /* nothing */
    for (int i = 0; i < 3; i++)
        submit(fake, i == 2); /* there is no helper */
    reach(fake, 1);
    assert_int_equal(pthread_create(&thread, NULL, end_two_in_drain, fake), 0);
    assert_true(vyre_flight_drain(&fake->flight));
    pthread_join(thread, NULL);
    assert_int_equal(vyre_flight_harvested(&fake->flight), 3);
    assert_ends(fake, 2);
    assert_false(fake->awaited[0]);
    assert_true(fake->awaited[1]);
    assert_int_equal(atomic_load(&fake->flight.drains), 0);
    close_fake(fake);
}

static void drain_ends_with_the_device(void **state)
{
    struct fake *fake = open_fake(LIMIT, FOREVER);
    (void)state;
    submit(fake, false);
    vyre_flight_lose_hang(&fake->flight, 0);
    assert_false(vyre_flight_drain(&fake->flight));
    assert_int_equal(atomic_load(&fake->losses), 0);
    assert_ends(fake, 0);
    close_fake(fake);
}

/* ---- The rest --------------------------------------------------------------------------------- */

static void helper_tends_what_no_thread_waits_for(void **state)
{
    struct fake *fake = open_fake(LIMIT, FOREVER);
    (void)state;
    atomic_store(&fake->tend_again, 5);
    assert_int_equal(vyre_flight_start_helper(&fake->flight, NULL), VYRE_OK);
    while (atomic_load(&fake->tended) < 6)
        sched_yield();
    vyre_flight_wake_helper(&fake->flight);
    while (atomic_load(&fake->tended) < 7)
        sched_yield();
    close_fake(fake);
}

static void *allocate_nothing(void *user, size_t size, size_t alignment)
{
    (void)user;
    (void)size;
    (void)alignment;
    return NULL;
}

static void free_nothing(void *user, void *memory, size_t size, size_t alignment)
{
    (void)user;
    (void)memory;
    (void)size;
    (void)alignment;
}

static void init_without_memory_fails(void **state)
{
    const struct vyre_device_desc desc = {.in_flight_limit = LIMIT};
    const struct vyre_device_host host = {
        .allocator = {.allocate = allocate_nothing, .deallocate = free_nothing}};
    struct vyre_flight flight;
    struct vyre_diag diag;
    (void)state;
    assert_diag(vyre_flight_init(&flight, &ops, NULL, sizeof(struct entry), &host, &desc, &diag),
                diag, VYRE_DIAG_OUT_OF_MEMORY);
    vyre_flight_deinit(&flight);
}

/* One submits, one is the device, two wait for all of it, the helper calls back; all at once. */
static void many_threads_every_end_is_reported_once_in_order(void **state)
{
    enum { BATCHES = 5000, WAITERS = 2 };
    struct fake *fake = open_fake(LIMIT, FOREVER);
    struct device device = {fake, BATCHES};
    struct waiter waiters[WAITERS];
    pthread_t thread;
    (void)state;
    assert_int_equal(vyre_flight_start_helper(&fake->flight, NULL), VYRE_OK);
    pthread_t helper = fake->flight.helper;
    assert_int_equal(pthread_create(&thread, NULL, run_device, &device), 0);
    submit(fake, false);
    submit(fake, true);
    start_waiters(fake, waiters, WAITERS);
    for (uint64_t sequence = 3; sequence <= BATCHES; sequence++) {
        if (sequence > LIMIT)
            vyre_flight_wait(&fake->flight, sequence - LIMIT, FOREVER);
        submit(fake, sequence % 3 == 0);
        if (sequence % 7 == 0)
            vyre_flight_harvest(&fake->flight); /* as a submit that needs room */
    }
    vyre_flight_wait(&fake->flight, BATCHES, FOREVER);
    pthread_join(thread, NULL);
    for (int i = 0; i < WAITERS; i++)
        pthread_join(waiters[i].thread, NULL);
    vyre_flight_stop_helper(&fake->flight);
    assert_ends(fake, BATCHES);
    for (uint32_t i = 2; i < BATCHES; i += 3) /* sequences 3, 6, ... */
        assert_true(pthread_equal(fake->tellers[i], helper));
    assert_int_equal(atomic_load(&fake->losses), 0);
    close_fake(fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(harvest_reports_nothing),
        cmocka_unit_test(callback_is_left_to_the_helper),
        cmocka_unit_test(callback_needs_no_waiter),
        cmocka_unit_test(ring_is_used_again),
        cmocka_unit_test(loss_is_reported_by_every_waiter),
        cmocka_unit_test(loss_is_reported_once_by_the_helper),
        cmocka_unit_test(work_that_does_not_move_is_a_hang),
        cmocka_unit_test(hang_that_submit_finds_is_reported_by_a_waiter),
        cmocka_unit_test(loss_that_submit_meets_wakes_who_waits),
        cmocka_unit_test(device_is_asked_again_before_it_counts_as_hanging),
        cmocka_unit_test(await_ends_with_what_it_waits_for),
        cmocka_unit_test(await_finds_hangs_and_sees_losses),
        cmocka_unit_test(drain_reports_what_it_awaited),
        cmocka_unit_test(drain_ends_with_the_device),
        cmocka_unit_test(helper_tends_what_no_thread_waits_for),
        cmocka_unit_test(init_without_memory_fails),
        cmocka_unit_test(many_threads_every_end_is_reported_once_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
