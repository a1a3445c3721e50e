/*
 * record_fuzz.c: records of any bytes through the reader, and what was read through the page's data
 * and through the explanation of its first batches.
 *
 * What must hold: the status and the diagnostic agree; a refused record names its place; in one that
 * was read every number is an index of something; the page's data has no `<`; an explanation has
 * nothing that moves the cursor.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain/recorded_batch.h"
#include "record/record.h"
#include "report/data.h"
#include "terminal/diag.h"
#include "terminal/output.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static ssize_t look(void *user, const char *bytes, size_t size_bytes)
{
    (void)user;
    require(memchr(bytes, '<', size_bytes) == NULL);
    return (ssize_t)size_bytes;
}

static ssize_t look_plain(void *user, const char *bytes, size_t size_bytes)
{
    (void)user;
    for (size_t i = 0; i < size_bytes; i++)
        require((unsigned char)bytes[i] >= 0x20 || bytes[i] == '\n');
    return (ssize_t)size_bytes;
}

static void explain(const struct record *record, struct cli_output *out)
{
    for (size_t i = 0; i < record->batches.count && i < 16; i++) {
        struct recorded_batch batch;
        recorded_batch_find(&batch, record, i);
        explain_print_policies(&batch.said, out);
        explain_print_candidates(&batch.said, out);
        explain_print_turns(&batch.said, out);
    }
}

static void require_sound(const struct record *record)
{
    require(record->end.batches_kept == (int64_t)record->batches.count);
    for (size_t i = 0; i < record->batches.count; i++) {
        const struct record_batch *batch = &record->batches.items[i];
        require(batch->device >= 1 && batch->device <= record->devices.count);
        require(batch->label < record->labels.count);
        require(batch->mode < record->names[RECORD_NAMES_MODE].count);
        require(batch->why < record->names[RECORD_NAMES_WHY].count);
        require(strlen(batch->shape) == 32);
        require(batch->use_first + batch->use_count <= record->uses.count);
        require(batch->candidate_first + batch->candidate_count <= record->candidates.count);
    }
    for (size_t i = 0; i < record->uses.count; i++)
        require(record->uses.items[i].label < record->labels.count);
    for (size_t i = 0; i < record->kernels.count; i++)
        require(record->kernels.items[i].label < record->labels.count);
    struct record_span *spans = record_device_spans(record);
    require(spans != NULL);
    for (size_t i = 0; i < record->batches.count; i++)
        require(spans[i].begin_ns <= spans[i].end_ns);
    free(spans);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* fmemopen takes no empty memory. */
    if (size == 0)
        return 0;
    FILE *stream = fmemopen((void *)(uintptr_t)data, size, "r");
    if (!stream)
        return 0;
    struct record *record = NULL;
    struct cli_position position = {.file = "record"};
    struct vyre_diag diag;
    vyre_diag_reset(&diag);
    enum vyre_status status = record_read_stream(stream, &record, &position, &diag);
    fclose(stream);
    require((status == VYRE_OK) == (record != NULL));
    require(status == diag.status);
    if (record) {
        require_sound(record);
        struct cli_output *out = malloc(sizeof *out);
        require(out != NULL);
        cli_output_init(out, look, NULL);
        require(cli_report_data(record, "</script>", out));
        cli_output_flush(out);
        cli_output_init(out, look_plain, NULL);
        explain(record, out);
        cli_output_flush(out);
        free(out);
    } else {
        require(position.line > 0 && position.column > 0);
        require((int)diag.id >= CLI_DIAG_RECORD_OPEN && (int)diag.id <= CLI_DIAG_RECORD_SIZE);
    }
    record_destroy(&record);
    require(record == NULL);
    return 0;
}
