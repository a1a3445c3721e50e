/*
 * result.h: what a VkResult means to the caller.
 */
#ifndef VYRE_BACKEND_VULKAN_RESULT_H
#define VYRE_BACKEND_VULKAN_RESULT_H

#include "backend/vulkan/loader.h"

/* "VK_ERROR_DEVICE_LOST" and so on; "an unknown VkResult" for the rest. Static. */
const char *vyre_vk_result_name(VkResult result);

/*
 * VYRE_OK for VK_SUCCESS, else a status by what the caller can do: memory, a lost device, any other
 * failure of the driver. `what` names the call.
 */
enum vyre_status vyre_vk_check(VkResult result, const char *what, const char *label,
                               struct vyre_diag *diag);

#endif
