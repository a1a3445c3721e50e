/*
 * tools_reflect.c: reflection by SPIRV-Cross, after the validator and Vyre's own reader.
 *
 * Our reader comes first. It refuses what kernels may not have, so that SPIRV-Cross gets valid
 * modules of a known kind. SPIRV-Cross gives bindings and constants. The local size and the bits of
 * defaults stay with our reader, because the C interface has no 64-bit values and lets exceptions
 * out of its queries of the local size.
 */
#include <string.h>

#include <spirv_cross_c.h>

#include "spirv/constants_layout.h"
#include "spirv/grammar.h"
#include "spirv/tools_module.h"
#include "spirv/words.h"

struct cross {
    spvc_context context;
    spvc_compiler compiler;
    spvc_resources resources;
    const char *label;
    struct vyre_diag *diag;
};

static enum vyre_status failed(const struct cross *cross, spvc_result result, const char *doing)
{
    const char *reason = cross->context ? spvc_context_get_last_error_string(cross->context) : NULL;
    return vyre_diag_set(cross->diag, VYRE_DIAG_SPIRV_TOOLS_FAILED, cross->label, result,
                         "SPIRV-Cross failed while it %s: %s", doing,
                         reason ? reason : "no reason was given");
}

/* Setting an entry point that SPIRV-Cross does not list would throw an exception through C. */
static enum vyre_status set_entry(struct cross *cross, const char *name, size_t *out_entry_count)
{
    const spvc_entry_point *entries;
    spvc_result result = spvc_compiler_get_entry_points(cross->compiler, &entries, out_entry_count);
    if (result != SPVC_SUCCESS)
        return failed(cross, result, "listed the entry points");
    for (size_t i = 0; i < *out_entry_count; i++) {
        if (entries[i].execution_model != SpvExecutionModelGLCompute ||
            strcmp(entries[i].name, name) != 0)
            continue;
        result = spvc_compiler_set_entry_point(cross->compiler, name, SpvExecutionModelGLCompute);
        return result == SPVC_SUCCESS ? VYRE_OK : failed(cross, result, "chose the entry point");
    }
    enum vyre_status status = vyre_diag_set(
        cross->diag, VYRE_DIAG_SPIRV_ENTRY, cross->label, 0,
        "SPIRV-Cross knows the function of the entry point %.60s by another name", name);
    vyre_diag_set_fix(cross->diag, "Give every function one entry point.");
    return status;
}

static enum vyre_status open_cross(struct cross *cross, const uint32_t *words, size_t count,
                                   const char *entry)
{
    spvc_result result = spvc_context_create(&cross->context);
    if (result != SPVC_SUCCESS)
        return failed(cross, result, "made a context");
    spvc_parsed_ir parsed;
    result = spvc_context_parse_spirv(cross->context, words, count, &parsed);
    if (result != SPVC_SUCCESS)
        return failed(cross, result, "parsed the module");
    result = spvc_context_create_compiler(cross->context, SPVC_BACKEND_NONE, parsed,
                                          SPVC_CAPTURE_MODE_TAKE_OWNERSHIP, &cross->compiler);
    if (result != SPVC_SUCCESS)
        return failed(cross, result, "read the module");
    size_t entry_count;
    enum vyre_status status = set_entry(cross, entry, &entry_count);
    if (status != VYRE_OK)
        return status;

    if (words[1] < SPIRV_VERSION_1_4 && entry_count > 1) {
        spvc_set active;
        result = spvc_compiler_get_active_interface_variables(cross->compiler, &active);
        if (result == SPVC_SUCCESS)
            result = spvc_compiler_create_shader_resources_for_active_variables(
                cross->compiler, &cross->resources, active);
    } else {
        result = spvc_compiler_create_shader_resources(cross->compiler, &cross->resources);
    }
    return result == SPVC_SUCCESS ? VYRE_OK : failed(cross, result, "listed the resources");
}

/* ---- Bindings --------------------------------------------------------------------------------- */

static enum vyre_status read_access(const struct cross *cross, SpvId id,
                                    enum vyre_access *out_access)
{
    const SpvDecoration *decorations;
    size_t count;
    spvc_result result =
        spvc_compiler_get_buffer_block_decorations(cross->compiler, id, &decorations, &count);
    if (result != SPVC_SUCCESS)
        return failed(cross, result, "read a buffer's decorations");
    bool no_write = false, no_read = false;
    for (size_t i = 0; i < count; i++) {
        no_write |= decorations[i] == SpvDecorationNonWritable;
        no_read |= decorations[i] == SpvDecorationNonReadable;
    }
    *out_access = no_write ? VYRE_ACCESS_READ : no_read ? VYRE_ACCESS_WRITE : VYRE_ACCESS_READWRITE;
    return VYRE_OK;
}

static enum vyre_status insert_binding(const struct cross *cross,
                                       struct vyre_kernel_interface *interface,
                                       const struct vyre_binding_desc *binding)
{
    if (interface->binding_count == VYRE_KERNEL_BINDINGS_MAX)
        return vyre_diag_set(cross->diag, VYRE_DIAG_SPIRV_LIMIT, cross->label, 0,
                             "the kernel has more than %d bindings", VYRE_KERNEL_BINDINGS_MAX);
    uint32_t at = interface->binding_count++;
    for (; at > 0 && interface->bindings[at - 1].slot > binding->slot; at--)
        interface->bindings[at] = interface->bindings[at - 1];
    interface->bindings[at] = *binding;
    return VYRE_OK;
}

static enum vyre_status read_buffers(const struct cross *cross, spvc_resource_type kind,
                                     struct vyre_kernel_interface *interface)
{
    const spvc_reflected_resource *list;
    size_t count;
    spvc_result result =
        spvc_resources_get_resource_list_for_type(cross->resources, kind, &list, &count);
    if (result != SPVC_SUCCESS)
        return failed(cross, result, "listed the buffers");
    for (size_t i = 0; i < count; i++) {
        struct vyre_binding_desc binding = {
            .slot = spvc_compiler_get_decoration(cross->compiler, list[i].id, SpvDecorationBinding),
            .access = VYRE_ACCESS_READ};
        enum vyre_status status = VYRE_OK;
        if (kind == SPVC_RESOURCE_TYPE_UNIFORM_BUFFER)
            binding.role = VYRE_ROLE_UNIFORM;
        else
            status = read_access(cross, list[i].id, &binding.access);
        if (status == VYRE_OK)
            status = insert_binding(cross, interface, &binding);
        if (status != VYRE_OK)
            return status;
    }
    return VYRE_OK;
}

/* ---- Constants -------------------------------------------------------------------------------- */

static enum vyre_scalar scalar_of(spvc_type type)
{
    if (spvc_type_get_storage_class(type) == SpvStorageClassPhysicalStorageBuffer)
        return VYRE_SCALAR_U64;
    if (spvc_type_get_num_array_dimensions(type) != 0 || spvc_type_get_vector_size(type) != 1 ||
        spvc_type_get_columns(type) != 1)
        return VYRE_SCALAR_NONE;
    static const struct {
        spvc_basetype base;
        enum vyre_scalar scalar;
    } scalars[] = {
        {SPVC_BASETYPE_UINT32, VYRE_SCALAR_U32}, {SPVC_BASETYPE_INT32, VYRE_SCALAR_I32},
        {SPVC_BASETYPE_FP32, VYRE_SCALAR_F32},   {SPVC_BASETYPE_UINT64, VYRE_SCALAR_U64},
        {SPVC_BASETYPE_INT64, VYRE_SCALAR_I64},  {SPVC_BASETYPE_FP64, VYRE_SCALAR_F64},
    };
    for (size_t i = 0; i < sizeof scalars / sizeof scalars[0]; i++) {
        if (scalars[i].base == spvc_type_get_basetype(type))
            return scalars[i].scalar;
    }
    return VYRE_SCALAR_NONE;
}

static enum vyre_status read_members(const struct cross *cross, spvc_type block, uint32_t size,
                                     struct vyre_kernel_interface *interface)
{
    struct vyre_spirv_constant_member members[VYRE_KERNEL_CONSTANTS_MAX + 1];
    unsigned count = spvc_type_get_num_member_types(block);
    if (count > VYRE_KERNEL_CONSTANTS_MAX) /* the list takes no more, so they need not be read */
        count = VYRE_KERNEL_CONSTANTS_MAX + 1;
    for (unsigned i = 0; i < count; i++) {
        spvc_type type =
            spvc_compiler_get_type_handle(cross->compiler, spvc_type_get_member_type(block, i));
        if (!type)
            return failed(cross, SPVC_ERROR_INVALID_SPIRV, "read a push constant");
        unsigned offset;
        spvc_result result =
            spvc_compiler_type_struct_member_offset(cross->compiler, block, i, &offset);
        if (result != SPVC_SUCCESS)
            return failed(cross, result, "read a push constant's offset");
        members[i] =
            (struct vyre_spirv_constant_member){.scalar = scalar_of(type), .offset_bytes = offset};
    }
    vyre_spirv_constants_list(members, count, size, interface);
    return VYRE_OK;
}

static enum vyre_status read_constants(const struct cross *cross,
                                       struct vyre_kernel_interface *interface)
{
    const spvc_reflected_resource *list;
    size_t count, size;
    spvc_result result = spvc_resources_get_resource_list_for_type(
        cross->resources, SPVC_RESOURCE_TYPE_PUSH_CONSTANT, &list, &count);
    if (result != SPVC_SUCCESS)
        return failed(cross, result, "listed the push constants");
    if (count == 0)
        return VYRE_OK;
    spvc_type block = spvc_compiler_get_type_handle(cross->compiler, list[0].base_type_id);
    if (!block)
        return failed(cross, SPVC_ERROR_INVALID_SPIRV, "read the push constants");
    if (spvc_type_get_num_member_types(block) == 0)
        return VYRE_OK;
    result = spvc_compiler_get_declared_struct_size(cross->compiler, block, &size);
    if (result != SPVC_SUCCESS)
        return failed(cross, result, "measured the push constants");
    if (count > 1 || size > VYRE_CONSTANTS_BYTES_MAX)
        return vyre_diag_set(cross->diag, VYRE_DIAG_SPIRV_CONSTANTS, cross->label, 0,
                             "%zu blocks of push constants, the first with %zu bytes", count, size);
    return read_members(cross, block, (uint32_t)size, interface);
}

/* ---- Specialization --------------------------------------------------------------------------- */

static bool has_id(const uint32_t *ids, uint32_t count, uint32_t id)
{
    for (uint32_t i = 0; i < count; i++) {
        if (ids[i] == id)
            return true;
    }
    return false;
}

static bool is_seen(const spvc_specialization_constant *list, size_t count, uint32_t id)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i].constant_id == id)
            return true;
    }
    return false;
}

/* Our reader listed their ids. SPIRV-Cross, which lists constants, must see the same. */
static enum vyre_status check_specialization(const struct cross *cross,
                                             const struct vyre_spirv_reflection *reflection)
{
    const struct vyre_kernel_interface *interface = &reflection->interface;
    const uint32_t *ids = interface->specialization_ids;
    const spvc_specialization_constant *list;
    size_t count;
    spvc_result result = spvc_compiler_get_specialization_constants(cross->compiler, &list, &count);
    if (result != SPVC_SUCCESS)
        return failed(cross, result, "listed the specialization constants");
    bool same = true;
    for (size_t i = 0; same && i < count; i++)
        same = has_id(ids, interface->specialization_count, list[i].constant_id) ||
               has_id(reflection->fixed_ids, reflection->fixed_count, list[i].constant_id);
    for (uint32_t i = 0; same && i < interface->specialization_count; i++)
        same = is_seen(list, count, ids[i]);
    for (uint32_t i = 0; same && i < reflection->fixed_count; i++)
        same = is_seen(list, count, reflection->fixed_ids[i]);
    if (!same)
        return vyre_diag_set(cross->diag, VYRE_DIAG_SPIRV_SPECIALIZATION, cross->label, 0,
                             "the %zu specialization constants that SPIRV-Cross sees have other "
                             "ids than the %u that are in the module",
                             count, interface->specialization_count + reflection->fixed_count);
    return VYRE_OK;
}

/* ---- The whole -------------------------------------------------------------------------------- */

static enum vyre_status read_interface(const struct cross *cross,
                                       struct vyre_spirv_reflection *reflection)
{
    struct vyre_kernel_interface *interface = &reflection->interface;
    interface->binding_count = 0;
    memset(interface->bindings, 0, sizeof interface->bindings);
    interface->constant_count = 0;
    interface->constants_size_bytes = 0;
    memset(interface->constants, 0, sizeof interface->constants);
    enum vyre_status status = read_buffers(cross, SPVC_RESOURCE_TYPE_STORAGE_BUFFER, interface);
    if (status == VYRE_OK)
        status = read_buffers(cross, SPVC_RESOURCE_TYPE_UNIFORM_BUFFER, interface);
    if (status == VYRE_OK)
        status = read_constants(cross, interface);
    if (status == VYRE_OK)
        status = check_specialization(cross, reflection);
    return status;
}

enum vyre_status vyre_spirv_module_reflect(const struct vyre_allocator *allocator,
                                           const uint32_t *words, size_t count, const char *entry,
                                           const char *label,
                                           struct vyre_spirv_reflection *out_reflection,
                                           struct vyre_diag *diag)
{
    struct cross cross = {.label = label, .diag = diag};
    memset(out_reflection, 0, sizeof *out_reflection);
    enum vyre_status status = vyre_spirv_module_validate(words, count, label, diag);
    if (status == VYRE_OK)
        status =
            vyre_spirv_words_reflect(allocator, words, count, entry, label, out_reflection, diag);
    if (status == VYRE_OK)
        status = open_cross(&cross, words, count, entry ? entry : "main");
    if (status == VYRE_OK)
        status = read_interface(&cross, out_reflection);
    if (cross.context)
        spvc_context_destroy(cross.context);
    if (status != VYRE_OK)
        memset(out_reflection, 0, sizeof *out_reflection);
    return status;
}
