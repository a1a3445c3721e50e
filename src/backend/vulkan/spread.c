/*
 * spread.c: whether a batch goes to several queues, and which part of it can begin at once.
 */
#include "backend/vulkan/device.h"
#include "backend/vulkan/recording.h"
#include "backend/vulkan/transfers.h"

static uint64_t bytes_of(const struct vyre_batch_view *view, const struct vyre_command *command)
{
    return view->ranges[command->first_range].size_bytes;
}

/* Whether a batch that is a chain is still planned, because it begins with an upload ahead. */
static bool chain_goes_ahead(const struct vyre_vk_device *device,
                             const struct vyre_batch_view *view)
{
    const struct vyre_command *first = view->commands;
    if (!device->physical->shape.transfer || view->command_count < 2 ||
        first->type != VYRE_COMMAND_UPLOAD)
        return false;
    uint64_t bytes = bytes_of(view, first);
    return bytes > 0 && bytes >= device->backend->tuning->ahead_bytes;
}

enum vyre_status vyre_vk_encoder_plan(struct vyre_vk_encoder *e, uint32_t variant,
                                      struct vyre_batch_plan *memory)
{
    const struct vyre_device_host *host = &e->device->host;
    e->plan = NULL;
    if (e->view->command_count < 2 || (variant & VYRE_VARIANT_SERIAL) ||
        (e->view->is_chain && !chain_goes_ahead(e->device, e->view)))
        return VYRE_OK;
    enum vyre_status status = host->plan(host->context, e->view, memory, e->diag);
    e->plan = status == VYRE_OK ? memory : NULL;
    return status;
}

/*
 * Whether none of the caller's bytes must be moved in the middle of the batch: all of them fit into
 * the staging ring at once, and no upload reads what an earlier download wrote. (In a batch that is
 * not a chain, nothing overlaps in the caller's memory; for a recording that is known too late.)
 */
static bool is_one_piece(const struct vyre_vk_encoder *e)
{
    const struct vyre_batch_view *view = e->view;
    uint64_t staged = 0;
    bool downloaded = false;
    for (uint32_t i = 0; i < view->command_count; i++) {
        const struct vyre_command *command = &view->commands[i];
        bool upload = command->type == VYRE_COMMAND_UPLOAD;
        bool download = command->type == VYRE_COMMAND_DOWNLOAD;
        if (upload && downloaded && (e->take || view->is_chain))
            return false;
        downloaded |= download;
        if (upload || download)
            staged += bytes_of(view, command) + VYRE_VK_STAGING_UNIT - 1;
    }
    return e->take || staged <= vyre_vk_staging_piece(&e->device->staging);
}

/*
 * Uploads that wait for nothing in the batch: done by the host, or ahead, if nothing in flight
 * touches their bytes.
 */
static void take_first_uploads(struct vyre_vk_encoder *e)
{
    struct vyre_lane_plan *lanes = &e->device->lane_plan;
    for (uint32_t i = 0; i < e->plan->node_count; i++) {
        const struct vyre_command *command = &e->view->commands[i];
        if (command->type != VYRE_COMMAND_UPLOAD || e->plan->nodes[i].dep_count > 0 ||
            bytes_of(e->view, command) == 0)
            continue;
        const struct vyre_bound_range *range = &e->view->ranges[command->first_range];
        const struct vyre_vk_buffer *buffer = range->buffer;
        if (e->take) /* what is in flight is known only at the submit */
            lanes->ahead[i] = true;
        else if (vyre_vk_upload_directly(e, command))
            lanes->step_of[i] = VYRE_STEP_HOST;
        else
            lanes->ahead[i] = !buffer->place.mapped && !vyre_vk_is_busy(e->device, range);
    }
}

enum vyre_status vyre_vk_encoder_spread(struct vyre_vk_encoder *e)
{
    struct vyre_vk_device *device = e->device;
    const struct vyre_vk_physical *physical = device->physical;
    if (physical->lane_count == 1 || !e->plan)
        return VYRE_OK;
    if (is_one_piece(e)) {
        if (!vyre_lane_plan_begin(&device->lane_plan, e->plan))
            return vyre_diag_set(e->diag, VYRE_DIAG_OUT_OF_MEMORY, e->view->label, 0,
                                 "no memory for the queues of %u commands", e->plan->node_count);
        take_first_uploads(e);
        if (vyre_lane_plan_make(&device->lane_plan, e->view, e->plan, &physical->shape,
                                device->backend->tuning)) {
            e->lanes = &device->lane_plan;
            e->steps = e->take ? &e->take->steps : &e->frame->steps;
            return VYRE_OK;
        }
    }
    if (e->frame)
        e->frame->uploads.count = 0; /* the path with one queue finds them again */
    if (e->view->is_chain)
        e->plan = NULL;
    return VYRE_OK;
}
