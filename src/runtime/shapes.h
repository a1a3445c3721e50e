/*
 * shapes.h: how often each shape was submitted, the least recently used forgotten.
 *
 * A set-associative table: a shape may sit in one of WAYS entries of its set; a new one takes the
 * place of the entry that was used longest ago. Bounded, no allocation after init.
 *
 * Thread-safety: the caller holds the device's lock.
 */
#ifndef VYRE_RUNTIME_SHAPES_H
#define VYRE_RUNTIME_SHAPES_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/allocator.h>
#include <vyre/device.h>
#include <vyre/hash.h>
#include <vyre/policy.h>
#include <vyre/status.h>

#define VYRE_SHAPES_LIMIT 1024
#define VYRE_SHAPES_WAYS  4

struct vyre_shape {
    struct vyre_hash128 key;
    uint64_t used;         /* the table's clock at the last use */
    uint32_t seen;         /* submissions so far, saturating */
    uint32_t settled_at;   /* from so many repeats on `wanted` will not change; 0: not known */
    enum vyre_mode wanted; /* what the verdicts asked for */
    uint8_t checked;       /* modes, as bits, whose fitness is known */
    uint8_t unfit;         /* modes, as bits, that cannot run this shape */
    bool planned;          /* the two verdicts below are known */
    struct vyre_arm_verdict arms;
    struct vyre_copy_verdict copy;
};

struct vyre_shapes {
    struct vyre_allocator allocator;
    struct vyre_shape *entries; /* Owned: VYRE_SHAPES_LIMIT */
    uint64_t clock;
};

enum vyre_status vyre_shapes_init(struct vyre_shapes *shapes,
                                  const struct vyre_allocator *allocator);
void vyre_shapes_deinit(struct vyre_shapes *shapes);

/* The entry of a shape, counted as seen once more; new shapes start with seen = 1. */
struct vyre_shape *vyre_shapes_see(struct vyre_shapes *shapes, struct vyre_hash128 key);

#endif
