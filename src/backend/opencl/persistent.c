/*
 * persistent.c: submissions to a resident kernel.
 */
#include "backend/opencl/persistent.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "backend/opencl/device.h"
#include "backend/opencl/encode.h"
#include "backend/opencl/failure.h"
#include "backend/opencl/memory.h"
#include "backend/opencl/probe.h"
#include "backend/opencl/ring_host.h"
#include "base/clock.h"
#include "base/groups.h"
#include "base/memory.h"

/* Assumed until a dispatcher has been measured. */
#define POLL_NS UINT64_C(20)
/* Looks at the ring before the core is yielded. */
#define EAGER_LOOKS 2000

enum { WORD_GENERATION }; /* of a view's backend_words: its batch was found to fit */

/* ---- Opening and closing ---------------------------------------------------------------------- */

static enum vyre_status open_ring(struct vyre_cl_device *device, struct vyre_diag *diag)
{
    struct vyre_cl_persistent *persistent = device->persistent;
    cl_int code = CL_SUCCESS;
    persistent->queue = device->api->clCreateCommandQueue(device->context, device->id, 0, &code);
    if (!persistent->queue)
        return vyre_cl_failed(diag, NULL, code, "clCreateCommandQueue");
    persistent->control =
        vyre_cl_shared_allocate(device, vyre_cl_ring_bytes(VYRE_CL_RING_SLOTS), true);
    if (!persistent->control)
        return vyre_diag_set(diag, VYRE_DIAG_OPENCL_MEMORY, NULL, 0, "no shared memory for a ring");
    vyre_cl_ring_init(persistent->control, VYRE_CL_RING_SLOTS, 0);
    persistent->poll_ns_x16 = POLL_NS * 16;
    persistent->generation = 1;
    return vyre_cl_trial_create(device, diag);
}

enum vyre_status vyre_cl_persistent_create(struct vyre_cl_device *device, struct vyre_diag *diag)
{
    struct vyre_cl_persistent *persistent = vyre_memory_allocate(
        &device->allocator, sizeof *persistent, _Alignof(struct vyre_cl_persistent));
    device->persistent = persistent;
    if (!persistent)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0, "no memory for a device");
    persistent->groups = vyre_cl_probe_resident(device, persistent->reason);
    return persistent->groups ? open_ring(device, diag) : VYRE_OK;
}

bool vyre_cl_persistent_stop(struct vyre_cl_device *device)
{
    struct vyre_cl_persistent *persistent = device->persistent;
    if (!persistent->control)
        return true;
    if (!vyre_is_lost(&device->flight.loss))
        return vyre_cl_ring_leave(device) && vyre_cl_ring_is_over(device);
    /* The device is lost: do not wait for groups that have not left by themselves. */
    atomic_store_explicit(&persistent->control->stop, 1, memory_order_relaxed);
    if (vyre_cl_fallback_runs(device))
        return false;
    vyre_cl_ring_look(device);
    return vyre_cl_trial_is_over(device) &&
           !atomic_load_explicit(&persistent->running, memory_order_relaxed) &&
           vyre_cl_ring_is_over(device);
}

void vyre_cl_persistent_destroy(struct vyre_cl_device *device)
{
    struct vyre_cl_persistent *persistent = device->persistent;
    if (!persistent)
        return;
    persistent->current = NULL;
    vyre_cl_fallback_drop(device);
    if (persistent->launched)
        (void)device->api->clReleaseEvent(persistent->launched);
    while (persistent->first)
        vyre_cl_resident_destroy(device, persistent->first);
    if (persistent->queue) {
        (void)device->api->clFinish(persistent->queue);
        (void)device->api->clReleaseCommandQueue(persistent->queue);
    }
    vyre_cl_trial_destroy(device);
    vyre_cl_shared_free(device, persistent->control, vyre_cl_ring_bytes(VYRE_CL_RING_SLOTS));
    vyre_memory_free(&device->allocator, persistent, sizeof *persistent,
                     _Alignof(struct vyre_cl_persistent));
    device->persistent = NULL;
}

uint32_t vyre_cl_persistent_groups(const struct vyre_cl_device *device)
{
    return device->persistent->groups;
}

const char *vyre_cl_persistent_reason(const struct vyre_cl_device *device)
{
    return device->persistent->reason;
}

const uint64_t *vyre_cl_persistent_epoch(const struct vyre_cl_device *device)
{
    return &device->persistent->generation;
}

void vyre_cl_persistent_forget(struct vyre_cl_device *device, const struct vyre_cl_kernel *kernel)
{
    struct vyre_cl_persistent *persistent = device->persistent;
    struct vyre_cl_resident *next = NULL;
    vyre_cl_resident_forget(device, kernel);
    for (struct vyre_cl_resident *resident = persistent->first; resident; resident = next) {
        bool used = false;
        next = resident->next;
        for (uint32_t i = 0; i < resident->served_count; i++) {
            if (resident->served[i].kernel == kernel) {
                resident->served[i].kernel = NULL;
                persistent->generation++;
            }
            used = used || resident->served[i].kernel;
        }
        if (used)
            continue;
        if (resident == persistent->current && !vyre_cl_ring_change(device, NULL))
            continue; /* it hangs: the device is about to be lost, and nothing is freed */
        vyre_cl_resident_destroy(device, resident);
    }
}

/* ---- Questions -------------------------------------------------------------------------------- */

bool vyre_cl_persistent_is_done(const struct vyre_cl_device *device, uint32_t last_item)
{
    /* acquire: (F) of ring.h. */
    uint32_t done =
        atomic_load_explicit(&device->persistent->control->completion, memory_order_acquire);
    return (int32_t)(done - last_item) >= 0;
}

bool vyre_cl_persistent_is_busy(const struct vyre_cl_device *device)
{
    const struct vyre_cl_control *control = device->persistent->control;
    return control && atomic_load_explicit(&control->head, memory_order_relaxed) !=
                          atomic_load_explicit(&control->completion, memory_order_acquire);
}

bool vyre_cl_persistent_is_new(const struct vyre_cl_device *device, uint64_t age_ns)
{
    uint64_t launched_ns =
        atomic_load_explicit(&device->persistent->launched_ns, memory_order_relaxed);
    return vyre_clock_now_ns() - launched_ns < age_ns;
}

int64_t vyre_cl_persistent_failure(const struct vyre_cl_device *device)
{
    /* acquire: pairs with the release in vyre_cl_ring_launch_locked. */
    return atomic_load_explicit(&device->persistent->failure, memory_order_acquire);
}

uint64_t vyre_cl_persistent_progress(const struct vyre_cl_device *device)
{
    const struct vyre_cl_persistent *persistent = device->persistent;
    struct vyre_cl_control *control = persistent->control;
    if (!control)
        return 0;
    uint64_t progress = atomic_load_explicit(&control->completion, memory_order_relaxed);
    /*
     * Groups count too. A single resident group does not poll while it works; of many, all take
     * tickets.
     */
    if (persistent->groups == 1)
        return progress + atomic_load_explicit(&control->heartbeat, memory_order_relaxed);
    return progress + atomic_load_explicit(&control->cursor, memory_order_relaxed);
}

/* ---- The ring --------------------------------------------------------------------------------- */

/* Waiting until at most `left` items are in the ring. */
struct ring_room {
    struct vyre_cl_device *device;
    uint32_t left;
    int64_t failure; /* the driver's code if nothing can run the items */
};

/* Whether at most `left` items are in the ring. */
static inline bool is_down_to(const struct vyre_cl_control *control, uint32_t left)
{
    uint32_t head = atomic_load_explicit(&control->head, memory_order_relaxed);
    /* acquire: (F) of ring.h. */
    return head - atomic_load_explicit(&control->completion, memory_order_acquire) <= left;
}

static bool has_room(void *context)
{
    struct ring_room *room = context;
    if (is_down_to(room->device->persistent->control, room->left))
        return true;
    room->failure = vyre_cl_persistent_failure(room->device);
    return room->failure != 0;
}

static uint64_t items_done(void *context)
{
    return vyre_cl_persistent_progress(((struct ring_room *)context)->device);
}

static void tend(void *context)
{
    (void)vyre_cl_persistent_tend(((struct ring_room *)context)->device);
}

static enum vyre_status wait_for_room(struct vyre_cl_device *device, uint32_t left,
                                      struct vyre_diag *diag)
{
    struct ring_room room = {.device = device, .left = left};
    const struct vyre_awaited awaited = {
        .context = &room,
        .is_over = has_room,
        .progress = items_done,
        .pause = tend,
        .limit_ns = device->desc.hang_timeout_ns,
    };
    bool over = has_room(&room);
    for (uint32_t looks = 0; !over && looks < EAGER_LOOKS; looks++) {
        vyre_spin_pause();
        over = has_room(&room);
    }
    if (!over && !vyre_flight_await(&device->flight, &awaited))
        return vyre_loss_status(&device->flight.loss, diag);
    return room.failure
               ? vyre_cl_failed(diag, NULL, (cl_int)room.failure, "launching a resident kernel")
               : VYRE_OK;
}

/* Waits until at most `left` items are in the ring, or the device is lost. */
static inline enum vyre_status wait_for_ring(struct vyre_cl_device *device, uint32_t left,
                                             struct vyre_diag *diag)
{
    return is_down_to(device->persistent->control, left) ? VYRE_OK
                                                         : wait_for_room(device, left, diag);
}

enum vyre_status vyre_cl_persistent_settle(struct vyre_cl_device *device, struct vyre_diag *diag)
{
    return device->persistent->control ? wait_for_ring(device, 0, diag) : VYRE_OK;
}

/* Makes sure that a dispatcher takes what was published. */
static void keep_running(struct vyre_cl_device *device)
{
    struct vyre_cl_persistent *persistent = device->persistent;
    /* seq_cst: (K) of ring.h. */
    if (!atomic_load_explicit(&persistent->running, memory_order_relaxed) ||
        atomic_load_explicit(&persistent->control->exited, memory_order_seq_cst) ==
            persistent->groups) {
        (void)vyre_cl_persistent_tend(device);
        vyre_flight_wake_helper(&device->flight);
    }
}

static void fill_slot(struct vyre_cl_slot *slot, const struct vyre_batch_view *view,
                      const struct vyre_command *command, uint32_t index, const uint64_t *tables)
{
    const struct vyre_cl_kernel *kernel = command->kernel;
    uint32_t count = 0;
    slot->kernel = index;
    slot->flags = VYRE_CL_SLOT_AFTER_ALL;
    memcpy(slot->groups, command->groups, sizeof slot->groups);
    slot->group_total = (uint32_t)vyre_groups_total(command->groups); /* found to fit */
    atomic_store_explicit(&slot->done, 0, memory_order_relaxed);
    for (uint32_t i = 0; i < command->binding_count; i++) {
        const struct vyre_command_binding *binding = &view->bindings[command->first_binding + i];
        uint64_t address = 0;
        if (binding->kind == VYRE_BINDING_LOCAL)
            continue;
        if (binding->kind == VYRE_BINDING_TABLE) {
            address = *tables++;
        } else {
            const struct vyre_bound_range *range = &view->ranges[binding->first_range];
            const struct vyre_cl_buffer *buffer = range->buffer;
            address = (uint64_t)(uintptr_t)(buffer->shared + range->offset_bytes);
        }
        memcpy(slot->payload + 8 * (size_t)count++, &address, sizeof address);
    }
    if (kernel->constants_size_bytes > 0)
        memcpy(slot->payload + vyre_cl_slot_constants_offset(count), command->constants,
               kernel->constants_size_bytes);
}

/* Tables of a dispatch, in memory that stays until its batch is complete. */
static enum vyre_status make_tables(struct vyre_cl_device *device,
                                    const struct vyre_batch_view *view,
                                    const struct vyre_command *command, uint64_t *out_addresses,
                                    struct vyre_diag *diag)
{
    unsigned char *next = NULL;
    for (uint32_t i = 0; i < command->binding_count; i++) {
        const struct vyre_command_binding *binding = &view->bindings[command->first_binding + i];
        if (binding->kind != VYRE_BINDING_TABLE)
            continue;
        cl_int code = next ? CL_SUCCESS : vyre_cl_take_tables(device, view, command, &next);
        if (code != CL_SUCCESS)
            return vyre_cl_failed(diag, view->label, code, "taking shared memory for a table");
        unsigned char *table = next;
        next += vyre_cl_table_bytes(binding);
        vyre_cl_write_table(view, binding, (uint64_t *)(void *)table);
        *out_addresses++ = (uint64_t)(uintptr_t)table;
    }
    return VYRE_OK;
}

static enum vyre_status publish(struct vyre_cl_device *device, const struct vyre_batch_view *view,
                                const struct vyre_command *command, struct vyre_diag *diag)
{
    struct vyre_cl_persistent *persistent = device->persistent;
    struct vyre_cl_control *control = persistent->control;
    struct vyre_cl_resident *resident;
    uint64_t tables[VYRE_CL_SLOT_ADDRESSES_MAX];
    uint32_t index;
    enum vyre_status status = vyre_cl_resident_find(device, view, command, &resident, &index, diag);
    if (status == VYRE_OK && resident != persistent->current) {
        if (persistent->current) /* its dispatches were not counted one by one */
            persistent->current->last_used = ++persistent->use_count;
        status = wait_for_ring(device, 0, diag);
        if (status == VYRE_OK && !vyre_cl_ring_change(device, resident))
            status = vyre_loss_status(&device->flight.loss, diag);
    }
    if (status == VYRE_OK)
        status = wait_for_ring(device, VYRE_CL_RING_SLOTS - 1, diag);
    if (status == VYRE_OK)
        status = make_tables(device, view, command, tables, diag);
    if (status != VYRE_OK)
        return status;
    uint32_t item = atomic_load_explicit(&control->head, memory_order_relaxed);
    fill_slot(vyre_cl_ring_slot(control, item), view, command, index, tables);
    /* release: (A) of ring.h; seq_cst: (K), before `exited` is read. */
    atomic_store_explicit(&control->head, item + 1, memory_order_seq_cst);
    keep_running(device);
    return VYRE_OK;
}

/* ---- Transfers: by the host, while the ring is empty ------------------------------------------- */

static void transfer(const struct vyre_batch_view *view, const struct vyre_command *command)
{
    const struct vyre_bound_range *range = &view->ranges[command->first_range];
    unsigned char *bytes =
        ((const struct vyre_cl_buffer *)range->buffer)->shared + range->offset_bytes;
    if (command->type == VYRE_COMMAND_UPLOAD) {
        memcpy(bytes, command->upload_bytes, range->size_bytes);
    } else if (command->type == VYRE_COMMAND_DOWNLOAD) {
        memcpy(command->download_bytes, bytes, range->size_bytes);
    } else if (command->type == VYRE_COMMAND_COPY) {
        const struct vyre_bound_range *target = range + 1;
        const struct vyre_cl_buffer *to = target->buffer;
        memcpy(to->shared + target->offset_bytes, bytes, range->size_bytes);
    } else {
        for (size_t i = 0; i + 4 <= range->size_bytes; i += 4)
            memcpy(bytes + i, &command->fill_word, 4);
    }
}

/* ---- Submit ----------------------------------------------------------------------------------- */

static enum vyre_status check_retired(const struct vyre_cl_device *device, const char *label,
                                      struct vyre_diag *diag)
{
    if (!vyre_cl_is_retired(device))
        return VYRE_OK;
    return vyre_diag_set(diag, VYRE_DIAG_SUBMIT_MODE, label, 0, "no persistent mode: %s",
                         device->persistent->reason);
}

/* Whether all dispatchers of the batch can be kept at once. To be asked if one is missing. */
static enum vyre_status check_whole(const struct vyre_batch_view *view, struct vyre_diag *diag)
{
    if (vyre_cl_residents_have_room(view))
        return VYRE_OK;
    return vyre_diag_set(diag, VYRE_DIAG_SUBMIT_MODE, view->label, 0,
                         "its kernels need more than %d dispatchers, which are not kept at a time",
                         VYRE_CL_RESIDENTS_MAX - 1);
}

/* Makes the dispatchers of all kernels, or says which kernel cannot be resident. */
static enum vyre_status build_all(struct vyre_cl_device *device, const struct vyre_batch_view *view,
                                  struct vyre_diag *diag)
{
    struct vyre_cl_persistent *persistent = device->persistent;
    const uint64_t generation = persistent->generation;
    enum vyre_status whole = check_retired(device, view->label, diag);
    if (whole == VYRE_OK)
        whole = check_whole(view, diag);
    if (whole != VYRE_OK)
        return whole;
    for (uint32_t i = 0; i < view->command_count; i++) {
        const struct vyre_command *command = &view->commands[i];
        struct vyre_cl_resident *resident;
        uint32_t index;
        if (!vyre_cl_is_served(command))
            continue;
        enum vyre_status status =
            vyre_cl_resident_find(device, view, command, &resident, &index, diag);
        if (status != VYRE_OK)
            return status;
    }
    /*
     * A new dispatcher may have evicted one that was found before it. Then the next round looks
     * again.
     */
    if (persistent->generation == generation)
        view->backend_words[WORD_GENERATION] = generation;
    return VYRE_OK;
}

static enum vyre_status prepare(struct vyre_cl_device *device,
                                const struct vyre_submission *submission,
                                struct vyre_cl_entry **out_entry, struct vyre_diag *diag)
{
    const struct vyre_batch_view *view = submission->view;
    enum vyre_status status = check_retired(device, view->label, diag);
    if (status == VYRE_OK && view->backend_words[WORD_GENERATION] != device->persistent->generation)
        status = build_all(device, view, diag);
    if (status == VYRE_OK)
        status = vyre_flight_start_helper(&device->flight, diag);
    if (status == VYRE_OK)
        status = vyre_cl_entry_next(device, submission, out_entry, diag);
    /* acquire: what the queue did is done before the ring continues. */
    if (status == VYRE_OK && device->last_queued > vyre_flight_harvested(&device->flight))
        status = vyre_cl_drain(device, diag);
    return status;
}

enum vyre_status vyre_cl_persistent_submit(struct vyre_cl_device *device,
                                           const struct vyre_submission *submission,
                                           struct vyre_diag *diag)
{
    const struct vyre_batch_view *view = submission->view;
    struct vyre_cl_control *control = device->persistent->control;
    struct vyre_cl_entry *entry;
    enum vyre_status status = prepare(device, submission, &entry, diag);
    if (status != VYRE_OK)
        return status;
    uint32_t i = 0;
    for (; status == VYRE_OK && i < view->command_count; i++) {
        const struct vyre_command *command = &view->commands[i];
        if (vyre_cl_is_empty(command))
            continue;
        if (command->type == VYRE_COMMAND_DISPATCH) {
            status = publish(device, view, command, diag);
        } else {
            status = wait_for_ring(device, 0, diag);
            if (status == VYRE_OK)
                transfer(view, command);
        }
    }
    if (status != VYRE_OK && (i <= 1 || status == VYRE_DEVICE_LOST))
        return status;
    /* What was published cannot be taken back, so the batch ends with the failure. */
    entry->head.completion.status = status;
    entry->head.completion.native_code = status == VYRE_OK ? 0 : diag->native_code;
    entry->persistent = true;
    entry->last_item = atomic_load_explicit(&control->head, memory_order_relaxed);
    vyre_cl_entry_push(device, entry);
    return VYRE_OK;
}

/* ---- The table's entries ---------------------------------------------------------------------- */

/* Whether auto should leave the batch to other modes, and why. */
static bool is_poor(const struct vyre_batch_view *view, struct vyre_diag *diag)
{
    const struct vyre_cl_kernel *first = NULL;
    const char *reason = NULL;
    for (uint32_t i = 0; !reason && i < view->command_count; i++) {
        const struct vyre_command *command = &view->commands[i];
        const struct vyre_cl_kernel *kernel = command->kernel;
        if (!vyre_cl_is_served(command))
            continue;
        first = first ? first : kernel;
        if (memcmp(kernel->local_size, first->local_size, sizeof first->local_size) != 0)
            reason = "its kernels have more than one local size, and one dispatcher stays resident";
        else if (kernel->specialization_count > 0)
            reason = "a kernel is specialized, and one dispatcher stays resident";
    }
    if (reason)
        (void)vyre_diag_set(diag, VYRE_DIAG_SUBMIT_MODE, view->label, 0, "%s", reason);
    return reason != NULL;
}

enum vyre_fit vyre_cl_batch_check(void *native, const struct vyre_batch_view *view,
                                  enum vyre_mode mode, uint32_t variant, struct vyre_diag *diag)
{
    const struct vyre_cl_device *device = native;
    bool is_unbuilt = false;
    (void)variant;
    if (mode != VYRE_MODE_PERSISTENT)
        return VYRE_FIT_YES;
    if (check_retired(device, view->label, diag) != VYRE_OK)
        return VYRE_FIT_NO;
    for (uint32_t i = 0; i < view->command_count; i++) {
        const struct vyre_command *command = &view->commands[i];
        struct vyre_cl_resident *resident;
        uint32_t index;
        if (!vyre_cl_is_served(command))
            continue;
        enum vyre_fit fit = vyre_cl_resident_look(device, view, command, &resident, &index, diag);
        if (fit == VYRE_FIT_NO)
            return fit;
        is_unbuilt = is_unbuilt || fit == VYRE_FIT_UNBUILT;
    }
    if (is_unbuilt && check_whole(view, diag) != VYRE_OK)
        return VYRE_FIT_NO;
    if (is_poor(view, diag))
        return VYRE_FIT_POOR;
    return is_unbuilt ? VYRE_FIT_UNBUILT : VYRE_FIT_YES;
}

enum vyre_status vyre_cl_generated(void *native, const struct vyre_batch_view *view,
                                   uint32_t command, enum vyre_mode mode, uint32_t variant,
                                   struct vyre_hash128 *out_code, struct vyre_diag *diag)
{
    const struct vyre_cl_device *device = native;
    struct vyre_cl_resident *resident;
    uint32_t index;
    (void)variant;
    *out_code = (struct vyre_hash128){0};
    if (mode != VYRE_MODE_PERSISTENT)
        return VYRE_OK;
    switch (
        vyre_cl_resident_look(device, view, &view->commands[command], &resident, &index, diag)) {
    case VYRE_FIT_NO:
        return VYRE_UNSUPPORTED;
    case VYRE_FIT_UNBUILT:
        return vyre_diag_set(diag, VYRE_DIAG_SUBMIT_UNBUILT, view->label, 0,
                             "no dispatcher is built for command %u", command);
    case VYRE_FIT_YES:
    case VYRE_FIT_POOR:
        break;
    }
    *out_code = (struct vyre_hash128){resident->code.lo ^ index, resident->code.hi};
    return VYRE_OK;
}

enum vyre_status vyre_cl_batch_warm_up(void *native, const struct vyre_batch_view *view,
                                       enum vyre_mode mode, uint32_t variant,
                                       struct vyre_diag *diag)
{
    struct vyre_cl_device *device = native;
    (void)variant;
    enum vyre_status status =
        mode == VYRE_MODE_PERSISTENT ? build_all(device, view, diag) : VYRE_OK;
    for (uint32_t i = 0; status == VYRE_OK && i < view->command_count; i++) {
        const struct vyre_command *command = &view->commands[i];
        struct vyre_cl_variant *unused;
        if (command->type == VYRE_COMMAND_DISPATCH && mode != VYRE_MODE_PERSISTENT)
            status = vyre_cl_kernel_variant(device, command->kernel, command, &unused, diag);
    }
    return vyre_flight_note_loss(&device->flight, status, diag);
}

enum vyre_status vyre_cl_build_begin(void *native, const struct vyre_batch_view *view,
                                     enum vyre_mode mode, uint32_t variant, void **out_build,
                                     struct vyre_diag *diag)
{
    struct vyre_cl_device *device = native;
    const struct vyre_cl_persistent *persistent = device->persistent;
    (void)variant;
    *out_build = NULL;
    if (mode != VYRE_MODE_PERSISTENT ||
        view->backend_words[WORD_GENERATION] == persistent->generation)
        return VYRE_OK;
    enum vyre_status status = check_retired(device, view->label, diag);
    for (uint32_t i = 0; status == VYRE_OK && i < view->command_count; i++) {
        const struct vyre_command *command = &view->commands[i];
        struct vyre_cl_resident_build *build;
        struct vyre_cl_resident *resident;
        uint32_t index;
        if (!vyre_cl_is_served(command))
            continue;
        enum vyre_fit fit = vyre_cl_resident_look(device, view, command, &resident, &index, diag);
        if (fit == VYRE_FIT_NO)
            return VYRE_UNSUPPORTED;
        if (fit == VYRE_FIT_YES)
            continue;
        status = check_whole(view, diag);
        if (status != VYRE_OK)
            return status;
        if (vyre_cl_resident_is_begun(device, view, command))
            return vyre_diag_set(diag, VYRE_DIAG_SUBMIT_UNBUILT, view->label, 0,
                                 "the dispatcher of command %u is being built", i);
        status = vyre_cl_resident_begin(device, view, command, &build, diag);
        *out_build = status == VYRE_OK ? build : NULL;
        return vyre_flight_note_loss(&device->flight, status, diag);
    }
    if (status == VYRE_OK)
        view->backend_words[WORD_GENERATION] = persistent->generation;
    return status;
}

void vyre_cl_build_run(void *native, void *build)
{
    vyre_cl_resident_run(native, build);
}

enum vyre_status vyre_cl_build_end(void *native, void *build, struct vyre_diag *diag)
{
    struct vyre_cl_device *device = native;
    enum vyre_status status = vyre_cl_resident_end(device, build, diag);
    return vyre_flight_note_loss(&device->flight, status, diag);
}

/* Whether the resident dispatcher has all kernels of the batch. */
static bool serves(const struct vyre_cl_device *device, const struct vyre_batch_view *view)
{
    for (uint32_t i = 0; i < view->command_count; i++) {
        const struct vyre_command *command = &view->commands[i];
        struct vyre_cl_resident *resident;
        uint32_t index;
        if (!vyre_cl_is_served(command))
            continue;
        (void)vyre_cl_resident_look(device, view, command, &resident, &index, NULL);
        if (!resident || resident != device->persistent->current)
            return false;
    }
    return true;
}

void vyre_cl_residency(void *native, const struct vyre_batch_view *view, struct vyre_residency *out)
{
    struct vyre_cl_device *device = native;
    vyre_cl_ring_look(device);
    vyre_residency_log_read(&device->persistent->residency, out);
    if (view && out->serves)
        out->serves = serves(device, view);
}
