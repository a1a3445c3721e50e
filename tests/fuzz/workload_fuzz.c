/*
 * workload_fuzz.c: arbitrary bytes through the reader of workloads.
 *
 * The folder that paths are resolved in is not there, so that no file is ever read. What must hold:
 *
 *   - a refusal leaves nothing, and says what (an id of the reader), where (a JSON path) and a fix
 *   - reading again says the same
 *   - a workload that was read keeps what workload.h promises: indices, ranges and sizes are sound,
 *     and its buffers, if small, can be filled
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/diag.h"
#include "workload/workload.h"

#define FILL_BYTES_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void require_range(const struct workload *workload, const struct workload_range *range)
{
    require(range->buffer < workload->buffer_count);
    size_t size = workload->buffers[range->buffer].size_bytes;
    require(range->size_bytes > 0 && range->size_bytes <= size);
    require(range->offset_bytes <= size - range->size_bytes);
}

static void require_fill(const struct workload_init *init, enum workload_type type, size_t count)
{
    unsigned char bytes[FILL_BYTES_MAX];
    require(init->kind != WORKLOAD_INIT_FILE);
    if (count <= sizeof bytes / workload_type_size(type))
        require(workload_fill(init, type, bytes, count, NULL) == VYRE_OK);
}

static void require_binds(const struct workload *workload, const struct workload_command *command)
{
    const struct workload_kernel *kernel = &workload->kernels[command->kernel];
    require(!kernel->bindings_given || command->bind_count == kernel->binding_count);
    for (size_t i = 0; i < command->bind_count; i++) {
        const struct workload_bind *bind = &command->binds[i];
        if (bind->kind == WORKLOAD_BIND_RANGE)
            require_range(workload, &bind->range);
        require(bind->kind != WORKLOAD_BIND_LOCAL || bind->local_bytes > 0);
        require(bind->kind != WORKLOAD_BIND_TABLE || bind->table_count > 0);
        for (uint32_t j = 0; j < bind->table_count; j++)
            require(bind->table[j] < workload->buffer_count);
    }
}

static void require_command(const struct workload *workload, const struct workload_command *command)
{
    if (command->type == WORKLOAD_DISPATCH) {
        require(command->kernel < workload->kernel_count);
        require_binds(workload, command);
        const struct workload_kernel *kernel = &workload->kernels[command->kernel];
        require((command->constants != NULL) == (kernel->constant_count > 0));
        require(kernel->constants_size_bytes <= VYRE_CONSTANTS_BYTES_MAX);
        return;
    }
    require_range(workload, &command->target);
    if (command->type == WORKLOAD_COPY) {
        require_range(workload, &command->from);
        require(command->from.size_bytes == command->target.size_bytes);
    }
    if (command->type == WORKLOAD_FILL)
        require(command->target.offset_bytes % 4 == 0 && command->target.size_bytes % 4 == 0);
    if (command->type == WORKLOAD_UPLOAD) {
        enum workload_type type = workload->buffers[command->target.buffer].type;
        size_t size = workload_type_size(type);
        require(command->target.size_bytes % size == 0);
        require_fill(&command->init, type, command->target.size_bytes / size);
    }
}

static void require_sound(const struct workload *workload)
{
    size_t memory_bytes = 0;
    for (size_t i = 0; i < workload->buffer_count; i++) {
        const struct workload_buffer *buffer = &workload->buffers[i];
        require(buffer->size_bytes == buffer->count * workload_type_size(buffer->type));
        memory_bytes += buffer->size_bytes;
        require_fill(&buffer->init, buffer->type, buffer->count);
    }
    require(memory_bytes == workload->memory_bytes && memory_bytes <= WORKLOAD_MEMORY_MAX);
    for (size_t i = 0; i < workload->batch_count; i++) {
        for (size_t j = 0; j < workload->batches[i].command_count; j++)
            require_command(workload, &workload->batches[i].commands[j]);
    }
    require(workload->step_count > 0);
    for (size_t i = 0; i < workload->step_count; i++) {
        require(workload->steps[i].batch_count > 0 && workload->steps[i].times > 0);
        for (size_t j = 0; j < workload->steps[i].batch_count; j++)
            require(workload->steps[i].batches[j] < workload->batch_count);
    }
    for (size_t i = 0; i < workload->output_count; i++)
        require(workload->outputs[i] < workload->buffer_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vyre_diag diags[2];
    for (int i = 0; i < 2; i++) {
        struct workload *workload = NULL;
        memset(&diags[i], 0, sizeof diags[i]);
        enum vyre_status status =
            workload_parse((const char *)data, size, "/nonexistent", &workload, &diags[i]);
        require((status == VYRE_OK) == (workload != NULL));
        require(status == diags[i].status);
        require(status == VYRE_OK || (diags[i].message[0] == '$' && diags[i].fix[0] != '\0'));
        require(status == VYRE_OK || ((int)diags[i].id >= CLI_DIAG_WORKLOAD_OPEN &&
                                      (int)diags[i].id <= CLI_DIAG_WORKLOAD_LIMIT));
        if (workload)
            require_sound(workload);
        workload_destroy(&workload);
        require(workload == NULL);
    }
    require(memcmp(&diags[0], &diags[1], sizeof diags[0]) == 0);
    return 0;
}
