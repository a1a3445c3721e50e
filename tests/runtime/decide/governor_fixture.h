/*
 * governor_fixture.h: a governor on a device made of three numbers per mode.
 */
#ifndef VYRE_TESTS_RUNTIME_GOVERNOR_FIXTURE_H
#define VYRE_TESTS_RUNTIME_GOVERNOR_FIXTURE_H

#include "base/memory.h"
#include "runtime/decide/least_cost.h"
#include "runtime/governor.h"
#include "support/test.h"

enum { PLAIN, REPLAY, PERSISTENT, MODES };

#define US UINT64_C(1000)

/* A device: what calibration says, and what batches really take. */
struct fixture {
    struct vyre_shapes shapes;
    struct vyre_governor governor;
    struct vyre_candidate_facts facts[MODES];
    uint64_t fixed[MODES];
    uint64_t batch[MODES];
    uint32_t commands;
    uint32_t updates;
    uint32_t hint;
    bool plain_verdict;                 /* the policies ask for plain, whatever the costs */
    struct vyre_governor_choice choice; /* the last one */
    uint32_t used[MODES];               /* batches by mode */
    uint32_t whys[VYRE_WHY_COUNT];
};

static inline void set_up(struct fixture *f, uint32_t explore_bps)
{
    struct vyre_allocator allocator = vyre_allocator_resolve(NULL);
    memset(f, 0, sizeof *f);
    assert_int_equal(vyre_shapes_init(&f->shapes, &allocator, 64, false), VYRE_OK);
    vyre_governor_init(&f->governor, &f->shapes, explore_bps);
    f->commands = 1;
}

/* Calibration and truth agree; `execution` is what calibration does not know. */
static inline void set_mode(struct fixture *f, unsigned mode, uint64_t fixed, uint64_t overhead,
                            uint64_t execution)
{
    f->facts[mode] = (struct vyre_candidate_facts){
        .feasible = true, .fixed_ns = fixed, .per_command_ns = overhead};
    f->fixed[mode] = fixed;
    f->batch[mode] = overhead + execution;
}

static inline struct vyre_hash128 key_of(uint64_t shape)
{
    return (struct vyre_hash128){.lo = shape * 977 + 5, .hi = shape};
}

static inline struct vyre_shape *choose(struct fixture *f, uint64_t shape)
{
    struct vyre_governor_batch batch = {
        .command_count = f->commands, .update_count = f->updates, .repeat_hint = f->hint};
    struct vyre_shape *entry = vyre_governor_see(&f->governor, key_of(shape));
    if (!f->plain_verdict)
        batch.verdict = verdict_of(f->facts, MODES, &batch, entry->unit.seen);
    if (!vyre_governor_settled(&f->governor, entry, &batch, &f->choice))
        vyre_governor_choose(&f->governor, entry, f->facts, MODES, &batch, &f->choice);
    vyre_governor_ran(&f->governor, entry, &f->choice);
    return entry;
}

static inline void learn(struct fixture *f, struct vyre_shape *entry, uint64_t measured_ns,
                         bool was_first)
{
    vyre_governor_learn(&f->governor, &(struct vyre_governor_sample){
                                          .shape = {entry, f->choice.shape.serial},
                                          .update_ns = f->choice.update_ns,
                                          .expected_ns = f->choice.expected_ns,
                                          .measured_ns = measured_ns,
                                          .candidate = f->choice.candidate,
                                          .why = f->choice.why,
                                          .was_first = was_first,
                                          .switched = f->choice.switched,
                                          .leads_in = f->choice.leads_in,
                                      });
}

/* One batch, its cost multiplied by `noise`; returns the mode. */
static inline unsigned run_noisy(struct fixture *f, uint64_t shape, uint64_t noise)
{
    struct vyre_shape *entry = choose(f, shape);
    unsigned mode = f->choice.candidate;
    bool first = !f->facts[mode].ready;
    uint64_t update_ns = f->updates * f->facts[mode].per_update_ns;
    f->facts[mode].ready = true;
    f->used[mode]++;
    f->whys[f->choice.why]++;
    learn(f, entry, (f->batch[mode] + update_ns + (first ? f->fixed[mode] : 0)) * noise, first);
    return mode;
}

static inline unsigned run(struct fixture *f, uint64_t shape)
{
    return run_noisy(f, shape, 1);
}

static inline void run_many(struct fixture *f, uint64_t shape, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        (void)run(f, shape);
}

static inline void tear_down(struct fixture *f)
{
    vyre_shapes_deinit(&f->shapes);
}

#endif
