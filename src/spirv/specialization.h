/*
 * specialization.h: the constants of a module that get their values when a pipeline is made.
 *
 * Several constants may have the same id (SpecId), such as GLSL's local_size_x_id and a constant of
 * the shader. A value for the id goes to all of them; without one each keeps its own default.
 * Vulkan requires the value to have the constant's size, whatever its type. If constants of one id
 * differ in size, no value fits all of them, so they always keep their defaults.
 */
#ifndef VYRE_SPIRV_SPECIALIZATION_H
#define VYRE_SPIRV_SPECIALIZATION_H

#include "spirv/index.h"

/* Bytes and bits of one constant's default; false if it is not a scalar specialization constant. */
bool vyre_spirv_specialization_default(const struct vyre_spirv_module *module, uint32_t id,
                                       uint32_t *out_size_bytes, uint64_t *out_bits);

/* Lists the ids of the module in the reflection. */
VYRE_NODISCARD enum vyre_status vyre_spirv_specialization_read(
    const struct vyre_spirv_module *module, struct vyre_spirv_reflection *reflection);

#endif
