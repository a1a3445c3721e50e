/*
 * constants_layout.c: the layout of a block of push constants.
 *
 * The size is the end of the last member, including members of nested structs. Nested structs wait
 * on a list of fixed size; arrays and matrices have strides and need no descent.
 */
#include "spirv/constants_layout.h"

#include "plan/interface_agree.h"
#include "spirv/grammar.h"

#define MEMBERS_MAX VYRE_CONSTANTS_BYTES_MAX /* a member has at least one byte */
#define STRUCTS_MAX 16

struct member {
    bool has_offset;
    bool row_major;
    uint32_t offset;
    uint32_t matrix_stride;
};

struct pending {
    uint32_t type;
    uint64_t base;
};

struct layout {
    const struct vyre_spirv_module *module;
    struct pending pending[STRUCTS_MAX];
    size_t pending_count;
    uint32_t member_count; /* in total: each may cost a walk over the decorations */
    uint64_t end;          /* of the members seen so far, in bytes */
};

static enum vyre_status refuse(const struct vyre_spirv_module *module, const char *why)
{
    return vyre_diag_set(module->diag, VYRE_DIAG_SPIRV_CONSTANTS, module->label, 0,
                         "the push constants %s", why);
}

static void read_members(const struct vyre_spirv_module *module, uint32_t type,
                         struct member *members, uint32_t count)
{
    struct vyre_spirv_walk walk = vyre_spirv_module_annotations(module);
    struct vyre_spirv_instruction found;
    while (vyre_spirv_walk_next(&walk, &found)) {
        if (found.op != SPIRV_OP_MEMBER_DECORATE || found.words[1] != type ||
            found.words[2] >= count)
            continue;
        struct member *member = &members[found.words[2]];
        uint32_t operand = found.count > 4 ? found.words[4] : 0;
        if (found.words[3] == SPIRV_DECORATION_OFFSET) {
            member->has_offset = true;
            member->offset = operand;
        } else if (found.words[3] == SPIRV_DECORATION_MATRIX_STRIDE) {
            member->matrix_stride = operand;
        } else if (found.words[3] == SPIRV_DECORATION_ROW_MAJOR) {
            member->row_major = true;
        }
    }
}

/* Bytes of an int, a float or an address; 0 for other types. */
static uint64_t scalar_bytes(const struct vyre_spirv_instruction *type)
{
    if (type->op == SPIRV_OP_TYPE_INT || type->op == SPIRV_OP_TYPE_FLOAT)
        return type->words[2] / 8;
    if (type->op == SPIRV_OP_TYPE_POINTER && type->words[2] == SPIRV_CLASS_PHYSICAL_STORAGE_BUFFER)
        return 8;
    return 0;
}

static uint64_t vector_bytes(const struct vyre_spirv_module *module,
                             const struct vyre_spirv_instruction *vector)
{
    struct vyre_spirv_instruction scalar;
    if (!vyre_spirv_module_find(module, vector->words[2], &scalar))
        return 0;
    return scalar_bytes(&scalar) * vector->words[3];
}

static uint64_t matrix_bytes(const struct vyre_spirv_module *module,
                             const struct vyre_spirv_instruction *matrix,
                             const struct member *member)
{
    struct vyre_spirv_instruction column;
    if (!vyre_spirv_module_find_op(module, matrix->words[2], SPIRV_OP_TYPE_VECTOR, &column))
        return 0;
    uint64_t vectors = member->row_major ? column.words[3] : matrix->words[3];
    return vectors * member->matrix_stride;
}

static uint64_t array_bytes(const struct vyre_spirv_module *module,
                            const struct vyre_spirv_instruction *array)
{
    uint32_t stride, length;
    if (!vyre_spirv_module_decoration(module, array->words[1], SPIRV_DECORATION_ARRAY_STRIDE,
                                      &stride) ||
        !vyre_spirv_module_constant(module, array->words[3], &length))
        return 0;
    return (uint64_t)stride * length;
}

/* 0: the type has no known size. */
static uint64_t member_bytes(const struct vyre_spirv_module *module,
                             const struct vyre_spirv_instruction *type, const struct member *member)
{
    switch (type->op) {
    case SPIRV_OP_TYPE_VECTOR:
        return vector_bytes(module, type);
    case SPIRV_OP_TYPE_MATRIX:
        return matrix_bytes(module, type, member);
    case SPIRV_OP_TYPE_ARRAY:
        return array_bytes(module, type);
    default:
        return scalar_bytes(type);
    }
}

static enum vyre_status lay_member(struct layout *layout, uint64_t base, uint32_t type_id,
                                   const struct member *member)
{
    const struct vyre_spirv_module *module = layout->module;
    struct vyre_spirv_instruction type;
    if (!member->has_offset || !vyre_spirv_module_find(module, type_id, &type))
        return refuse(module, "have a member without an offset or a type");
    uint64_t start = base + member->offset;
    if (type.op == SPIRV_OP_TYPE_STRUCT) {
        if (layout->pending_count == STRUCTS_MAX)
            return refuse(module, "hold more structs than are followed");
        layout->pending[layout->pending_count++] = (struct pending){type_id, start};
        return VYRE_OK;
    }
    uint64_t bytes = member_bytes(module, &type, member);
    if (bytes == 0)
        return refuse(module, "have a member of unknown size");
    /* Checked separately, so that the sum cannot overflow. */
    if (bytes > VYRE_CONSTANTS_BYTES_MAX || start > VYRE_CONSTANTS_BYTES_MAX ||
        start + bytes > VYRE_CONSTANTS_BYTES_MAX)
        return refuse(module, "take more than 128 bytes");
    if (start + bytes > layout->end)
        layout->end = start + bytes;
    return VYRE_OK;
}

static enum vyre_status lay_struct(struct layout *layout, struct pending next)
{
    struct vyre_spirv_instruction type;
    if (!vyre_spirv_module_find_op(layout->module, next.type, SPIRV_OP_TYPE_STRUCT, &type))
        return refuse(layout->module, "are no struct");
    uint32_t count = type.count - 2;
    layout->member_count += count;
    if (layout->member_count > MEMBERS_MAX)
        return refuse(layout->module, "take more than 128 bytes");
    struct member members[MEMBERS_MAX] = {{0}};
    read_members(layout->module, next.type, members, count);
    for (uint32_t i = 0; i < count; i++) {
        enum vyre_status status = lay_member(layout, next.base, type.words[2 + i], &members[i]);
        if (status != VYRE_OK)
            return status;
    }
    return VYRE_OK;
}

static enum vyre_scalar scalar_of(const struct vyre_spirv_instruction *type)
{
    bool wide = scalar_bytes(type) == 8;
    if (scalar_bytes(type) != 4 && !wide)
        return VYRE_SCALAR_NONE;
    if (type->op == SPIRV_OP_TYPE_FLOAT)
        return wide ? VYRE_SCALAR_F64 : VYRE_SCALAR_F32;
    if (type->op == SPIRV_OP_TYPE_INT && type->words[3] != 0)
        return wide ? VYRE_SCALAR_I64 : VYRE_SCALAR_I32;
    return wide ? VYRE_SCALAR_U64 : VYRE_SCALAR_U32;
}

void vyre_spirv_constants_list(const struct vyre_spirv_constant_member *members, size_t count,
                               uint32_t size_bytes, struct vyre_kernel_interface *interface)
{
    interface->constant_count = 0;
    interface->constants_size_bytes = size_bytes;
    if (count > VYRE_KERNEL_CONSTANTS_MAX)
        return;
    uint32_t end = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t scalar = vyre_scalar_size(members[i].scalar);
        if (scalar == 0)
            return;
        uint32_t offset = (end + scalar - 1) & ~(scalar - 1);
        if (members[i].offset_bytes != offset)
            return;
        end = offset + scalar;
    }
    for (size_t i = 0; i < count; i++)
        interface->constants[i] = members[i].scalar;
    interface->constant_count = (uint32_t)count;
    uint32_t alignment;
    interface->constants_size_bytes = vyre_scalars_layout(interface->constants, count, &alignment);
}

/* The block has at most MEMBERS_MAX members, as lay_struct has checked. */
static void list_scalars(const struct vyre_spirv_module *module, uint32_t block, uint32_t size,
                         struct vyre_kernel_interface *interface)
{
    struct vyre_spirv_constant_member list[MEMBERS_MAX];
    struct member members[MEMBERS_MAX] = {{0}};
    struct vyre_spirv_instruction type, scalar;
    uint32_t count = 0;
    if (vyre_spirv_module_find(module, block, &type))
        count = type.count - 2;
    read_members(module, block, members, count);
    for (uint32_t i = 0; i < count; i++) {
        bool known = vyre_spirv_module_find(module, type.words[2 + i], &scalar);
        list[i] = (struct vyre_spirv_constant_member){.scalar = known ? scalar_of(&scalar)
                                                                      : VYRE_SCALAR_NONE,
                                                      .offset_bytes = members[i].offset};
    }
    vyre_spirv_constants_list(list, count, size, interface);
}

enum vyre_status vyre_spirv_constants_layout(const struct vyre_spirv_module *module, uint32_t block,
                                             struct vyre_kernel_interface *interface)
{
    struct layout layout = {.module = module, .pending = {{block, 0}}, .pending_count = 1};
    /* Structs stay on the list when done, so that one that contains itself ends too. */
    for (size_t i = 0; i < layout.pending_count; i++) {
        enum vyre_status status = lay_struct(&layout, layout.pending[i]);
        if (status != VYRE_OK)
            return status;
    }
    list_scalars(module, block, (uint32_t)layout.end, interface);
    return VYRE_OK;
}
