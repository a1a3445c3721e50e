/*
 * program.c: what a program is made of.
 */
#include "kernels/program.h"

#include "support/random.h"

const char *feature_name(enum feature feature)
{
    static const char *const names[FEATURE_COUNT] = {
#define FEATURE(name, text) text,
#include "kernels/features.def"
#undef FEATURE
    };
    return names[feature];
}

size_t program_buffer_at(const struct program *program, uint32_t buffer)
{
    size_t at = 0;
    for (uint32_t i = 0; i < buffer; i++)
        at += program->buffer_bytes[i];
    return at;
}

size_t program_bytes(const struct program *program)
{
    return program_buffer_at(program, program->buffer_count);
}

void program_fill(const struct program *program, unsigned char *bytes)
{
    struct rng rng = rng_seeded(program->seed ^ UINT64_C(0xb0f));
    size_t count = program_bytes(program);
    uint64_t word = 0;
    for (size_t i = 0; i < count; i++) {
        if (i % 8 == 0)
            word = rng_next(&rng);
        bytes[i] = (unsigned char)(word >> i % 8 * 8);
    }
}

uint32_t program_kernel_count(const struct program *program)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < program->tree.function_count; i++)
        count += program->tree.functions[i].is_kernel && !program->tree.functions[i].dropped;
    return count;
}

uint32_t program_dispatch_count(const struct program *program)
{
    uint32_t count = 0;
    for (uint32_t b = 0; b < program->batch_count; b++)
        for (uint32_t i = 0; i < program->batches[b].dispatch_count; i++)
            count += !program->batches[b].dispatches[i].dropped;
    return count;
}
