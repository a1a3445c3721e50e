/*
 * index.h: a module with an index of its ids.
 *
 * Only definitions of types, constants, variables and functions are kept, because reflection needs
 * no others. Invariants of an open module: every instruction of grammar.h that is read has all its
 * operands; every definition's id is below the bound and is defined once.
 */
#ifndef VYRE_SPIRV_INDEX_H
#define VYRE_SPIRV_INDEX_H

#include "spirv/words.h"

struct vyre_spirv_module {
    const struct vyre_allocator *allocator; /* Borrowed */
    const uint32_t *words;                  /* Borrowed */
    size_t count;
    uint32_t version;
    uint32_t bound;
    uint32_t *definitions;    /* Owned: by id, the defining instruction's word; 0: none */
    size_t annotations_begin; /* all decorations are in these words */
    size_t annotations_end;
    const char *label;      /* Borrowed */
    struct vyre_diag *diag; /* Borrowed; may be NULL */
};

/* Checks the words and builds the index. To be closed even after a failure. */
VYRE_NODISCARD enum vyre_status vyre_spirv_module_open(const struct vyre_allocator *allocator,
                                                       const uint32_t *words, size_t count,
                                                       const char *label, struct vyre_diag *diag,
                                                       struct vyre_spirv_module *out_module);
void vyre_spirv_module_close(struct vyre_spirv_module *module);

/* The instruction that defines `id`; false if there is none. */
bool vyre_spirv_module_find(const struct vyre_spirv_module *module, uint32_t id,
                            struct vyre_spirv_instruction *out);

/* The same, and of that opcode. */
bool vyre_spirv_module_find_op(const struct vyre_spirv_module *module, uint32_t id, uint32_t op,
                               struct vyre_spirv_instruction *out);

/* All instructions in the range that holds the decorations, not only decorations. */
struct vyre_spirv_walk vyre_spirv_module_annotations(const struct vyre_spirv_module *module);

/*
 * The first operand of a decoration of `id` itself, 0 if it has no operands. False if there is no
 * such decoration.
 */
bool vyre_spirv_module_decoration(const struct vyre_spirv_module *module, uint32_t id,
                                  uint32_t decoration, uint32_t *out_operand);

/*
 * The value of a scalar integer constant: plain, or the default of a specialization constant.
 * Negative and wide values give their low 32 bits. False for anything else.
 */
bool vyre_spirv_module_constant(const struct vyre_spirv_module *module, uint32_t id,
                                uint32_t *out_value);

/* Byte `index` of the text that starts at an instruction's operand; 0 after its end. */
char vyre_spirv_text_byte(const struct vyre_spirv_instruction *instruction, uint32_t operand,
                          uint32_t index);

#endif
