/*
 * record.c: `vyre explain --batch`: why a recorded batch was launched as it was.
 */
#include "explain/record.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "explain/recorded_batch.h"
#include "record/record.h"
#include "terminal/diag.h"
#include "terminal/grid.h"
#include "terminal/json.h"
#include "terminal/message.h"
#include "terminal/progress.h"
#include "terminal/units.h"

#define NOT_FOUND SIZE_MAX

/* ---- For people -------------------------------------------------------------------------------- */

VYRE_PRINTF(2, 3)
static void line(struct cli_output *out, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    /* Labels come from users: control characters must not reach the terminal. */
    for (char *at = text; *at; at++) {
        unsigned char code = (unsigned char)*at;
        if ((code < 0x20 && code != '\n') || code == 0x7f)
            *at = '?';
    }
    cli_output_text(out, text);
}

static void print_work(const struct recorded_batch *subject, struct cli_output *out)
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

/* The device's costs, on which the predictions are based. */
static void print_costs(const struct recorded_batch *subject, struct cli_output *out)
{
    static const char *const heads[] = {"cost of the device", "median", "origin"};
    const struct record_calibration *calibration = &subject->device->calibration;
    if (calibration->taken_s == 0) {
        cli_output_text(out, "\n  The device was not calibrated: the costs are those that its "
                             "backend states.\n");
        return;
    }
    struct cli_grid grid;
    cli_grid_init(&grid, "lrl", heads, cli_colour_wanted(STDOUT_FILENO));
    for (size_t i = 0; i < calibration->cost_count; i++) {
        const int64_t *cost = calibration->costs[i].values;
        if (!cost[0])
            continue;
        cli_grid_add(&grid, record_name(subject->record, RECORD_NAMES_COST, i));
        cli_grid_add(&grid, cli_unit_ns((uint64_t)cost[4]).text);
        cli_grid_addf(&grid, "calibrated, %" PRId64 " samples%s", cost[2],
                      cost[1] ? ", noisy" : "");
    }
    cli_output_text(out, "\n");
    cli_grid_print(&grid, 2, out);
    cli_grid_deinit(&grid);
}

static void print_candidates(const struct recorded_batch *subject, struct cli_output *out)
{
    if (!subject->compared) {
        cli_output_text(out, "\n  The record lists no candidates for this shape.\n");
        return;
    }
    explain_print_candidates(&subject->said, out);
    if (subject->compared != subject->batch)
        line(out, "    No new comparison was made: this one is from batch %" PRId64 ".\n",
             subject->compared->sequence);
}

static void print_choice(const struct recorded_batch *subject, struct cli_output *out)
{
    const struct record_batch *batch = subject->batch;
    char way[256];
    record_candidate_name(subject->record, batch->mode, batch->variant, way, sizeof way);
    line(out, "  chosen: %s, because %s (%s)\n", way, explain_why(subject->explanation.next.why),
         record_name(subject->record, RECORD_NAMES_WHY, batch->why));
    line(out, "  repeats: %s seen (observed), ",
         cli_unit_count((uint64_t)batch->repeats_seen).text);
    if (batch->repeat_hint)
        line(out, "%s announced (hint)\n", cli_unit_count((uint64_t)batch->repeat_hint).text);
    else
        line(out, "none announced, so as many more are expected as were seen\n");
}

static void print_outcome(const struct recorded_batch *subject, struct cli_output *out)
{
    const struct record_batch *batch = subject->batch;
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

static void print_subject(const struct recorded_batch *subject, struct cli_output *out)
{
    print_work(subject, out);
    print_choice(subject, out);
    print_outcome(subject, out);
    if (subject->said.has_policies)
        explain_print_policies(&subject->said, out);
    print_candidates(subject, out);
    explain_print_turns(&subject->said, out);
    print_costs(subject, out);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static void input_json(struct cli_json *json, const char *name, int64_t value, const char *origin)
{
    cli_json_object(json, NULL);
    cli_json_text(json, "name", name);
    cli_json_i64(json, "value", value);
    cli_json_text(json, "origin", origin);
    cli_json_end_object(json);
}

static void inputs_json(const struct recorded_batch *subject, struct cli_json *json)
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

static void subject_json(const struct recorded_batch *subject, struct cli_json *json)
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
    explain_policies_json(&subject->said, json);
    explain_candidates_json(&subject->said, json);
    explain_turns_json(&subject->said, json);
    cli_json_i64(json, "candidates_of_batch", subject->compared ? subject->compared->sequence : 0);
    cli_json_text(json, "mode", record_name(record, RECORD_NAMES_MODE, batch->mode));
    cli_json_u64(json, "variant", batch->variant);
    cli_json_text(json, "why", record_name(record, RECORD_NAMES_WHY, batch->why));
    cli_json_text(json, "explanation", explain_why(subject->explanation.next.why));
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
    int64_t most = 0, least = INT64_MAX;
    for (size_t i = 0; i < record->batches.count; i++) {
        int64_t sequence = record->batches.items[i].sequence;
        most = sequence > most ? sequence : most;
        least = sequence < least ? sequence : least;
    }
    struct vyre_diag diag;
    if (most == 0)
        (void)cli_diag_set(&diag, CLI_DIAG_RECORD_BATCH, path, 0,
                           "there is no batch %" PRIu64 ": the record has no batches", batch);
    else
        (void)cli_diag_set(&diag, CLI_DIAG_RECORD_BATCH, path, 0,
                           "there is no batch %" PRIu64
                           "; the record has %s of %s, with numbers from "
                           "%" PRId64 " to %" PRId64,
                           batch, cli_unit_count(record->batches.count).text,
                           cli_unit_count((uint64_t)record->end.batches_seen).text, least, most);
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
        struct recorded_batch subject;
        recorded_batch_find(&subject, record, index);
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
