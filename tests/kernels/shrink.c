/*
 * shrink.c: a greedy search: change something, run it, keep the change if it still fails; until a
 * whole round changes nothing or the time is up.
 *
 * What can be dropped is dropped in runs of half, a quarter ... one of them. The oracle throws out
 * what is no program before a child process is spent on it.
 */
#include "kernels/shrink.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/edit.h"
#include "kernels/oracle.h"
#include "kernels/tally.h"
#include "support/deadline.h"

struct shrinker {
    struct program *best;      /* fails */
    struct program *candidate; /* what is tried next */
    const struct campaign *campaign;
    enum vyre_mode mode;
    struct target target, plain_target; /* with one mode each */
    struct worker worker, plain_worker;
    struct shrink_result *result;
    struct node_list *list;
    struct deadline end;
};

static bool time_is_up(const struct shrinker *shrinker)
{
    return deadline_is_past(shrinker->end);
}

/* ---- Trying ----------------------------------------------------------------------------------- */

/* Runs the candidate in one mode only; true: it fails there. */
static bool fails_in(struct shrinker *shrinker, enum vyre_mode mode, struct outcome *out_failed)
{
    bool plain = mode == VYRE_MODE_PLAIN;
    struct target *target = plain ? &shrinker->plain_target : &shrinker->target;
    struct worker *worker = plain ? &shrinker->plain_worker : &shrinker->worker;
    shrinker->result->runs++;
    return worker_serve(worker, target, shrinker->candidate, shrinker->campaign->hang_seconds,
                        out_failed);
}

/* As a whole: the mode fails, and plain does not. */
static bool fails(struct shrinker *shrinker)
{
    struct outcome failed;
    struct outcome plain;
    if (!fails_in(shrinker, shrinker->mode, &failed))
        return false;
    failed.mode = shrinker->mode; /* a build that fails comes before any mode */
    if (shrinker->mode != VYRE_MODE_PLAIN && fails_in(shrinker, VYRE_MODE_PLAIN, &plain))
        return false;
    shrinker->result->outcome = failed;
    return true;
}

static bool is_program(struct shrinker *shrinker)
{
    char reason[ORACLE_REASON_BYTES];
    unsigned char *bytes = malloc(program_bytes(shrinker->candidate));
    if (!bytes)
        abort();
    bool right = oracle_run(shrinker->candidate, bytes, reason);
    free(bytes);
    return right;
}

static struct program *propose(struct shrinker *shrinker)
{
    memcpy(shrinker->candidate, shrinker->best, sizeof *shrinker->best);
    return shrinker->candidate;
}

/* Keeps the candidate if it fails. */
static bool keep_if_failing(struct shrinker *shrinker)
{
    edit_clean(shrinker->candidate);
    if (time_is_up(shrinker))
        return false;
    if (program_dispatch_count(shrinker->candidate) == 0 || !is_program(shrinker)) {
        shrinker->result->rejected++;
        return false;
    }
    if (!fails(shrinker))
        return false;
    memcpy(shrinker->best, shrinker->candidate, sizeof *shrinker->best);
    return true;
}

/* ---- Dispatches and kernels ------------------------------------------------------------------- */

static struct dispatch *dispatch_at(struct program *program, uint32_t index)
{
    for (uint32_t b = 0; b < program->batch_count; b++) {
        if (index < program->batches[b].dispatch_count)
            return &program->batches[b].dispatches[index];
        index -= program->batches[b].dispatch_count;
    }
    return NULL;
}

static bool drop_dispatches(struct shrinker *shrinker)
{
    bool changed = false;
    for (uint32_t run = (program_dispatch_count(shrinker->best) + 1) / 2; run > 0; run /= 2) {
        for (uint32_t first = 0; first < program_dispatch_count(shrinker->best);) {
            struct program *next = propose(shrinker);
            uint32_t count = program_dispatch_count(next);
            for (uint32_t i = first; i < first + run && i < count; i++)
                dispatch_at(next, i)->dropped = true;
            if (keep_if_failing(shrinker))
                changed = true;
            else
                first += run;
        }
    }
    return changed;
}

static bool drop_kernels(struct shrinker *shrinker)
{
    bool changed = false;
    for (uint32_t f = 0; f < shrinker->best->tree.function_count; f++) {
        struct program *next = propose(shrinker);
        struct function *function = &next->tree.functions[f];
        if (!function->is_kernel || function->dropped)
            continue;
        function->dropped = true;
        for (uint32_t i = 0; i < program_dispatch_count(shrinker->best); i++)
            if (dispatch_at(next, i)->kernel == f)
                dispatch_at(next, i)->dropped = true;
        changed |= keep_if_failing(shrinker);
    }
    return changed;
}

/* Fewer submits and groups. */
static bool shrink_sizes(struct shrinker *shrinker)
{
    bool changed = false;
    for (uint32_t b = 0; b < shrinker->best->batch_count; b++) {
        struct program *next = propose(shrinker);
        if (next->batches[b].repeats == 1)
            continue;
        next->batches[b].repeats = 1;
        changed |= keep_if_failing(shrinker);
    }
    for (uint32_t i = 0; i < program_dispatch_count(shrinker->best); i++) {
        for (uint32_t d = 0; d < 3; d++) {
            struct program *next = propose(shrinker);
            struct dispatch *dispatch = dispatch_at(next, i);
            if (dispatch->groups[d] == 1)
                continue;
            dispatch->groups[d] = 1;
            changed |= keep_if_failing(shrinker);
        }
    }
    return changed;
}

/* ---- Code ------------------------------------------------------------------------------------- */

static bool drop_statements(struct shrinker *shrinker)
{
    bool changed = false;
    edit_list_statements(shrinker->best, shrinker->list);
    for (uint32_t run = (shrinker->list->count + 1) / 2; run > 0; run /= 2) {
        for (uint32_t first = 0; first < shrinker->list->count && !time_is_up(shrinker);) {
            struct program *next = propose(shrinker);
            uint32_t left = shrinker->list->count - first;
            edit_drop_statements(next, shrinker->list->numbers + first, left < run ? left : run);
            if (keep_if_failing(shrinker)) {
                changed = true;
                edit_list_statements(shrinker->best, shrinker->list);
            } else {
                first += run;
            }
        }
    }
    return changed;
}

static bool simplify_ways(struct shrinker *shrinker)
{
    bool changed = false;
    edit_list_ways(shrinker->best, shrinker->list);
    for (uint32_t i = 0; i < shrinker->list->count && !time_is_up(shrinker);) {
        uint32_t choice = 0;
        bool kept = false;
        while (!kept && edit_simplify_way(propose(shrinker), shrinker->list->numbers[i], choice++))
            kept = keep_if_failing(shrinker);
        changed |= kept;
        if (kept)
            edit_list_ways(shrinker->best, shrinker->list);
        else
            i++;
    }
    return changed;
}

/* All of a run at once become 0; then each by itself whatever it can become. */
static bool simplify_expressions(struct shrinker *shrinker)
{
    bool changed = false;
    edit_list_expressions(shrinker->best, shrinker->list);
    for (uint32_t run = (shrinker->list->count + 1) / 2; run > 1; run /= 2) {
        for (uint32_t first = 0; first < shrinker->list->count && !time_is_up(shrinker);) {
            struct program *next = propose(shrinker);
            for (uint32_t i = first; i < first + run && i < shrinker->list->count; i++)
                edit_simplify_expression(next, shrinker->list->numbers[i], 0);
            if (keep_if_failing(shrinker)) {
                changed = true;
                edit_list_expressions(shrinker->best, shrinker->list);
            } else {
                first += run;
            }
        }
    }
    for (uint32_t i = 0; i < shrinker->list->count && !time_is_up(shrinker);) {
        uint32_t choice = 0;
        bool kept = false;
        while (!kept &&
               edit_simplify_expression(propose(shrinker), shrinker->list->numbers[i], choice++))
            kept = keep_if_failing(shrinker);
        changed |= kept;
        if (kept)
            edit_list_expressions(shrinker->best, shrinker->list);
        else
            i++;
    }
    return changed;
}

static bool drop_parameters(struct shrinker *shrinker)
{
    return edit_drop_parameters(propose(shrinker)) && keep_if_failing(shrinker);
}

/* ---- The whole -------------------------------------------------------------------------------- */

void program_shrink(struct program *program, const struct campaign *campaign,
                    const struct outcome *outcome, uint32_t seconds,
                    struct shrink_result *out_result)
{
    struct shrinker shrinker = {.best = program,
                                .candidate = malloc(sizeof *program),
                                .campaign = campaign,
                                .mode = outcome->mode,
                                .result = out_result,
                                .list = malloc(sizeof *shrinker.list),
                                .end = deadline_in(seconds)};
    if (!shrinker.candidate || !shrinker.list)
        abort();
    *out_result = (struct shrink_result){.outcome = *outcome};
    shrinker.target = campaign->target;
    shrinker.target.modes = 1u << shrinker.mode;
    shrinker.plain_target = campaign->target;
    shrinker.plain_target.modes = 1u << VYRE_MODE_PLAIN;
    bool changed = true;
    while (changed && !time_is_up(&shrinker)) {
        changed = drop_dispatches(&shrinker);
        changed |= drop_kernels(&shrinker);
        changed |= drop_statements(&shrinker);
        changed |= simplify_ways(&shrinker);
        changed |= simplify_expressions(&shrinker);
        changed |= drop_parameters(&shrinker);
        changed |= shrink_sizes(&shrinker);
    }
    worker_stop(&shrinker.worker);
    worker_stop(&shrinker.plain_worker);
    free(shrinker.list);
    free(shrinker.candidate);
}
