/*
 * shape_keys.h: when two batches are the same work: three keys, from the narrowest to the widest.
 *
 *   exact     the kernels, groups, specialization, buffers and ranges, by identity; not the constants or the
 *             uploaded bytes. Recordings and the device's memory of shapes (shapes.h) use it. Identities
 *             start again in each process.
 *   template  the same by content: a kernel is the hash of its desc, a buffer is its size and its place in the
 *             order in which the batch first names the buffers. Offsets and sizes of ranges stay, and with
 *             them the pattern of hazards. The same in every process.
 *   family    the template without the numbers that change with the size of the work: group counts, sizes and
 *             offsets. Which command touches which buffer stays.
 *
 * Two batches with the same exact key have the same template, and two with the same template the
 * same family.
 */
#ifndef VYRE_RUNTIME_SHAPE_KEYS_H
#define VYRE_RUNTIME_SHAPE_KEYS_H

#include <stdbool.h>

#include <vyre/hash.h>
#include <vyre/kernel.h>

#include "runtime/body.h"

/* The exact key. Kept in the body until it changes. */
struct vyre_hash128 vyre_body_shape(struct vyre_body *body);

/*
 * The recording key: the exact key, what the recording holds (bits of enum vyre_recording_bakes)
 * and the variant. Kept until the body changes, so that submitting a batch again needs no hashing.
 */
struct vyre_hash128 vyre_body_key(struct vyre_body *body, uint32_t bakes, uint32_t variant);

/*
 * What a kernel is made of: all payloads, because only the backend knows which one it takes, and
 * what is declared. Zero if nothing distinguishes it: a function of the process without a name.
 */
struct vyre_hash128 vyre_kernel_content(const struct vyre_kernel_desc *desc);

/*
 * The template and the family. False if the content of a kernel in the batch is not known. They
 * mark buffers instead of allocating memory, so the caller holds the device's lock.
 */
bool vyre_shape_template_locked(struct vyre_device *device, const struct vyre_body *body,
                                struct vyre_hash128 *out_key);
bool vyre_shape_family_locked(struct vyre_device *device, const struct vyre_body *body,
                              struct vyre_hash128 *out_key);

#endif
