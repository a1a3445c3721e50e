/*
 * shrink.c: from a program that fails to a small one that still does.
 *
 * Greedy: change something, run it, keep the change if it still fails; until a whole round changes
 * nothing or the time is up. Steps and commands go in runs of half, a quarter ... one of them. A
 * failure that depends on timing does not show in every run: how often the whole program fails says
 * how often a smaller one is tried before it counts as good.
 */
#include <stdlib.h>
#include <string.h>

#include "differential/run.h"
#include "support/deadline.h"

struct shrinker {
    struct program *best;      /* fails */
    struct program *candidate; /* what is tried next */
    const struct config *config;
    struct shrink_result *result;
    uint32_t tries; /* runs of a candidate before it counts as good */
    struct deadline end;
};

static bool time_is_up(const struct shrinker *shrinker)
{
    return deadline_is_past(shrinker->end);
}

static bool fails(struct shrinker *shrinker)
{
    for (uint32_t i = 0; i < shrinker->tries && !time_is_up(shrinker); i++) {
        struct outcome outcome;
        shrinker->result->runs++;
        program_run(shrinker->candidate, shrinker->config, NULL, &outcome);
        if (outcome.failed) {
            shrinker->result->outcome = outcome;
            return true;
        }
    }
    return false;
}

static struct program *propose(struct shrinker *shrinker)
{
    memcpy(shrinker->candidate, shrinker->best, sizeof *shrinker->best);
    return shrinker->candidate;
}

/* Keeps the candidate if it fails. */
static bool keep_if_failing(struct shrinker *shrinker)
{
    if (!fails(shrinker))
        return false;
    memcpy(shrinker->best, shrinker->candidate, sizeof *shrinker->best);
    return true;
}

/* ---- Dropping --------------------------------------------------------------------------------- */

static bool drop_steps(struct shrinker *shrinker)
{
    bool changed = false;
    for (uint32_t run = (shrinker->best->step_count + 1) / 2; run > 0; run /= 2) {
        for (uint32_t first = 0; first < shrinker->best->step_count;) {
            struct program *next = propose(shrinker);
            uint32_t count = next->step_count - first < run ? next->step_count - first : run;
            memmove(next->steps + first, next->steps + first + count,
                    (next->step_count - first - count) * sizeof next->steps[0]);
            next->step_count -= count;
            if (keep_if_failing(shrinker))
                changed = true;
            else
                first += run;
        }
    }
    return changed;
}

/* The numbers of the commands that are left, in builds that are left. */
static uint32_t live_commands(const struct program *program,
                              uint32_t out_indices[PROGRAM_COMMANDS_MAX])
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < program->step_count; s++) {
        const struct step *step = &program->steps[s];
        for (uint32_t i = 0; step->kind == STEP_BUILD && i < step->command_count; i++)
            if (!program->commands[step->first_command + i].dropped)
                out_indices[count++] = step->first_command + i;
    }
    return count;
}

static bool drop_commands(struct shrinker *shrinker)
{
    uint32_t live[PROGRAM_COMMANDS_MAX];
    bool changed = false;
    for (uint32_t run = (live_commands(shrinker->best, live) + 1) / 2; run > 0; run /= 2) {
        for (uint32_t first = 0; first < live_commands(shrinker->best, live);) {
            struct program *next = propose(shrinker);
            uint32_t count = live_commands(next, live);
            for (uint32_t i = first; i < first + run && i < count; i++)
                next->commands[live[i]].dropped = true;
            if (keep_if_failing(shrinker))
                changed = true;
            else
                first += run;
        }
    }
    return changed;
}

/* ---- Making smaller --------------------------------------------------------------------------- */

/* Areas no larger than the groups need, and the constants that follow. */
static void fit_dispatch(const struct program *program, struct command *command)
{
    const struct test_kernel *kernel = &test_kernels[command->kernel];
    for (uint32_t i = 0; i < kernel->binding_count; i++) {
        const struct kernel_binding *binding = &kernel->bindings[i];
        if (kernel_binding_is_local(binding) || binding->desc.table)
            continue;
        uint32_t needed = command_needed_bytes(command, i);
        if (needed < command->areas[i].size_bytes)
            command->areas[i].size_bytes = needed;
    }
    command_derive_constants(program, command);
}

/* False: there is nothing to halve. */
static bool halve_command(const struct program *program, struct command *command, bool to_least)
{
    if (command->kind != COMMAND_DISPATCH) {
        uint32_t size = command->areas[0].size_bytes;
        uint32_t next = to_least || size < 8 ? 4 : size / 8 * 4;
        if (size <= 4)
            return false;
        command->areas[0].size_bytes = next;
        command->areas[1].size_bytes = next;
        return true;
    }
    if (command_group_count(command) <= 1)
        return false;
    for (uint32_t i = 0; i < 3; i++)
        command->groups[i] = to_least ? 1 : (command->groups[i] + 1) / 2;
    fit_dispatch(program, command);
    return true;
}

static bool shrink_sizes(struct shrinker *shrinker)
{
    uint32_t live[PROGRAM_COMMANDS_MAX];
    uint32_t count = live_commands(shrinker->best, live);
    bool changed = false;
    for (uint32_t i = 0; i < count; i++) {
        struct program *next = propose(shrinker);
        if (!halve_command(next, &next->commands[live[i]], true))
            continue;
        if (keep_if_failing(shrinker)) {
            changed = true;
            continue;
        }
        for (;;) {
            next = propose(shrinker);
            if (!halve_command(next, &next->commands[live[i]], false) || !keep_if_failing(shrinker))
                break;
            changed = true;
        }
    }
    return changed;
}

/* Plain defaults for whatever else was chosen at random. */
static bool shrink_options(struct shrinker *shrinker)
{
    bool changed = false;
    struct program *next = propose(shrinker);
    if (next->in_flight_limit != 0 || next->recording_limit != 0 || next->persistent_idle_ns != 0 ||
        next->persistent_lease_ns != 0) {
        next->in_flight_limit = 0;
        next->busy_when_full = false;
        next->recording_limit = 0;
        next->persistent_idle_ns = 0;
        next->persistent_lease_ns = 0;
        changed |= keep_if_failing(shrinker);
    }
    for (uint32_t i = 0; i < shrinker->best->step_count; i++) {
        next = propose(shrinker);
        struct step *step = &next->steps[i];
        if (step->wait == WAIT_IDLE && !step->called_back)
            continue;
        step->wait = WAIT_IDLE;
        step->called_back = false;
        changed |= keep_if_failing(shrinker);
    }
    return changed;
}

/* ---- The whole -------------------------------------------------------------------------------- */

void program_shrink(struct program *program, const struct config *config, uint32_t seconds,
                    struct shrink_result *out_result)
{
    struct shrinker shrinker = {.best = program,
                                .candidate = malloc(sizeof *program),
                                .config = config,
                                .result = out_result,
                                .tries = 1,
                                .end = deadline_in(seconds)};
    if (!shrinker.candidate)
        abort();
    struct outcome first = out_result->outcome;
    *out_result = (struct shrink_result){.outcome = first};
    propose(&shrinker);
    for (uint32_t i = 0; i < 10; i++)
        out_result->failures_of_ten += fails(&shrinker);
    if (out_result->failures_of_ten < 10)
        shrinker.tries = out_result->failures_of_ten < 3 ? 40 : 10;
    bool changed = true;
    while (changed && !time_is_up(&shrinker)) {
        changed = drop_steps(&shrinker);
        changed |= drop_commands(&shrinker);
        changed |= shrink_sizes(&shrinker);
        changed |= shrink_options(&shrinker);
    }
    free(shrinker.candidate);
}
