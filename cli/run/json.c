/*
 * json.c: what `vyre run --json` prints.
 */
#include "run/print.h"

#include "terminal/json.h"

static void times_json(struct cli_json *json, const char *key, struct samples *samples)
{
    if (samples->seen == 0) {
        cli_json_null(json, key);
        return;
    }
    struct quartiles quartiles = samples_quartiles(samples);
    cli_json_object(json, key);
    cli_json_u64(json, "median", quartiles.median);
    cli_json_u64(json, "low", quartiles.low);
    cli_json_u64(json, "high", quartiles.high);
    cli_json_u64(json, "timed", samples->seen);
    cli_json_end_object(json);
}

static void counts_json(struct cli_json *json, const char *key,
                        const uint64_t counts[VYRE_WHY_COUNT])
{
    cli_json_object(json, key);
    for (unsigned why = 0; why < VYRE_WHY_COUNT; why++) {
        if (counts[why] > 0)
            cli_json_u64(json, vyre_why_name((enum vyre_why)why), counts[why]);
    }
    cli_json_end_object(json);
}

static void cell_json(struct cli_json *json, struct runner_kind *kind, enum vyre_mode mode)
{
    struct runner_cell *cell = &kind->cells[mode];
    int64_t saved_ns;
    cli_json_object(json, NULL);
    cli_json_text(json, "mode", vyre_mode_name(mode));
    cli_json_u64(json, "batches", cell->count);
    counts_json(json, "whys", cell->whys);
    cli_json_text(json, "wanted",
                  cell->wanted != VYRE_MODE_AUTO ? vyre_mode_name(cell->wanted) : NULL);
    counts_json(json, "wanted_out", cell->outs);
    times_json(json, "device_ns", &cell->device_ns);
    times_json(json, "submit_ns", &cell->submit_ns);
    if (runner_saved_ns(kind, mode, &saved_ns))
        cli_json_i64(json, "saved_ns", saved_ns);
    else
        cli_json_null(json, "saved_ns");
    if (kind->predicted_ns[mode] > 0)
        cli_json_u64(json, "predicted_saved_ns", kind->predicted_ns[mode]);
    else
        cli_json_null(json, "predicted_saved_ns");
    cli_json_end_object(json);
}

static void kind_json(struct cli_json *json, const struct runner *runner, size_t index)
{
    struct runner_kind *kind = &runner->kinds[index];
    uint64_t completed = 0;
    for (unsigned mode = 0; mode < VYRE_MODE_COUNT; mode++)
        completed += kind->cells[mode].count;
    cli_json_object(json, NULL);
    cli_json_text(json, "name", runner->session->workload->batches[index].name);
    cli_json_u64(json, "batches", completed);
    cli_json_u64(json, "dispatches", runner->session->dispatches[index]);
    if (runner->mode == VYRE_MODE_AUTO) {
        cli_json_object(json, "verdicts");
        for (unsigned i = 1; i < VYRE_POLICY_COUNT; i++)
            cli_json_text(json, vyre_policy_name((enum vyre_policy)i),
                          run_verdict_name((enum vyre_policy)i, kind->verdicts[i]));
        cli_json_end_object(json);
    } else {
        cli_json_null(json, "verdicts");
    }
    cli_json_array(json, "modes");
    for (unsigned mode = 0; mode < VYRE_MODE_COUNT; mode++) {
        if (kind->cells[mode].count > 0)
            cell_json(json, kind, (enum vyre_mode)mode);
    }
    cli_json_end_array(json);
    cli_json_end_object(json);
}

/* The sum over all kinds and modes whose saving is known; null if none is. */
static void saved_json(struct cli_json *json, const struct runner *runner)
{
    int64_t total_ns = 0;
    bool known = false;
    for (size_t i = 0; i < runner->session->workload->batch_count; i++) {
        for (unsigned mode = 0; mode < VYRE_MODE_COUNT; mode++) {
            int64_t saved_ns;
            if (!runner_saved_ns(&runner->kinds[i], (enum vyre_mode)mode, &saved_ns))
                continue;
            known = true;
            total_ns += saved_ns * (int64_t)runner->kinds[i].cells[mode].count;
        }
    }
    if (known)
        cli_json_i64(json, "saved_ns", total_ns);
    else
        cli_json_null(json, "saved_ns");
}

static void digests_json(struct cli_json *json, const struct run_summary *summary)
{
    const struct workload *workload = summary->runner->session->workload;
    cli_json_object(json, "digests");
    for (size_t i = 0; summary->digests && i < workload->output_count; i++)
        cli_json_text(json, workload->buffers[workload->outputs[i]].name, summary->digests[i]);
    cli_json_end_object(json);
}

void run_print_json(const struct run_summary *summary, struct cli_output *out)
{
    const struct runner *runner = summary->runner;
    const struct workload *workload = runner->session->workload;
    struct cli_json json;
    cli_json_init(&json, out);
    cli_json_object(&json, NULL);
    cli_json_text(&json, "workload", workload->name);
    cli_json_text(&json, "backend", summary->device.backend);
    cli_json_text(&json, "device", summary->device.name);
    cli_json_text(&json, "mode", vyre_mode_name(runner->mode));
    cli_json_u64(&json, "repeat", summary->repeat);
    cli_json_u64(&json, "batches", runner->completed);
    cli_json_u64(&json, "dispatches", runner->dispatches);
    cli_json_u64(&json, "wall_ns", runner->wall_ns);
    cli_json_u64(&json, "memory_bytes", session_memory_bytes(workload));
    cli_json_flag(&json, "interrupted", summary->interrupted);
    digests_json(&json, summary);
    cli_json_object(&json, "decisions");
    for (unsigned mode = VYRE_MODE_PLAIN; mode < VYRE_MODE_COUNT; mode++)
        cli_json_u64(&json, vyre_mode_name((enum vyre_mode)mode), runner->by_mode[mode]);
    cli_json_end_object(&json);
    saved_json(&json, runner);
    cli_decisions_json(summary->decisions, &json);
    cli_knowledge_json(summary->knowledge, &json);
    cli_proofs_json(summary->proofs, &json);
    cli_json_array(&json, "kinds");
    for (size_t i = 0; i < workload->batch_count; i++) {
        if (runner->kinds[i].submitted > 0)
            kind_json(&json, runner, i);
    }
    cli_json_end_array(&json);
    cli_json_end_object(&json);
    cli_json_finish(&json);
}
