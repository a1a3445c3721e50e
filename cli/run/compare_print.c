/*
 * compare_print.c: what `vyre compare` prints.
 */
#include <stdio.h>

#include "run/compare.h"
#include "terminal/grid.h"
#include "terminal/json.h"
#include "terminal/units.h"

#define LINE_BYTES 512

/* ---- for people -------------------------------------------------------------------------------
 */

static void add_contender(struct cli_grid *grid, const struct comparison *comparison,
                          const struct contender *contender, const struct contender *best)
{
    cli_grid_add(grid, vyre_mode_name(contender->mode));
    if (!contender_is_there(contender) || contender->rounds.count == 0) {
        bool there = contender_is_there(contender);
        cli_grid_add(grid, there ? "-" : "absent");
        for (int i = 0; i < 5; i++)
            cli_grid_add(grid, there ? "-" : "");
        return;
    }
    struct quartiles quartiles = samples_quartiles(&contender->rounds);
    cli_grid_add(grid, cli_unit_ns(contender->total_ns / comparison->timed_batches).text);
    cli_grid_add(grid, cli_unit_ns(quartiles.median).text);
    cli_grid_addf(grid, "%s .. %s", cli_unit_ns(quartiles.low).text,
                  cli_unit_ns(quartiles.high).text);
    cli_grid_add(grid, cli_unit_ns(contender->total_ns).text);
    cli_grid_add(grid, cli_unit_ratio(compare_ratio_to(contender, best).median).text);
    cli_grid_add(grid, !comparison->has_digests ? "not compared"
                       : contender->agrees      ? "yes"
                                                : "NO");
}

static void print_table(struct comparison *comparison, bool colour, struct cli_output *out)
{
    static const char *const heads[] = {"mode",  "per batch", "per round",    "quartiles",
                                        "total", "to best",   "digests agree"};
    const struct contender *best = compare_best(comparison);
    struct cli_grid grid;
    cli_grid_init(&grid, "lrrlrrl", heads, colour);
    for (size_t i = 0; i < COMPARE_MODES; i++)
        add_contender(&grid, comparison, &comparison->contenders[i], best);
    cli_grid_print(&grid, 0, out);
    cli_grid_deinit(&grid);
    for (size_t i = 0; i < COMPARE_MODES; i++) {
        const struct contender *contender = &comparison->contenders[i];
        char line[LINE_BYTES];
        if (contender_is_there(contender))
            continue;
        snprintf(line, sizeof line, "%s is absent: %s\n", vyre_mode_name(contender->mode),
                 contender->reason);
        cli_output_text(out, line);
    }
}

static void print_conclusion(struct comparison *comparison, struct cli_output *out)
{
    const struct contender *best = compare_best(comparison);
    const struct contender *automatic = &comparison->contenders[COMPARE_MODES - 1];
    char line[LINE_BYTES];
    if (comparison->interrupted) {
        snprintf(line, sizeof line, "interrupted: %llu of %llu rounds were done\n",
                 (unsigned long long)comparison->rounds_done,
                 (unsigned long long)comparison->rounds);
        cli_output_text(out, line);
    }
    if (!best)
        return;
    struct compare_ratio ratio = compare_ratio_to(automatic, best);
    int length = snprintf(
        line, sizeof line, "regret of auto: %s of %s, the best required mode (%+.1f %%",
        cli_unit_ratio(ratio.median).text, vyre_mode_name(best->mode), (ratio.median - 1) * 100);
    if (ratio.has_interval)
        snprintf(line + length, sizeof line - (size_t)length,
                 "; 95 %% interval %+.1f to %+.1f %%)\n", (ratio.low - 1) * 100,
                 (ratio.high - 1) * 100);
    else
        snprintf(line + length, sizeof line - (size_t)length,
                 "; too few rounds for an interval)\n");
    cli_output_text(out, line);
    if (ratio.has_interval && !ratio.is_clear)
        cli_output_text(out, "the interval contains 0: the difference may be noise\n");
    if (comparison->has_digests)
        cli_output_text(out,
                        compare_agrees(comparison) ? "all digests agree\n" : "DIGESTS DIFFER\n");
}

void compare_print_text(struct comparison *comparison, bool colour, struct cli_output *out)
{
    char line[LINE_BYTES];
    snprintf(line, sizeof line, "%s on %s %u, %s (%s)\n", comparison->workload->name,
             comparison->device.backend, comparison->device.index, comparison->device.name,
             comparison->device.driver);
    cli_output_text(out, line);
    snprintf(line, sizeof line,
             "%s batches in each mode after %s to warm up, in %llu rounds; modes in turns\n",
             cli_unit_count(comparison->timed_batches).text,
             cli_unit_count(comparison->warm_up).text, (unsigned long long)comparison->rounds_done);
    cli_output_text(out, line);
    cli_knowledge_print(&comparison->knowledge, out);
    cli_output_text(out, "\n");
    print_table(comparison, colour, out);
    cli_output_text(out, "\n");
    cli_decisions_print(&comparison->decisions, colour, out);
    print_conclusion(comparison, out);
    cli_proofs_print(&comparison->proofs, out);
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

static void digests_json(struct cli_json *json, const struct comparison *comparison,
                         const struct contender *contender)
{
    const struct workload *workload = comparison->workload;
    cli_json_object(json, "digests");
    for (size_t i = 0; comparison->has_digests && i < workload->output_count; i++)
        cli_json_text(json, workload->buffers[workload->outputs[i]].name, contender->digests[i]);
    cli_json_end_object(json);
}

static void decisions_json(struct cli_json *json, const struct contender *contender)
{
    cli_json_object(json, "decisions");
    for (unsigned mode = VYRE_MODE_PLAIN; mode < VYRE_MODE_COUNT; mode++)
        cli_json_u64(json, vyre_mode_name((enum vyre_mode)mode), contender->runner.by_mode[mode]);
    cli_json_end_object(json);
}

static void contender_json(struct cli_json *json, struct comparison *comparison,
                           struct contender *contender)
{
    bool there = contender_is_there(contender);
    cli_json_object(json, NULL);
    cli_json_text(json, "mode", vyre_mode_name(contender->mode));
    cli_json_flag(json, "present", there);
    cli_json_text(json, "reason", there ? NULL : contender->reason);
    if (there && contender->rounds.count > 0) {
        struct quartiles quartiles = samples_quartiles(&contender->rounds);
        cli_json_u64(json, "batch_ns", contender->total_ns / comparison->timed_batches);
        cli_json_object(json, "round_ns");
        cli_json_u64(json, "median", quartiles.median);
        cli_json_u64(json, "low", quartiles.low);
        cli_json_u64(json, "high", quartiles.high);
        cli_json_end_object(json);
        cli_json_u64(json, "total_ns", contender->total_ns);
        cli_json_u64(json, "warm_up_ns", contender->warm_up_ns);
        cli_json_ratio(json, "ratio", compare_ratio_to(contender, compare_best(comparison)).median);
        decisions_json(json, contender);
    }
    if (there && comparison->has_digests) {
        digests_json(json, comparison, contender);
        cli_json_flag(json, "agrees", contender->agrees);
    }
    cli_json_end_object(json);
}

static void interval_json(struct cli_json *json, const struct compare_ratio *ratio)
{
    if (ratio->has_interval) {
        cli_json_ratio(json, "regret_low", ratio->low);
        cli_json_ratio(json, "regret_high", ratio->high);
        cli_json_flag(json, "regret_is_clear", ratio->is_clear);
    } else {
        cli_json_null(json, "regret_low");
        cli_json_null(json, "regret_high");
        cli_json_null(json, "regret_is_clear");
    }
}

static void conclusion_json(struct cli_json *json, struct comparison *comparison)
{
    const struct contender *best = compare_best(comparison);
    const struct contender *plain = &comparison->contenders[0];
    const struct contender *automatic = &comparison->contenders[COMPARE_MODES - 1];
    decisions_json(json, automatic);
    if (best) {
        cli_json_i64(json, "saved_ns", (int64_t)plain->total_ns - (int64_t)automatic->total_ns);
        cli_json_text(json, "best", vyre_mode_name(best->mode));
        struct compare_ratio ratio = compare_ratio_to(automatic, best);
        cli_json_ratio(json, "regret", ratio.median);
        interval_json(json, &ratio);
    } else {
        cli_json_null(json, "saved_ns");
        cli_json_null(json, "best");
        cli_json_null(json, "regret");
        interval_json(json, &(const struct compare_ratio){0});
    }
    if (comparison->has_digests)
        cli_json_flag(json, "digests_agree", compare_agrees(comparison));
    else
        cli_json_null(json, "digests_agree");
}

void compare_print_json(struct comparison *comparison, struct cli_output *out)
{
    uint64_t batches = 0;
    uint64_t dispatches = 0;
    uint64_t wall_ns = 0;
    for (size_t i = 0; i < COMPARE_MODES; i++) {
        batches += comparison->contenders[i].runner.completed;
        dispatches += comparison->contenders[i].runner.dispatches;
        wall_ns += comparison->contenders[i].runner.wall_ns;
    }
    struct cli_json json;
    cli_json_init(&json, out);
    cli_json_object(&json, NULL);
    cli_json_text(&json, "workload", comparison->workload->name);
    cli_json_text(&json, "backend", comparison->device.backend);
    cli_json_text(&json, "device", comparison->device.name);
    cli_json_text(&json, "mode", "all");
    cli_json_u64(&json, "repeat", comparison->repeat);
    cli_json_u64(&json, "rounds", comparison->rounds_done);
    cli_json_u64(&json, "batches", batches);
    cli_json_u64(&json, "dispatches", dispatches);
    cli_json_u64(&json, "wall_ns", wall_ns);
    cli_json_flag(&json, "interrupted", comparison->interrupted);
    digests_json(&json, comparison, &comparison->contenders[0]);
    conclusion_json(&json, comparison);
    cli_decisions_json(&comparison->decisions, &json);
    cli_knowledge_json(&comparison->knowledge, &json);
    cli_proofs_json(&comparison->proofs, &json);
    cli_json_array(&json, "modes");
    for (size_t i = 0; i < COMPARE_MODES; i++)
        contender_json(&json, comparison, &comparison->contenders[i]);
    cli_json_end_array(&json);
    cli_json_end_object(&json);
    cli_json_finish(&json);
}
