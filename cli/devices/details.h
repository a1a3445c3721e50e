/*
 * details.h: what `vyre devices` shows besides abilities and limits: features, memory, and the costs
 * in the store.
 */
#ifndef VYRE_CLI_DEVICES_DETAILS_H
#define VYRE_CLI_DEVICES_DETAILS_H

#include <vyre/vyre.h>

#include "terminal/json.h"

struct device_more {
    struct vyre_feature features[VYRE_FEATURES_MAX];
    size_t feature_count;
    struct vyre_device_memory memory;
    enum vyre_stored_costs costs; /* what the store has */
    struct vyre_calibration calibration;
};

/* `store` may be NULL. */
void device_more_read(struct vyre_device *device, struct vyre_store *store,
                      struct device_more *out_more);

void device_more_print(const struct device_more *more, bool colour, struct cli_output *out);

/* "features", "memory" and "calibration". */
void device_more_json(const struct device_more *more, struct cli_json *json);

#endif
