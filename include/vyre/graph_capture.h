/*
 * graph_capture.h: how large the tables of a captured graph must be.
 *
 * Thread-safety: pure functions.
 */
#ifndef VYRE_GRAPH_CAPTURE_H
#define VYRE_GRAPH_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>

#include <vyre/binding_plan.h>
#include <vyre/diag.h>
#include <vyre/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * How large the tables must be. Shared bindings are in no table. A zeroed struct says that a replay
 * is not safe, so it is no start for extend: to start from nothing, build with an empty (zeroed)
 * binding plan.
 */
struct vyre_graph_capture_plan {
    size_t input_device_capacity;    /* bindings with an input index */
    size_t output_device_capacity;   /* all others */
    size_t output_readback_capacity; /* bindings with an output index */
    size_t kernel_pointer_capacity;  /* one per binding */
    size_t kernel_argument_capacity; /* the pointers and the launch parameters */
    bool resident_input_replay_safe; /* no binding has both indices */
};

/*
 * Counts the tables for one run of `plan`. On overflow of size_t it fails with PLAN_OVERFLOW, which
 * names the graph capture binding plan and the table, and zeroes *out_capture; the fix is a smaller
 * graph shape.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_graph_capture_plan_build(
    const struct vyre_binding_plan *plan, struct vyre_graph_capture_plan *out_capture,
    struct vyre_diag *diag);

/*
 * Adds a further kernel's bindings to a capture that several kernels share: all counts grow, the
 * launch parameters stay one argument, and the replay is safe if it was and the new bindings are.
 * On failure *capture is as it was.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_graph_capture_plan_extend(
    struct vyre_graph_capture_plan *capture, const struct vyre_binding_plan *plan,
    struct vyre_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
