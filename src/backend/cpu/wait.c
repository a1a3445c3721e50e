/*
 * wait.c: waiting callers: they help, spin a little, sleep, and look for kernels that never end.
 */
#include <sched.h>

#include "backend/cpu/device.h"
#include "base/clock.h"

/* How long a waiting caller spins before it sleeps. */
#define WAIT_SPIN_NS 30000
/* After this time it yields its core while it spins. */
#define WAIT_POLITE_NS 3000

/* Runs what a caller's thread may run of the jobs up to `sequence`. */
static void help(struct vyre_cpu_device *device, uint64_t sequence)
{
    if (device->no_inline || !vyre_lock_try(&device->caller_lock))
        return;
    struct vyre_cpu_cursor cursor = {0};
    struct vyre_cpu_ticket ticket;
    while (vyre_cpu_ring_take(&device->ring, &cursor, sequence, true, &ticket))
        vyre_cpu_pool_run(&device->pool, &device->caller, &ticket);
    vyre_lock_release(&device->caller_lock);
}

/* Progress counts commands run and jobs ended. Both only increase, so no two states look alike. */
static bool hangs(struct vyre_cpu_device *device)
{
    const struct vyre_cpu_ring *ring = &device->ring;
    uint64_t completed = atomic_load_explicit(&ring->completed, memory_order_acquire);
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    uint64_t steps = atomic_load_explicit(&device->caller.steps, memory_order_relaxed);
    for (uint32_t i = 0; i < device->pool.worker_count; i++)
        steps += atomic_load_explicit(&device->pool.workers[i].runner.steps, memory_order_relaxed);
    uint64_t progress = head == completed ? VYRE_NOTHING_IN_FLIGHT : completed + steps;
    return vyre_watch_hangs(&device->watch, progress, vyre_clock_now_ns());
}

void vyre_cpu_check_hang(void *native)
{
    struct vyre_cpu_device *device = native;
    struct vyre_cpu_ring *ring = &device->ring;
    if (vyre_is_lost(&ring->loss) || !hangs(device) || !hangs(device))
        return;
    vyre_loss_set_hang(&ring->loss, device->watch.limit_ns);
    vyre_loss_report(&ring->loss);
    vyre_cpu_pool_wake(&device->pool, UINT32_MAX >> 1);
    atomic_fetch_add_explicit(&ring->end_word, 1, memory_order_seq_cst);
    vyre_futex_wake(&ring->end_word, UINT32_MAX >> 1);
}

static bool is_over(const struct vyre_cpu_device *device, uint64_t sequence)
{
    return vyre_cpu_ring_is_complete(&device->ring, sequence) || vyre_is_lost(&device->ring.loss);
}

static bool spin_for(const struct vyre_cpu_device *device, uint64_t sequence, uint64_t limit_ns)
{
    uint64_t start_ns = vyre_clock_now_ns();
    uint64_t spun_ns = 0;
    while (spun_ns < limit_ns) {
        for (int i = 0; i < 32; i++) {
            if (is_over(device, sequence))
                return true;
            vyre_spin_pause();
        }
        spun_ns = vyre_clock_now_ns() - start_ns;
        if (spun_ns > WAIT_POLITE_NS)
            sched_yield();
    }
    return false;
}

/* Sleeps until something ends, at most `limit_ns`. */
static void sleep_for(struct vyre_cpu_device *device, uint64_t sequence, uint64_t limit_ns)
{
    struct vyre_cpu_ring *ring = &device->ring;
    uint32_t word = atomic_load_explicit(&ring->end_word, memory_order_seq_cst);
    /* (G) of ring.h: count first, look second. */
    atomic_fetch_add_explicit(&ring->end_sleepers, 1, memory_order_seq_cst);
    uint64_t completed = atomic_load_explicit(&ring->completed, memory_order_seq_cst);
    if (completed < sequence && !vyre_is_lost(&ring->loss))
        vyre_futex_wait(&ring->end_word, word, limit_ns);
    atomic_fetch_sub_explicit(&ring->end_sleepers, 1, memory_order_seq_cst);
}

static void wait_for(struct vyre_cpu_device *device, uint64_t sequence, uint64_t timeout_ns)
{
    uint64_t start_ns = vyre_clock_now_ns();
    uint64_t slice_ns = device->watch.limit_ns / 4 + 1;
    for (;;) {
        help(device, sequence);
        uint64_t waited_ns = vyre_clock_now_ns() - start_ns;
        uint64_t left_ns = timeout_ns > waited_ns ? timeout_ns - waited_ns : 0;
        if (is_over(device, sequence) || left_ns == 0)
            return;
        if (spin_for(device, sequence, left_ns < WAIT_SPIN_NS ? left_ns : WAIT_SPIN_NS))
            return;
        vyre_cpu_check_hang(device);
        sleep_for(device, sequence, left_ns < slice_ns ? left_ns : slice_ns);
    }
}

void vyre_cpu_wait(void *native, uint64_t sequence, uint64_t timeout_ns)
{
    struct vyre_cpu_device *device = native;
    if (timeout_ns == 0)
        vyre_cpu_check_hang(device);
    else
        wait_for(device, sequence, timeout_ns);
    vyre_loss_report(&device->ring.loss);
}
