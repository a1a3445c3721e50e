/*
 * list.c: `vyre store list`: devices, and what the store has of each.
 */
#include "store/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "run/refusals.h"
#include "terminal/grid.h"
#include "terminal/json.h"
#include "terminal/progress.h"
#include "terminal/units.h"

struct device_summary {
    struct vyre_hash128 signature;
    bool known; /* the store has the device itself */
    struct vyre_store_device device;
    int64_t last_seen;
    bool calibrated;
    struct vyre_store_calibration calibration;
    uint64_t learnings;
    uint64_t tunings; /* without refusals */
    struct cli_refusals refusals;
    uint64_t pipelines;
    uint64_t entry_bytes;
};

struct summary {
    struct device_summary *devices; /* Owned */
    size_t count;
    size_t capacity;
    bool no_memory;
};

/* ---- collecting -------------------------------------------------------------------------------
 */

/* The summary of a device, added if it is new; NULL: no memory. */
static struct device_summary *find(struct summary *summary, struct vyre_hash128 signature)
{
    for (size_t i = 0; i < summary->count; i++) {
        if (vyre_hash128_equal(summary->devices[i].signature, signature))
            return &summary->devices[i];
    }
    if (summary->count == summary->capacity) {
        size_t capacity = summary->capacity ? 2 * summary->capacity : 8;
        struct device_summary *grown =
            realloc(summary->devices, capacity * sizeof *summary->devices);
        if (!grown) {
            summary->no_memory = true;
            return NULL;
        }
        summary->devices = grown;
        summary->capacity = capacity;
    }
    struct device_summary *device = &summary->devices[summary->count++];
    *device = (struct device_summary){.signature = signature};
    return device;
}

static bool on_device(void *user, struct vyre_hash128 signature,
                      const struct vyre_store_device *device, int64_t last_seen)
{
    struct device_summary *found = find(user, signature);
    if (!found)
        return false;
    found->known = true;
    found->device = *device;
    found->last_seen = last_seen;
    return true;
}

static bool on_calibration(void *user, struct vyre_hash128 signature,
                           const struct vyre_store_calibration *calibration)
{
    struct device_summary *found = find(user, signature);
    if (!found)
        return false;
    found->calibrated = true;
    found->calibration = *calibration;
    return true;
}

static bool on_learning(void *user, struct vyre_hash128 signature,
                        const struct vyre_store_learning *learning,
                        const struct vyre_store_heat *heat)
{
    (void)learning;
    (void)heat;
    struct device_summary *found = find(user, signature);
    if (found)
        found->learnings++;
    return found != NULL;
}

static bool on_entry(void *user, const struct vyre_store_entry *entry, bool matches_checksum,
                     const struct vyre_store_heat *heat)
{
    (void)heat;
    struct device_summary *found = find(user, entry->device);
    struct vyre_refusal refusal;
    if (!found)
        return false;
    if (matches_checksum && vyre_refusal_read(entry, &refusal))
        cli_refusals_add(&found->refusals, &refusal);
    else
        found->tunings += entry->kind == VYRE_STORE_TUNING;
    found->pipelines += entry->kind == VYRE_STORE_PIPELINE;
    found->entry_bytes += entry->size_bytes;
    return true;
}

/* ---- printing ---------------------------------------------------------------------------------
 */

static uint32_t noisy_count(const struct vyre_store_calibration *calibration)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < calibration->cost_count; i++)
        count += calibration->costs[i].noisy;
    return count;
}

static int64_t age_of(const struct device_summary *device)
{
    int64_t age = (int64_t)time(NULL) - device->calibration.taken_at;
    return age > 0 ? age : 0;
}

static void add_calibration(struct cli_grid *grid, const struct device_summary *device)
{
    if (!device->calibrated) {
        cli_grid_add(grid, "-");
        return;
    }
    int64_t age = age_of(device);
    const char *unit = age >= 172800 ? "days" : age >= 7200 ? "hours" : "minutes";
    int64_t divisor = age >= 172800 ? 86400 : age >= 7200 ? 3600 : 60;
    uint32_t noisy = noisy_count(&device->calibration);
    if (noisy > 0)
        cli_grid_addf(grid, "%u costs (%u noisy), %lld %s old", device->calibration.cost_count,
                      noisy, (long long)(age / divisor), unit);
    else
        cli_grid_addf(grid, "%u costs, %lld %s old", device->calibration.cost_count,
                      (long long)(age / divisor), unit);
}

static void print_devices(const struct summary *summary, struct cli_output *out)
{
    static const char *const heads[] = {"signature",   "backend",   "device",
                                        "calibration", "learnings", "tunings",
                                        "pipelines",   "refusals",  "bytes"};
    struct cli_grid grid;
    cli_grid_init(&grid, "llllrrrrr", heads, cli_colour_wanted(STDOUT_FILENO));
    for (size_t i = 0; i < summary->count; i++) {
        const struct device_summary *device = &summary->devices[i];
        char signature[VYRE_HASH128_TEXT_BYTES];
        vyre_hash128_format(device->signature, signature);
        cli_grid_add(&grid, signature);
        cli_grid_add(&grid, device->known ? device->device.backend : "?");
        cli_grid_add(&grid, device->known ? device->device.name : "?");
        add_calibration(&grid, device);
        cli_grid_add(&grid, cli_unit_count(device->learnings).text);
        cli_grid_add(&grid, cli_unit_count(device->tunings).text);
        cli_grid_add(&grid, cli_unit_count(device->pipelines).text);
        cli_grid_add(&grid, cli_unit_count(device->refusals.count).text);
        cli_grid_add(&grid, cli_unit_bytes(device->entry_bytes).text);
    }
    cli_grid_print(&grid, 0, out);
    cli_grid_deinit(&grid);
}

/* One line for each kernel that a driver got wrong. */
static void print_refusals(const struct summary *summary, struct cli_output *out)
{
    static const char *const heads[] = {"device", "kernel", "refused because"};
    struct cli_grid grid;
    bool any = false;
    cli_grid_init(&grid, "lll", heads, cli_colour_wanted(STDOUT_FILENO));
    for (size_t i = 0; i < summary->count; i++) {
        const struct device_summary *device = &summary->devices[i];
        for (size_t k = 0; k < device->refusals.count; k++) {
            cli_grid_add(&grid, device->known ? device->device.name : "?");
            cli_grid_add(&grid, device->refusals.items[k].kernel);
            cli_grid_add(&grid, device->refusals.items[k].reason);
            any = true;
        }
    }
    if (any) {
        cli_output_text(out, "\n");
        cli_grid_print(&grid, 0, out);
    }
    cli_grid_deinit(&grid);
}

static void print_text(const struct summary *summary, const struct vyre_store_info *info,
                       const char *path, bool present, struct cli_output *out)
{
    cli_output_text(out, path);
    if (!present) {
        cli_output_text(out, ": no store yet\n");
        return;
    }
    cli_output_text(out, ": ");
    cli_output_text(out, cli_unit_bytes(info->size_bytes).text);
    cli_output_text(out, summary->count ? "\n\n" : ", empty\n");
    if (summary->count)
        print_devices(summary, out);
    print_refusals(summary, out);
}

static void calibration_json(struct cli_json *json, const struct device_summary *device)
{
    if (!device->calibrated) {
        cli_json_null(json, "calibration");
        return;
    }
    cli_json_object(json, "calibration");
    cli_json_i64(json, "taken_at", device->calibration.taken_at);
    cli_json_i64(json, "age_s", age_of(device));
    cli_json_text(json, "tool", device->calibration.tool);
    cli_json_u64(json, "costs", device->calibration.cost_count);
    cli_json_u64(json, "noisy", noisy_count(&device->calibration));
    cli_json_end_object(json);
}

static void refusals_json(struct cli_json *json, const struct cli_refusals *refusals)
{
    cli_json_array(json, "refusals");
    for (size_t i = 0; i < refusals->count; i++) {
        char code[VYRE_HASH128_TEXT_BYTES];
        vyre_hash128_format(refusals->items[i].code, code);
        cli_json_object(json, NULL);
        cli_json_text(json, "code", code);
        cli_json_text(json, "kernel", refusals->items[i].kernel);
        cli_json_text(json, "reason", refusals->items[i].reason);
        cli_json_end_object(json);
    }
    cli_json_end_array(json);
}

static void print_json(const struct summary *summary, const struct vyre_store_info *info,
                       const char *path, bool present, struct cli_output *out)
{
    struct cli_json json;
    cli_json_init(&json, out);
    cli_json_object(&json, NULL);
    cli_json_text(&json, "path", path);
    cli_json_flag(&json, "present", present);
    cli_json_u64(&json, "schema_version", info->schema_version);
    cli_json_u64(&json, "size_bytes", info->size_bytes);
    cli_json_array(&json, "devices");
    for (size_t i = 0; i < summary->count; i++) {
        const struct device_summary *device = &summary->devices[i];
        char signature[VYRE_HASH128_TEXT_BYTES];
        vyre_hash128_format(device->signature, signature);
        cli_json_object(&json, NULL);
        cli_json_text(&json, "signature", signature);
        cli_json_text(&json, "backend", device->known ? device->device.backend : NULL);
        cli_json_text(&json, "name", device->known ? device->device.name : NULL);
        cli_json_text(&json, "driver", device->known ? device->device.driver : NULL);
        cli_json_i64(&json, "last_seen", device->last_seen);
        calibration_json(&json, device);
        cli_json_u64(&json, "learnings", device->learnings);
        cli_json_u64(&json, "tunings", device->tunings);
        cli_json_u64(&json, "pipelines", device->pipelines);
        refusals_json(&json, &device->refusals);
        cli_json_u64(&json, "entry_bytes", device->entry_bytes);
        cli_json_end_object(&json);
    }
    cli_json_end_array(&json);
    cli_json_end_object(&json);
    cli_json_finish(&json);
}

enum vyre_status cli_store_list(struct vyre_store *store, const char *path, bool present, bool json,
                                struct cli_output *out, struct vyre_diag *diag)
{
    struct summary summary = {0};
    const struct vyre_store_visitor visitor = {&summary, on_device, on_calibration, on_learning,
                                               on_entry};
    enum vyre_status status = vyre_store_visit(store, &visitor, diag);
    if (status == VYRE_OK && summary.no_memory)
        status = vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0, "no memory for the list");
    if (status == VYRE_OK) {
        struct vyre_store_info info;
        vyre_store_get_info(store, &info);
        if (json)
            print_json(&summary, &info, path, present, out);
        else
            print_text(&summary, &info, path, present, out);
    }
    for (size_t i = 0; i < summary.count; i++)
        cli_refusals_deinit(&summary.devices[i].refusals);
    free(summary.devices);
    return status;
}
