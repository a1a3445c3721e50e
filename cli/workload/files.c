/*
 * files.c: paths that stay in the workload's folder.
 *
 * A workload may come from an untrusted source, so it may only name files in its own folder. The text
 * of a path is checked first: one that leads out is refused even if nothing exists there. Then the real
 * path is checked, with all symbolic links followed.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "terminal/diag.h"
#include "terminal/message.h"
#include "workload/internal.h"

/* True if some prefix of the path has more ".." than folders. */
static bool climbs_out(const char *path)
{
    size_t depth = 0;
    for (const char *at = path; *at;) {
        size_t size = strcspn(at, "/");
        if (size == 2 && memcmp(at, "..", 2) == 0) {
            if (depth == 0)
                return true;
            depth--;
        } else if (size > 0 && !(size == 1 && *at == '.')) {
            depth++;
        }
        at += size;
        at += *at == '/';
    }
    return false;
}

static bool fail_path(struct workload_reader *reader, const struct workload_node *node,
                      const char *path, const char *why)
{
    return workload_fail(reader, node, CLI_DIAG_WORKLOAD_PATH, "the path `%s` %s",
                         cli_quote(cli_span_of(path)).text, why);
}

static bool fail_file(struct workload_reader *reader, const struct workload_node *node,
                      const char *path, const char *why)
{
    return workload_fail(reader, node, CLI_DIAG_WORKLOAD_FILE, "the file `%s`: %s",
                         cli_quote(cli_span_of(path)).text, why);
}

static bool is_inside(const char *real, const char *folder)
{
    size_t size = strlen(folder);
    if (strncmp(real, folder, size) != 0)
        return false;
    return real[size] == '/' || real[size] == '\0' || strcmp(folder, "/") == 0;
}

/* Finds the real paths of the folder and of `path` in it; both buffers have PATH_MAX bytes. */
static bool resolve(struct workload_reader *reader, const struct workload_node *node,
                    const char *path, char *folder, char *real)
{
    char joined[PATH_MAX];
    int length = snprintf(joined, sizeof joined, "%s/%s", reader->folder, path);
    if (length < 0 || (size_t)length >= sizeof joined)
        return fail_path(reader, node, path, "is too long");
    if (!realpath(reader->folder, folder) || !realpath(joined, real))
        return fail_file(reader, node, path, strerror(errno));
    if (!is_inside(real, folder))
        return fail_path(reader, node, path, "leads out of the workload's folder through a link");
    return true;
}

/* Checks that the file is a regular one and can be opened. A pipe must not block. */
static bool check_file(struct workload_reader *reader, const struct workload_node *node,
                       const char *path, const char *real, size_t *out_size_bytes)
{
    struct stat facts;
    int file = open(real, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return fail_file(reader, node, path, strerror(errno));
    bool known = fstat(file, &facts) == 0;
    close(file);
    if (!known || !S_ISREG(facts.st_mode))
        return fail_file(reader, node, path, "not a regular file");
    *out_size_bytes = (size_t)facts.st_size;
    return true;
}

bool workload_get_file(struct workload_reader *reader, const struct workload_node *node,
                       const char **out_path, size_t *out_size_bytes)
{
    const char *path;
    char folder[PATH_MAX];
    char real[PATH_MAX];
    *out_path = NULL;
    *out_size_bytes = 0;
    if (!workload_get_text(reader, node, &path))
        return false;
    if (path[0] == '\0')
        return fail_path(reader, node, path, "is empty");
    if (path[0] == '/')
        return fail_path(reader, node, path, "is absolute");
    if (climbs_out(path))
        return fail_path(reader, node, path, "leads out of the workload's folder");
    if (!resolve(reader, node, path, folder, real) ||
        !check_file(reader, node, path, real, out_size_bytes))
        return false;
    *out_path = workload_take_text(reader, real);
    return *out_path != NULL;
}
