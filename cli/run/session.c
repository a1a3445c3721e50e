/*
 * session.c: a workload made live on a device.
 */
#include "run/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/diag.h"
#include "terminal/units.h"

/* Memory that batches point to. It must outlive the device's work. */
struct session_block {
    struct session_block *next;
    _Alignas(64) unsigned char bytes[];
};

enum vyre_status session_at(struct vyre_diag *diag, const char *path, ...)
{
    if (diag->message[0] == '$')
        return diag->status;
    char place[VYRE_DIAG_MESSAGE_BYTES];
    char text[2 * VYRE_DIAG_MESSAGE_BYTES + 2];
    va_list arguments;
    va_start(arguments, path);
    vsnprintf(place, sizeof place, path, arguments);
    va_end(arguments);
    snprintf(text, sizeof text, "%s: %s", place, diag->message);
    memcpy(diag->message, text, sizeof diag->message - 1);
    if (strlen(text) >= sizeof diag->message)
        memcpy(diag->message + sizeof diag->message - 4, "...", 4);
    return diag->status;
}

static enum vyre_status no_memory(const struct workload *workload, struct vyre_diag *diag)
{
    return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, workload->name, 0,
                         "no memory for the workload");
}

/* ---- limits -----------------------------------------------------------------------------------
 */

static uint64_t saturating_add(uint64_t a, uint64_t b)
{
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

uint64_t session_memory_bytes(const struct workload *workload)
{
    uint64_t total = 0;
    for (size_t i = 0; i < workload->buffer_count; i++)
        total = saturating_add(total, workload->buffers[i].size_bytes);
    for (size_t i = 0; i < workload->batch_count; i++) {
        const struct workload_batch *batch = &workload->batches[i];
        for (size_t j = 0; j < batch->command_count; j++) {
            enum workload_command_type type = batch->commands[j].type;
            if (type == WORKLOAD_UPLOAD || type == WORKLOAD_DOWNLOAD)
                total = saturating_add(total, batch->commands[j].target.size_bytes);
        }
    }
    return total;
}

static enum vyre_status check_memory(const struct workload *workload,
                                     const struct vyre_device *device, size_t sessions,
                                     struct vyre_diag *diag)
{
    struct vyre_device_limits limits;
    vyre_device_get_limits(device, &limits);
    for (size_t i = 0; i < workload->buffer_count; i++) {
        const struct workload_buffer *buffer = &workload->buffers[i];
        if (buffer->size_bytes > limits.buffer_size_bytes)
            return vyre_diag_set(diag, VYRE_DIAG_BUFFER_SIZE, NULL, 0,
                                 "$.buffers.%s: %s; the device takes buffers up to %s",
                                 buffer->name, cli_unit_bytes(buffer->size_bytes).text,
                                 cli_unit_bytes(limits.buffer_size_bytes).text);
    }
    uint64_t once = session_memory_bytes(workload);
    if (once <= limits.memory_bytes / sessions)
        return VYRE_OK;
    enum vyre_status status = vyre_diag_set(
        diag, VYRE_DIAG_MEMORY_LIMIT, NULL, 0,
        "$.buffers: %s with uploads and downloads, %zu times at once; the device has %s",
        cli_unit_bytes(once).text, sessions, cli_unit_bytes(limits.memory_bytes).text);
    vyre_diag_set_fix(diag, "Make the buffers smaller, or use a device with more memory.");
    return status;
}

/* ---- buffers ----------------------------------------------------------------------------------
 */

static bool is_zero(const struct workload_init *init)
{
    return init->kind == WORKLOAD_INIT_VALUE &&
           (init->is_integer ? init->integer[0] == 0 : init->value[0] == 0);
}

/* Fills a buffer that the host can map in place, and others through memory of the host. */
static enum vyre_status fill_buffer(const struct workload_buffer *buffer, struct vyre_buffer *live,
                                    struct vyre_diag *diag)
{
    if (is_zero(&buffer->init))
        return VYRE_OK; /* buffers are zeroed */
    void *mapped;
    struct vyre_diag ignored;
    if (vyre_buffer_map(live, &mapped, &ignored) == VYRE_OK)
        return workload_fill(&buffer->init, buffer->type, mapped, buffer->count, diag);
    void *bytes = calloc(1, buffer->size_bytes);
    if (!bytes)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, buffer->name, 0, "no memory for %s",
                             cli_unit_bytes(buffer->size_bytes).text);
    enum vyre_status status =
        workload_fill(&buffer->init, buffer->type, bytes, buffer->count, diag);
    if (status == VYRE_OK)
        status = vyre_buffer_write(live, 0, bytes, buffer->size_bytes, diag);
    free(bytes);
    return status;
}

static enum vyre_status create_buffers(struct session *session, struct vyre_diag *diag)
{
    const struct workload *workload = session->workload;
    for (size_t i = 0; i < workload->buffer_count; i++) {
        const struct workload_buffer *buffer = &workload->buffers[i];
        const struct vyre_buffer_desc desc = {.size_bytes = buffer->size_bytes,
                                              .label = buffer->name};
        enum vyre_status status =
            vyre_buffer_create(session->device, &desc, &session->buffers[i], diag);
        if (status != VYRE_OK)
            return session_at(diag, "$.buffers.%s", buffer->name);
        status = fill_buffer(buffer, session->buffers[i], diag);
        if (status != VYRE_OK)
            return session_at(diag, "$.buffers.%s.init", buffer->name);
    }
    return VYRE_OK;
}

/* ---- batches ----------------------------------------------------------------------------------
 */

static struct vyre_range live_range(const struct session *session,
                                    const struct workload_range *range)
{
    return (struct vyre_range){
        .buffer = session->buffers[range->buffer],
        .offset_bytes = range->offset_bytes,
        .size_bytes = range->size_bytes,
    };
}

static void *new_block(struct session *session, size_t size_bytes)
{
    struct session_block *block = NULL;
    size_t total = sizeof *block + size_bytes;
    size_t rounded = (total + 63) & ~(size_t)63;
    if (rounded < size_bytes || !(block = aligned_alloc(64, rounded)))
        return NULL;
    memset(block, 0, rounded);
    block->next = session->blocks;
    session->blocks = block;
    return block->bytes;
}

/* The tables of all binds of a dispatch, one after the other. */
static struct vyre_buffer **live_tables(const struct session *session,
                                        const struct workload_command *command)
{
    size_t count = 1;
    for (size_t i = 0; i < command->bind_count; i++)
        count += command->binds[i].table_count;
    struct vyre_buffer **tables = calloc(count, sizeof(struct vyre_buffer *));
    size_t used = 0;
    for (size_t i = 0; tables && i < command->bind_count; i++) {
        for (uint32_t j = 0; j < command->binds[i].table_count; j++)
            tables[used++] = session->buffers[command->binds[i].table[j]];
    }
    return tables;
}

static void live_binds(const struct session *session, const struct workload_command *command,
                       struct vyre_buffer *const *tables, struct vyre_slot_binding *binds)
{
    for (size_t i = 0; i < command->bind_count; i++) {
        const struct workload_bind *bind = &command->binds[i];
        binds[i] = (struct vyre_slot_binding){.slot = bind->slot};
        if (bind->kind == WORKLOAD_BIND_RANGE) {
            binds[i].range = live_range(session, &bind->range);
        } else if (bind->kind == WORKLOAD_BIND_TABLE) {
            binds[i].table = tables;
            binds[i].table_count = bind->table_count;
        } else {
            binds[i].local_bytes = bind->local_bytes;
        }
        tables += bind->table_count;
    }
}

/*
 * Constants that the workload does not declare: the device knows their types and order, and the file
 * gives their values in that order.
 */
static enum vyre_status reflect_constants(const struct workload_kernel *kernel,
                                          const struct workload_command *command,
                                          const struct vyre_kernel *live,
                                          unsigned char out_bytes[VYRE_CONSTANTS_BYTES_MAX],
                                          size_t *out_size, struct vyre_diag *diag)
{
    struct vyre_kernel_interface interface;
    size_t offset = 0;
    vyre_kernel_get_interface(live, &interface);
    if (interface.constant_count != command->value_count) {
        enum vyre_status status = cli_diag_set(
            diag, CLI_DIAG_WORKLOAD_MISSING, NULL, 0,
            "$.kernels.%s.constants: this device finds %u in the payload, the dispatch gives %zu",
            kernel->name, interface.constant_count, command->value_count);
        vyre_diag_set_fix(diag, "Declare the kernel's constants.");
        return status;
    }
    for (size_t i = 0; i < command->value_count; i++) {
        enum vyre_scalar type = interface.constants[i];
        bool wide = type == VYRE_SCALAR_U64 || type == VYRE_SCALAR_I64 || type == VYRE_SCALAR_F64;
        size_t size = wide ? sizeof(uint64_t) : sizeof(uint32_t);
        uint64_t bits;
        enum vyre_status status = workload_scalar_encode(type, &command->values[i], &bits, diag);
        if (status != VYRE_OK)
            return status;
        uint32_t half = (uint32_t)bits;
        offset = (offset + size - 1) & ~(size - 1);
        memcpy(out_bytes + offset, wide ? (const void *)&bits : &half, size);
        offset += size;
    }
    *out_size = vyre_kernel_constants_size(live);
    return VYRE_OK;
}

static enum vyre_status add_dispatch(struct session *session,
                                     const struct workload_command *command,
                                     struct vyre_batch *batch, struct vyre_diag *diag)
{
    const struct workload_kernel *kernel = &session->workload->kernels[command->kernel];
    unsigned char reflected[VYRE_CONSTANTS_BYTES_MAX] = {0};
    const void *constants = command->constants;
    size_t constants_bytes = command->constants ? kernel->constants_size_bytes : 0;
    if (command->value_count > 0 && !kernel->constants_given) {
        enum vyre_status found = reflect_constants(
            kernel, command, session->kernels[command->kernel], reflected, &constants_bytes, diag);
        if (found != VYRE_OK)
            return found;
        constants = reflected;
    }
    struct vyre_slot_binding *binds = calloc(command->bind_count + 1, sizeof *binds);
    struct vyre_buffer **tables = live_tables(session, command);
    enum vyre_status status = VYRE_OK;
    if (binds && tables) {
        live_binds(session, command, tables, binds);
        const struct vyre_dispatch dispatch = {
            .kernel = session->kernels[command->kernel],
            .groups = {command->groups[0], command->groups[1], command->groups[2]},
            .bindings = binds,
            .binding_count = command->bind_count,
            .constants = constants,
            .constants_size_bytes = constants_bytes,
            .specialization = command->specialization,
            .specialization_count = command->specialization ? kernel->specialization_count : 0,
        };
        vyre_batch_dispatch(batch, &dispatch);
    } else {
        status = no_memory(session->workload, diag);
    }
    free(binds);
    free(tables);
    return status;
}

/* The bytes are made once; every submission borrows them. */
static enum vyre_status add_upload(struct session *session, const struct workload_command *command,
                                   struct vyre_batch *batch, struct vyre_diag *diag)
{
    const struct workload_range *target = &command->target;
    enum workload_type type = session->workload->buffers[target->buffer].type;
    void *bytes = new_block(session, target->size_bytes);
    if (!bytes)
        return no_memory(session->workload, diag);
    enum vyre_status status = workload_fill(&command->init, type, bytes,
                                            target->size_bytes / workload_type_size(type), diag);
    if (status == VYRE_OK)
        vyre_batch_upload_borrowed(batch, live_range(session, target), bytes);
    return status;
}

static enum vyre_status add_command(struct session *session, const struct workload_command *command,
                                    struct vyre_batch *batch, struct vyre_diag *diag)
{
    struct vyre_range target = {0};
    if (command->type != WORKLOAD_DISPATCH)
        target = live_range(session, &command->target);
    void *bytes;
    switch (command->type) {
    case WORKLOAD_DISPATCH:
        return add_dispatch(session, command, batch, diag);
    case WORKLOAD_COPY:
        vyre_batch_copy(batch, live_range(session, &command->from), target);
        return VYRE_OK;
    case WORKLOAD_FILL:
        vyre_batch_fill(batch, target, command->fill_word);
        return VYRE_OK;
    case WORKLOAD_UPLOAD:
        return add_upload(session, command, batch, diag);
    case WORKLOAD_DOWNLOAD:
        bytes = new_block(session, target.size_bytes);
        if (!bytes)
            return no_memory(session->workload, diag);
        vyre_batch_download(batch, target, bytes);
        return VYRE_OK;
    }
    return VYRE_OK;
}

/* Whether the slots of a dispatch's kernel are unknown: neither the file nor the payload names them. */
static bool has_no_slots(const struct session *session, const struct workload_command *command)
{
    struct vyre_kernel_interface interface;
    if (command->type != WORKLOAD_DISPATCH ||
        session->workload->kernels[command->kernel].bindings_given)
        return false;
    vyre_kernel_get_interface(session->kernels[command->kernel], &interface);
    return interface.binding_count == 0;
}

static enum vyre_status build_batch(struct session *session, size_t index, struct vyre_diag *diag)
{
    const struct workload_batch *source = &session->workload->batches[index];
    const struct vyre_batch_desc desc = {source->name};
    enum vyre_status status =
        vyre_batch_create(session->device, &desc, &session->batches[index], diag);
    for (size_t i = 0; status == VYRE_OK && i < source->command_count; i++) {
        const struct workload_command *command = &source->commands[i];
        status = add_command(session, command, session->batches[index], diag);
        if (status == VYRE_OK)
            status = vyre_batch_status(session->batches[index], diag);
        if (status != VYRE_OK) {
            if (diag->id == VYRE_DIAG_BATCH_SLOT_UNKNOWN && has_no_slots(session, command))
                vyre_diag_set_fix(diag, "Declare the kernel's bindings: this device cannot find "
                                        "them in the payload.");
            return session_at(diag, "$.batches.%s[%zu]", source->name, i);
        }
        session->dispatches[index] += command->type == WORKLOAD_DISPATCH;
    }
    return status;
}

/* ---- life -------------------------------------------------------------------------------------
 */

static enum vyre_status build(struct session *session, struct vyre_diag *diag)
{
    const struct workload *workload = session->workload;
    session->buffers = calloc(workload->buffer_count + 1, sizeof(struct vyre_buffer *));
    session->kernels = calloc(workload->kernel_count + 1, sizeof(struct vyre_kernel *));
    session->batches = calloc(workload->batch_count + 1, sizeof(struct vyre_batch *));
    session->dispatches = calloc(workload->batch_count + 1, sizeof *session->dispatches);
    if (!session->buffers || !session->kernels || !session->batches || !session->dispatches)
        return no_memory(workload, diag);
    enum vyre_status status = VYRE_OK;
    /* Kernels first: they fail sooner and cost less than filling buffers. */
    for (size_t i = 0; status == VYRE_OK && i < workload->kernel_count; i++)
        status = session_kernel_create(&workload->kernels[i], session->device, &session->kernels[i],
                                       diag);
    if (status == VYRE_OK)
        status = create_buffers(session, diag);
    for (size_t i = 0; status == VYRE_OK && i < workload->batch_count; i++)
        status = build_batch(session, i, diag);
    return status;
}

enum vyre_status session_create(const struct workload *workload, struct vyre_device *device,
                                size_t sessions, struct session **out_session,
                                struct vyre_diag *diag)
{
    *out_session = NULL;
    struct session *session = calloc(1, sizeof *session);
    if (!session) {
        vyre_device_close(&device);
        return no_memory(workload, diag);
    }
    session->workload = workload;
    session->device = device;
    enum vyre_status status = check_memory(workload, device, sessions, diag);
    if (status == VYRE_OK)
        status = build(session, diag);
    if (status != VYRE_OK) {
        session_destroy(&session);
        return status;
    }
    *out_session = session;
    return VYRE_OK;
}

void session_destroy(struct session **session)
{
    if (!session || !*session)
        return;
    struct session *dying = *session;
    *session = NULL;
    /* A lost device may still read the blocks, so they are not freed. */
    bool lost = vyre_device_wait_idle(dying->device, VYRE_FOREVER, NULL) == VYRE_DEVICE_LOST;
    vyre_device_close(&dying->device);
    while (dying->blocks && !lost) {
        struct session_block *block = dying->blocks;
        dying->blocks = block->next;
        free(block);
    }
    free(dying->buffers);
    free(dying->kernels);
    free(dying->batches);
    free(dying->dispatches);
    free(dying);
}

enum vyre_status session_digest(struct session *session, size_t output,
                                char out_text[VYRE_HASH128_TEXT_BYTES], struct vyre_diag *diag)
{
    out_text[0] = '\0';
    uint32_t index = session->workload->outputs[output];
    struct vyre_buffer *buffer = session->buffers[index];
    size_t size = vyre_buffer_size(buffer);
    enum vyre_status status = vyre_device_wait_idle(session->device, VYRE_FOREVER, diag);
    void *bytes;
    struct vyre_diag ignored;
    if (status == VYRE_OK && vyre_buffer_map(buffer, &bytes, &ignored) == VYRE_OK) {
        vyre_hash128_format(vyre_hash128(bytes, size), out_text);
        return VYRE_OK;
    }
    bytes = status == VYRE_OK ? malloc(size) : NULL;
    if (!bytes)
        return status != VYRE_OK ? status : no_memory(session->workload, diag);
    status = vyre_buffer_read(buffer, 0, bytes, size, diag);
    if (status == VYRE_OK)
        vyre_hash128_format(vyre_hash128(bytes, size), out_text);
    free(bytes);
    return status;
}
