/*
 * costs.h: calibrated costs as a table and as JSON.
 */
#ifndef VYRE_CLI_RUN_COSTS_H
#define VYRE_CLI_RUN_COSTS_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/vyre.h>

#include "terminal/json.h"
#include "terminal/units.h"

/* "40 s", "12 min", "2 h", "3 days". */
struct cli_unit cli_unit_age(uint64_t age_s);

/* When the calibration is due to be measured again: seconds since 1970. */
uint64_t cli_costs_again_at(const struct vyre_calibration *calibration);

uint32_t cli_costs_count(const struct vyre_calibration *calibration);
uint32_t cli_costs_noisy_count(const struct vyre_calibration *calibration);

/*
 * A table of the known costs. A noisy one is marked, and one that is lost in noise has its upper
 * bound. `confidence` is false for costs from the store, which keeps none.
 */
void cli_costs_print(const struct vyre_calibration *calibration, bool confidence, bool colour,
                     size_t indent, struct cli_output *out);

/* "costs": an object by name; an unknown cost is null. "at_most_ns" is null unless a cost is lost. */
void cli_costs_json(struct cli_json *json, const struct vyre_calibration *calibration,
                    bool confidence);

/* 8-4-4-4-12 hexadecimal digits. */
struct cli_uuid {
    char text[37];
};
struct cli_uuid cli_uuid_format(const uint8_t uuid[VYRE_UUID_BYTES]);
bool cli_uuid_is_none(const uint8_t uuid[VYRE_UUID_BYTES]);

#endif
