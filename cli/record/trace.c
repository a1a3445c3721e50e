/*
 * trace.c: `vyre trace`, which turns a record into Chrome's trace format.
 *
 * A track of that format holds spans that nest or follow each other. Spans that can overlap (submits
 * of two threads, batches on two queues) are spread over as many tracks as they need.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "record/record.h"
#include "run/options.h"
#include "terminal/json.h"
#include "terminal/message.h"
#include "terminal/out_file.h"

/* If more spans than this overlap, the rest are left out and counted. */
#define TRACKS_MAX 64

enum span_kind {
    SPAN_SUBMIT,
    SPAN_COMPILE,
    SPAN_RECORDING,
    SPAN_BATCH,
    SPAN_LEASE,
};

static const char *const kind_names[] = {"submit", "compile", "record", "batch", "lease"};

struct span {
    int64_t begin_ns;
    int64_t end_ns;
    size_t index; /* of the batch, kernel, recording or lease */
};

/* Spans of one kind and one process. */
struct spans {
    struct span *items; /* Owned; large enough for all spans */
    size_t count;
    enum span_kind kind;
    unsigned process;
};

struct trace {
    const struct record *record;
    struct record_span *device_spans; /* Owned */
    struct span *memory;              /* Owned */
    struct cli_json json;
    uint64_t left_out;
    unsigned next_track; /* of the current process */
    bool has_failed;
};

#define HOST_PROCESS 1

/* ---- Events ------------------------------------------------------------------------------------ */

/* Microseconds with three decimals, so that no nanosecond is lost. */
static void microseconds(struct cli_output *out, int64_t ns)
{
    char text[32];
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    int length = snprintf(text, sizeof text, "%s%" PRIu64 ".%03u", ns < 0 ? "-" : "", size / 1000,
                          (unsigned)(size % 1000));
    cli_output_bytes(out, text, (size_t)length);
}

static void begin_event(struct trace *trace, const char *name, const char *phase, unsigned process,
                        unsigned track)
{
    cli_json_object(&trace->json, NULL);
    cli_json_text(&trace->json, "name", name);
    cli_json_text(&trace->json, "ph", phase);
    cli_json_u64(&trace->json, "pid", process);
    cli_json_u64(&trace->json, "tid", track);
}

static void metadata(struct trace *trace, const char *what, unsigned process, unsigned track,
                     const char *name)
{
    begin_event(trace, what, "M", process, track);
    cli_json_object(&trace->json, "args");
    cli_json_text(&trace->json, "name", name);
    cli_json_end_object(&trace->json);
    cli_json_end_object(&trace->json);
}

static void batch_arguments(struct trace *trace, const struct record_batch *batch, bool is_derived)
{
    const struct record *record = trace->record;
    struct cli_json *json = &trace->json;
    char way[256];
    record_candidate_name(record, batch->mode, batch->variant, way, sizeof way);
    cli_json_i64(json, "sequence", batch->sequence);
    cli_json_text(json, "mode", way);
    cli_json_text(json, "why", record_name(record, RECORD_NAMES_WHY, batch->why));
    cli_json_text(json, "status", record_name(record, RECORD_NAMES_STATUS, batch->status));
    cli_json_i64(json, "predicted_ns", batch->predicted_ns);
    cli_json_i64(json, "measured_ns", batch->wall_ns);
    cli_json_i64(json, "saved_ns", batch->saved_ns);
    for (size_t i = 0; i < VYRE_COMMAND_TYPE_COUNT; i++) {
        if (batch->commands[i] > 0)
            cli_json_i64(json, vyre_command_type_name((enum vyre_command_type)i),
                         batch->commands[i]);
    }
    cli_json_i64(json, "copied_bytes", batch->copied_bytes);
    cli_json_text(json, "shape", batch->shape);
    cli_json_flag(json, "derived", is_derived);
}

static void arguments(struct trace *trace, enum span_kind kind, size_t index)
{
    const struct record *record = trace->record;
    switch (kind) {
    case SPAN_SUBMIT:
        batch_arguments(trace, &record->batches.items[index], false);
        break;
    case SPAN_BATCH:
        batch_arguments(trace, &record->batches.items[index],
                        trace->device_spans[index].is_derived);
        break;
    case SPAN_COMPILE:
        cli_json_i64(&trace->json, "device", record->kernels.items[index].device);
        break;
    case SPAN_RECORDING:
        cli_json_text(&trace->json, "shape", record->recordings.items[index].shape);
        cli_json_i64(&trace->json, "size_bytes", record->recordings.items[index].size_bytes);
        break;
    case SPAN_LEASE:
        cli_json_i64(&trace->json, "lease", record->leases.items[index].lease);
        cli_json_flag(&trace->json, "derived", record->leases.items[index].is_derived);
        if (record->leases.items[index].why[0] != '\0')
            cli_json_text(&trace->json, "why", record->leases.items[index].why);
        break;
    }
}

static const char *name_of(const struct trace *trace, enum span_kind kind, size_t index)
{
    const struct record *record = trace->record;
    const char *label = "";
    if (kind == SPAN_SUBMIT || kind == SPAN_BATCH)
        label = record->labels.items[record->batches.items[index].label];
    else if (kind == SPAN_COMPILE)
        label = record->labels.items[record->kernels.items[index].label];
    return label[0] ? label : kind_names[kind];
}

/* ---- Tracks ------------------------------------------------------------------------------------ */

static int compare_spans(const void *a, const void *b)
{
    const struct span *left = a;
    const struct span *right = b;
    if (left->begin_ns != right->begin_ns)
        return left->begin_ns < right->begin_ns ? -1 : 1;
    if (left->end_ns != right->end_ns)
        return left->end_ns < right->end_ns ? -1 : 1;
    return (left->index > right->index) - (left->index < right->index);
}

static void name_track(struct trace *trace, const struct spans *spans, unsigned track,
                       unsigned number)
{
    char name[64];
    if (number == 0)
        snprintf(name, sizeof name, "%s", kind_names[spans->kind]);
    else
        snprintf(name, sizeof name, "%s (%u)", kind_names[spans->kind], number + 1);
    metadata(trace, "thread_name", spans->process, track, name);
}

static void write_span(struct trace *trace, const struct spans *spans, const struct span *span,
                       unsigned track)
{
    begin_event(trace, name_of(trace, spans->kind, span->index), "X", spans->process, track);
    cli_json_text(&trace->json, "cat", kind_names[spans->kind]);
    cli_output_text(trace->json.out, ",\"ts\":");
    microseconds(trace->json.out, span->begin_ns);
    cli_output_text(trace->json.out, ",\"dur\":");
    microseconds(trace->json.out, span->end_ns - span->begin_ns);
    cli_json_object(&trace->json, "args");
    arguments(trace, spans->kind, span->index);
    cli_json_end_object(&trace->json);
    cli_json_end_object(&trace->json);
}

/* Each span goes to the first track that is free when it begins. */
static void write_spans(struct trace *trace, struct spans *spans)
{
    int64_t free_at[TRACKS_MAX];
    unsigned used = 0;
    qsort(spans->items, spans->count, sizeof *spans->items, compare_spans);
    for (size_t i = 0; i < spans->count; i++) {
        const struct span *span = &spans->items[i];
        unsigned track = 0;
        while (track < used && free_at[track] > span->begin_ns)
            track++;
        if (track == TRACKS_MAX) {
            trace->left_out++;
            continue;
        }
        if (track == used)
            name_track(trace, spans, trace->next_track + used++, track);
        free_at[track] = span->end_ns;
        write_span(trace, spans, span, trace->next_track + track);
    }
    trace->next_track += used;
}

static void add(struct spans *spans, int64_t begin_ns, int64_t end_ns, size_t index)
{
    if (begin_ns == RECORD_UNKNOWN)
        return;
    if (end_ns < begin_ns)
        end_ns = begin_ns;
    spans->items[spans->count++] = (struct span){begin_ns, end_ns, index};
}

/* ---- Processes --------------------------------------------------------------------------------- */

static void write_host(struct trace *trace)
{
    const struct record *record = trace->record;
    metadata(trace, "process_name", HOST_PROCESS, 0, "host");
    trace->next_track = 1;
    struct spans spans = {trace->memory, 0, SPAN_SUBMIT, HOST_PROCESS};
    for (size_t i = 0; i < record->batches.count; i++) {
        const struct record_batch *batch = &record->batches.items[i];
        add(&spans, batch->submit_begin_ns, batch->submit_begin_ns + batch->submit_ns, i);
    }
    write_spans(trace, &spans);
    spans = (struct spans){trace->memory, 0, SPAN_COMPILE, HOST_PROCESS};
    for (size_t i = 0; i < record->kernels.count; i++) {
        const struct record_kernel *kernel = &record->kernels.items[i];
        add(&spans, kernel->begin_ns, kernel->begin_ns + kernel->compile_ns, i);
    }
    write_spans(trace, &spans);
    spans = (struct spans){trace->memory, 0, SPAN_RECORDING, HOST_PROCESS};
    for (size_t i = 0; i < record->recordings.count; i++) {
        const struct record_recording *recording = &record->recordings.items[i];
        if (!recording->is_evicted)
            add(&spans, recording->begin_ns, recording->begin_ns + recording->record_ns, i);
    }
    write_spans(trace, &spans);
}

static void write_device(struct trace *trace, uint32_t number)
{
    const struct record *record = trace->record;
    const struct record_device *device = &record->devices.items[number - 1];
    unsigned process = HOST_PROCESS + number;
    char name[512];
    snprintf(name, sizeof name, "%.100s: %.300s", device->backend, device->name);
    metadata(trace, "process_name", process, 0, name);
    trace->next_track = 1;
    struct spans spans = {trace->memory, 0, SPAN_BATCH, process};
    for (size_t i = 0; i < record->batches.count; i++) {
        if (record->batches.items[i].device == number)
            add(&spans, trace->device_spans[i].begin_ns, trace->device_spans[i].end_ns, i);
    }
    write_spans(trace, &spans);
    spans = (struct spans){trace->memory, 0, SPAN_LEASE, process};
    for (size_t i = 0; i < record->leases.count; i++) {
        const struct record_lease *lease = &record->leases.items[i];
        int64_t end_ns = lease->end_ns != RECORD_UNKNOWN ? lease->end_ns : record->end.time_ns;
        if (lease->device == number)
            add(&spans, lease->begin_ns, end_ns, i);
    }
    write_spans(trace, &spans);
}

static size_t most_spans(const struct record *record)
{
    size_t most = record->batches.count;
    if (record->kernels.count > most)
        most = record->kernels.count;
    if (record->recordings.count > most)
        most = record->recordings.count;
    if (record->leases.count > most)
        most = record->leases.count;
    return most + 1;
}

static void write_trace(void *user, struct cli_output *out)
{
    struct trace *trace = user;
    const struct record *record = trace->record;
    struct cli_json *json = &trace->json;
    trace->device_spans = record_device_spans(record);
    trace->memory = calloc(most_spans(record), sizeof *trace->memory);
    trace->has_failed = !trace->device_spans || !trace->memory;
    if (!trace->has_failed) {
        cli_json_init(json, out);
        cli_json_object(json, NULL);
        cli_json_array(json, "traceEvents");
        write_host(trace);
        for (size_t i = 0; i < record->devices.count; i++)
            write_device(trace, (uint32_t)i + 1);
        cli_json_end_array(json);
        cli_json_text(json, "displayTimeUnit", "ns");
        cli_json_object(json, "otherData");
        cli_json_text(json, "vyre", record->vyre);
        cli_json_i64(json, "start_unix_ns", record->start_unix_ns);
        cli_json_i64(json, "batches_seen", record->end.batches_seen);
        cli_json_i64(json, "batches_kept", record->end.batches_kept);
        cli_json_u64(json, "spans_left_out", trace->left_out);
        cli_json_end_object(json);
        cli_json_end_object(json);
        cli_json_finish(json);
    }
    free(trace->device_spans);
    free(trace->memory);
}

/* ---- The command ------------------------------------------------------------------------------- */

enum cli_exit cli_trace_run(char **arguments_, size_t count, struct cli_output *out)
{
    struct vyre_diag diag;
    vyre_diag_reset(&diag);
    struct cli_options options;
    if (cli_options_read("trace", CLI_TAKES_FILE | CLI_TAKES_OUTPUT, arguments_, count, &options,
                         &diag) != VYRE_OK) {
        cli_message_print(&diag, NULL);
        return CLI_EXIT_BAD_INPUT;
    }
    if (options.help) {
        cli_trace_help(out);
        return CLI_EXIT_DONE;
    }
    struct record *record = record_read_file(options.file);
    if (!record)
        return CLI_EXIT_BAD_INPUT;
    struct trace trace = {.record = record};
    enum cli_exit result = cli_out_file(options.output ? options.output : "trace.json",
                                        options.file, out, write_trace, &trace);
    record_destroy(&record);
    if (trace.has_failed) {
        (void)vyre_diag_set(&diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0, "no memory for the trace");
        cli_message_print(&diag, NULL);
        return CLI_EXIT_FAILED;
    }
    return result;
}

void cli_trace_help(struct cli_output *out)
{
    cli_output_text(
        out,
        "Usage: vyre trace OUT.json [-o FILE]\n"
        "\n"
        "Converts a record of `vyre run --record` into Chrome's trace format, with tracks for the\n"
        "host (submits, compiles, recordings) and for each device (batches, leases). Open it in\n"
        "the Perfetto UI or chrome://tracing.\n"
        "\n"
        "  -o, --output FILE  write the trace to FILE, trace.json by default; - is standard "
        "output\n"
        "  -h, --help         print this help\n"
        "\n"
        "Examples:\n"
        "  vyre trace out.json -o trace.json\n"
        "  vyre trace out.json -o - | jq '.traceEvents | length'\n");
}
