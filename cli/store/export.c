/*
 * export.c: the store as a JSON document.
 */
#include <stdio.h>
#include <stdlib.h>

#include "store/base64.h"
#include "store/json.h"
#include "terminal/json.h"

struct export
{
    struct cli_json json;
    uint64_t damaged;
    bool no_memory;
};

static void hash_json(struct cli_json *json, const char *key, struct vyre_hash128 hash)
{
    char text[VYRE_HASH128_TEXT_BYTES];
    vyre_hash128_format(hash, text);
    cli_json_text(json, key, text);
}

static bool on_device(void *user, struct vyre_hash128 signature,
                      const struct vyre_store_device *device, int64_t last_seen)
{
    struct cli_json *json = &((struct export *)user)->json;
    char uuid[33];
    for (size_t i = 0; i < sizeof device->uuid; i++)
        snprintf(uuid + 2 * i, 3, "%02x", device->uuid[i]);
    cli_json_object(json, NULL);
    hash_json(json, "signature", signature);
    cli_json_text(json, "backend", device->backend);
    cli_json_text(json, "name", device->name);
    cli_json_text(json, "driver", device->driver);
    cli_json_text(json, "uuid", uuid);
    cli_json_i64(json, "last_seen", last_seen);
    cli_json_end_object(json);
    return !cli_output_failed(json->out);
}

static bool on_calibration(void *user, struct vyre_hash128 device,
                           const struct vyre_store_calibration *calibration)
{
    struct cli_json *json = &((struct export *)user)->json;
    cli_json_object(json, NULL);
    hash_json(json, "device", device);
    cli_json_i64(json, "taken_at", calibration->taken_at);
    cli_json_text(json, "tool", calibration->tool);
    cli_json_array(json, "costs");
    for (uint32_t i = 0; i < calibration->cost_count; i++) {
        const struct vyre_store_cost *cost = &calibration->costs[i];
        cli_json_object(json, NULL);
        cli_json_text(json, "name", cost->name);
        cli_json_double(json, "min_ns", cost->min_ns);
        cli_json_double(json, "median_ns", cost->median_ns);
        cli_json_double(json, "spread_ns", cost->spread_ns);
        cli_json_u64(json, "samples", cost->samples);
        cli_json_flag(json, "noisy", cost->noisy);
        cli_json_end_object(json);
    }
    cli_json_end_array(json);
    cli_json_end_object(json);
    return !cli_output_failed(json->out);
}

static void heat_json(struct cli_json *json, const struct vyre_store_heat *heat)
{
    cli_json_i64(json, "last_used", heat->last_used);
    cli_json_u64(json, "use_count", heat->use_count);
}

static bool on_learning(void *user, struct vyre_hash128 device,
                        const struct vyre_store_learning *learning,
                        const struct vyre_store_heat *heat)
{
    struct cli_json *json = &((struct export *)user)->json;
    cli_json_object(json, NULL);
    hash_json(json, "device", device);
    hash_json(json, "shape", learning->shape);
    cli_json_u64(json, "candidate", learning->candidate);
    cli_json_u64(json, "count", learning->count);
    cli_json_double(json, "mean_ns", learning->mean_ns);
    cli_json_double(json, "deviation_ns", learning->deviation_ns);
    cli_json_i64(json, "updated_at", learning->updated_at);
    heat_json(json, heat);
    cli_json_end_object(json);
    return !cli_output_failed(json->out);
}

static bool on_entry(void *user, const struct vyre_store_entry *entry, bool matches_checksum,
                     const struct vyre_store_heat *heat)
{
    struct export *export = user;
    struct cli_json *json = &export->json;
    if (!matches_checksum) {
        export->damaged++;
        return true;
    }
    char *text = malloc(cli_base64_text_bytes(entry->size_bytes));
    if (!text) {
        export->no_memory = true;
        return false;
    }
    cli_base64_encode(entry->bytes, entry->size_bytes, text);
    cli_json_object(json, NULL);
    cli_json_text(json, "kind", entry->kind == VYRE_STORE_TUNING ? "tuning" : "pipeline");
    hash_json(json, "device", entry->device);
    hash_json(json, "key", entry->key);
    cli_json_double(json, "cost_ns", entry->cost_ns);
    cli_json_i64(json, "updated_at", entry->updated_at);
    heat_json(json, heat);
    hash_json(json, "checksum", vyre_hash128(entry->bytes, entry->size_bytes));
    cli_json_text(json, "bytes", text);
    cli_json_end_object(json);
    free(text);
    return !cli_output_failed(json->out);
}

enum vyre_status cli_store_export(struct vyre_store *store, struct cli_output *out,
                                  uint64_t *out_damaged, struct vyre_diag *diag)
{
    struct export export = {0};
    struct cli_json *json = &export.json;
    const struct {
        const char *key;
        struct vyre_store_visitor visitor;
    } lists[] = {
        {"devices", {.user = &export, .device = on_device}},
        {"calibrations", {.user = &export, .calibration = on_calibration}},
        {"learnings", {.user = &export, .learning = on_learning}},
        {"entries", {.user = &export, .entry = on_entry}},
    };
    cli_json_init(json, out);
    cli_json_object(json, NULL);
    cli_json_u64(json, "vyre_store", CLI_STORE_FORMAT);
    enum vyre_status status = VYRE_OK;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        cli_json_array(json, lists[i].key);
        if (status == VYRE_OK)
            status = vyre_store_visit(store, &lists[i].visitor, diag);
        cli_json_end_array(json);
    }
    cli_json_end_object(json);
    cli_json_finish(json);
    *out_damaged = export.damaged;
    if (status == VYRE_OK && export.no_memory)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0, "no memory for an entry");
    return status;
}
