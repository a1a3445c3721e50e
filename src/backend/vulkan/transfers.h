/*
 * transfers.h: commands that move bytes, as the encoder writes them.
 */
#ifndef VYRE_BACKEND_VULKAN_TRANSFERS_H
#define VYRE_BACKEND_VULKAN_TRANSFERS_H

#include "backend/vulkan/encode.h"

void vyre_vk_encode_copy(struct vyre_vk_encoder *encoder, const struct vyre_bound_range *from,
                         const struct vyre_bound_range *to);
void vyre_vk_encode_fill(struct vyre_vk_encoder *encoder, const struct vyre_bound_range *range,
                         uint32_t word);
enum vyre_status vyre_vk_encode_upload(struct vyre_vk_encoder *encoder, uint32_t index,
                                       uint32_t level);
enum vyre_status vyre_vk_encode_download(struct vyre_vk_encoder *encoder, uint32_t index,
                                         uint32_t level);

/*
 * Notes an upload that waits for nothing in its batch. It becomes a copy into mapped memory, done
 * just before the batch is queued, beside whatever runs. False if the host does not see the buffer
 * or work in flight may touch the range.
 */
bool vyre_vk_upload_directly(struct vyre_vk_encoder *encoder, const struct vyre_command *command);

/* Whether work in flight may touch the range. */
bool vyre_vk_is_busy(struct vyre_vk_device *device, const struct vyre_bound_range *range);

/* Moves the bytes of a part's transfers between the caller's memory and mapped memory. */
#define VYRE_VK_ALL_PARTS UINT32_MAX
void vyre_vk_copy_in(const struct vyre_vk_transfers *uploads, const struct vyre_batch_view *view,
                     uint32_t part);
void vyre_vk_copy_out(const struct vyre_vk_transfers *downloads, const struct vyre_batch_view *view,
                      uint32_t part);

/* Ends the part and begins another. For a plain batch the ended part runs first. In encode.c. */
enum vyre_status vyre_vk_encoder_cut(struct vyre_vk_encoder *encoder, uint32_t level);

/* Runs the ended part of a plain batch and takes its downloads. In submit.c. */
enum vyre_status vyre_vk_encoder_run_part(struct vyre_vk_encoder *encoder);

/*
 * Waits until no download in flight writes to these bytes of the caller's memory, which are about
 * to be read. Those of the encoder's own batch count if it has a frame.
 */
enum vyre_status vyre_vk_await_downloads(struct vyre_vk_device *device, const void *bytes,
                                         size_t size_bytes, struct vyre_diag *diag);

/* Whether a transfer in the list writes into these bytes. */
bool vyre_vk_transfers_meet(const struct vyre_vk_transfers *transfers,
                            const struct vyre_batch_view *view, const void *bytes,
                            size_t size_bytes);

#endif
