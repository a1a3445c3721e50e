/*
 * specialization.c: specialization constants, by their ids.
 */
#include "spirv/specialization.h"

#include "spirv/grammar.h"

/* The constants of one id. */
struct group {
    uint32_t id;
    uint32_t size_bytes; /* of the first */
    uint64_t bits;       /* the default of the first */
    bool mixed;          /* another one has another default */
    bool fixed;          /* another one has another size */
};

struct groups {
    struct group items[VYRE_SPECIALIZATION_VALUES_MAX]; /* by id, ascending */
    uint32_t count;
};

bool vyre_spirv_specialization_default(const struct vyre_spirv_module *module, uint32_t id,
                                       uint32_t *out_size_bytes, uint64_t *out_bits)
{
    struct vyre_spirv_instruction constant, type;
    if (!vyre_spirv_module_find(module, id, &constant))
        return false;
    *out_size_bytes = 4; /* of a boolean: VkBool32 */
    *out_bits = constant.op == SPIRV_OP_SPEC_CONSTANT_TRUE;
    if (constant.op == SPIRV_OP_SPEC_CONSTANT_TRUE || constant.op == SPIRV_OP_SPEC_CONSTANT_FALSE)
        return true;
    if (constant.op != SPIRV_OP_SPEC_CONSTANT ||
        !vyre_spirv_module_find(module, constant.words[1], &type) ||
        (type.op != SPIRV_OP_TYPE_INT && type.op != SPIRV_OP_TYPE_FLOAT))
        return false;
    uint32_t width = type.words[2];
    *out_size_bytes = width / 8;
    if (width == 64 && constant.count >= 5)
        *out_bits = constant.words[3] | (uint64_t)constant.words[4] << 32;
    else if (width == 8 || width == 16 || width == 32)
        *out_bits = constant.words[3] & UINT32_MAX >> (32 - width);
    else
        return false;
    return true;
}

static enum vyre_status add_constant(const struct vyre_spirv_module *module, struct groups *groups,
                                     const struct group *constant)
{
    uint32_t at = groups->count;
    while (at > 0 && groups->items[at - 1].id > constant->id)
        at--;
    if (at > 0 && groups->items[at - 1].id == constant->id) {
        struct group *group = &groups->items[at - 1];
        group->fixed |= group->size_bytes != constant->size_bytes;
        group->mixed |= group->bits != constant->bits;
        return VYRE_OK;
    }
    if (groups->count == VYRE_SPECIALIZATION_VALUES_MAX)
        return vyre_diag_set(module->diag, VYRE_DIAG_SPIRV_LIMIT, module->label, 0,
                             "the module's specialization constants have more than %d ids",
                             VYRE_SPECIALIZATION_VALUES_MAX);
    for (uint32_t i = groups->count++; i > at; i--)
        groups->items[i] = groups->items[i - 1];
    groups->items[at] = *constant;
    return VYRE_OK;
}

static void list_group(struct vyre_spirv_reflection *reflection, const struct group *group)
{
    struct vyre_kernel_interface *interface = &reflection->interface;
    if (group->fixed) {
        reflection->fixed_ids[reflection->fixed_count++] = group->id;
        return;
    }
    uint32_t at = interface->specialization_count++;
    interface->specialization_ids[at] = group->id;
    interface->specialization_defaults[at] = group->bits;
    interface->specialization_mixed |= (uint32_t)group->mixed << at;
    reflection->specialization_sizes[at] = group->size_bytes;
}

enum vyre_status vyre_spirv_specialization_read(const struct vyre_spirv_module *module,
                                                struct vyre_spirv_reflection *reflection)
{
    struct groups groups = {.count = 0};
    struct vyre_spirv_walk walk = vyre_spirv_module_annotations(module);
    struct vyre_spirv_instruction found;
    while (vyre_spirv_walk_next(&walk, &found)) {
        if (found.op != SPIRV_OP_DECORATE || found.words[2] != SPIRV_DECORATION_SPEC_ID)
            continue;
        struct group constant = {.id = found.count < 4 ? 0 : found.words[3]};
        if (found.count < 4 || !vyre_spirv_specialization_default(
                                   module, found.words[1], &constant.size_bytes, &constant.bits))
            return vyre_diag_set(module->diag, VYRE_DIAG_SPIRV_SPECIALIZATION, module->label, 0,
                                 "a constant_id is on what is no scalar specialization constant "
                                 "(id %u)",
                                 found.words[1]);
        enum vyre_status status = add_constant(module, &groups, &constant);
        if (status != VYRE_OK)
            return status;
    }
    for (uint32_t i = 0; i < groups.count; i++)
        list_group(reflection, &groups.items[i]);
    return VYRE_OK;
}
