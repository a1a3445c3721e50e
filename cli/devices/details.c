/*
 * details.c: features, memory and costs of a device.
 */
#include "devices/details.h"

#include <stdio.h>
#include <string.h>

#include "run/costs.h"
#include "terminal/grid.h"
#include "terminal/units.h"

#define LINE_BYTES 256

void device_more_read(struct vyre_device *device, struct vyre_store *store,
                      struct device_more *out_more)
{
    struct vyre_knowledge known;
    memset(out_more, 0, sizeof *out_more);
    size_t count = vyre_device_features(device, out_more->features, VYRE_FEATURES_MAX);
    out_more->feature_count = count < VYRE_FEATURES_MAX ? count : VYRE_FEATURES_MAX;
    vyre_device_get_memory(device, &out_more->memory);
    if (store && vyre_device_load(device, store, VYRE_KNOWS_CALIBRATION, &known, NULL) == VYRE_OK) {
        out_more->calibration = known.calibration;
        out_more->costs = known.costs;
    }
}

/* ---- for people -------------------------------------------------------------------------------
 */

static void print_features(const struct device_more *more, bool colour, struct cli_output *out)
{
    static const char *const heads[] = {"feature", "value", "if absent, why"};
    struct cli_grid grid;
    if (more->feature_count == 0)
        return;
    cli_grid_init(&grid, "lll", heads, colour);
    for (size_t i = 0; i < more->feature_count; i++) {
        const struct vyre_feature *feature = &more->features[i];
        bool present = feature->value[0] != '\0';
        cli_grid_add(&grid, feature->name);
        cli_grid_add(&grid, present ? feature->value : "absent");
        cli_grid_add(&grid, present ? "" : feature->reason);
    }
    cli_output_text(out, "\n");
    cli_grid_print(&grid, 4, out);
    cli_grid_deinit(&grid);
}

static void add_memory(struct cli_grid *grid, const char *name, uint64_t bytes)
{
    if (bytes == 0)
        return; /* the driver does not report it */
    cli_grid_add(grid, name);
    cli_grid_add(grid, cli_unit_bytes(bytes).text);
}

static bool tells_memory(const struct vyre_device_memory *memory)
{
    return memory->budget_bytes || memory->used_bytes || memory->reserved_bytes;
}

static void print_memory(const struct device_more *more, bool colour, struct cli_output *out)
{
    static const char *const heads[] = {"memory now", "bytes"};
    const struct vyre_device_memory *memory = &more->memory;
    struct cli_grid grid;
    if (!tells_memory(memory))
        return;
    cli_grid_init(&grid, "lr", heads, colour);
    add_memory(&grid, "budget of this process", memory->budget_bytes);
    add_memory(&grid, "used by this process", memory->used_bytes);
    add_memory(&grid, "taken from the driver", memory->reserved_bytes);
    add_memory(&grid, "of it for transfers", memory->staging_bytes);
    cli_output_text(out, "\n");
    cli_grid_print(&grid, 4, out);
    cli_grid_deinit(&grid);
}

static void print_costs(const struct device_more *more, bool colour, struct cli_output *out)
{
    static const char *const remarks[] = {
        [VYRE_STORED_COSTS_OLD] = ", too long ago to be used; try `vyre probe`",
        [VYRE_STORED_COSTS_WRONG] = ", but some are not valid; try `vyre probe`",
        [VYRE_STORED_COSTS_LOADED] = "",
        [VYRE_STORED_COSTS_DUE] = ", noisy, and due to be measured again; try `vyre probe`",
    };
    char line[LINE_BYTES];
    if (more->costs == VYRE_STORED_COSTS_NONE) {
        cli_output_text(out, "\n    costs: not calibrated; `vyre probe` measures them\n");
        return;
    }
    snprintf(line, sizeof line, "\n    costs: calibrated %s ago%s\n\n",
             cli_unit_age(vyre_calibration_age_s(&more->calibration)).text, remarks[more->costs]);
    cli_output_text(out, line);
    cli_costs_print(&more->calibration, false, colour, 4, out);
}

void device_more_print(const struct device_more *more, bool colour, struct cli_output *out)
{
    print_features(more, colour, out);
    print_memory(more, colour, out);
    print_costs(more, colour, out);
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

static void features_json(const struct device_more *more, struct cli_json *json)
{
    cli_json_object(json, "features");
    for (size_t i = 0; i < more->feature_count; i++) {
        const struct vyre_feature *feature = &more->features[i];
        bool present = feature->value[0] != '\0';
        cli_json_object(json, feature->name);
        cli_json_text(json, "value", present ? feature->value : NULL);
        cli_json_text(json, "reason", present ? NULL : feature->reason);
        cli_json_end_object(json);
    }
    cli_json_end_object(json);
}

static void told_json(struct cli_json *json, const char *key, uint64_t value)
{
    if (value)
        cli_json_u64(json, key, value);
    else
        cli_json_null(json, key);
}

void device_more_json(const struct device_more *more, struct cli_json *json)
{
    features_json(more, json);
    cli_json_object(json, "memory");
    told_json(json, "budget_bytes", more->memory.budget_bytes);
    told_json(json, "used_bytes", more->memory.used_bytes);
    told_json(json, "reserved_bytes", more->memory.reserved_bytes);
    told_json(json, "staging_bytes", more->memory.staging_bytes);
    cli_json_end_object(json);
    if (more->costs == VYRE_STORED_COSTS_NONE) {
        cli_json_null(json, "calibration");
        return;
    }
    cli_json_object(json, "calibration");
    cli_json_u64(json, "taken_at", more->calibration.taken_s);
    cli_json_u64(json, "age_s", vyre_calibration_age_s(&more->calibration));
    cli_json_flag(json, "fresh", more->costs == VYRE_STORED_COSTS_LOADED);
    cli_json_u64(json, "again_at", cli_costs_again_at(&more->calibration));
    cli_costs_json(json, &more->calibration, false);
    cli_json_end_object(json);
}
