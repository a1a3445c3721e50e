/*
 * calibration_age.c: how long a calibration is good.
 */
#include "runtime/calibration_age.h"

#include <time.h>

#include <vyre/knowledge.h>

#include "runtime/candidates.h"

/* Other figures, such as those of copies, may be noisy: they count the same in every mode. */
bool vyre_calibration_is_noisy(const struct vyre_calibration *calibration)
{
    for (int i = 0; i < VYRE_COST_COUNT; i++) {
        const struct vyre_cost *cost = &calibration->costs[i];
        if (cost->known && cost->noisy && vyre_candidates_use((enum vyre_cost_id)i))
            return true;
    }
    return false;
}

uint64_t vyre_calibration_age_s(const struct vyre_calibration *calibration)
{
    uint64_t now_s = (uint64_t)time(NULL);
    return now_s > calibration->taken_s ? now_s - calibration->taken_s : 0;
}

uint64_t vyre_calibration_lifetime_s(const struct vyre_calibration *calibration)
{
    if (!vyre_calibration_is_noisy(calibration))
        return VYRE_CALIBRATION_AGE_MAX_S;
    uint64_t lifetime_s = VYRE_CALIBRATION_NOISY_AGE_MAX_S;
    for (uint32_t i = 1; i < calibration->noisy_runs && lifetime_s < VYRE_CALIBRATION_AGE_MAX_S;
         i++)
        lifetime_s *= 2;
    return lifetime_s < VYRE_CALIBRATION_AGE_MAX_S ? lifetime_s : VYRE_CALIBRATION_AGE_MAX_S;
}

uint32_t vyre_calibration_count_runs(const struct vyre_calibration *last,
                                     const struct vyre_calibration *taken)
{
    if (!vyre_calibration_is_noisy(taken))
        return 0;
    if (!vyre_calibration_is_noisy(last))
        return 1;
    uint32_t runs = last->noisy_runs > 0 ? last->noisy_runs : 1;
    bool was_due = taken->taken_s > last->taken_s &&
                   taken->taken_s - last->taken_s > vyre_calibration_lifetime_s(last);
    return runs + (was_due && runs < UINT32_MAX);
}
