/*
 * slot_set.h: a set of slot numbers.
 *
 * Up to 8 slots live in the struct itself; larger sets use memory that the caller gives at init.
 * The slots are kept sorted and without duplicates.
 *
 *   inline   [ 2 | 5 | 9 | 2 | 2 | 2 | 2 | 2 ]   count 3: lanes past the count repeat the first
 *                                                slot, so that all 8 are compared without a mask
 *
 * Invariants: slots strictly ascending; count <= capacity; inline lanes as above. Change a set only
 * through the functions below. A copied struct shares the caller's memory with its original.
 *
 * Thread-safety: a set belongs to one thread at a time; any number may read it.
 */
#ifndef VYRE_SLOT_SET_H
#define VYRE_SLOT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/diag.h>
#include <vyre/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Slots that a set holds without memory of the caller. */
#define VYRE_SLOT_SET_INLINE 8

/* A set of slots. A zeroed set is an empty set with inline storage. */
struct vyre_slot_set {
    size_t count;
    size_t capacity;  /* of `memory`; not used while the slots are inline */
    uint32_t *memory; /* Borrowed: NULL means inline */
    uint32_t inline_slots[VYRE_SLOT_SET_INLINE];
};

/*
 * Makes an empty set. With `memory` NULL it holds up to 8 slots; otherwise up to `capacity` slots
 * in `memory`, which must outlive the set.
 */
VYRE_API void vyre_slot_set_init(struct vyre_slot_set *set, uint32_t *memory, size_t capacity);

/* Empties the set and keeps its memory. */
VYRE_API void vyre_slot_set_clear(struct vyre_slot_set *set);

/*
 * Adds one slot; adding it again changes nothing. Constant time when slots come in ascending order,
 * linear otherwise. SLOT_SET_FULL leaves the set as it was.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_slot_set_add(struct vyre_slot_set *set, uint32_t slot,
                                                           struct vyre_diag *diag);

/*
 * Replaces the contents by `count` slots in any order, duplicates allowed: n log n. The memory must
 * take all `count` of them, duplicates included; SLOT_SET_FULL leaves the set as it was.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_slot_set_assign(struct vyre_slot_set *set,
                                                              const uint32_t *slots, size_t count,
                                                              struct vyre_diag *diag);

/* The slots of the set, ascending; as many as its count. Valid until the set changes. */
static inline const uint32_t *vyre_slot_set_slots(const struct vyre_slot_set *set)
{
    return set->memory ? set->memory : set->inline_slots;
}

/* Whether the set holds the slot. */
VYRE_API bool vyre_slot_set_contains(const struct vyre_slot_set *set, uint32_t slot);

/*
 * Whether the sets share a slot; if so, *out_slot is the smallest shared one. `out_slot` may be
 * NULL.
 */
VYRE_API bool vyre_slot_set_intersects(const struct vyre_slot_set *a, const struct vyre_slot_set *b,
                                       uint32_t *out_slot);

#ifdef __cplusplus
}
#endif

#endif
