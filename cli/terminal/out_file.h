/*
 * out_file.h: an output that is a file, or standard output for "-".
 */
#ifndef VYRE_CLI_OUT_FILE_H
#define VYRE_CLI_OUT_FILE_H

#include <stdbool.h>

#include "command.h"

/*
 * Lets `write` fill `path`, which gets its content once all of it is written, if it is a plain file.
 * A path of "-" is `standard`. `input` is refused, since it would be lost. Prints what went wrong.
 */
enum cli_exit cli_out_file(const char *path, const char *input, struct cli_output *standard,
                           void (*write)(void *user, struct cli_output *out), void *user);

/* Whether both are there and the same file. */
bool cli_is_same_file(const char *path, const char *other);

#endif
