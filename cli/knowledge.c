/*
 * knowledge.c: what a run knows of its device beforehand, and what it leaves behind.
 */
#include "knowledge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interrupt.h"
#include "message.h"

/* A calibration before a run should not be felt; `vyre probe` takes its time. */
#define QUICK_NS   UINT64_C(500000000)
#define LINE_BYTES 512
/* Learnings are read and written by their mode and variant in one number. */
#define VARIANT_SHIFT 8

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

bool cli_calibration_keep(struct vyre_store *store, const struct vyre_store_device *device,
                          const struct vyre_calibration *calibration, struct vyre_diag *out_failure)
{
    struct vyre_store_calibration stored;
    struct vyre_store_info info;
    struct vyre_hash128 signature;
    cli_costs_to_store(calibration, &stored);
    bool put = vyre_store_put_device(store, device, &signature, out_failure) == VYRE_OK &&
               vyre_store_put_calibration(store, signature, &stored, out_failure) == VYRE_OK &&
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

/* True when the store has costs that are still good, and the device goes by them. */
static bool load_costs(struct cli_knowledge *knowledge, struct vyre_device *device)
{
    struct vyre_store_calibration stored;
    struct vyre_diag diag;
    state_costs(knowledge, "none were measured");
    if (!knowledge->store ||
        vyre_store_get_calibration(knowledge->store, knowledge->device, &stored, &diag) != VYRE_OK)
        return false;
    cli_costs_from_store(&stored, &knowledge->calibration);
    if (!cli_costs_are_fresh(&knowledge->calibration)) {
        state_costs(knowledge, "those in the store are more than 7 days old");
        return false;
    }
    if (vyre_device_set_calibration(device, &knowledge->calibration, &diag) != VYRE_OK) {
        state_costs(knowledge, "those in the store are no times");
        return false;
    }
    knowledge->source = CLI_COSTS_STORED;
    return true;
}

static enum vyre_status measure_costs(struct cli_knowledge *knowledge, struct vyre_device *device,
                                      const struct cli_options *options,
                                      const struct vyre_store_device *described,
                                      struct vyre_diag *diag)
{
    struct cli_progress progress;
    cli_progress_begin(&progress, options->quiet, VYRE_COST_COUNT);
    cli_progress_set_unit(&progress, "figures");
    /* Asked for, it is done as well as the probe does it. */
    enum vyre_status status = cli_calibrate(device, options->calibrate ? 0 : QUICK_NS, &progress, 0,
                                            &knowledge->calibration, diag);
    cli_progress_clear(&progress);
    if (status == VYRE_OK) {
        knowledge->source = CLI_COSTS_MEASURED;
        struct vyre_diag failure;
        if (knowledge->keeps &&
            !cli_calibration_keep(knowledge->store, described, &knowledge->calibration, &failure) &&
            failure.id != VYRE_DIAG_NONE)
            cli_message_print(&failure, NULL);
        return VYRE_OK;
    }
    bool stopped = diag->id == VYRE_DIAG_CALIBRATION_STOPPED;
    if (options->calibrate && !stopped)
        return status;
    state_costs(knowledge, stopped ? "the calibration was interrupted" : diag->message);
    return VYRE_OK;
}

/* ---- learnings --------------------------------------------------------------------------------
 */

struct importing {
    struct vyre_device *device;
    struct vyre_hash128 signature;
    uint64_t count;
};

static bool on_stored(void *user, struct vyre_hash128 device,
                      const struct vyre_store_learning *stored, const struct vyre_store_heat *heat)
{
    struct importing *importing = user;
    struct vyre_diag ignored;
    (void)heat;
    if (!vyre_hash128_equal(device, importing->signature))
        return true;
    const struct vyre_learning learning = {
        .shape = stored->shape,
        .mode = (enum vyre_mode)(stored->candidate & ((1u << VARIANT_SHIFT) - 1)),
        .variant = stored->candidate >> VARIANT_SHIFT,
        .mean_ns = stored->mean_ns,
        .count = stored->count,
    };
    enum vyre_status status = vyre_device_import_learning(importing->device, &learning, &ignored);
    importing->count += status == VYRE_OK;
    return status != VYRE_OUT_OF_MEMORY;
}

static void load_learnings(struct cli_knowledge *knowledge, struct vyre_device *device)
{
    struct importing importing = {device, knowledge->device, 0};
    const struct vyre_store_visitor visitor = {.user = &importing, .learning = on_stored};
    struct vyre_diag ignored;
    /* What cannot be read is as good as never learned; the store has said so. */
    if (knowledge->store) {
        enum vyre_status status = vyre_store_visit(knowledge->store, &visitor, &ignored);
        (void)status;
    }
    knowledge->loaded = importing.count;
}

struct exporting {
    struct vyre_store_learning *learnings; /* Owned */
    size_t count;
    size_t capacity;
};

static bool on_learned(void *user, const struct vyre_learning *learning)
{
    struct exporting *exporting = user;
    if (exporting->count == exporting->capacity) {
        size_t capacity = exporting->capacity ? 2 * exporting->capacity : 64;
        struct vyre_store_learning *grown =
            realloc(exporting->learnings, capacity * sizeof *exporting->learnings);
        if (!grown)
            return false;
        exporting->learnings = grown;
        exporting->capacity = capacity;
    }
    exporting->learnings[exporting->count++] = (struct vyre_store_learning){
        .shape = learning->shape,
        .candidate = (uint32_t)learning->mode | learning->variant << VARIANT_SHIFT,
        .count = learning->count,
        .mean_ns = learning->mean_ns,
    };
    return true;
}

/* By shape, then candidate, the best founded first. */
static int compare_learnings(const void *left, const void *right)
{
    const struct vyre_store_learning *a = left;
    const struct vyre_store_learning *b = right;
    if (a->shape.hi != b->shape.hi)
        return a->shape.hi < b->shape.hi ? -1 : 1;
    if (a->shape.lo != b->shape.lo)
        return a->shape.lo < b->shape.lo ? -1 : 1;
    if (a->candidate != b->candidate)
        return a->candidate < b->candidate ? -1 : 1;
    return (a->count < b->count) - (a->count > b->count);
}

/* Whether the store has something better founded of the same shape and candidate. */
static bool is_known_better(struct vyre_store *store, struct vyre_hash128 device,
                            const struct vyre_store_learning *learning)
{
    struct vyre_store_learning known[VYRE_CANDIDATES_MAX];
    struct vyre_diag ignored;
    size_t count = 0;
    if (learning->count >= CLI_KNOWLEDGE_COUNT ||
        vyre_store_get_learnings(store, device, learning->shape, known, VYRE_CANDIDATES_MAX, &count,
                                 &ignored) != VYRE_OK)
        return false;
    for (size_t i = 0; i < count && i < VYRE_CANDIDATES_MAX; i++) {
        if (known[i].candidate == learning->candidate && known[i].count > learning->count)
            return true;
    }
    return false;
}

/*
 * Leaves what is worth keeping, at the front; returns how much. A mode that was tried once and left
 * is worth it too, where another one of the shape is well founded: it need not be tried again.
 */
static size_t select_learnings(struct cli_knowledge *knowledge, struct exporting *exporting)
{
    struct vyre_store_learning *all = exporting->learnings;
    size_t kept = 0;
    for (size_t first = 0, next; first < exporting->count; first = next) {
        bool founded = false;
        for (next = first;
             next < exporting->count && vyre_hash128_equal(all[next].shape, all[first].shape);
             next++)
            founded = founded || all[next].count >= CLI_KNOWLEDGE_COUNT;
        for (size_t i = first; founded && i < next; i++) {
            bool again = i > first && all[i].candidate == all[i - 1].candidate;
            if (!again && !is_known_better(knowledge->store, knowledge->device, &all[i]))
                all[kept++] = all[i];
        }
    }
    return kept;
}

void cli_knowledge_keep(struct cli_knowledge *knowledge, struct vyre_device *device)
{
    struct exporting exporting = {0};
    struct vyre_diag ignored;
    if (!knowledge->keeps)
        return;
    (void)vyre_device_export_learnings(device, on_learned, &exporting);
    if (exporting.count > 0) {
        qsort(exporting.learnings, exporting.count, sizeof *exporting.learnings, compare_learnings);
        size_t kept = select_learnings(knowledge, &exporting);
        if (kept > 0) {
            enum vyre_status status = vyre_store_put_learnings(knowledge->store, knowledge->device,
                                                               exporting.learnings, kept, &ignored);
            (void)status;
        }
    }
    free(exporting.learnings);
}

/* ---- refusals ---------------------------------------------------------------------------------
 */

static void load_refusals(struct cli_knowledge *knowledge, struct vyre_store *store,
                          struct vyre_device *device)
{
    if (store)
        cli_refusals_load(&knowledge->refusals, store, &knowledge->driver);
    cli_refusals_give(&knowledge->refusals, device);
}

/* A required mode makes no store: it may not have anything to keep. */
static void peek_refusals(struct cli_knowledge *knowledge, struct vyre_device *device,
                          enum vyre_mode mode)
{
    struct vyre_store *store = NULL;
    struct vyre_diag diag;
    if (mode == VYRE_MODE_PLAIN || knowledge->place.none)
        return;
    if (cli_store_peek(&knowledge->place, &store, &diag) != VYRE_OK)
        cli_message_print(&diag, NULL);
    load_refusals(knowledge, store, device);
    vyre_store_close(&store);
}

void cli_knowledge_keep_refusals(struct cli_knowledge *knowledge,
                                 const struct cli_refusals *refusals)
{
    struct vyre_diag diag;
    if (refusals->count == 0 || knowledge->place.none)
        return;
    if (!knowledge->store && cli_store_open(&knowledge->place, &knowledge->store, &diag) != VYRE_OK)
        cli_message_print(&diag, NULL);
    if (knowledge->store)
        cli_refusals_keep(refusals, knowledge->store, &knowledge->driver);
}

/* ---- all of it --------------------------------------------------------------------------------
 */

/* Without a store the run goes on: it costs time, and nothing else. */
static void open_store(struct cli_knowledge *knowledge, const struct cli_options *options,
                       const struct vyre_store_device *device)
{
    struct vyre_store_info info;
    struct vyre_diag diag;
    if (options->store.none)
        return;
    if (cli_store_open(&options->store, &knowledge->store, &diag) != VYRE_OK) {
        cli_message_print(&diag, NULL);
        return;
    }
    knowledge->device = vyre_store_device_signature(device);
    knowledge->keeps =
        vyre_store_put_device(knowledge->store, device, &knowledge->device, &diag) == VYRE_OK;
    vyre_store_get_info(knowledge->store, &info);
    knowledge->keeps = knowledge->keeps && info.mode == VYRE_STORE_FILE;
}

enum vyre_status cli_knowledge_give(struct cli_knowledge *knowledge, struct vyre_device *device,
                                    const struct cli_options *options, uint64_t batches,
                                    struct vyre_diag *diag)
{
    struct vyre_device_info info;
    memset(knowledge, 0, sizeof *knowledge);
    vyre_device_get_info(device, &info);
    knowledge->place = options->store;
    knowledge->driver = cli_costs_device(&info, 0);
    if (options->mode != VYRE_MODE_AUTO && !options->calibrate) {
        peek_refusals(knowledge, device, options->mode);
        return VYRE_OK;
    }
    const struct vyre_store_device described = cli_costs_device(&info, options->workers);
    open_store(knowledge, options, &described);
    load_refusals(knowledge, knowledge->store, device);
    load_learnings(knowledge, device);
    if (!options->calibrate && load_costs(knowledge, device))
        return VYRE_OK;
    bool long_enough = batches > CLI_KNOWLEDGE_BATCHES && knowledge->keeps;
    if (options->calibrate || long_enough)
        return measure_costs(knowledge, device, options, &described, diag);
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
        snprintf(line, sizeof line, "costs: calibrated %s ago%s\n",
                 cli_unit_age(cli_costs_age_s(calibration)).text, loaded);
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
            cli_json_u64(json, "age_s", cli_costs_age_s(calibration));
        } else {
            cli_json_null(json, "taken_at");
            cli_json_null(json, "age_s");
        }
        cli_json_u64(json, "costs", measured ? cli_costs_count(calibration) : 0);
        cli_json_u64(json, "noisy", measured ? cli_costs_noisy_count(calibration) : 0);
        cli_json_end_object(json);
    }
    cli_json_u64(json, "learnings_loaded", knowledge->loaded);
}
