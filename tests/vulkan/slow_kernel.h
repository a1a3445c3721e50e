/*
 * slow_kernel.h: GLSL of a kernel that takes long, for tests of hangs and of progress.
 *
 * Software drivers end a loop after some 65,000 rounds, so the number of groups makes it longer.
 */
#ifndef VYRE_TESTS_VULKAN_SLOW_KERNEL_H
#define VYRE_TESTS_VULKAN_SLOW_KERNEL_H

static const char slow_source[] =
    "#version 450\n"
    "layout(local_size_x = 64) in;\n"
    "layout(std430, set = 0, binding = 0) buffer Data { uint data[]; };\n"
    "void main() {\n"
    "    uint x = data[gl_LocalInvocationID.x] + gl_WorkGroupID.x;\n"
    "    for (uint i = 0u; i < 60000u; i++)\n"
    "        x = x * 1664525u + 1013904223u + (x >> 7);\n"
    "    atomicMax(data[gl_LocalInvocationID.x], x);\n"
    "}\n";

#endif
