/*
 * barriers.c: see barriers.h.
 */
#include "backend/vulkan/barriers.h"

void vyre_vk_barriers_full(struct vyre_vk_barriers *barriers, uint32_t level)
{
    for (int from = 0; from < VYRE_VK_STAGES; from++) {
        for (int to = 0; to < VYRE_VK_STAGES; to++)
            barriers->covered[from][to] = level;
    }
    barriers->from = barriers->to = 0;
}

void vyre_vk_barriers_need(struct vyre_vk_barriers *barriers, enum vyre_vk_stage from,
                           uint32_t from_level, enum vyre_vk_stage to)
{
    if (barriers->covered[from][to] > from_level)
        return;
    barriers->from |= 1u << from;
    barriers->to |= 1u << to;
}

bool vyre_vk_barriers_take(struct vyre_vk_barriers *barriers, uint32_t level, uint32_t *out_from,
                           uint32_t *out_to)
{
    *out_from = barriers->from;
    *out_to = barriers->to;
    for (int from = 0; from < VYRE_VK_STAGES; from++) {
        for (int to = 0; to < VYRE_VK_STAGES; to++) {
            if ((barriers->from >> from & 1) && (barriers->to >> to & 1))
                barriers->covered[from][to] = level;
        }
    }
    barriers->from = barriers->to = 0;
    return *out_from != 0;
}

void vyre_vk_barriers_skip_first_transfers(struct vyre_vk_barriers *barriers)
{
    for (int to = 0; to < VYRE_VK_STAGES; to++) {
        if (barriers->covered[VYRE_VK_TRANSFER][to] == 0)
            barriers->covered[VYRE_VK_TRANSFER][to] = 1;
    }
}
