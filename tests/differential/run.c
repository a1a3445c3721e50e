#include "differential/run.h"

#include <stdlib.h>
#include <string.h>

struct session {
    struct driver driver;
    struct model model;
    struct tally *tally; /* may be NULL */
};

static void count_batch(struct tally *tally, const struct model_object *object)
{
    if (!tally)
        return;
    tally->batches++;
    for (uint32_t i = 0; i < object->command_count; i++) {
        const struct command *command = &object->commands[i];
        if (command->dropped)
            continue;
        tally->commands[command->kind]++;
        if (command->kind != COMMAND_DISPATCH)
            continue;
        tally->dispatches[command->kernel]++;
        tally->groups += command_group_count(command);
    }
}

static bool run_submit(struct session *session, const struct step *step)
{
    enum model_submit expected = model_expect(&session->model, step->object);
    if (expected == MODEL_SKIP)
        return true;
    if (!driver_submit(&session->driver, step, expected))
        return false;
    if (expected == MODEL_RUN) {
        model_run(&session->model, step->object);
        count_batch(session->tally, &session->model.objects[step->object]);
    } else if (session->tally) {
        session->tally->stale++;
    }
    return true;
}

static bool run_step(struct session *session, const struct step *step)
{
    struct driver *driver = &session->driver;
    struct model *model = &session->model;
    struct model_object *object = &model->objects[step->object];
    switch (step->kind) {
    case STEP_BUILD:
        model_build(model, step);
        return driver_build(driver, step, object);
    case STEP_SET_CONSTANTS:
        return !model_set_constants(model, step) || driver_set_constants(driver, step, object);
    case STEP_REFILL:
        if (!object->built)
            return true;
        object->refill = step->seed;
        return driver_refill(driver, step, object);
    case STEP_SUBMIT:
        return run_submit(session, step);
    case STEP_WAIT:
        return driver_wait(driver, step->wait);
    case STEP_CHECK:
        if (session->tally)
            session->tally->checks++;
        return driver_wait(driver, step->wait) && driver_compare(driver, model);
    case STEP_NEW_BUFFER:
        model_new_buffer(model, step->index);
        return driver_new_buffer(driver, step->index);
    case STEP_NEW_KERNEL:
        model_new_kernel(model, step->index);
        return driver_new_kernel(driver, step->index);
    case STEP_NEW_OBJECT:
        model_new_object(model, step->object);
        return driver_new_object(driver, step->object);
    }
    return false;
}

static void count_program(struct tally *tally, const struct vyre_device_counters *counters)
{
    if (!tally)
        return;
    tally->programs++;
    for (uint32_t i = 0; i < VYRE_MODE_COUNT; i++)
        tally->by_mode[i] += counters->by_mode[i];
    tally->recordings_made += counters->recordings_made;
    tally->recordings_reused += counters->recordings_reused;
    tally->recordings_evicted += counters->recordings_evicted;
}

void program_run(const struct program *program, const struct config *config, struct tally *tally,
                 struct outcome *out_outcome)
{
    struct session *session = calloc(1, sizeof *session);
    if (!session)
        abort();
    *out_outcome = (struct outcome){0};
    session->tally = tally;
    model_init(&session->model, program);
    bool good = driver_init(&session->driver, program, config);
    uint32_t step = 0;
    for (; good && step < program->step_count; step++)
        good = run_step(session, &program->steps[step]);
    out_outcome->step = good ? step : step - (step != 0);
    good = driver_deinit(&session->driver) && good;
    if (!good) {
        out_outcome->failed = true;
        memcpy(out_outcome->text, session->driver.failure, sizeof out_outcome->text);
    }
    count_program(tally, &session->driver.counters);
    model_deinit(&session->model);
    free(session);
}
