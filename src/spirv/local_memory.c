/*
 * local_memory.c: the sizes of types, found in one walk, and the variables that are made of them.
 *
 * A type comes after those that it is made of, so their sizes are already known, and no recursion
 * is needed. In a malformed module, what is out of order counts as empty.
 */
#include "spirv/local_memory.h"

#include "base/checked.h"
#include "base/memory.h"
#include "spirv/grammar.h"
#include "spirv/specialization.h"

enum { BOOL_BYTES = 4, ADDRESS_BYTES = 8, DIMENSIONS_MAX = 8 };

static uint64_t size_of_type(const struct vyre_spirv_module *module, const uint64_t *sizes,
                             const struct vyre_spirv_instruction *type)
{
    uint64_t size = 0;
    uint32_t length = 0;
    uint64_t part = type->count > 2 && type->words[2] < module->bound ? sizes[type->words[2]] : 0;
    switch (type->op) {
    case SPIRV_OP_TYPE_BOOL:
        return BOOL_BYTES;
    case SPIRV_OP_TYPE_INT:
    case SPIRV_OP_TYPE_FLOAT:
        return type->words[2] / 8;
    case SPIRV_OP_TYPE_POINTER:
        return ADDRESS_BYTES;
    case SPIRV_OP_TYPE_VECTOR:
    case SPIRV_OP_TYPE_MATRIX:
        return vyre_saturating_mul_u64(part, type->words[3]);
    case SPIRV_OP_TYPE_ARRAY: /* an array whose length is an expression is not counted */
        (void)vyre_spirv_module_constant(module, type->words[3], &length);
        return vyre_saturating_mul_u64(part, length);
    case SPIRV_OP_TYPE_STRUCT:
        for (uint32_t i = 2; i < type->count; i++)
            size = vyre_saturating_add_u64(
                size, type->words[i] < module->bound ? sizes[type->words[i]] : 0);
        return size;
    default:
        return 0;
    }
}

static enum vyre_status measure_types(struct vyre_spirv_local_reader *reader,
                                      const struct vyre_spirv_module *module)
{
    reader->sizes = vyre_memory_allocate(module->allocator, module->bound * sizeof(uint64_t),
                                         _Alignof(uint64_t));
    if (!reader->sizes)
        return vyre_diag_set(module->diag, VYRE_DIAG_OUT_OF_MEMORY, module->label, 0,
                             "no memory for the sizes of %u ids", module->bound);
    struct vyre_spirv_walk walk = vyre_spirv_walk_begin(module->words, module->count);
    struct vyre_spirv_instruction type;
    while (vyre_spirv_walk_next(&walk, &type) && type.op != SPIRV_OP_FUNCTION) {
        if (type.op >= SPIRV_OP_TYPE_VOID && type.op <= SPIRV_OP_TYPE_POINTER)
            reader->sizes[type.words[1]] = size_of_type(module, reader->sizes, &type);
    }
    return VYRE_OK;
}

/*
 * Whether a length is the value of a specialization constant; then its id is added to the sized
 * one.
 */
static bool add_length_id(struct vyre_spirv_local_reader *reader,
                          const struct vyre_spirv_module *module, uint32_t length,
                          struct vyre_spirv_sized *sized)
{
    uint32_t size_bytes;
    uint32_t at = sized->id_count;
    if (reader->lookups == VYRE_SPIRV_SIZED_MAX * VYRE_SPIRV_SIZED_IDS_MAX ||
        !vyre_spirv_specialization_default(module, length, &size_bytes, &sized->defaults[at]))
        return false;
    reader->lookups++;
    if (!vyre_spirv_module_decoration(module, length, SPIRV_DECORATION_SPEC_ID, &sized->ids[at]))
        return false;
    sized->id_count++;
    return true;
}

enum vyre_status vyre_spirv_local_add(struct vyre_spirv_local_reader *reader,
                                      const struct vyre_spirv_module *module,
                                      const struct vyre_spirv_instruction *variable,
                                      struct vyre_spirv_reflection *reflection)
{
    struct vyre_spirv_instruction pointer, array;
    if (!vyre_spirv_module_find_op(module, variable->words[1], SPIRV_OP_TYPE_POINTER, &pointer))
        return vyre_diag_set(module->diag, VYRE_DIAG_SPIRV_MALFORMED, module->label, 0,
                             "a variable's type is no pointer (id %u)", variable->words[2]);
    enum vyre_status status = reader->sizes ? VYRE_OK : measure_types(reader, module);
    if (status != VYRE_OK)
        return status;
    struct vyre_spirv_sized sized = {.unit_bytes = 1};
    uint32_t type = pointer.words[3];
    for (int i = 0; i < DIMENSIONS_MAX && reflection->sized_count < VYRE_SPIRV_SIZED_MAX &&
                    sized.id_count < VYRE_SPIRV_SIZED_IDS_MAX &&
                    vyre_spirv_module_find_op(module, type, SPIRV_OP_TYPE_ARRAY, &array);
         i++) {
        uint32_t length = 0;
        if (!add_length_id(reader, module, array.words[3], &sized)) {
            (void)vyre_spirv_module_constant(module, array.words[3], &length);
            sized.unit_bytes = vyre_saturating_mul_u64(sized.unit_bytes, length);
        }
        type = array.words[2];
    }
    sized.unit_bytes =
        vyre_saturating_mul_u64(sized.unit_bytes, type < module->bound ? reader->sizes[type] : 0);
    if (sized.id_count > 0)
        reflection->sized[reflection->sized_count++] = sized;
    else
        reflection->local_bytes =
            vyre_saturating_add_u64(reflection->local_bytes, sized.unit_bytes);
    return VYRE_OK;
}

void vyre_spirv_local_deinit(struct vyre_spirv_local_reader *reader,
                             const struct vyre_spirv_module *module)
{
    vyre_memory_free(module->allocator, reader->sizes, module->bound * sizeof(uint64_t),
                     _Alignof(uint64_t));
    reader->sizes = NULL;
}
