/*
 * import.c: reads a JSON document into a store.
 *
 * The document is read twice: first into a store in memory, to find everything that is wrong with it,
 * and then into the real one.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "store/base64.h"
#include "store/json.h"
#include "store/options.h"
#include "terminal/diag.h"
#include "terminal/message.h"

struct reader {
    struct vyre_store *store; /* Borrowed */
    struct vyre_diag *diag;   /* Borrowed */
    const char *list;         /* the document's list that is read, and the index in it */
    size_t index;
    int64_t now;
    struct cli_store_import counts;
};

/* ---- values -----------------------------------------------------------------------------------
 */

static bool fail(const struct reader *reader, const char *key, const char *message)
{
    (void)cli_diag_set(reader->diag, CLI_DIAG_STORE_IMPORT_VALUE, NULL, 0, "$.%s[%zu].%s: %s",
                       reader->list, reader->index, key, message);
    return false;
}

/* Turns an error of the store about a record into one about the document. */
static bool put(const struct reader *reader, enum vyre_status status, const struct vyre_diag *found)
{
    if (status == VYRE_OK)
        return true;
    if (status != VYRE_INVALID && status != VYRE_LIMIT) {
        *reader->diag = *found;
        return false;
    }
    (void)cli_diag_set(reader->diag, CLI_DIAG_STORE_IMPORT_VALUE, NULL, 0, "$.%s[%zu]: %s",
                       reader->list, reader->index, found->message);
    return false;
}

static bool check_keys(const struct reader *reader, const json_t *object, const char *const *keys)
{
    if (!json_is_object(object)) {
        (void)cli_diag_set(reader->diag, CLI_DIAG_STORE_IMPORT_VALUE, NULL, 0,
                           "$.%s[%zu]: not an object", reader->list, reader->index);
        return false;
    }
    json_t *any = (json_t *)(uintptr_t)object; /* jansson's iterators take no const */
    for (void *at = json_object_iter(any); at; at = json_object_iter_next(any, at)) {
        const char *key = json_object_iter_key(at);
        size_t i = 0;
        while (keys[i] && strcmp(key, keys[i]) != 0)
            i++;
        if (!keys[i])
            return fail(reader, cli_quote(cli_span_of(key)).text, "there is no such key");
    }
    return true;
}

static bool get_text(const struct reader *reader, const json_t *object, const char *key, char *out,
                     size_t capacity)
{
    const json_t *value = json_object_get(object, key);
    memset(out, 0, capacity);
    if (!json_is_string(value))
        return fail(reader, key, "missing, or not a string");
    if (json_string_length(value) >= capacity)
        return fail(reader, key, "too long");
    memcpy(out, json_string_value(value), json_string_length(value));
    return true;
}

static bool get_hash(const struct reader *reader, const json_t *object, const char *key,
                     struct vyre_hash128 *out)
{
    const char *text = json_string_value(json_object_get(object, key));
    return (text && cli_store_read_hash(text, out)) ||
           fail(reader, key, "missing, or not 32 hexadecimal digits");
}

static bool get_number(const struct reader *reader, const json_t *object, const char *key,
                       double *out)
{
    const json_t *value = json_object_get(object, key);
    *out = json_number_value(value);
    return json_is_number(value) || fail(reader, key, "missing, or not a number");
}

static bool get_integer(const struct reader *reader, const json_t *object, const char *key,
                        int64_t max, int64_t *out)
{
    const json_t *value = json_object_get(object, key);
    *out = json_integer_value(value);
    return (json_is_integer(value) && *out >= 0 && *out <= max) ||
           fail(reader, key, "missing, or not a whole number in its range");
}

/* Keeps the time in 1..now: 0 would mean now, and a record of the future would never grow old. */
static bool get_time(const struct reader *reader, const json_t *object, const char *key,
                     int64_t *out)
{
    if (!get_integer(reader, object, key, INT64_MAX, out))
        return false;
    *out = *out < 1 ? 1 : *out > reader->now ? reader->now : *out;
    return true;
}

/* Heat is exported for people to read. Import checks its form and ignores it. */
static bool check_heat(const struct reader *reader, const json_t *object)
{
    int64_t ignored;
    return (!json_object_get(object, "last_used") ||
            get_integer(reader, object, "last_used", INT64_MAX, &ignored)) &&
           (!json_object_get(object, "use_count") ||
            get_integer(reader, object, "use_count", INT64_MAX, &ignored));
}

/* ---- records ----------------------------------------------------------------------------------
 */

static bool read_device(struct reader *reader, const json_t *object)
{
    static const char *const keys[] = {"signature", "backend",   "name", "driver",
                                       "uuid",      "last_seen", NULL};
    struct vyre_store_device device = {0};
    struct vyre_hash128 signature, uuid, stored;
    struct vyre_diag diag;
    int64_t last_seen;
    if (!check_keys(reader, object, keys) || !get_hash(reader, object, "signature", &signature) ||
        !get_text(reader, object, "backend", device.backend, sizeof device.backend) ||
        !get_text(reader, object, "name", device.name, sizeof device.name) ||
        !get_text(reader, object, "driver", device.driver, sizeof device.driver) ||
        !get_hash(reader, object, "uuid", &uuid) ||
        !get_integer(reader, object, "last_seen", INT64_MAX, &last_seen))
        return false;
    for (unsigned i = 0; i < 8; i++) {
        device.uuid[i] = (uint8_t)(uuid.hi >> (56 - 8 * i));
        device.uuid[8 + i] = (uint8_t)(uuid.lo >> (56 - 8 * i));
    }
    if (!vyre_hash128_equal(signature, vyre_store_device_signature(&device)))
        return fail(reader, "signature", "does not match the device");
    reader->counts.written_count++;
    return put(reader, vyre_store_put_device(reader->store, &device, &stored, &diag), &diag);
}

static bool read_cost(const struct reader *reader, const json_t *object,
                      struct vyre_store_cost *cost)
{
    static const char *const keys[] = {"name",    "min_ns", "median_ns", "spread_ns",
                                       "samples", "noisy",  NULL};
    int64_t samples;
    const json_t *noisy = json_object_get(object, "noisy");
    if (!check_keys(reader, object, keys) ||
        !get_text(reader, object, "name", cost->name, sizeof cost->name) ||
        !get_number(reader, object, "min_ns", &cost->min_ns) ||
        !get_number(reader, object, "median_ns", &cost->median_ns) ||
        !get_number(reader, object, "spread_ns", &cost->spread_ns) ||
        !get_integer(reader, object, "samples", UINT32_MAX, &samples))
        return false;
    cost->samples = (uint32_t)samples;
    cost->noisy = json_is_true(noisy);
    return json_is_boolean(noisy) || fail(reader, "noisy", "missing, or not a boolean");
}

static bool read_calibration(struct reader *reader, const json_t *object)
{
    static const char *const keys[] = {"device", "taken_at", "tool", "costs", NULL};
    struct vyre_store_calibration calibration = {0}, present;
    struct vyre_hash128 device;
    struct vyre_diag diag;
    const json_t *costs = json_object_get(object, "costs");
    if (!check_keys(reader, object, keys) || !get_hash(reader, object, "device", &device) ||
        !get_time(reader, object, "taken_at", &calibration.taken_at) ||
        !get_text(reader, object, "tool", calibration.tool, sizeof calibration.tool))
        return false;
    if (!json_is_array(costs) || json_array_size(costs) > VYRE_STORE_COSTS_MAX)
        return fail(reader, "costs", "missing, or not an array of at most 32");
    for (size_t i = 0; i < json_array_size(costs); i++) {
        if (!read_cost(reader, json_array_get(costs, i), &calibration.costs[i]))
            return false;
    }
    calibration.cost_count = (uint32_t)json_array_size(costs);
    if (vyre_store_get_calibration(reader->store, device, &present, &diag) == VYRE_OK &&
        present.taken_at >= calibration.taken_at)
        return true;
    reader->counts.written_count++;
    return put(reader, vyre_store_put_calibration(reader->store, device, &calibration, &diag),
               &diag);
}

/* Whether the store has a learning of this candidate that is at least as new. */
static bool has_learning(const struct reader *reader, struct vyre_hash128 device,
                         const struct vyre_store_learning *learning)
{
    struct vyre_store_learning present[64];
    size_t count;
    if (vyre_store_get_learnings(reader->store, device, learning->shape, present, 64, &count,
                                 NULL) != VYRE_OK)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (present[i].candidate == learning->candidate)
            return present[i].updated_at >= learning->updated_at;
    }
    return false;
}

static bool read_learning(struct reader *reader, const json_t *object)
{
    static const char *const keys[] = {
        "device",       "shape",      "candidate", "count",     "mean_ns",
        "deviation_ns", "updated_at", "last_used", "use_count", NULL};
    struct vyre_store_learning learning = {0};
    struct vyre_hash128 device;
    struct vyre_diag diag;
    int64_t candidate, count;
    if (!check_keys(reader, object, keys) || !get_hash(reader, object, "device", &device) ||
        !get_hash(reader, object, "shape", &learning.shape) ||
        !get_integer(reader, object, "candidate", UINT32_MAX, &candidate) ||
        !get_integer(reader, object, "count", INT64_MAX, &count) ||
        !get_number(reader, object, "mean_ns", &learning.mean_ns) ||
        !get_number(reader, object, "deviation_ns", &learning.deviation_ns) ||
        !get_time(reader, object, "updated_at", &learning.updated_at) ||
        !check_heat(reader, object))
        return false;
    learning.candidate = (uint32_t)candidate;
    learning.count = (uint64_t)count;
    if (has_learning(reader, device, &learning))
        return true;
    reader->counts.written_count++;
    return put(reader, vyre_store_put_learnings(reader->store, device, &learning, 1, &diag), &diag);
}

static bool put_entry(struct reader *reader, const json_t *object, struct vyre_store_entry *entry,
                      struct vyre_hash128 checksum)
{
    const json_t *value = json_object_get(object, "bytes");
    struct vyre_store_entry present;
    struct vyre_diag diag;
    if (!json_is_string(value))
        return fail(reader, "bytes", "missing, or not a string");
    size_t length = json_string_length(value);
    unsigned char *bytes = malloc(length / 4 * 3 + 1);
    if (!bytes) {
        (void)vyre_diag_set(reader->diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0,
                            "an entry takes %zu bytes", length);
        return false;
    }
    bool done;
    entry->bytes = bytes;
    if (!cli_base64_decode(json_string_value(value), length, bytes, &entry->size_bytes)) {
        done = fail(reader, "bytes", "not base64");
    } else if (!vyre_hash128_equal(checksum, vyre_hash128(bytes, entry->size_bytes))) {
        done = fail(reader, "checksum", "does not match the bytes");
    } else {
        enum vyre_status status = vyre_store_get_entry(reader->store, entry->kind, entry->device,
                                                       entry->key, NULL, 0, &present, NULL);
        bool there = status == VYRE_OK || status == VYRE_LIMIT;
        done = there && present.updated_at >= entry->updated_at;
        if (!done) {
            reader->counts.written_count++;
            done = put(reader, vyre_store_put_entry(reader->store, entry, &diag), &diag);
        }
    }
    free(bytes);
    return done;
}

static bool read_entry(struct reader *reader, const json_t *object)
{
    static const char *const keys[] = {"kind",       "device",    "key",       "cost_ns",
                                       "updated_at", "last_used", "use_count", "checksum",
                                       "bytes",      NULL};
    struct vyre_store_entry entry = {0};
    struct vyre_hash128 checksum;
    char kind[16];
    if (!check_keys(reader, object, keys) || !get_text(reader, object, "kind", kind, sizeof kind) ||
        !get_hash(reader, object, "device", &entry.device) ||
        !get_hash(reader, object, "key", &entry.key) ||
        !get_number(reader, object, "cost_ns", &entry.cost_ns) ||
        !get_time(reader, object, "updated_at", &entry.updated_at) ||
        !get_hash(reader, object, "checksum", &checksum) || !check_heat(reader, object))
        return false;
    if (strcmp(kind, "tuning") == 0)
        entry.kind = VYRE_STORE_TUNING;
    else if (strcmp(kind, "pipeline") == 0)
        entry.kind = VYRE_STORE_PIPELINE;
    else
        return fail(reader, "kind", "neither `tuning` nor `pipeline`");
    return put_entry(reader, object, &entry, checksum);
}

/* ---- the document -----------------------------------------------------------------------------
 */

static const struct {
    const char *key;
    bool (*read)(struct reader *reader, const json_t *object);
} lists[] = {
    {"devices", read_device},
    {"calibrations", read_calibration},
    {"learnings", read_learning},
    {"entries", read_entry},
};
#define LIST_COUNT (sizeof lists / sizeof lists[0])

static bool wrong(struct vyre_diag *diag, const char *key, const char *message)
{
    (void)cli_diag_set(diag, CLI_DIAG_STORE_IMPORT_VALUE, NULL, 0, "$%s%s: %s", key[0] ? "." : "",
                       key, message);
    return false;
}

static bool check_document(json_t *root, struct vyre_diag *diag)
{
    if (!json_is_object(root))
        return wrong(diag, "", "not an object");
    const json_t *version = json_object_get(root, "vyre_store");
    if (!json_is_integer(version) || json_integer_value(version) != CLI_STORE_FORMAT)
        return wrong(diag, "vyre_store", "missing, or not 1");
    for (void *at = json_object_iter(root); at; at = json_object_iter_next(root, at)) {
        const char *key = json_object_iter_key(at);
        size_t i = 0;
        while (i < LIST_COUNT && strcmp(key, lists[i].key) != 0)
            i++;
        if (i < LIST_COUNT && !json_is_array(json_object_iter_value(at)))
            return wrong(diag, key, "not an array");
        if (i == LIST_COUNT && strcmp(key, "vyre_store") != 0)
            return wrong(diag, cli_quote(cli_span_of(key)).text, "there is no such key");
    }
    return true;
}

static bool read_document(const json_t *root, struct vyre_store *store,
                          struct cli_store_import *out_import, struct vyre_diag *diag)
{
    struct reader reader = {.store = store, .diag = diag, .now = (int64_t)time(NULL)};
    for (size_t i = 0; i < LIST_COUNT; i++) {
        const json_t *list = json_object_get(root, lists[i].key);
        reader.list = lists[i].key;
        for (reader.index = 0; reader.index < json_array_size(list); reader.index++) {
            reader.counts.read_count++;
            if (!lists[i].read(&reader, json_array_get(list, reader.index)))
                return false;
        }
    }
    *out_import = reader.counts;
    return true;
}

/* Reads into a scratch store, to find errors. */
static bool try_document(const json_t *root, struct vyre_diag *diag)
{
    struct cli_store_import ignored;
    struct vyre_store *scratch;
    if (vyre_store_open(NULL, &scratch, diag) != VYRE_OK)
        return false;
    bool whole = read_document(root, scratch, &ignored, diag);
    vyre_store_close(&scratch);
    return whole;
}

enum vyre_status cli_store_import(const char *bytes, size_t size_bytes, struct vyre_store *store,
                                  struct cli_store_import *out_import, struct vyre_diag *diag)
{
    struct vyre_diag own;
    struct vyre_diag *result = diag ? diag : &own;
    *out_import = (struct cli_store_import){0};
    if (size_bytes > CLI_STORE_IMPORT_BYTES)
        return cli_diag_set(result, CLI_DIAG_STORE_IMPORT_SIZE, NULL, 0, "more than %u bytes",
                            CLI_STORE_IMPORT_BYTES);
    json_error_t error;
    json_t *root = json_loadb(bytes, size_bytes, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        return cli_diag_set(result, CLI_DIAG_STORE_IMPORT_SYNTAX, NULL, 0, "line %d, column %d: %s",
                            error.line, error.column, cli_quote(cli_span_of(error.text)).text);
    bool done = check_document(root, result) && try_document(root, result) &&
                read_document(root, store, out_import, result);
    json_decref(root);
    return done ? VYRE_OK : result->status;
}
