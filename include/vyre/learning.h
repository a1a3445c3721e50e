/*
 * learning.h: what a device has learned of shapes of work, to be kept for the next process.
 *
 *   template  a shape by what it is made of, not by which objects: kernels by their payloads, buffers
 *             by their sizes and the order in which the batch first names them. The same work has the
 *             same one in every process. Kernels that are functions of the process are known by label
 *             and entry name; one with neither has no template
 *   learning  what batches of a template took in one mode and variant
 *
 * An imported learning stands in for a measurement until there is one: it is used when a shape is
 * first seen, and a wrong one costs as much as a wrong calibration.
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

/* Templates that a device takes; further ones are refused. */
#define VYRE_LEARNED_SHAPES_MAX 4096

struct vyre_learning {
    struct vyre_hash128 shape; /* its template */
    enum vyre_mode mode;
    uint32_t variant; /* bits of enum vyre_variant */
    double mean_ns;   /* robust mean per batch, without what is paid once and for updates */
    uint64_t count;   /* measurements behind it */
};

/* False ends the export. May not call the device. */
typedef bool vyre_learning_function(void *user, const struct vyre_learning *learning);

/*
 * Calls the function for everything that was measured of the shapes that the device remembers, and
 * returns how often. Shapes that were seen fewer than 4 times are left out; two shapes that are the
 * same work on other buffers come one by one.
 */
VYRE_API size_t vyre_device_export_learnings(struct vyre_device *device,
                                             vyre_learning_function *function, void *user);

/*
 * Takes one learning in; one of the same shape, mode and variant is replaced. learning-candidate: the
 * device has no such mode or variant; learning-limit: it holds as many shapes as it takes.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_device_import_learning(
    struct vyre_device *device, const struct vyre_learning *learning, struct vyre_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
