/*
 * learning.h: what a device has learned of shapes of work, to be kept for the next process.
 *
 * Words
 *   template  a shape by what it is made of, not by which objects: kernels by their payloads, buffers
 *             by their sizes and the order in which the batch first names them. The same work has the
 *             same template in every process. Kernels that are functions of the process are known by
 *             label and entry name; one with neither has no template
 *   learning  what batches of a template took in one mode and variant
 *
 * An imported learning takes the place of a measurement until there is one: it is used when a shape
 * is first seen. A wrong one costs time, as a wrong calibration does.
 *
 * Thread-safety: any thread.
 */
#ifndef VYRE_LEARNING_H
#define VYRE_LEARNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/device.h>
#include <vyre/diag.h>
#include <vyre/export.h>
#include <vyre/hash.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most templates that a device takes; more are refused. */
#define VYRE_LEARNED_SHAPES_MAX 4096

/* What batches of one template took in one mode and variant. */
struct vyre_learning {
    struct vyre_hash128 shape; /* its template */
    enum vyre_mode mode;
    uint32_t variant; /* bits of enum vyre_variant */
    double mean_ns;   /* robust mean per batch, without what is paid once and for updates */
    uint64_t count;   /* measurements behind it */
};

/* Receives one learning. Returning false ends the export. It may not call the device. */
typedef bool vyre_learning_function(void *user, const struct vyre_learning *learning);

/*
 * Calls the function for everything that was measured of the shapes that the device remembers, and
 * returns how often. Shapes that were seen fewer than 4 times are left out; two shapes that are the
 * same work on other buffers come one by one.
 */
VYRE_API size_t vyre_device_export_learnings(struct vyre_device *device,
                                             vyre_learning_function *function, void *user);

/*
 * Takes one learning in; it replaces one of the same shape, mode and variant. Fails with
 * learning-candidate when the device has no such mode or variant, and with learning-limit when it
 * holds as many shapes as it can.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_device_import_learning(
    struct vyre_device *device, const struct vyre_learning *learning, struct vyre_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
