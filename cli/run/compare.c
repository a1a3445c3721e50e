/*
 * compare.c: `vyre compare`, which runs a workload in every mode.
 */
#include "run/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "run/target.h"
#include "terminal/diag.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"
#include "terminal/units.h"

#define COMPARE_TAKES                                                              \
    (CLI_TAKES_FILE | CLI_TAKES_BACKEND | CLI_TAKES_DEVICE | CLI_TAKES_REPEAT |    \
     CLI_TAKES_WORKERS | CLI_TAKES_QUIET | CLI_TAKES_STORE | CLI_TAKES_CALIBRATE | \
     CLI_TAKES_PROOF | CLI_TAKES_ROUNDS)

/* How long each mode runs without --repeat: in the warm-up, and in each round. */
#define WARM_UP_NS UINT64_C(50000000)
#define ROUND_NS   UINT64_C(45000000)

static const enum vyre_mode compared_modes[COMPARE_MODES] = {VYRE_MODE_PLAIN, VYRE_MODE_REPLAY,
                                                             VYRE_MODE_PERSISTENT, VYRE_MODE_AUTO};

/* ---- life -------------------------------------------------------------------------------------
 */

static void drop(struct contender *contender)
{
    if (contender->session) {
        runner_deinit(&contender->runner);
        session_destroy(&contender->session);
    }
    samples_deinit(&contender->rounds);
    free(contender->digests);
    contender->digests = NULL;
}

static void release(struct comparison *comparison)
{
    for (size_t i = 0; i < COMPARE_MODES; i++)
        drop(&comparison->contenders[i]);
    cli_knowledge_close(&comparison->knowledge);
    cli_decisions_deinit(&comparison->decisions);
    cli_proofs_deinit(&comparison->proofs);
    vyre_instance_destroy(&comparison->instance);
    workload_destroy(&comparison->workload);
}

static void collect_proofs(struct comparison *comparison, const struct contender *contender)
{
    if (contender->session)
        cli_proofs_add(&comparison->proofs, contender->session->device,
                       &comparison->knowledge.refusals);
}

/* Drops a mode that turns out to be absent from the comparison, and keeps the reason. */
static void rule_out(struct comparison *comparison, struct contender *contender,
                     const struct vyre_diag *diag)
{
    collect_proofs(comparison, contender);
    drop(contender);
    snprintf(contender->reason, sizeof contender->reason, "%s", diag->message);
}

/*
 * Gives the device of auto what is known of it. Nothing else runs yet. Without --repeat the comparison
 * takes seconds, so that a calibration is worth its time.
 */
static enum vyre_status inform(struct comparison *comparison, struct vyre_device *device,
                               struct vyre_diag *diag)
{
    uint64_t pass = schedule_pass_length(comparison->workload);
    uint32_t repeat = comparison->options.repeat;
    uint64_t batches = repeat != 0 && pass <= UINT64_MAX / repeat ? pass * repeat : UINT64_MAX;
    enum vyre_status status =
        cli_knowledge_give(&comparison->knowledge, device, &comparison->options, batches, diag);
    if (status == VYRE_OK)
        cli_decisions_begin(&comparison->decisions, device);
    return status;
}

static enum vyre_status enter(struct comparison *comparison, struct contender *contender,
                              struct vyre_diag *diag)
{
    struct vyre_device *device;
    enum vyre_status status =
        cli_device_open(comparison->instance, &comparison->options, &device, diag);
    if (status != VYRE_OK)
        return status;
    vyre_device_get_info(device, &comparison->device);
    if (cli_mode_check(device, contender->mode, diag) != VYRE_OK) {
        vyre_device_close(&device);
        rule_out(comparison, contender, diag);
        return VYRE_OK;
    }
    if (contender->mode == VYRE_MODE_AUTO)
        status = inform(comparison, device, diag);
    if (status != VYRE_OK) {
        vyre_device_close(&device);
        return status;
    }
    status = session_create(comparison->workload, device, COMPARE_MODES, &contender->session, diag);
    if (status != VYRE_OK)
        return status;
    contender->runner.progress = NULL;
    status = runner_init(&contender->runner, contender->session, contender->mode, UINT64_MAX, diag);
    contender->runner.progress = &comparison->progress;
    return status;
}

static enum vyre_status set_up(struct comparison *comparison, struct vyre_diag *diag)
{
    const struct vyre_instance_desc desc = {0};
    enum vyre_status status = workload_load(comparison->options.file, &comparison->workload, diag);
    if (status == VYRE_OK)
        status = vyre_instance_create(&desc, &comparison->instance, diag);
    for (size_t i = 0; status == VYRE_OK && i < COMPARE_MODES; i++) {
        comparison->contenders[i].mode = compared_modes[i];
        status = enter(comparison, &comparison->contenders[i], diag);
    }
    /* Auto, which comes last, has loaded what earlier runs refused. The other devices get it, too. */
    for (size_t i = 0; status == VYRE_OK && i + 1 < COMPARE_MODES; i++) {
        const struct session *session = comparison->contenders[i].session;
        if (session)
            cli_refusals_give(&comparison->knowledge.refusals, session->device);
    }
    return status;
}

/* ---- running ----------------------------------------------------------------------------------
 */

/* Batches that all modes together have completed, for the progress line. */
static uint64_t completed(const struct comparison *comparison)
{
    uint64_t total = 0;
    for (size_t i = 0; i < COMPARE_MODES; i++)
        total += comparison->contenders[i].runner.completed;
    return total;
}

/*
 * Waits until resident kernels have left: they would take time from the next mode. After every turn, since
 * what begins after a pause takes longer than what begins after a busy turn.
 */
static void let_idle(const struct contender *contender)
{
    struct vyre_device_desc desc;
    vyre_device_get_desc(contender->session->device, &desc);
    uint64_t idle_ns = desc.persistent_idle_ns + 1000000;
    if (idle_ns > 100000000)
        idle_ns = 100000000;
    const struct timespec pause = {.tv_nsec = (long)idle_ns};
    nanosleep(&pause, NULL);
}

/* Whether the diagnostic means that the mode cannot run the workload, or not with proven code. */
static bool is_out(const struct vyre_diag *diag)
{
    return diag->id == VYRE_DIAG_SUBMIT_MODE || diag->id == VYRE_DIAG_PROOF_DIFFERS ||
           diag->id == VYRE_DIAG_PROOF_LIMIT;
}

/* Runs `count` batches in one mode and adds the time to the contender's round. */
static enum vyre_status run_one(struct comparison *comparison, struct contender *contender,
                                uint64_t count, struct vyre_diag *diag)
{
    if (!contender_is_there(contender))
        return VYRE_OK;
    struct runner *runner = &contender->runner;
    uint64_t before_ns = runner->wall_ns;
    runner->progress_base = completed(comparison) - runner->completed;
    enum vyre_status status = runner_run(runner, count, diag);
    contender->round_ns += runner->wall_ns - before_ns;
    if (status != VYRE_OK && is_out(diag)) {
        rule_out(comparison, contender, diag);
        return VYRE_OK;
    }
    if (status == VYRE_OK)
        let_idle(contender);
    return status;
}

static uint64_t saturating_mul(uint64_t a, uint64_t b)
{
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

/*
 * Runs plain until it is warm, and derives from its time how much to run. The other modes then warm up
 * with the same number of batches.
 */
static enum vyre_status plan(struct comparison *comparison, struct vyre_diag *diag)
{
    struct contender *plain = &comparison->contenders[0];
    uint64_t pass = schedule_pass_length(comparison->workload);
    bool given = comparison->options.repeat != 0;
    uint64_t rounds = comparison->options.rounds ? comparison->options.rounds : COMPARE_ROUNDS;
    comparison->repeat = given ? comparison->options.repeat : 1;
    uint64_t limit = given ? saturating_mul(pass, comparison->repeat) / 4 : pass;
    enum vyre_status status = VYRE_OK;
    for (uint64_t chunk = 1; status == VYRE_OK && !cli_interrupted(); chunk *= 2) {
        uint64_t left = limit - comparison->warm_up;
        if (left == 0 || plain->round_ns >= WARM_UP_NS)
            break;
        chunk = chunk < left ? chunk : left;
        status = run_one(comparison, plain, chunk, diag);
        comparison->warm_up += chunk;
    }
    if (!given && plain->round_ns > 0) {
        double pass_ns = (double)plain->round_ns * (double)pass / (double)comparison->warm_up;
        double more = (double)(rounds * ROUND_NS) / pass_ns + (comparison->warm_up == pass);
        comparison->repeat += more < CLI_REPEAT_MAX ? (uint64_t)more : CLI_REPEAT_MAX - 1;
    }
    comparison->planned = saturating_mul(pass, comparison->repeat);
    for (size_t i = 0; i < COMPARE_MODES; i++) {
        if (comparison->contenders[i].session)
            runner_announce(&comparison->contenders[i].runner, comparison->repeat);
    }
    uint64_t rest = comparison->planned - comparison->warm_up;
    comparison->rounds = rest < rounds ? rest : rounds;
    cli_progress_set_total(&comparison->progress,
                           saturating_mul(comparison->planned, COMPARE_MODES));
    for (size_t i = 1; status == VYRE_OK && i < COMPARE_MODES; i++)
        status = run_one(comparison, &comparison->contenders[i], comparison->warm_up, diag);
    for (size_t i = 0; i < COMPARE_MODES; i++)
        comparison->contenders[i].warm_up_ns = comparison->contenders[i].round_ns;
    return status;
}

/*
 * The order of a round's turns, added to its number. In any four rounds in a row each mode has each place
 * once, and within rounds follows each other mode once.
 */
static const size_t turns[COMPARE_MODES] = {0, 1, 3, 2};

/* A round counts only if all modes complete it. */
static enum vyre_status run_round(struct comparison *comparison, uint64_t round,
                                  struct vyre_diag *diag)
{
    uint64_t rest = comparison->planned - comparison->warm_up;
    uint64_t each = rest / comparison->rounds;
    uint64_t count = round + 1 < comparison->rounds ? each : rest - each * round;
    enum vyre_status status = VYRE_OK;
    for (size_t i = 0; status == VYRE_OK && i < COMPARE_MODES; i++) {
        struct contender *contender = &comparison->contenders[(turns[i] + round) % COMPARE_MODES];
        contender->round_ns = 0;
        status = run_one(comparison, contender, count, diag);
    }
    if (status != VYRE_OK || cli_interrupted())
        return status;
    for (size_t i = 0; i < COMPARE_MODES; i++) {
        struct contender *contender = &comparison->contenders[i];
        samples_add(&contender->rounds, contender->round_ns);
        contender->total_ns += contender->round_ns;
    }
    comparison->rounds_done++;
    comparison->timed_batches += count;
    return VYRE_OK;
}

static enum vyre_status read_digests(struct comparison *comparison, struct vyre_diag *diag)
{
    size_t count = comparison->workload->output_count;
    const struct contender *first = &comparison->contenders[0];
    enum vyre_status status = VYRE_OK;
    for (size_t i = 0; i < COMPARE_MODES; i++) {
        struct contender *contender = &comparison->contenders[i];
        if (!contender_is_there(contender))
            continue;
        contender->digests = calloc(count + 1, sizeof *contender->digests);
        if (!contender->digests)
            return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0,
                                 "no memory for the digests");
        for (size_t j = 0; status == VYRE_OK && j < count; j++)
            status = session_digest(contender->session, j, contender->digests[j], diag);
        contender->agrees =
            memcmp(contender->digests, first->digests, count * sizeof *first->digests) == 0;
    }
    comparison->has_digests = status == VYRE_OK;
    return status;
}

static enum vyre_status run_all(struct comparison *comparison, struct vyre_diag *diag)
{
    cli_progress_begin(&comparison->progress, comparison->options.quiet, 0);
    enum vyre_status status = plan(comparison, diag);
    for (uint64_t round = 0; status == VYRE_OK && round < comparison->rounds && !cli_interrupted();
         round++)
        status = run_round(comparison, round, diag);
    cli_progress_clear(&comparison->progress);
    comparison->interrupted = cli_interrupted();
    /* Modes that were interrupted at different places rightly have different bytes. */
    if (status == VYRE_OK && !comparison->interrupted)
        status = read_digests(comparison, diag);
    return status;
}

/* ---- the command ------------------------------------------------------------------------------
 */

bool compare_agrees(const struct comparison *comparison)
{
    bool agrees = comparison->has_digests;
    for (size_t i = 0; i < COMPARE_MODES; i++) {
        const struct contender *contender = &comparison->contenders[i];
        agrees = agrees && (!contender_is_there(contender) || contender->agrees);
    }
    return agrees;
}

static bool is_busy(const struct comparison *comparison)
{
    bool busy = false;
    for (size_t i = 0; i < COMPARE_MODES; i++)
        busy = busy || comparison->contenders[i].runner.busy;
    return busy;
}

/* Uses any device that is still open: modes that were ruled out have none. */
static void keep_refusals(struct comparison *comparison)
{
    for (size_t i = 0; i < COMPARE_MODES; i++) {
        const struct session *session = comparison->contenders[i].session;
        if (!session)
            continue;
        cli_knowledge_keep_refusals(&comparison->knowledge, &comparison->proofs.found,
                                    session->device);
        return;
    }
}

static enum cli_exit conclude(struct comparison *comparison, struct cli_output *out)
{
    const struct session *session = comparison->contenders[COMPARE_MODES - 1].session;
    if (session)
        cli_decisions_end(&comparison->decisions, session->device);
    if (comparison->options.json)
        compare_print_json(comparison, out);
    else if (!comparison->options.quiet || comparison->interrupted)
        compare_print_text(comparison, cli_colour_wanted(STDOUT_FILENO), out);
    else
        cli_proofs_warn(&comparison->proofs);
    if (is_busy(comparison))
        cli_interrupt_leave(out);
    cli_output_flush(out);
    if (session)
        cli_knowledge_keep(&comparison->knowledge, session->device);
    keep_refusals(comparison);
    if (comparison->interrupted)
        return CLI_EXIT_INTERRUPTED;
    if (compare_agrees(comparison))
        return CLI_EXIT_DONE;
    struct vyre_diag diag;
    (void)cli_diag_set(&diag, CLI_DIAG_DIGESTS, comparison->workload->name, 0,
                       "the outputs differ between the modes");
    cli_message_print(&diag, NULL);
    return CLI_EXIT_FAILED;
}

static enum cli_exit execute(struct comparison *comparison, struct cli_output *out)
{
    struct vyre_diag diag;
    vyre_diag_reset(&diag);
    if (set_up(comparison, &diag) != VYRE_OK) {
        cli_message_print_file(&diag, comparison->options.file);
        return cli_exit_of_setup(&diag);
    }
    enum vyre_status status = run_all(comparison, &diag);
    for (size_t i = 0; i < COMPARE_MODES; i++)
        collect_proofs(comparison, &comparison->contenders[i]);
    if (status != VYRE_OK) {
        cli_message_print_file(&diag, comparison->options.file);
        keep_refusals(comparison);
        return cli_exit_of_work(&diag);
    }
    return conclude(comparison, out);
}

enum cli_exit cli_compare_run(char **arguments, size_t count, struct cli_output *out)
{
    struct vyre_diag diag;
    vyre_diag_reset(&diag);
    struct comparison *comparison = calloc(1, sizeof *comparison);
    if (!comparison) {
        (void)vyre_diag_set(&diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0, "no memory to compare");
        cli_message_print(&diag, NULL);
        return CLI_EXIT_FAILED;
    }
    enum cli_exit result = CLI_EXIT_DONE;
    if (cli_options_read("compare", COMPARE_TAKES, arguments, count, &comparison->options, &diag) !=
        VYRE_OK) {
        cli_message_print(&diag, NULL);
        result = CLI_EXIT_BAD_INPUT;
    } else if (comparison->options.help) {
        cli_compare_help(out);
    } else {
        result = execute(comparison, out);
    }
    release(comparison);
    free(comparison);
    return result;
}

void cli_compare_help(struct cli_output *out)
{
    cli_output_text(
        out,
        "Usage: vyre compare FILE [--backend B] [--device D] [--repeat N] [--rounds N]\n"
        "                    [--workers N] [--calibrate] [--store PATH] [--no-store]\n"
        "                    [--no-proof] [--json] [--quiet]\n"
        "\n"
        "Runs the workload FILE in auto and in every mode that the device has. The modes take\n"
        "turns in one process. Prints the time of each mode, what auto lost against the best\n"
        "one, and whether all modes gave the same bytes. If they did not, the exit code is 1.\n"
        "\n"
        "      --backend B     cpu, vulkan or opencl; by default the first that has a device\n"
        "      --device D      its number, a part of its name, its UUID or its kind (cpu,\n"
        "                      integrated, discrete, software); see `vyre devices`\n"
        "      --repeat N      run the schedule N times; by default as often as each mode needs\n"
        "                      to run for about half a second\n"
        "      --rounds N      how often the modes take turns; 9 by default. More rounds tell\n"
        "                      modes apart that differ less\n"
        "      --workers N     threads of the cpu backend in addition to the caller's\n"
        "      --calibrate     measure the device's costs first, even if the store has them\n"
        "      --store PATH    the file with costs and learnings; see `vyre store`\n"
        "      --no-store      use no store: load nothing, keep nothing\n"
        "      --no-proof      use generated code without proving it on the data first\n"
        "      --json          print one JSON document\n"
        "      --quiet         print no table and no progress, only set the exit code\n"
        "  -h, --help          print this help\n"
        "\n"
        "Examples:\n"
        "  vyre compare examples/workloads/decode.json\n"
        "  vyre compare work.json --json | jq '.modes[] | {mode, ratio}'\n");
}
