/*
 * pool.c: the threads of a CPU device.
 */
#include "backend/cpu/pool.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/futex.h"
#include "base/memory.h"

/* How long a worker spins without work before it sleeps. */
#define SPIN_NS 50000
/* Pauses between two looks at the clock. */
#define SPIN_PAUSES 32
/* After this time a spinning worker yields its core between two looks. */
#define SPIN_POLITE_NS 5000
/* Tickets between two checks of the lease. */
#define LEASE_TICKETS 256
/* How long the workers of a lost device get to notice. */
#define LOST_GRACE_NS 20000000

#define COLD_SAMPLES 5
#define HOT_SAMPLES  31

/* ---- Running ---------------------------------------------------------------------------------- */

void vyre_cpu_pool_run(struct vyre_cpu_pool *pool, struct vyre_cpu_runner *runner,
                       const struct vyre_cpu_ticket *ticket)
{
    const struct vyre_cpu_job *job = ticket->job;
    if (!vyre_cpu_ring_run(pool->ring, runner, ticket))
        return;
    if (job->sampled && job->program)
        vyre_cpu_times_from_costs(job->view, &pool->ring->asked);
    const struct vyre_completion completion = {
        .sequence = job->sequence,
        .device_ns = job->timed ? vyre_clock_now_ns() - job->start_ns : 0,
    };
    pool->host->complete(pool->host->context, &completion);
    vyre_cpu_ring_end(pool->ring, completion.sequence);
}

/* ---- Workers ---------------------------------------------------------------------------------- */

static bool is_set(const _Atomic uint32_t *flag)
{
    /* acquire: pairs with the release that sets it. */
    return atomic_load_explicit(flag, memory_order_acquire) != 0;
}

static bool has_work(const struct vyre_cpu_pool *pool, uint64_t cursor)
{
    /* seq_cst: (G) of ring.h. */
    return atomic_load_explicit(&pool->ring->head, memory_order_seq_cst) >= cursor;
}

static void answer_ping(struct vyre_cpu_pool *pool)
{
    uint32_t ping = atomic_load_explicit(&pool->ping, memory_order_relaxed);
    if (ping != atomic_load_explicit(&pool->pong, memory_order_relaxed))
        atomic_store_explicit(&pool->pong, ping, memory_order_relaxed);
}

/* Spins until there is work. False if the time without work is over. */
static bool spin(struct vyre_cpu_pool *pool, uint64_t cursor)
{
    uint64_t start_ns = vyre_clock_now_ns();
    for (;;) {
        for (int i = 0; i < SPIN_PAUSES; i++) {
            if (atomic_load_explicit(&pool->ring->head, memory_order_relaxed) >= cursor)
                return true;
            answer_ping(pool);
            vyre_spin_pause();
        }
        if (is_set(&pool->stop) || vyre_is_lost(&pool->ring->loss))
            return true;
        bool resident = vyre_residency_log_is_open(&pool->residency);
        bool is_short = pool->lease_ns < pool->idle_ns;
        uint64_t stay_ns = is_short ? pool->lease_ns : pool->idle_ns;
        uint64_t limit_ns = resident ? stay_ns : SPIN_NS;
        uint64_t spun_ns = vyre_clock_now_ns() - start_ns;
        if (spun_ns > SPIN_POLITE_NS)
            sched_yield();
        if (spun_ns < limit_ns)
            continue;
        if (resident) /* leaves, and reports it */
            vyre_residency_log_end(&pool->residency,
                                   is_short ? VYRE_RESIDENCY_LEASE : VYRE_RESIDENCY_IDLE);
        return false;
    }
}

static void sleep_until_woken(struct vyre_cpu_pool *pool, uint64_t cursor)
{
    uint32_t word = atomic_load_explicit(&pool->wake_word, memory_order_relaxed);
    /* (G) of ring.h: count first, look second. */
    atomic_fetch_add_explicit(&pool->sleepers, 1, memory_order_seq_cst);
    bool news = has_work(pool, cursor) || is_set(&pool->stop) || vyre_is_lost(&pool->ring->loss) ||
                atomic_load_explicit(&pool->ping, memory_order_seq_cst) !=
                    atomic_load_explicit(&pool->pong, memory_order_relaxed);
    if (!news)
        vyre_futex_wait(&pool->wake_word, word, UINT64_MAX);
    atomic_fetch_sub_explicit(&pool->sleepers, 1, memory_order_seq_cst);
}

/* A lease also ends while there is work without a pause. */
static void check_lease(struct vyre_cpu_pool *pool, uint64_t *lease_start_ns)
{
    if (!vyre_residency_log_is_open(&pool->residency)) {
        *lease_start_ns = 0;
        return;
    }
    uint64_t now_ns = vyre_clock_now_ns();
    if (*lease_start_ns == 0) {
        *lease_start_ns = now_ns;
    } else if (now_ns - *lease_start_ns > pool->lease_ns) {
        vyre_residency_log_end(&pool->residency, VYRE_RESIDENCY_LEASE);
        *lease_start_ns = 0;
    }
}

static void *worker_main(void *argument)
{
    struct vyre_cpu_worker *worker = argument;
    struct vyre_cpu_pool *pool = worker->pool;
    struct vyre_cpu_ring *ring = pool->ring;
    struct vyre_cpu_cursor cursor = {.next = 1};
    uint64_t lease_start_ns = 0;
    uint32_t tickets = 0;
    bool spun = true; /* a new worker goes to sleep at once */
    while (!is_set(&pool->stop) && !vyre_is_lost(&ring->loss)) {
        struct vyre_cpu_ticket ticket;
        if (vyre_cpu_ring_take(ring, &cursor, UINT64_MAX, false, &ticket)) {
            vyre_cpu_pool_run(pool, &worker->runner, &ticket);
            spun = false;
            if (++tickets % LEASE_TICKETS == 0)
                check_lease(pool, &lease_start_ns);
            continue;
        }
        if (!spun && spin(pool, cursor.next))
            continue;
        lease_start_ns = 0;
        sleep_until_woken(pool, cursor.next);
        answer_ping(pool);
        spun = false;
    }
    /* release: pairs with the acquire in stop_worker. */
    atomic_store_explicit(&worker->exited, 1, memory_order_release);
    return NULL;
}

void vyre_cpu_pool_wake(struct vyre_cpu_pool *pool, uint32_t count)
{
    /* (G) of ring.h: publish first, look second. */
    if (atomic_load_explicit(&pool->sleepers, memory_order_seq_cst) == 0)
        return;
    atomic_fetch_add_explicit(&pool->wake_word, 1, memory_order_seq_cst);
    vyre_futex_wake(&pool->wake_word, count);
}

/* ---- Measuring -------------------------------------------------------------------------------- */

static int compare_u64(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static uint64_t median(uint64_t *samples, size_t count, uint64_t low, uint64_t high)
{
    qsort(samples, count, sizeof *samples, compare_u64);
    uint64_t middle = samples[count / 2];
    return middle < low ? low : (middle > high ? high : middle);
}

static uint64_t lowest(const uint64_t *samples, size_t count, uint64_t low, uint64_t high)
{
    uint64_t best = samples[0];
    for (size_t i = 1; i < count; i++)
        best = samples[i] < best ? samples[i] : best;
    return best < low ? low : (best > high ? high : best);
}

/* Asks the workers for a sign of life and returns how long that took, at most 1 ms. */
static uint64_t round_trip_ns(struct vyre_cpu_pool *pool)
{
    uint64_t start_ns = vyre_clock_now_ns();
    uint32_t ping = atomic_load_explicit(&pool->ping, memory_order_relaxed) + 1;
    atomic_store_explicit(&pool->ping, ping, memory_order_seq_cst);
    vyre_cpu_pool_wake(pool, 1);
    uint64_t elapsed_ns = 0;
    while (atomic_load_explicit(&pool->pong, memory_order_relaxed) != ping &&
           elapsed_ns < 1000000) {
        vyre_spin_pause();
        elapsed_ns = vyre_clock_now_ns() - start_ns;
    }
    return vyre_clock_now_ns() - start_ns;
}

static void wait_until_asleep(struct vyre_cpu_pool *pool)
{
    uint64_t start_ns = vyre_clock_now_ns();
    while (atomic_load_explicit(&pool->sleepers, memory_order_relaxed) < pool->worker_count &&
           vyre_clock_now_ns() - start_ns < UINT64_C(2) * SPIN_NS)
        sched_yield();
}

static void measure(struct vyre_cpu_pool *pool)
{
    uint64_t clocks[HOT_SAMPLES];
    for (size_t i = 0; i < HOT_SAMPLES; i++) {
        uint64_t start_ns = vyre_clock_now_ns();
        clocks[i] = vyre_clock_now_ns() - start_ns;
    }
    pool->clock_ns = median(clocks, HOT_SAMPLES, 1, 1000);
    uint64_t cold[COLD_SAMPLES];
    for (size_t i = 0; i < COLD_SAMPLES; i++) {
        wait_until_asleep(pool);
        cold[i] = round_trip_ns(pool);
    }
    uint64_t hot[HOT_SAMPLES];
    for (size_t i = 0; i < HOT_SAMPLES; i++)
        hot[i] = round_trip_ns(pool);
    pool->wake_ns = median(cold, COLD_SAMPLES, 2000, 200000);
    /*
     * The best round trip: on a busy machine most samples measure the machine, not the hand-over.
     */
    pool->handoff_ns = lowest(hot, HOT_SAMPLES, 100, 1000);
    for (uint32_t i = 0; i < pool->worker_count; i++)
        pool->workers[i].runner.clock_ns = pool->clock_ns;
}

/* ---- Start and stop --------------------------------------------------------------------------- */

static uint32_t default_workers(void)
{
    cpu_set_t set;
    int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return cores > 2 ? (uint32_t)cores - 1 : 1;
}

enum vyre_status vyre_cpu_pool_start(struct vyre_cpu_pool *pool, struct vyre_cpu_ring *ring,
                                     const struct vyre_device_host *host,
                                     const struct vyre_device_desc *desc, struct vyre_diag *diag)
{
    *pool = (struct vyre_cpu_pool){
        .ring = ring,
        .host = host,
        .worker_count = desc->cpu_workers ? desc->cpu_workers : default_workers(),
        .idle_ns = desc->persistent_idle_ns,
        .lease_ns = desc->persistent_lease_ns,
        .cost_version = 1,
    };
    size_t size = pool->worker_count * sizeof *pool->workers;
    pool->workers = vyre_memory_allocate(&host->allocator, size, _Alignof(struct vyre_cpu_worker));
    if (!pool->workers)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, desc->label, 0,
                             "no memory for %u workers", pool->worker_count);
    uint32_t wanted = pool->worker_count;
    for (uint32_t i = 0; i < wanted; i++) {
        struct vyre_cpu_worker *worker = &pool->workers[i];
        worker->pool = pool;
        worker->runner.participant = i + 1;
        worker->runner.lost = &ring->loss.lost;
        worker->runner.cost_version = &pool->cost_version;
        int error = pthread_create(&worker->thread, NULL, worker_main, worker);
        if (error != 0) {
            pool->worker_count = i;
            (void)vyre_cpu_pool_stop(pool);
            vyre_memory_free(&host->allocator, pool->workers, size,
                             _Alignof(struct vyre_cpu_worker));
            return vyre_diag_set(diag, VYRE_DIAG_DEVICE_THREADS, desc->label, error,
                                 "worker %u of %u could not be started", i + 1, wanted);
        }
    }
    measure(pool);
    return VYRE_OK;
}

static bool stop_worker(struct vyre_cpu_worker *worker, uint64_t deadline_ns)
{
    /* acquire: pairs with the release at the end of worker_main. */
    while (!atomic_load_explicit(&worker->exited, memory_order_acquire)) {
        if (vyre_clock_now_ns() > deadline_ns) {
            pthread_detach(worker->thread);
            return false;
        }
        const struct timespec moment = {.tv_nsec = 100000};
        nanosleep(&moment, NULL);
    }
    pthread_join(worker->thread, NULL);
    return true;
}

bool vyre_cpu_pool_stop(struct vyre_cpu_pool *pool)
{
    /* seq_cst: a worker that goes to sleep has counted itself or sees this. */
    atomic_store_explicit(&pool->stop, 1, memory_order_seq_cst);
    vyre_cpu_pool_wake(pool, UINT32_MAX >> 1);
    bool lost = vyre_is_lost(&pool->ring->loss);
    uint64_t deadline_ns = vyre_clock_now_ns() + LOST_GRACE_NS;
    bool all = true;
    for (uint32_t i = 0; i < pool->worker_count; i++) {
        if (lost)
            all = stop_worker(&pool->workers[i], deadline_ns) && all;
        else
            pthread_join(pool->workers[i].thread, NULL);
    }
    if (all) /* else a worker is still running */
        vyre_residency_log_end(&pool->residency, VYRE_RESIDENCY_STOPPED);
    return all;
}

void vyre_cpu_pool_deinit(struct vyre_cpu_pool *pool)
{
    vyre_memory_free(&pool->host->allocator, pool->workers,
                     pool->worker_count * sizeof *pool->workers, _Alignof(struct vyre_cpu_worker));
}
