/*
 * dispatch.c: what a dispatch passes to its kernel: groups, slots, constants, specialization.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/diag.h"
#include "terminal/message.h"
#include "workload/internal.h"

/* ---- Slots ------------------------------------------------------------------------------------- */

/* A key such as "0" or "17": a u32 in decimal, without leading zeros. */
static bool parse_slot(struct workload_reader *reader, const struct workload_node *node,
                       uint32_t *out_slot)
{
    size_t digits = strspn(node->key, "0123456789");
    uint64_t number = digits > 0 && digits <= 10 ? strtoull(node->key, NULL, 10) : UINT64_MAX;
    *out_slot = (uint32_t)number;
    if (node->key[digits] == '\0' && number <= UINT32_MAX && (node->key[0] != '0' || digits == 1))
        return true;
    return workload_fail(reader, node, CLI_DIAG_WORKLOAD_SLOT, "`%s` is not the number of a slot",
                         cli_quote(cli_span_of(node->key)).text);
}

static const struct vyre_binding_desc *find_binding(const struct workload_kernel *kernel,
                                                    uint32_t slot)
{
    for (size_t i = 0; i < kernel->binding_count; i++) {
        if (kernel->bindings[i].slot == slot)
            return &kernel->bindings[i];
    }
    return NULL;
}

static bool read_table(struct workload_reader *reader, const struct workload_node *node,
                       struct workload_bind *bind)
{
    static const char *const keys[] = {"table", "access"};
    struct workload_node table = workload_member(node, "table");
    struct workload_node access = workload_member(node, "access");
    size_t count;
    bind->kind = WORKLOAD_BIND_TABLE;
    if (!workload_check_keys(reader, node, keys, WORKLOAD_COUNT_OF(keys)) ||
        !workload_get_array(reader, &table, 1, WORKLOAD_TABLE_MAX, &count) ||
        (access.json && !workload_get_access(reader, &access, &bind->access)))
        return false;
    bind->table = workload_take(reader, count, sizeof *bind->table);
    if (!bind->table)
        return false;
    bind->table_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        struct workload_node item = workload_item(&table, i);
        if (!workload_get_reference(reader, &item, reader->buffers, "buffer", &bind->table[i]))
            return false;
    }
    return true;
}

static bool read_bind(struct workload_reader *reader, const struct workload_node *node,
                      struct workload_bind *bind)
{
    static const char *const local_keys[] = {"local"};
    if (json_object_get(node->json, "table"))
        return read_table(reader, node, bind);
    struct workload_node local = workload_member(node, "local");
    if (!local.json)
        return workload_read_range(reader, node, &bind->range);
    bind->kind = WORKLOAD_BIND_LOCAL;
    return workload_check_keys(reader, node, local_keys, WORKLOAD_COUNT_OF(local_keys)) &&
           workload_get_u32(reader, &local, 1, &bind->local_bytes);
}

static enum workload_bind_kind kind_of(const struct vyre_binding_desc *binding)
{
    if (binding->role == VYRE_ROLE_SHARED)
        return WORKLOAD_BIND_LOCAL;
    return binding->table ? WORKLOAD_BIND_TABLE : WORKLOAD_BIND_RANGE;
}

/* Checks that the bind is of the kind that the kernel declares for the slot. */
static bool check_bind(struct workload_reader *reader, const struct workload_node *node,
                       const struct workload_kernel *kernel, const struct workload_bind *bind)
{
    static const char *const kinds[] = {"a range", "a table", "local memory"};
    const struct vyre_binding_desc *binding = find_binding(kernel, bind->slot);
    if (!kernel->bindings_given)
        return true;
    if (!binding)
        return workload_fail(reader, node, CLI_DIAG_WORKLOAD_SLOT,
                             "the kernel `%s` declares no slot %u",
                             cli_quote(cli_span_of(kernel->name)).text, bind->slot);
    enum workload_bind_kind wanted = kind_of(binding);
    if (bind->kind != wanted)
        return workload_fail(reader, node, CLI_DIAG_WORKLOAD_SLOT, "%s, but slot %u needs %s",
                             kinds[bind->kind], bind->slot, kinds[wanted]);
    if (bind->access != VYRE_ACCESS_DEFAULT && bind->access != binding->access)
        return workload_fail(reader, node, CLI_DIAG_WORKLOAD_ACCESS,
                             "access %s, but the kernel declares %s for slot %u",
                             vyre_access_name(bind->access), vyre_access_name(binding->access),
                             bind->slot);
    if (wanted == WORKLOAD_BIND_LOCAL && binding->element_count > 0 &&
        binding->element_count != bind->local_bytes)
        return workload_fail(reader, node, CLI_DIAG_WORKLOAD_SLOT,
                             "%u bytes of local memory, but the kernel declares %zu",
                             bind->local_bytes, binding->element_count);
    return true;
}

static bool is_bound(const struct workload_command *command, uint32_t slot)
{
    for (size_t i = 0; i < command->bind_count; i++) {
        if (command->binds[i].slot == slot)
            return true;
    }
    return false;
}

/* Checks that every declared slot is bound. Adds local memory whose size the kernel declares. */
static bool complete_binds(struct workload_reader *reader, const struct workload_node *node,
                           const struct workload_kernel *kernel, struct workload_command *command)
{
    for (size_t i = 0; i < kernel->binding_count; i++) {
        const struct vyre_binding_desc *binding = &kernel->bindings[i];
        if (is_bound(command, binding->slot))
            continue;
        if (kind_of(binding) != WORKLOAD_BIND_LOCAL || binding->element_count == 0)
            return workload_fail(reader, node->json ? node : node->parent, CLI_DIAG_WORKLOAD_SLOT,
                                 "slot %u of the kernel `%s` is not bound", binding->slot,
                                 cli_quote(cli_span_of(kernel->name)).text);
        command->binds[command->bind_count++] =
            (struct workload_bind){.slot = binding->slot,
                                   .kind = WORKLOAD_BIND_LOCAL,
                                   .local_bytes = (uint32_t)binding->element_count};
    }
    return true;
}

static bool read_binds(struct workload_reader *reader, const struct workload_node *node,
                       const struct workload_kernel *kernel, struct workload_command *command)
{
    size_t count = 0;
    if (node->json && !workload_get_object(reader, node, WORKLOAD_BINDINGS_MAX, &count))
        return false;
    command->binds = workload_take(reader, count + kernel->binding_count, sizeof *command->binds);
    if (!command->binds)
        return false;
    void *at = node->json ? json_object_iter(node->json) : NULL;
    for (; at; at = json_object_iter_next(node->json, at)) {
        struct workload_node member = workload_member(node, json_object_iter_key(at));
        struct workload_bind *bind = &command->binds[command->bind_count];
        if (!parse_slot(reader, &member, &bind->slot) || !read_bind(reader, &member, bind) ||
            !check_bind(reader, &member, kernel, bind))
            return false;
        command->bind_count++;
    }
    return complete_binds(reader, node, kernel, command);
}

/* ---- Constants --------------------------------------------------------------------------------- */

/* For kernels whose constants are reflected later: keeps names and numbers as they are. */
static bool read_values(struct workload_reader *reader, const struct workload_node *node,
                        struct workload_command *command)
{
    size_t count;
    if (!node->json)
        return true;
    if (!workload_get_object(reader, node, VYRE_CONSTANTS_BYTES_MAX / 4, &count))
        return false;
    command->values = workload_take(reader, count, sizeof *command->values);
    if (!command->values)
        return false;
    for (void *at = json_object_iter(node->json); at; at = json_object_iter_next(node->json, at)) {
        struct workload_node member = workload_member(node, json_object_iter_key(at));
        struct workload_value *value = &command->values[command->value_count];
        if (!workload_get_value(reader, &member, value) ||
            !workload_key_name(reader, &member, &value->name))
            return false;
        command->value_count++;
    }
    return true;
}

/* Checks that the node is an object and all of its keys are among the names. */
static bool check_names(struct workload_reader *reader, const struct workload_node *node,
                        const char *const *names, size_t count, const char *what)
{
    size_t given;
    json_t *known = json_object();
    bool added = known && workload_get_object(reader, node, SIZE_MAX, &given);
    for (size_t i = 0; i < count && added; i++)
        added = workload_names_add(reader, known, names[i], i);
    void *at = added ? json_object_iter(node->json) : NULL;
    for (; at && added; at = json_object_iter_next(node->json, at)) {
        struct workload_node member = workload_member(node, json_object_iter_key(at));
        added = json_object_get(known, member.key) ||
                workload_fail_name(reader, &member, known, what, member.key);
    }
    json_decref(known);
    return known ? added : workload_fail_memory(reader);
}

static bool read_constants(struct workload_reader *reader, const struct workload_node *node,
                           const struct workload_kernel *kernel, struct workload_command *command)
{
    const char *names[VYRE_CONSTANTS_BYTES_MAX / 4];
    for (size_t i = 0; i < kernel->constant_count; i++)
        names[i] = kernel->constants[i].name;
    if (!node->json && kernel->constant_count == 0)
        return true;
    if (!workload_require(reader, node) ||
        !check_names(reader, node, names, kernel->constant_count, "constant"))
        return false;
    char *block = workload_take(reader, kernel->constants_size_bytes, 1);
    if (!block)
        return false;
    for (size_t i = 0; i < kernel->constant_count; i++) {
        const struct workload_constant *constant = &kernel->constants[i];
        enum workload_type type = workload_scalar_type(constant->type);
        struct workload_node member = workload_member(node, constant->name);
        struct workload_value value;
        uint64_t bits;
        if (!workload_get_value(reader, &member, &value) ||
            !workload_type_encode(reader, &member, type, &value, &bits))
            return false;
        uint32_t half = (uint32_t)bits;
        if (workload_type_size(type) == sizeof half)
            memcpy(block + constant->offset_bytes, &half, sizeof half);
        else
            memcpy(block + constant->offset_bytes, &bits, sizeof bits);
    }
    command->constants = kernel->constant_count > 0 ? block : NULL;
    return true;
}

/* ---- Specialization ---------------------------------------------------------------------------- */

static bool read_specialize(struct workload_reader *reader, const struct workload_node *node,
                            const struct workload_kernel *kernel, struct workload_command *command)
{
    const char *names[VYRE_SPECIALIZATION_VALUES_MAX];
    for (size_t i = 0; i < kernel->specialization_count; i++)
        names[i] = kernel->specializations[i].name;
    if (!node->json)
        return true;
    if (!check_names(reader, node, names, kernel->specialization_count, "specialization value"))
        return false;
    uint64_t *values = workload_take(reader, kernel->specialization_count, sizeof *values);
    if (!values)
        return false;
    for (size_t i = 0; i < kernel->specialization_count; i++) {
        const struct workload_specialization *declared = &kernel->specializations[i];
        struct workload_node member = workload_member(node, declared->name);
        struct workload_value value;
        values[i] = declared->value;
        if (member.json &&
            (!workload_get_value(reader, &member, &value) ||
             !workload_type_encode(reader, &member, workload_scalar_type(declared->type), &value,
                                   &values[i])))
            return false;
    }
    command->specialization = json_object_size(node->json) > 0 ? values : NULL;
    return true;
}

bool workload_read_dispatch(struct workload_reader *reader, const struct workload_node *node,
                            struct workload_command *command)
{
    struct workload_node name = workload_member(node, "dispatch");
    struct workload_node groups = workload_member(node, "groups");
    if (!workload_get_reference(reader, &name, reader->kernels, "kernel", &command->kernel) ||
        !workload_get_u32x3(reader, &groups, 0, command->groups))
        return false;
    const struct workload_kernel *kernel = &reader->workload->kernels[command->kernel];
    struct workload_node bind = workload_member(node, "bind");
    struct workload_node constants = workload_member(node, "constants");
    struct workload_node specialize = workload_member(node, "specialize");
    return read_binds(reader, &bind, kernel, command) &&
           (kernel->constants_given ? read_constants(reader, &constants, kernel, command)
                                    : read_values(reader, &constants, command)) &&
           read_specialize(reader, &specialize, kernel, command);
}
