/*
 * data.c: a record in the form that the page of `vyre report` reads.
 */
#include "report/data.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/intern.h"

struct page {
    const struct record *record;
    struct cli_output *out;
    struct cli_intern shapes;
    struct cli_intern works;
    size_t *shape_of; /* Owned, both: by batch */
    size_t *work_of;
    struct record_span *spans; /* Owned */
};

/* ---- Pieces ------------------------------------------------------------------------------------ */

static void text(struct page *page, const char *piece)
{
    cli_output_text(page->out, piece);
}

static void number(struct page *page, int64_t value)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRId64, value);
    cli_output_bytes(page->out, digits, (size_t)length);
}

static void moment(struct page *page, int64_t value)
{
    if (value == RECORD_UNKNOWN)
        text(page, "null");
    else
        number(page, value);
}

/* Escaped so that the text cannot end a script element or begin a comment in it. */
static void string(struct page *page, const char *value)
{
    static const char hex[] = "0123456789abcdef";
    text(page, "\"");
    for (const char *at = value; *at; at++) {
        unsigned char code = (unsigned char)*at;
        if (code < 0x20 || code == 0x7f || strchr("\"\\<>&'", *at)) {
            char escaped[] = {'\\', 'u', '0', '0', hex[code >> 4], hex[code & 15]};
            cli_output_bytes(page->out, escaped, sizeof escaped);
        } else {
            cli_output_bytes(page->out, at, 1);
        }
    }
    text(page, "\"");
}

static void key(struct page *page, const char *name)
{
    text(page, ",\"");
    text(page, name);
    text(page, "\":");
}

static void comma(struct page *page, size_t index)
{
    if (index > 0)
        text(page, ",");
}

static void numbers(struct page *page, const int64_t *values, size_t count)
{
    text(page, "[");
    for (size_t i = 0; i < count; i++) {
        comma(page, i);
        number(page, values[i]);
    }
    text(page, "]");
}

/* ---- Everything except batches ----------------------------------------------------------------- */

static void write_names(struct page *page)
{
    static const char *const lists[RECORD_NAME_LISTS] = {"mode",    "why",     "reason", "status",
                                                         "command", "ability", "cost",   "state",
                                                         "variant", "evidence"};
    key(page, "names");
    text(page, "{");
    for (size_t i = 0; i < RECORD_NAME_LISTS; i++) {
        comma(page, i);
        string(page, lists[i]);
        text(page, ":[");
        for (size_t j = 0; j < page->record->names[i].count; j++) {
            comma(page, j);
            string(page, page->record->names[i].items[j]);
        }
        text(page, "]");
    }
    text(page, "}");
}

static void write_calibration(struct page *page, const struct record_calibration *calibration)
{
    key(page, "calibration");
    if (calibration->taken_s == 0) {
        text(page, "null");
        return;
    }
    text(page, "{\"taken_s\":");
    number(page, calibration->taken_s);
    key(page, "took_ns");
    number(page, calibration->took_ns);
    key(page, "costs");
    text(page, "[");
    for (size_t i = 0; i < calibration->cost_count; i++) {
        comma(page, i);
        numbers(page, calibration->costs[i].values, 7);
    }
    text(page, "]}");
}

static void write_device(struct page *page, const struct record_device *device)
{
    text(page, "{\"label\":");
    string(page, device->label);
    key(page, "backend");
    string(page, device->backend);
    key(page, "kind");
    string(page, device->kind);
    key(page, "name");
    string(page, device->name);
    key(page, "driver");
    string(page, device->driver);
    key(page, "uuid");
    string(page, device->uuid);
    key(page, "abilities");
    text(page, "[");
    for (size_t i = 0; i < device->ability_count; i++) {
        comma(page, i);
        text(page, "[");
        number(page, device->abilities[i].value);
        text(page, ",");
        string(page, device->abilities[i].reason);
        text(page, "]");
    }
    text(page, "]");
    write_calibration(page, &device->calibration);
    text(page, "}");
}

static void write_devices(struct page *page)
{
    key(page, "devices");
    text(page, "[");
    for (size_t i = 0; i < page->record->devices.count; i++) {
        comma(page, i);
        write_device(page, &page->record->devices.items[i]);
    }
    text(page, "]");
}

static void write_kernels(struct page *page)
{
    key(page, "kernels");
    text(page, "[");
    for (size_t i = 0; i < page->record->kernels.count; i++) {
        const struct record_kernel *kernel = &page->record->kernels.items[i];
        comma(page, i);
        text(page, "[");
        number(page, kernel->device);
        text(page, ",");
        number(page, kernel->label);
        text(page, ",");
        moment(page, kernel->begin_ns);
        text(page, ",");
        number(page, kernel->compile_ns);
        text(page, "]");
    }
    text(page, "]");
}

static void write_leases(struct page *page)
{
    key(page, "leases");
    text(page, "[");
    for (size_t i = 0; i < page->record->leases.count; i++) {
        const struct record_lease *lease = &page->record->leases.items[i];
        comma(page, i);
        text(page, "[");
        number(page, lease->device);
        text(page, ",");
        number(page, lease->lease);
        text(page, ",");
        moment(page, lease->begin_ns);
        text(page, ",");
        moment(page, lease->end_ns);
        text(page, ",");
        number(page, lease->is_derived);
        text(page, ",");
        string(page, lease->why);
        text(page, "]");
    }
    text(page, "]");
}

static void write_recordings(struct page *page)
{
    key(page, "recordings");
    text(page, "[");
    for (size_t i = 0; i < page->record->recordings.count; i++) {
        const struct record_recording *recording = &page->record->recordings.items[i];
        comma(page, i);
        text(page, "[");
        number(page, recording->device);
        text(page, recording->is_evicted ? ",1," : ",0,");
        string(page, recording->shape);
        text(page, ",");
        number(page, recording->time_ns);
        text(page, ",");
        number(page, recording->size_bytes);
        text(page, ",");
        moment(page, recording->begin_ns);
        text(page, ",");
        number(page, recording->record_ns);
        text(page, "]");
    }
    text(page, "]");
}

static void write_end(struct page *page)
{
    const struct record_end *end = &page->record->end;
    const struct record *record = page->record;
    key(page, "end");
    text(page, end->is_closed ? "{\"closed\":true" : "{\"closed\":false");
    const struct {
        const char *name;
        int64_t value;
    } members[] = {
        {"time_ns", end->time_ns},           {"batches_seen", end->batches_seen},
        {"batches_kept", end->batches_kept}, {"stride", end->stride},
        {"copied_bytes", end->copied_bytes}, {"submit_ns", end->submit_ns},
        {"device_ns", end->device_ns},       {"wall_ns", end->wall_ns},
        {"saved_ns", end->saved_ns},
    };
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        key(page, members[i].name);
        number(page, members[i].value);
    }
    key(page, "by_mode");
    numbers(page, end->by_mode, record_name_count(record, RECORD_NAMES_MODE));
    key(page, "by_why");
    numbers(page, end->by_why, record_name_count(record, RECORD_NAMES_WHY));
    key(page, "by_status");
    numbers(page, end->by_status, record_name_count(record, RECORD_NAMES_STATUS));
    key(page, "commands");
    numbers(page, end->commands, VYRE_COMMAND_TYPE_COUNT);
    text(page, "}");
}

/* ---- Batches ----------------------------------------------------------------------------------- */

/* The work of a batch as a row of numbers: commands, copied bytes, then kernels with dispatches. */
static bool intern_work(struct page *page, const struct record_batch *batch, size_t *out_number)
{
    int64_t row[VYRE_COMMAND_TYPE_COUNT + 1 + 2 * RECORD_NAMES_MAX];
    size_t used = 0;
    for (size_t i = 0; i < VYRE_COMMAND_TYPE_COUNT; i++)
        row[used++] = batch->commands[i];
    row[used++] = batch->copied_bytes;
    for (size_t i = 0; i < batch->use_count; i++) {
        const struct record_use *use = &page->record->uses.items[batch->use_first + i];
        row[used++] = use->label;
        row[used++] = use->dispatches;
    }
    return cli_intern_add(&page->works, row, used * sizeof row[0], out_number);
}

static bool intern_all(struct page *page)
{
    for (size_t i = 0; i < page->record->batches.count; i++) {
        const struct record_batch *batch = &page->record->batches.items[i];
        if (!cli_intern_add(&page->shapes, batch->shape, sizeof batch->shape, &page->shape_of[i]) ||
            !intern_work(page, batch, &page->work_of[i]))
            return false;
    }
    return true;
}

static void write_works(struct page *page)
{
    key(page, "works");
    text(page, "[");
    for (size_t i = 0; i < page->works.count; i++) {
        const struct cli_intern_entry *entry = &page->works.entries[i];
        comma(page, i);
        text(page, "[");
        for (size_t j = 0; j < entry->size / sizeof(int64_t); j++) {
            int64_t value;
            memcpy(&value, page->works.bytes + entry->offset + j * sizeof value, sizeof value);
            comma(page, j);
            number(page, value);
        }
        text(page, "]");
    }
    text(page, "]");
}

static void write_shapes(struct page *page)
{
    key(page, "shapes");
    text(page, "[");
    for (size_t i = 0; i < page->shapes.count; i++) {
        comma(page, i);
        string(page, page->shapes.bytes + page->shapes.entries[i].offset);
    }
    text(page, "]");
}

enum column {
    COLUMN_DEVICE,
    COLUMN_SEQUENCE,
    COLUMN_LABEL,
    COLUMN_STATUS,
    COLUMN_MODE,
    COLUMN_VARIANT,
    COLUMN_WHY,
    COLUMN_SHAPE,
    COLUMN_REPEAT_HINT,
    COLUMN_REPEATS_SEEN,
    COLUMN_PREDICTED,
    COLUMN_WALL,
    COLUMN_SAVED,
    COLUMN_SUBMIT_BEGIN,
    COLUMN_SUBMIT,
    COLUMN_DEVICE_BEGIN,
    COLUMN_DEVICE_END,
    COLUMN_DEVICE_NS,
    COLUMN_DERIVED,
    COLUMN_COMPLETE,
    COLUMN_WORK,
};

static const char *const column_names[] = {
    "device",   "sequence",        "label",       "status",          "mode",          "variant",
    "why",      "shape",           "repeat_hint", "repeats_seen",    "predicted_ns",  "wall_ns",
    "saved_ns", "submit_begin_ns", "submit_ns",   "device_begin_ns", "device_end_ns", "device_ns",
    "derived",  "complete_ns",     "work"};

static int64_t value_of(const struct page *page, size_t index, enum column column)
{
    const struct record_batch *batch = &page->record->batches.items[index];
    switch (column) {
    case COLUMN_DEVICE:
        return batch->device;
    case COLUMN_SEQUENCE:
        return batch->sequence;
    case COLUMN_LABEL:
        return batch->label;
    case COLUMN_STATUS:
        return batch->status;
    case COLUMN_MODE:
        return batch->mode;
    case COLUMN_VARIANT:
        return batch->variant;
    case COLUMN_WHY:
        return batch->why;
    case COLUMN_SHAPE:
        return (int64_t)page->shape_of[index];
    case COLUMN_REPEAT_HINT:
        return batch->repeat_hint;
    case COLUMN_REPEATS_SEEN:
        return batch->repeats_seen;
    case COLUMN_PREDICTED:
        return batch->predicted_ns;
    case COLUMN_WALL:
        return batch->wall_ns;
    case COLUMN_SAVED:
        return batch->saved_ns;
    case COLUMN_SUBMIT_BEGIN:
        return batch->submit_begin_ns;
    case COLUMN_SUBMIT:
        return batch->submit_ns;
    case COLUMN_DEVICE_BEGIN:
        return page->spans[index].begin_ns;
    case COLUMN_DEVICE_END:
        return page->spans[index].end_ns;
    case COLUMN_DEVICE_NS:
        return batch->device_ns;
    case COLUMN_DERIVED:
        return page->spans[index].is_derived;
    case COLUMN_COMPLETE:
        return batch->complete_ns;
    case COLUMN_WORK:
        return (int64_t)page->work_of[index];
    }
    return 0;
}

static void write_batches(struct page *page)
{
    key(page, "batches");
    text(page, "{");
    for (size_t column = 0; column < sizeof column_names / sizeof column_names[0]; column++) {
        text(page, column > 0 ? ",\n" : "\n");
        string(page, column_names[column]);
        text(page, ":[");
        for (size_t i = 0; i < page->record->batches.count; i++) {
            comma(page, i);
            moment(page, value_of(page, i, (enum column)column));
        }
        text(page, "]");
    }
    text(page, "}");
}

static void write_candidates(struct page *page)
{
    bool is_first = true;
    key(page, "candidates");
    text(page, "[");
    for (size_t i = 0; i < page->record->batches.count; i++) {
        const struct record_batch *batch = &page->record->batches.items[i];
        if (batch->candidate_count == 0)
            continue;
        text(page, is_first ? "\n[" : ",\n[");
        is_first = false;
        number(page, (int64_t)i);
        for (size_t j = 0; j < batch->candidate_count; j++) {
            const struct record_candidate *candidate =
                &page->record->candidates.items[batch->candidate_first + j];
            const int64_t row[] = {candidate->mode,         candidate->variant,
                                   candidate->state,        candidate->reason,
                                   candidate->predicted_ns, candidate->measured_ns,
                                   candidate->count};
            for (size_t k = 0; k < sizeof row / sizeof row[0]; k++) {
                text(page, ",");
                number(page, row[k]);
            }
        }
        text(page, "]");
    }
    text(page, "]");
}

/* ---- Whole ------------------------------------------------------------------------------------- */

static void write_all(struct page *page, const char *source)
{
    const struct record *record = page->record;
    text(page, "{\"vyre\":");
    string(page, record->vyre);
    key(page, "source");
    string(page, source);
    key(page, "start_unix_ns");
    number(page, record->start_unix_ns);
    write_names(page);
    key(page, "labels");
    text(page, "[");
    for (size_t i = 0; i < record->labels.count; i++) {
        comma(page, i);
        string(page, record->labels.items[i]);
    }
    text(page, "]");
    write_devices(page);
    write_kernels(page);
    write_leases(page);
    write_recordings(page);
    write_end(page);
    write_works(page);
    write_shapes(page);
    write_batches(page);
    write_candidates(page);
    text(page, "}");
}

bool cli_report_data(const struct record *record, const char *source, struct cli_output *out)
{
    struct page page = {.record = record, .out = out};
    page.shape_of = calloc(record->batches.count + 1, sizeof *page.shape_of);
    page.work_of = calloc(record->batches.count + 1, sizeof *page.work_of);
    page.spans = record_device_spans(record);
    bool is_ready = page.shape_of && page.work_of && page.spans && intern_all(&page);
    if (is_ready)
        write_all(&page, source);
    cli_intern_deinit(&page.shapes);
    cli_intern_deinit(&page.works);
    free(page.shape_of);
    free(page.work_of);
    free(page.spans);
    return is_ready;
}
