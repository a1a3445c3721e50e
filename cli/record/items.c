/*
 * items.c: the entries of `records`, one function per kind.
 */
#include <stdio.h>
#include <string.h>

#include "record/values.h"
#include "terminal/diag.h"

#define TEXT_MAX 1024

/* The recorder's own limit. */
#define DEVICES_MAX 256

/* ---- Pieces ------------------------------------------------------------------------------------ */

static int64_t member(struct record_reader *reader, const json_t *json, const char *key)
{
    return record_number(reader, json_object_get(json, key), key, 0, RECORD_NUMBER_MAX);
}

static int64_t signed_member(struct record_reader *reader, const json_t *json, const char *key)
{
    return record_number(reader, json_object_get(json, key), key, -RECORD_NUMBER_MAX,
                         RECORD_NUMBER_MAX);
}

static char *text_member(struct record_reader *reader, const json_t *json, const char *key)
{
    return record_string(reader, json_object_get(json, key), key, TEXT_MAX);
}

static uint32_t device_number(struct record_reader *reader, const json_t *json)
{
    return (uint32_t)record_number(reader, json, "device", 1,
                                   (int64_t)reader->record->devices.count);
}

static uint32_t label_number(struct record_reader *reader, const json_t *json)
{
    return (uint32_t)record_number(reader, json, "label", 0,
                                   (int64_t)reader->record->labels.count - 1);
}

static uint8_t name_number(struct record_reader *reader, const json_t *json, const char *what,
                           enum record_name_list list)
{
    return (uint8_t)record_number(reader, json, what, 0,
                                  (int64_t)record_name_count(reader->record, list) - 1);
}

/* Reads one number for each name of the list. */
static void counts(struct record_reader *reader, const json_t *json, const char *key,
                   enum record_name_list list, int64_t *out)
{
    size_t names = record_name_count(reader->record, list);
    const json_t *array = json_object_get(json, key);
    size_t count = record_array(reader, array, key, names, names);
    for (size_t i = 0; i < count; i++)
        out[i] = record_number(reader, json_array_get(array, i), key, 0, RECORD_NUMBER_MAX);
}

static void commands(struct record_reader *reader, const json_t *array, int64_t *out)
{
    size_t count =
        record_array(reader, array, "commands", VYRE_COMMAND_TYPE_COUNT, VYRE_COMMAND_TYPE_COUNT);
    for (size_t i = 0; i < count; i++)
        out[i] = record_number(reader, json_array_get(array, i), "commands", 0, RECORD_NUMBER_MAX);
}

/* ---- Devices ----------------------------------------------------------------------------------- */

static void read_cost(struct record_reader *reader, const json_t *json, struct record_cost *cost)
{
    if (record_array(reader, json, "costs", 7, RECORD_NAMES_MAX) == 0)
        return;
    for (size_t i = 0; i < 7; i++)
        cost->values[i] =
            record_number(reader, json_array_get(json, i), "costs", 0, RECORD_NUMBER_MAX);
}

static void read_calibration(struct record_reader *reader, const json_t *json,
                             struct record_calibration *calibration)
{
    calibration->taken_s = member(reader, json, "taken_s");
    calibration->took_ns = member(reader, json, "took_ns");
    const json_t *costs = json_object_get(json, "costs");
    size_t names = record_name_count(reader->record, RECORD_NAMES_COST);
    calibration->cost_count = record_array(reader, costs, "costs", 0, names);
    for (size_t i = 0; i < calibration->cost_count; i++)
        read_cost(reader, json_array_get(costs, i), &calibration->costs[i]);
}

static void read_abilities(struct record_reader *reader, const json_t *json,
                           struct record_device *device)
{
    const json_t *abilities = json_object_get(json, "abilities");
    size_t names = record_name_count(reader->record, RECORD_NAMES_ABILITY);
    size_t count = record_array(reader, abilities, "abilities", 0, names);
    for (size_t i = 0; i < count && !reader->has_failed; i++) {
        const json_t *ability = json_array_get(abilities, i);
        if (record_array(reader, ability, "abilities", 2, RECORD_NAMES_MAX) == 0)
            return;
        device->abilities[i].value =
            record_number(reader, json_array_get(ability, 0), "abilities", 0, RECORD_NUMBER_MAX);
        device->abilities[i].reason =
            record_string(reader, json_array_get(ability, 1), "abilities", TEXT_MAX);
        device->ability_count = i + 1;
    }
}

static void read_device(struct record_reader *reader, const json_t *json)
{
    int64_t number = (int64_t)reader->record->devices.count + 1;
    record_number(reader, json_object_get(json, "device"), "device", number, number);
    if (number > DEVICES_MAX)
        record_fail(reader, CLI_DIAG_RECORD_SIZE, "more than %d devices", DEVICES_MAX);
    struct record_device *device =
        reader->has_failed ? NULL : RECORD_ADD(reader, &reader->record->devices);
    if (!device)
        return;
    device->opened_ns = signed_member(reader, json, "time_ns");
    device->closed_ns = RECORD_UNKNOWN;
    device->label = text_member(reader, json, "label");
    device->backend = text_member(reader, json, "backend");
    device->kind = text_member(reader, json, "kind");
    device->name = text_member(reader, json, "name");
    device->driver = text_member(reader, json, "driver");
    device->uuid = text_member(reader, json, "uuid");
    read_abilities(reader, json, device);
    const json_t *calibration = json_object_get(json, "calibration");
    if (calibration)
        read_calibration(reader, calibration, &device->calibration);
}

static void read_calibrated(struct record_reader *reader, const json_t *json)
{
    uint32_t number = device_number(reader, json_object_get(json, "device"));
    if (number > 0)
        read_calibration(reader, json_object_get(json, "calibration"),
                         &reader->record->devices.items[number - 1].calibration);
}

static void read_closed(struct record_reader *reader, const json_t *json)
{
    uint32_t number = device_number(reader, json_object_get(json, "device"));
    int64_t time_ns = signed_member(reader, json, "time_ns");
    if (number > 0)
        reader->record->devices.items[number - 1].closed_ns = time_ns;
}

/* ---- Labels, kernels, leases, recordings, end -------------------------------------------------- */

static void read_label(struct record_reader *reader, const json_t *json)
{
    int64_t number = (int64_t)reader->record->labels.count;
    record_number(reader, json_object_get(json, "label"), "label", number, number);
    char *text = text_member(reader, json, "text");
    if (!text)
        return;
    char **label = RECORD_ADD(reader, &reader->record->labels);
    if (label)
        *label = text;
}

static void read_kernel(struct record_reader *reader, const json_t *json)
{
    struct record_kernel *kernel = RECORD_ADD(reader, &reader->record->kernels);
    if (!kernel)
        return;
    kernel->device = device_number(reader, json_object_get(json, "device"));
    kernel->label = label_number(reader, json_object_get(json, "label"));
    kernel->begin_ns = record_moment(reader, json_object_get(json, "begin_ns"), "begin_ns");
    kernel->compile_ns = member(reader, json, "compile_ns");
}

/* A lease has two entries, one for its begin and one for its end; the second completes the first. */
static void read_lease(struct record_reader *reader, const json_t *json)
{
    struct record *record = reader->record;
    struct record_lease lease;
    lease.device = device_number(reader, json_object_get(json, "device"));
    lease.lease = member(reader, json, "lease");
    lease.begin_ns = record_moment(reader, json_object_get(json, "begin_ns"), "begin_ns");
    lease.end_ns = record_moment(reader, json_object_get(json, "end_ns"), "end_ns");
    lease.is_derived = json_is_true(json_object_get(json, "derived"));
    const char *why = json_string_value(json_object_get(json, "why"));
    snprintf(lease.why, sizeof lease.why, "%s", why ? why : "");
    /* The begin is among the last few entries, or missing. */
    for (size_t i = record->leases.count; i > 0 && record->leases.count - i < 256; i--) {
        struct record_lease *known = &record->leases.items[i - 1];
        if (known->device == lease.device && known->lease == lease.lease) {
            *known = lease;
            return;
        }
    }
    struct record_lease *added = RECORD_ADD(reader, &record->leases);
    if (added)
        *added = lease;
}

static void read_recording(struct record_reader *reader, const json_t *json)
{
    struct record_recording *recording = RECORD_ADD(reader, &reader->record->recordings);
    if (!recording)
        return;
    recording->device = device_number(reader, json_object_get(json, "device"));
    const char *change = json_string_value(json_object_get(json, "change"));
    if (!change || (strcmp(change, "made") != 0 && strcmp(change, "evicted") != 0))
        record_fail(reader, CLI_DIAG_RECORD_VALUE, "`change` is neither made nor evicted");
    else
        recording->is_evicted = change[0] == 'e';
    record_shape(reader, json_object_get(json, "shape"), recording->shape);
    recording->time_ns = signed_member(reader, json, "time_ns");
    recording->size_bytes = member(reader, json, "size_bytes");
    recording->begin_ns = record_moment(reader, json_object_get(json, "begin_ns"), "begin_ns");
    recording->record_ns = member(reader, json, "record_ns");
}

static void read_end(struct record_reader *reader, const json_t *json)
{
    struct record_end *end = &reader->record->end;
    const json_t *closed = json_object_get(json, "closed");
    if (!json_is_boolean(closed))
        record_fail(reader, CLI_DIAG_RECORD_VALUE, "`closed` is neither true nor false");
    end->is_closed = json_is_true(closed);
    end->time_ns = member(reader, json, "time_ns");
    end->batches_seen = member(reader, json, "batches_seen");
    end->batches_kept = member(reader, json, "batches_kept");
    end->stride = member(reader, json, "stride");
    end->events_seen = member(reader, json, "events_seen");
    end->events_kept = member(reader, json, "events_kept");
    end->labels_dropped = member(reader, json, "labels_dropped");
    counts(reader, json, "by_mode", RECORD_NAMES_MODE, end->by_mode);
    counts(reader, json, "by_why", RECORD_NAMES_WHY, end->by_why);
    counts(reader, json, "by_status", RECORD_NAMES_STATUS, end->by_status);
    commands(reader, json_object_get(json, "commands"), end->commands);
    end->copied_bytes = member(reader, json, "copied_bytes");
    end->submit_ns = member(reader, json, "submit_ns");
    end->device_ns = member(reader, json, "device_ns");
    end->wall_ns = member(reader, json, "wall_ns");
    end->saved_ns = signed_member(reader, json, "saved_ns");
    int64_t kept = (int64_t)reader->record->batches.count;
    if (end->batches_kept != kept || end->batches_seen < kept)
        record_fail(reader, CLI_DIAG_RECORD_VALUE,
                    "the end counts %lld kept batches, but the record has %lld",
                    (long long)end->batches_kept, (long long)kept);
}

/* ---- Batches ----------------------------------------------------------------------------------- */

#define BATCH_COLUMNS   24
#define BATCH_COLUMNS_2 28

static void read_use(struct record_reader *reader, const json_t *row)
{
    if (record_array(reader, row, "kernels", 2, RECORD_NAMES_MAX) == 0)
        return;
    struct record_use *use = RECORD_ADD(reader, &reader->record->uses);
    if (!use)
        return;
    use->label = label_number(reader, json_array_get(row, 0));
    use->dispatches =
        record_number(reader, json_array_get(row, 1), "dispatches", 0, RECORD_NUMBER_MAX);
}

static void read_candidate(struct record_reader *reader, const json_t *row)
{
    if (record_array(reader, row, "candidates", 7, RECORD_NAMES_MAX) == 0)
        return;
    struct record_candidate *candidate = RECORD_ADD(reader, &reader->record->candidates);
    if (!candidate)
        return;
    candidate->mode = name_number(reader, json_array_get(row, 0), "mode", RECORD_NAMES_MODE);
    candidate->variant = (uint8_t)record_number(reader, json_array_get(row, 1), "variant", 0, 255);
    candidate->state = name_number(reader, json_array_get(row, 2), "state", RECORD_NAMES_STATE);
    candidate->reason = name_number(reader, json_array_get(row, 3), "reason", RECORD_NAMES_REASON);
    candidate->predicted_ns =
        record_number(reader, json_array_get(row, 4), "predicted_ns", 0, RECORD_NUMBER_MAX);
    candidate->measured_ns =
        record_number(reader, json_array_get(row, 5), "measured_ns", 0, RECORD_NUMBER_MAX);
    candidate->count = record_number(reader, json_array_get(row, 6), "count", 0, RECORD_NUMBER_MAX);
    if (json_array_size(row) < 10)
        return;
    candidate->windows =
        record_number(reader, json_array_get(row, 7), "windows", 0, RECORD_NUMBER_MAX);
    candidate->error_bps =
        record_number(reader, json_array_get(row, 8), "error_bps", 0, RECORD_NUMBER_MAX);
    candidate->look_at =
        record_number(reader, json_array_get(row, 9), "look_at", 0, RECORD_NUMBER_MAX);
}

static void read_lists(struct record_reader *reader, const json_t *row, struct record_batch *batch)
{
    const json_t *uses = json_array_get(row, 22);
    batch->use_first = reader->record->uses.count;
    batch->use_count = record_array(reader, uses, "kernels", 0, RECORD_NAMES_MAX);
    for (size_t i = 0; i < batch->use_count; i++)
        read_use(reader, json_array_get(uses, i));
    const json_t *candidates = json_array_get(row, 23);
    batch->candidate_first = reader->record->candidates.count;
    batch->candidate_count = record_array(reader, candidates, "candidates", 0, RECORD_NAMES_MAX);
    for (size_t i = 0; i < batch->candidate_count; i++)
        read_candidate(reader, json_array_get(candidates, i));
}

static void read_decision(struct record_reader *reader, const json_t *row,
                          struct record_batch *batch)
{
    batch->mode = name_number(reader, json_array_get(row, 4), "mode", RECORD_NAMES_MODE);
    batch->variant = (uint8_t)record_number(reader, json_array_get(row, 5), "variant", 0, 255);
    batch->why = name_number(reader, json_array_get(row, 6), "why", RECORD_NAMES_WHY);
    batch->is_settled = record_number(reader, json_array_get(row, 7), "settled", 0, 255) != 0;
    record_shape(reader, json_array_get(row, 9), batch->shape);
    const struct {
        size_t column;
        const char *name;
        int64_t *out;
    } numbers[] = {
        {1, "sequence", &batch->sequence},          {8, "decision", &batch->decision},
        {10, "repeat_hint", &batch->repeat_hint},   {11, "repeats_seen", &batch->repeats_seen},
        {12, "predicted_ns", &batch->predicted_ns}, {13, "wall_ns", &batch->wall_ns},
        {16, "submit_ns", &batch->submit_ns},       {18, "device_ns", &batch->device_ns},
        {21, "copied_bytes", &batch->copied_bytes},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        *numbers[i].out = record_number(reader, json_array_get(row, numbers[i].column),
                                        numbers[i].name, 0, RECORD_NUMBER_MAX);
    batch->saved_ns = record_number(reader, json_array_get(row, 14), "saved_ns", -RECORD_NUMBER_MAX,
                                    RECORD_NUMBER_MAX);
}

/* From version 2 on. */
static void read_wanted(struct record_reader *reader, const json_t *row, struct record_batch *batch)
{
    batch->wanted = name_number(reader, json_array_get(row, 24), "wanted", RECORD_NAMES_MODE);
    batch->wanted_variant =
        (uint8_t)record_number(reader, json_array_get(row, 25), "wanted_variant", 0, 255);
    batch->wanted_out =
        name_number(reader, json_array_get(row, 26), "wanted_out", RECORD_NAMES_WHY);
    batch->evidence =
        name_number(reader, json_array_get(row, 27), "evidence", RECORD_NAMES_EVIDENCE);
}

static void read_batch(struct record_reader *reader, const json_t *row)
{
    size_t columns = reader->record->version > 1 ? BATCH_COLUMNS_2 : BATCH_COLUMNS;
    if (record_array(reader, row, "batch", columns, RECORD_NAMES_MAX) == 0)
        return;
    struct record_batch *batch = RECORD_ADD(reader, &reader->record->batches);
    if (!batch)
        return;
    batch->device = device_number(reader, json_array_get(row, 0));
    batch->label = label_number(reader, json_array_get(row, 2));
    batch->status = name_number(reader, json_array_get(row, 3), "status", RECORD_NAMES_STATUS);
    read_decision(reader, row, batch);
    if (reader->record->version > 1)
        read_wanted(reader, row, batch);
    batch->submit_begin_ns = record_moment(reader, json_array_get(row, 15), "submit_begin_ns");
    batch->device_begin_ns = record_moment(reader, json_array_get(row, 17), "device_begin_ns");
    batch->complete_ns = record_moment(reader, json_array_get(row, 19), "complete_ns");
    commands(reader, json_array_get(row, 20), batch->commands);
    read_lists(reader, row, batch);
}

/* ---- Any --------------------------------------------------------------------------------------- */

bool record_item(struct record_reader *reader, const json_t *json, bool *out_is_end)
{
    static const struct {
        const char *type;
        void (*read)(struct record_reader *reader, const json_t *json);
    } kinds[] = {
        {"end", read_end},       {"label", read_label},           {"device", read_device},
        {"closed", read_closed}, {"calibrated", read_calibrated}, {"kernel", read_kernel},
        {"lease", read_lease},   {"recording", read_recording},   {"shape", record_policies},
    };
    *out_is_end = false;
    if (json_is_array(json)) {
        read_batch(reader, json);
        return !reader->has_failed;
    }
    const char *type = json_string_value(json_object_get(json, "type"));
    if (!type)
        return record_fail(reader, CLI_DIAG_RECORD_VALUE, "the entry has no `type`");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(type, kinds[i].type) == 0) {
            kinds[i].read(reader, json);
            *out_is_end = i == 0;
            break;
        }
    }
    /* Later minor versions may add types; unknown ones are skipped. */
    return !reader->has_failed;
}
