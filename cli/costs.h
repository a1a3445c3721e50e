/*
 * costs.h: calibrated costs: between the library and the store, and as people and programs read them.
 */
#ifndef VYRE_CLI_COSTS_H
#define VYRE_CLI_COSTS_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/vyre.h>

#include "json.h"
#include "units.h"

/* Calibrations are good for so long. */
#define CLI_COSTS_AGE_MAX_S (UINT64_C(7) * 24 * 3600)

/*
 * The device as the store knows it. A number of workers that the command line chose is part of the
 * driver: what is measured with one number says little of another.
 */
struct vyre_store_device cli_costs_device(const struct vyre_device_info *info, uint32_t workers);

void cli_costs_to_store(const struct vyre_calibration *calibration,
                        struct vyre_store_calibration *out_stored);

/* Costs that this version does not know are left out; the store keeps no confidence. */
void cli_costs_from_store(const struct vyre_store_calibration *stored,
                          struct vyre_calibration *out_calibration);

/* Seconds since it was taken; 0 when the clock was set back since. */
uint64_t cli_costs_age_s(const struct vyre_calibration *calibration);
bool cli_costs_are_fresh(const struct vyre_calibration *calibration);

/* "40 s", "12 min", "2 h", "3 days". */
struct cli_unit cli_unit_age(uint64_t age_s);

uint32_t cli_costs_count(const struct vyre_calibration *calibration);
uint32_t cli_costs_noisy_count(const struct vyre_calibration *calibration);

/* A table of those that are known; `confidence` is false for costs from the store. */
void cli_costs_print(const struct vyre_calibration *calibration, bool confidence, bool colour,
                     size_t indent, struct cli_output *out);

/* "costs": an object by name; one that is absent is null. */
void cli_costs_json(struct cli_json *json, const struct vyre_calibration *calibration,
                    bool confidence);

/* 8-4-4-4-12 hexadecimal digits. */
struct cli_uuid {
    char text[37];
};
struct cli_uuid cli_uuid_format(const uint8_t uuid[VYRE_UUID_BYTES]);
bool cli_uuid_is_none(const uint8_t uuid[VYRE_UUID_BYTES]);

#endif
