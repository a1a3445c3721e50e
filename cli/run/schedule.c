/*
 * schedule.c: which batch of a workload comes next.
 */
#include "run/schedule.h"

#include <stdlib.h>
#include <string.h>

static uint64_t saturating_mul(uint64_t a, uint64_t b)
{
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static uint64_t step_length(const struct workload_step *step)
{
    if (step->batch_count == 0)
        return 0;
    return step->shuffle ? step->times : saturating_mul(step->times, step->batch_count);
}

uint64_t schedule_pass_length(const struct workload *workload)
{
    uint64_t length = 0;
    for (size_t i = 0; i < workload->step_count; i++) {
        uint64_t step = step_length(&workload->steps[i]);
        length = step > UINT64_MAX - length ? UINT64_MAX : length + step;
    }
    return length;
}

/* ---- random order -----------------------------------------------------------------------------
 */

static void shuffle(struct schedule *schedule, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        /* The high half of the product: a number below i. */
        size_t j = (size_t)vyre_u128_mul_u64(cli_random_next(&schedule->random), i).hi;
        uint32_t batch = schedule->order[i - 1];
        schedule->order[i - 1] = schedule->order[j];
        schedule->order[j] = batch;
    }
}

/* ---- walking ----------------------------------------------------------------------------------
 */

enum vyre_status schedule_init(struct schedule *schedule, const struct workload *workload,
                               uint64_t repeat, struct vyre_diag *diag)
{
    *schedule = (struct schedule){.workload = workload, .repeat = repeat};
    size_t longest = 1;
    for (size_t i = 0; i < workload->step_count; i++) {
        if (workload->steps[i].batch_count > longest)
            longest = workload->steps[i].batch_count;
    }
    schedule->order = calloc(longest, sizeof *schedule->order);
    if (!schedule->order)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, workload->name, 0,
                             "no memory for a schedule");
    return VYRE_OK;
}

void schedule_deinit(struct schedule *schedule)
{
    free(schedule->order);
    schedule->order = NULL;
}

static uint32_t pick(struct schedule *schedule, const struct workload_step *step)
{
    size_t position = (size_t)(schedule->done % step->batch_count);
    if (!step->shuffle)
        return step->batches[position];
    if (schedule->done == 0) {
        schedule->random = cli_random_seed(step->seed);
        memcpy(schedule->order, step->batches, step->batch_count * sizeof *schedule->order);
    }
    if (position == 0)
        shuffle(schedule, step->batch_count);
    return schedule->order[position];
}

bool schedule_next(struct schedule *schedule, uint32_t *out_batch)
{
    const struct workload *workload = schedule->workload;
    /* A whole pass without a submission ends the schedule: none will come. */
    size_t empty = 0;
    while (schedule->pass < schedule->repeat && empty <= workload->step_count) {
        if (schedule->step == workload->step_count) {
            schedule->step = 0;
            schedule->pass++;
            continue;
        }
        const struct workload_step *step = &workload->steps[schedule->step];
        if (schedule->done < step_length(step)) {
            *out_batch = pick(schedule, step);
            schedule->done++;
            return true;
        }
        schedule->step++;
        schedule->done = 0;
        empty++;
    }
    return false;
}

/* How often one pass through a step submits a batch. */
static uint64_t step_repeats(const struct workload_step *step, uint32_t batch)
{
    uint64_t places = 0;
    for (size_t i = 0; i < step->batch_count; i++)
        places += step->batches[i] == batch;
    if (places == 0)
        return 0;
    /* In a shuffled step `times` counts the submissions of the whole list, shared by its places. */
    uint64_t rounds = step->shuffle ? step->times / step->batch_count : step->times;
    return rounds > UINT32_MAX / places ? UINT32_MAX : rounds * places;
}

uint32_t schedule_repeats(const struct workload *workload, uint64_t repeat, uint32_t batch)
{
    uint64_t total = 0;
    for (size_t i = 0; i < workload->step_count && total < UINT32_MAX; i++)
        total += step_repeats(&workload->steps[i], batch);
    if (total != 0 && repeat > UINT32_MAX / total)
        return UINT32_MAX;
    return (uint32_t)(total * repeat);
}
