/*
 * interface.c: what a kernel declares: slots, constants, specialization values.
 */
#include <inttypes.h>
#include <string.h>

#include "terminal/diag.h"
#include "terminal/message.h"
#include "workload/internal.h"

/* The smallest constant has 4 bytes. */
#define CONSTANTS_MAX (VYRE_CONSTANTS_BYTES_MAX / 4)

static bool fail_duplicate(struct workload_reader *reader, const struct workload_node *node,
                           const char *what)
{
    return workload_fail(reader, node, CLI_DIAG_WORKLOAD_DUPLICATE,
                         "an earlier entry already has this %s", what);
}

/* ---- Bindings ---------------------------------------------------------------------------------- */

/* `local`: bytes, or true when each dispatch gives them. No table, and no access except readwrite. */
static bool read_local(struct workload_reader *reader, const struct workload_node *node,
                       struct vyre_binding_desc *binding)
{
    struct workload_node local = workload_member(node, "local");
    if (!local.json)
        return true;
    if (binding->table)
        return workload_fail(reader, node, CLI_DIAG_WORKLOAD_CONFLICT,
                             "`table` and `local` exclude each other");
    if (binding->access != VYRE_ACCESS_DEFAULT && binding->access != VYRE_ACCESS_READWRITE) {
        struct workload_node access = workload_member(node, "access");
        return workload_fail(reader, &access, CLI_DIAG_WORKLOAD_ACCESS,
                             "local memory is always readwrite");
    }
    binding->role = VYRE_ROLE_SHARED;
    binding->access = VYRE_ACCESS_READWRITE;
    if (json_is_true(local.json))
        return true;
    if (!json_is_number(local.json))
        return workload_fail(reader, &local, CLI_DIAG_WORKLOAD_TYPE,
                             "neither a number of bytes nor true");
    uint32_t bytes;
    bool got = workload_get_u32(reader, &local, 1, &bytes);
    binding->element_count = bytes;
    return got;
}

static bool read_binding(struct workload_reader *reader, const struct workload_node *node,
                         struct vyre_binding_desc *binding)
{
    static const char *const keys[] = {"slot", "access", "table", "local"};
    struct workload_node slot = workload_member(node, "slot");
    if (!workload_check_keys(reader, node, keys, WORKLOAD_COUNT_OF(keys)) ||
        !workload_get_u32(reader, &slot, 0, &binding->slot))
        return false;
    struct workload_node access = workload_member(node, "access");
    struct workload_node local = workload_member(node, "local");
    if ((access.json || !local.json) && !workload_get_access(reader, &access, &binding->access))
        return false;
    struct workload_node table = workload_member(node, "table");
    if (table.json && !json_is_boolean(table.json))
        return workload_fail(reader, &table, CLI_DIAG_WORKLOAD_TYPE, "neither true nor false");
    binding->table = json_is_true(table.json);
    return read_local(reader, node, binding);
}

static bool read_bindings(struct workload_reader *reader, const struct workload_node *node,
                          struct workload_kernel *kernel)
{
    size_t count;
    if (!node->json)
        return true;
    if (!workload_get_array(reader, node, 0, WORKLOAD_BINDINGS_MAX, &count))
        return false;
    kernel->bindings = workload_take(reader, count, sizeof *kernel->bindings);
    if (!kernel->bindings)
        return false;
    kernel->bindings_given = true;
    for (size_t i = 0; i < count; i++) {
        struct workload_node item = workload_item(node, i);
        struct vyre_binding_desc *binding = &kernel->bindings[i];
        if (!read_binding(reader, &item, binding))
            return false;
        for (size_t j = 0; j < i; j++) {
            if (kernel->bindings[j].slot == binding->slot) {
                struct workload_node slot = workload_member(&item, "slot");
                return fail_duplicate(reader, &slot, "slot");
            }
        }
        kernel->binding_count++;
    }
    return true;
}

/* ---- Constants --------------------------------------------------------------------------------- */

/* Places a constant after the earlier ones, at its natural alignment. */
static bool place_constant(struct workload_reader *reader, const struct workload_node *node,
                           struct workload_kernel *kernel, struct workload_constant *constant)
{
    size_t size = workload_type_size(workload_scalar_type(constant->type));
    size_t offset = (kernel->constants_size_bytes + size - 1) & ~(size - 1);
    constant->offset_bytes = offset;
    kernel->constants_size_bytes = offset + size;
    if (kernel->constants_size_bytes <= VYRE_CONSTANTS_BYTES_MAX)
        return true;
    return workload_fail(reader, node, CLI_DIAG_WORKLOAD_SIZE,
                         "the constants up to this one take %zu bytes; at most %d are allowed",
                         kernel->constants_size_bytes, VYRE_CONSTANTS_BYTES_MAX);
}

static bool read_constant(struct workload_reader *reader, const struct workload_node *node,
                          struct workload_kernel *kernel, struct workload_constant *constant)
{
    static const char *const keys[] = {"name", "type"};
    struct workload_node name = workload_member(node, "name");
    struct workload_node type = workload_member(node, "type");
    if (!workload_check_keys(reader, node, keys, WORKLOAD_COUNT_OF(keys)) ||
        !workload_get_name(reader, &name, &constant->name) ||
        !workload_get_scalar(reader, &type, &constant->type))
        return false;
    for (const struct workload_constant *other = kernel->constants; other < constant; other++) {
        if (strcmp(other->name, constant->name) == 0)
            return fail_duplicate(reader, &name, "name");
    }
    return place_constant(reader, node, kernel, constant);
}

static bool read_constants(struct workload_reader *reader, const struct workload_node *node,
                           struct workload_kernel *kernel)
{
    size_t count;
    size_t alignment = 1;
    if (!node->json)
        return true;
    if (!workload_get_array(reader, node, 0, CONSTANTS_MAX, &count))
        return false;
    kernel->constants = workload_take(reader, count, sizeof *kernel->constants);
    if (!kernel->constants)
        return false;
    kernel->constants_given = true;
    for (size_t i = 0; i < count; i++) {
        struct workload_node item = workload_item(node, i);
        if (!read_constant(reader, &item, kernel, &kernel->constants[i]))
            return false;
        size_t size = workload_type_size(workload_scalar_type(kernel->constants[i].type));
        alignment = size > alignment ? size : alignment;
        kernel->constant_count++;
    }
    /* Padded at the end, like a C struct of these members. */
    kernel->constants_size_bytes =
        (kernel->constants_size_bytes + alignment - 1) & ~(alignment - 1);
    return true;
}

/* ---- Specialization ---------------------------------------------------------------------------- */

static bool read_specialization(struct workload_reader *reader, const struct workload_node *node,
                                struct workload_kernel *kernel,
                                struct workload_specialization *value)
{
    static const char *const keys[] = {"id", "name", "type", "default"};
    struct workload_node id = workload_member(node, "id");
    struct workload_node name = workload_member(node, "name");
    struct workload_node type = workload_member(node, "type");
    struct workload_node bits = workload_member(node, "default");
    struct workload_value number;
    if (!workload_check_keys(reader, node, keys, WORKLOAD_COUNT_OF(keys)) ||
        !workload_get_u32(reader, &id, 0, &value->id) ||
        !workload_get_name(reader, &name, &value->name) ||
        !workload_get_scalar(reader, &type, &value->type) ||
        !workload_get_value(reader, &bits, &number) ||
        !workload_type_encode(reader, &bits, workload_scalar_type(value->type), &number,
                              &value->value))
        return false;
    for (const struct workload_specialization *other = kernel->specializations; other < value;
         other++) {
        if (other->id == value->id)
            return fail_duplicate(reader, &id, "id");
        if (strcmp(other->name, value->name) == 0)
            return fail_duplicate(reader, &name, "name");
    }
    return true;
}

static bool read_specializations(struct workload_reader *reader, const struct workload_node *node,
                                 struct workload_kernel *kernel)
{
    size_t count;
    if (!node->json)
        return true;
    if (!workload_get_array(reader, node, 0, VYRE_SPECIALIZATION_VALUES_MAX, &count))
        return false;
    kernel->specializations = workload_take(reader, count, sizeof *kernel->specializations);
    if (!kernel->specializations)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct workload_node item = workload_item(node, i);
        if (!read_specialization(reader, &item, kernel, &kernel->specializations[i]))
            return false;
        kernel->specialization_count++;
    }
    return true;
}

bool workload_read_interface(struct workload_reader *reader, const struct workload_node *node,
                             struct workload_kernel *kernel)
{
    struct workload_node bindings = workload_member(node, "bindings");
    struct workload_node constants = workload_member(node, "constants");
    struct workload_node specialize = workload_member(node, "specialize");
    return read_bindings(reader, &bindings, kernel) && read_constants(reader, &constants, kernel) &&
           read_specializations(reader, &specialize, kernel);
}
