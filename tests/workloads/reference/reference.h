/*
 * reference.h: what the canonical workloads must give.
 *
 * For each workload of examples/workloads a serial computation of its outputs, from only the
 * numbers written down here and the documented contents of its buffers: no batches, no kernels, no
 * code shared with the host kernels. The outputs are those after the whole schedule was run once or
 * more (each schedule starts by undoing what it accumulates).
 *
 *   workload       compared
 *   decode         tokens exactly; floats within 1e-4 of max(1, |expected|)
 *   all others     exactly
 *
 * decode is computed in double here. The host kernels are within 1e-5 of that; the tolerance leaves
 * room for GPUs, whose exp and division may be off by a few units in the last place. The tokens are
 * safe: the two most likely ones differ by far more than the tolerance at every step, and the check
 * fails if they did not.
 *
 * Thread-safety: any thread.
 */
#ifndef VYRE_TESTS_WORKLOADS_REFERENCE_REFERENCE_H
#define VYRE_TESTS_WORKLOADS_REFERENCE_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "workload/workload.h"

/*
 * `outputs` holds the bytes of the workload's outputs, in their order. False with a message (always
 * terminated) that names the first difference. A workload that is not known is an error, too.
 */
bool reference_check(const char *workload_name, const struct workload *w,
                     const void *const *outputs, char *message, size_t capacity);

/* The names that reference_check knows; NULL past the last one. Static. */
const char *reference_name(size_t index);

#endif
