/*
 * arm.h: arms written down in one line, and random ones with what they were made from.
 */
#ifndef VYRE_TESTS_SUPPORT_ARM_H
#define VYRE_TESTS_SUPPORT_ARM_H

#include <vyre/policy.h>

#include "support/random.h"
#include "support/test.h"

/* Slots as written: any order, at most 8 different ones. */
struct slot_list {
    const uint32_t *slots;
    size_t count;
};

#define SLOTS(...)                                       \
    ((struct slot_list){(const uint32_t[]){__VA_ARGS__}, \
                        COUNT_OF(((const uint32_t[]){__VA_ARGS__}))})

#define NO_SLOTS ((struct slot_list){NULL, 0})

static inline struct vyre_arm arm_of(struct slot_list reads, struct slot_list writes)
{
    struct vyre_arm arm = {0};
    for (size_t i = 0; i < reads.count; i++)
        assert_int_equal(vyre_slot_set_add(&arm.reads, reads.slots[i], NULL), VYRE_OK);
    for (size_t i = 0; i < writes.count; i++)
        assert_int_equal(vyre_slot_set_add(&arm.writes, writes.slots[i], NULL), VYRE_OK);
    return arm;
}

enum { RANDOM_SLOTS_MAX = 40 };

/* A set and the raw slots, duplicates and all, that it was made from. */
struct random_set {
    uint32_t raw[RANDOM_SLOTS_MAX];
    size_t raw_count;
    uint32_t memory[RANDOM_SLOTS_MAX];
};

/*
 * Fills `set` with random slots: mostly few and from few, so that sets meet often; inline and in
 * memory; by add and by assign.
 */
static inline void random_set_fill(struct rng *rng, struct random_set *source,
                                   struct vyre_slot_set *set)
{
    static const uint32_t ranges[] = {4, 12, 40, 200};
    bool any_number = rng_below(rng, 8) == 0;
    uint32_t range = ranges[rng_below(rng, COUNT_OF(ranges))];
    bool is_inline = rng_bool(rng);
    size_t most = is_inline ? VYRE_SLOT_SET_INLINE : RANDOM_SLOTS_MAX;
    source->raw_count = rng_below(rng, rng_below(rng, 4) == 0 ? most + 1 : 5);
    for (size_t i = 0; i < source->raw_count; i++)
        source->raw[i] = any_number ? rng_edge_u32(rng) : (uint32_t)rng_below(rng, range);

    vyre_slot_set_init(set, is_inline ? NULL : source->memory, is_inline ? 0 : RANDOM_SLOTS_MAX);
    if (rng_bool(rng)) {
        assert_int_equal(vyre_slot_set_assign(set, source->raw, source->raw_count, NULL), VYRE_OK);
        return;
    }
    for (size_t i = 0; i < source->raw_count; i++)
        assert_int_equal(vyre_slot_set_add(set, source->raw[i], NULL), VYRE_OK);
}

struct random_arm {
    struct random_set reads;
    struct random_set writes;
    struct vyre_arm arm;
};

static inline void random_arm_fill(struct rng *rng, struct random_arm *source)
{
    random_set_fill(rng, &source->reads, &source->arm.reads);
    random_set_fill(rng, &source->writes, &source->arm.writes);
}

static inline bool random_set_has(const struct random_set *source, uint32_t slot)
{
    for (size_t i = 0; i < source->raw_count; i++) {
        if (source->raw[i] == slot)
            return true;
    }
    return false;
}

/* Whether the raw slots meet, and the smallest that they share. */
static inline bool random_sets_meet(const struct random_set *a, const struct random_set *b,
                                    uint32_t *out_slot)
{
    bool meet = false;
    *out_slot = 0;
    for (size_t i = 0; i < a->raw_count; i++) {
        if (random_set_has(b, a->raw[i]) && (!meet || a->raw[i] < *out_slot)) {
            *out_slot = a->raw[i];
            meet = true;
        }
    }
    return meet;
}

#endif
