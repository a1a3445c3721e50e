/*
 * workload.c: a file or bytes in, a workload out.
 */
#include "workload/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "terminal/diag.h"
#include "terminal/file.h"
#include "terminal/message.h"
#include "workload/internal.h"

/* ---- Bytes ------------------------------------------------------------------------------------- */

static bool read_version(struct workload_reader *reader, const struct workload_node *root)
{
    struct workload_node version = workload_member(root, "vyre");
    struct workload_value value;
    if (!workload_get_value(reader, &version, &value))
        return false;
    if (value.is_integer && value.integer == 1)
        return true;
    return workload_fail(reader, &version, CLI_DIAG_WORKLOAD_VERSION,
                         "version %g of the format; this tool reads version 1", value.value);
}

static bool read_root(struct workload_reader *reader, const struct workload_node *root)
{
    static const char *const keys[] = {"vyre",    "name",     "buffers", "kernels",
                                       "batches", "schedule", "outputs"};
    /* The version comes first: another one may have other keys. */
    if (json_is_object(root->json) && !read_version(reader, root))
        return false;
    struct workload_node name = workload_member(root, "name");
    struct workload_node buffers = workload_member(root, "buffers");
    struct workload_node kernels = workload_member(root, "kernels");
    struct workload_node batches = workload_member(root, "batches");
    struct workload_node schedule = workload_member(root, "schedule");
    struct workload_node outputs = workload_member(root, "outputs");
    reader->workload->name = "workload";
    return workload_check_keys(reader, root, keys, WORKLOAD_COUNT_OF(keys)) &&
           (!name.json || workload_get_name(reader, &name, &reader->workload->name)) &&
           workload_read_buffers(reader, &buffers) && workload_read_kernels(reader, &kernels) &&
           workload_read_batches(reader, &batches) && workload_read_schedule(reader, &schedule) &&
           workload_read_outputs(reader, &outputs);
}

/* Everything that can fail once the arena exists. */
static bool read_bytes(struct workload_reader *reader, const char *bytes, size_t size_bytes)
{
    reader->workload = workload_take(reader, 1, sizeof *reader->workload);
    if (!reader->workload)
        return false;
    reader->workload->owner = reader->arena;
    reader->workload->path = "";
    if (size_bytes > WORKLOAD_FILE_BYTES_MAX) {
        struct workload_node root = {0};
        return workload_fail(reader, &root, CLI_DIAG_WORKLOAD_SIZE,
                             "the file is larger than %u MiB", WORKLOAD_FILE_BYTES_MAX >> 20);
    }
    struct workload_node root = {.json = workload_text_parse(reader, bytes, size_bytes)};
    if (!root.json)
        return false;
    reader->buffers = json_object();
    reader->kernels = json_object();
    reader->batches = json_object();
    bool made = reader->buffers && reader->kernels && reader->batches;
    bool read = made ? read_root(reader, &root) : workload_fail_memory(reader);
    json_decref(root.json);
    json_decref(reader->buffers);
    json_decref(reader->kernels);
    json_decref(reader->batches);
    return read;
}

enum vyre_status workload_parse(const char *bytes, size_t size_bytes, const char *folder,
                                struct workload **out_workload, struct vyre_diag *diag)
{
    *out_workload = NULL;
    struct workload_reader reader = {.folder = folder, .arena = workload_arena_create()};
    bool read =
        reader.arena ? read_bytes(&reader, bytes, size_bytes) : workload_fail_memory(&reader);
    if (read) {
        *out_workload = reader.workload;
        return VYRE_OK;
    }
    workload_arena_destroy(reader.arena);
    if (diag)
        *diag = reader.error;
    return reader.error.status;
}

void workload_destroy(struct workload **workload)
{
    if (!workload || !*workload)
        return;
    workload_arena_destroy((*workload)->owner);
    *workload = NULL;
}

/* ---- Files ------------------------------------------------------------------------------------- */

static enum vyre_status fail_open(const char *path, int error, struct vyre_diag *diag)
{
    return cli_diag_set(diag, CLI_DIAG_WORKLOAD_OPEN, NULL, error, "$: cannot read `%s`: %s",
                        cli_quote(cli_span_of(path)).text, strerror(error));
}

/* Reads at most one byte more than the limit: enough to know that a file is too large. */
static enum vyre_status read_file(const char *path, int file, char **out_bytes, size_t *out_size,
                                  struct vyre_diag *diag)
{
    struct stat facts;
    if (fstat(file, &facts) != 0)
        return fail_open(path, errno, diag);
    if (S_ISDIR(facts.st_mode))
        return fail_open(path, EISDIR, diag);
    size_t capacity = (size_t)WORKLOAD_FILE_BYTES_MAX + 1;
    if (S_ISREG(facts.st_mode) && (size_t)facts.st_size < capacity)
        capacity = (size_t)facts.st_size + 1;
    *out_bytes = malloc(capacity);
    if (!*out_bytes)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0,
                             "no memory to read the workload");
    ssize_t size = cli_read_all(file, *out_bytes, capacity);
    if (size < 0)
        return fail_open(path, errno, diag);
    *out_size = (size_t)size;
    return VYRE_OK;
}

/* The part before the last slash, or "." without one. The caller frees it. NULL: no memory. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return strdup(".");
    return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/* Copies the path, since the workload may outlive it. */
static enum vyre_status keep_path(struct workload *workload, const char *path,
                                  struct vyre_diag *diag)
{
    size_t size = strlen(path) + 1;
    char *copy = workload_arena_take(workload->owner, size, 1);
    if (!copy)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0,
                             "no memory to read the workload");
    workload->path = memcpy(copy, path, size);
    return VYRE_OK;
}

enum vyre_status workload_load(const char *path, struct workload **out_workload,
                               struct vyre_diag *diag)
{
    *out_workload = NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return fail_open(path, errno, diag);
    char *bytes = NULL;
    size_t size = 0;
    enum vyre_status status = read_file(path, file, &bytes, &size, diag);
    close(file);
    char *folder = folder_of(path);
    if (status == VYRE_OK && !folder)
        status =
            vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0, "no memory to read the workload");
    if (status == VYRE_OK)
        status = workload_parse(bytes, size, folder, out_workload, diag);
    if (*out_workload)
        status = keep_path(*out_workload, path, diag);
    if (status != VYRE_OK)
        workload_destroy(out_workload);
    free(folder);
    free(bytes);
    return status;
}
