/*
 * repeats.h: how many repeats would change what auto begins with.
 */
#ifndef VYRE_CLI_EXPLAIN_REPEATS_H
#define VYRE_CLI_EXPLAIN_REPEATS_H

#include "explain/print.h"

/*
 * Writes a sentence with the numbers of announced repeats nearest to `hint` (0: none announced) that
 * would change the choice. The device is asked, so the sentence accounts for all that it knows.
 */
VYRE_NODISCARD enum vyre_status explain_repeats(struct vyre_batch *batch, uint32_t hint,
                                                char out[EXPLAIN_TEXT_BYTES],
                                                struct vyre_diag *diag);

#endif
