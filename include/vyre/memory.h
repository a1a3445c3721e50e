/*
 * memory.h: buffers.
 *
 * A buffer is a run of bytes on one device, zeroed when created. Identities count up and are never
 * used again, so nothing recorded for a destroyed buffer can match a new one.
 *
 * Thread-safety: any thread. Destroying a buffer while work uses it is safe: its memory lives until
 * that work is complete. A batch that names it and is submitted later fails (batch-stale).
 */
#ifndef VYRE_MEMORY_H
#define VYRE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include <vyre/device.h>
#include <vyre/diag.h>
#include <vyre/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A run of bytes on one device. */
struct vyre_buffer;

/* How the host uses a buffer beyond setting it up: where its memory is taken from. Bits. */
enum vyre_buffer_use {
    VYRE_BUFFER_UPLOADED = 1,   /* often written by uploads */
    VYRE_BUFFER_DOWNLOADED = 2, /* often read by downloads */
};

/* How to create a buffer. */
struct vyre_buffer_desc {
    size_t size_bytes; /* not 0 */
    const char *label; /* copied; may be NULL */
    uint32_t use;      /* bits of enum vyre_buffer_use; 0: mostly the device's */
};

/* Creates a zeroed buffer. The caller owns it; closing the device frees it too. */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_buffer_create(struct vyre_device *device,
                                                            const struct vyre_buffer_desc *desc,
                                                            struct vyre_buffer **out_buffer,
                                                            struct vyre_diag *diag);

/*
 * Destroys the buffer and sets *buffer to NULL. Work that uses it still runs. NULL and a pointer to
 * NULL are ignored.
 */
VYRE_API void vyre_buffer_destroy(struct vyre_buffer **buffer);

/* The size of the buffer in bytes. */
VYRE_API size_t vyre_buffer_size(const struct vyre_buffer *buffer);

/* The identity of the buffer: no other buffer of the device ever has it. */
VYRE_API uint64_t vyre_buffer_identity(const struct vyre_buffer *buffer);

/* The label of the buffer, or ""; valid until the buffer is destroyed. */
VYRE_API const char *vyre_buffer_label(const struct vyre_buffer *buffer);

/*
 * Waits for all submitted work, then copies bytes into the buffer. For set-up and tests; the
 * uploads of batches overlap with other work.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_buffer_write(struct vyre_buffer *buffer,
                                                           size_t offset_bytes, const void *bytes,
                                                           size_t size_bytes,
                                                           struct vyre_diag *diag);

/*
 * Waits for all submitted work, then copies bytes out of the buffer. For set-up and tests; the
 * downloads of batches overlap with other work.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_buffer_read(struct vyre_buffer *buffer,
                                                          size_t offset_bytes, void *out_bytes,
                                                          size_t size_bytes,
                                                          struct vyre_diag *diag);

/*
 * The address of the buffer's memory on the host, where the device has the ability "host-visible";
 * else VYRE_UNSUPPORTED. Valid until the buffer is destroyed. Touching bytes that work in flight
 * touches is a race: wait first.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_buffer_map(struct vyre_buffer *buffer,
                                                         void **out_bytes, struct vyre_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
