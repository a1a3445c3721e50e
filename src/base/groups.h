/*
 * groups.h: how many groups a dispatch has.
 */
#ifndef VYRE_BASE_GROUPS_H
#define VYRE_BASE_GROUPS_H

#include <stdint.h>

/* At most 2^48: the runtime refuses dispatches with more. 0: there is nothing to do. */
static inline uint64_t vyre_groups_total(const uint32_t groups[3])
{
    return (uint64_t)groups[0] * groups[1] * groups[2];
}

#endif
