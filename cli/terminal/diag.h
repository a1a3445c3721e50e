/*
 * diag.h: the tool's own diagnostics, in the library's form.
 *
 * The tool's `struct vyre_diag` holds an id of the library or one of terminal/diag_ids.def. The two
 * tables share no number and no name.
 */
#ifndef VYRE_CLI_TERMINAL_DIAG_H
#define VYRE_CLI_TERMINAL_DIAG_H

#include <stdbool.h>

#include <vyre/diag.h>

enum cli_diag_id {
    CLI_DIAG_NONE = VYRE_DIAG_NONE,
#define CLI_DIAG_ID(symbol, number, name, status, summary, fix) CLI_DIAG_##symbol = (number),
#include "terminal/diag_ids.def"
#undef CLI_DIAG_ID
};

/* Like vyre_diag_set, for an id of the tool. */
enum vyre_status cli_diag_set(struct vyre_diag *diag, enum cli_diag_id id, const char *label,
                              int64_t native_code, const char *message, ...) VYRE_PRINTF(5, 6);

bool cli_diag_is(const struct vyre_diag *diag, enum cli_diag_id id);

/* The name of the diagnostic's id, whether it is the library's or the tool's. */
const char *cli_diag_name(const struct vyre_diag *diag);

#endif
