/*
 * generate.c: programs from seeds.
 *
 * What the choices aim at: ranges that meet often (few buffers, favoured offsets), batches of every
 * form (chains, independent arms, fan-in), the same shape again with other values, work in flight
 * while something changes, dispatches from nothing to thousands of groups.
 */
#include <string.h>

#include "differential/generate.h"

/* ---- Steps ------------------------------------------------------------------------------------ */

static struct step *add_step(struct generator *gen, enum step_kind kind)
{
    struct program *program = gen->program;
    if (program->step_count == PROGRAM_STEPS_MAX - 1) /* one is left for the last check */
        return NULL;
    struct step *step = &program->steps[program->step_count++];
    memset(step, 0, sizeof *step);
    step->kind = kind;
    return step;
}

static void add_wait(struct generator *gen, enum step_kind kind)
{
    struct step *step = add_step(gen, kind);
    if (step)
        step->wait = below(gen, WAIT_KIND_COUNT);
    gen->in_flight = 0;
}

static void add_submit(struct generator *gen, uint32_t object)
{
    struct step *step = add_step(gen, STEP_SUBMIT);
    if (!step)
        return;
    step->object = object;
    step->mode = below(gen, VYRE_MODE_COUNT);
    step->called_back = one_in(gen, 6);
    if (++gen->in_flight >= gen->window || one_in(gen, 12))
        add_wait(gen, one_in(gen, 5) ? STEP_WAIT : STEP_CHECK);
}

/*
 * The commands of an earlier build with other constants and other uploaded bytes; sometimes with a
 * small change, which makes it another shape that must not pass for the same.
 */
static void copy_commands(struct generator *gen, struct step *step)
{
    struct program *program = gen->program;
    const struct step *model = &program->steps[gen->builds[below(gen, gen->build_count)]];
    bool varied = one_in(gen, 3);
    for (uint32_t i = 0; i < model->command_count; i++) {
        if (program->command_count == PROGRAM_COMMANDS_MAX)
            return;
        struct command *command = &program->commands[program->command_count++];
        *command = program->commands[model->first_command + i];
        step->command_count++;
        if (varied && one_in(gen, 3))
            generate_variation(gen, command);
        if (command->kind == COMMAND_DISPATCH && one_in(gen, 2)) {
            generate_constants(gen, command, command->constants);
            command_derive_constants(program, command);
        }
        if (one_in(gen, 2))
            command->upload_seed = rng_next(&gen->rng);
    }
}

static void new_commands(struct generator *gen, struct step *step)
{
    struct program *program = gen->program;
    uint32_t wanted = 1 + below(gen, gen->even || one_in(gen, 3) ? 24 : 6);
    gen->host_used = 0;
    for (uint32_t i = 0; i < wanted && program->command_count < PROGRAM_COMMANDS_MAX; i++) {
        struct command *command = &program->commands[program->command_count];
        memset(command, 0, sizeof *command);
        bool made =
            one_in(gen, 3) ? generate_transfer(gen, command) : generate_dispatch(gen, command);
        if (!made)
            continue;
        program->command_count++;
        step->command_count++;
    }
}

static void add_build(struct generator *gen, uint32_t object)
{
    struct step *step = add_step(gen, STEP_BUILD);
    if (!step)
        return;
    step->object = object;
    step->first_command = gen->program->command_count;
    if (gen->build_count != 0 && one_in(gen, 2))
        copy_commands(gen, step);
    else
        new_commands(gen, step);
    gen->built[object] = gen->program->step_count;
    gen->builds[gen->build_count++] = gen->program->step_count - 1;
}

/* Other constants for a random dispatch of the object. */
static void add_set_constants(struct generator *gen, uint32_t object)
{
    struct program *program = gen->program;
    const struct step *build = &program->steps[gen->built[object] - 1];
    if (build->command_count == 0)
        return;
    uint32_t index = below(gen, build->command_count);
    struct command command = program->commands[build->first_command + index];
    if (command.kind != COMMAND_DISPATCH)
        return;
    struct step *step = add_step(gen, STEP_SET_CONSTANTS);
    if (!step)
        return;
    step->object = object;
    step->command = index;
    generate_constants(gen, &command, command.constants);
    command_derive_constants(program, &command);
    memcpy(step->constants, command.constants, sizeof step->constants);
}

/* What is destroyed makes batches stale: mostly they are built again, sometimes submitted so. */
static void add_destruction(struct generator *gen, uint32_t object)
{
    uint32_t which = below(gen, 6);
    struct step *step = add_step(gen, which == 0   ? STEP_NEW_KERNEL
                                      : which == 1 ? STEP_NEW_OBJECT
                                                   : STEP_NEW_BUFFER);
    if (!step)
        return;
    step->object = object;
    step->index = below(gen, which == 0 ? KERNEL_COUNT : gen->program->buffer_count);
    if (which == 1) {
        gen->built[object] = 0;
        return;
    }
    if (!one_in(gen, 4))
        for (uint32_t i = 0; i < PROGRAM_OBJECTS; i++)
            if (gen->built[i] != 0)
                add_build(gen, i);
    if (gen->built[object] != 0)
        add_submit(gen, object);
}

static void add_action(struct generator *gen)
{
    uint32_t object = below(gen, PROGRAM_OBJECTS);
    uint32_t choice = below(gen, 100);
    if (gen->built[object] == 0 || choice < 40) {
        add_build(gen, object);
        for (uint32_t times = 1 + below(gen, 3); times > 0; times--)
            add_submit(gen, object);
    } else if (choice < 60) {
        add_set_constants(gen, object);
        add_submit(gen, object);
    } else if (choice < 68) {
        add_submit(gen, object);
    } else if (choice < 74) { /* a hot loop */
        for (uint32_t times = 8 + below(gen, 16); times > 0; times--) {
            if (one_in(gen, 2))
                add_set_constants(gen, object);
            add_submit(gen, object);
        }
    } else if (choice < 88) {
        add_destruction(gen, object);
    } else if (choice < 94) {
        struct step *step = add_step(gen, STEP_REFILL);
        if (step) {
            step->object = object;
            step->seed = rng_next(&gen->rng);
        }
        add_submit(gen, object);
    } else {
        add_wait(gen, STEP_CHECK);
    }
}

/* ---- The whole -------------------------------------------------------------------------------- */

static void pick_buffers(struct generator *gen)
{
    static const struct {
        uint32_t smallest;
        uint32_t largest;
    } classes[] = {{128, 2048},   {128, 2048},     {512, 8192},     {512, 8192},    {4096, 32768},
                   {4096, 32768}, {16384, 131072}, {16384, 131072}, {65536, 262144}};
    struct program *program = gen->program;
    uint32_t class = below(gen, sizeof classes / sizeof classes[0]);
    uint32_t span = classes[class].largest - classes[class].smallest;
    program->buffer_count = 3 + below(gen, PROGRAM_BUFFERS_MAX - 2);
    for (uint32_t i = 0; i < program->buffer_count; i++)
        program->buffer_bytes[i] = classes[class].smallest + below(gen, span / 4 + 1) * 4;
    program->host_bytes = 2048 + classes[class].largest / 4;
}

static void pick_device(struct generator *gen)
{
    static const uint32_t in_flight_limits[] = {0, 0, 2, 5};
    static const uint32_t recording_limits[] = {0, 0, 1, 3};
    static const uint64_t idle_ns[] = {0, 0, 20000, 200000};
    static const uint64_t lease_ns[] = {0, 0, 50000, 1000000};
    struct program *program = gen->program;
    program->in_flight_limit = in_flight_limits[below(gen, 4)];
    program->busy_when_full = program->in_flight_limit != 0 && one_in(gen, 2);
    program->recording_limit = recording_limits[below(gen, 4)];
    program->persistent_idle_ns = idle_ns[below(gen, 4)];
    program->persistent_lease_ns = lease_ns[below(gen, 4)];
}

void program_generate(struct program *program, uint64_t seed, const struct device_shape *shape)
{
    struct generator gen = {.program = program, .rng = rng_seeded(seed), .shape = shape};
    memset(program, 0, sizeof *program);
    program->seed = seed;
    program->alignment = shape->alignment;
    pick_buffers(&gen);
    pick_device(&gen);
    gen.window = one_in(&gen, 3) ? 1 : 2 + below(&gen, PROGRAM_IN_FLIGHT - 1);
    gen.even = one_in(&gen, 4);
    uint32_t actions = 4 + below(&gen, 16);
    for (actions *= shape->long_programs ? 5 : 1; actions > 0; actions--)
        add_action(&gen);
    program->steps[program->step_count++] =
        (struct step){.kind = STEP_CHECK, .wait = below(&gen, WAIT_KIND_COUNT)};
}
