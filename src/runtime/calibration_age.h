/*
 * calibration_age.h: how long a calibration is good.
 *
 * Thread-safety: touches only the caller's structs.
 */
#ifndef VYRE_RUNTIME_CALIBRATION_AGE_H
#define VYRE_RUNTIME_CALIBRATION_AGE_H

#include <vyre/calibration.h>

/* Whether a figure that auto decides by is noisy. */
bool vyre_calibration_is_noisy(const struct vyre_calibration *calibration);

/* The noisy_runs of a calibration that follows `last`; `last` may be zeroed. */
uint32_t vyre_calibration_count_runs(const struct vyre_calibration *last,
                                     const struct vyre_calibration *taken);

#endif
