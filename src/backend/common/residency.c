/*
 * residency.c: the log of what was resident on a device.
 */
#include "backend/common/residency.h"

#include <sched.h>

#include "base/clock.h"
#include "base/futex.h"

/* Looks before the reader yields its core to the writer. */
#define EAGER_LOOKS 100

static void give_way(uint32_t looks)
{
    if (looks < EAGER_LOOKS)
        vyre_spin_pause();
    else
        sched_yield();
}

/* Makes the version odd. Returns the earlier value. */
static uint32_t lock(struct vyre_residency_log *log)
{
    for (uint32_t looks = 0;; looks++) {
        uint32_t version = atomic_load_explicit(&log->version, memory_order_relaxed);
        /* acquire: pairs with the release in unlock. */
        if (version % 2 == 0 &&
            atomic_compare_exchange_weak_explicit(&log->version, &version, version + 1,
                                                  memory_order_acquire, memory_order_relaxed))
            return version;
        give_way(looks);
    }
}

static void unlock(struct vyre_residency_log *log, uint32_t version)
{
    /* release: pairs with the acquires in lock and read. */
    atomic_store_explicit(&log->version, version + 2, memory_order_release);
}

/* release: pairs with the acquire in get; not seen before the odd version. */
static void put(_Atomic uint64_t *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_release);
}

static uint64_t get(const _Atomic uint64_t *word)
{
    /* acquire: pairs with the release in put; the version is read afterwards. */
    return atomic_load_explicit(word, memory_order_acquire);
}

void vyre_residency_log_begin(struct vyre_residency_log *log)
{
    uint32_t version = lock(log);
    if (!vyre_residency_log_is_open(log)) {
        put(&log->number, get(&log->number) + 1);
        put(&log->begin_ns, vyre_clock_now_ns());
        atomic_store_explicit(&log->resident, 1, memory_order_release);
    }
    unlock(log, version);
}

void vyre_residency_log_end(struct vyre_residency_log *log, enum vyre_residency_end why)
{
    uint32_t version = lock(log);
    if (vyre_residency_log_is_open(log)) {
        put(&log->ended, get(&log->number));
        put(&log->ended_begin_ns, get(&log->begin_ns));
        put(&log->ended_ns, vyre_clock_now_ns());
        atomic_store_explicit(&log->why, (uint32_t)why, memory_order_release);
        atomic_store_explicit(&log->resident, 0, memory_order_release);
    }
    unlock(log, version);
}

void vyre_residency_log_read(const struct vyre_residency_log *log, struct vyre_residency *out)
{
    for (uint32_t looks = 0;; looks++) {
        /* acquire: pairs with the release in unlock. */
        uint32_t version = atomic_load_explicit(&log->version, memory_order_acquire);
        *out = (struct vyre_residency){
            .number = get(&log->number),
            .begin_ns = get(&log->begin_ns),
            .ended = get(&log->ended),
            .ended_begin_ns = get(&log->ended_begin_ns),
            .ended_ns = get(&log->ended_ns),
            .why = (enum vyre_residency_end)atomic_load_explicit(&log->why, memory_order_acquire),
        };
        out->serves = out->number != out->ended;
        if (version % 2 == 0 &&
            atomic_load_explicit(&log->version, memory_order_relaxed) == version)
            return;
        give_way(looks);
    }
}
