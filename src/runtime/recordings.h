/*
 * recordings.h: recordings by key; the least recently used is evicted first.
 *
 *   slots     [key|recording|bytes] ...      an array of `limit` entries, in a list by use
 *   buckets   key -> first slot              chains through the slots
 *
 * Invariants: at most `limit` entries and `limit_bytes` bytes, but always room for the newest one.
 * A recording that is evicted while work uses it is freed when that work is complete. When a buffer
 * or kernel is destroyed, its recordings are evicted at once, since no batch can ask for them
 * again.
 *
 * Thread-safety: the caller holds the device's lock.
 */
#ifndef VYRE_RUNTIME_RECORDINGS_H
#define VYRE_RUNTIME_RECORDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/allocator.h>
#include <vyre/hash.h>
#include <vyre/status.h>

struct vyre_recording {
    struct vyre_hash128 key;
    struct vyre_hash128 shape; /* zero: it was not reported */
    void *native;              /* Owned; NULL: the slot is free */
    size_t size_bytes;
    uint64_t last_sequence; /* of the last submission that used it */
    uint64_t *identities;   /* Owned: of all buffers and kernels that it uses, ascending */
    uint32_t identity_count;
    uint32_t identity_capacity;
    uint64_t identity_bits; /* one bit per identity's lowest six: rules most of them out at once */
    uint32_t next_in_bucket;
    uint32_t newer, older; /* list by use */
};

/* An evicted recording that waits for work to complete. */
struct vyre_recording_corpse {
    void *native;
    uint64_t last_sequence;
};

struct vyre_recordings {
    struct vyre_allocator allocator;
    struct vyre_recording *slots;          /* Owned */
    uint32_t *buckets;                     /* Owned: bucket_mask + 1 */
    struct vyre_recording_corpse *corpses; /* Owned: corpse_limit of them */
    uint32_t limit;
    uint32_t bucket_mask;
    uint32_t count;
    uint32_t corpse_count;
    uint32_t
        corpse_limit; /* batches in flight: each keeps at most one recording from being freed */
    uint32_t newest, oldest;
    uint32_t first_free;
    size_t limit_bytes;
    size_t total_bytes;
    uint64_t made, reused, evicted;
    void (*destroy)(void *device, void *native);
    void *device;                                                           /* the backend's */
    void (*on_evicted)(void *user, const struct vyre_recording *recording); /* may be NULL */
    void *on_evicted_user;                                                  /* Borrowed */
};

/* `limit` is not 0. VYRE_OUT_OF_MEMORY leaves nothing behind. */
enum vyre_status vyre_recordings_init(struct vyre_recordings *recordings,
                                      const struct vyre_allocator *allocator, uint32_t limit,
                                      size_t limit_bytes, uint32_t in_flight_limit,
                                      void (*destroy)(void *device, void *native), void *device);

/* Frees every recording: nothing is in flight. */
void vyre_recordings_deinit(struct vyre_recordings *recordings);

/* The recording under the key, now the most recently used, or NULL. */
struct vyre_recording *vyre_recordings_find(struct vyre_recordings *recordings,
                                            struct vyre_hash128 key);

/* Whether there is one under the key. Does not count as a use. */
bool vyre_recordings_has(const struct vyre_recordings *recordings, struct vyre_hash128 key);

/*
 * Makes room by evicting, then adds; vyre_recording_uses and _seal follow. `completed` is the last
 * complete submission.
 */
struct vyre_recording *vyre_recordings_add(struct vyre_recordings *recordings,
                                           struct vyre_hash128 key, void *native, size_t size_bytes,
                                           uint64_t completed);

/* Notes that the newest recording uses an object. False when out of memory. */
bool vyre_recording_uses(struct vyre_recordings *recordings, struct vyre_recording *recording,
                         uint64_t identity);

/* Sorts what was noted. After that the recording can be purged. */
void vyre_recording_seal(struct vyre_recording *recording);

/* Frees evicted recordings whose work has completed by now. */
void vyre_recordings_bury(struct vyre_recordings *recordings, uint64_t completed);

/* Evicts one recording. */
void vyre_recordings_remove(struct vyre_recordings *recordings, struct vyre_recording *recording,
                            uint64_t completed);

/* Frees evicted recordings whose work is complete. */
void vyre_recordings_bury(struct vyre_recordings *recordings, uint64_t completed);

/* Evicts every recording that uses the object. */
void vyre_recordings_purge(struct vyre_recordings *recordings, uint64_t identity,
                           uint64_t completed);

#endif
