/*
 * wait.c: callers that wait, the helper thread, and kernels that never end.
 *
 * A waiting caller looks at the event for a short while, then asks the driver to be called at the end of
 * the batch and sleeps: a driver that works on threads needs the core. Where nobody calls, because a
 * resident kernel works, it offers its core to others between two looks, and naps if it takes long.
 */
#include <sched.h>

#include "backend/opencl/device.h"
#include "backend/opencl/persistent.h"
#include "base/clock.h"

#define SPIN_NS   3000
#define POLITE_NS 150000
/* A sleeper looks again after so long, woken or not: for hangs, and drivers that forget to call. */
#define SLEEP_NS   UINT64_C(5000000)
#define NAP_MAX_NS UINT64_C(500000)
/* So often a resident kernel is looked after that nobody waits for. */
#define TEND_NS UINT64_C(1000000)
/* For the driver's last calls at close. */
#define LAST_CALLS_NS UINT64_C(1000000000)

static bool is_collected(const struct vyre_cl_device *device, uint64_t sequence)
{
    /* acquire: pairs with the release in vyre_cl_collect. */
    return atomic_load_explicit(&device->pending.tail, memory_order_acquire) >= sequence;
}

/* ---- Hangs ------------------------------------------------------------------------------------ */

bool vyre_cl_watch(struct vyre_cl_device *device)
{
    struct vyre_cl_pending_ring *ring = &device->pending;
    bool moving = true;
    vyre_lock_acquire(&ring->collect_lock);
    uint64_t now_ns = vyre_clock_now_ns(); /* under the lock: not before what another one noted */
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    const struct vyre_cl_pending *entry = &ring->entries[(tail + 1) & ring->mask];
    uint64_t progress = UINT64_MAX; /* nothing in flight: nothing can hang */
    if (tail != head)
        progress = tail * (VYRE_CL_EVENTS_MAX + 1) + entry->events_done +
                   vyre_cl_persistent_progress(device);
    if (progress == UINT64_MAX || progress != ring->watch_progress) {
        ring->watch_progress = progress;
        ring->watch_since_ns = now_ns;
    } else {
        moving = now_ns - ring->watch_since_ns < device->desc.hang_timeout_ns;
    }
    vyre_lock_release(&ring->collect_lock);
    return moving;
}

static void wake_all(struct vyre_cl_device *device)
{
    struct vyre_cl_pending_ring *ring = &device->pending;
    /* seq_cst: against a sleeper that reads the word and then looks at what it waits for. */
    atomic_fetch_add_explicit(&ring->wake_word, 1, memory_order_seq_cst);
    vyre_futex_wake(&ring->wake_word, UINT32_MAX >> 1);
}

static void describe_hang(const struct vyre_cl_device *device, struct vyre_diag *diag)
{
    (void)vyre_diag_set(diag, VYRE_DIAG_DEVICE_HANG, NULL, 0, "nothing was completed for %llu ms",
                        (unsigned long long)(device->desc.hang_timeout_ns / 1000000));
}

void vyre_cl_declare_lost(struct vyre_cl_device *device)
{
    struct vyre_diag reason;
    vyre_diag_reset(&reason);
    describe_hang(device, &reason);
    /* release: pairs with the acquire in vyre_cl_is_lost. */
    atomic_store_explicit(&device->lost, 1, memory_order_release);
    device->host.lost(device->host.context, &reason);
    wake_all(device);
}

enum vyre_status vyre_cl_hang(struct vyre_cl_device *device, struct vyre_diag *diag)
{
    /* release: pairs with the acquire in vyre_cl_is_lost. */
    atomic_store_explicit(&device->lost, 1, memory_order_release);
    describe_hang(device, diag);
    return VYRE_DEVICE_LOST;
}

/* ---- Sleeping --------------------------------------------------------------------------------- */

/* The driver calls at the end of a batch. Takes no lock: it may come from inside a call of ours. */
static void CL_CALLBACK on_event(cl_event event, cl_int state, void *user)
{
    struct vyre_cl_device *device = user;
    (void)event;
    (void)state;
    wake_all(device);
    /* release: the last touch; pairs with the acquire in vyre_cl_stop_waiters. */
    atomic_fetch_sub_explicit(&device->pending.driver_calls, 1, memory_order_release);
}

/* Asks the driver to be called when the batch ends. */
static void ask_to_be_called(struct vyre_cl_device *device, uint64_t sequence)
{
    struct vyre_cl_pending_ring *ring = &device->pending;
    vyre_lock_acquire(&ring->collect_lock);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    struct vyre_cl_pending *entry = &ring->entries[sequence & ring->mask];
    bool pending = tail < sequence && entry->event_count > 0 && !entry->woken;
    if (pending) {
        entry->woken = true;
        atomic_fetch_add_explicit(&ring->driver_calls, 1, memory_order_relaxed);
        cl_event last = entry->events[entry->event_count - 1];
        if (device->api->clSetEventCallback(last, CL_COMPLETE, on_event, device) != CL_SUCCESS)
            atomic_fetch_sub_explicit(&ring->driver_calls, 1, memory_order_relaxed);
    }
    vyre_lock_release(&ring->collect_lock);
}

static void sleep_until(struct vyre_cl_device *device, uint64_t sequence, uint64_t limit_ns)
{
    struct vyre_cl_pending_ring *ring = &device->pending;
    uint32_t word = atomic_load_explicit(&ring->wake_word, memory_order_seq_cst);
    ask_to_be_called(device, sequence);
    vyre_cl_collect(device, false);
    if (!is_collected(device, sequence) && !vyre_cl_is_lost(device))
        vyre_futex_wait(&ring->wake_word, word, limit_ns < SLEEP_NS ? limit_ns : SLEEP_NS);
}

/* Sleeps for a small part of the time that was waited, where nobody calls. */
static void nap(struct vyre_cl_device *device, uint64_t waited_ns)
{
    uint32_t word = atomic_load_explicit(&device->pending.wake_word, memory_order_relaxed);
    vyre_futex_wait(&device->pending.wake_word, word,
                    waited_ns < NAP_MAX_NS * 8 ? waited_ns / 8 : NAP_MAX_NS);
}

void vyre_cl_wait(void *native, uint64_t sequence, uint64_t timeout_ns)
{
    struct vyre_cl_device *device = native;
    vyre_cl_collect(device, false);
    if (is_collected(device, sequence))
        return;
    uint64_t start_ns = vyre_clock_now_ns();
    for (;;) {
        if (vyre_cl_is_lost(device)) {
            vyre_cl_declare_lost(device); /* a check that found out tells nobody */
            return;
        }
        uint64_t waited_ns = vyre_clock_now_ns() - start_ns;
        if (waited_ns >= SPIN_NS || timeout_ns == 0) {
            (void)vyre_cl_persistent_tend(device);
            if (!vyre_cl_watch(device)) {
                vyre_cl_declare_lost(device);
                return;
            }
        }
        if (waited_ns >= timeout_ns)
            return;
        if (waited_ns < SPIN_NS)
            vyre_spin_pause();
        else if (vyre_cl_persistent_is_busy(device)) /* nobody calls when an item is done */
            waited_ns < POLITE_NS ? (void)sched_yield() : nap(device, waited_ns);
        else
            sleep_until(device, sequence, timeout_ns - waited_ns);
        vyre_cl_collect(device, false);
        if (is_collected(device, sequence))
            return;
    }
}

enum vyre_status vyre_cl_drain(struct vyre_cl_device *device, struct vyre_diag *diag)
{
    uint64_t head = atomic_load_explicit(&device->pending.head, memory_order_relaxed);
    if (vyre_cl_has_ended(device, head))
        return VYRE_OK;
    (void)device->api->clFlush(device->queue);
    uint64_t start_ns = vyre_clock_now_ns();
    while (!vyre_cl_has_ended(device, head)) {
        uint64_t waited_ns = vyre_clock_now_ns() - start_ns;
        (void)vyre_cl_persistent_tend(device);
        if (vyre_cl_is_lost(device) || !vyre_cl_watch(device))
            return vyre_cl_hang(device, diag);
        if (waited_ns < SPIN_NS)
            vyre_spin_pause();
        else if (waited_ns < POLITE_NS)
            sched_yield();
        else
            nap(device, waited_ns);
    }
    return VYRE_OK;
}

/* ---- The helper thread ------------------------------------------------------------------------ */

/* Waits for what somebody is called back for, and collects it and what is before it. */
static void help(struct vyre_cl_device *device)
{
    struct vyre_cl_pending_ring *ring = &device->pending;
    uint64_t start_ns = vyre_clock_now_ns();
    for (;;) {
        uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
        vyre_cl_collect(device, true);
        uint64_t now_tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
        if (now_tail != tail) {
            wake_all(device);
            start_ns = vyre_clock_now_ns();
        }
        if (atomic_load_explicit(&ring->called_back, memory_order_relaxed) == 0 ||
            vyre_cl_is_lost(device) ||
            atomic_load_explicit(&ring->helper_stop, memory_order_relaxed))
            return;
        uint64_t waited_ns = vyre_clock_now_ns() - start_ns;
        (void)vyre_cl_persistent_tend(device);
        if (!vyre_cl_watch(device)) {
            vyre_cl_declare_lost(device);
            return;
        }
        if (waited_ns < POLITE_NS) {
            sched_yield();
            continue;
        }
        uint32_t word = atomic_load_explicit(&ring->wake_word, memory_order_seq_cst);
        ask_to_be_called(device, now_tail + 1);
        vyre_futex_wait(&ring->wake_word, word, waited_ns < SLEEP_NS ? waited_ns / 4 : SLEEP_NS);
    }
}

static void *run_helper(void *user)
{
    struct vyre_cl_device *device = user;
    struct vyre_cl_pending_ring *ring = &device->pending;
    while (!atomic_load_explicit(&ring->helper_stop, memory_order_acquire)) {
        /* acquire: pairs with the release in vyre_cl_wake_helper. */
        uint32_t word = atomic_load_explicit(&ring->helper_word, memory_order_acquire);
        bool lost = vyre_cl_is_lost(device);
        if (!lost && atomic_load_explicit(&ring->called_back, memory_order_relaxed))
            help(device);
        /* A resident kernel is looked after also while nobody waits. */
        bool resident = !lost && vyre_cl_persistent_tend(device);
        if (!atomic_load_explicit(&ring->helper_stop, memory_order_acquire))
            vyre_futex_wait(&ring->helper_word, word, resident ? TEND_NS : UINT64_MAX);
    }
    return NULL;
}

void vyre_cl_wake_helper(struct vyre_cl_device *device)
{
    struct vyre_cl_pending_ring *ring = &device->pending;
    /* release: pairs with the acquire in the helper's loop. */
    atomic_fetch_add_explicit(&ring->helper_word, 1, memory_order_release);
    vyre_futex_wake(&ring->helper_word, 1);
}

enum vyre_status vyre_cl_start_helper(struct vyre_cl_device *device, struct vyre_diag *diag)
{
    int error = pthread_create(&device->pending.helper, NULL, run_helper, device);
    if (error != 0)
        return vyre_diag_set(diag, VYRE_DIAG_DEVICE_THREADS, NULL, error,
                             "no thread for the callbacks of a device");
    device->pending.helper_started = true;
    return VYRE_OK;
}

bool vyre_cl_stop_waiters(struct vyre_cl_device *device)
{
    struct vyre_cl_pending_ring *ring = &device->pending;
    if (ring->helper_started) {
        atomic_store_explicit(&ring->helper_stop, 1, memory_order_release);
        vyre_cl_wake_helper(device);
        wake_all(device);
        pthread_join(ring->helper, NULL);
        ring->helper_started = false;
    }
    uint64_t start_ns = vyre_clock_now_ns();
    /* acquire: pairs with the release in on_event. */
    while (atomic_load_explicit(&ring->driver_calls, memory_order_acquire)) {
        if (vyre_clock_now_ns() - start_ns > LAST_CALLS_NS)
            return false;
        sched_yield();
    }
    return true;
}
