#include "differential/program.h"

#include <string.h>

#include "support/random.h"

uint32_t command_group_count(const struct command *command)
{
    return command->groups[0] * command->groups[1] * command->groups[2];
}

uint32_t command_needed_bytes(const struct command *command, uint32_t binding)
{
    const struct kernel_binding *needed = &test_kernels[command->kernel].bindings[binding];
    uint32_t groups = command_group_count(command);
    if (needed->words_per_group != 0)
        return (groups == 0 ? 1 : groups) * needed->words_per_group * 4;
    return needed->desc.element_count == 0 ? 4 : (uint32_t)needed->desc.element_count * 4;
}

uint32_t command_area_count(const struct command *command)
{
    return command->kind == COMMAND_COPY ? 2 : 1;
}

/* The words of the shortest buffer in the command's table. */
static uint32_t table_words(const struct program *program, const struct command *command)
{
    uint32_t words = UINT32_MAX;
    for (uint32_t i = 0; i < command->table_count; i++) {
        uint32_t size = program->buffer_bytes[command->table[i]] / 4;
        words = size < words ? size : words;
    }
    return words;
}

void command_derive_constants(const struct program *program, struct command *command)
{
    const struct test_kernel *kernel = &test_kernels[command->kernel];
    for (uint32_t i = 0; i < kernel->constant_count; i++) {
        uint32_t value = 0;
        switch (kernel->constants[i].use) {
        case USE_WORDS:
            value = command->areas[kernel->constants[i].binding].size_bytes / 4;
            break;
        case USE_TABLE_COUNT:
            value = command->table_count;
            break;
        case USE_TABLE_WORDS:
            value = table_words(program, command);
            break;
        case USE_RANDOM:
        case USE_ROUNDS:
            continue;
        }
        memcpy(command->constants + kernel_constant_offset(kernel, i), &value, sizeof value);
    }
}

uint32_t command_buffers(const struct command *command)
{
    uint32_t bits = 0;
    if (command->kind != COMMAND_DISPATCH) {
        for (uint32_t i = 0; i < command_area_count(command); i++)
            bits |= UINT32_C(1) << command->areas[i].buffer;
        return bits;
    }
    const struct test_kernel *kernel = &test_kernels[command->kernel];
    for (uint32_t i = 0; i < kernel->binding_count; i++)
        if (!kernel->bindings[i].desc.table && !kernel_binding_is_local(&kernel->bindings[i]))
            bits |= UINT32_C(1) << command->areas[i].buffer;
    for (uint32_t i = 0; i < command->table_count; i++)
        bits |= UINT32_C(1) << command->table[i];
    return bits;
}

void fill_bytes(unsigned char *bytes, size_t size_bytes, uint64_t seed)
{
    struct rng rng = rng_seeded(seed);
    for (size_t done = 0; done < size_bytes;) {
        uint64_t word = rng_next(&rng);
        size_t part = size_bytes - done < sizeof word ? size_bytes - done : sizeof word;
        memcpy(bytes + done, &word, part);
        done += part;
    }
}

uint32_t program_live_commands(const struct program *program)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < program->step_count; s++) {
        const struct step *step = &program->steps[s];
        if (step->kind != STEP_BUILD)
            continue;
        for (uint32_t i = 0; i < step->command_count; i++)
            count += !program->commands[step->first_command + i].dropped;
    }
    return count;
}
