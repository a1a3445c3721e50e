/*
 * flight.h: submissions in flight: their order, their bytes, their end.
 *
 *   submitted ──> reached by the device ──> harvested ──> delivered
 *                 (timeline semaphore)      bytes and     the runtime is told,
 *                                           times taken   in order
 *
 * Harvesting copies downloads to the caller's memory and frees what the submission held. It needs only
 * the flight's lock, so that a submit that waits for room can do it too; delivering calls foreign code
 * and is done by one thread at a time, without that lock. A submission with a callback is delivered by
 * the helper thread alone.
 *
 * Thread-safety: any thread.
 */
#ifndef VYRE_BACKEND_VULKAN_FLIGHT_H
#define VYRE_BACKEND_VULKAN_FLIGHT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <vyre/backend.h>

#include "backend/vulkan/loader.h"
#include "base/futex.h"

struct vyre_vk_device;
struct vyre_vk_frame;
struct vyre_vk_take;
struct vyre_vk_timer;

/* Bytes that wait in mapped memory for their way to the caller, or come from there. */
struct vyre_vk_transfer {
    uint32_t command;       /* of the view */
    uint32_t part;          /* of a recording: the command buffer that it is in */
    uint64_t command_bytes; /* from where in the command's bytes */
    uint64_t size_bytes;
    unsigned char *mapped;
    bool ahead; /* of a recording on several queues: in the step ahead */
};

/* A list that keeps its memory. */
struct vyre_vk_transfers {
    struct vyre_vk_transfer *items; /* Owned */
    uint32_t count;
    uint32_t capacity;
};

/* Both: false when out of memory. */
bool vyre_vk_transfers_reserve(struct vyre_vk_transfers *transfers,
                               const struct vyre_allocator *allocator); /* room for one more */
bool vyre_vk_transfers_add(struct vyre_vk_transfers *transfers,
                           const struct vyre_allocator *allocator,
                           const struct vyre_vk_transfer *transfer);
void vyre_vk_transfers_deinit(struct vyre_vk_transfers *transfers,
                              const struct vyre_allocator *allocator);

/* One submission. */
struct vyre_vk_entry {
    uint64_t value; /* of the timeline, when it is done */
    const struct vyre_batch_view *view;
    const struct vyre_vk_transfers *downloads; /* of the frame or the take; NULL: none */
    struct vyre_vk_frame *frame;               /* plain: back to the device when harvested */
    struct vyre_vk_take *take;                 /* replay */
    struct vyre_vk_timer *timer;               /* NULL: not timed */
    uint64_t staging_end;                      /* of the ring: free up to here once harvested */
    bool called_back;
    struct vyre_completion completion;
};

struct vyre_vk_flight {
    struct vyre_lock lock;         /* entries, frames, timers, the staging ring */
    struct vyre_vk_entry *entries; /* Owned: mask + 1, by sequence */
    uint64_t mask;
    uint64_t submitted;
    uint64_t seen_value;        /* that the timeline is known to have reached */
    _Atomic uint64_t harvested; /* sequences; written under the lock */
    _Atomic uint64_t delivered;
    struct vyre_lock deliver_lock; /* whoever delivers */
    _Atomic uint32_t end_word;     /* changes with `delivered` and with a loss: futex */
    _Atomic uint32_t lost;         /* nothing further is looked at */
    bool
        hung; /* written before `lost`: lost because nothing ended, not because the driver said so */

    struct vyre_diag lost_reason; /* written before `lost`, under the watch_lock */

    struct vyre_lock watch_lock; /* the progress that waiters saw last, for hangs */
    uint64_t watch_value;
    uint64_t watch_since_ns;

    pthread_t helper;
    bool has_helper;
    _Atomic uint32_t helper_word; /* changes with news for the helper: futex */
    _Atomic uint32_t helper_stop;
    uint64_t called_last; /* the last submission with a callback; under the lock */
};

bool vyre_vk_flight_init(struct vyre_vk_flight *flight, const struct vyre_allocator *allocator,
                         uint32_t limit);
void vyre_vk_flight_deinit(struct vyre_vk_flight *flight, const struct vyre_allocator *allocator);

static inline struct vyre_vk_entry *vyre_vk_flight_entry(struct vyre_vk_flight *flight,
                                                         uint64_t sequence)
{
    return &flight->entries[sequence & flight->mask];
}

/* Looks how far the device is and takes what it has done. Caller holds the flight's lock. */
VkResult vyre_vk_harvest_locked(struct vyre_vk_device *device);

/* The same, with the lock taken. */
VkResult vyre_vk_harvest(struct vyre_vk_device *device);

/* Tells the runtime what was harvested. `helper`: this is the helper thread. */
void vyre_vk_deliver(struct vyre_vk_device *device, bool helper);

/*
 * Waits for the device to reach a value. The only failure is VK_ERROR_DEVICE_LOST: then the flight is
 * lost, and what was queued may still run.
 */
VkResult vyre_vk_await(struct vyre_vk_device *device, uint64_t value);

/* The same for another semaphore than the device's timeline. */
VkResult vyre_vk_await_link(struct vyre_vk_device *device, VkSemaphore semaphore, uint64_t value);

/* The same, and harvests, which may fail too, without telling the runtime. Used inside submit. */
VkResult vyre_vk_reach(struct vyre_vk_device *device, uint64_t value);

/*
 * Nothing further is expected of the device: everybody who waits is woken and tells the runtime, which
 * takes the first word. `reason` may be NULL.
 */
void vyre_vk_flight_lose(struct vyre_vk_device *device, const struct vyre_diag *reason);

/* The same, because nothing ended for the hang timeout. */
void vyre_vk_flight_hang(struct vyre_vk_device *device);

/* Of a lost device: the status, and why. */
enum vyre_status vyre_vk_flight_lost_status(const struct vyre_vk_device *device,
                                            struct vyre_diag *diag);

static inline bool vyre_vk_is_lost(const struct vyre_vk_flight *flight)
{
    /* acquire: pairs with the release in vyre_vk_flight_lose. */
    return atomic_load_explicit(&flight->lost, memory_order_acquire) != 0;
}

#endif
