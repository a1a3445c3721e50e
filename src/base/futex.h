/*
 * futex.h: sleeping until a word changes, and a small lock built on it.
 *
 * Thread-safety: any thread.
 */
#ifndef VYRE_BASE_FUTEX_H
#define VYRE_BASE_FUTEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Sleeps while *word == expected, for at most timeout_ns (UINT64_MAX: no limit). May wake early. */
void vyre_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns);

/* Wakes up to `count` sleepers. */
void vyre_futex_wake(_Atomic uint32_t *word, uint32_t count);

/* Lets the core know that this is a spin loop. */
static inline void vyre_spin_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* A lock: 0 free, 1 held, 2 held with a thread asleep. A zeroed lock is free. */
struct vyre_lock {
    _Atomic uint32_t word;
};

void vyre_lock_acquire_slow(struct vyre_lock *lock);

static inline void vyre_lock_acquire(struct vyre_lock *lock)
{
    uint32_t free_word = 0;
    /* acquire: pairs with the release in vyre_lock_release. */
    if (!atomic_compare_exchange_strong_explicit(&lock->word, &free_word, 1, memory_order_acquire,
                                                 memory_order_relaxed))
        vyre_lock_acquire_slow(lock);
}

/* Takes the lock if it is free. */
static inline bool vyre_lock_try(struct vyre_lock *lock)
{
    uint32_t free_word = 0;
    /* acquire: pairs with the release in vyre_lock_release. */
    return atomic_compare_exchange_strong_explicit(&lock->word, &free_word, 1, memory_order_acquire,
                                                   memory_order_relaxed);
}

static inline void vyre_lock_release(struct vyre_lock *lock)
{
    /* release: pairs with the acquires above and in the slow path. */
    if (atomic_exchange_explicit(&lock->word, 0, memory_order_release) == 2)
        vyre_futex_wake(&lock->word, 1);
}

#endif
