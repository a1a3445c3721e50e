/*
 * check.h: one program in every mode, compared with the oracle.
 */
#ifndef VYRE_TESTS_KERNELS_CHECK_H
#define VYRE_TESTS_KERNELS_CHECK_H

#include "kernels/session.h"

/* Is called before and after every mode ran. */
typedef void check_report(void *user, const struct outcome *outcome);

/*
 * Plain comes first: when it differs from the oracle, the driver is at fault and no other mode is
 * tried. Persistent comes last. False: this process may be damaged.
 */
bool check_program(struct host *host, const struct program *program, uint64_t index,
                   check_report *report, void *user);

#endif
