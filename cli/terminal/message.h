/*
 * message.h: diagnostics as the tool prints them.
 *
 *     vyre: FILE:LINE:COLUMN: error[id]: message
 *       fix: what to do
 *
 * The position is left out where there is none, as on the command line. Workloads have JSON paths
 * instead of lines: vyre: FILE: error[id]: $.batches.step[1]: message
 */
#ifndef VYRE_CLI_MESSAGE_H
#define VYRE_CLI_MESSAGE_H

#include <stdint.h>

#include <vyre/vyre.h>

#include "terminal/span.h"

/* A byte of a file. Lines and columns count from 1, columns in bytes. */
struct cli_position {
    const char *file; /* Borrowed */
    uint64_t line;
    uint64_t column;
};

/* Prints to standard error. `position` may be NULL. */
void cli_message_print(const struct vyre_diag *diag, const struct cli_position *position);

/* The same for a diagnostic that names its place in the file itself, as JSON paths do. */
void cli_message_print_file(const struct vyre_diag *diag, const char *file);

#define CLI_QUOTE_BYTES 64

/* Foreign text, made fit for a message: bytes that do not print are escaped, long text is cut. */
struct cli_quote {
    char text[CLI_QUOTE_BYTES];
};

struct cli_quote cli_quote(struct cli_span span);

#endif
