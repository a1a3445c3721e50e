/*
 * batch.h: building batches and submitting them.
 *
 * Words
 *   batch     the commands of one submit, in order
 *   command   a dispatch, copy, fill, upload or download
 *   dispatch  one run of a kernel on its bindings
 *   shape     what batches that do the same work have in common: kernels, group counts, buffers
 *             and ranges, not the values of constants or the uploaded bytes
 *
 * The commands of a batch take effect as if each ran alone, in order, and batches in submit order.
 * There are no barriers to write.
 *
 * Building errors stick: the first one is kept, further commands are ignored, and submit returns it
 * until the batch is reset. That is why the building calls return nothing.
 *
 * A batch may be submitted any number of times, also while an earlier submit of it is in flight,
 * and may be reset or changed at once after submit: that does not touch what was submitted.
 *
 * Thread-safety: a batch belongs to one thread at a time. Any number of threads may submit batches
 * of their own to one device; Vyre puts the submits in one order.
 */
#ifndef VYRE_BATCH_H
#define VYRE_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/device.h>
#include <vyre/diag.h>
#include <vyre/export.h>
#include <vyre/kernel.h>
#include <vyre/memory.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A list of commands that is submitted as a whole. */
struct vyre_batch;

/* How to create a batch. A zeroed desc is fine. */
struct vyre_batch_desc {
    const char *label; /* copied; may be NULL */
};

/*
 * Creates an empty batch. `desc` may be NULL. The caller owns the batch; closing the device frees
 * it too.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_batch_create(struct vyre_device *device,
                                                           const struct vyre_batch_desc *desc,
                                                           struct vyre_batch **out_batch,
                                                           struct vyre_diag *diag);

/*
 * Frees the batch and sets *batch to NULL. What was submitted still runs. NULL and a pointer to
 * NULL are ignored.
 */
VYRE_API void vyre_batch_destroy(struct vyre_batch **batch);

/* Empties the batch and forgets its error; memory is kept for the next building. */
VYRE_API void vyre_batch_reset(struct vyre_batch *batch);

/* The sticky error of the building so far, or VYRE_OK. */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_batch_status(const struct vyre_batch *batch,
                                                           struct vyre_diag *diag);

/* How many commands the batch holds. */
VYRE_API size_t vyre_batch_command_count(const struct vyre_batch *batch);

/* ---- Commands --------------------------------------------------------------------------------- */

/* A run of bytes of one buffer. */
struct vyre_range {
    struct vyre_buffer *buffer;
    size_t offset_bytes;
    size_t size_bytes; /* 0: to the end of the buffer */
};

/*
 * What one slot gets: a range, a table of whole buffers, or local memory. `table` takes precedence
 * over `range`; local bytes are for slots that the kernel declares as shared.
 */
struct vyre_slot_binding {
    uint32_t slot;
    struct vyre_range range;
    struct vyre_buffer *const *table; /* copied; the kernel sees an array of 64-bit addresses */
    uint32_t table_count;
    uint32_t local_bytes;
};

/*
 * One dispatch. All three group counts must be set; a 0 among them makes the dispatch a legal
 * no-op. Everything is copied.
 */
struct vyre_dispatch {
    struct vyre_kernel *kernel;
    uint32_t groups[3];
    const struct vyre_slot_binding *bindings; /* one per slot of the kernel, in any order */
    size_t binding_count;
    const void *constants;
    size_t constants_size_bytes;    /* exactly what the kernel declares */
    const uint64_t *specialization; /* NULL: the kernel's defaults; else one value each */
    size_t specialization_count;
};

/* Adds a dispatch: runs a kernel on its bindings. */
VYRE_API void vyre_batch_dispatch(struct vyre_batch *batch, const struct vyre_dispatch *dispatch);

/*
 * Adds a copy between two ranges of the device, which must not overlap. The size is that of `from`;
 * a size of `to` must be the same or 0.
 */
VYRE_API void vyre_batch_copy(struct vyre_batch *batch, struct vyre_range from,
                              struct vyre_range to);

/* Adds a fill: writes a 32-bit word over the range. Offset and size are multiples of 4. */
VYRE_API void vyre_batch_fill(struct vyre_batch *batch, struct vyre_range range, uint32_t word);

/*
 * Adds an upload of bytes to the range. They are copied now: the caller may reuse its memory at
 * once.
 */
VYRE_API void vyre_batch_upload(struct vyre_batch *batch, struct vyre_range range,
                                const void *bytes);

/*
 * Adds an upload of bytes that are read when the command runs: they must stay as they are until the
 * ticket is complete.
 */
VYRE_API void vyre_batch_upload_borrowed(struct vyre_batch *batch, struct vyre_range range,
                                         const void *bytes);

/*
 * Adds a download of the range into the caller's memory, which must stay until the ticket is
 * complete. The bytes are there when vyre_ticket_wait returns VYRE_OK.
 */
VYRE_API void vyre_batch_download(struct vyre_batch *batch, struct vyre_range range,
                                  void *out_bytes);

/*
 * Changes the constants of a dispatch; `command` counts all commands of the batch from 0. The shape
 * stays the same, so a recording of the batch is used again.
 */
VYRE_API void vyre_batch_set_constants(struct vyre_batch *batch, size_t command,
                                       const void *constants, size_t constants_size_bytes);

/* ---- Submit ----------------------------------------------------------------------------------- */

/*
 * Called once when the batch is complete, on a thread of the driver; on a lost device, on the
 * thread that found the loss. It must not wait for tickets or close the device. It may submit while
 * the in-flight limit leaves room, except in a required mode whose generated code is not proven yet
 * (proof.h). Later batches of the device start when it has returned. `host_ns` of the result is not
 * known yet and 0.
 */
typedef void vyre_completion_function(void *user, struct vyre_ticket ticket,
                                      const struct vyre_batch_result *result);

/* How to submit a batch. A zeroed struct is fine: auto, no callback, timing by sampling. */
struct vyre_submit_options {
    enum vyre_mode mode;  /* AUTO, or a required mode: the batch runs in it, or submit fails */
    uint32_t repeat_hint; /* how often this shape will be submitted; 0: not known */
    bool timed;           /* measure this batch whatever its size */
    vyre_completion_function *on_complete; /* may be NULL */
    void *user;                            /* Borrowed */
    uint32_t variant; /* with a required mode: bits of enum vyre_variant, else 0 */
};

/*
 * Queues the whole batch or nothing. Small work may run before submit returns. `options` and
 * `out_ticket` may be NULL. On failure *out_ticket is zeroed.
 *
 * The first batch of a kernel in a mode that runs generated code is proven first (proof.h): submit
 * then waits until the device is idle and callbacks have returned, and runs the batch two more
 * times.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_batch_submit(
    struct vyre_batch *batch, const struct vyre_submit_options *options,
    struct vyre_ticket *out_ticket, struct vyre_diag *diag);

/*
 * Whether the batch can run in `mode` on its device: VYRE_OK, VYRE_UNSUPPORTED with the reason, or
 * VYRE_BUSY (submit-unbuilt): only a build can show it, and vyre_batch_warm_up builds. Builds, runs
 * and records nothing. `variant` has bits of enum vyre_variant.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_batch_check_mode(struct vyre_batch *batch,
                                                               enum vyre_mode mode,
                                                               uint32_t variant,
                                                               struct vyre_diag *diag);

/*
 * Does now what the first submit in `mode` would have to do: compiles, records, starts what stays
 * resident. Runs nothing: generated code is proven by the first submit, on its data (proof.h).
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_batch_warm_up(struct vyre_batch *batch,
                                                            enum vyre_mode mode,
                                                            struct vyre_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
