/*
 * store_import_fuzz.c: arbitrary bytes through the reader of exported stores.
 *
 * What must hold:
 *
 *   - a refusal says what is wrong, with an id of the reader, and changes nothing
 *   - what was taken can be exported, and the export is taken whole by another store, which then
 *     exports the same records
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/json.h"
#include "terminal/diag.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct text {
    char *bytes;
    size_t size;
    size_t capacity;
};

static void require(bool holds, const char *promise)
{
    if (!holds) {
        fprintf(stderr, "store_import_fuzz: %s\n", promise);
        abort();
    }
}

static ssize_t append(void *user, const char *bytes, size_t size_bytes)
{
    struct text *text = user;
    if (text->capacity - text->size < size_bytes) {
        text->capacity = 2 * text->capacity + size_bytes;
        text->bytes = realloc(text->bytes, text->capacity);
        require(text->bytes != NULL, "there is memory");
    }
    memcpy(text->bytes + text->size, bytes, size_bytes);
    text->size += size_bytes;
    return (ssize_t)size_bytes;
}

static struct text export_of(struct vyre_store *store)
{
    struct text text = {0};
    struct cli_output *out = malloc(sizeof *out);
    uint64_t damaged;
    require(out != NULL, "there is memory");
    cli_output_init(out, append, &text);
    require(cli_store_export(store, out, &damaged, NULL) == VYRE_OK, "a store can be exported");
    cli_output_flush(out);
    require(damaged == 0, "what was taken is sound");
    free(out);
    return text;
}

static struct vyre_store_info info_of(struct vyre_store *store)
{
    struct vyre_store_info info;
    vyre_store_get_info(store, &info);
    return info;
}

static uint64_t record_count(struct vyre_store *store)
{
    struct vyre_store_info info = info_of(store);
    return info.device_count + info.calibration_count + info.learning_count + info.tuning_count +
           info.pipeline_count;
}

static struct vyre_store *open_store(void)
{
    struct vyre_store *store;
    require(vyre_store_open(NULL, &store, NULL) == VYRE_OK, "a store opens");
    return store;
}

static void check_round_trip(struct vyre_store *store)
{
    struct text text = export_of(store);
    struct vyre_store *copy = open_store();
    struct cli_store_import import;
    struct vyre_diag diag = {0};
    require(cli_store_import(text.bytes, text.size, copy, &import, &diag) == VYRE_OK,
            "an export can be imported");
    require(record_count(copy) == record_count(store), "an export has every record");
    require(import.read_count == import.written_count, "an empty store takes every record");
    vyre_store_close(&copy);
    free(text.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vyre_store *store = open_store();
    struct cli_store_import import;
    struct vyre_diag diag = {0};
    enum vyre_status status = cli_store_import((const char *)data, size, store, &import, &diag);
    require(status == diag.status, "the diagnostic has the returned status");
    if (status == VYRE_OK) {
        require(import.written_count <= import.read_count, "counts add up");
        check_round_trip(store);
    } else {
        require(cli_diag_is(&diag, CLI_DIAG_STORE_IMPORT_SYNTAX) ||
                    cli_diag_is(&diag, CLI_DIAG_STORE_IMPORT_VALUE),
                "a refusal has an id of the reader");
        require(diag.message[0] != '\0' && diag.fix[0] != '\0', "a refusal says what to do");
        require(record_count(store) == 0, "a refusal changes nothing");
    }
    vyre_store_close(&store);
    return 0;
}
