/*
 * decisions.c: why the batches of a run were launched as they were.
 */
#include "run/decisions.h"

#include "terminal/grid.h"
#include "terminal/units.h"

#define RECORDS_AT_ONCE 16
#define RATIO_SCALE     1000

void cli_decisions_begin(struct cli_decisions *decisions, struct vyre_device *device)
{
    struct vyre_decision_counters counters;
    *decisions = (struct cli_decisions){.first_sequence = 0};
    vyre_device_count_decisions(device, &counters);
    decisions->first_sequence = counters.decided + 1;
    for (int why = 0; why < VYRE_WHY_COUNT; why++)
        decisions->before[why] = counters.by_why[why];
}

static void add(struct cli_decisions *decisions, const struct vyre_decision_record *record)
{
    if (record->predicted_ns == 0 || record->wall_ns == 0 || record->why >= VYRE_WHY_COUNT)
        return;
    struct cli_why *why = &decisions->whys[record->why];
    double ratio = (double)record->wall_ns / (double)record->predicted_ns;
    samples_add(&why->predicted_ns, record->predicted_ns);
    samples_add(&why->measured_ns, record->wall_ns);
    samples_add(&why->ratios, ratio < 1e12 ? (uint64_t)(ratio * RATIO_SCALE) : UINT64_MAX);
}

void cli_decisions_end(struct cli_decisions *decisions, struct vyre_device *device)
{
    struct vyre_decision_counters counters;
    struct vyre_decision_record records[RECORDS_AT_ONCE];
    uint64_t next = decisions->first_sequence;
    size_t count;
    vyre_device_count_decisions(device, &counters);
    for (int why = 0; why < VYRE_WHY_COUNT; why++)
        decisions->whys[why].count = counters.by_why[why] - decisions->before[why];
    while ((count = vyre_device_read_decisions(device, next, records, RECORDS_AT_ONCE)) > 0) {
        for (size_t i = 0; i < count; i++)
            add(decisions, &records[i]);
        next = records[count - 1].sequence + 1;
    }
}

void cli_decisions_deinit(struct cli_decisions *decisions)
{
    for (int why = 0; why < VYRE_WHY_COUNT; why++) {
        samples_deinit(&decisions->whys[why].predicted_ns);
        samples_deinit(&decisions->whys[why].measured_ns);
        samples_deinit(&decisions->whys[why].ratios);
    }
}

static double ratio_of(struct cli_why *why)
{
    return (double)samples_quartiles(&why->ratios).median / RATIO_SCALE;
}

void cli_decisions_print(struct cli_decisions *decisions, bool colour, struct cli_output *out)
{
    static const char *const heads[] = {"decided by", "batches", "predicted",
                                        "measured",   "off by",  "recorded"};
    struct cli_grid grid;
    cli_grid_init(&grid, "lrrrrr", heads, colour);
    for (int i = 0; i < VYRE_WHY_COUNT; i++) {
        struct cli_why *why = &decisions->whys[i];
        bool recorded = why->ratios.seen > 0;
        if (why->count == 0)
            continue;
        cli_grid_add(&grid, vyre_why_name((enum vyre_why)i));
        cli_grid_add(&grid, cli_unit_count(why->count).text);
        cli_grid_add(
            &grid, recorded ? cli_unit_ns(samples_quartiles(&why->predicted_ns).median).text : "-");
        cli_grid_add(&grid, recorded ? cli_unit_ns(samples_quartiles(&why->measured_ns).median).text
                                     : "-");
        cli_grid_add(&grid, recorded ? cli_unit_ratio(ratio_of(why)).text : "-");
        cli_grid_add(&grid, cli_unit_count(why->ratios.seen).text);
    }
    cli_grid_print(&grid, 0, out);
    cli_grid_deinit(&grid);
    cli_output_text(out, "\n");
}

void cli_decisions_json(struct cli_decisions *decisions, struct cli_json *json)
{
    cli_json_object(json, "whys");
    for (int i = VYRE_WHY_NONE + 1; i < VYRE_WHY_CHOSEN_COUNT; i++)
        cli_json_u64(json, vyre_why_name((enum vyre_why)i), decisions->whys[i].count);
    cli_json_end_object(json);
    cli_json_array(json, "predictions");
    for (int i = 0; i < VYRE_WHY_COUNT; i++) {
        struct cli_why *why = &decisions->whys[i];
        if (why->ratios.seen == 0)
            continue;
        cli_json_object(json, NULL);
        cli_json_text(json, "why", vyre_why_name((enum vyre_why)i));
        cli_json_u64(json, "recorded", why->ratios.seen);
        cli_json_u64(json, "predicted_ns", samples_quartiles(&why->predicted_ns).median);
        cli_json_u64(json, "measured_ns", samples_quartiles(&why->measured_ns).median);
        cli_json_ratio(json, "ratio", ratio_of(why));
        cli_json_end_object(json);
    }
    cli_json_end_array(json);
}
