/*
 * written.h: the bytes that a batch writes, to be saved and restored.
 *
 * Extents are the written ranges of all commands, merged, plus some bytes around them in the same
 * buffer, because a missing bounds check writes there first. Buffers that the caller has mapped
 * have no bytes around them, because the host may write there meanwhile. The saved bytes are stored
 * one extent after another.
 *
 * Thread-safety: under the device's lock, while nothing is in flight.
 */
#ifndef VYRE_RUNTIME_WRITTEN_H
#define VYRE_RUNTIME_WRITTEN_H

#include "runtime/body.h"
#include "runtime/internal.h"

struct vyre_written_extent {
    struct vyre_buffer *buffer; /* Borrowed: structs outlive the batch */
    uint64_t identity;          /* the buffer's; if it is another one or 0, the buffer is gone */
    size_t begin_bytes;
    size_t end_bytes;
};

struct vyre_written {
    struct vyre_device *device;          /* Borrowed */
    struct vyre_body *body;              /* Borrowed */
    struct vyre_written_extent *extents; /* Owned */
    uint32_t count;
    uint32_t capacity;
    size_t total_bytes; /* of all extents */
};

/* False when out of memory. */
bool vyre_written_init(struct vyre_written *written, struct vyre_device *device,
                       struct vyre_body *body);
void vyre_written_deinit(struct vyre_written *written);

/* Copies total_bytes out of the buffers, or into them. Skips buffers that are gone. */
VYRE_NODISCARD enum vyre_status vyre_written_save_locked(const struct vyre_written *written,
                                                         unsigned char *out_bytes,
                                                         struct vyre_diag *diag);
VYRE_NODISCARD enum vyre_status vyre_written_restore_locked(const struct vyre_written *written,
                                                            const unsigned char *bytes,
                                                            struct vyre_diag *diag);

/* What a failed batch left undefined in the extents is defined again ... */
void vyre_written_heal(const struct vyre_written *written);

/* ... or undefined from now on, because it could not be restored. */
void vyre_written_poison(const struct vyre_written *written, enum vyre_status status);

/* The extent that holds a saved byte, and the byte's offset in its buffer. */
const struct vyre_written_extent *vyre_written_at(const struct vyre_written *written,
                                                  size_t saved_bytes, size_t *out_offset_bytes);

#endif
