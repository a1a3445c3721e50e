/*
 * spirv_words_fuzz.c: any bytes as a SPIR-V module, through the library's own reader.
 *
 * Holds the reader to its promises: a status that goes with its diagnostic, a zeroed result on
 * failure, an ordered and bounded one on success, no memory kept.
 * What passes is decorated against contraction and must read the same after.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "spirv/contraction.h"
#include "spirv/words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds, const char *promise)
{
    if (holds)
        return;
    fprintf(stderr, "broken promise: %s\n", promise);
    abort();
}

static void check_reflection(const struct vyre_spirv_reflection *reflection)
{
    const struct vyre_kernel_interface *interface = &reflection->interface;
    require(interface->binding_count <= VYRE_KERNEL_BINDINGS_MAX, "bindings fit");
    for (uint32_t i = 0; i < interface->binding_count; i++) {
        require(i == 0 || interface->bindings[i - 1].slot < interface->bindings[i].slot,
                "slots ascend");
        require(interface->bindings[i].access != VYRE_ACCESS_DEFAULT, "every access is known");
    }
    require(interface->constant_count <= VYRE_KERNEL_CONSTANTS_MAX, "constants fit");
    require(interface->constants_size_bytes <= VYRE_CONSTANTS_BYTES_MAX, "constants are small");
    require(interface->specialization_count <= VYRE_SPECIALIZATION_VALUES_MAX,
            "specialization constants fit");
    for (uint32_t i = 1; i < interface->specialization_count; i++)
        require(interface->specialization_ids[i - 1] < interface->specialization_ids[i],
                "specialization ids ascend");
    require(interface->specialization_count + reflection->fixed_count <=
                VYRE_SPECIALIZATION_VALUES_MAX,
            "all specialization ids fit");
    require((uint64_t)interface->specialization_mixed >> interface->specialization_count == 0,
            "only listed ids are mixed");
    require(reflection->capability_count <= VYRE_SPIRV_CAPABILITIES_MAX, "capabilities fit");
    for (int i = 0; i < 3; i++)
        require((interface->local_size[i] != 0) == interface->has_local_size,
                "a known local size is not 0");
}

static void check_decorated(const struct vyre_allocator *allocator,
                            const struct vyre_spirv_words *words,
                            const struct vyre_spirv_reflection *reflection)
{
    struct vyre_spirv_words made;
    struct vyre_spirv_reflection again;
    if (vyre_spirv_forbid_contraction(allocator, words->words, words->count, NULL, &made, NULL) !=
        VYRE_OK)
        return;
    require(made.count >= words->count, "a decorated module has all its words");
    enum vyre_status status =
        vyre_spirv_words_reflect(allocator, made.words, made.count, NULL, NULL, &again, NULL);
    require(status == VYRE_OK &&
                again.interface.binding_count == reflection->interface.binding_count,
            "a decorated module reads the same");
    vyre_spirv_words_free(allocator, &made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vyre_allocator allocator = vyre_allocator_resolve(&(struct vyre_allocator){0});
    struct vyre_spirv_words words;
    struct vyre_diag diag = {0};
    if (vyre_spirv_words_copy(&allocator, data, size, NULL, &words, &diag) != VYRE_OK) {
        require(diag.id != VYRE_DIAG_NONE, "a failure has an id");
        return 0;
    }
    struct vyre_spirv_reflection reflection, zeroed;
    memset(&zeroed, 0, sizeof zeroed);
    memset(&reflection, 0x5a, sizeof reflection);
    enum vyre_status status = vyre_spirv_words_reflect(&allocator, words.words, words.count, NULL,
                                                       NULL, &reflection, &diag);
    require((status == VYRE_OK) == (diag.id == VYRE_DIAG_NONE) && diag.status == status,
            "status and diagnostic agree");
    if (status == VYRE_OK) {
        check_reflection(&reflection);
        check_decorated(&allocator, &words, &reflection);
    } else {
        require(memcmp(&reflection, &zeroed, sizeof zeroed) == 0, "a failed reflection is zeroed");
    }
    vyre_spirv_words_free(&allocator, &words);
    return 0;
}
