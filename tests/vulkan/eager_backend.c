/*
 * eager_backend.c: the Vulkan backend for `--library`, which takes spreading a batch over queues
 * as always worth it: small random batches use all that there is.
 */
#include <vyre/backend.h>
#include <vyre/export.h>

#include "backend/vulkan/vulkan.h"
#include "plan/lane_plan.h"

__attribute__((visibility("default"))) const struct vyre_backend_ops *vyre_backend_entry(void);

static struct vyre_lane_tuning tuning = {.split_groups = 0, .ahead_bytes = 0};
static struct vyre_backend_ops ops;

const struct vyre_backend_ops *vyre_backend_entry(void)
{
    ops = vyre_vulkan_backend_ops;
    ops.name = "vulkan-eager";
    ops.user = &tuning;
    return &ops;
}
