/*
 * print.c: what `vyre run` prints for people.
 */
#include "run/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/grid.h"
#include "terminal/units.h"

/* Further kinds are summed up in one line. */
#define KINDS_SHOWN 24
#define LIST_BYTES  160
#define LINE_BYTES  512
/* The number of the choice that asks for something; the same for every policy. */
#define AGGRESSIVE 2

const char *run_verdict_name(enum vyre_policy policy, unsigned choice)
{
    static const char *const names[VYRE_POLICY_COUNT][VYRE_AUDIT_CHOICES] = {
        [VYRE_POLICY_PERSISTENT_KERNEL] = {NULL, "standard-launches", "persistent-kernel"},
        [VYRE_POLICY_ARM_INDEPENDENCE] = {NULL, "serialize", "independent"},
        [VYRE_POLICY_COPY_OVERLAP] = {NULL, "serialize", "overlap"},
        [VYRE_POLICY_COMMAND_REUSE] = {NULL, "plain-launches", "record-and-replay"},
        [VYRE_POLICY_BINDLESS] = {NULL, "traditional-bindings", "bindless"},
        [VYRE_POLICY_TRACE_JIT] = {NULL, "hold-steady", "speculate"},
    };
    bool known = (unsigned)policy < VYRE_POLICY_COUNT && choice < VYRE_AUDIT_CHOICES;
    return known ? names[policy][choice] : NULL;
}

static void append(char list[LIST_BYTES], const char *text)
{
    size_t used = strlen(list);
    snprintf(list + used, LIST_BYTES - used, "%s%s", used ? ", " : "", text);
}

/* Lists the verdicts that ask for something, or says why there are none. */
static void list_verdicts(const struct runner *runner, const struct runner_kind *kind,
                          char list[LIST_BYTES])
{
    list[0] = '\0';
    for (unsigned policy = 0; policy < VYRE_POLICY_COUNT; policy++) {
        const char *name = run_verdict_name((enum vyre_policy)policy, AGGRESSIVE);
        if (name && kind->verdicts[policy] == AGGRESSIVE)
            append(list, name);
    }
    if (list[0] == '\0')
        append(list, runner->mode == VYRE_MODE_AUTO ? "none" : "not asked");
}

/* Why the batches ran in this mode, and why the wanted mode could not run. */
static void list_whys(const struct runner_cell *cell, char list[LIST_BYTES])
{
    list[0] = '\0';
    for (unsigned why = 0; why < VYRE_WHY_COUNT; why++) {
        if (cell->whys[why] > 0)
            append(list, vyre_why_name((enum vyre_why)why));
    }
    for (unsigned why = 0; why < VYRE_WHY_COUNT; why++) {
        char text[64];
        if (cell->outs[why] == 0)
            continue;
        snprintf(text, sizeof text, "%s out: %s", vyre_mode_name(cell->wanted),
                 vyre_why_name((enum vyre_why)why));
        append(list, text);
    }
}

static void add_median(struct cli_grid *grid, struct samples *samples)
{
    cli_grid_add(grid, samples->seen ? cli_unit_ns(samples_quartiles(samples).median).text : "-");
}

static void add_saved(struct cli_grid *grid, struct runner_kind *kind, enum vyre_mode mode)
{
    int64_t saved_ns;
    if (mode == VYRE_MODE_PLAIN)
        cli_grid_add(grid, "-");
    else if (runner_saved_ns(kind, mode, &saved_ns))
        cli_grid_addf(grid, "%s, measured", cli_unit_signed_ns(saved_ns).text);
    else if (kind->predicted_ns[mode] > 0)
        cli_grid_addf(grid, "%s, predicted", cli_unit_ns(kind->predicted_ns[mode]).text);
    else
        cli_grid_add(grid, "not measured");
}

/* One row per mode that the kind ran in; the first has its name and verdicts. */
static void add_kind(struct cli_grid *grid, const struct runner *runner, size_t index)
{
    struct runner_kind *kind = &runner->kinds[index];
    char list[LIST_BYTES];
    bool first = true;
    for (unsigned mode = 0; mode < VYRE_MODE_COUNT; mode++) {
        struct runner_cell *cell = &kind->cells[mode];
        if (cell->count == 0)
            continue;
        cli_grid_add(grid, first ? runner->session->workload->batches[index].name : "");
        cli_grid_add(grid, cli_unit_count(cell->count).text);
        cli_grid_add(grid, vyre_mode_name((enum vyre_mode)mode));
        list_whys(cell, list);
        cli_grid_add(grid, list);
        list_verdicts(runner, kind, list);
        cli_grid_add(grid, first ? list : "");
        add_median(grid, &cell->device_ns);
        add_median(grid, &cell->submit_ns);
        cli_grid_add(grid, cli_unit_count(cell->device_ns.seen).text);
        add_saved(grid, kind, (enum vyre_mode)mode);
        first = false;
    }
}

static void print_kinds(const struct run_summary *summary, bool colour, struct cli_output *out)
{
    static const char *const heads[] = {"batch",  "times",    "mode",
                                        "why",    "verdicts", "device",
                                        "submit", "timed",    "saved per batch"};
    const struct runner *runner = summary->runner;
    struct cli_grid grid;
    cli_grid_init(&grid, "lrlllrrrl", heads, colour);
    size_t shown = 0;
    uint64_t left_kinds = 0;
    uint64_t left_batches = 0;
    for (size_t i = 0; i < runner->session->workload->batch_count; i++) {
        if (runner->kinds[i].submitted == 0)
            continue;
        if (shown < KINDS_SHOWN) {
            add_kind(&grid, runner, i);
            shown++;
        } else {
            left_kinds++;
            left_batches += runner->kinds[i].submitted;
        }
    }
    cli_grid_print(&grid, 0, out);
    cli_grid_deinit(&grid);
    if (left_kinds > 0) {
        char line[LINE_BYTES];
        snprintf(line, sizeof line, "... and %s more kinds, %s batches; --json lists all.\n",
                 cli_unit_count(left_kinds).text, cli_unit_count(left_batches).text);
        cli_output_text(out, line);
    }
    cli_output_text(out,
                    "Times are medians of the timed runs, without the first run of each batch.\n"
                    "`vyre compare` measures the savings that are not measured here.\n\n");
}

/* ---- what was done ----------------------------------------------------------------------------
 */

static void print_head(const struct run_summary *summary, struct cli_output *out)
{
    const struct workload *workload = summary->runner->session->workload;
    char line[LINE_BYTES];
    snprintf(line, sizeof line, "%s on %s %u, %s (%s), mode %s\n", workload->name,
             summary->device.backend, summary->device.index, summary->device.name,
             summary->device.driver, vyre_mode_name(summary->runner->mode));
    cli_output_text(out, line);
    snprintf(line, sizeof line, "%s in %zu buffer%s, with uploads and downloads\n",
             cli_unit_bytes(session_memory_bytes(workload)).text, workload->buffer_count,
             workload->buffer_count == 1 ? "" : "s");
    cli_output_text(out, line);
    cli_knowledge_print(summary->knowledge, out);
    cli_output_text(out, "\n");
}

static void print_totals(const struct run_summary *summary, struct cli_output *out)
{
    const struct runner *runner = summary->runner;
    uint64_t each_ns = runner->completed ? runner->wall_ns / runner->completed : 0;
    char line[LINE_BYTES];
    if (summary->interrupted) {
        snprintf(line, sizeof line, "interrupted: %s of %s batches were done\n",
                 cli_unit_count(runner->completed).text, cli_unit_count(summary->planned).text);
        cli_output_text(out, line);
    }
    snprintf(line, sizeof line, "%s batches, %s dispatches in %s (%s per batch)\n",
             cli_unit_count(runner->completed).text, cli_unit_count(runner->dispatches).text,
             cli_unit_ns(runner->wall_ns).text, cli_unit_ns(each_ns).text);
    cli_output_text(out, line);
}

static void print_digests(const struct run_summary *summary, bool colour, struct cli_output *out)
{
    static const char *const heads[] = {"output", "digest (XXH3-128)"};
    const struct workload *workload = summary->runner->session->workload;
    if (!summary->digests || workload->output_count == 0)
        return;
    struct cli_grid grid;
    cli_grid_init(&grid, "ll", heads, colour);
    for (size_t i = 0; i < workload->output_count; i++) {
        cli_grid_add(&grid, workload->buffers[workload->outputs[i]].name);
        cli_grid_add(&grid, summary->digests[i]);
    }
    cli_output_text(out, "\n");
    cli_grid_print(&grid, 0, out);
    cli_grid_deinit(&grid);
}

void run_print_text(const struct run_summary *summary, bool colour, struct cli_output *out)
{
    print_head(summary, out);
    print_kinds(summary, colour, out);
    if (summary->runner->mode == VYRE_MODE_AUTO)
        cli_decisions_print(summary->decisions, colour, out);
    print_totals(summary, out);
    cli_proofs_print(summary->proofs, out);
    print_digests(summary, colour, out);
}
