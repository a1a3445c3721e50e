/*
 * contraction.c: keeps a driver from fusing multiplications and additions.
 */
#include "spirv/contraction.h"

#include <string.h>

#include "base/memory.h"
#include "spirv/grammar.h"

#define DECORATION_WORDS 3

/* Float arithmetic; the opcodes from vector times scalar to dot product are all of it. */
static bool is_float_arithmetic(uint32_t op)
{
    switch (op) {
    case SPIRV_OP_F_NEGATE:
    case SPIRV_OP_F_ADD:
    case SPIRV_OP_F_SUB:
    case SPIRV_OP_F_MUL:
    case SPIRV_OP_F_DIV:
    case SPIRV_OP_F_REM:
    case SPIRV_OP_F_MOD:
        return true;
    default:
        return op >= SPIRV_OP_VECTOR_TIMES_SCALAR && op <= SPIRV_OP_DOT;
    }
}

/* What may come before or among the decorations. */
static bool is_preamble(uint32_t op)
{
    switch (op) {
    case SPIRV_OP_NOP:
    case SPIRV_OP_SOURCE_CONTINUED:
    case SPIRV_OP_SOURCE:
    case SPIRV_OP_SOURCE_EXTENSION:
    case SPIRV_OP_NAME:
    case SPIRV_OP_MEMBER_NAME:
    case SPIRV_OP_STRING:
    case SPIRV_OP_EXTENSION:
    case SPIRV_OP_EXT_INST_IMPORT:
    case SPIRV_OP_MEMORY_MODEL:
    case SPIRV_OP_ENTRY_POINT:
    case SPIRV_OP_EXECUTION_MODE:
    case SPIRV_OP_CAPABILITY:
    case SPIRV_OP_DECORATE:
    case SPIRV_OP_MEMBER_DECORATE:
    case SPIRV_OP_DECORATION_GROUP:
    case SPIRV_OP_GROUP_DECORATE:
    case SPIRV_OP_GROUP_MEMBER_DECORATE:
    case SPIRV_OP_MODULE_PROCESSED:
    case SPIRV_OP_EXECUTION_MODE_ID:
    case SPIRV_OP_DECORATE_ID:
    case SPIRV_OP_DECORATE_STRING:
    case SPIRV_OP_MEMBER_DECORATE_STRING:
        return true;
    default:
        return false;
    }
}

/*
 * One walk. With `out` NULL it counts the decorations to add, otherwise it writes them. `done`, by
 * id, says which results need none. *out_place is where the decorations end.
 */
static size_t decorate(const uint32_t *words, size_t count, uint8_t *done, uint32_t *out,
                       size_t *out_place)
{
    uint32_t bound = words[3];
    size_t added = 0;
    size_t place = 0;
    struct vyre_spirv_walk walk = vyre_spirv_walk_begin(words, count);
    struct vyre_spirv_instruction instruction;
    while (vyre_spirv_walk_next(&walk, &instruction)) {
        if (place == 0 && !is_preamble(instruction.op))
            place = instruction.at;
        const uint32_t *operands = instruction.words;
        if (instruction.op == SPIRV_OP_DECORATE && instruction.count >= DECORATION_WORDS &&
            operands[2] == SPIRV_DECORATION_NO_CONTRACTION && operands[1] < bound)
            done[operands[1]] = 1;
        if (!is_float_arithmetic(instruction.op) || instruction.count < 4 || operands[2] >= bound ||
            done[operands[2]])
            continue;
        if (out) {
            uint32_t *decoration = out + added * DECORATION_WORDS;
            decoration[0] = DECORATION_WORDS << 16 | SPIRV_OP_DECORATE;
            decoration[1] = operands[2];
            decoration[2] = SPIRV_DECORATION_NO_CONTRACTION;
            done[operands[2]] = 1; /* an id that is wrongly defined twice is decorated once */
        }
        added++;
    }
    *out_place = place ? place : count;
    return added;
}

static enum vyre_status rewrite(const struct vyre_allocator *allocator, const uint32_t *words,
                                size_t count, const char *label, uint8_t *done,
                                struct vyre_spirv_words *out_words, struct vyre_diag *diag)
{
    size_t place;
    size_t added = decorate(words, count, done, NULL, &place);
    size_t total = count + added * DECORATION_WORDS;
    uint32_t *made = vyre_memory_allocate(allocator, total * sizeof *made, _Alignof(uint32_t));
    if (!made)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, label, 0,
                             "no memory for a module of %zu words", total);
    size_t unused;
    memcpy(made, words, place * sizeof *made);
    size_t written = decorate(words, count, done, made + place, &unused) * DECORATION_WORDS;
    memcpy(made + place + written, words + place, (count - place) * sizeof *made);
    if (written != added * DECORATION_WORDS) { /* only if an id is defined twice */
        vyre_memory_free(allocator, made, total * sizeof *made, _Alignof(uint32_t));
        return vyre_diag_set(diag, VYRE_DIAG_SPIRV_MALFORMED, label, 0,
                             "an id of the module is defined more than once");
    }
    *out_words = (struct vyre_spirv_words){.words = made, .count = total};
    return VYRE_OK;
}

enum vyre_status vyre_spirv_forbid_contraction(const struct vyre_allocator *allocator,
                                               const uint32_t *words, size_t count,
                                               const char *label,
                                               struct vyre_spirv_words *out_words,
                                               struct vyre_diag *diag)
{
    *out_words = (struct vyre_spirv_words){0};
    enum vyre_status status = vyre_spirv_words_check(words, count, label, diag);
    if (status != VYRE_OK)
        return status;
    uint8_t *done = vyre_memory_allocate(allocator, words[3], 1);
    if (!done)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, label, 0, "no memory for %u ids",
                             words[3]);
    status = rewrite(allocator, words, count, label, done, out_words, diag);
    vyre_memory_free(allocator, done, words[3], 1);
    return status;
}
