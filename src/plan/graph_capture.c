/*
 * graph_capture.c: how large the tables of a captured graph must be.
 */
#include <vyre/graph_capture.h>

#include <string.h>

#include "plan/account.h"

/* Kernel arguments besides the pointers: the launch parameters. */
#define LAUNCH_PARAMETERS 1

/* Adds one binding to the tables that it belongs to. */
static enum vyre_status add_binding(const struct vyre_account *account,
                                    const struct vyre_binding *binding,
                                    struct vyre_graph_capture_plan *capture)
{
    bool has_input = binding->input_index != VYRE_NO_INDEX;
    bool has_output = binding->output_index != VYRE_NO_INDEX;
    enum vyre_status status =
        vyre_account_add(account, "kernel pointer", 1, &capture->kernel_pointer_capacity);
    if (status == VYRE_OK)
        status = has_input ? vyre_account_add(account, "input device storage", 1,
                                              &capture->input_device_capacity)
                           : vyre_account_add(account, "output device storage", 1,
                                              &capture->output_device_capacity);
    if (status == VYRE_OK && has_output)
        status =
            vyre_account_add(account, "output readback", 1, &capture->output_readback_capacity);
    if (has_input && has_output)
        capture->resident_input_replay_safe = false;
    return status;
}

enum vyre_status vyre_graph_capture_plan_extend(struct vyre_graph_capture_plan *capture,
                                                const struct vyre_binding_plan *plan,
                                                struct vyre_diag *diag)
{
    const struct vyre_account account = {
        .plan = "graph capture binding plan", .fix = "Record a smaller graph shape.", .diag = diag};
    struct vyre_graph_capture_plan grown = *capture;
    for (size_t i = 0; i < plan->binding_count; i++) {
        if (plan->bindings[i].role == VYRE_ROLE_SHARED)
            continue;
        enum vyre_status status = add_binding(&account, &plan->bindings[i], &grown);
        if (status != VYRE_OK)
            return status;
    }
    grown.kernel_argument_capacity = grown.kernel_pointer_capacity;
    enum vyre_status status = vyre_account_add(&account, "kernel argument", LAUNCH_PARAMETERS,
                                               &grown.kernel_argument_capacity);
    if (status == VYRE_OK)
        *capture = grown;
    return status;
}

enum vyre_status vyre_graph_capture_plan_build(const struct vyre_binding_plan *plan,
                                               struct vyre_graph_capture_plan *out_capture,
                                               struct vyre_diag *diag)
{
    *out_capture = (struct vyre_graph_capture_plan){.resident_input_replay_safe = true};
    enum vyre_status status = vyre_graph_capture_plan_extend(out_capture, plan, diag);
    if (status != VYRE_OK)
        memset(out_capture, 0, sizeof *out_capture);
    return status;
}
