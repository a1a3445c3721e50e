#include <inttypes.h>
#include <string.h>

#include "differential/program.h"

static void print_area(const struct area *area, FILE *out)
{
    fprintf(out, "b%" PRIu32 "[%" PRIu32 " + %" PRIu32 "]", area->buffer, area->offset_bytes,
            area->size_bytes);
}

static void print_constants(const unsigned char *constants, uint32_t size_bytes, FILE *out)
{
    fputs(" constants", out);
    for (uint32_t i = 0; i + 4 <= size_bytes; i += 4) {
        uint32_t word;
        memcpy(&word, constants + i, sizeof word);
        fprintf(out, " 0x%" PRIx32, word);
    }
}

static void print_dispatch(const struct command *command, FILE *out)
{
    const struct test_kernel *kernel = &test_kernels[command->kernel];
    fprintf(out, "dispatch %s groups %" PRIu32 "x%" PRIu32 "x%" PRIu32, kernel->name,
            command->groups[0], command->groups[1], command->groups[2]);
    for (uint32_t i = 0; i < kernel->binding_count; i++) {
        const struct kernel_binding *binding = &kernel->bindings[i];
        fprintf(out, ", slot %" PRIu32 " %s ", binding->desc.slot,
                vyre_role_name(binding->desc.role));
        if (kernel_binding_is_local(binding)) {
            fprintf(out, "%" PRIu32 " local bytes", command->local_bytes);
        } else if (binding->desc.table) {
            fputs("table", out);
            for (uint32_t entry = 0; entry < command->table_count; entry++)
                fprintf(out, " b%" PRIu32, command->table[entry]);
        } else {
            print_area(&command->areas[i], out);
        }
    }
    if (kernel->constant_count != 0) {
        fputc(',', out);
        print_constants(command->constants, kernel_constants_size(kernel), out);
    }
    if (command->specialize)
        fprintf(out, ", specialize %" PRIu64 " %" PRIu64, command->specialization[0],
                command->specialization[1]);
}

static void print_command(const struct command *command, FILE *out)
{
    switch (command->kind) {
    case COMMAND_DISPATCH:
        print_dispatch(command, out);
        break;
    case COMMAND_COPY:
        fputs("copy ", out);
        print_area(&command->areas[0], out);
        fputs(" to ", out);
        print_area(&command->areas[1], out);
        break;
    case COMMAND_FILL:
        fputs("fill ", out);
        print_area(&command->areas[0], out);
        fprintf(out, " with 0x%08" PRIx32, command->fill_word);
        break;
    case COMMAND_UPLOAD:
    case COMMAND_UPLOAD_BORROWED:
        fputs(command->kind == COMMAND_UPLOAD ? "upload " : "upload borrowed ", out);
        print_area(&command->areas[0], out);
        fprintf(out, " seed 0x%" PRIx64, command->upload_seed);
        break;
    case COMMAND_DOWNLOAD:
        fputs("download ", out);
        print_area(&command->areas[0], out);
        fprintf(out, " to host + %" PRIu32, command->host_offset);
        break;
    }
    fputc('\n', out);
}

static void print_build(const struct program *program, const struct step *step, FILE *out)
{
    fprintf(out, "build batch %" PRIu32 "\n", step->object);
    for (uint32_t i = 0; i < step->command_count; i++) {
        const struct command *command = &program->commands[step->first_command + i];
        if (command->dropped)
            continue;
        fprintf(out, "         command %" PRIu32 ": ", i);
        print_command(command, out);
    }
}

static void print_step(const struct program *program, const struct step *step, FILE *out)
{
    static const char *const waits[WAIT_KIND_COUNT] = {"wait idle",
                                                       "wait for the last ticket",
                                                       "wait for each ticket",
                                                       "wait for each, backwards",
                                                       "poll",
                                                       "wait with short time-outs",
                                                       "buffer read"};
    switch (step->kind) {
    case STEP_BUILD:
        print_build(program, step, out);
        break;
    case STEP_SET_CONSTANTS:
        fprintf(out, "batch %" PRIu32 ": set command %" PRIu32 "'s", step->object, step->command);
        print_constants(step->constants, KERNEL_CONSTANTS_BYTES, out);
        fputc('\n', out);
        break;
    case STEP_REFILL:
        fprintf(out, "batch %" PRIu32 ": refill borrowed memory, seed 0x%" PRIx64 "\n",
                step->object, step->seed);
        break;
    case STEP_SUBMIT:
        fprintf(out, "submit batch %" PRIu32 " (mixed runs: %s)%s\n", step->object,
                vyre_mode_name(step->mode), step->called_back ? " with a callback" : "");
        break;
    case STEP_WAIT:
        fprintf(out, "%s\n", waits[step->wait]);
        break;
    case STEP_CHECK:
        fprintf(out, "check (%s)\n", waits[step->wait]);
        break;
    case STEP_NEW_BUFFER:
        fprintf(out, "destroy and create b%" PRIu32 "\n", step->index);
        break;
    case STEP_NEW_KERNEL:
        fprintf(out, "destroy and create kernel %s\n", test_kernels[step->index].name);
        break;
    case STEP_NEW_OBJECT:
        fprintf(out, "destroy and create batch %" PRIu32 "\n", step->object);
        break;
    }
}

void program_print(const struct program *program, FILE *out)
{
    fprintf(out, "  buffers:");
    for (uint32_t i = 0; i < program->buffer_count; i++)
        fprintf(out, " b%" PRIu32 " of %" PRIu32, i, program->buffer_bytes[i]);
    fprintf(out,
            " bytes\n  device: in_flight_limit %" PRIu32 "%s, recording_limit %" PRIu32
            ", persistent_idle_ns %" PRIu64 ", persistent_lease_ns %" PRIu64 "\n",
            program->in_flight_limit, program->busy_when_full ? " (busy)" : "",
            program->recording_limit, program->persistent_idle_ns, program->persistent_lease_ns);
    for (uint32_t i = 0; i < program->step_count; i++) {
        fprintf(out, "  %4" PRIu32 ": ", i);
        print_step(program, &program->steps[i], out);
    }
}
