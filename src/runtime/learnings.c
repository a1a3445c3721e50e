/*
 * learnings.c: learnings into and out of a device.
 */
#include "runtime/learnings.h"

#include "base/memory.h"
#include "runtime/internal.h"

#define BUCKETS ((size_t)2 * VYRE_LEARNED_SHAPES_MAX)

/* Beyond a quarter of an hour per batch nothing is worth knowing. */
#define MEAN_LIMIT_NS 1e12

static const size_t shapes_bytes = VYRE_LEARNED_SHAPES_MAX * sizeof(struct vyre_learned_shape);
static const size_t buckets_bytes = BUCKETS * sizeof(uint32_t);

void vyre_learnings_deinit(struct vyre_learnings *learnings, const struct vyre_allocator *allocator)
{
    vyre_memory_free(allocator, learnings->shapes, shapes_bytes,
                     _Alignof(struct vyre_learned_shape));
    vyre_memory_free(allocator, learnings->buckets, buckets_bytes, _Alignof(uint32_t));
    *learnings = (struct vyre_learnings){0};
}

static bool reserve(struct vyre_learnings *learnings, const struct vyre_allocator *allocator)
{
    if (learnings->shapes)
        return true;
    learnings->shapes =
        vyre_memory_allocate(allocator, shapes_bytes, _Alignof(struct vyre_learned_shape));
    learnings->buckets = vyre_memory_allocate(allocator, buckets_bytes, _Alignof(uint32_t));
    if (learnings->shapes && learnings->buckets)
        return true;
    vyre_learnings_deinit(learnings, allocator);
    return false;
}

static struct vyre_learned_shape *find(const struct vyre_learnings *learnings,
                                       struct vyre_hash128 shape)
{
    uint32_t link = learnings->count ? learnings->buckets[shape.lo % BUCKETS] : 0;
    while (link && !vyre_hash128_equal(learnings->shapes[link - 1].shape, shape))
        link = learnings->shapes[link - 1].chain;
    return link ? &learnings->shapes[link - 1] : NULL;
}

const struct vyre_learned_shape *vyre_learnings_find(const struct vyre_learnings *learnings,
                                                     struct vyre_hash128 shape)
{
    return find(learnings, shape);
}

/* NULL: the table is full. */
static struct vyre_learned_shape *add(struct vyre_learnings *learnings, struct vyre_hash128 shape)
{
    if (learnings->count == VYRE_LEARNED_SHAPES_MAX)
        return NULL;
    uint32_t *bucket = &learnings->buckets[shape.lo % BUCKETS];
    struct vyre_learned_shape *added = &learnings->shapes[learnings->count++];
    *added = (struct vyre_learned_shape){.shape = shape, .chain = *bucket};
    *bucket = learnings->count;
    return added;
}

/* ---- In --------------------------------------------------------------------------------------- */

static enum vyre_status import_locked(struct vyre_device *device,
                                      const struct vyre_learning *learning, struct vyre_diag *diag)
{
    uint32_t candidate = 0;
    while (candidate < device->candidates.count &&
           (device->candidates.list[candidate].mode != learning->mode ||
            device->candidates.list[candidate].variant != learning->variant))
        candidate++;
    if (candidate == device->candidates.count)
        return vyre_diag_set(diag, VYRE_DIAG_LEARNING_CANDIDATE, device->label, 0,
                             "there is no variant %u of %s here", learning->variant,
                             vyre_mode_name(learning->mode));
    if (!reserve(&device->learnings, &device->allocator))
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, device->label, 0,
                             "no memory for learnings");
    struct vyre_learned_shape *shape = find(&device->learnings, learning->shape);
    if (!shape)
        shape = add(&device->learnings, learning->shape);
    if (!shape)
        return vyre_diag_set(diag, VYRE_DIAG_LEARNING_LIMIT, device->label, 0,
                             "%d shapes are known already", VYRE_LEARNED_SHAPES_MAX);
    shape->mean_ns[candidate] = (float)learning->mean_ns;
    return VYRE_OK;
}

enum vyre_status vyre_device_import_learning(struct vyre_device *device,
                                             const struct vyre_learning *learning,
                                             struct vyre_diag *diag)
{
    /* Not-a-number compares false. */
    bool sane =
        learning->mean_ns > 0.0 && learning->mean_ns <= MEAN_LIMIT_NS && learning->count > 0;
    if (!sane)
        return vyre_diag_set(diag, VYRE_DIAG_ARGUMENT_RANGE, device->label, 0,
                             "the mean of a learning is no time, or rests on nothing");
    vyre_lock_acquire(&device->lock);
    enum vyre_status status = import_locked(device, learning, diag);
    vyre_lock_release(&device->lock);
    return status;
}

/* ---- Out -------------------------------------------------------------------------------------- */

/*
 * What is derived from the batch that paid the fixed cost counts too: a mode that is dropped after it
 * need not be tried again by the next process.
 */
static bool is_measured(const struct vyre_candidate_track *track)
{
    return track->mean_ns > 0.0 && !(track->flags & (VYRE_TRACK_STALE | VYRE_TRACK_SUSPECT));
}

size_t vyre_device_export_learnings(struct vyre_device *device, vyre_learning_function *function,
                                    void *user)
{
    size_t told = 0;
    bool more = true;
    vyre_lock_acquire(&device->lock);
    vyre_measure_collect_locked(device);
    for (uint32_t i = 0; more && i < device->governor.used; i++) {
        const struct vyre_governor_shape *shape = &device->governor.shapes[i];
        const struct vyre_shape_note *note = &device->shape_notes[i];
        bool stable = note->serial == shape->serial && note->stable_known && note->has_stable;
        for (uint32_t j = 0; more && stable && j < device->candidates.count; j++) {
            const struct vyre_candidate_track *track = &shape->tracks[j];
            if (!is_measured(track))
                continue;
            const struct vyre_learning learning = {
                .shape = note->stable,
                .mode = device->candidates.list[j].mode,
                .variant = device->candidates.list[j].variant,
                .mean_ns = track->mean_ns,
                .count = track->count ? track->count : 1,
            };
            more = function(user, &learning);
            told++;
        }
    }
    vyre_lock_release(&device->lock);
    return told;
}
