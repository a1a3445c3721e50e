/*
 * pool.h: the threads of a CPU device.
 *
 *                     work                      no work for a short spin
 *   asleep ──wake──> spinning <──> running      ──────────────> asleep
 *                       │   ^
 *            persistent │   │ idle for persistent_idle_ns, or persistent_lease_ns over
 *                       v   │
 *                     resident                  polls the ring all the time
 *
 * A worker takes tickets from the ring in every state except asleep, so nothing depends on a
 * resident worker staying: if it leaves, the next submit may have to wake it. The lease bounds the
 * residency. The first worker that leaves ends it for all; a submit in persistent mode begins the
 * next.
 *
 * A worker never spins without bound: after SPIN_NS without work (resident: persistent_idle_ns) it
 * sleeps on `wake_word`.
 */
#ifndef VYRE_BACKEND_CPU_POOL_H
#define VYRE_BACKEND_CPU_POOL_H

#include <pthread.h>
#include <stdatomic.h>

#include <vyre/backend.h>

#include "backend/common/residency.h"
#include "backend/cpu/ring.h"

struct vyre_cpu_pool;

struct vyre_cpu_worker {
    struct vyre_cpu_pool *pool; /* Borrowed */
    struct vyre_cpu_runner runner;
    pthread_t thread;
    _Atomic uint32_t exited;
};

struct vyre_cpu_pool {
    struct vyre_cpu_ring *ring;          /* Borrowed */
    const struct vyre_device_host *host; /* Borrowed */
    struct vyre_cpu_worker *workers;     /* Owned */
    uint32_t worker_count;
    uint64_t idle_ns;
    uint64_t lease_ns;
    uint64_t clock_ns;   /* measured: reading the clock */
    uint64_t wake_ns;    /* measured: until a sleeping worker runs */
    uint64_t handoff_ns; /* measured: round trip to a spinning worker */
    _Alignas(VYRE_CPU_LINE_BYTES) _Atomic uint32_t wake_word; /* futex */
    _Atomic uint32_t sleepers;
    _Atomic uint32_t stop;
    struct vyre_residency_log residency;
    _Atomic uint32_t cost_version;
    _Alignas(VYRE_CPU_LINE_BYTES) _Atomic uint32_t ping; /* for measuring: asked ... */
    _Alignas(VYRE_CPU_LINE_BYTES) _Atomic uint32_t pong; /* ... and answered */
};

/* Starts the workers and measures what waking them costs. Failure leaves nothing behind. */
enum vyre_status vyre_cpu_pool_start(struct vyre_cpu_pool *pool, struct vyre_cpu_ring *ring,
                                     const struct vyre_device_host *host,
                                     const struct vyre_device_desc *desc, struct vyre_diag *diag);

/*
 * Stops the workers. False if one of them is in a kernel that does not end, which happens only on a
 * lost device. That worker keeps running and using the pool, so nothing may be freed.
 */
bool vyre_cpu_pool_stop(struct vyre_cpu_pool *pool);
void vyre_cpu_pool_deinit(struct vyre_cpu_pool *pool);

/* Wakes up to `count` workers if any sleep. To be called after publishing. */
void vyre_cpu_pool_wake(struct vyre_cpu_pool *pool, uint32_t count);

/* From now on workers poll the ring until they leave. To be called before waking them. */
static inline void vyre_cpu_pool_stay(struct vyre_cpu_pool *pool)
{
    if (!vyre_residency_log_is_open(&pool->residency))
        vyre_residency_log_begin(&pool->residency);
}

static inline bool vyre_cpu_pool_is_awake(const struct vyre_cpu_pool *pool)
{
    /* Relaxed: a hint; vyre_cpu_pool_wake checks again in order. */
    return atomic_load_explicit(&pool->sleepers, memory_order_relaxed) == 0;
}

/* Runs a ticket and, if that completes the job, reports and ends it. */
void vyre_cpu_pool_run(struct vyre_cpu_pool *pool, struct vyre_cpu_runner *runner,
                       const struct vyre_cpu_ticket *ticket);

#endif
