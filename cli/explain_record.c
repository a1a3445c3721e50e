/*
 * explain_record.c: why a batch that ran was launched as it was.
 */
#include "explain_record.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "grid.h"
#include "json.h"
#include "message.h"
#include "progress.h"
#include "record.h"
#include "units.h"

#define NOT_FOUND SIZE_MAX

/* A batch with what its explanation rests on. */
struct subject {
    const struct record *record;
    const struct record_batch *batch;
    const struct record_device *device;
    const struct record_batch *compared; /* whose candidates hold; NULL: none are known */
};

/* Sentences for enum vyre_decision_why; a later reason has only its name. */
static const char *const why_sentences[VYRE_WHY_COUNT] = {
    "nothing was decided for it",
    "the caller required it",
    "nothing else can run this batch here",
    "it is predicted to be the cheapest for as many repeats as the caller announced",
    "it is predicted to be the cheapest for as many repeats as were seen",
    "it is the cheapest of what was measured for this shape",
    "it had not been measured yet, and what it may save was worth a try",
    "it was measured again, paid from the budget for exploration",
    "costs had left their band, so that it was measured anew",
};

static struct subject subject_of(const struct record *record, size_t index)
{
    struct subject subject = {record, &record->batches.items[index], NULL, NULL};
    subject.device = &record->devices.items[subject.batch->device - 1];
    for (size_t i = index + 1; i-- > 0 && !subject.compared;) {
        const struct record_batch *other = &record->batches.items[i];
        if (other->candidate_count > 0 && other->device == subject.batch->device &&
            strcmp(other->shape, subject.batch->shape) == 0)
            subject.compared = other;
    }
    return subject;
}

static const struct record_candidate *candidate_of(const struct subject *subject, size_t index)
{
    return &subject->record->candidates.items[subject->compared->candidate_first + index];
}

static const char *why_sentence(const struct subject *subject)
{
    uint8_t why = subject->batch->why;
    return why < VYRE_WHY_COUNT ? why_sentences[why]
                                : record_name(subject->record, RECORD_NAMES_WHY, why);
}

/* ---- For people -------------------------------------------------------------------------------- */

VYRE_PRINTF(2, 3)
static void line(struct cli_output *out, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    /* Labels are foreign: what would move the cursor does not reach the terminal. */
    for (char *at = text; *at; at++) {
        unsigned char code = (unsigned char)*at;
        if ((code < 0x20 && code != '\n') || code == 0x7f)
            *at = '?';
    }
    cli_output_text(out, text);
}

static void print_work(const struct subject *subject, struct cli_output *out)
{
    const struct record_batch *batch = subject->batch;
    const struct record *record = subject->record;
    const char *label = record->labels.items[batch->label];
    line(out, "batch %" PRId64 ": %s\n", batch->sequence, label[0] ? label : "(no label)");
    line(out, "  on %s: %s (%s)\n", subject->device->backend, subject->device->name,
         subject->device->driver);
    cli_output_text(out, "  commands:");
    for (size_t i = 0; i < VYRE_COMMAND_TYPE_COUNT; i++) {
        if (batch->commands[i] > 0)
            line(out, " %s %s", cli_unit_count((uint64_t)batch->commands[i]).text,
                 record_name(record, RECORD_NAMES_COMMAND, i));
    }
    line(out, "; %s copied\n", cli_unit_bytes((uint64_t)batch->copied_bytes).text);
    for (size_t i = 0; i < batch->use_count; i++) {
        const struct record_use *use = &record->uses.items[batch->use_first + i];
        line(out, "    %s x %s\n", record->labels.items[use->label],
             cli_unit_count((uint64_t)use->dispatches).text);
    }
}

static void print_repeats(const struct record_batch *batch, struct cli_grid *grid)
{
    cli_grid_add(grid, "repeats seen");
    cli_grid_add(grid, cli_unit_count((uint64_t)batch->repeats_seen).text);
    cli_grid_add(grid, "observed");
    cli_grid_add(grid, "repeats announced");
    cli_grid_add(grid,
                 batch->repeat_hint ? cli_unit_count((uint64_t)batch->repeat_hint).text : "none");
    cli_grid_add(grid, batch->repeat_hint ? "hint" : "default: as many as were seen");
}

static void print_observed(const struct subject *subject, struct cli_grid *grid)
{
    size_t count = subject->compared ? subject->compared->candidate_count : 0;
    for (size_t i = 0; i < count; i++) {
        const struct record_candidate *candidate = candidate_of(subject, i);
        char way[256];
        if (candidate->count == 0)
            continue;
        record_candidate_name(subject->record, candidate->mode, candidate->variant, way,
                              sizeof way);
        cli_grid_addf(grid, "mean of %s", way);
        cli_grid_add(grid, cli_unit_ns((uint64_t)candidate->measured_ns).text);
        cli_grid_addf(grid, "observed, %" PRId64 " times", candidate->count);
    }
}

static void print_inputs(const struct subject *subject, struct cli_output *out)
{
    static const char *const heads[] = {"input", "value", "origin"};
    const struct record_calibration *calibration = &subject->device->calibration;
    struct cli_grid grid;
    cli_grid_init(&grid, "lrl", heads, cli_colour_wanted(STDOUT_FILENO));
    print_repeats(subject->batch, &grid);
    print_observed(subject, &grid);
    for (size_t i = 0; i < calibration->cost_count; i++) {
        const int64_t *cost = calibration->costs[i].values;
        if (!cost[0])
            continue;
        cli_grid_add(&grid, record_name(subject->record, RECORD_NAMES_COST, i));
        cli_grid_add(&grid, cli_unit_ns((uint64_t)cost[4]).text);
        cli_grid_addf(&grid, "calibrated, %" PRId64 " samples%s", cost[2],
                      cost[1] ? ", noisy" : "");
    }
    if (calibration->taken_s == 0) {
        cli_grid_add(&grid, "costs of the device");
        cli_grid_add(&grid, "-");
        cli_grid_add(&grid, "default: it was not calibrated");
    }
    cli_output_text(out, "\n");
    cli_grid_print(&grid, 2, out);
    cli_grid_deinit(&grid);
}

static void print_candidates(const struct subject *subject, struct cli_output *out)
{
    static const char *const heads[] = {"candidate", "predicted", "measured", "times", "reason"};
    if (!subject->compared) {
        cli_output_text(out, "\n  The record has no candidates for this shape.\n");
        return;
    }
    struct cli_grid grid;
    cli_grid_init(&grid, "lrrrl", heads, cli_colour_wanted(STDOUT_FILENO));
    for (size_t i = 0; i < subject->compared->candidate_count; i++) {
        const struct record_candidate *candidate = candidate_of(subject, i);
        char way[256];
        record_candidate_name(subject->record, candidate->mode, candidate->variant, way,
                              sizeof way);
        cli_grid_add(&grid, way);
        cli_grid_add(&grid, candidate->state == VYRE_CANDIDATE_OUT
                                ? "out"
                                : cli_unit_ns((uint64_t)candidate->predicted_ns).text);
        cli_grid_add(&grid,
                     candidate->count ? cli_unit_ns((uint64_t)candidate->measured_ns).text : "-");
        cli_grid_addf(&grid, "%" PRId64, candidate->count);
        cli_grid_add(&grid, record_name(subject->record, RECORD_NAMES_REASON, candidate->reason));
    }
    cli_output_text(out, "\n");
    cli_grid_print(&grid, 2, out);
    cli_grid_deinit(&grid);
    if (subject->compared != subject->batch)
        line(out, "  The choice stood: these are the candidates as of batch %" PRId64 ".\n",
             subject->compared->sequence);
}

static void print_outcome(const struct subject *subject, struct cli_output *out)
{
    const struct record_batch *batch = subject->batch;
    char way[256];
    record_candidate_name(subject->record, batch->mode, batch->variant, way, sizeof way);
    line(out, "\n  chosen: %s, because %s (%s)\n", way, why_sentence(subject),
         record_name(subject->record, RECORD_NAMES_WHY, batch->why));
    if (batch->predicted_ns > 0 && batch->wall_ns > 0)
        line(out, "  predicted %s, measured %s: %s of the prediction\n",
             cli_unit_ns((uint64_t)batch->predicted_ns).text,
             cli_unit_ns((uint64_t)batch->wall_ns).text,
             cli_unit_ratio((double)batch->wall_ns / (double)batch->predicted_ns).text);
    else
        line(out, "  predicted %s, measured %s\n",
             batch->predicted_ns ? cli_unit_ns((uint64_t)batch->predicted_ns).text : "nothing",
             batch->wall_ns ? cli_unit_ns((uint64_t)batch->wall_ns).text : "nothing");
    line(out, "  in submit %s", cli_unit_ns((uint64_t)batch->submit_ns).text);
    if (batch->device_ns > 0)
        line(out, ", on the device %s", cli_unit_ns((uint64_t)batch->device_ns).text);
    line(out, "; saved against plain: %s; status %s\n", cli_unit_signed_ns(batch->saved_ns).text,
         record_name(subject->record, RECORD_NAMES_STATUS, batch->status));
}

static void print_subject(const struct subject *subject, struct cli_output *out)
{
    print_work(subject, out);
    print_inputs(subject, out);
    print_candidates(subject, out);
    print_outcome(subject, out);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static void candidates_json(const struct subject *subject, struct cli_json *json)
{
    cli_json_array(json, "candidates");
    size_t count = subject->compared ? subject->compared->candidate_count : 0;
    for (size_t i = 0; i < count; i++) {
        const struct record_candidate *candidate = candidate_of(subject, i);
        const struct record *record = subject->record;
        cli_json_object(json, NULL);
        cli_json_text(json, "mode", record_name(record, RECORD_NAMES_MODE, candidate->mode));
        cli_json_u64(json, "variant", candidate->variant);
        cli_json_text(json, "state", record_name(record, RECORD_NAMES_STATE, candidate->state));
        cli_json_text(json, "reason", record_name(record, RECORD_NAMES_REASON, candidate->reason));
        cli_json_i64(json, "predicted_ns", candidate->predicted_ns);
        cli_json_i64(json, "measured_ns", candidate->measured_ns);
        cli_json_i64(json, "measured_count", candidate->count);
        cli_json_end_object(json);
    }
    cli_json_end_array(json);
}

static void input_json(struct cli_json *json, const char *name, int64_t value, const char *origin)
{
    cli_json_object(json, NULL);
    cli_json_text(json, "name", name);
    cli_json_i64(json, "value", value);
    cli_json_text(json, "origin", origin);
    cli_json_end_object(json);
}

static void inputs_json(const struct subject *subject, struct cli_json *json)
{
    const struct record_calibration *calibration = &subject->device->calibration;
    const struct record_batch *batch = subject->batch;
    cli_json_array(json, "inputs");
    input_json(json, "repeats_seen", batch->repeats_seen, "observed");
    if (batch->repeat_hint > 0)
        input_json(json, "repeat_hint", batch->repeat_hint, "hint");
    for (size_t i = 0; i < calibration->cost_count; i++) {
        if (calibration->costs[i].values[0])
            input_json(json, record_name(subject->record, RECORD_NAMES_COST, i),
                       calibration->costs[i].values[4], "calibrated");
    }
    cli_json_end_array(json);
}

static void subject_json(const struct subject *subject, struct cli_json *json)
{
    const struct record_batch *batch = subject->batch;
    const struct record *record = subject->record;
    cli_json_object(json, NULL);
    cli_json_i64(json, "batch", batch->sequence);
    cli_json_text(json, "label", record->labels.items[batch->label]);
    cli_json_text(json, "backend", subject->device->backend);
    cli_json_text(json, "device", subject->device->name);
    cli_json_text(json, "status", record_name(record, RECORD_NAMES_STATUS, batch->status));
    cli_json_text(json, "shape", batch->shape);
    inputs_json(subject, json);
    candidates_json(subject, json);
    cli_json_i64(json, "candidates_of_batch", subject->compared ? subject->compared->sequence : 0);
    cli_json_text(json, "mode", record_name(record, RECORD_NAMES_MODE, batch->mode));
    cli_json_u64(json, "variant", batch->variant);
    cli_json_text(json, "why", record_name(record, RECORD_NAMES_WHY, batch->why));
    cli_json_text(json, "explanation", why_sentence(subject));
    cli_json_i64(json, "predicted_ns", batch->predicted_ns);
    cli_json_i64(json, "measured_ns", batch->wall_ns);
    cli_json_i64(json, "submit_ns", batch->submit_ns);
    cli_json_i64(json, "device_ns", batch->device_ns);
    cli_json_i64(json, "saved_ns", batch->saved_ns);
    cli_json_end_object(json);
}

/* ---- Whole ------------------------------------------------------------------------------------- */

static size_t find_next(const struct record *record, uint64_t batch, size_t from)
{
    for (size_t i = from; i < record->batches.count; i++) {
        if ((uint64_t)record->batches.items[i].sequence == batch)
            return i;
    }
    return NOT_FOUND;
}

static enum cli_exit fail_batch(const char *path, const struct record *record, uint64_t batch)
{
    int64_t most = 0;
    for (size_t i = 0; i < record->batches.count; i++) {
        if (record->batches.items[i].sequence > most)
            most = record->batches.items[i].sequence;
    }
    struct vyre_diag diag;
    (void)vyre_diag_set(&diag, VYRE_DIAG_RECORD_BATCH, path, 0,
                        "there is no batch %" PRIu64 "; %s batches were kept of %s, up to number "
                        "%" PRId64,
                        batch, cli_unit_count(record->batches.count).text,
                        cli_unit_count((uint64_t)record->end.batches_seen).text, most);
    cli_message_print(&diag, NULL);
    return CLI_EXIT_BAD_INPUT;
}

enum cli_exit cli_explain_record(const char *path, uint64_t batch, bool as_json,
                                 struct cli_output *out)
{
    struct record *record = record_read_file(path);
    if (!record)
        return CLI_EXIT_BAD_INPUT;
    size_t index = find_next(record, batch, 0);
    enum cli_exit result = CLI_EXIT_DONE;
    struct cli_json json;
    cli_json_init(&json, out);
    if (index == NOT_FOUND) {
        result = fail_batch(path, record, batch);
    } else if (as_json) {
        cli_json_object(&json, NULL);
        cli_json_array(&json, "batches");
    }
    for (bool is_first = true; index != NOT_FOUND; index = find_next(record, batch, index + 1)) {
        struct subject subject = subject_of(record, index);
        if (as_json)
            subject_json(&subject, &json);
        else {
            cli_output_text(out, is_first ? "" : "\n");
            print_subject(&subject, out);
        }
        is_first = false;
    }
    if (as_json && result == CLI_EXIT_DONE) {
        cli_json_end_array(&json);
        cli_json_end_object(&json);
        cli_json_finish(&json);
    }
    record_destroy(&record);
    return result;
}
