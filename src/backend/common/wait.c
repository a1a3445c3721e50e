/*
 * wait.c: callers that wait for a submission in flight, and the helper thread that calls back.
 *
 * A caller harvests and delivers what is over, spins a little, then sleeps in slices, as the
 * backend can, so that it notices what other threads have found out.
 */
#include <sched.h>
#include <string.h>
#include <time.h>

#include "backend/common/flight.h"
#include "base/clock.h"

/* After this time a spinning caller yields its core between two looks. */
#define POLITE_NS 3000
/* Pauses between two looks from then on. Before that, for work that ends at once, there is one. */
#define SPIN_PAUSES 16
#define SLICE_NS    UINT64_C(20000000)
/* How often the helper serves work that no thread waits for. */
#define TEND_NS UINT64_C(1000000)
/* A backend call that waits yields this often before it naps for this long at a time. */
#define AWAIT_YIELDS 256u
#define AWAIT_NAP_NS 100000

/* ---- Sleeping --------------------------------------------------------------------------------- */

void vyre_flight_sleep(struct vyre_flight *flight, uint32_t news, uint64_t limit_ns)
{
    /* seq_cst: counted before the kernel reads the word; pairs with the thread that delivers. */
    atomic_fetch_add_explicit(&flight->sleepers, 1, memory_order_seq_cst);
    vyre_futex_wait(&flight->end_word, news, limit_ns);
    atomic_fetch_sub_explicit(&flight->sleepers, 1, memory_order_relaxed);
}

void vyre_flight_wake(struct vyre_flight *flight)
{
    /* seq_cst: against a sleeper that reads the word and then checks what it waits for. */
    atomic_fetch_add_explicit(&flight->end_word, 1, memory_order_seq_cst);
    vyre_futex_wake(&flight->end_word, UINT32_MAX >> 1);
}

/* ---- Callers ---------------------------------------------------------------------------------- */

static bool is_over(const struct vyre_flight *flight, uint64_t sequence)
{
    /* acquire: pairs with the release of the thread that delivers. */
    return atomic_load_explicit(&flight->delivered, memory_order_acquire) >= sequence ||
           vyre_is_lost(&flight->loss);
}

/* Harvests and delivers what is over. */
static void advance(struct vyre_flight *flight, bool helper)
{
    if (atomic_load_explicit(&flight->delivered, memory_order_relaxed) ==
        atomic_load_explicit(&flight->submitted, memory_order_relaxed))
        return;
    vyre_flight_take(flight);
    vyre_flight_deliver(flight, helper);
}

/*
 * Spins or sleeps for a moment, until the submission is over or, with `reported`, the runtime knows.
 * False: there is no time left, or the device is lost.
 */
static bool pass_time(struct vyre_flight *flight, uint64_t sequence, bool reported,
                      uint64_t waited_ns, uint64_t timeout_ns)
{
    bool in_time = waited_ns < timeout_ns;
    if (in_time && waited_ns < flight->ops->spin_ns) {
        int pauses = waited_ns > POLITE_NS ? SPIN_PAUSES : 1;
        for (int i = 0; i < pauses; i++)
            vyre_spin_pause();
        if (waited_ns > POLITE_NS)
            sched_yield();
        return true;
    }
    if (!vyre_flight_check(flight) || !in_time)
        return false;
    uint64_t left_ns = timeout_ns - waited_ns;
    uint64_t limit_ns = left_ns < SLICE_NS ? left_ns : SLICE_NS;
    uint32_t news = vyre_flight_news(flight);
    if (!reported || vyre_flight_harvested(flight) < sequence)
        flight->ops->sleep(flight->device, sequence, waited_ns, limit_ns);
    else if (!is_over(flight, sequence)) /* the helper delivers, or the thread that is doing so */
        vyre_flight_sleep(flight, news, limit_ns);
    return true;
}

void vyre_flight_wait(struct vyre_flight *flight, uint64_t sequence, uint64_t timeout_ns)
{
    advance(flight, false);
    if (!is_over(flight, sequence)) {
        uint64_t start_ns = vyre_clock_now_ns();
        uint64_t waited_ns = 0;
        while (!is_over(flight, sequence) &&
               pass_time(flight, sequence, true, waited_ns, timeout_ns)) {
            advance(flight, false);
            waited_ns = vyre_clock_now_ns() - start_ns;
        }
    }
    vyre_loss_report(&flight->loss);
}

bool vyre_flight_drain(struct vyre_flight *flight)
{
    const uint64_t last = vyre_flight_submitted(flight);
    uint64_t start_ns = vyre_clock_now_ns();
    bool is_alive = true;
    vyre_flight_take(flight);
    atomic_store_explicit(&flight->drains, 1, memory_order_relaxed);
    while (is_alive && vyre_flight_harvested(flight) < last) {
        is_alive = pass_time(flight, last, false, vyre_clock_now_ns() - start_ns, UINT64_MAX);
        vyre_flight_take(flight);
    }
    atomic_store_explicit(&flight->drains, 0, memory_order_relaxed);
    /* Before anything else runs, so that the runtime knows when they ended. */
    if (is_alive)
        vyre_flight_deliver(flight, false);
    return is_alive;
}

/* Whether the awaited work makes no progress. */
static bool stands_still(const struct vyre_awaited *awaited, struct vyre_watch *watch)
{
    uint64_t progress = awaited->progress ? awaited->progress(awaited->context) : 0;
    return vyre_watch_hangs(watch, progress, vyre_clock_now_ns());
}

/* Between two looks at something that wakes no thread: first yields the core, then sleeps. */
static void rest(uint32_t *looks)
{
    if (++*looks < AWAIT_YIELDS)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = AWAIT_NAP_NS}, NULL);
}

bool vyre_flight_await(struct vyre_flight *flight, const struct vyre_awaited *awaited)
{
    struct vyre_watch watch;
    vyre_watch_init(&watch, awaited->limit_ns);
    uint32_t looks = 0;
    bool suspect = false;
    while (!awaited->is_over(awaited->context)) {
        if (vyre_is_lost(&flight->loss))
            return false;
        bool hangs = stands_still(awaited, &watch);
        if (hangs && suspect)
            vyre_flight_lose_hang(flight, awaited->limit_ns);
        else if (!hangs) {
            if (awaited->pause)
                awaited->pause(awaited->context);
            rest(&looks);
        }
        suspect = hangs; /* the device is asked once more before that is believed */
    }
    return true;
}

/* ---- The helper ------------------------------------------------------------------------------- */

/* Carries every submission with a callback to its end. */
static void *help(void *argument)
{
    struct vyre_flight *flight = argument;
    uint64_t waits_for = 0;
    uint64_t since_ns = 0;
    bool reported = false;
    while (!atomic_load_explicit(&flight->helper_stop, memory_order_seq_cst)) {
        uint32_t word = atomic_load_explicit(&flight->helper_word, memory_order_seq_cst);
        if (!reported && vyre_is_lost(&flight->loss)) {
            vyre_loss_report(&flight->loss);
            reported = true;
        }
        advance(flight, true);
        /* acquire: pairs with the release in vyre_flight_push. */
        if (is_over(flight, atomic_load_explicit(&flight->called_last, memory_order_acquire))) {
            bool again = !vyre_is_lost(&flight->loss) && flight->ops->tend &&
                         flight->ops->tend(flight->device);
            vyre_futex_wait(&flight->helper_word, word, again ? TEND_NS : UINT64_MAX);
            continue;
        }
        uint64_t next = atomic_load_explicit(&flight->delivered, memory_order_acquire) + 1;
        uint64_t now_ns = vyre_clock_now_ns();
        since_ns = next == waits_for ? since_ns : now_ns;
        waits_for = next;
        if (!vyre_flight_check(flight))
            continue;
        if (now_ns - since_ns < flight->ops->helper_spin_ns)
            sched_yield();
        else if (vyre_flight_harvested(flight) < next)
            flight->ops->sleep(flight->device, next, now_ns - since_ns, SLICE_NS);
    }
    return NULL;
}

enum vyre_status vyre_flight_start_helper(struct vyre_flight *flight, struct vyre_diag *diag)
{
    if (flight->has_helper)
        return VYRE_OK;
    int error = pthread_create(&flight->helper, NULL, help, flight);
    if (error)
        return vyre_diag_set(diag, VYRE_DIAG_DEVICE_THREADS, NULL, error,
                             "no thread for completion callbacks: %s", strerror(error));
    flight->has_helper = true;
    return VYRE_OK;
}

void vyre_flight_wake_helper(struct vyre_flight *flight)
{
    /* seq_cst: against the helper, which reads the word and then looks for something to do. */
    atomic_fetch_add_explicit(&flight->helper_word, 1, memory_order_seq_cst);
    vyre_futex_wake(&flight->helper_word, 1);
}

void vyre_flight_stop_helper(struct vyre_flight *flight)
{
    if (!flight->has_helper)
        return;
    atomic_store_explicit(&flight->helper_stop, 1, memory_order_seq_cst);
    vyre_flight_wake(flight);
    vyre_flight_wake_helper(flight);
    pthread_join(flight->helper, NULL);
    flight->has_helper = false;
}
