#include "differential/model.h"

#include <stdlib.h>
#include <string.h>

enum { LOCAL_BYTES_MAX = 4096, SCRATCH_BYTES_MAX = 1024 };

static void *zeroed(size_t size_bytes)
{
    void *memory = calloc(1, size_bytes);
    if (!memory)
        abort();
    return memory;
}

uint64_t model_buffer_seed(const struct program *program, uint32_t buffer)
{
    return program->seed * 31 + buffer;
}

uint64_t model_borrowed_seed(const struct model_object *object, const struct command *command)
{
    return command->upload_seed ^ object->refill;
}

void model_init(struct model *model, const struct program *program)
{
    *model = (struct model){.program = program};
    for (uint32_t i = 0; i < program->buffer_count; i++) {
        model->buffers[i] = zeroed(program->buffer_bytes[i]);
        fill_bytes(model->buffers[i], program->buffer_bytes[i], model_buffer_seed(program, i));
    }
    for (uint32_t i = 0; i < PROGRAM_OBJECTS; i++)
        model->objects[i].downloads = zeroed(program->host_bytes);
}

void model_deinit(struct model *model)
{
    for (uint32_t i = 0; i < PROGRAM_BUFFERS_MAX; i++)
        free(model->buffers[i]);
    for (uint32_t i = 0; i < PROGRAM_OBJECTS; i++) {
        free(model->objects[i].commands);
        free(model->objects[i].downloads);
    }
    *model = (struct model){0};
}

void model_build(struct model *model, const struct step *step)
{
    struct model_object *object = &model->objects[step->object];
    free(object->commands);
    object->commands = zeroed((step->command_count + 1) * sizeof *object->commands);
    memcpy(object->commands, model->program->commands + step->first_command,
           step->command_count * sizeof *object->commands);
    object->command_count = step->command_count;
    object->built = true;
    object->refill = 0;
    memcpy(object->buffer_age, model->buffer_age, sizeof object->buffer_age);
    memcpy(object->kernel_age, model->kernel_age, sizeof object->kernel_age);
}

bool model_set_constants(struct model *model, const struct step *step)
{
    struct model_object *object = &model->objects[step->object];
    if (!object->built || step->command >= object->command_count)
        return false;
    struct command *command = &object->commands[step->command];
    if (command->dropped || command->kind != COMMAND_DISPATCH)
        return false;
    memcpy(command->constants, step->constants, sizeof command->constants);
    command_derive_constants(model->program, command); /* the shrinker may have changed lengths */
    return true;
}

static bool is_stale(const struct model *model, const struct model_object *object,
                     const struct command *command)
{
    uint32_t buffers = command_buffers(command);
    for (uint32_t i = 0; i < model->program->buffer_count; i++)
        if ((buffers >> i & 1) != 0 && object->buffer_age[i] != model->buffer_age[i])
            return true;
    return command->kind == COMMAND_DISPATCH &&
           object->kernel_age[command->kernel] != model->kernel_age[command->kernel];
}

enum model_submit model_expect(const struct model *model, uint32_t index)
{
    const struct model_object *object = &model->objects[index];
    bool stale = false;
    bool stale_nothing = false; /* by a dispatch without groups, which may have been left out */
    bool live = false;
    if (!object->built)
        return MODEL_SKIP;
    for (uint32_t i = 0; i < object->command_count; i++) {
        const struct command *command = &object->commands[i];
        if (command->dropped)
            continue;
        live = true;
        if (!is_stale(model, object, command))
            continue;
        if (command->kind == COMMAND_DISPATCH && command_group_count(command) == 0)
            stale_nothing = true;
        else
            stale = true;
    }
    if (stale)
        return MODEL_STALE;
    return live && !stale_nothing ? MODEL_RUN : MODEL_SKIP;
}

/* ---- Running ---------------------------------------------------------------------------------- */

static void run_groups(const struct command *command, struct vyre_host_group *group)
{
    vyre_host_function *function = test_kernels[command->kernel].host;
    for (uint32_t z = 0; z < command->groups[2]; z++) {
        for (uint32_t y = 0; y < command->groups[1]; y++) {
            for (uint32_t x = 0; x < command->groups[0]; x++) {
                group->group_id[0] = x;
                group->group_id[1] = y;
                group->group_id[2] = z;
                function(group);
            }
        }
    }
}

static void run_dispatch(struct model *model, const struct command *command)
{
    const struct test_kernel *kernel = &test_kernels[command->kernel];
    _Alignas(64) unsigned char local[LOCAL_BYTES_MAX];
    _Alignas(64) unsigned char scratch[SCRATCH_BYTES_MAX];
    void *table[PROGRAM_TABLE_MAX];
    struct vyre_host_buffer buffers[KERNEL_BINDINGS_MAX];
    for (uint32_t i = 0; i < command->table_count; i++)
        table[i] = model->buffers[command->table[i]];
    for (uint32_t i = 0; i < kernel->binding_count; i++) {
        const struct kernel_binding *binding = &kernel->bindings[i];
        const struct area *area = &command->areas[i];
        if (kernel_binding_is_local(binding))
            buffers[i] = (struct vyre_host_buffer){local, command->local_bytes};
        else if (binding->desc.table)
            buffers[i] = (struct vyre_host_buffer){table, command->table_count * sizeof table[0]};
        else
            buffers[i] = (struct vyre_host_buffer){
                model->buffers[area->buffer] + area->offset_bytes, area->size_bytes};
    }
    struct vyre_host_group group = {
        .size_bytes = sizeof group,
        .buffer_count = kernel->binding_count,
        .specialization_count = kernel->specialization_count,
        .buffers = buffers,
        .constants = command->constants,
        .specialization =
            command->specialize ? command->specialization : kernel->specialization_defaults,
        .scratch = scratch,
        .scratch_bytes = kernel->scratch_bytes,
    };
    memcpy(group.group_count, command->groups, sizeof group.group_count);
    memcpy(group.local_size, kernel->local_size, sizeof group.local_size);
    run_groups(command, &group);
}

static void run_command(struct model *model, struct model_object *object,
                        const struct command *command)
{
    const struct area *area = &command->areas[0];
    unsigned char *bytes = model->buffers[area->buffer] + area->offset_bytes;
    switch (command->kind) {
    case COMMAND_DISPATCH:
        run_dispatch(model, command);
        break;
    case COMMAND_COPY:
        memcpy(model->buffers[command->areas[1].buffer] + command->areas[1].offset_bytes, bytes,
               area->size_bytes);
        break;
    case COMMAND_FILL:
        for (uint32_t i = 0; i < area->size_bytes; i += 4)
            memcpy(bytes + i, &command->fill_word, 4);
        break;
    case COMMAND_UPLOAD:
        fill_bytes(bytes, area->size_bytes, command->upload_seed);
        break;
    case COMMAND_UPLOAD_BORROWED:
        fill_bytes(bytes, area->size_bytes, model_borrowed_seed(object, command));
        break;
    case COMMAND_DOWNLOAD:
        memcpy(object->downloads + command->host_offset, bytes, area->size_bytes);
        break;
    }
}

void model_run(struct model *model, uint32_t index)
{
    struct model_object *object = &model->objects[index];
    for (uint32_t i = 0; i < object->command_count; i++)
        if (!object->commands[i].dropped)
            run_command(model, object, &object->commands[i]);
}

/* ---- What is destroyed and created again ------------------------------------------------------ */

void model_new_buffer(struct model *model, uint32_t buffer)
{
    memset(model->buffers[buffer], 0, model->program->buffer_bytes[buffer]);
    model->buffer_age[buffer]++;
}

void model_new_kernel(struct model *model, uint32_t kernel)
{
    model->kernel_age[kernel]++;
}

void model_new_object(struct model *model, uint32_t object)
{
    model->objects[object].built = false;
}
