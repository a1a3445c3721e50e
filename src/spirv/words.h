/*
 * words.h: a minimal reader of SPIR-V that trusts nothing.
 *
 *   word 0       1        2          3      4       5 ...
 *        magic   version  generator  bound  schema  instructions
 *                         instruction: word 0 = length << 16 | opcode, then operands
 *
 * It checks only what it reads; the validator of the optional module decides whether a module is
 * valid. It never reads past `count` words, whatever they hold, and takes time linear in the number
 * of words.
 *
 * Thread-safety: pure, except for the allocator and the caller's memory.
 */
#ifndef VYRE_SPIRV_WORDS_H
#define VYRE_SPIRV_WORDS_H

#include <vyre/allocator.h>

#include "spirv/reflection.h"

#define VYRE_SPIRV_WORDS_MAX (UINT32_C(1) << 24) /* 64 MiB */

struct vyre_spirv_instruction {
    const uint32_t *words; /* Borrowed; words[0] is length and opcode */
    uint32_t count;        /* at least 1 */
    uint32_t op;
    size_t at; /* its position in the module, in words */
};

struct vyre_spirv_walk {
    const uint32_t *words; /* Borrowed */
    size_t count;
    size_t at; /* the next instruction */
};

/* Starts after the header. */
struct vyre_spirv_walk vyre_spirv_walk_begin(const uint32_t *words, size_t count);

/* False at the end, and at an instruction of length 0 or one that goes past the end. */
bool vyre_spirv_walk_next(struct vyre_spirv_walk *walk, struct vyre_spirv_instruction *out);

/* Magic, byte order, version, bound, and that the instructions fill the module exactly. */
VYRE_NODISCARD enum vyre_status vyre_spirv_words_check(const uint32_t *words, size_t count,
                                                       const char *label, struct vyre_diag *diag);

/* Bytes of any alignment as words in memory of the (resolved) allocator; the size is checked. */
VYRE_NODISCARD enum vyre_status vyre_spirv_words_copy(const struct vyre_allocator *allocator,
                                                      const void *bytes, size_t size_bytes,
                                                      const char *label,
                                                      struct vyre_spirv_words *out_words,
                                                      struct vyre_diag *diag);

/* Frees and zeroes; ignores an empty one. */
void vyre_spirv_words_free(const struct vyre_allocator *allocator, struct vyre_spirv_words *words);

/*
 * What the compute entry point `entry` (NULL: "main") takes. Refused: what is not SPIR-V or is cut
 * off; no compute entry or none of that name; descriptor sets other than 0; resources that are not
 * storage or uniform buffers, and arrays of them; more than the reflection's arrays hold. Memory of
 * the (resolved) allocator is used during the call only: 4 bytes per id, 9 with several entry
 * points, 8 more with work-group variables. *out_reflection is zeroed on failure.
 */
VYRE_NODISCARD enum vyre_status vyre_spirv_words_reflect(
    const struct vyre_allocator *allocator, const uint32_t *words, size_t count, const char *entry,
    const char *label, struct vyre_spirv_reflection *out_reflection, struct vyre_diag *diag);

#endif
