/*
 * tools_module.c: the module's table, and validation by SPIRV-Tools.
 */
#include "spirv/tools_module.h"

#include <spirv-tools/libspirv.h>

#include "spirv/words.h"

enum vyre_status vyre_spirv_module_validate(const uint32_t *words, size_t count, const char *label,
                                            struct vyre_diag *diag)
{
    /* The frame first: its failures have their own ids, with and without the module. */
    enum vyre_status status = vyre_spirv_words_check(words, count, label, diag);
    if (status != VYRE_OK)
        return status;
    spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_2);
    spv_validator_options options = spvValidatorOptionsCreate();
    if (context && options) {
        spvValidatorOptionsSetAllowLocalSizeId(options, true);
        spv_const_binary_t binary = {.code = words, .wordCount = count};
        spv_diagnostic found = NULL;
        spv_result_t result = spvValidateWithOptions(context, options, &binary, &found);
        if (result != SPV_SUCCESS)
            status = vyre_diag_set(diag, VYRE_DIAG_SPIRV_INVALID, label, result,
                                   "instruction %zu: %s", found ? found->position.index : 0,
                                   found && found->error ? found->error : "no reason was given");
        spvDiagnosticDestroy(found);
    } else {
        status = vyre_diag_set(diag, VYRE_DIAG_SPIRV_TOOLS_FAILED, label, 0,
                               "SPIRV-Tools gave no context");
    }
    if (options)
        spvValidatorOptionsDestroy(options);
    if (context)
        spvContextDestroy(context);
    return status;
}

__attribute__((visibility("default"))) const struct vyre_spirv_tools_table *vyre_spirv_tools_table(
    void)
{
    static const struct vyre_spirv_tools_table table = {
        .abi_version = VYRE_SPIRV_TOOLS_ABI_VERSION,
        .size_bytes = sizeof table,
        .compile_glsl = vyre_spirv_module_compile_glsl,
        .free_words = vyre_spirv_words_free,
        .validate = vyre_spirv_module_validate,
        .reflect = vyre_spirv_module_reflect,
    };
    return &table;
}
