/*
 * costs.c: calibrated costs.
 */
#include "run/costs.h"

#include <stdio.h>
#include <string.h>

#include "terminal/grid.h"

#define HOUR_S UINT64_C(3600)
#define DAY_S  UINT64_C(86400)

/* ---- age --------------------------------------------------------------------------------------
 */

struct cli_unit cli_unit_age(uint64_t age_s)
{
    struct cli_unit unit;
    if (age_s < 120)
        snprintf(unit.text, sizeof unit.text, "%u s", (unsigned)age_s);
    else if (age_s < 2 * HOUR_S)
        snprintf(unit.text, sizeof unit.text, "%u min", (unsigned)(age_s / 60));
    else if (age_s < 2 * DAY_S)
        snprintf(unit.text, sizeof unit.text, "%u h", (unsigned)(age_s / HOUR_S));
    else
        snprintf(unit.text, sizeof unit.text, "%llu days", (unsigned long long)(age_s / DAY_S));
    return unit;
}

uint64_t cli_costs_again_at(const struct vyre_calibration *calibration)
{
    return calibration->taken_s + vyre_calibration_lifetime_s(calibration);
}

/* ---- shown ------------------------------------------------------------------------------------
 */

uint32_t cli_costs_count(const struct vyre_calibration *calibration)
{
    uint32_t count = 0;
    for (int i = 0; i < VYRE_COST_COUNT; i++)
        count += calibration->costs[i].known;
    return count;
}

uint32_t cli_costs_noisy_count(const struct vyre_calibration *calibration)
{
    uint32_t count = 0;
    for (int i = 0; i < VYRE_COST_COUNT; i++)
        count += calibration->costs[i].known && calibration->costs[i].noisy;
    return count;
}

static struct cli_unit cost_text(double ns)
{
    return cli_unit_ns(ns < 0 ? 0 : (uint64_t)(ns + 0.5));
}

/* Below 10 ns, as for a cost per command, whole nanoseconds are too coarse. */
static void add_ns(struct cli_grid *grid, double ns)
{
    if (ns > 0 && ns < 10)
        cli_grid_addf(grid, "%.2f ns", ns);
    else
        cli_grid_add(grid, cost_text(ns).text);
}

/* "noisy", "below 80 ns" or both. */
static void add_mark(struct cli_grid *grid, const struct vyre_cost *cost)
{
    double bound_ns = vyre_cost_bound_ns(cost);
    const char *noisy = cost->noisy ? "noisy" : "";
    if (bound_ns > 0 && bound_ns < 10)
        cli_grid_addf(grid, "%s%sbelow %.2f ns", noisy, cost->noisy ? ", " : "", bound_ns);
    else if (bound_ns > 0)
        cli_grid_addf(grid, "%s%sbelow %s", noisy, cost->noisy ? ", " : "",
                      cost_text(bound_ns).text);
    else
        cli_grid_add(grid, noisy);
}

void cli_costs_print(const struct vyre_calibration *calibration, bool confidence, bool colour,
                     size_t indent, struct cli_output *out)
{
    static const char *const heads[] = {"cost",       "median",  "min", "spread",
                                        "confidence", "samples", ""};
    static const char *const short_heads[] = {"cost", "median", "min", "spread", "samples", ""};
    struct cli_grid grid;
    cli_grid_init(&grid, confidence ? "lrrrrrl" : "lrrrrl", confidence ? heads : short_heads,
                  colour);
    for (int i = 0; i < VYRE_COST_COUNT; i++) {
        const struct vyre_cost *cost = &calibration->costs[i];
        if (!cost->known)
            continue;
        cli_grid_add(&grid, vyre_cost_name((enum vyre_cost_id)i));
        add_ns(&grid, cost->median_ns);
        add_ns(&grid, cost->min_ns);
        add_ns(&grid, cost->spread_ns);
        if (confidence && cost->confidence_ns > cost->median_ns)
            cli_grid_addf(&grid, "+-%s", cost_text(cost->confidence_ns).text);
        else if (confidence)
            cli_grid_addf(&grid, "+-%.1f %%",
                          cost->median_ns > 0 ? cost->confidence_ns / cost->median_ns * 100 : 0.0);
        cli_grid_add(&grid, cli_unit_count(cost->samples).text);
        add_mark(&grid, cost);
    }
    cli_grid_print(&grid, indent, out);
    cli_grid_deinit(&grid);
}

void cli_costs_json(struct cli_json *json, const struct vyre_calibration *calibration,
                    bool confidence)
{
    cli_json_object(json, "costs");
    for (int i = 0; i < VYRE_COST_COUNT; i++) {
        const struct vyre_cost *cost = &calibration->costs[i];
        const char *name = vyre_cost_name((enum vyre_cost_id)i);
        if (!cost->known) {
            cli_json_null(json, name);
            continue;
        }
        cli_json_object(json, name);
        cli_json_double(json, "min_ns", cost->min_ns);
        cli_json_double(json, "median_ns", cost->median_ns);
        cli_json_double(json, "spread_ns", cost->spread_ns);
        if (confidence)
            cli_json_double(json, "confidence_ns", cost->confidence_ns);
        cli_json_u64(json, "samples", cost->samples);
        cli_json_flag(json, "noisy", cost->noisy);
        if (vyre_cost_bound_ns(cost) > 0)
            cli_json_double(json, "at_most_ns", vyre_cost_bound_ns(cost));
        else
            cli_json_null(json, "at_most_ns");
        cli_json_end_object(json);
    }
    cli_json_end_object(json);
}

/* ---- UUIDs ------------------------------------------------------------------------------------
 */

struct cli_uuid cli_uuid_format(const uint8_t uuid[VYRE_UUID_BYTES])
{
    struct cli_uuid formatted;
    size_t used = 0;
    for (size_t i = 0; i < VYRE_UUID_BYTES; i++) {
        bool dash = i == 4 || i == 6 || i == 8 || i == 10;
        used += (size_t)snprintf(formatted.text + used, sizeof formatted.text - used, "%s%02x",
                                 dash ? "-" : "", uuid[i]);
    }
    return formatted;
}

bool cli_uuid_is_none(const uint8_t uuid[VYRE_UUID_BYTES])
{
    static const uint8_t none[VYRE_UUID_BYTES] = {0};
    return memcmp(uuid, none, sizeof none) == 0;
}
