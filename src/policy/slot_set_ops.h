/*
 * slot_set_ops.h: the two operations of policies on slot sets, without branches for the small sets
 * that are stored inside their struct. Their slots are random to a branch predictor, so a merge
 * would cost several mispredictions per verdict; comparing all lanes with all lanes costs none.
 */
#ifndef VYRE_POLICY_SLOT_SET_OPS_H
#define VYRE_POLICY_SLOT_SET_OPS_H

#include <string.h>

#include <vyre/slot_set.h>

/* Four slots; the compiler maps this to the machine's vectors. */
typedef uint32_t vyre_slot_lanes __attribute__((vector_size(16)));

static inline vyre_slot_lanes vyre_slot_lanes_load(const uint32_t *slots)
{
    vyre_slot_lanes lanes;
    memcpy(&lanes, slots, sizeof lanes);
    return lanes;
}

static inline vyre_slot_lanes vyre_slot_lanes_match(const struct vyre_slot_set *set, uint32_t slot)
{
    vyre_slot_lanes wanted = {slot, slot, slot, slot};
    return (vyre_slot_lanes)((wanted == vyre_slot_lanes_load(set->inline_slots)) |
                             (wanted == vyre_slot_lanes_load(set->inline_slots + 4)));
}

static inline bool vyre_slot_lanes_any(vyre_slot_lanes lanes)
{
    uint64_t halves[2];
    memcpy(halves, &lanes, sizeof halves);
    return (halves[0] | halves[1]) != 0;
}

static inline bool vyre_slot_set_has(const struct vyre_slot_set *set, uint32_t slot)
{
    if (set->memory)
        return vyre_slot_set_contains(set, slot);
    return (set->count != 0) & vyre_slot_lanes_any(vyre_slot_lanes_match(set, slot));
}

static inline bool vyre_slot_set_meets(const struct vyre_slot_set *a, const struct vyre_slot_set *b)
{
    if (a->memory || b->memory)
        return vyre_slot_set_intersects(a, b, NULL);
    vyre_slot_lanes met = {0};
    for (size_t i = 0; i < 4; i++)
        met |= vyre_slot_lanes_match(b, a->inline_slots[i]);
    if (a->count > 4) {
        for (size_t i = 4; i < VYRE_SLOT_SET_INLINE; i++)
            met |= vyre_slot_lanes_match(b, a->inline_slots[i]);
    }
    return (a->count != 0) & (b->count != 0) & vyre_slot_lanes_any(met);
}

#endif
