/*
 * registry.c: the one list of built-in backends. Adding a backend is adding its line here.
 */
#include "backend/registry.h"

#include "backend/cpu/cpu.h"
#include "backend/opencl/opencl.h"
#include "backend/vulkan/vulkan.h"

const struct vyre_backend_ops *const vyre_builtin_backends[] = {
    &vyre_cpu_backend_ops,
    &vyre_vulkan_backend_ops,
    &vyre_opencl_backend_ops,
};
const size_t vyre_builtin_backend_count =
    sizeof vyre_builtin_backends / sizeof vyre_builtin_backends[0];
