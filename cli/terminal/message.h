/*
 * message.h: diagnostics as the tool prints them.
 *
 *     vyre: FILE:LINE:COLUMN: error[id]: message
 *       fix: what to do
 *
 * Diagnostics without a position, as of the command line, leave it out. Those of workloads have a JSON
 * path instead of line and column: vyre: FILE: error[id]: $.batches.step[1]: message
 */
#ifndef VYRE_CLI_TERMINAL_MESSAGE_H
#define VYRE_CLI_TERMINAL_MESSAGE_H

#include <stdint.h>

#include <vyre/vyre.h>

#include "terminal/span.h"

/* A place in a file. Lines and columns count from 1; a column is a byte. */
struct cli_position {
    const char *file; /* Borrowed */
    uint64_t line;
    uint64_t column;
};

/* Prints to standard error. `position` may be NULL. */
void cli_message_print(const struct vyre_diag *diag, const struct cli_position *position);

/* The same for a diagnostic whose message names the place, as a JSON path does. */
void cli_message_print_file(const struct vyre_diag *diag, const char *file);

#define CLI_QUOTE_BYTES 64

/* Text from outside, made safe for a message: unprintable bytes are escaped, long text is cut. */
struct cli_quote {
    char text[CLI_QUOTE_BYTES];
};

struct cli_quote cli_quote(struct cli_span span);

#endif
