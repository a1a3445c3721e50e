/*
 * memory.h: buffers.
 *
 * A buffer is a run of bytes on one device, zeroed when created. Its identity is counted up and
 * never used again, so that nothing recorded for a destroyed buffer can match a new one.
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

struct vyre_buffer;

/* How the host uses a buffer beyond setting it up: where its memory is taken from. Bits. */
enum vyre_buffer_use {
    VYRE_BUFFER_UPLOADED = 1,   /* often written by uploads */
    VYRE_BUFFER_DOWNLOADED = 2, /* often read by downloads */
};

struct vyre_buffer_desc {
    size_t size_bytes; /* not 0 */
    const char *label; /* copied; may be NULL */
    uint32_t use;      /* bits of enum vyre_buffer_use; 0: mostly the device's */
};

VYRE_NODISCARD VYRE_API enum vyre_status vyre_buffer_create(struct vyre_device *device,
                                                            const struct vyre_buffer_desc *desc,
                                                            struct vyre_buffer **out_buffer,
                                                            struct vyre_diag *diag);
VYRE_API void vyre_buffer_destroy(struct vyre_buffer **buffer);

VYRE_API size_t vyre_buffer_size(const struct vyre_buffer *buffer);
VYRE_API uint64_t vyre_buffer_identity(const struct vyre_buffer *buffer);
VYRE_API const char *vyre_buffer_label(const struct vyre_buffer *buffer);

/*
 * Waits for all submitted work, then copies. For set-up and tests; batches have their own upload and
 * download, which overlap with other work.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_buffer_write(struct vyre_buffer *buffer,
                                                           size_t offset_bytes, const void *bytes,
                                                           size_t size_bytes,
                                                           struct vyre_diag *diag);
VYRE_NODISCARD VYRE_API enum vyre_status vyre_buffer_read(struct vyre_buffer *buffer,
                                                          size_t offset_bytes, void *out_bytes,
                                                          size_t size_bytes,
                                                          struct vyre_diag *diag);

/*
 * The buffer's memory as the host sees it, where the device has the ability "host-visible"; else
 * VYRE_UNSUPPORTED. Touching bytes that work in flight touches is a race: wait first.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_buffer_map(struct vyre_buffer *buffer,
                                                         void **out_bytes, struct vyre_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
