/*
 * vulkan_submit.h: host time of submitting a recorded batch, by its number of dispatches.
 */
#ifndef VYRE_BENCH_VULKAN_SUBMIT_H
#define VYRE_BENCH_VULKAN_SUBMIT_H

#include "vulkan_hand.h"

/* Measures and reports. `replay` is Vyre's row in replay mode; NULL: it is absent. */
void submit_run(struct bench *bench, struct hand_device *device, struct launches_row *replay,
                const char *device_title);

#endif
