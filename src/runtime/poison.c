/*
 * poison.c: bytes that a failed batch should have written.
 */
#include "runtime/batch.h"

/* Counts the buffers with poison. While there are none, completions check nothing. */
static void count_buffer(struct vyre_device *device, uint32_t before, uint32_t after)
{
    uint32_t poisoned = atomic_load_explicit(&device->progress.poisoned, memory_order_relaxed);
    poisoned = poisoned + (after > 0) - (before > 0);
    /* Relaxed: completions are in order, and each sees what the one before it stored. */
    atomic_store_explicit(&device->progress.poisoned, poisoned, memory_order_relaxed);
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Adds a range. If there are too many, it is merged with the last. */
static void add_range(struct vyre_poison *poison, const struct vyre_poison_range *range)
{
    if (range->begin_bytes >= range->end_bytes)
        return;
    if (poison->count < VYRE_POISON_RANGES) {
        poison->ranges[poison->count++] = *range;
        return;
    }
    struct vyre_poison_range *last = &poison->ranges[VYRE_POISON_RANGES - 1];
    last->begin_bytes = min_size(last->begin_bytes, range->begin_bytes);
    last->end_bytes = max_size(last->end_bytes, range->end_bytes);
}

/* Removes bytes that were certainly written from the poison; what remains on both sides stays. */
static void heal(struct vyre_device *device, struct vyre_buffer *buffer, size_t begin, size_t end)
{
    struct vyre_poison *poison = &buffer->poison;
    const struct vyre_poison old = *poison;
    poison->count = 0;
    for (uint32_t i = 0; i < old.count; i++) {
        struct vyre_poison_range before = old.ranges[i];
        struct vyre_poison_range after = old.ranges[i];
        if (before.end_bytes <= begin || end <= before.begin_bytes) {
            add_range(poison, &before);
            continue;
        }
        before.end_bytes = min_size(before.end_bytes, begin);
        after.begin_bytes = max_size(after.begin_bytes, end);
        add_range(poison, &before);
        add_range(poison, &after);
    }
    count_buffer(device, old.count, poison->count);
}

static void poison_bytes(struct vyre_device *device, struct vyre_buffer *buffer,
                         const struct vyre_poison_range *range)
{
    uint32_t before = buffer->poison.count;
    for (uint32_t i = 0; i < before; i++) {
        const struct vyre_poison_range *known = &buffer->poison.ranges[i];
        if (known->begin_bytes <= range->begin_bytes && range->end_bytes <= known->end_bytes)
            return;
    }
    add_range(&buffer->poison, range);
    count_buffer(device, before, buffer->poison.count);
}

static const struct vyre_poison_range *find(const struct vyre_buffer *buffer, size_t begin,
                                            size_t end)
{
    for (uint32_t i = 0; i < buffer->poison.count; i++) {
        const struct vyre_poison_range *range = &buffer->poison.ranges[i];
        if (range->begin_bytes < end && begin < range->end_bytes)
            return range;
    }
    return NULL;
}

static struct vyre_buffer *owner_of(const struct vyre_body *body, uint32_t range)
{
    return ((struct vyre_buffer *const *)body->owners.items)[range];
}

void vyre_poison_spread_locked(struct vyre_device *device, const struct vyre_body *body,
                               enum vyre_status status, uint64_t sequence)
{
    for (uint32_t c = 0; c < body->view.command_count; c++) {
        const struct vyre_command *command = &body->view.commands[c];
        for (uint32_t i = 0; i < command->range_count; i++) {
            uint32_t index = command->first_range + i;
            const struct vyre_bound_range *range = &body->view.ranges[index];
            const struct vyre_poison_range poisoned = {
                .begin_bytes = range->offset_bytes,
                .end_bytes = range->offset_bytes + range->size_bytes,
                .status = status,
                .sequence = sequence,
            };
            if (range->access & VYRE_ACCESS_WRITE)
                poison_bytes(device, owner_of(body, index), &poisoned);
        }
    }
}

/* The poison that a command reads, or NULL. */
static const struct vyre_poison_range *find_read(const struct vyre_body *body,
                                                 const struct vyre_command *command)
{
    for (uint32_t i = 0; i < command->range_count; i++) {
        uint32_t index = command->first_range + i;
        const struct vyre_bound_range *range = &body->view.ranges[index];
        if (!(range->access & VYRE_ACCESS_READ))
            continue;
        const struct vyre_poison_range *found = find(owner_of(body, index), range->offset_bytes,
                                                     range->offset_bytes + range->size_bytes);
        if (found)
            return found;
    }
    return NULL;
}

/*
 * Heals the bytes from the first to the last that a command writes. A kernel may leave bytes out,
 * so it heals nothing.
 */
static void heal_written(struct vyre_device *device, const struct vyre_body *body,
                         const struct vyre_command *command)
{
    if (command->type == VYRE_COMMAND_DISPATCH || command->type == VYRE_COMMAND_DOWNLOAD)
        return;
    uint32_t index = command->first_range + (command->type == VYRE_COMMAND_COPY);
    const struct vyre_bound_range *range = &body->view.ranges[index];
    heal(device, owner_of(body, index), range->offset_bytes,
         range->offset_bytes + range->size_bytes);
}

enum vyre_status vyre_poison_pass_locked(struct vyre_device *device, const struct vyre_body *body,
                                         uint64_t *out_cause)
{
    *out_cause = 0;
    for (uint32_t i = 0; i < body->view.command_count; i++) {
        const struct vyre_command *command = &body->view.commands[i];
        const struct vyre_poison_range *read = find_read(body, command);
        if (read) {
            const struct vyre_poison_range cause = *read;
            *out_cause = cause.sequence;
            vyre_poison_spread_locked(device, body, cause.status, cause.sequence);
            return cause.status;
        }
        heal_written(device, body, command);
    }
    return VYRE_OK;
}

enum vyre_status vyre_poison_touch_locked(struct vyre_device *device, struct vyre_buffer *buffer,
                                          size_t begin_bytes, size_t end_bytes, bool write,
                                          uint64_t *out_cause)
{
    *out_cause = 0;
    if (write) {
        heal(device, buffer, begin_bytes, end_bytes);
        return VYRE_OK;
    }
    const struct vyre_poison_range *read = find(buffer, begin_bytes, end_bytes);
    if (!read)
        return VYRE_OK;
    *out_cause = read->sequence;
    return read->status;
}

void vyre_poison_forget_locked(struct vyre_device *device, struct vyre_buffer *buffer)
{
    count_buffer(device, buffer->poison.count, 0);
    buffer->poison.count = 0;
}
