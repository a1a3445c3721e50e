/*
 * barriers.h: which barriers a batch needs. Numbers only.
 *
 * Commands are written level by level (see struct vyre_plan_node). Those of one level are
 * independent and need no barrier between them. Before a level there is at most one barrier, from
 * the stages of the commands that the level waits for to its own stages. What an earlier barrier
 * has already ordered needs none.
 *
 *   covered[from][to] = n   there is a barrier between these stages before level n: whatever ran in
 *                           `from` on a level below n is done for `to`
 */
#ifndef VYRE_BACKEND_VULKAN_BARRIERS_H
#define VYRE_BACKEND_VULKAN_BARRIERS_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/backend.h>

enum vyre_vk_stage {
    VYRE_VK_COMPUTE = 0,
    VYRE_VK_TRANSFER = 1,
};
#define VYRE_VK_STAGES 2

struct vyre_vk_barriers {
    uint32_t covered[VYRE_VK_STAGES][VYRE_VK_STAGES];
    uint32_t from, to; /* bits of stages: what the next barrier must order */
};

static inline enum vyre_vk_stage vyre_vk_stage_of(const struct vyre_command *command)
{
    return command->type == VYRE_COMMAND_DISPATCH ? VYRE_VK_COMPUTE : VYRE_VK_TRANSFER;
}

/* There is a barrier between all stages before `level`. */
void vyre_vk_barriers_full(struct vyre_vk_barriers *barriers, uint32_t level);

/* A command in `to` waits for one in `from` on `from_level`. */
void vyre_vk_barriers_need(struct vyre_vk_barriers *barriers, enum vyre_vk_stage from,
                           uint32_t from_level, enum vyre_vk_stage to);

/* Whether a barrier is needed before `level`, and between which stages. It counts as inserted. */
bool vyre_vk_barriers_take(struct vyre_vk_barriers *barriers, uint32_t level, uint32_t *out_from,
                           uint32_t *out_to);

/* The host did the transfers of level 0 before anything runs, so nothing waits for them. */
void vyre_vk_barriers_skip_first_transfers(struct vyre_vk_barriers *barriers);

#endif
