/*
 * learnings.h: what another process learned of stable shapes, until this one knows better.
 *
 * A table of fixed size, taken at the first import: entries stay where they are, and one that does
 * not fit is refused. Looking up takes no memory.
 *
 * Thread-safety: the caller holds the device's lock.
 */
#ifndef VYRE_RUNTIME_LEARNINGS_H
#define VYRE_RUNTIME_LEARNINGS_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/allocator.h>
#include <vyre/decision.h>
#include <vyre/hash.h>

/* A shape is exported once it was seen so often. */
#define VYRE_LEARNING_SEEN_MIN 4

struct vyre_learned_shape {
    struct vyre_hash128 shape;
    uint32_t chain;                     /* the bucket's next entry + 1 */
    float mean_ns[VYRE_CANDIDATES_MAX]; /* by candidate; 0: not known */
};

struct vyre_learnings {
    struct vyre_learned_shape *shapes; /* Owned: VYRE_LEARNED_SHAPES_MAX; NULL: none was imported */
    uint32_t *buckets;                 /* Owned: entry + 1, 0 is none */
    uint32_t count;
};

void vyre_learnings_deinit(struct vyre_learnings *learnings,
                           const struct vyre_allocator *allocator);

/* NULL: nothing is known of it. */
const struct vyre_learned_shape *vyre_learnings_find(const struct vyre_learnings *learnings,
                                                     struct vyre_hash128 shape);

#endif
