/*
 * refusals.h: generated code that gave wrong bytes, and its entries in the store.
 *
 * A refusal is a tuning of the store under the hash of the code. Its bytes are a text of three lines:
 *
 *   vyre-refusal 1
 *   the kernel's label
 *   the reason
 *
 * Whatever else stands under that kind is somebody else's and left alone. The device is the driver in
 * its version: --workers does not change what a driver compiles.
 */
#ifndef VYRE_CLI_REFUSALS_H
#define VYRE_CLI_REFUSALS_H

#include <vyre/vyre.h>

/* Up to VYRE_REFUSALS_MAX, each code once. A zeroed struct is empty. */
struct cli_refusals {
    struct vyre_refusal *items; /* Owned; texts without control characters */
    size_t count;
    size_t capacity;
};

void cli_refusals_deinit(struct cli_refusals *refusals);

bool cli_refusals_has(const struct cli_refusals *refusals, struct vyre_hash128 code);

/* Adds it unless its code is there. What finds no room or memory is left out. */
void cli_refusals_add(struct cli_refusals *refusals, const struct vyre_refusal *refusal);

/* Whether the entry of a store is a refusal. */
bool cli_refusal_read(const struct vyre_store_entry *entry, struct vyre_refusal *out_refusal);

/* Adds those that the store has of a device. */
void cli_refusals_load(struct cli_refusals *refusals, struct vyre_store *store,
                       const struct vyre_store_device *device);

/* Puts the device and them into the store, which reports a failure on standard error. */
void cli_refusals_keep(const struct cli_refusals *refusals, struct vyre_store *store,
                       const struct vyre_store_device *device);

/* Tells a device, which then does not try these codes. */
void cli_refusals_give(const struct cli_refusals *refusals, struct vyre_device *device);

#endif
