/*
 * fixture.c: what the store's tests share.
 */
#include "store/fixture.h"

#include <dirent.h>

static void keep_line(void *user, enum vyre_log_level level, const char *text)
{
    (void)level;
    struct fixture_log *log = user;
    unsigned line = atomic_fetch_add(&log->count, 1);
    if (line < FIXTURE_LINES)
        snprintf(log->lines[line], sizeof log->lines[line], "%s", text);
}

unsigned fixture_logged(const struct fixture *fixture, enum vyre_diag_id id)
{
    char mark[64];
    unsigned found = 0;
    snprintf(mark, sizeof mark, "error[%s]", vyre_diag_id_name(id));
    for (unsigned i = 0; i < FIXTURE_LINES && i < atomic_load(&fixture->log.count); i++)
        found += strstr(fixture->log.lines[i], mark) != NULL;
    return found;
}

void fixture_forget_log(struct fixture *fixture)
{
    memset(fixture->log.lines, 0, sizeof fixture->log.lines);
    atomic_store(&fixture->log.count, 0);
}

unsigned fixture_files(const struct fixture *fixture, const char *text, bool delete)
{
    unsigned count = 0;
    DIR *listing = opendir(fixture->folder);
    assert_non_null(listing);
    for (struct dirent *at = readdir(listing); at; at = readdir(listing)) {
        if (at->d_name[0] == '.' || !strstr(at->d_name, text))
            continue;
        count++;
        if (delete)
            unlinkat(dirfd(listing), at->d_name, 0);
    }
    closedir(listing);
    return count;
}

unsigned fixture_asides(const struct fixture *fixture)
{
    unsigned count = 0;
    DIR *listing = opendir(fixture->folder);
    assert_non_null(listing);
    for (struct dirent *at = readdir(listing); at; at = readdir(listing)) {
        const char *mark = strstr(at->d_name, ".broken-");
        count += mark && !strstr(mark, "-wal") && !strstr(mark, "-shm");
    }
    closedir(listing);
    return count;
}

int fixture_set_up(void **state)
{
    static struct fixture fixture;
    memset(&fixture, 0, sizeof fixture);
    snprintf(fixture.folder, sizeof fixture.folder, "/tmp/vyre-store.XXXXXX");
    assert_non_null(mkdtemp(fixture.folder));
    snprintf(fixture.path, sizeof fixture.path, "%s/store.db", fixture.folder);
    *state = &fixture;
    return 0;
}

int fixture_tear_down(void **state)
{
    const struct fixture *fixture = *state;
    (void)fixture_files(fixture, "", true);
    rmdir(fixture->folder);
    return 0;
}

struct vyre_store_desc fixture_desc(struct fixture *fixture)
{
    return (struct vyre_store_desc){
        .path = fixture->path, .log = keep_line, .log_user = &fixture->log};
}

struct vyre_store *fixture_open(struct fixture *fixture)
{
    struct vyre_store_desc desc = fixture_desc(fixture);
    struct vyre_store *store = NULL;
    assert_int_equal(vyre_store_open(&desc, &store, NULL), VYRE_OK);
    return store;
}

enum vyre_store_mode fixture_mode(struct vyre_store *store)
{
    struct vyre_store_info info;
    vyre_store_get_info(store, &info);
    return info.mode;
}

struct vyre_hash128 fixture_hash(uint64_t number)
{
    return vyre_hash128(&number, sizeof number);
}

struct vyre_store_device fixture_device(unsigned number)
{
    struct vyre_store_device device = {.backend = "cpu", .driver = "test 1.0"};
    snprintf(device.name, sizeof device.name, "Test device %u", number);
    memset(device.uuid, (int)number, sizeof device.uuid);
    return device;
}

/* Bytes that depend on the number, also in their length. */
static size_t bytes_of(uint64_t number, unsigned char *out, size_t capacity)
{
    size_t size = (size_t)(fixture_hash(number).lo % capacity);
    for (size_t i = 0; i < size; i++)
        out[i] = (unsigned char)(number * 31 + i * 7 + (i >> 8));
    return size;
}

enum vyre_status fixture_put(struct vyre_store *store, uint64_t number)
{
    static _Thread_local unsigned char bytes[8192];
    struct vyre_store_entry entry = {
        .kind = number % 2 ? VYRE_STORE_PIPELINE : VYRE_STORE_TUNING,
        .device = fixture_hash(0),
        .key = fixture_hash(number),
        .bytes = bytes,
        .cost_ns = (double)number,
    };
    entry.size_bytes = bytes_of(number, bytes, sizeof bytes);
    return vyre_store_put_entry(store, &entry, NULL);
}

bool fixture_has(struct vyre_store *store, uint64_t number)
{
    static _Thread_local unsigned char bytes[8192], expected[8192];
    struct vyre_store_entry entry;
    if (vyre_store_get_entry(store, number % 2 ? VYRE_STORE_PIPELINE : VYRE_STORE_TUNING,
                             fixture_hash(0), fixture_hash(number), bytes, sizeof bytes, &entry,
                             NULL) != VYRE_OK)
        return false;
    size_t size = bytes_of(number, expected, sizeof expected);
    return entry.size_bytes == size && memcmp(bytes, expected, size) == 0 &&
           entry.cost_ns == (double)number;
}

struct vyre_store_calibration fixture_calibration(unsigned number)
{
    struct vyre_store_calibration calibration = {
        .taken_at = 1000 + number, .tool = "vyre 0.1.0", .cost_count = 2};
    calibration.costs[0] = (struct vyre_store_cost){"submit-wait", 10, 12.5, 1.25, 100, false};
    calibration.costs[1] = (struct vyre_store_cost){"record_command", number, number, 0, 7, true};
    return calibration;
}

off_t fixture_size(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 ? facts.st_size : -1;
}
