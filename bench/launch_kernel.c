/*
 * launch_kernel.c: the kernel that every contender calls, in an object file of its own so that no
 * compiler can merge it with a contender's loop.
 */
#include "launch.h"

void launch_kernel(const struct vyre_host_group *group)
{
    uint32_t *a = (uint32_t *)group->buffers[0].data;
    uint32_t c = *(const uint32_t *)group->constants;
    a += (size_t)group->group_id[0] * LAUNCHES_LOCAL_SIZE;
    for (uint32_t i = 0; i < LAUNCHES_LOCAL_SIZE; i++)
        a[i] = a[i] * 1664525u + c;
}
