/*
 * refusals.c: generated code that gave wrong bytes, and its entries in the store.
 */
#include "refusals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char head[] = "vyre-refusal 1\n";

#define TEXT_BYTES (sizeof head + sizeof(struct vyre_refusal))

/* ---- the list ---------------------------------------------------------------------------------
 */

void cli_refusals_deinit(struct cli_refusals *refusals)
{
    free(refusals->items);
    *refusals = (struct cli_refusals){0};
}

bool cli_refusals_has(const struct cli_refusals *refusals, struct vyre_hash128 code)
{
    for (size_t i = 0; i < refusals->count; i++) {
        if (vyre_hash128_equal(refusals->items[i].code, code))
            return true;
    }
    return false;
}

static bool is_control(char letter)
{
    return (unsigned char)letter < 0x20 || letter == 0x7f;
}

/* Labels are anybody's: each stays one line, on a terminal and in the store. */
static void make_line(char *text, size_t capacity)
{
    text[capacity - 1] = '\0';
    for (; *text; text++) {
        if (is_control(*text))
            *text = '?';
    }
}

void cli_refusals_add(struct cli_refusals *refusals, const struct vyre_refusal *refusal)
{
    if (refusals->count == VYRE_REFUSALS_MAX || cli_refusals_has(refusals, refusal->code))
        return;
    if (refusals->count == refusals->capacity) {
        size_t capacity = refusals->capacity ? 2 * refusals->capacity : 8;
        struct vyre_refusal *grown = realloc(refusals->items, capacity * sizeof *grown);
        if (!grown)
            return;
        refusals->items = grown;
        refusals->capacity = capacity;
    }
    struct vyre_refusal *added = &refusals->items[refusals->count++];
    *added = *refusal;
    make_line(added->kernel, sizeof added->kernel);
    make_line(added->reason, sizeof added->reason);
}

/* ---- the store --------------------------------------------------------------------------------
 */

/* Copies a line without its line feed and moves on; false: there is none that fits. */
static bool take_line(const char **at, const char *end, char *out, size_t capacity)
{
    size_t length = 0;
    while (*at + length < end && !is_control((*at)[length]))
        length++;
    if (*at + length == end || (*at)[length] != '\n' || length >= capacity)
        return false;
    memcpy(out, *at, length);
    *at += length + 1;
    return true;
}

bool cli_refusal_read(const struct vyre_store_entry *entry, struct vyre_refusal *out_refusal)
{
    static const struct vyre_hash128 none = {0};
    const size_t head_bytes = sizeof head - 1;
    *out_refusal = (struct vyre_refusal){.code = entry->key};
    if (entry->kind != VYRE_STORE_TUNING || vyre_hash128_equal(entry->key, none) ||
        entry->size_bytes <= head_bytes || entry->size_bytes > TEXT_BYTES ||
        memcmp(entry->bytes, head, head_bytes) != 0)
        return false;
    const char *at = (const char *)entry->bytes + head_bytes;
    const char *end = (const char *)entry->bytes + entry->size_bytes;
    return take_line(&at, end, out_refusal->kernel, sizeof out_refusal->kernel) &&
           take_line(&at, end, out_refusal->reason, sizeof out_refusal->reason) && at == end;
}

struct loading {
    struct cli_refusals *refusals;
    struct vyre_hash128 device;
};

static bool on_entry(void *user, const struct vyre_store_entry *entry, bool matches_checksum,
                     const struct vyre_store_heat *heat)
{
    const struct loading *loading = user;
    struct vyre_refusal refusal;
    (void)heat;
    if (matches_checksum && vyre_hash128_equal(entry->device, loading->device) &&
        cli_refusal_read(entry, &refusal))
        cli_refusals_add(loading->refusals, &refusal);
    return loading->refusals->count < VYRE_REFUSALS_MAX;
}

void cli_refusals_load(struct cli_refusals *refusals, struct vyre_store *store,
                       const struct vyre_store_device *device)
{
    struct loading loading = {refusals, vyre_store_device_signature(device)};
    const struct vyre_store_visitor visitor = {.user = &loading, .entry = on_entry};
    struct vyre_diag ignored;
    /* What cannot be read is found again by a check; the store has said so. */
    (void)!vyre_store_visit(store, &visitor, &ignored);
}

void cli_refusals_keep(const struct cli_refusals *refusals, struct vyre_store *store,
                       const struct vyre_store_device *device)
{
    struct vyre_hash128 signature;
    struct vyre_diag ignored;
    enum vyre_status status = VYRE_OK;
    if (refusals->count > 0)
        status = vyre_store_put_device(store, device, &signature, &ignored);
    for (size_t i = 0; status == VYRE_OK && i < refusals->count; i++) {
        const struct vyre_refusal *refusal = &refusals->items[i];
        char text[TEXT_BYTES];
        int length =
            snprintf(text, sizeof text, "%s%s\n%s\n", head, refusal->kernel, refusal->reason);
        const struct vyre_store_entry entry = {
            .kind = VYRE_STORE_TUNING,
            .device = signature,
            .key = refusal->code,
            .bytes = text,
            .size_bytes = (size_t)length,
        };
        status = vyre_store_put_entry(store, &entry, &ignored);
    }
}

/* ---- the device -------------------------------------------------------------------------------
 */

void cli_refusals_give(const struct cli_refusals *refusals, struct vyre_device *device)
{
    struct vyre_diag ignored;
    /* One that the device has no memory for is found again by a check. */
    for (size_t i = 0; i < refusals->count; i++)
        (void)!vyre_device_import_refusal(device, &refusals->items[i], &ignored);
}
