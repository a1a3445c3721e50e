/*
 * poison.h: bytes that a failed batch should have written.
 *
 * When a batch fails, the bytes that it writes are undefined: poison. Each buffer remembers which
 * of its bytes are. A batch that reads them fails too, with the same status, and what it writes
 * becomes poison. A fill, an upload or a copy of valid bytes makes the bytes that it covers valid
 * again. Batches are checked in submit order, when they complete, so the outcome is that of the
 * serial run.
 *
 * Bounded: a buffer keeps up to 4 ranges. If there would be more, two of them become one range that
 * also covers what lies between.
 *
 * Thread-safety: all of it under the device's failure_lock.
 */
#ifndef VYRE_RUNTIME_POISON_H
#define VYRE_RUNTIME_POISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/status.h>

#define VYRE_POISON_RANGES 4

struct vyre_body;
struct vyre_buffer;
struct vyre_device;

struct vyre_poison_range {
    size_t begin_bytes;
    size_t end_bytes;
    enum vyre_status status;
    uint64_t sequence; /* of the batch that failed first */
};

/* A buffer's poison; zeroed: none. */
struct vyre_poison {
    uint32_t count;
    struct vyre_poison_range ranges[VYRE_POISON_RANGES];
};

/* A batch failed: everything that it writes becomes poison. */
void vyre_poison_spread_locked(struct vyre_device *device, const struct vyre_body *body,
                               enum vyre_status status, uint64_t sequence);

/*
 * A batch succeeded. If it read poison, its writes become poison, and the result is the status with
 * which it fails after all. Otherwise VYRE_OK, and what it certainly wrote is valid again.
 */
enum vyre_status vyre_poison_pass_locked(struct vyre_device *device, const struct vyre_body *body,
                                         uint64_t *out_cause);

/* The same for bytes that the host reads or, with `write`, writes. */
enum vyre_status vyre_poison_touch_locked(struct vyre_device *device, struct vyre_buffer *buffer,
                                          size_t begin_bytes, size_t end_bytes, bool write,
                                          uint64_t *out_cause);

/* The buffer is gone, and so is its poison. */
void vyre_poison_forget_locked(struct vyre_device *device, struct vyre_buffer *buffer);

#endif
