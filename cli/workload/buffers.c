/*
 * buffers.c: buffers, their contents, and ranges in them.
 */
#include <inttypes.h>
#include <math.h>

#include "terminal/diag.h"
#include "workload/internal.h"

/* ---- Contents ---------------------------------------------------------------------------------- */

static const char *const init_keys[] = {"value", "random", "ramp", "file"};

static bool read_value(struct workload_reader *reader, const struct workload_node *node,
                       enum workload_type type, struct workload_init *init)
{
    struct workload_value value;
    uint64_t bits;
    if (!workload_get_value(reader, node, &value) ||
        !workload_type_encode(reader, node, type, &value, &bits))
        return false;
    init->is_integer = value.is_integer;
    init->integer[0] = value.integer;
    init->value[0] = value.value;
    return true;
}

/* A ramp of whole numbers wraps, so any step is allowed. One of fractions must stay finite. */
static bool read_ramp(struct workload_reader *reader, const struct workload_node *node,
                      enum workload_type type, size_t count, struct workload_init *init)
{
    size_t entries;
    if (!workload_get_array(reader, node, 2, 2, &entries))
        return false;
    struct workload_node start = workload_item(node, 0);
    struct workload_node step = workload_item(node, 1);
    struct workload_value value;
    uint64_t bits;
    bool is_float = workload_type_is_float(type);
    if (!read_value(reader, &start, type, init) || !workload_get_value(reader, &step, &value) ||
        !workload_type_encode(reader, &step, is_float ? type : WORKLOAD_I64, &value, &bits))
        return false;
    init->is_integer = init->is_integer && value.is_integer;
    init->integer[1] = value.integer;
    init->value[1] = value.value;
    struct workload_value last = {.value = init->value[0] + (double)(count - 1) * value.value};
    if (is_float && !isfinite(last.value))
        return workload_fail(reader, node, CLI_DIAG_WORKLOAD_RANGE,
                             "the ramp overflows to infinity");
    return !is_float || workload_type_encode(reader, node, type, &last, &bits);
}

static bool read_init_file(struct workload_reader *reader, const struct workload_node *node,
                           enum workload_type type, size_t count, struct workload_init *init)
{
    size_t size_bytes;
    if (!workload_get_file(reader, node, &init->path, &size_bytes))
        return false;
    size_t wanted = count * workload_type_size(type);
    if (size_bytes >= wanted)
        return true;
    return workload_fail(reader, node, CLI_DIAG_WORKLOAD_FILE,
                         "the file has %zu bytes, but %zu are needed", size_bytes, wanted);
}

bool workload_read_init(struct workload_reader *reader, const struct workload_node *node,
                        enum workload_type type, size_t count, struct workload_init *out_init)
{
    *out_init = (struct workload_init){.kind = WORKLOAD_INIT_VALUE, .is_integer = true};
    if (!workload_check_keys(reader, node, init_keys, WORKLOAD_COUNT_OF(init_keys)))
        return false;
    if (json_object_size(node->json) == 0)
        return workload_fail(reader, node, CLI_DIAG_WORKLOAD_MISSING,
                             "one of `value`, `random`, `ramp` and `file` is missing");
    if (json_object_size(node->json) > 1)
        return workload_fail(reader, node, CLI_DIAG_WORKLOAD_CONFLICT,
                             "only one of `value`, `random`, `ramp` and `file` is allowed");
    struct workload_node value = workload_member(node, "value");
    if (value.json)
        return read_value(reader, &value, type, out_init);
    struct workload_node ramp = workload_member(node, "ramp");
    if (ramp.json) {
        out_init->kind = WORKLOAD_INIT_RAMP;
        return read_ramp(reader, &ramp, type, count, out_init);
    }
    struct workload_node seed = workload_member(node, "random");
    if (seed.json) {
        int64_t number;
        out_init->kind = WORKLOAD_INIT_RANDOM;
        bool got = workload_get_integer(reader, &seed, 0, INT64_MAX, &number);
        out_init->seed = (uint64_t)number;
        return got;
    }
    struct workload_node file = workload_member(node, "file");
    out_init->kind = WORKLOAD_INIT_FILE;
    return read_init_file(reader, &file, type, count, out_init);
}

/* ---- Buffers ----------------------------------------------------------------------------------- */

static bool read_size(struct workload_reader *reader, const struct workload_node *node,
                      struct workload_buffer *buffer)
{
    int64_t count;
    struct workload_node member = workload_member(node, "count");
    if (!workload_get_integer(reader, &member, 1, INT64_MAX, &count))
        return false;
    buffer->count = (size_t)count;
    size_t element = workload_type_size(buffer->type);
    if (buffer->count > WORKLOAD_MEMORY_MAX / element)
        return workload_fail(reader, &member, CLI_DIAG_WORKLOAD_SIZE,
                             "%" PRId64 " elements of %zu bytes are more than 1 TiB", count,
                             element);
    buffer->size_bytes = buffer->count * element;
    reader->workload->memory_bytes += buffer->size_bytes;
    if (reader->workload->memory_bytes > WORKLOAD_MEMORY_MAX)
        return workload_fail(reader, &member, CLI_DIAG_WORKLOAD_SIZE,
                             "the buffers up to this one take more than 1 TiB");
    return true;
}

static bool read_buffer(struct workload_reader *reader, const struct workload_node *node,
                        struct workload_buffer *buffer)
{
    static const char *const keys[] = {"type", "count", "init"};
    if (!workload_check_keys(reader, node, keys, WORKLOAD_COUNT_OF(keys)))
        return false;
    size_t type;
    struct workload_node member = workload_member(node, "type");
    if (!workload_get_word(reader, &member, workload_type_names, WORKLOAD_TYPE_COUNT, &type))
        return false;
    buffer->type = (enum workload_type)(WORKLOAD_U8 + type);
    if (!read_size(reader, node, buffer))
        return false;
    struct workload_node init = workload_member(node, "init");
    buffer->init.is_integer = true;
    return !init.json ||
           workload_read_init(reader, &init, buffer->type, buffer->count, &buffer->init);
}

bool workload_read_buffers(struct workload_reader *reader, const struct workload_node *node)
{
    struct workload *workload = reader->workload;
    size_t count;
    if (!workload_get_object(reader, node, WORKLOAD_NAMES_MAX, &count))
        return false;
    workload->buffers = workload_take(reader, count, sizeof *workload->buffers);
    if (!workload->buffers)
        return false;
    for (void *at = json_object_iter(node->json); at; at = json_object_iter_next(node->json, at)) {
        struct workload_node member = workload_member(node, json_object_iter_key(at));
        struct workload_buffer *buffer = &workload->buffers[workload->buffer_count];
        if (!workload_key_name(reader, &member, &buffer->name) ||
            !read_buffer(reader, &member, buffer) ||
            !workload_names_add(reader, reader->buffers, buffer->name, workload->buffer_count))
            return false;
        workload->buffer_count++;
    }
    return true;
}

/* ---- Ranges ------------------------------------------------------------------------------------ */

/* Reads offset and size; *range holds the defaults for those that are not given. */
static bool read_extent(struct workload_reader *reader, const struct workload_node *node,
                        struct workload_range *range)
{
    size_t whole = reader->workload->buffers[range->buffer].size_bytes;
    int64_t number;
    struct workload_node offset = workload_member(node, "offset");
    if (offset.json) {
        if (!workload_get_integer(reader, &offset, 0, INT64_MAX, &number))
            return false;
        range->offset_bytes = (size_t)number;
        if (range->offset_bytes >= whole)
            return workload_fail(reader, &offset, CLI_DIAG_WORKLOAD_BOUNDS,
                                 "%" PRId64 " is not within the buffer's %zu bytes", number, whole);
        range->size_bytes = whole - range->offset_bytes;
    }
    struct workload_node size = workload_member(node, "size");
    if (size.json) {
        if (!workload_get_integer(reader, &size, 1, INT64_MAX, &number))
            return false;
        if ((size_t)number > range->size_bytes)
            return workload_fail(reader, &size, CLI_DIAG_WORKLOAD_BOUNDS,
                                 "%" PRId64 " bytes from %zu on end after the buffer's %zu bytes",
                                 number, range->offset_bytes, whole);
        range->size_bytes = (size_t)number;
    }
    return true;
}

bool workload_read_range(struct workload_reader *reader, const struct workload_node *node,
                         struct workload_range *out_range)
{
    static const char *const keys[] = {"buffer", "offset", "size"};
    *out_range = (struct workload_range){0};
    if (!workload_require(reader, node))
        return false;
    bool whole = !json_is_object(node->json);
    if (whole && !json_is_string(node->json))
        return workload_fail(reader, node, CLI_DIAG_WORKLOAD_TYPE,
                             "a range is a buffer's name or an object with `buffer`");
    if (!whole && !workload_check_keys(reader, node, keys, WORKLOAD_COUNT_OF(keys)))
        return false;
    struct workload_node member = workload_member(node, "buffer");
    if (!workload_get_reference(reader, whole ? node : &member, reader->buffers, "buffer",
                                &out_range->buffer))
        return false;
    out_range->size_bytes = reader->workload->buffers[out_range->buffer].size_bytes;
    return whole || read_extent(reader, node, out_range);
}
