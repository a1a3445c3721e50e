/*
 * probe_kernel.c: the kernel that a calibration launches, for every target.
 *
 * One group of 64 invocations, each of which adds the constant to a word: almost no work, so that
 * the time measured is that of the launch.
 *
 *   #version 450
 *   layout(local_size_x = 64) in;
 *   layout(set = 0, binding = 0, std430) buffer Words { uint words[]; };
 *   layout(push_constant) uniform Constants { uint add; };
 *   void main() { words[gl_LocalInvocationIndex] += add; }
 */
#include "runtime/probe_kernel.h"

#include <stdio.h>
#include <string.h>

static void host(const struct vyre_host_group *group)
{
    uint32_t *words = group->buffers[0].data;
    uint32_t add = *(const uint32_t *)group->constants;
    for (uint32_t i = 0; i < VYRE_PROBE_WORDS; i++)
        words[i] += add;
}

static const char opencl_c[] = "__kernel void probe(__global uint *words, uint add)\n"
                               "{\n"
                               "    words[get_local_id(0)] += add;\n"
                               "}\n";

/* The GLSL above, compiled by glslangValidator and spirv-opt. */
static const uint32_t spirv[] = {
    0x07230203, 0x00010500, 0x0008000b, 0x0000001f, 0x00000000, 0x00020011, 0x00000001, 0x0006000b,
    0x00000001, 0x4c534c47, 0x6474732e, 0x3035342e, 0x00000000, 0x0003000e, 0x00000000, 0x00000001,
    0x0008000f, 0x00000005, 0x00000004, 0x6e69616d, 0x00000000, 0x0000000a, 0x0000000e, 0x00000012,
    0x00060010, 0x00000004, 0x00000011, 0x00000040, 0x00000001, 0x00000001, 0x00040047, 0x00000007,
    0x00000006, 0x00000004, 0x00050048, 0x00000008, 0x00000000, 0x00000023, 0x00000000, 0x00030047,
    0x00000008, 0x00000002, 0x00040047, 0x0000000a, 0x00000022, 0x00000000, 0x00040047, 0x0000000a,
    0x00000021, 0x00000000, 0x00040047, 0x0000000e, 0x0000000b, 0x0000001d, 0x00050048, 0x00000010,
    0x00000000, 0x00000023, 0x00000000, 0x00030047, 0x00000010, 0x00000002, 0x00040047, 0x0000001e,
    0x0000000b, 0x00000019, 0x00020013, 0x00000002, 0x00030021, 0x00000003, 0x00000002, 0x00040015,
    0x00000006, 0x00000020, 0x00000000, 0x0003001d, 0x00000007, 0x00000006, 0x0003001e, 0x00000008,
    0x00000007, 0x00040020, 0x00000009, 0x0000000c, 0x00000008, 0x0004003b, 0x00000009, 0x0000000a,
    0x0000000c, 0x00040015, 0x0000000b, 0x00000020, 0x00000001, 0x0004002b, 0x0000000b, 0x0000000c,
    0x00000000, 0x00040020, 0x0000000d, 0x00000001, 0x00000006, 0x0004003b, 0x0000000d, 0x0000000e,
    0x00000001, 0x0003001e, 0x00000010, 0x00000006, 0x00040020, 0x00000011, 0x00000009, 0x00000010,
    0x0004003b, 0x00000011, 0x00000012, 0x00000009, 0x00040020, 0x00000013, 0x00000009, 0x00000006,
    0x00040020, 0x00000016, 0x0000000c, 0x00000006, 0x00040017, 0x0000001b, 0x00000006, 0x00000003,
    0x0004002b, 0x00000006, 0x0000001c, 0x00000040, 0x0004002b, 0x00000006, 0x0000001d, 0x00000001,
    0x0006002c, 0x0000001b, 0x0000001e, 0x0000001c, 0x0000001d, 0x0000001d, 0x00050036, 0x00000002,
    0x00000004, 0x00000000, 0x00000003, 0x000200f8, 0x00000005, 0x0004003d, 0x00000006, 0x0000000f,
    0x0000000e, 0x00050041, 0x00000013, 0x00000014, 0x00000012, 0x0000000c, 0x0004003d, 0x00000006,
    0x00000015, 0x00000014, 0x00060041, 0x00000016, 0x00000017, 0x0000000a, 0x0000000c, 0x0000000f,
    0x0004003d, 0x00000006, 0x00000018, 0x00000017, 0x00050080, 0x00000006, 0x00000019, 0x00000018,
    0x00000015, 0x0003003e, 0x00000017, 0x00000019, 0x000100fd, 0x00010038,
};

/* The word of a module that names its generator. No other tool reads it. */
#define GENERATOR_WORD 2

void vyre_probe_kernel_init(struct vyre_probe_kernel *probe, uint64_t salt)
{
    static const struct vyre_binding_desc binding = {.slot = 0, .access = VYRE_ACCESS_READWRITE};
    static const enum vyre_scalar constant = VYRE_SCALAR_U32;
    _Static_assert(sizeof spirv <= sizeof probe->spirv, "the module fits");
    int length = snprintf(probe->opencl_c, sizeof probe->opencl_c, "/* %llu */ %s",
                          (unsigned long long)salt, opencl_c);
    memcpy(probe->spirv, spirv, sizeof spirv);
    probe->spirv[GENERATOR_WORD] ^= (uint32_t)(salt ^ salt >> 32);
    probe->payloads[0] = (struct vyre_payload){.target = VYRE_TARGET_HOST, .function = host};
    probe->payloads[1] = (struct vyre_payload){.target = VYRE_TARGET_OPENCL_C,
                                               .entry = "probe",
                                               .bytes = probe->opencl_c,
                                               .size_bytes = (size_t)length};
    probe->payloads[2] = (struct vyre_payload){.target = VYRE_TARGET_SPIRV,
                                               .entry = "main",
                                               .bytes = probe->spirv,
                                               .size_bytes = sizeof spirv};
    probe->desc = (struct vyre_kernel_desc){
        .label = "probe",
        .payloads = probe->payloads,
        .payload_count = VYRE_PROBE_PAYLOADS,
        .local_size = {VYRE_PROBE_WORDS, 1, 1},
        .bindings = &binding,
        .binding_count = 1,
        .constants = &constant,
        .constant_count = 1,
    };
}
