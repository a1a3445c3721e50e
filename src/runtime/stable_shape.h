/*
 * stable_shape.h: a batch's shape by what it is made of: the same in every process.
 *
 * The shape of body.h names objects by identities, which count anew in each process. Here a kernel is
 * the hash of its desc, taken when it is created, and a buffer is its size and its place in the order
 * in which the batch first names the buffers.
 */
#ifndef VYRE_RUNTIME_STABLE_SHAPE_H
#define VYRE_RUNTIME_STABLE_SHAPE_H

#include <stdbool.h>

#include <vyre/hash.h>
#include <vyre/kernel.h>

#include "runtime/body.h"

/*
 * What a kernel is made of: all payloads, for only the backend knows which one it takes, and what is
 * declared. Zero when nothing tells it from others: a function of the process without any name.
 */
struct vyre_hash128 vyre_stable_kernel(const struct vyre_kernel_desc *desc);

/*
 * False when a kernel of the batch is not known by content. Marks the buffers on its way, so that it
 * takes no memory: the caller holds the device's lock.
 */
bool vyre_stable_shape_locked(struct vyre_device *device, const struct vyre_body *body,
                              struct vyre_hash128 *out_shape);

#endif
