/*
 * refusal_text.h: a refusal as the bytes of a store's entry.
 *
 * A refusal is a tuning under the hash of the code: three lines of text.
 *
 *   vyre-refusal 1
 *   the kernel's label
 *   the reason
 *
 * Other entries of that kind belong to other writers and are left alone.
 */
#ifndef VYRE_RUNTIME_REFUSAL_TEXT_H
#define VYRE_RUNTIME_REFUSAL_TEXT_H

#include <stddef.h>

#include <vyre/proof.h>

#define VYRE_REFUSAL_TEXT_BYTES (16 + sizeof(struct vyre_refusal))

/* Returns the length. A label may hold any bytes: those that are not text become question marks. */
size_t vyre_refusal_write(const struct vyre_refusal *refusal, char out[VYRE_REFUSAL_TEXT_BYTES]);

#endif
