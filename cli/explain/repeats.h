/*
 * repeats.h: how many repeats would change what auto begins with.
 */
#ifndef VYRE_CLI_EXPLAIN_REPEATS_H
#define VYRE_CLI_EXPLAIN_REPEATS_H

#include "explain/print.h"

/*
 * A sentence on the numbers of announced repeats nearest to `hint` (0: none announced) from which on
 * another choice would be made. The device is asked, so that the sentence holds for all that it knows.
 */
VYRE_NODISCARD enum vyre_status explain_repeats(struct vyre_batch *batch, uint32_t hint,
                                                char out[EXPLAIN_TEXT_BYTES],
                                                struct vyre_diag *diag);

#endif
