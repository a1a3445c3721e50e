/*
 * dispatch.c: adding a dispatch to a batch.
 *
 * Everything that a backend may assume is checked here and in batch.c, once.
 */
#include <string.h>

#include "base/groups.h"
#include "base/text.h"
#include "runtime/batch.h"

/* A slot that the kernel does not have, declared or reflected. The fix lists its slots. */
static void refuse_slot(struct vyre_diag *error, const struct vyre_kernel *kernel, uint32_t slot)
{
    char slots[VYRE_DIAG_FIX_BYTES / 2];
    struct vyre_text text = vyre_text_begin(slots, sizeof slots);
    size_t count = kernel->plan.binding_count;
    for (size_t i = 0; i < count; i++)
        vyre_text_appendf(&text, "%s%u", i ? ", " : "", kernel->bindings[i].slot);
    (void)vyre_diag_set(error, VYRE_DIAG_BATCH_SLOT_UNKNOWN, kernel->object.label, 0,
                        "slot %u is not a slot of the kernel", slot);
    if (count == 0)
        vyre_diag_set_fix(error, "Leave slot %u out: the kernel has no slots.", slot);
    else if (text.length < sizeof slots)
        vyre_diag_set_fix(error, "Leave slot %u out: the kernel has %s %s.", slot,
                          count == 1 ? "slot" : "slots", slots);
    else
        vyre_diag_set_fix(error, "Leave slot %u out: the kernel has %zu slots, from %u to %u.",
                          slot, count, kernel->bindings[0].slot, kernel->bindings[count - 1].slot);
}

/* Finds which binding of the dispatch belongs to each slot of the kernel. */
static bool match_slots(struct vyre_batch *batch, const struct vyre_dispatch *dispatch,
                        const struct vyre_slot_binding *by_slot[VYRE_KERNEL_BINDINGS_MAX])
{
    const struct vyre_kernel *kernel = dispatch->kernel;
    size_t count = kernel->plan.binding_count;
    bool in_order = dispatch->binding_count == count;
    for (size_t i = 0; in_order && i < count; i++) {
        by_slot[i] = &dispatch->bindings[i];
        in_order = dispatch->bindings[i].slot == kernel->bindings[i].slot;
    }
    if (in_order)
        return true;

    for (size_t i = 0; i < count; i++)
        by_slot[i] = NULL;
    for (size_t i = 0; i < dispatch->binding_count; i++) {
        const struct vyre_slot_binding *given = &dispatch->bindings[i];
        const struct vyre_binding *declared = vyre_binding_plan_find(&kernel->plan, given->slot);
        size_t position = declared ? (size_t)(declared - kernel->bindings) : 0;
        if (!declared) {
            refuse_slot(&batch->error, kernel, given->slot);
            return false;
        }
        if (by_slot[position]) {
            (void)vyre_diag_set(&batch->error, VYRE_DIAG_BATCH_SLOT_REPEATED, kernel->object.label,
                                0, "slot %u is bound twice", given->slot);
            return false;
        }
        by_slot[position] = given;
    }
    for (size_t i = 0; i < count; i++) {
        if (!by_slot[i]) {
            (void)vyre_diag_set(&batch->error, VYRE_DIAG_BATCH_SLOT_MISSING, kernel->object.label,
                                0, "slot %u is not bound", kernel->bindings[i].slot);
            return false;
        }
    }
    return true;
}

/* Sets the batch's error for an invalid dispatch, and returns false. */
static bool refuse_dispatch(struct vyre_batch *batch, const struct vyre_dispatch *dispatch)
{
    const struct vyre_kernel *kernel = dispatch->kernel;
    const struct vyre_device *device = batch->object.device;
    struct vyre_diag *error = &batch->error;
    uint32_t number = batch->body->view.command_count;
    const char *label = kernel ? kernel->object.label : batch->object.label;
    if (!kernel)
        (void)vyre_diag_set(error, VYRE_DIAG_ARGUMENT_NULL, label, 0,
                            "command %u dispatches no kernel", number);
    else if (kernel->object.device != device)
        (void)vyre_diag_set(error, VYRE_DIAG_BATCH_FOREIGN, label, 0,
                            "command %u dispatches a kernel of another device", number);
    else if (kernel->object.identity == 0)
        (void)vyre_diag_set(error, VYRE_DIAG_BATCH_STALE, label, 0,
                            "command %u dispatches a destroyed kernel", number);
    else if (dispatch->constants_size_bytes != kernel->constants_size_bytes ||
             (kernel->constants_size_bytes > 0 && !dispatch->constants))
        (void)vyre_diag_set(error, VYRE_DIAG_BATCH_CONSTANTS, label, 0,
                            "command %u gives %zu bytes of constants, the kernel declares %u",
                            number, dispatch->constants ? dispatch->constants_size_bytes : 0,
                            kernel->constants_size_bytes);
    else if (dispatch->specialization)
        (void)vyre_diag_set(error, VYRE_DIAG_BATCH_SPECIALIZATION, label, 0,
                            "command %u gives %zu specialization values, the kernel declares %u",
                            number, dispatch->specialization_count,
                            kernel->interface.specialization_count);
    return false;
}

static bool refuse_groups(struct vyre_batch *batch, const struct vyre_dispatch *dispatch)
{
    const uint32_t *limit = batch->object.device->facts.limits.group_count;
    (void)vyre_diag_set(
        &batch->error, VYRE_DIAG_BATCH_GROUPS, dispatch->kernel->object.label, 0,
        "command %u has %u x %u x %u groups, the device takes %u x %u x %u and 2^48 in all",
        batch->body->view.command_count, dispatch->groups[0], dispatch->groups[1],
        dispatch->groups[2], limit[0], limit[1], limit[2]);
    return false;
}

static inline bool check_dispatch(struct vyre_batch *batch, const struct vyre_dispatch *dispatch)
{
    const struct vyre_kernel *kernel = dispatch->kernel;
    const struct vyre_device *device = batch->object.device;
    if (!kernel || kernel->object.device != device || kernel->object.identity == 0 ||
        dispatch->constants_size_bytes != kernel->constants_size_bytes ||
        (kernel->constants_size_bytes > 0 && !dispatch->constants) ||
        (dispatch->specialization &&
         dispatch->specialization_count != kernel->interface.specialization_count))
        return refuse_dispatch(batch, dispatch);
    const uint32_t *limit = device->facts.limits.group_count;
    uint64_t layer = (uint64_t)dispatch->groups[0] * dispatch->groups[1];
    if (dispatch->groups[0] > limit[0] || dispatch->groups[1] > limit[1] ||
        dispatch->groups[2] > limit[2] ||
        (layer > 0 && dispatch->groups[2] > VYRE_GROUPS_TOTAL_MAX / layer))
        return refuse_groups(batch, dispatch);
    return true;
}

/* Sets the batch's error for a range that does not fit its slot, and returns false. */
static bool refuse_binding(struct vyre_batch *batch, const struct vyre_binding *declared,
                           const struct vyre_range *range)
{
    uint32_t alignment = batch->object.device->facts.limits.range_alignment;
    if (range->offset_bytes & (alignment - 1))
        (void)vyre_diag_set(&batch->error, VYRE_DIAG_BATCH_ALIGNMENT, range->buffer->object.label,
                            0, "slot %u starts at %zu, not a multiple of %u", declared->slot,
                            range->offset_bytes, alignment);
    else
        (void)vyre_diag_set(
            &batch->error, VYRE_DIAG_BATCH_BINDING_SIZE, range->buffer->object.label, 0,
            "slot %u got %zu bytes, the kernel declares %zu in elements of %zu", declared->slot,
            range->size_bytes, declared->size_bytes, declared->element_size_bytes);
    return false;
}

/* One slot bound to a range. */
static inline bool bind_range(struct vyre_batch *batch, struct vyre_body *body,
                              const struct vyre_binding *declared,
                              const struct vyre_slot_binding *given,
                              struct vyre_host_buffer *out_host)
{
    struct vyre_range range = given->range;
    if (!vyre_batch_check_range(batch, &range))
        return false;
    uint32_t alignment = batch->object.device->facts.limits.range_alignment;
    if ((range.offset_bytes & (alignment - 1)) || range.size_bytes < declared->size_bytes ||
        (declared->element_size_bytes > 1 && range.size_bytes % declared->element_size_bytes))
        return refuse_binding(batch, declared, &range);
    vyre_body_add_range(body, range.buffer, range.offset_bytes, range.size_bytes, declared->access);
    out_host->data = range.buffer->address ? range.buffer->address + range.offset_bytes : NULL;
    out_host->size_bytes = range.size_bytes;
    return true;
}

/*
 * One slot bound to a table: every buffer is a range of its own, and the kernel sees the addresses.
 */
static bool bind_table(struct vyre_batch *batch, struct vyre_body *body,
                       const struct vyre_binding *declared, const struct vyre_slot_binding *given,
                       struct vyre_host_buffer *out_host)
{
    size_t size_bytes = given->table_count * sizeof(void *);
    void **addresses = vyre_body_take(body, size_bytes);
    if (!addresses) {
        vyre_batch_fail_memory(batch);
        return false;
    }
    for (uint32_t i = 0; i < given->table_count; i++) {
        struct vyre_range range = {.buffer = given->table[i]};
        if (!vyre_batch_check_range(batch, &range))
            return false;
        vyre_body_add_range(body, range.buffer, 0, range.size_bytes, declared->access);
        addresses[i] = range.buffer->address;
    }
    *out_host = (struct vyre_host_buffer){addresses, size_bytes};
    return true;
}

/* Local memory: its size is declared, or given here if the declaration leaves it open. */
static bool bind_local(struct vyre_batch *batch, const struct vyre_binding *declared,
                       const struct vyre_slot_binding *given, struct vyre_host_buffer *out_host)
{
    size_t size = given->local_bytes ? given->local_bytes : declared->size_bytes;
    uint32_t limit = batch->object.device->facts.limits.local_bytes;
    if (size == 0 || size > limit || (declared->size_bytes && size != declared->size_bytes)) {
        (void)vyre_diag_set(&batch->error, VYRE_DIAG_BATCH_LOCAL, batch->object.label, 0,
                            "slot %u asks for %zu bytes of local memory; declared %zu, limit %u",
                            given->slot, size, declared->size_bytes, limit);
        return false;
    }
    *out_host = (struct vyre_host_buffer){NULL, size};
    return true;
}

static bool check_kind(struct vyre_batch *batch, const struct vyre_binding *declared,
                       const struct vyre_slot_binding *given)
{
    bool local = declared->role == VYRE_ROLE_SHARED;
    bool agrees = declared->table == (given->table != NULL) && (local || !given->local_bytes) &&
                  (!local || !given->range.buffer);
    if (!agrees) {
        (void)vyre_diag_set(&batch->error, VYRE_DIAG_BATCH_SLOT_KIND, batch->object.label, 0,
                            "slot %u wants %s", given->slot,
                            local ? "local memory" : (declared->table ? "a table" : "a range"));
        return false;
    }
    uint32_t limit = batch->object.device->facts.limits.table_entries;
    if (given->table && (given->table_count == 0 || given->table_count > limit)) {
        (void)vyre_diag_set(&batch->error, VYRE_DIAG_BATCH_TABLE, batch->object.label, 0,
                            "slot %u got a table of %u buffers, the device takes 1 to %u",
                            given->slot, given->table_count, limit);
        return false;
    }
    return true;
}

/* One slot of any kind. On failure sets the batch's error and returns false. */
static bool bind_any(struct vyre_batch *batch, struct vyre_body *body,
                     const struct vyre_binding *declared, const struct vyre_slot_binding *given,
                     struct vyre_command_binding *binding, struct vyre_host_buffer *out_host)
{
    if (!check_kind(batch, declared, given))
        return false;
    if (declared->role == VYRE_ROLE_SHARED) {
        binding->kind = VYRE_BINDING_LOCAL;
        bool bound = bind_local(batch, declared, given, out_host);
        binding->local_bytes = bound ? (uint32_t)out_host->size_bytes : 0;
        return bound;
    }
    if (declared->table) {
        binding->kind = VYRE_BINDING_TABLE;
        return bind_table(batch, body, declared, given, out_host);
    }
    return bind_range(batch, body, declared, given, out_host);
}

/* Binds all slots, in order. On failure sets the batch's error and returns false. */
static inline bool bind_slots(struct vyre_batch *batch, struct vyre_body *body,
                              const struct vyre_kernel *kernel,
                              const struct vyre_slot_binding *const *by_slot, uint32_t count)
{
    struct vyre_command_binding *bindings =
        (struct vyre_command_binding *)body->bindings.items + body->view.binding_count;
    struct vyre_host_buffer *hosts =
        (struct vyre_host_buffer *)body->host_buffers.items + body->view.binding_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct vyre_slot_binding *given = by_slot[i];
        struct vyre_command_binding *binding = &bindings[i];
        binding->slot = given->slot;
        binding->kind = VYRE_BINDING_RANGE;
        binding->first_range = body->view.range_count;
        binding->local_bytes = 0;
        bool plain = kernel->plain_ranges && !given->table && !given->local_bytes;
        bool bound = plain ? bind_range(batch, body, &kernel->bindings[i], given, &hosts[i])
                           : bind_any(batch, body, &kernel->bindings[i], given, binding, &hosts[i]);
        if (!bound)
            return false;
        binding->range_count = body->view.range_count - binding->first_range;
    }
    body->view.binding_count += count;
    return true;
}

/* Constants are a few words: a loop beats a call. */
static inline void copy_words(void *to, const void *from, size_t size_bytes)
{
    for (size_t i = 0; i < size_bytes; i += 4)
        memcpy((unsigned char *)to + i, (const unsigned char *)from + i, 4);
}

/* Constants and specialization values move into the body. */
static bool take_values(struct vyre_batch *batch, struct vyre_body *body,
                        const struct vyre_dispatch *dispatch, struct vyre_command *command)
{
    const struct vyre_kernel *kernel = dispatch->kernel;
    if (command->constants_size_bytes > 0) {
        void *constants = vyre_body_take(body, command->constants_size_bytes);
        if (!constants) {
            vyre_batch_fail_memory(batch);
            return false;
        }
        copy_words(constants, dispatch->constants, command->constants_size_bytes);
        command->constants = constants;
    }
    if (command->specialization_count > 0) {
        size_t size = command->specialization_count * sizeof(uint64_t);
        uint64_t *values = vyre_body_take(body, size);
        if (!values) {
            vyre_batch_fail_memory(batch);
            return false;
        }
        memcpy(values,
               dispatch->specialization ? dispatch->specialization
                                        : kernel->interface.specialization_defaults,
               size);
        command->specialization = values;
    }
    return true;
}

/*
 * The ranges to make room for. A table above the limit is refused later; here it must not overflow
 * the sum.
 */
static uint32_t count_ranges(const struct vyre_dispatch *dispatch, uint32_t table_limit)
{
    uint32_t count = 0;
    for (size_t i = 0; i < dispatch->binding_count && i < VYRE_KERNEL_BINDINGS_MAX; i++) {
        const struct vyre_slot_binding *binding = &dispatch->bindings[i];
        uint32_t entries = binding->table_count < table_limit ? binding->table_count : table_limit;
        count += binding->table ? entries : 1;
    }
    return count;
}

/*
 * 0 if constants with the same id have different defaults in the payload: no single value stands
 * for them.
 */
static inline uint32_t count_values(const struct vyre_kernel *kernel,
                                    const struct vyre_dispatch *dispatch)
{
    bool own_defaults = kernel->interface.specialization_mixed != 0 && !dispatch->specialization;
    return own_defaults ? 0 : kernel->interface.specialization_count;
}

/* Writes the command, except its ranges and values. Field by field, because it is hot. */
static inline void begin_command(const struct vyre_body *body, const struct vyre_dispatch *dispatch,
                                 struct vyre_command *command)
{
    const struct vyre_kernel *kernel = dispatch->kernel;
    command->type = VYRE_COMMAND_DISPATCH;
    command->first_range = body->view.range_count;
    command->first_binding = body->view.binding_count;
    command->first_host_buffer = body->view.binding_count;
    command->binding_count = (uint32_t)kernel->plan.binding_count;
    command->groups[0] = dispatch->groups[0];
    command->groups[1] = dispatch->groups[1];
    command->groups[2] = dispatch->groups[2];
    command->constants_size_bytes = kernel->constants_size_bytes;
    command->specialization_count = count_values(kernel, dispatch);
    command->fill_word = 0;
    command->kernel = kernel->native;
    command->constants = NULL;
    command->specialization = NULL;
    command->upload_bytes = NULL;
    command->download_bytes = NULL;
    command->upload_owned = false;
}

void vyre_batch_dispatch(struct vyre_batch *batch, const struct vyre_dispatch *dispatch)
{
    struct vyre_body *body = vyre_batch_begin(batch);
    if (!body || !check_dispatch(batch, dispatch))
        return;
    struct vyre_kernel *kernel = dispatch->kernel;
    const struct vyre_slot_binding *by_slot[VYRE_KERNEL_BINDINGS_MAX];
    const struct vyre_device_limits *limits = &batch->object.device->facts.limits;
    uint32_t bindings = (uint32_t)kernel->plan.binding_count;
    uint32_t ranges =
        kernel->plain_ranges ? bindings : count_ranges(dispatch, limits->table_entries);
    if (!match_slots(batch, dispatch, by_slot) ||
        !vyre_batch_reserve(batch, body, bindings, ranges))
        return;
    struct vyre_command *command = vyre_body_next_command(body);
    begin_command(body, dispatch, command);
    if (!take_values(batch, body, dispatch, command) ||
        !bind_slots(batch, body, kernel, by_slot, bindings))
        return;
    command->range_count = body->view.range_count - command->first_range;
    if (command->range_count > body->resource_max)
        body->resource_max = command->range_count;
    if (vyre_groups_total(dispatch->groups) == 0)
        command->range_count = 0; /* a no-op touches nothing */
    vyre_body_add_command(body, kernel);
}
