/*
 * output.h: what a command prints, in a large buffer and with an error that sticks.
 *
 * After the first failed write all further bytes are dropped. Commands that run long check
 * cli_output_failed to stop early; main checks it at the end for all of them.
 */
#ifndef VYRE_CLI_TERMINAL_OUTPUT_H
#define VYRE_CLI_TERMINAL_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <vyre/vyre.h>

#include "terminal/span.h"

#define CLI_OUTPUT_BUFFER_BYTES 65536

/* Works like write(2): returns how many bytes were written, or -1 with errno set. */
typedef ssize_t cli_output_write(void *user, const char *bytes, size_t size_bytes);

struct cli_output {
    cli_output_write *write; /* Borrowed */
    void *user;              /* Borrowed: passed back to `write` */
    size_t used;
    int error; /* errno of the first failed write; 0: none */
    char buffer[CLI_OUTPUT_BUFFER_BYTES];
};

void cli_output_init(struct cli_output *out, cli_output_write *write, void *user);

/* Passes all buffered bytes to `write`. */
void cli_output_flush(struct cli_output *out);

static inline bool cli_output_failed(const struct cli_output *out)
{
    return out->error != 0;
}

void cli_output_bytes(struct cli_output *out, const char *bytes, size_t size_bytes);
void cli_output_text(struct cli_output *out, const char *text);
void cli_output_number(struct cli_output *out, struct vyre_u128 value);

/* The text as a JSON string, quotes included. A byte that is not UTF-8 becomes U+FFFD. */
void cli_output_json_string(struct cli_output *out, struct cli_span text);

#endif
