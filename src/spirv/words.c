/*
 * words.c: the frame of a SPIR-V module: header and lengths.
 */
#include "spirv/words.h"

#include <string.h>

#include "base/memory.h"
#include "spirv/grammar.h"

struct vyre_spirv_walk vyre_spirv_walk_begin(const uint32_t *words, size_t count)
{
    return (struct vyre_spirv_walk){.words = words, .count = count, .at = SPIRV_HEADER_WORDS};
}

bool vyre_spirv_walk_next(struct vyre_spirv_walk *walk, struct vyre_spirv_instruction *out)
{
    if (walk->at >= walk->count)
        return false;
    uint32_t first = walk->words[walk->at];
    uint32_t length = first >> 16;
    if (length == 0 || length > walk->count - walk->at)
        return false;
    *out = (struct vyre_spirv_instruction){
        .words = walk->words + walk->at, .count = length, .op = first & 0xffff, .at = walk->at};
    walk->at += length;
    return true;
}

static enum vyre_status check_header(const uint32_t *words, size_t count, const char *label,
                                     struct vyre_diag *diag)
{
    if (count == 0)
        return vyre_diag_set(diag, VYRE_DIAG_SPIRV_MAGIC, label, 0, "the module is empty");
    if (words[0] == SPIRV_MAGIC_SWAPPED)
        return vyre_diag_set(diag, VYRE_DIAG_SPIRV_ENDIANNESS, label, 0,
                             "the module starts with %#x, the magic number in the other byte order",
                             words[0]);
    if (words[0] != SPIRV_MAGIC)
        return vyre_diag_set(diag, VYRE_DIAG_SPIRV_MAGIC, label, 0,
                             "the module starts with %#x, SPIR-V with %#x", words[0], SPIRV_MAGIC);
    if (count < SPIRV_HEADER_WORDS)
        return vyre_diag_set(diag, VYRE_DIAG_SPIRV_TRUNCATED, label, 0,
                             "the module has %zu words, its header alone has %d", count,
                             SPIRV_HEADER_WORDS);
    if (count > VYRE_SPIRV_WORDS_MAX)
        return vyre_diag_set(diag, VYRE_DIAG_SPIRV_LIMIT, label, 0,
                             "the module has %zu words, at most %u are taken", count,
                             VYRE_SPIRV_WORDS_MAX);
    uint32_t version = words[1];
    if ((version & 0xff0000ffu) != 0 || version < 0x00010000u || version > SPIRV_VERSION_MAX)
        return vyre_diag_set(diag, VYRE_DIAG_SPIRV_VERSION, label, 0,
                             "the module is SPIR-V %u.%u (%#x), 1.0 to 1.5 are taken",
                             version >> 16 & 0xff, version >> 8 & 0xff, version);
    if (words[3] == 0 || words[3] > SPIRV_ID_BOUND_MAX)
        return vyre_diag_set(diag, VYRE_DIAG_SPIRV_MALFORMED, label, 0,
                             "the module's bound of ids is %u, the format has 1 to %u", words[3],
                             SPIRV_ID_BOUND_MAX);
    return VYRE_OK;
}

enum vyre_status vyre_spirv_words_check(const uint32_t *words, size_t count, const char *label,
                                        struct vyre_diag *diag)
{
    enum vyre_status status = check_header(words, count, label, diag);
    if (status != VYRE_OK)
        return status;
    struct vyre_spirv_walk walk = vyre_spirv_walk_begin(words, count);
    struct vyre_spirv_instruction instruction;
    while (vyre_spirv_walk_next(&walk, &instruction))
        ;
    if (walk.at == count)
        return VYRE_OK;
    uint32_t length = words[walk.at] >> 16;
    if (length == 0)
        return vyre_diag_set(diag, VYRE_DIAG_SPIRV_MALFORMED, label, 0,
                             "the instruction at word %zu has no length", walk.at);
    return vyre_diag_set(diag, VYRE_DIAG_SPIRV_TRUNCATED, label, 0,
                         "the instruction at word %zu has %u words, the module has only %zu more",
                         walk.at, length, count - walk.at);
}

enum vyre_status vyre_spirv_words_copy(const struct vyre_allocator *allocator, const void *bytes,
                                       size_t size_bytes, const char *label,
                                       struct vyre_spirv_words *out_words, struct vyre_diag *diag)
{
    *out_words = (struct vyre_spirv_words){0};
    if (size_bytes == 0)
        return vyre_diag_set(diag, VYRE_DIAG_SPIRV_MAGIC, label, 0, "the module is empty");
    if (size_bytes % sizeof(uint32_t) != 0)
        return vyre_diag_set(diag, VYRE_DIAG_SPIRV_TRUNCATED, label, 0,
                             "the module has %zu bytes, which are no whole words", size_bytes);
    if (size_bytes / sizeof(uint32_t) > VYRE_SPIRV_WORDS_MAX)
        return vyre_diag_set(diag, VYRE_DIAG_SPIRV_LIMIT, label, 0,
                             "the module has %zu words, at most %u are taken",
                             size_bytes / sizeof(uint32_t), VYRE_SPIRV_WORDS_MAX);
    uint32_t *words = vyre_memory_allocate(allocator, size_bytes, _Alignof(uint32_t));
    if (!words)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, label, 0,
                             "no memory for a module of %zu bytes", size_bytes);
    memcpy(words, bytes, size_bytes);
    *out_words = (struct vyre_spirv_words){.words = words, .count = size_bytes / sizeof(uint32_t)};
    return VYRE_OK;
}

void vyre_spirv_words_free(const struct vyre_allocator *allocator, struct vyre_spirv_words *words)
{
    vyre_memory_free(allocator, words->words, words->count * sizeof(uint32_t), _Alignof(uint32_t));
    *words = (struct vyre_spirv_words){0};
}
