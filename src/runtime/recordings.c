/*
 * recordings.c: recordings by key; the least recently used is evicted first.
 */
#include "runtime/recordings.h"

#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

#define NO_SLOT UINT32_MAX

static uint32_t bucket_of(const struct vyre_recordings *recordings, struct vyre_hash128 key)
{
    return (uint32_t)key.lo & recordings->bucket_mask;
}

static void unlink_use(struct vyre_recordings *recordings, uint32_t slot)
{
    struct vyre_recording *entry = &recordings->slots[slot];
    if (entry->newer != NO_SLOT)
        recordings->slots[entry->newer].older = entry->older;
    else
        recordings->newest = entry->older;
    if (entry->older != NO_SLOT)
        recordings->slots[entry->older].newer = entry->newer;
    else
        recordings->oldest = entry->newer;
}

static void link_newest(struct vyre_recordings *recordings, uint32_t slot)
{
    struct vyre_recording *entry = &recordings->slots[slot];
    entry->newer = NO_SLOT;
    entry->older = recordings->newest;
    if (recordings->newest != NO_SLOT)
        recordings->slots[recordings->newest].newer = slot;
    else
        recordings->oldest = slot;
    recordings->newest = slot;
}

/* An empty slot keeps a list of at most this size. */
#define IDENTITIES_KEPT 256

static void free_identities(struct vyre_recordings *recordings, struct vyre_recording *entry)
{
    vyre_memory_free(&recordings->allocator, entry->identities,
                     entry->identity_capacity * sizeof *entry->identities, _Alignof(uint64_t));
}

enum vyre_status vyre_recordings_init(struct vyre_recordings *recordings,
                                      const struct vyre_allocator *allocator, uint32_t limit,
                                      size_t limit_bytes, uint32_t in_flight_limit,
                                      void (*destroy)(void *device, void *native), void *device)
{
    uint32_t buckets = 1;
    while (buckets < limit * 2)
        buckets *= 2;
    *recordings = (struct vyre_recordings){
        .allocator = *allocator,
        .limit = limit,
        .bucket_mask = buckets - 1,
        .newest = NO_SLOT,
        .oldest = NO_SLOT,
        .limit_bytes = limit_bytes,
        .corpse_limit = in_flight_limit,
        .destroy = destroy,
        .device = device,
    };
    recordings->slots = vyre_memory_allocate(allocator, limit * sizeof *recordings->slots,
                                             _Alignof(struct vyre_recording));
    recordings->buckets =
        vyre_memory_allocate(allocator, buckets * sizeof *recordings->buckets, _Alignof(uint32_t));
    recordings->corpses =
        vyre_memory_allocate(allocator, in_flight_limit * sizeof *recordings->corpses,
                             _Alignof(struct vyre_recording_corpse));
    if (!recordings->slots || !recordings->buckets || !recordings->corpses) {
        vyre_recordings_deinit(recordings);
        return VYRE_OUT_OF_MEMORY;
    }
    memset(recordings->buckets, 0xff, buckets * sizeof *recordings->buckets);
    for (uint32_t i = 0; i < limit; i++)
        recordings->slots[i].next_in_bucket = i + 1 < limit ? i + 1 : NO_SLOT;
    return VYRE_OK;
}

void vyre_recordings_deinit(struct vyre_recordings *recordings)
{
    for (uint32_t i = 0; recordings->slots && i < recordings->limit; i++) {
        if (recordings->slots[i].native)
            recordings->destroy(recordings->device, recordings->slots[i].native);
        free_identities(recordings, &recordings->slots[i]);
    }
    for (uint32_t i = 0; recordings->corpses && i < recordings->corpse_count; i++)
        recordings->destroy(recordings->device, recordings->corpses[i].native);
    uint32_t buckets = recordings->bucket_mask + 1;
    vyre_memory_free(&recordings->allocator, recordings->slots,
                     recordings->limit * sizeof *recordings->slots,
                     _Alignof(struct vyre_recording));
    vyre_memory_free(&recordings->allocator, recordings->buckets,
                     buckets * sizeof *recordings->buckets, _Alignof(uint32_t));
    vyre_memory_free(&recordings->allocator, recordings->corpses,
                     recordings->corpse_limit * sizeof *recordings->corpses,
                     _Alignof(struct vyre_recording_corpse));
    *recordings = (struct vyre_recordings){0};
}

static uint32_t slot_of(const struct vyre_recordings *recordings, struct vyre_hash128 key)
{
    uint32_t slot = recordings->buckets[bucket_of(recordings, key)];
    while (slot != NO_SLOT && !vyre_hash128_equal(recordings->slots[slot].key, key))
        slot = recordings->slots[slot].next_in_bucket;
    return slot;
}

bool vyre_recordings_has(const struct vyre_recordings *recordings, struct vyre_hash128 key)
{
    return slot_of(recordings, key) != NO_SLOT;
}

struct vyre_recording *vyre_recordings_find(struct vyre_recordings *recordings,
                                            struct vyre_hash128 key)
{
    uint32_t slot = slot_of(recordings, key);
    if (slot == NO_SLOT)
        return NULL;
    if (recordings->newest != slot) {
        unlink_use(recordings, slot);
        link_newest(recordings, slot);
    }
    recordings->reused++;
    return &recordings->slots[slot];
}

void vyre_recordings_bury(struct vyre_recordings *recordings, uint64_t completed)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < recordings->corpse_count; i++) {
        if (recordings->corpses[i].last_sequence <= completed)
            recordings->destroy(recordings->device, recordings->corpses[i].native);
        else
            recordings->corpses[kept++] = recordings->corpses[i];
    }
    recordings->corpse_count = kept;
}

static void evict(struct vyre_recordings *recordings, uint32_t slot, uint64_t completed)
{
    struct vyre_recording *entry = &recordings->slots[slot];
    uint32_t *link = &recordings->buckets[bucket_of(recordings, entry->key)];
    while (*link != slot)
        link = &recordings->slots[*link].next_in_bucket;
    *link = entry->next_in_bucket;
    unlink_use(recordings, slot);
    if (recordings->on_evicted)
        recordings->on_evicted(recordings->on_evicted_user, entry);

    if (entry->last_sequence <= completed)
        recordings->destroy(recordings->device, entry->native);
    else
        recordings->corpses[recordings->corpse_count++] =
            (struct vyre_recording_corpse){entry->native, entry->last_sequence};
    recordings->total_bytes -= entry->size_bytes;
    recordings->count--;
    recordings->evicted++;
    /* The list stays with its slot, so that a steady load that keeps recording stops allocating. */
    if (entry->identity_capacity > IDENTITIES_KEPT) {
        free_identities(recordings, entry);
        entry->identities = NULL;
        entry->identity_capacity = 0;
    }
    *entry = (struct vyre_recording){
        .identities = entry->identities,
        .identity_capacity = entry->identity_capacity,
        .next_in_bucket = recordings->first_free,
    };
    recordings->first_free = slot;
}

struct vyre_recording *vyre_recordings_add(struct vyre_recordings *recordings,
                                           struct vyre_hash128 key, void *native, size_t size_bytes,
                                           uint64_t completed)
{
    vyre_recordings_bury(recordings, completed);
    while (recordings->count > 0 &&
           (recordings->count == recordings->limit ||
            recordings->total_bytes + size_bytes > recordings->limit_bytes))
        evict(recordings, recordings->oldest, completed);
    uint32_t slot = recordings->first_free;
    struct vyre_recording *entry = &recordings->slots[slot];
    uint32_t bucket = bucket_of(recordings, key);
    recordings->first_free = entry->next_in_bucket;
    *entry = (struct vyre_recording){
        .key = key,
        .native = native,
        .size_bytes = size_bytes,
        .identities = entry->identities,
        .identity_capacity = entry->identity_capacity,
        .next_in_bucket = recordings->buckets[bucket],
    };
    recordings->buckets[bucket] = slot;
    link_newest(recordings, slot);
    recordings->count++;
    recordings->total_bytes += size_bytes;
    recordings->made++;
    return entry;
}

/* ---- What a recording uses -------------------------------------------------------------------- */

static uint64_t bit_of(uint64_t identity)
{
    return UINT64_C(1) << (identity & 63);
}

static int compare_identities(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

bool vyre_recording_uses(struct vyre_recordings *recordings, struct vyre_recording *recording,
                         uint64_t identity)
{
    uint32_t count = recording->identity_count;
    /* Neighbouring commands often share buffers and kernels, so most repetitions end here. */
    for (uint32_t i = count; i > 0 && i + 8 > count; i--) {
        if (recording->identities[i - 1] == identity)
            return true;
    }
    if (count == recording->identity_capacity) {
        uint32_t capacity = count ? count * 2 : 16;
        uint64_t *grown = vyre_memory_allocate(&recordings->allocator, capacity * sizeof *grown,
                                               _Alignof(uint64_t));
        if (!grown)
            return false;
        if (count > 0)
            memcpy(grown, recording->identities, count * sizeof *grown);
        free_identities(recordings, recording);
        recording->identities = grown;
        recording->identity_capacity = capacity;
    }
    recording->identities[recording->identity_count++] = identity;
    recording->identity_bits |= bit_of(identity);
    return true;
}

void vyre_recording_seal(struct vyre_recording *recording)
{
    uint32_t kept = 0;
    vyre_sort(recording->identities, recording->identity_count, sizeof *recording->identities,
              compare_identities);
    for (uint32_t i = 0; i < recording->identity_count; i++) {
        if (kept == 0 || recording->identities[kept - 1] != recording->identities[i])
            recording->identities[kept++] = recording->identities[i];
    }
    recording->identity_count = kept;
}

static bool uses(const struct vyre_recording *recording, uint64_t identity)
{
    if (!(recording->identity_bits & bit_of(identity)))
        return false;
    uint32_t first = 0;
    uint32_t count = recording->identity_count;
    while (count > 0) {
        uint32_t half = count / 2;
        if (recording->identities[first + half] < identity) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first < recording->identity_count && recording->identities[first] == identity;
}

void vyre_recordings_remove(struct vyre_recordings *recordings, struct vyre_recording *recording,
                            uint64_t completed)
{
    vyre_recordings_bury(recordings, completed);
    evict(recordings, (uint32_t)(recording - recordings->slots), completed);
}

void vyre_recordings_purge(struct vyre_recordings *recordings, uint64_t identity,
                           uint64_t completed)
{
    vyre_recordings_bury(recordings, completed);
    uint32_t slot = recordings->newest;
    while (slot != NO_SLOT) {
        uint32_t older = recordings->slots[slot].older;
        if (uses(&recordings->slots[slot], identity)) {
            evict(recordings, slot, completed);
        }
        slot = older;
    }
}
