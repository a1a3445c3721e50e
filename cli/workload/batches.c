/*
 * batches.c: batches and their commands. dispatch.c reads what a dispatch passes to its kernel.
 */
#include "terminal/diag.h"
#include "workload/internal.h"

static bool read_copy(struct workload_reader *reader, const struct workload_node *node,
                      struct workload_command *command)
{
    static const char *const keys[] = {"from", "to"};
    struct workload_node copy = workload_member(node, "copy");
    struct workload_node from = workload_member(&copy, "from");
    struct workload_node to = workload_member(&copy, "to");
    if (!workload_check_keys(reader, &copy, keys, WORKLOAD_COUNT_OF(keys)) ||
        !workload_read_range(reader, &from, &command->from) ||
        !workload_read_range(reader, &to, &command->target))
        return false;
    size_t size = command->from.size_bytes;
    struct workload_node to_size = workload_member(&to, "size");
    if (to_size.json ? command->target.size_bytes != size : command->target.size_bytes < size)
        return workload_fail(reader, &to, CLI_DIAG_WORKLOAD_BOUNDS, "%zu bytes, but `from` has %zu",
                             command->target.size_bytes, size);
    command->target.size_bytes = size;
    size_t a = command->from.offset_bytes;
    size_t b = command->target.offset_bytes;
    if (command->from.buffer == command->target.buffer && a < b + size && b < a + size)
        return workload_fail(reader, &copy, CLI_DIAG_WORKLOAD_OVERLAP,
                             "bytes %zu to %zu overlap bytes %zu to %zu of the same buffer", a,
                             a + size - 1, b, b + size - 1);
    return true;
}

/* Checks that offset and size are multiples of `unit`. */
static bool check_alignment(struct workload_reader *reader, const struct workload_node *node,
                            const struct workload_range *range, size_t unit)
{
    if (range->offset_bytes % unit == 0 && range->size_bytes % unit == 0)
        return true;
    return workload_fail(reader, node, CLI_DIAG_WORKLOAD_ALIGNMENT,
                         "offset %zu and size %zu are not both multiples of %zu",
                         range->offset_bytes, range->size_bytes, unit);
}

static bool read_fill(struct workload_reader *reader, const struct workload_node *node,
                      struct workload_command *command)
{
    struct workload_node range = workload_member(node, "fill");
    struct workload_node value = workload_member(node, "value");
    return workload_read_range(reader, &range, &command->target) &&
           check_alignment(reader, &range, &command->target, 4) &&
           workload_get_u32(reader, &value, 0, &command->fill_word);
}

static bool read_upload(struct workload_reader *reader, const struct workload_node *node,
                        struct workload_command *command)
{
    struct workload_node range = workload_member(node, "upload");
    struct workload_node init = workload_member(node, "init");
    if (!workload_read_range(reader, &range, &command->target))
        return false;
    enum workload_type type = reader->workload->buffers[command->target.buffer].type;
    size_t size = workload_type_size(type);
    return check_alignment(reader, &range, &command->target, size) &&
           workload_require(reader, &init) &&
           workload_read_init(reader, &init, type, command->target.size_bytes / size,
                              &command->init);
}

static bool read_download(struct workload_reader *reader, const struct workload_node *node,
                          struct workload_command *command)
{
    struct workload_node range = workload_member(node, "download");
    return workload_read_range(reader, &range, &command->target);
}

#define KEYS_MAX 5

/* The first key of each form names the command. */
static const struct form {
    const char *keys[KEYS_MAX];
    size_t key_count;
    bool (*read)(struct workload_reader *reader, const struct workload_node *node,
                 struct workload_command *command);
} forms[] = {
    [WORKLOAD_DISPATCH] = {{"dispatch", "groups", "bind", "constants", "specialize"},
                           5,
                           workload_read_dispatch},
    [WORKLOAD_COPY] = {{"copy"}, 1, read_copy},
    [WORKLOAD_FILL] = {{"fill", "value"}, 2, read_fill},
    [WORKLOAD_UPLOAD] = {{"upload", "init"}, 2, read_upload},
    [WORKLOAD_DOWNLOAD] = {{"download"}, 1, read_download},
};

static bool read_command(struct workload_reader *reader, const struct workload_node *node,
                         struct workload_command *command)
{
    static const char *const keys[] = {"dispatch",   "copy",   "fill", "upload",
                                       "download",   "groups", "bind", "constants",
                                       "specialize", "value",  "init"};
    const struct form *form = NULL;
    if (!workload_check_keys(reader, node, keys, WORKLOAD_COUNT_OF(keys)))
        return false;
    for (size_t i = 0; i < WORKLOAD_COUNT_OF(forms); i++) {
        if (!json_object_get(node->json, forms[i].keys[0]))
            continue;
        if (form)
            return workload_fail(reader, node, CLI_DIAG_WORKLOAD_CONFLICT, "both a `%s` and a `%s`",
                                 form->keys[0], forms[i].keys[0]);
        form = &forms[i];
        command->type = (enum workload_command_type)i;
    }
    if (!form)
        return workload_fail(
            reader, node, CLI_DIAG_WORKLOAD_MISSING,
            "one of `dispatch`, `copy`, `fill`, `upload` and `download` is missing");
    return workload_check_keys(reader, node, form->keys, form->key_count) &&
           form->read(reader, node, command);
}

static bool read_batch(struct workload_reader *reader, const struct workload_node *node,
                       struct workload_batch *batch)
{
    size_t count;
    if (!workload_get_array(reader, node, 0, SIZE_MAX, &count))
        return false;
    batch->commands = workload_take(reader, count, sizeof *batch->commands);
    if (!batch->commands)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct workload_node item = workload_item(node, i);
        if (!read_command(reader, &item, &batch->commands[i]))
            return false;
        batch->command_count++;
    }
    return true;
}

bool workload_read_batches(struct workload_reader *reader, const struct workload_node *node)
{
    struct workload *workload = reader->workload;
    size_t count;
    if (!workload_get_object(reader, node, WORKLOAD_NAMES_MAX, &count))
        return false;
    workload->batches = workload_take(reader, count, sizeof *workload->batches);
    if (!workload->batches)
        return false;
    for (void *at = json_object_iter(node->json); at; at = json_object_iter_next(node->json, at)) {
        struct workload_node member = workload_member(node, json_object_iter_key(at));
        struct workload_batch *batch = &workload->batches[workload->batch_count];
        if (!workload_key_name(reader, &member, &batch->name) ||
            !read_batch(reader, &member, batch) ||
            !workload_names_add(reader, reader->batches, batch->name, workload->batch_count))
            return false;
        workload->batch_count++;
    }
    return true;
}
