/*
 * slot_set.c: sorted sets of slot numbers.
 */
#include <vyre/slot_set.h>

#include <string.h>

#include "base/sort.h"
#include "policy/slot_set_ops.h"

void vyre_slot_set_init(struct vyre_slot_set *set, uint32_t *memory, size_t capacity)
{
    memset(set, 0, sizeof *set);
    set->memory = memory;
    set->capacity = memory ? capacity : 0;
}

void vyre_slot_set_clear(struct vyre_slot_set *set)
{
    set->count = 0;
}

static uint32_t *slots_of(struct vyre_slot_set *set)
{
    return set->memory ? set->memory : set->inline_slots;
}

static size_t capacity_of(const struct vyre_slot_set *set)
{
    return set->memory ? set->capacity : VYRE_SLOT_SET_INLINE;
}

/* Restores the invariant of the inline lanes after a change. */
static void pad_inline(struct vyre_slot_set *set)
{
    for (size_t lane = set->count; !set->memory && lane < VYRE_SLOT_SET_INLINE; lane++)
        set->inline_slots[lane] = set->inline_slots[0];
}

static enum vyre_status full(const struct vyre_slot_set *set, size_t wanted, struct vyre_diag *diag)
{
    return vyre_diag_set(diag, VYRE_DIAG_SLOT_SET_FULL, NULL, 0,
                         "%zu slots do not fit in a slot set with room for %zu", wanted,
                         capacity_of(set));
}

/* The position of the first slot that is at least `slot`. */
static size_t lower_bound(const uint32_t *slots, size_t count, uint32_t slot)
{
    size_t low = 0;
    while (count > 0) {
        size_t half = count / 2;
        if (slots[low + half] < slot) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

enum vyre_status vyre_slot_set_add(struct vyre_slot_set *set, uint32_t slot, struct vyre_diag *diag)
{
    uint32_t *slots = slots_of(set);
    bool last = set->count == 0 || slots[set->count - 1] < slot;
    size_t position = last ? set->count : lower_bound(slots, set->count, slot);
    if (!last && slots[position] == slot)
        return VYRE_OK;
    if (set->count == capacity_of(set))
        return full(set, set->count + 1, diag);

    memmove(slots + position + 1, slots + position, (set->count - position) * sizeof *slots);
    slots[position] = slot;
    set->count++;
    pad_inline(set);
    return VYRE_OK;
}

static int compare_slots(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a;
    uint32_t right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

enum vyre_status vyre_slot_set_assign(struct vyre_slot_set *set, const uint32_t *slots,
                                      size_t count, struct vyre_diag *diag)
{
    if (count > capacity_of(set))
        return full(set, count, diag);

    uint32_t *own = slots_of(set);
    set->count = 0;
    if (count == 0)
        return VYRE_OK;
    memmove(own, slots, count * sizeof *own);
    vyre_sort(own, count, sizeof *own, compare_slots);
    for (size_t i = 0; i < count; i++) {
        if (set->count == 0 || own[set->count - 1] != own[i])
            own[set->count++] = own[i];
    }
    pad_inline(set);
    return VYRE_OK;
}

bool vyre_slot_set_contains(const struct vyre_slot_set *set, uint32_t slot)
{
    const uint32_t *slots = vyre_slot_set_slots(set);
    size_t position = lower_bound(slots, set->count, slot);
    return position < set->count && slots[position] == slot;
}

/*
 * Merges in linear time if the sizes are similar. If one set is much smaller, each of its slots is
 * looked up in the larger one.
 */
bool vyre_slot_set_intersects(const struct vyre_slot_set *a, const struct vyre_slot_set *b,
                              uint32_t *out_slot)
{
    const struct vyre_slot_set *small = a->count <= b->count ? a : b;
    const struct vyre_slot_set *large = small == a ? b : a;
    const uint32_t *few = vyre_slot_set_slots(small);
    const uint32_t *many = vyre_slot_set_slots(large);
    bool lopsided = large->count / 16 > small->count;
    size_t j = 0;
    if (out_slot)
        *out_slot = 0;
    for (size_t i = 0; i < small->count; i++) {
        if (lopsided) {
            j += lower_bound(many + j, large->count - j, few[i]);
        } else {
            while (j < large->count && many[j] < few[i])
                j++;
        }
        if (j == large->count)
            return false;
        if (many[j] == few[i]) {
            if (out_slot)
                *out_slot = few[i];
            return true;
        }
    }
    return false;
}
