/*
 * futex.c: sleeping until a word changes (Linux).
 */
#include "base/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Spinning longer than this costs more than sleeping. */
#define LOCK_SPINS 100

void vyre_futex_wait(_Atomic uint32_t *word, uint32_t expected, uint64_t timeout_ns)
{
    struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / UINT64_C(1000000000)),
                               .tv_nsec = (long)(timeout_ns % UINT64_C(1000000000))};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected,
            timeout_ns == UINT64_MAX ? NULL : &timeout, NULL, 0);
}

void vyre_futex_wake(_Atomic uint32_t *word, uint32_t count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

void vyre_lock_acquire_slow(struct vyre_lock *lock)
{
    for (int spin = 0; spin < LOCK_SPINS; spin++) {
        uint32_t free_word = 0;
        /* acquire: pairs with the release in vyre_lock_release. */
        if (atomic_compare_exchange_weak_explicit(&lock->word, &free_word, 1, memory_order_acquire,
                                                  memory_order_relaxed))
            return;
        vyre_spin_pause();
    }
    /*
     * acquire: the same pair. Taking the lock as "2" may cost one needless wake, never a lost one.
     */
    while (atomic_exchange_explicit(&lock->word, 2, memory_order_acquire) != 0)
        vyre_futex_wait(&lock->word, 2, UINT64_MAX);
}
