/*
 * knowledge.c: what a run knows of its device at the start, and what it keeps for later runs.
 */
#include "run/knowledge.h"

#include <stdio.h>
#include <string.h>

#include "terminal/interrupt.h"
#include "terminal/message.h"

/* The time limit of a calibration before a run; `vyre probe` takes longer. */
#define QUICK_NS   UINT64_C(500000000)
#define LINE_BYTES 512

/* ---- calibration ------------------------------------------------------------------------------
 */

struct ticking {
    struct cli_progress *progress;
    uint64_t base;
};

static bool on_figure(void *user, uint32_t done, uint32_t count, enum vyre_cost_id cost,
                      const struct vyre_cost *result)
{
    const struct ticking *ticking = user;
    (void)count;
    (void)cost;
    (void)result;
    cli_progress_update(ticking->progress, ticking->base + done, cli_now_ns());
    return !cli_interrupted();
}

enum vyre_status cli_calibrate(struct vyre_device *device, uint64_t time_ns,
                               struct cli_progress *progress, uint64_t progress_base,
                               struct vyre_calibration *out_calibration, struct vyre_diag *diag)
{
    struct ticking ticking = {progress, progress_base};
    const struct vyre_calibration_options options = {
        .progress = on_figure, .user = &ticking, .time_ns = time_ns};
    return vyre_device_calibrate(device, &options, out_calibration, diag);
}

bool cli_calibration_keep(struct vyre_store *store, struct vyre_device *device,
                          struct vyre_diag *out_failure)
{
    struct vyre_store_info info;
    bool put = vyre_device_save(device, store, VYRE_KNOWS_CALIBRATION, out_failure) == VYRE_OK &&
               vyre_store_flush(store, out_failure) == VYRE_OK;
    vyre_store_get_info(store, &info);
    if (put || out_failure->id == info.reason.id)
        vyre_diag_reset(out_failure);
    return put && info.mode == VYRE_STORE_FILE && info.waiting_count == 0;
}

static void state_costs(struct cli_knowledge *knowledge, const char *reason)
{
    knowledge->source = CLI_COSTS_STATED;
    snprintf(knowledge->reason, sizeof knowledge->reason, "%s", reason);
}

static enum vyre_status measure_costs(struct cli_knowledge *knowledge, struct vyre_device *device,
                                      const struct cli_options *options, struct vyre_diag *diag)
{
    struct cli_progress progress;
    struct vyre_calibration measured;
    cli_progress_begin(&progress, options->quiet, VYRE_COST_COUNT);
    cli_progress_set_unit(&progress, "figures");
    /* With --calibrate it is as thorough as `vyre probe`. */
    enum vyre_status status =
        cli_calibrate(device, options->calibrate ? 0 : QUICK_NS, &progress, 0, &measured, diag);
    cli_progress_clear(&progress);
    if (status == VYRE_OK) {
        knowledge->source = CLI_COSTS_MEASURED;
        knowledge->calibration = measured;
        knowledge->due = false;
        struct vyre_diag failure;
        if (knowledge->keeps && !cli_calibration_keep(knowledge->store, device, &failure) &&
            failure.id != VYRE_DIAG_NONE)
            cli_message_print(&failure, NULL);
        return VYRE_OK;
    }
    bool stopped = diag->id == VYRE_DIAG_CALIBRATION_STOPPED;
    if (options->calibrate && !stopped)
        return status;
    /* Stored costs stay in use: noisy, but measured. */
    if (knowledge->source != CLI_COSTS_STORED)
        state_costs(knowledge, stopped ? "the calibration was interrupted" : diag->message);
    return VYRE_OK;
}

/* ---- the store --------------------------------------------------------------------------------
 */

/* What cannot be read counts as unknown; the store has printed a message about it. */
static void load(struct cli_knowledge *knowledge, struct vyre_store *store,
                 struct vyre_device *device, uint32_t parts)
{
    static const char *const reasons[] = {
        [VYRE_STORED_COSTS_NONE] = "none were measured",
        [VYRE_STORED_COSTS_OLD] = "those in the store are more than 7 days old",
        [VYRE_STORED_COSTS_WRONG] = "those in the store are not valid",
    };
    struct vyre_knowledge found = {.costs = VYRE_STORED_COSTS_NONE};
    if (store)
        (void)!vyre_device_load(device, store, parts, &found, NULL);
    knowledge->loaded = found.learning_count;
    knowledge->calibration = found.calibration;
    cli_refusals_add_all(&knowledge->refusals, device);
    knowledge->due = found.costs == VYRE_STORED_COSTS_DUE;
    if (found.costs == VYRE_STORED_COSTS_LOADED || knowledge->due)
        knowledge->source = CLI_COSTS_STORED;
    else if (parts & VYRE_KNOWS_CALIBRATION)
        state_costs(knowledge, reasons[found.costs]);
}

/* A required mode creates no store: it may have nothing to keep. */
static void peek_refusals(struct cli_knowledge *knowledge, struct vyre_device *device,
                          enum vyre_mode mode)
{
    struct vyre_store *store = NULL;
    struct vyre_diag diag;
    if (mode == VYRE_MODE_PLAIN || knowledge->place.none)
        return;
    if (cli_store_peek(&knowledge->place, &store, &diag) != VYRE_OK)
        cli_message_print(&diag, NULL);
    load(knowledge, store, device, VYRE_KNOWS_REFUSALS);
    vyre_store_close(&store);
}

void cli_knowledge_keep(struct cli_knowledge *knowledge, struct vyre_device *device)
{
    if (knowledge->keeps)
        (void)!vyre_device_save(device, knowledge->store, VYRE_KNOWS_LEARNINGS, NULL);
}

void cli_knowledge_keep_refusals(struct cli_knowledge *knowledge,
                                 const struct cli_refusals *refusals, struct vyre_device *device)
{
    struct vyre_diag diag;
    if (refusals->count == 0 || knowledge->place.none)
        return;
    if (!knowledge->store && cli_store_open(&knowledge->place, &knowledge->store, &diag) != VYRE_OK)
        cli_message_print(&diag, NULL);
    cli_refusals_give(refusals, device);
    if (knowledge->store)
        (void)!vyre_device_save(device, knowledge->store, VYRE_KNOWS_REFUSALS, NULL);
}

/* ---- all of it --------------------------------------------------------------------------------
 */

/* Without a store the run continues: that costs only time. */
static void open_store(struct cli_knowledge *knowledge, struct vyre_device *device,
                       uint32_t workers)
{
    struct vyre_device_info device_info;
    struct vyre_store_device described;
    struct vyre_hash128 signature;
    struct vyre_store_info info;
    struct vyre_diag diag;
    if (knowledge->place.none)
        return;
    if (cli_store_open(&knowledge->place, &knowledge->store, &diag) != VYRE_OK) {
        cli_message_print(&diag, NULL);
        return;
    }
    /* This marks the device as in use, and shows whether the file can be written. */
    vyre_device_get_info(device, &device_info);
    vyre_device_describe(&device_info, workers, &described);
    knowledge->keeps =
        vyre_store_put_device(knowledge->store, &described, &signature, &diag) == VYRE_OK;
    vyre_store_get_info(knowledge->store, &info);
    knowledge->keeps = knowledge->keeps && info.mode == VYRE_STORE_FILE;
}

enum vyre_status cli_knowledge_give(struct cli_knowledge *knowledge, struct vyre_device *device,
                                    const struct cli_options *options, uint64_t batches,
                                    struct vyre_diag *diag)
{
    memset(knowledge, 0, sizeof *knowledge);
    knowledge->place = options->store;
    if (options->mode != VYRE_MODE_AUTO && !options->calibrate) {
        peek_refusals(knowledge, device, options->mode);
        return VYRE_OK;
    }
    open_store(knowledge, device, options->workers);
    load(knowledge, knowledge->store, device,
         options->calibrate ? VYRE_KNOWS_LEARNINGS | VYRE_KNOWS_REFUSALS : VYRE_KNOWS_ALL);
    bool long_enough = batches > CLI_KNOWLEDGE_BATCHES && knowledge->keeps;
    bool wanting = knowledge->source != CLI_COSTS_STORED || knowledge->due;
    if (options->calibrate || (wanting && long_enough))
        return measure_costs(knowledge, device, options, diag);
    return VYRE_OK;
}

void cli_knowledge_close(struct cli_knowledge *knowledge)
{
    vyre_store_close(&knowledge->store);
    cli_refusals_deinit(&knowledge->refusals);
}

void cli_knowledge_print(const struct cli_knowledge *knowledge, struct cli_output *out)
{
    const struct vyre_calibration *calibration = &knowledge->calibration;
    char line[LINE_BYTES];
    char loaded[64] = "";
    if (knowledge->loaded > 0)
        snprintf(loaded, sizeof loaded, "; %s learnings loaded",
                 cli_unit_count(knowledge->loaded).text);
    switch (knowledge->source) {
    case CLI_COSTS_UNUSED:
        return;
    case CLI_COSTS_STATED:
        snprintf(line, sizeof line, "costs: stated by the backend (%s)%s\n", knowledge->reason,
                 loaded);
        break;
    case CLI_COSTS_STORED:
        snprintf(line, sizeof line, "costs: calibrated %s ago%s%s\n",
                 cli_unit_age(vyre_calibration_age_s(calibration)).text,
                 knowledge->due ? ", noisy, and due to be measured again" : "", loaded);
        break;
    case CLI_COSTS_MEASURED:
        snprintf(line, sizeof line, "costs: calibrated now, in %s%s\n",
                 cli_unit_ns(calibration->took_ns).text, loaded);
        break;
    }
    cli_output_text(out, line);
}

void cli_knowledge_json(const struct cli_knowledge *knowledge, struct cli_json *json)
{
    static const char *const sources[] = {NULL, "stated", "stored", "measured"};
    const struct vyre_calibration *calibration = &knowledge->calibration;
    bool measured =
        knowledge->source == CLI_COSTS_STORED || knowledge->source == CLI_COSTS_MEASURED;
    if (knowledge->source == CLI_COSTS_UNUSED) {
        cli_json_null(json, "calibration");
    } else {
        cli_json_object(json, "calibration");
        cli_json_text(json, "source", sources[knowledge->source]);
        cli_json_text(json, "reason", measured ? NULL : knowledge->reason);
        if (measured) {
            cli_json_u64(json, "taken_at", calibration->taken_s);
            cli_json_u64(json, "age_s", vyre_calibration_age_s(calibration));
        } else {
            cli_json_null(json, "taken_at");
            cli_json_null(json, "age_s");
        }
        cli_json_u64(json, "costs", measured ? cli_costs_count(calibration) : 0);
        cli_json_u64(json, "noisy", measured ? cli_costs_noisy_count(calibration) : 0);
        cli_json_flag(json, "due", knowledge->due);
        cli_json_end_object(json);
    }
    cli_json_u64(json, "learnings_loaded", knowledge->loaded);
}
