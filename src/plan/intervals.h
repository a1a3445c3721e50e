/*
 * intervals.h: numbers the disjoint byte intervals that a set of buffer ranges touches.
 *
 * Words
 *   range     bytes [offset, offset + size) of one buffer; a size of 0 touches nothing
 *   distinct  a range regardless of the command that uses it: identity, begin and end
 *   interval  bytes between two neighbouring ends of ranges of one buffer, touched by some range
 *   run       the intervals that a range covers: always consecutive numbers
 *
 *   buffer 7   |---- a ----|            a covers 0..1
 *                    |---- b ----|      b covers 1..2
 *                                 |-c-| c covers 3; the gap before it has no number
 *              |--0--|--1--|--2--||-3-|
 *   buffer 9   |---- d ----|            d covers 4
 *
 * Two ranges share a byte exactly if their runs share a number. So the numbers can serve as slots
 * for arm_independence and copy_overlap.
 *
 * Invariants: numbers are dense, 0 .. interval_count - 1; distinct 0 stands for every empty range
 * and its run is empty (first 1, last 0).
 *
 * Cost: one probe of a hash table per range, then a radix sort of the ends of the distinct ranges
 * only: linear in both. There are fewer than twice as many intervals as distinct ranges.
 *
 * Thread-safety: belongs to one thread at a time.
 */
#ifndef VYRE_PLAN_INTERVALS_H
#define VYRE_PLAN_INTERVALS_H

#include <stdint.h>

#include <vyre/allocator.h>
#include <vyre/backend.h>
#include <vyre/diag.h>
#include <vyre/export.h>

#include "plan/room.h"

struct vyre_interval_run {
    uint32_t first;
    uint32_t last; /* included; less than `first`: the range is empty */
};

struct vyre_intervals {
    struct vyre_allocator allocator;
    struct vyre_room table;       /* uint32_t: distinct ranges by hash, 0 is a free place */
    struct vyre_room distinct;    /* struct distinct_range */
    struct vyre_room runs;        /* struct vyre_interval_run, one per distinct range */
    struct vyre_room distinct_of; /* uint32_t, one per range that was added */
    struct vyre_room ends;        /* struct range_end, twice: sorting moves between the halves */
    uint32_t table_shift;         /* 64 minus the bits of a place in the table */
    uint32_t range_count;
    uint32_t distinct_count; /* including distinct 0 */
    uint32_t interval_count; /* known after finish */
};

/* `allocator` is a resolved one. Allocates nothing yet. */
void vyre_intervals_init(struct vyre_intervals *intervals, const struct vyre_allocator *allocator);
void vyre_intervals_deinit(struct vyre_intervals *intervals);

/* Forgets the ranges and makes room for `range_capacity` new ones. OUT_OF_MEMORY, PLAN_OVERFLOW. */
VYRE_NODISCARD enum vyre_status vyre_intervals_begin(struct vyre_intervals *intervals,
                                                     uint32_t range_capacity,
                                                     struct vyre_diag *diag);

/* Adds ranges, in total at most as many as begin made room for; they are numbered from 0. */
void vyre_intervals_add(struct vyre_intervals *intervals, const struct vyre_bound_range *ranges,
                        uint32_t count);

/* Numbers the intervals of the ranges added. OUT_OF_MEMORY, PLAN_OVERFLOW. */
VYRE_NODISCARD enum vyre_status vyre_intervals_finish(struct vyre_intervals *intervals,
                                                      struct vyre_diag *diag);

/* The intervals of range number `range`. Only after finish. */
static inline struct vyre_interval_run vyre_intervals_run(const struct vyre_intervals *intervals,
                                                          uint32_t range)
{
    const uint32_t *distinct_of = intervals->distinct_of.memory;
    const struct vyre_interval_run *runs = intervals->runs.memory;
    return runs[distinct_of[range]];
}

#endif
