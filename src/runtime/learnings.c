/*
 * learnings.c: imports learnings into a device and exports them.
 */
#include "runtime/internal.h"

/* A longer time per batch, above a quarter of an hour, is not worth learning. */
#define MEAN_LIMIT_NS 1e12

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
    struct vyre_shape_template *learned;
    enum vyre_status status = vyre_shapes_use_template(&device->shapes, learning->shape, &learned);
    if (status == VYRE_OUT_OF_MEMORY)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, device->label, 0,
                             "no memory for learnings");
    if (status != VYRE_OK)
        return vyre_diag_set(diag, VYRE_DIAG_LEARNING_LIMIT, device->label, 0,
                             "%d shapes are known already", VYRE_LEARNED_SHAPES_MAX);
    learned->mean_ns[candidate] = (float)learning->mean_ns;
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
 * Values derived from the batch that paid the fixed cost count too: if a mode is dropped after that
 * batch, the next process need not try it again.
 */
static bool is_measured(const struct vyre_candidate_track *track)
{
    return track->mean_ns > 0.0 && !(track->flags & VYRE_TRACK_STALE);
}

size_t vyre_device_export_learnings(struct vyre_device *device, vyre_learning_function *function,
                                    void *user)
{
    size_t passed = 0;
    bool more = true;
    vyre_lock_acquire(&device->lock);
    vyre_measure_collect_locked(device);
    for (uint32_t i = 0; more && i < device->shapes.used; i++) {
        const struct vyre_shape *shape = vyre_shapes_at(&device->shapes, i);
        bool known = shape->found.has_template;
        for (uint32_t j = 0; more && known && j < device->candidates.count; j++) {
            const struct vyre_candidate_track *track = &shape->unit.tracks[j];
            if (!is_measured(track))
                continue;
            const struct vyre_learning learning = {
                .shape = shape->found.template_key,
                .mode = device->candidates.list[j].mode,
                .variant = device->candidates.list[j].variant,
                .mean_ns = track->mean_ns,
                .count = track->count ? track->count : 1,
            };
            more = function(user, &learning);
            passed++;
        }
    }
    vyre_lock_release(&device->lock);
    return passed;
}
