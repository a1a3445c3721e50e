/*
 * run.c: `vyre run`, which runs a workload.
 */
#include <stdlib.h>
#include <unistd.h>

#include "command.h"
#include "run/knowledge.h"
#include "run/options.h"
#include "run/print.h"
#include "run/target.h"
#include "run/watch.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"

#define RUN_TAKES                                                                                \
    (CLI_TAKES_FILE | CLI_TAKES_BACKEND | CLI_TAKES_DEVICE | CLI_TAKES_MODE | CLI_TAKES_REPEAT | \
     CLI_TAKES_WORKERS | CLI_TAKES_QUIET | CLI_TAKES_STORE | CLI_TAKES_CALIBRATE |               \
     CLI_TAKES_RECORD | CLI_TAKES_PROOF)

/* All that a run holds; released in one place. */
struct run {
    struct cli_options options;
    struct workload *workload;
    struct vyre_audit *audit;
    struct vyre_instance *instance;
    struct session *session;
    struct runner runner;
    struct cli_progress progress;
    struct cli_knowledge knowledge;
    struct cli_decisions decisions;
    struct cli_watch watch;
    struct cli_proofs proofs;
    struct cli_output *out; /* Borrowed */
    char (*digests)[VYRE_HASH128_TEXT_BYTES];
};

static void release(struct run *run)
{
    runner_deinit(&run->runner);
    session_destroy(&run->session);
    cli_knowledge_close(&run->knowledge);
    cli_decisions_deinit(&run->decisions);
    cli_proofs_deinit(&run->proofs);
    vyre_instance_destroy(&run->instance);
    vyre_audit_destroy(&run->audit);
    workload_destroy(&run->workload);
    free(run->digests);
}

static uint64_t planned(const struct run *run)
{
    uint64_t pass = schedule_pass_length(run->workload);
    return pass > UINT64_MAX / run->options.repeat ? UINT64_MAX : pass * run->options.repeat;
}

/* Checks the mode and loads what is known of the device, before the workload is made live on it. */
static enum vyre_status prepare(struct run *run, struct vyre_device *device, struct vyre_diag *diag)
{
    enum vyre_status status = cli_mode_check(device, run->options.mode, diag);
    if (status == VYRE_OK)
        status = cli_knowledge_give(&run->knowledge, device, &run->options, planned(run), diag);
    if (status == VYRE_OK)
        cli_decisions_begin(&run->decisions, device);
    return status;
}

static enum vyre_status set_up(struct run *run, struct vyre_diag *diag)
{
    const struct vyre_audit_desc audit_desc = {.event_limit = 64};
    enum vyre_status status = workload_load(run->options.file, &run->workload, diag);
    if (status == VYRE_OK)
        status = vyre_audit_create(&audit_desc, &run->audit, diag);
    if (status == VYRE_OK)
        status = cli_watch_open(&run->watch, &run->options, run->workload, run->out, &run->progress,
                                diag);
    const struct vyre_instance_desc instance_desc = {.audit = run->audit,
                                                     .observer = &run->watch.observer};
    if (status == VYRE_OK)
        status = vyre_instance_create(&instance_desc, &run->instance, diag);
    struct vyre_device *device = NULL;
    if (status == VYRE_OK)
        status = cli_device_open(run->instance, &run->options, &device, diag);
    if (status == VYRE_OK) {
        status = prepare(run, device, diag);
        if (status != VYRE_OK)
            vyre_device_close(&device);
    }
    if (status == VYRE_OK)
        status = session_create(run->workload, device, 1, &run->session, diag);
    if (status == VYRE_OK)
        status =
            runner_init(&run->runner, run->session, run->options.mode, run->options.repeat, diag);
    return status;
}

static enum vyre_status read_digests(struct run *run, struct vyre_diag *diag)
{
    size_t count = run->workload->output_count;
    run->digests = calloc(count + 1, sizeof *run->digests);
    if (!run->digests)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0, "no memory for the digests");
    enum vyre_status status = VYRE_OK;
    for (size_t i = 0; status == VYRE_OK && i < count; i++)
        status = session_digest(run->session, i, run->digests[i], diag);
    return status;
}

static void collect_proofs(struct run *run)
{
    const struct cli_refusals *known = &run->knowledge.refusals;
    cli_proofs_add(&run->proofs, run->session->device, known);
    if (runner_count_out(&run->runner, VYRE_WHY_UNPROVEN) > 0)
        cli_proofs_add_known(&run->proofs, known, run->workload);
}

static void print(struct run *run, struct cli_output *out)
{
    struct run_summary summary = {
        .runner = &run->runner,
        .repeat = run->options.repeat,
        .planned = planned(run),
        .digests = run->digests,
        .knowledge = &run->knowledge,
        .decisions = &run->decisions,
        .proofs = &run->proofs,
        .interrupted = cli_interrupted(),
    };
    vyre_device_get_info(run->session->device, &summary.device);
    if (run->options.json)
        run_print_json(&summary, out);
    else if (!run->options.quiet || summary.interrupted)
        run_print_text(&summary, cli_colour_wanted(STDOUT_FILENO), out);
    else
        cli_proofs_warn(&run->proofs);
}

static void print_record(const struct run *run)
{
    if (!run->options.json && !run->options.quiet)
        cli_watch_print(&run->watch, run->options.record, run->out);
}

static enum cli_exit execute(struct run *run, struct cli_output *out)
{
    struct vyre_diag diag;
    vyre_diag_reset(&diag);
    if (set_up(run, &diag) != VYRE_OK) {
        cli_message_print_file(&diag, run->options.file);
        return cli_exit_of_setup(&diag);
    }
    cli_progress_begin(&run->progress, run->options.quiet, planned(run));
    run->runner.audit = run->audit;
    run->runner.progress = &run->progress;
    enum vyre_status status = runner_run(&run->runner, UINT64_MAX, &diag);
    cli_progress_clear(&run->progress);
    if (status == VYRE_OK && !run->runner.busy)
        status = read_digests(run, &diag);
    collect_proofs(run);
    if (status != VYRE_OK) {
        if (diag.id == VYRE_DIAG_PROOF_LIMIT)
            vyre_diag_set_fix(&diag, "Use auto, or --no-proof to run generated code unproven.");
        cli_message_print_file(&diag, run->options.file);
        cli_knowledge_keep_refusals(&run->knowledge, &run->proofs.found, run->session->device);
        return cli_exit_of_work(&diag);
    }
    cli_decisions_end(&run->decisions, run->session->device);
    print(run, out);
    if (run->runner.busy) {
        /* The device stays open, so this call delivers the events that have come by now. */
        (void)!vyre_device_wait_idle(run->session->device, 0, NULL);
        print_record(run);
        (void)cli_watch_close(&run->watch, NULL);
        cli_interrupt_leave(out);
    }
    /* The results appear before the store is written. */
    cli_output_flush(out);
    cli_knowledge_keep(&run->knowledge, run->session->device);
    cli_knowledge_keep_refusals(&run->knowledge, &run->proofs.found, run->session->device);
    return cli_interrupted() ? CLI_EXIT_INTERRUPTED : CLI_EXIT_DONE;
}

enum cli_exit cli_run_run(char **arguments, size_t count, struct cli_output *out)
{
    struct vyre_diag diag;
    vyre_diag_reset(&diag);
    struct run run = {.workload = NULL};
    if (cli_options_read("run", RUN_TAKES, arguments, count, &run.options, &diag) != VYRE_OK) {
        cli_message_print(&diag, NULL);
        return CLI_EXIT_BAD_INPUT;
    }
    if (run.options.help) {
        cli_run_help(out);
        return CLI_EXIT_DONE;
    }
    if (run.options.repeat == 0)
        run.options.repeat = 1;
    run.out = out;
    enum cli_exit result = execute(&run, out);
    release(&run);
    if (result == CLI_EXIT_DONE || result == CLI_EXIT_INTERRUPTED)
        print_record(&run);
    if (cli_watch_close(&run.watch, &diag) != VYRE_OK) {
        cli_message_print_file(&diag, run.options.record);
        result = result == CLI_EXIT_DONE ? CLI_EXIT_FAILED : result;
    }
    return result;
}

void cli_run_help(struct cli_output *out)
{
    cli_output_text(
        out, "Usage: vyre run FILE [--backend B] [--device D] [--mode M] [--repeat N]\n"
             "                [--workers N] [--calibrate] [--store PATH] [--no-store]\n"
             "                [--no-proof] [--record OUT.json] [--audit] [--json] [--quiet]\n"
             "\n"
             "Runs the workload FILE. Prints how each of its batches was launched, why, and how\n"
             "long it took, and a digest of each output.\n"
             "\n"
             "      --backend B     cpu, vulkan or opencl; by default the first that has a device\n"
             "      --device D      its number, a part of its name, its UUID or its kind (cpu,\n"
             "                      integrated, discrete, software); see `vyre devices`\n"
             "      --mode M        auto, plain, replay or persistent; auto by default\n"
             "      --repeat N      run the schedule N times\n"
             "      --workers N     threads of the cpu backend in addition to the caller's\n"
             "      --calibrate     measure the device's costs first, even if the store has them\n"
             "      --store PATH    the file with costs and learnings; see `vyre store`\n"
             "      --no-store      use no store: load nothing, keep nothing\n"
             "      --no-proof      use generated code without proving it on the data first\n"
             "      --record OUT    write a record of the run, for report, trace and explain\n"
             "      --audit         print a line each time the choice for a batch changes\n"
             "      --json          print one JSON document\n"
             "      --quiet         print no table and no progress\n"
             "  -h, --help          print this help\n"
             "\n"
             "Auto uses costs that were measured in the last 7 days, if the store has them. If\n"
             "not, or if they are noisy and due again, a schedule of more than 200 batches begins\n"
             "with a calibration of about half a second; a shorter one uses the noisy costs, or\n"
             "those that the backend states.\n"
             "\n"
             "Only some of the batches are timed. The saving against plain launches is measured\n"
             "if the run timed both often enough. Otherwise it is what the verdict predicts from\n"
             "the costs; `vyre compare` measures it properly.\n"
             "\n"
             "Examples:\n"
             "  vyre run examples/workloads/decode.json\n"
             "  vyre run work.json --mode replay --repeat 10\n"
             "  vyre run work.json --json | jq .digests\n"
             "  vyre run work.json --record out.json && vyre report out.json\n");
}
