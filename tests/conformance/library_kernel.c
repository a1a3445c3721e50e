/*
 * library_kernel.c: a shared object with a host kernel, loaded by path and symbol.
 */
#include "conformance/kernels.h"

VYRE_API void conformance_add_twice(const struct vyre_host_group *group);

void conformance_add_twice(const struct vyre_host_group *group)
{
    const struct add_constants *constants = group->constants;
    uint32_t *data = group->buffers[0].data;
    uint32_t first = group->group_id[0] * group->local_size[0];
    for (uint32_t i = first; i < first + group->local_size[0] && i < constants->count; i++)
        data[i] += 2 * constants->value;
}
