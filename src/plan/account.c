/*
 * account.c: checked sums of counts and bytes.
 */
#include "plan/account.h"

#include "base/checked.h"

enum vyre_status vyre_account_add(const struct vyre_account *account, const char *table,
                                  size_t amount, size_t *total)
{
    size_t sum;
    if (vyre_checked_add_size(*total, amount, &sum)) {
        *total = sum;
        return VYRE_OK;
    }
    enum vyre_status status =
        vyre_diag_set(account->diag, VYRE_DIAG_PLAN_OVERFLOW, NULL, 0,
                      "the %s overflows its %s table: %zu + %zu does not fit in size_t",
                      account->plan, table, *total, amount);
    vyre_diag_set_fix(account->diag, "%s", account->fix);
    return status;
}
