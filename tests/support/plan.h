/*
 * plan.h: binding plans with their memory and what building them said.
 */
#ifndef VYRE_TESTS_SUPPORT_PLAN_H
#define VYRE_TESTS_SUPPORT_PLAN_H

#include <vyre/binding_plan.h>

#include "support/test.h"

enum { BUILT_MAX = 64 };

/* A plan with its memory; the diagnostic starts empty, the plan as rubbish. */
struct built {
    struct vyre_binding memory[BUILT_MAX];
    struct vyre_binding_plan plan;
    struct vyre_diag diag;
    enum vyre_status status;
};

static inline void build(struct built *built, const struct vyre_binding_desc *descs, size_t count)
{
    memset(built, 0x5a, sizeof *built);
    vyre_diag_reset(&built->diag);
    built->status =
        vyre_binding_plan_build(descs, count, built->memory, BUILT_MAX, &built->plan, &built->diag);
}

static inline void assert_refused(const struct built *built, enum vyre_diag_id id)
{
    static const struct vyre_binding_plan zeroed;
    assert_diag(built->status, built->diag, id);
    assert_memory_equal(&built->plan, &zeroed, sizeof zeroed);
}

#endif
