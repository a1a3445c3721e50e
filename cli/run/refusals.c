/*
 * refusals.c: lists of generated code that gave wrong bytes.
 */
#include "run/refusals.h"

#include <stdlib.h>

void cli_refusals_deinit(struct cli_refusals *refusals)
{
    free(refusals->items);
    *refusals = (struct cli_refusals){0};
}

bool cli_refusals_has(const struct cli_refusals *refusals, struct vyre_hash128 code)
{
    for (size_t i = 0; i < refusals->count; i++) {
        if (vyre_hash128_equal(refusals->items[i].code, code))
            return true;
    }
    return false;
}

/* Labels come from users: control characters must not reach the terminal. */
static void make_line(char *text, size_t capacity)
{
    text[capacity - 1] = '\0';
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
    }
}

void cli_refusals_add(struct cli_refusals *refusals, const struct vyre_refusal *refusal)
{
    if (refusals->count == VYRE_REFUSALS_MAX || cli_refusals_has(refusals, refusal->code))
        return;
    if (refusals->count == refusals->capacity) {
        size_t capacity = refusals->capacity ? 2 * refusals->capacity : 8;
        struct vyre_refusal *grown = realloc(refusals->items, capacity * sizeof *grown);
        if (!grown)
            return;
        refusals->items = grown;
        refusals->capacity = capacity;
    }
    struct vyre_refusal *added = &refusals->items[refusals->count++];
    *added = *refusal;
    make_line(added->kernel, sizeof added->kernel);
    make_line(added->reason, sizeof added->reason);
}

void cli_refusals_add_all(struct cli_refusals *refusals, struct vyre_device *device)
{
    struct vyre_refusal *all = malloc(VYRE_REFUSALS_MAX * sizeof *all);
    if (!all)
        return;
    size_t count = vyre_device_refusals(device, all, VYRE_REFUSALS_MAX);
    for (size_t i = 0; i < count && i < VYRE_REFUSALS_MAX; i++)
        cli_refusals_add(refusals, &all[i]);
    free(all);
}

void cli_refusals_give(const struct cli_refusals *refusals, struct vyre_device *device)
{
    struct vyre_diag ignored;
    /* If the device has no memory for one, a check finds it again. */
    for (size_t i = 0; i < refusals->count; i++)
        (void)!vyre_device_import_refusal(device, &refusals->items[i], &ignored);
}
