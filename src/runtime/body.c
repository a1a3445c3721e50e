/*
 * body.c: the contents of a batch.
 */
#include "runtime/body.h"

#include <string.h>

#include "base/checked.h"
#include "base/memory.h"

#define FIRST_CAPACITY   16
#define DATA_BLOCK_BYTES 4096

struct vyre_body *vyre_body_create(const struct vyre_allocator *allocator, size_t limit_bytes,
                                   bool host_addresses)
{
    struct vyre_body *body =
        vyre_memory_allocate(allocator, sizeof *body, _Alignof(struct vyre_body));
    if (!body)
        return NULL;
    vyre_arena_init(&body->data, allocator, DATA_BLOCK_BYTES, limit_bytes);
    body->limit_bytes = limit_bytes;
    body->host_addresses = host_addresses;
    vyre_body_reset(body);
    return body;
}

static void free_array(struct vyre_body *body, struct vyre_body_array *array, size_t item_bytes)
{
    vyre_memory_free(&body->data.allocator, array->items, array->capacity * item_bytes,
                     _Alignof(max_align_t));
    *array = (struct vyre_body_array){0};
}

void vyre_body_destroy(struct vyre_body *body)
{
    free_array(body, &body->commands, sizeof(struct vyre_command));
    free_array(body, &body->bindings, sizeof(struct vyre_command_binding));
    free_array(body, &body->ranges, sizeof(struct vyre_bound_range));
    free_array(body, &body->host_buffers, sizeof(struct vyre_host_buffer));
    free_array(body, &body->owners, sizeof(struct vyre_buffer *));
    free_array(body, &body->kernels, sizeof(struct vyre_body_kernel));
    vyre_memory_free(&body->data.allocator, body->plan_memory, body->plan_bytes,
                     _Alignof(max_align_t));
    vyre_arena_deinit(&body->data);
    struct vyre_allocator allocator = body->data.allocator;
    vyre_memory_free(&allocator, body, sizeof *body, _Alignof(struct vyre_body));
}

/* The view points into the arrays, which may have moved. */
static void point_view(struct vyre_body *body)
{
    body->view.commands = body->commands.items;
    body->view.bindings = body->bindings.items;
    body->view.ranges = body->ranges.items;
    body->view.host_buffers = body->host_addresses ? body->host_buffers.items : NULL;
    body->view.backend_words = body->words;
}

void vyre_body_reset(struct vyre_body *body)
{
    const char *label = body->view.label;
    body->view = (struct vyre_batch_view){.label = label, .is_chain = true};
    body->chained = true;
    body->host_overlap = false;
    body->downloads = (struct vyre_body_span){0};
    body->borrowed = (struct vyre_body_span){0};
    point_view(body);
    memset(body->words, 0, sizeof body->words);
    body->hashed = false;
    body->planned = false;
    body->proven = 0;
    body->keyed = false;
    body->entry.entry = NULL;
    body->resource_max = 0;
    body->last_write = (struct vyre_body_extent){0};
    vyre_arena_reset(&body->data);
    body->data.limit_bytes = body->limit_bytes - body->array_bytes;
}

bool vyre_body_reserve_slow(struct vyre_body *body, struct vyre_body_array *array,
                            size_t item_bytes, uint32_t count, uint32_t extra)
{
    size_t wanted = (size_t)count + extra;
    size_t capacity = array->capacity ? array->capacity : FIRST_CAPACITY;
    while (capacity < wanted)
        capacity *= 2;
    size_t grown_bytes;
    body->past_limit = true;
    if (capacity > UINT32_MAX || !vyre_checked_mul_size(capacity, item_bytes, &grown_bytes))
        return false;
    size_t others = body->array_bytes - array->capacity * item_bytes + body->data.total_bytes;
    if (grown_bytes > body->limit_bytes - others)
        return false;
    body->past_limit = false;

    const struct vyre_allocator *allocator = &body->data.allocator;
    void *grown = allocator->allocate(allocator->user, grown_bytes, _Alignof(max_align_t));
    if (!grown)
        return false;
    if (count > 0)
        memcpy(grown, array->items, count * item_bytes);
    body->array_bytes = others - body->data.total_bytes + grown_bytes;
    free_array(body, array, item_bytes);
    *array = (struct vyre_body_array){grown, (uint32_t)capacity};
    point_view(body);
    body->data.limit_bytes = body->limit_bytes - body->array_bytes;
    return true;
}

static bool copy_array(struct vyre_body *to, struct vyre_body_array *array,
                       const struct vyre_body_array *from, size_t item_bytes, uint32_t count)
{
    if (count == 0)
        return true;
    if (!vyre_body_reserve(to, array, item_bytes, 0, count))
        return false;
    memcpy(array->items, from->items, count * item_bytes);
    return true;
}

/* Copies what a pointer of a command points to; NULL stays NULL. False when out of memory. */
static bool copy_data(struct vyre_body *to, const void **pointer, size_t size_bytes)
{
    if (!*pointer || size_bytes == 0)
        return true;
    void *copy = vyre_body_take(to, size_bytes);
    if (!copy)
        return false;
    memcpy(copy, *pointer, size_bytes);
    *pointer = copy;
    return true;
}

/* Gives a copied command data of its own. */
static bool copy_command_data(struct vyre_body *to, struct vyre_command *command)
{
    const void *specialization = command->specialization;
    bool copied = copy_data(to, &command->constants, command->constants_size_bytes) &&
                  copy_data(to, &specialization, command->specialization_count * sizeof(uint64_t));
    command->specialization = specialization;
    if (copied && command->type == VYRE_COMMAND_UPLOAD && command->upload_owned)
        copied =
            copy_data(to, &command->upload_bytes, to->view.ranges[command->first_range].size_bytes);
    for (uint32_t i = 0; copied && i < command->binding_count; i++) {
        if (to->view.bindings[command->first_binding + i].kind != VYRE_BINDING_TABLE)
            continue;
        struct vyre_host_buffer *buffer =
            &((struct vyre_host_buffer *)to->host_buffers.items)[command->first_host_buffer + i];
        const void *table = buffer->data;
        copied = copy_data(to, &table, buffer->size_bytes);
        buffer->data = (void *)(uintptr_t)table;
    }
    return copied;
}

bool vyre_body_copy(struct vyre_body *to, const struct vyre_body *from)
{
    uint32_t commands = from->view.command_count;
    uint32_t bindings = from->view.binding_count;
    bool copied =
        copy_array(to, &to->commands, &from->commands, sizeof(struct vyre_command), commands) &&
        copy_array(to, &to->bindings, &from->bindings, sizeof(struct vyre_command_binding),
                   bindings) &&
        copy_array(to, &to->ranges, &from->ranges, sizeof(struct vyre_bound_range),
                   from->view.range_count) &&
        copy_array(to, &to->host_buffers, &from->host_buffers, sizeof(struct vyre_host_buffer),
                   bindings) &&
        copy_array(to, &to->owners, &from->owners, sizeof(struct vyre_buffer *),
                   from->view.range_count) &&
        copy_array(to, &to->kernels, &from->kernels, sizeof(struct vyre_body_kernel), commands);
    if (!copied)
        return false;
    to->view = from->view;
    point_view(to);
    memcpy(to->words, from->words, sizeof to->words);
    to->epoch = from->epoch;
    to->hashed = from->hashed;
    to->shape = from->shape;
    to->entry = from->entry;
    to->resource_max = from->resource_max;
    to->chained = from->chained;
    to->host_overlap = from->host_overlap;
    to->downloads = from->downloads;
    to->borrowed = from->borrowed;
    to->last_write = from->last_write;
    for (uint32_t i = 0; copied && i < commands; i++)
        copied = copy_command_data(to, &((struct vyre_command *)to->commands.items)[i]);
    return copied;
}

/* ---- Plan ------------------------------------------------------------------------------------- */

/* Room for a plan: at most as much memory as the commands take. */
static bool reserve_plan(struct vyre_body *body, size_t bytes)
{
    if (bytes <= body->plan_bytes)
        return true;
    if (bytes > body->array_bytes)
        return false;
    void *memory =
        vyre_memory_allocate(&body->data.allocator, body->array_bytes, _Alignof(max_align_t));
    if (!memory)
        return false;
    vyre_memory_free(&body->data.allocator, body->plan_memory, body->plan_bytes,
                     _Alignof(max_align_t));
    body->plan_memory = memory;
    body->plan_bytes = body->array_bytes;
    return true;
}

void vyre_body_keep_plan(struct vyre_body *body, const struct vyre_batch_plan *plan)
{
    size_t nodes = plan->node_count * sizeof *plan->nodes;
    size_t segments = plan->segment_count * sizeof *plan->segments;
    size_t deps = plan->dep_count * sizeof *plan->deps;
    if (!reserve_plan(body, nodes + segments + deps))
        return;
    unsigned char *at = body->plan_memory;
    body->plan = *plan;
    if (nodes) {
        memcpy(at, plan->nodes, nodes);
        memcpy(at + nodes, plan->segments, segments);
        body->plan.nodes = (const struct vyre_plan_node *)(const void *)at;
        body->plan.segments = (const struct vyre_plan_segment *)(const void *)(at + nodes);
    }
    if (deps) {
        memcpy(at + nodes + segments, plan->deps, deps);
        body->plan.deps = (const uint32_t *)(const void *)(at + nodes + segments);
    }
    body->planned = true;
}

enum vyre_status vyre_body_plan(struct vyre_body *body, struct vyre_batch_planner *planner,
                                struct vyre_batch_plan *out_plan, struct vyre_diag *diag)
{
    enum vyre_status status = VYRE_OK;
    if (!body->planned)
        status = vyre_batch_planner_plan(planner, &body->view, out_plan, diag);
    if (!body->planned && status == VYRE_OK)
        vyre_body_keep_plan(body, out_plan);
    if (body->planned)
        *out_plan = body->plan;
    return status;
}
