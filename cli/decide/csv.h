/*
 * csv.h: reads a table line by line in constant memory.
 *
 * Words
 *   line    bytes up to a line feed or the end; a carriage return before it is not part of the line
 *   field   bytes between commas; one that begins with a double quote ends at the closing quote, and
 *           two quotes inside it stand for one
 *   column  position of a byte in its line, from 1; a byte order mark does not count
 *
 * A quoted field ends on its own line. A line break in it is refused, so that a forgotten quote spoils
 * one line and not the rest of the file. A line feed at the very end begins no further line.
 *
 *     buffer   | consumed | current line | bytes read ahead | free |
 *              0                    start                end      CLI_CSV_BUFFER_BYTES
 *
 * The bytes come from a callback, so that the reader works without files.
 *
 * Thread-safety: a reader belongs to one thread at a time.
 */
#ifndef VYRE_CLI_DECIDE_CSV_H
#define VYRE_CLI_DECIDE_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <vyre/vyre.h>

#include "terminal/span.h"

/* The longest line, without its line end. */
#define CLI_CSV_LINE_BYTES 65536

/* The longest line with carriage return and line feed. */
#define CLI_CSV_BUFFER_BYTES (CLI_CSV_LINE_BYTES + 2)

/* Works like read(2): returns how many bytes are in `out`, 0 at the end, or -1 with errno set. */
typedef ssize_t cli_csv_read(void *user, char *out, size_t capacity);

/* Change a reader only through the functions below; `line` and `column` may be read. */
struct cli_csv {
    cli_csv_read *read; /* Borrowed */
    void *user;         /* Borrowed: passed back to `read` */
    uint64_t line;      /* of the current line, from 1 */
    size_t column;      /* after a failure: of the error */
    size_t start;
    size_t end;
    bool at_end; /* `read` has returned 0 */

    char *text;      /* the current line, inside `buffer` */
    size_t length;   /* of the current line */
    size_t position; /* where the next field begins; length + 1: no more fields */
    char buffer[CLI_CSV_BUFFER_BYTES];
};

struct cli_field {
    struct cli_span text; /* without quotes; Borrowed from the reader until the next line */
    size_t column;        /* of the field's first byte, its opening quote if there is one */
    bool quoted;
};

void cli_csv_init(struct cli_csv *csv, cli_csv_read *read, void *user);

/*
 * Goes to the next line; *out_found is false at the end. Fails with CSV_OPEN, CSV_LINE_LONG or CSV_NUL;
 * no line follows a failure.
 */
VYRE_NODISCARD enum vyre_status cli_csv_next_line(struct cli_csv *csv, bool *out_found,
                                                  struct vyre_diag *diag);

/*
 * Takes the next field of the current line; *out_found is false when there is none left. An empty
 * line has one empty field. Fails with CSV_QUOTE.
 */
VYRE_NODISCARD enum vyre_status cli_csv_next_field(struct cli_csv *csv, bool *out_found,
                                                   struct cli_field *out_field,
                                                   struct vyre_diag *diag);

#endif
