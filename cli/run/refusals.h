/*
 * refusals.h: lists of generated code that gave wrong bytes.
 */
#ifndef VYRE_CLI_RUN_REFUSALS_H
#define VYRE_CLI_RUN_REFUSALS_H

#include <vyre/vyre.h>

/* Up to VYRE_REFUSALS_MAX, each code once. A zeroed struct is empty. */
struct cli_refusals {
    struct vyre_refusal *items; /* Owned; texts without control characters */
    size_t count;
    size_t capacity;
};

void cli_refusals_deinit(struct cli_refusals *refusals);

bool cli_refusals_has(const struct cli_refusals *refusals, struct vyre_hash128 code);

/* Adds it unless its code is in the list. Without room or memory it is left out. */
void cli_refusals_add(struct cli_refusals *refusals, const struct vyre_refusal *refusal);

/* Adds all refusals of a device. */
void cli_refusals_add_all(struct cli_refusals *refusals, struct vyre_device *device);

/* Gives the refusals to a device, which then does not run these codes. */
void cli_refusals_give(const struct cli_refusals *refusals, struct vyre_device *device);

#endif
