/*
 * device.c: the devices that the store knows.
 */
#include <string.h>

#include "store/internal.h"

/* How many bytes the UTF-8 character at `text` has; 0: it is invalid. */
static size_t utf8_length(const unsigned char *text)
{
    size_t length = text[0] < 0x80   ? 1
                    : text[0] < 0xc2 ? 0
                    : text[0] < 0xe0 ? 2
                    : text[0] < 0xf0 ? 3
                                     : 4;
    if (text[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    }
    /* Longer than necessary, surrogates, and beyond the last character. */
    if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
        (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
        return 0;
    return length;
}

/* Copies a text and fills the rest with zeroes. False: it is not terminated. */
static bool copy_clean(char *out, const char *text, size_t capacity)
{
    memset(out, 0, capacity);
    const char *end = memchr(text, '\0', capacity);
    if (!end)
        return false;
    size_t size = (size_t)(end - text);
    for (size_t i = 0; i < size;) {
        /* The terminator is not a continuation byte, so nothing after it is read. */
        size_t length = utf8_length((const unsigned char *)text + i);
        bool prints =
            length > 1 || (length == 1 && (unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
        if (prints)
            memcpy(out + i, text + i, length);
        else
            out[i] = '?';
        i += prints ? length : 1;
    }
    return true;
}

static bool clean(const struct vyre_store_device *device, struct vyre_store_device *out)
{
    bool whole = copy_clean(out->backend, device->backend, sizeof out->backend);
    whole = copy_clean(out->name, device->name, sizeof out->name) && whole;
    whole = copy_clean(out->driver, device->driver, sizeof out->driver) && whole;
    memcpy(out->uuid, device->uuid, sizeof out->uuid);
    return whole;
}

static struct vyre_hash128 signature_of(const struct vyre_store_device *device)
{
    /* Only chars: no padding, and every byte was set. */
    _Static_assert(sizeof *device == 32 + 128 + 128 + 16, "the signature is over all of these");
    return vyre_hash128(device, sizeof *device);
}

struct vyre_hash128 vyre_store_device_signature(const struct vyre_store_device *device)
{
    struct vyre_store_device cleaned;
    (void)clean(device, &cleaned);
    return signature_of(&cleaned);
}

int vyre_store_forget_device(struct vyre_store_db *db, struct vyre_hash128 device)
{
    static const char *const statements[] = {
        "DELETE FROM entry WHERE device = ?", "DELETE FROM learning WHERE device = ?",
        "DELETE FROM cost WHERE device = ?", "DELETE FROM calibration WHERE device = ?",
        "DELETE FROM device WHERE id = ?"};
    int code = SQLITE_OK;
    for (size_t i = 0; code == SQLITE_OK && i < sizeof statements / sizeof statements[0]; i++)
        code = vyre_store_sql_run(db, statements[i], "h", &device);
    return code;
}

/* Forgets the devices seen longest ago while there are too many. */
static int bound_devices(struct vyre_store_db *db)
{
    for (;;) {
        int64_t count;
        int code = vyre_store_sql_number(db, &count, "SELECT count(*) FROM device", "");
        if (code != SQLITE_OK || count <= VYRE_STORE_DEVICES_MAX)
            return code;
        sqlite3_stmt *statement;
        struct vyre_hash128 oldest = {0};
        code = vyre_store_sql_query(db, &statement,
                                    "SELECT id FROM device ORDER BY last_seen, id LIMIT 1", "");
        if (code != SQLITE_OK)
            return code;
        code = sqlite3_step(statement);
        bool found = code == SQLITE_ROW && vyre_store_column_hash(statement, 0, &oldest);
        code = vyre_store_sql_end(statement, code);
        if (code == SQLITE_OK)
            code = found ? vyre_store_forget_device(db, oldest) : SQLITE_CORRUPT;
        if (code != SQLITE_OK)
            return code;
    }
}

int vyre_store_put_device_row(struct vyre_store_db *db, const struct vyre_store_device_row *row)
{
    int code = vyre_store_make_room(db, sizeof *row);
    if (code == SQLITE_OK)
        code = vyre_store_sql_run(
            db,
            "INSERT INTO device(id, backend, name, driver, uuid, last_seen)"
            " VALUES(?1, ?2, ?3, ?4, ?5, ?6)"
            " ON CONFLICT(id) DO UPDATE SET last_seen = max(last_seen, excluded.last_seen)",
            "htttbi", &row->signature, row->device.backend, row->device.name, row->device.driver,
            (const void *)row->device.uuid, sizeof row->device.uuid, row->last_seen);
    return code == SQLITE_OK ? bound_devices(db) : code;
}

static int put_device(struct vyre_store_db *db, void *argument)
{
    return vyre_store_put_device_row(db, argument);
}

enum vyre_status vyre_store_put_device(struct vyre_store *store,
                                       const struct vyre_store_device *device,
                                       struct vyre_hash128 *out_signature, struct vyre_diag *diag)
{
    *out_signature = (struct vyre_hash128){0};
    struct vyre_store_device_row row = {.last_seen = vyre_store_now()};
    if (!clean(device, &row.device))
        return vyre_diag_set(diag, VYRE_DIAG_STORE_VALUE, NULL, 0,
                             "a text of the device is not terminated");
    row.signature = signature_of(&row.device);
    enum vyre_status status = vyre_store_write(store, put_device, &row, diag);
    if (status == VYRE_OK)
        *out_signature = row.signature;
    return status;
}

struct device_lookup {
    struct vyre_store_device_row row;
    bool found;
};

static int find_device(struct vyre_store_db *db, void *argument)
{
    struct device_lookup *lookup = argument;
    struct vyre_store_device *device = &lookup->row.device;
    sqlite3_stmt *statement;
    int code = vyre_store_sql_query(db, &statement,
                                    "SELECT backend, name, driver, uuid FROM device WHERE id = ?",
                                    "h", &lookup->row.signature);
    if (code != SQLITE_OK)
        return code;
    code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        const void *uuid = sqlite3_column_blob(statement, 3);
        bool whole = uuid && sqlite3_column_bytes(statement, 3) == (int)sizeof device->uuid;
        if (whole)
            memcpy(device->uuid, uuid, sizeof device->uuid);
        lookup->found =
            vyre_store_column_text(statement, 0, device->backend, sizeof device->backend) &&
            vyre_store_column_text(statement, 1, device->name, sizeof device->name) &&
            vyre_store_column_text(statement, 2, device->driver, sizeof device->driver) && whole;
    }
    return vyre_store_sql_end(statement, code);
}

enum vyre_status vyre_store_get_device(struct vyre_store *store, struct vyre_hash128 signature,
                                       struct vyre_store_device *out_device, struct vyre_diag *diag)
{
    memset(out_device, 0, sizeof *out_device);
    struct device_lookup lookup = {.row.signature = signature};
    enum vyre_status status = vyre_store_read(store, find_device, &lookup, &lookup.found, diag);
    if (status == VYRE_OK && !lookup.found)
        return vyre_diag_set(diag, VYRE_DIAG_STORE_NOT_FOUND, NULL, 0, "no such device");
    if (status == VYRE_OK)
        *out_device = lookup.row.device;
    return status;
}
