/*
 * store_blob_fuzz.c: stores that something has written into. The first byte chooses:
 *
 *   even   the rest is the file
 *   odd    a sound file, changed: [length, 2 bytes: cut there, 0 or too large: not at all]
 *          then changes of [offset, 3 bytes][value]
 *
 * However the file is, opening succeeds, nothing is read out of bounds, and an entry that is given has
 * the bytes that its checksum is of: in a changed file those that were put, or none.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vyre/vyre.h>

enum { ENTRIES = 12, ENTRY_BYTES = 5000, FILE_BYTES_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *promise)
{
    if (!holds) {
        fprintf(stderr, "store_blob_fuzz: %s\n", promise);
        abort();
    }
}

/* A folder, and in it the file and what is beside it. */
struct place {
    char folder[64];
    char path[80];
};

static void write_file(const char *path, const uint8_t *bytes, size_t size)
{
    int descriptor = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    require(descriptor >= 0 && write(descriptor, bytes, size) == (ssize_t)size,
            "a file is written");
    close(descriptor);
}

static size_t fill_entry(unsigned number, uint8_t bytes[ENTRY_BYTES])
{
    memset(bytes, (int)number + 1, ENTRY_BYTES);
    return number * ENTRY_BYTES / ENTRIES;
}

static size_t make_image(const char *path, uint8_t *image)
{
    const struct vyre_store_desc desc = {.path = path};
    struct vyre_store *store;
    uint8_t bytes[ENTRY_BYTES];
    require(vyre_store_open(&desc, &store, NULL) == VYRE_OK, "a store opens");
    for (unsigned i = 0; i < ENTRIES; i++) {
        struct vyre_store_entry entry = {
            .kind = VYRE_STORE_PIPELINE, .key = {i, 0}, .bytes = bytes};
        entry.size_bytes = fill_entry(i, bytes);
        require(vyre_store_put_entry(store, &entry, NULL) == VYRE_OK, "an entry is put");
    }
    vyre_store_close(&store);
    int descriptor = open(path, O_RDONLY);
    ssize_t size = read(descriptor, image, FILE_BYTES_MAX);
    close(descriptor);
    require(size > 0, "the file is read");
    return (size_t)size;
}

static size_t change(uint8_t *image, size_t image_size, const uint8_t *data, size_t size)
{
    size_t cut = size >= 2 ? (size_t)data[0] << 8 | data[1] : 0;
    for (size_t i = 2; i + 4 <= size; i += 4) {
        size_t offset = (size_t)data[i] << 16 | (size_t)data[i + 1] << 8 | data[i + 2];
        image[offset % image_size] = data[i + 3];
    }
    return cut > 0 && cut < image_size ? cut : image_size;
}

static bool on_entry(void *user, const struct vyre_store_entry *entry, bool matches_checksum,
                     const struct vyre_store_heat *heat)
{
    /* Looks at all bytes: what is given is there to be read. */
    struct vyre_hash128 found = vyre_hash128(entry->bytes, entry->size_bytes);
    *(uint64_t *)user += found.lo + matches_checksum + heat->use_count;
    return true;
}

static void check_entries(struct vyre_store *store, bool changed)
{
    uint8_t bytes[ENTRY_BYTES], expected[ENTRY_BYTES];
    for (unsigned i = 0; i < ENTRIES; i++) {
        struct vyre_hash128 device = {0, 0}, key = {i, 0};
        struct vyre_store_entry entry;
        struct vyre_diag diag = {0};
        enum vyre_status status = vyre_store_get_entry(store, VYRE_STORE_PIPELINE, device, key,
                                                       bytes, sizeof bytes, &entry, &diag);
        require(status == VYRE_OK || status == VYRE_NOT_FOUND || status == VYRE_LIMIT ||
                    status == VYRE_OUT_OF_MEMORY,
                "an entry is there, or not");
        if (status != VYRE_OK || !changed)
            continue;
        size_t size = fill_entry(i, expected);
        require(entry.size_bytes == size && memcmp(bytes, expected, size) == 0,
                "an entry has the bytes that were put");
    }
}

static void check_store(const char *path, bool changed)
{
    for (int i = 0; i < 2; i++) { /* read only first: it must leave the file alone */
        const struct vyre_store_desc desc = {.path = path, .read_only = i == 0};
        struct vyre_store *store;
        struct vyre_store_check check;
        uint64_t sum = 0;
        const struct vyre_store_visitor visitor = {.user = &sum, .entry = on_entry};
        require(vyre_store_open(&desc, &store, NULL) == VYRE_OK, "a store opens");
        (void)!vyre_store_check(store, NULL, NULL, &check, NULL);
        (void)!vyre_store_visit(store, &visitor, NULL);
        check_entries(store, changed);
        struct vyre_store_entry entry = {.kind = VYRE_STORE_TUNING, .key = {99, 0}};
        require(vyre_store_put_entry(store, &entry, NULL) == VYRE_OK, "an entry is taken");
        vyre_store_close(&store);
    }
}

/* Everything in the folder is ours: the file, its log, and what was set aside. */
static void clean_up(const struct place *place)
{
    DIR *listing = opendir(place->folder);
    require(listing != NULL, "the folder is there");
    for (struct dirent *at = readdir(listing); at; at = readdir(listing)) {
        if (at->d_name[0] != '.')
            (void)unlinkat(dirfd(listing), at->d_name, 0);
    }
    closedir(listing);
    require(rmdir(place->folder) == 0, "the folder is removed");
}

/* In memory where the system has that: every input makes and syncs several files. */
static void make_folder(struct place *place)
{
    snprintf(place->folder, sizeof place->folder, "/dev/shm/vyre-fuzz.XXXXXX");
    if (!mkdtemp(place->folder)) {
        snprintf(place->folder, sizeof place->folder, "/tmp/vyre-fuzz.XXXXXX");
        require(mkdtemp(place->folder) != NULL, "a folder is made");
    }
    snprintf(place->path, sizeof place->path, "%s/store.db", place->folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t image[FILE_BYTES_MAX];
    static uint8_t sound[FILE_BYTES_MAX];
    static size_t sound_size;
    struct place place;
    if (size == 0 || size > FILE_BYTES_MAX)
        return 0;
    make_folder(&place);
    if (sound_size == 0) {
        sound_size = make_image(place.path, sound);
        (void)unlink(place.path);
    }
    bool changed = data[0] % 2 != 0;
    if (changed) {
        memcpy(image, sound, sound_size);
        size_t length = change(image, sound_size, data + 1, size - 1);
        write_file(place.path, image, length);
    } else {
        write_file(place.path, data + 1, size - 1);
    }
    check_store(place.path, changed);
    clean_up(&place);
    return 0;
}
