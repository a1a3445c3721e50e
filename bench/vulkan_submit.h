/*
 * vulkan_submit.h: host time of submitting a recorded batch, by its number of dispatches.
 */
#ifndef VYRE_BENCH_VULKAN_SUBMIT_H
#define VYRE_BENCH_VULKAN_SUBMIT_H

#include "vulkan_hand.h"

/* Measures and prints. `replay` is Vyre's row in replay mode; one that is absent is left out. */
bool submit_report(struct hand_device *device, struct gpu_contender *replay, FILE *out);

#endif
