/*
 * session_kernel.c: creates kernels from files and from the tool's own host kernels.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host_kernels/host_kernels.h"
#include "run/session.h"
#include "terminal/diag.h"
#include "terminal/file.h"
#include "terminal/message.h"
#include "terminal/suggest.h"

#define PAYLOADS_MAX      4
#define PAYLOAD_BYTES_MAX (64u << 20)

/* What a kernel's description needs while it is created. */
struct parts {
    struct vyre_payload payloads[PAYLOADS_MAX];
    void *files[PAYLOADS_MAX]; /* Owned */
    size_t count;
    enum vyre_scalar *constants; /* Owned */
    uint64_t *defaults;          /* Owned */
    uint32_t *ids;               /* Owned */
    const char **names;          /* Owned: the array */
};

static void release(struct parts *parts)
{
    for (size_t i = 0; i < PAYLOADS_MAX; i++)
        free(parts->files[i]);
    free(parts->constants);
    free(parts->defaults);
    free(parts->ids);
    free(parts->names);
}

static enum vyre_status file_error(const char *path, const char *what, int error,
                                   struct vyre_diag *diag)
{
    return cli_diag_set(diag, CLI_DIAG_WORKLOAD_FILE, NULL, error, "%s: %s",
                        cli_quote(cli_span_of(path)).text, error ? strerror(error) : what);
}

/* Reads a whole file and adds a NUL byte. */
static enum vyre_status read_file(const char *path, void **out_bytes, size_t *out_size,
                                  struct vyre_diag *diag)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return file_error(path, "", errno, diag);
    struct stat info;
    char *bytes = NULL;
    enum vyre_status status = VYRE_OK;
    if (fstat(descriptor, &info) != 0)
        status = file_error(path, "", errno, diag);
    else if (!S_ISREG(info.st_mode))
        status = file_error(path, "not a file", 0, diag);
    else if (info.st_size == 0 || (uint64_t)info.st_size > PAYLOAD_BYTES_MAX)
        status = file_error(path, "empty, or larger than 64 MiB", 0, diag);
    else if (!(bytes = calloc(1, (size_t)info.st_size + 1)))
        status = vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0, "no memory for a file");
    ssize_t size = status == VYRE_OK ? cli_read_all(descriptor, bytes, (size_t)info.st_size) : 0;
    if (size < 0)
        status = file_error(path, "", errno, diag);
    close(descriptor);
    if (status != VYRE_OK) {
        free(bytes);
        return status;
    }
    *out_bytes = bytes;
    *out_size = (size_t)size;
    return VYRE_OK;
}

static enum vyre_status add_file(struct parts *parts, const struct workload_kernel *kernel,
                                 enum vyre_target target, const char *key, const char *path,
                                 const char *entry, struct vyre_diag *diag)
{
    if (!path)
        return VYRE_OK;
    struct vyre_payload *payload = &parts->payloads[parts->count];
    *payload = (struct vyre_payload){.target = target, .entry = entry};
    void *bytes = NULL;
    enum vyre_status status = read_file(path, &bytes, &payload->size_bytes, diag);
    if (status != VYRE_OK)
        return session_at(diag, "$.kernels.%s.%s", kernel->name, key);
    payload->bytes = bytes;
    parts->files[parts->count++] = bytes;
    return VYRE_OK;
}

static void suggest_host(const char *name, struct vyre_diag *diag)
{
    struct cli_suggestion suggestion = {.wanted = cli_span_of(name)};
    for (size_t i = 0; host_kernel_name(i); i++)
        cli_suggestion_offer(&suggestion, host_kernel_name(i));
    if (suggestion.nearest)
        vyre_diag_set_fix(diag, "Did you mean `%s`?", suggestion.nearest);
    else
        vyre_diag_set_fix(diag, "Name a kernel of the tool, or give a shared object: "
                                "{\"library\": \"k.so\", \"symbol\": \"f\"}.");
}

static enum vyre_status add_host(struct parts *parts, const struct workload_kernel *kernel,
                                 struct vyre_diag *diag)
{
    struct vyre_payload *payload = &parts->payloads[parts->count];
    if (kernel->host_library) {
        *payload = (struct vyre_payload){.target = VYRE_TARGET_HOST_LIBRARY,
                                         .path = kernel->host_library,
                                         .entry = kernel->host_symbol};
        parts->count++;
    } else if (kernel->host_name) {
        vyre_host_function *function = host_kernel_find(kernel->host_name);
        *payload = (struct vyre_payload){
            .target = VYRE_TARGET_HOST, .function = function, .entry = kernel->host_name};
        parts->count++;
        if (!function) {
            (void)vyre_diag_set(diag, VYRE_DIAG_KERNEL_SYMBOL, NULL, 0,
                                "the tool has no host kernel `%s`",
                                cli_quote(cli_span_of(kernel->host_name)).text);
            suggest_host(kernel->host_name, diag);
            return session_at(diag, "$.kernels.%s.host", kernel->name);
        }
    }
    return VYRE_OK;
}

static enum vyre_status add_payloads(struct parts *parts, const struct workload_kernel *kernel,
                                     struct vyre_diag *diag)
{
    enum vyre_status status = add_host(parts, kernel, diag);
    if (status == VYRE_OK)
        status = add_file(parts, kernel, VYRE_TARGET_SPIRV, "spirv", kernel->spirv_path,
                          kernel->spirv_entry, diag);
    if (status == VYRE_OK)
        status = add_file(parts, kernel, VYRE_TARGET_GLSL, "glsl", kernel->glsl_path,
                          kernel->spirv_entry, diag);
    if (status == VYRE_OK)
        status = add_file(parts, kernel, VYRE_TARGET_OPENCL_C, "opencl", kernel->opencl_path,
                          kernel->entry, diag);
    return status;
}

static enum vyre_status add_values(struct parts *parts, const struct workload_kernel *kernel,
                                   struct vyre_diag *diag)
{
    parts->constants = calloc(kernel->constant_count + 1, sizeof *parts->constants);
    parts->defaults = calloc(kernel->specialization_count + 1, sizeof *parts->defaults);
    parts->ids = calloc(kernel->specialization_count + 1, sizeof *parts->ids);
    parts->names = calloc(kernel->specialization_count + 1, sizeof *parts->names);
    if (!parts->constants || !parts->defaults || !parts->ids || !parts->names)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, kernel->name, 0,
                             "no memory for a kernel");
    for (size_t i = 0; i < kernel->constant_count; i++)
        parts->constants[i] = kernel->constants[i].type;
    for (size_t i = 0; i < kernel->specialization_count; i++) {
        parts->defaults[i] = kernel->specializations[i].value;
        parts->ids[i] = kernel->specializations[i].id;
        parts->names[i] = kernel->specializations[i].name;
    }
    return VYRE_OK;
}

enum vyre_status session_kernel_create(const struct workload_kernel *kernel,
                                       struct vyre_device *device, struct vyre_kernel **out_kernel,
                                       struct vyre_diag *diag)
{
    *out_kernel = NULL;
    struct parts parts = {.count = 0};
    enum vyre_status status = add_payloads(&parts, kernel, diag);
    if (status == VYRE_OK)
        status = add_values(&parts, kernel, diag);
    if (status == VYRE_OK) {
        const struct vyre_kernel_desc desc = {
            .label = kernel->name,
            .payloads = parts.payloads,
            .payload_count = parts.count,
            .local_size = {kernel->local_size[0], kernel->local_size[1], kernel->local_size[2]},
            .bindings = kernel->bindings,
            .binding_count = kernel->binding_count,
            .constants = parts.constants,
            .constant_count = kernel->constant_count,
            .specialization_defaults = parts.defaults,
            .specialization_count = kernel->specialization_count,
            .specialization_ids = parts.ids,
            .specialization_names = parts.names,
        };
        status = vyre_kernel_create(device, &desc, out_kernel, diag);
        if (status != VYRE_OK)
            status = session_at(diag, "$.kernels.%s", kernel->name);
    }
    release(&parts);
    return status;
}
