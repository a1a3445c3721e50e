/*
 * aside.c: renames a broken file, and removes the oldest of those.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/internal.h"

#define KEPT_MAX      3
#define NAMES_TRIED   1000
#define LOCK_PAUSE_MS 5

static const char mark[] = ".broken-";
static const char *const suffixes[] = {"", "-wal", "-shm"};
#define SUFFIX_COUNT (sizeof suffixes / sizeof suffixes[0])

char *vyre_store_path_with(const struct vyre_store *store, const char *suffix, size_t *out_size)
{
    size_t length = strlen(store->desc.path);
    *out_size = length + strlen(suffix) + 1;
    char *path = vyre_memory_allocate(&store->desc.allocator, *out_size, 1);
    if (path) {
        memcpy(path, store->desc.path, length);
        memcpy(path + length, suffix, *out_size - length);
    }
    return path;
}

/* ---- the folder -------------------------------------------------------------------------------
 */

static int open_folder(const char *path)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (length >= sizeof folder)
        return -1;
    memcpy(folder, path, length);
    folder[length] = '\0';
    const char *name = !slash ? "." : length == 0 ? "/" : folder;
    return open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int vyre_store_folder_lock(const char *path, uint32_t timeout_ms)
{
    int descriptor = open_folder(path);
    if (descriptor < 0)
        return -1;
    /*
     * A process that is stopped while holding the lock must not stop all others: after a while they
     * continue without it.
     */
    for (uint32_t waited_ms = 0; flock(descriptor, LOCK_EX | LOCK_NB) != 0;
         waited_ms += LOCK_PAUSE_MS) {
        if ((errno != EWOULDBLOCK && errno != EINTR) || waited_ms >= timeout_ms)
            break;
        const struct timespec pause = {.tv_nsec = LOCK_PAUSE_MS * 1000000L};
        nanosleep(&pause, NULL);
    }
    return descriptor;
}

void vyre_store_folder_unlock(int descriptor)
{
    if (descriptor >= 0)
        close(descriptor);
}

/* ---- those that are kept ----------------------------------------------------------------------
 */

/* The time in the name of a file set aside, or -1 for any other name. */
static long long time_in_name(const char *name, const char *base, size_t base_length)
{
    if (strncmp(name, base, base_length) != 0 ||
        strncmp(name + base_length, mark, sizeof mark - 1) != 0)
        return -1;
    char *end;
    const char *digits = name + base_length + sizeof mark - 1;
    long long when = strtoll(digits, &end, 10);
    if (end == digits || *end != '-')
        return -1;
    const char *pid = end + 1;
    (void)strtoll(pid, &end, 10);
    return end != pid && *end == '\0' ? when : -1; /* -wal and -shm are renamed with their file */
}

static void remove_with_suffixes(int folder, const char *name)
{
    char path[NAME_MAX + 8];
    for (size_t i = 0; i < SUFFIX_COUNT; i++) {
        snprintf(path, sizeof path, "%s%s", name, suffixes[i]);
        (void)unlinkat(folder, path, 0);
    }
}

/* Removes the oldest file set aside if there are too many. False: there was nothing to remove. */
static bool remove_oldest(int folder, const char *base)
{
    int copy = dup(folder);
    DIR *listing = copy >= 0 ? fdopendir(copy) : NULL;
    if (!listing) {
        if (copy >= 0)
            close(copy);
        return false;
    }
    rewinddir(listing);
    size_t count = 0;
    long long oldest = 0;
    char name[NAME_MAX + 1] = "";
    for (struct dirent *at = readdir(listing); at; at = readdir(listing)) {
        long long when = time_in_name(at->d_name, base, strlen(base));
        if (when < 0)
            continue;
        if (count++ == 0 || when < oldest) {
            oldest = when;
            snprintf(name, sizeof name, "%s", at->d_name);
        }
    }
    closedir(listing);
    if (count <= KEPT_MAX)
        return false;
    remove_with_suffixes(folder, name);
    return true;
}

static void remove_surplus(const char *path)
{
    int folder = open_folder(path);
    if (folder < 0)
        return;
    const char *slash = strrchr(path, '/');
    for (int i = 0; i < NAMES_TRIED && remove_oldest(folder, slash ? slash + 1 : path); i++) {
    }
    close(folder);
}

/* ---- renaming ---------------------------------------------------------------------------------
 */

static bool rename_one(const struct vyre_store *store, const char *aside, const char *suffix)
{
    size_t from_size, to_size = strlen(aside) + strlen(suffix) + 1;
    char *from = vyre_store_path_with(store, suffix, &from_size);
    char *to = vyre_memory_allocate(&store->desc.allocator, to_size, 1);
    bool done = false;
    if (from && to) {
        snprintf(to, to_size, "%s%s", aside, suffix);
        done = rename(from, to) == 0;
    } else {
        errno = ENOMEM;
    }
    int error = errno;
    vyre_memory_free(&store->desc.allocator, from, from_size, 1);
    vyre_memory_free(&store->desc.allocator, to, to_size, 1);
    errno = error;
    return done;
}

bool vyre_store_set_aside(const struct vyre_store *store, char *out_name, size_t capacity)
{
    long long now = vyre_store_now();
    bool is_free = false;
    for (int i = 0; i < NAMES_TRIED && !is_free; i++) {
        struct stat ignored;
        int length = snprintf(out_name, capacity, "%s%s%lld-%ld", store->desc.path, mark, now + i,
                              (long)getpid());
        if (length < 0 || (size_t)length >= capacity) {
            errno = ENAMETOOLONG;
            return false;
        }
        is_free = lstat(out_name, &ignored) != 0;
    }
    /*
     * The log first: without its file it means nothing, while the file without its log would look
     * complete.
     */
    if (!rename_one(store, out_name, "-wal") && errno != ENOENT)
        return false;
    (void)rename_one(store, out_name, "-shm");
    if (!rename_one(store, out_name, ""))
        return false;
    remove_surplus(store->desc.path);
    return true;
}
