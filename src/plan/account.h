/*
 * account.h: the one place where plans add up counts and bytes.
 *
 * A sum overflows if a user's graph is too large. The diagnostic says which plan, which of its
 * tables, and what to do.
 */
#ifndef VYRE_PLAN_ACCOUNT_H
#define VYRE_PLAN_ACCOUNT_H

#include <stddef.h>

#include <vyre/diag.h>
#include <vyre/export.h>

struct vyre_account {
    const char *plan;       /* as in "graph capture binding plan" */
    const char *fix;        /* as in "Record a smaller graph shape." */
    struct vyre_diag *diag; /* Borrowed; may be NULL */
};

/* *total += amount, or PLAN_OVERFLOW with *total unchanged. `table` names the sum. */
VYRE_NODISCARD enum vyre_status vyre_account_add(const struct vyre_account *account,
                                                 const char *table, size_t amount, size_t *total);

#endif
