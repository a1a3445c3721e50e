/*
 * campaign.c: workers for many programs.
 */
#include "kernels/campaign.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/generate.h"
#include "kernels/report.h"
#include "kernels/shrink.h"
#include "kernels/tally.h"
#include "support/random.h"

struct run {
    const struct campaign *campaign;
    struct tally tally;
    uint64_t *seeds;
    uint64_t next[JOBS_MAX]; /* the index that each job goes on with */
    struct worker workers[JOBS_MAX];
    bool stopped; /* a failure ended the campaign */
    bool no_device;
};

/* ---- One failure ------------------------------------------------------------------------------ */

static void shrink_and_report(const struct campaign *campaign, const struct outcome *outcome)
{
    struct program *program = malloc(sizeof *program);
    struct shrink_result result = {0};
    if (!program)
        abort();
    program_generate(program, outcome->seed);
    report_failure(campaign, outcome);
    if (campaign->shrink_seconds > 0) {
        program_shrink(program, campaign, outcome, campaign->shrink_seconds, &result);
        struct tree_uses *uses = malloc(sizeof *uses);
        if (!uses)
            abort();
        tree_find_uses(&program->tree, uses);
        printf("shrunk to %" PRIu32 " kernels, %" PRIu32 " dispatches, %" PRIu32
               " statements in %" PRIu32 " runs (%" PRIu32
               " candidates were no programs): %s, %s\n",
               program_kernel_count(program), program_dispatch_count(program), uses->statements,
               result.runs, result.rejected, verdict_name(result.outcome.verdict),
               result.outcome.text);
        free(uses);
    }
    report_program(program);
    free(program);
}

/* ---- Many ------------------------------------------------------------------------------------- */

static void take_outcome(struct run *run, uint32_t job, const struct outcome *outcome)
{
    const struct campaign *campaign = run->campaign;
    if (outcome->verdict == VERDICT_DONE)
        return;
    if (outcome->verdict == VERDICT_NO_DEVICE) {
        fprintf(stderr, "%s\n", outcome->text);
        run->no_device = true;
        return;
    }
    if (outcome->verdict == VERDICT_STARTED) {
        run->next[job] = outcome->index + campaign->jobs;
        if (campaign->verbose)
            fprintf(stderr, "program %" PRIu64 ", 0x%" PRIx64 ", mode %s\n", outcome->index,
                    outcome->seed, vyre_mode_name(outcome->mode));
        return;
    }
    tally_add(&run->tally, outcome);
    if (outcome->verdict == VERDICT_INVALID) {
        run->next[job] = outcome->index + campaign->jobs;
        printf("invalid: program 0x%" PRIx64 ": %s\n", outcome->seed, outcome->text);
    }
    if (!outcome_is_failure(outcome))
        return;
    if (run->tally.failures + run->tally.driver_faults <= campaign->failures_shown)
        shrink_and_report(campaign, outcome);
    else
        report_failure(campaign, outcome);
    run->stopped |= !campaign->keep_going && !outcome_is_driver_fault(outcome);
    run->stopped |= outcome->seed == 0; /* it did not come to a program */
}

static bool start_job(struct run *run, uint32_t job)
{
    if (run->next[job] >= run->campaign->programs || run->stopped || run->no_device)
        return false;
    const struct job work = {.target = &run->campaign->target,
                             .seeds = run->seeds,
                             .first = run->next[job],
                             .step = run->campaign->jobs,
                             .end = run->campaign->programs};
    worker_start(&run->workers[job], &work);
    return true;
}

/* The jobs take turns: each is heard until it has nothing to say at once. */
static void run_jobs(struct run *run)
{
    uint32_t alive = 0;
    for (uint32_t job = 0; job < run->campaign->jobs; job++) {
        run->next[job] = job;
        alive += start_job(run, job);
    }
    for (uint32_t job = 0; alive > 0; job = (job + 1) % run->campaign->jobs) {
        struct worker *worker = &run->workers[job];
        struct outcome outcome;
        if (worker->pid == 0)
            continue;
        bool lives = worker_next(worker, run->campaign->hang_seconds, &outcome);
        take_outcome(run, job, &outcome);
        if (run->stopped || run->no_device)
            break;
        if (!lives)
            alive -= !start_job(run, job);
    }
    for (uint32_t job = 0; job < run->campaign->jobs; job++)
        worker_stop(&run->workers[job]);
}

static int exit_code(const struct run *run)
{
    const struct tally *tally = &run->tally;
    if (run->no_device)
        return 77;
    if (tally_is_hollow(tally, run->campaign->complete)) {
        printf("error: persistent mode ran less than half of the programs\n");
        return 1;
    }
    if (tally->programs == 0 && tally->driver_faults == 0 && tally->failures == 0) {
        printf("error: nothing ran\n");
        return 1;
    }
    return tally->failures != 0 || tally->invalid != 0 ||
           (run->campaign->strict && tally->driver_faults != 0);
}

int campaign_run(const struct campaign *campaign)
{
    struct run *run = calloc(1, sizeof *run);
    struct rng rng = rng_seeded(campaign->seed);
    if (!run)
        abort();
    run->campaign = campaign;
    run->seeds = malloc(campaign->programs * sizeof *run->seeds);
    if (!run->seeds)
        abort();
    for (uint64_t i = 0; i < campaign->programs; i++)
        run->seeds[i] = rng_next(&rng);
    run_jobs(run);
    tally_print(&run->tally, stdout);
    int code = exit_code(run);
    free(run->seeds);
    free(run);
    return code;
}

int campaign_run_one(const struct campaign *campaign, uint64_t seed)
{
    struct worker worker = {0};
    struct tally tally = {0};
    struct outcome outcome;
    struct outcome failed = {0};
    const struct job work = {
        .target = &campaign->target, .seeds = &seed, .first = 0, .step = 1, .end = 1};
    worker_start(&worker, &work);
    bool lives = true;
    while (lives) {
        lives = worker_next(&worker, campaign->hang_seconds, &outcome);
        tally_add(&tally, &outcome);
        if (outcome.verdict == VERDICT_NO_DEVICE) {
            fprintf(stderr, "%s\n", outcome.text);
            worker_stop(&worker);
            return 77;
        }
        if (outcome_is_failure(&outcome))
            failed = outcome;
        else if (outcome.verdict != VERDICT_STARTED && outcome.verdict != VERDICT_DONE)
            printf("program 0x%" PRIx64 ", mode %s: %s %s\n", seed, vyre_mode_name(outcome.mode),
                   verdict_name(outcome.verdict), outcome.text);
    }
    worker_stop(&worker);
    if (failed.verdict == VERDICT_NONE)
        return tally.invalid != 0;
    shrink_and_report(campaign, &failed);
    return outcome_is_driver_fault(&failed) && !campaign->strict ? 0 : 1;
}
