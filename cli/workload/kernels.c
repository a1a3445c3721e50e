/*
 * kernels.c: kernels and their payloads.
 */
#include "terminal/diag.h"
#include "workload/internal.h"

static bool read_optional_file(struct workload_reader *reader, const struct workload_node *node,
                               const char *key, const char **out_path)
{
    size_t size_bytes;
    struct workload_node member = workload_member(node, key);
    return !member.json || workload_get_file(reader, &member, out_path, &size_bytes);
}

/* Reads a host payload: a function of the tool by name, or one of a shared object. */
static bool read_host(struct workload_reader *reader, const struct workload_node *node,
                      struct workload_kernel *kernel)
{
    static const char *const keys[] = {"library", "symbol"};
    size_t size_bytes;
    if (!node->json)
        return true;
    if (json_is_string(node->json))
        return workload_get_name(reader, node, &kernel->host_name);
    if (!json_is_object(node->json))
        return workload_fail(reader, node, CLI_DIAG_WORKLOAD_TYPE,
                             "a host payload is a name or an object with `library` and `symbol`");
    struct workload_node library = workload_member(node, "library");
    struct workload_node symbol = workload_member(node, "symbol");
    return workload_check_keys(reader, node, keys, WORKLOAD_COUNT_OF(keys)) &&
           workload_get_file(reader, &library, &kernel->host_library, &size_bytes) &&
           workload_get_name(reader, &symbol, &kernel->host_symbol);
}

static bool read_payloads(struct workload_reader *reader, const struct workload_node *node,
                          struct workload_kernel *kernel)
{
    struct workload_node host = workload_member(node, "host");
    if (!read_optional_file(reader, node, "glsl", &kernel->glsl_path) ||
        !read_optional_file(reader, node, "spirv", &kernel->spirv_path) ||
        !read_optional_file(reader, node, "opencl", &kernel->opencl_path) ||
        !read_host(reader, &host, kernel))
        return false;
    if (kernel->glsl_path || kernel->spirv_path || kernel->opencl_path || host.json)
        return true;
    return workload_fail(reader, node, CLI_DIAG_WORKLOAD_PAYLOAD,
                         "the kernel has none of `glsl`, `spirv`, `opencl` and `host`");
}

static bool read_optional_name(struct workload_reader *reader, const struct workload_node *node,
                               const char *key, const char *otherwise, const char **out_name)
{
    struct workload_node member = workload_member(node, key);
    *out_name = otherwise;
    return !member.json || workload_get_name(reader, &member, out_name);
}

static bool read_kernel(struct workload_reader *reader, const struct workload_node *node,
                        struct workload_kernel *kernel)
{
    static const char *const keys[] = {"glsl",      "spirv",       "opencl",     "host",
                                       "entry",     "spirv_entry", "local_size", "bindings",
                                       "constants", "specialize"};
    if (!workload_check_keys(reader, node, keys, WORKLOAD_COUNT_OF(keys)) ||
        !read_payloads(reader, node, kernel) ||
        !read_optional_name(reader, node, "entry", kernel->name, &kernel->entry) ||
        !read_optional_name(reader, node, "spirv_entry", "main", &kernel->spirv_entry))
        return false;
    struct workload_node local_size = workload_member(node, "local_size");
    if (local_size.json && !workload_get_u32x3(reader, &local_size, 1, kernel->local_size))
        return false;
    return workload_read_interface(reader, node, kernel);
}

bool workload_read_kernels(struct workload_reader *reader, const struct workload_node *node)
{
    struct workload *workload = reader->workload;
    size_t count;
    if (!node->json)
        return true;
    if (!workload_get_object(reader, node, WORKLOAD_NAMES_MAX, &count))
        return false;
    workload->kernels = workload_take(reader, count, sizeof *workload->kernels);
    if (!workload->kernels)
        return false;
    for (void *at = json_object_iter(node->json); at; at = json_object_iter_next(node->json, at)) {
        struct workload_node member = workload_member(node, json_object_iter_key(at));
        struct workload_kernel *kernel = &workload->kernels[workload->kernel_count];
        if (!workload_key_name(reader, &member, &kernel->name) ||
            !read_kernel(reader, &member, kernel) ||
            !workload_names_add(reader, reader->kernels, kernel->name, workload->kernel_count))
            return false;
        workload->kernel_count++;
    }
    return true;
}
