/*
 * out_file.h: an output that is a file, or standard output for "-".
 */
#ifndef VYRE_CLI_TERMINAL_OUT_FILE_H
#define VYRE_CLI_TERMINAL_OUT_FILE_H

#include <stdbool.h>

#include "command.h"

/*
 * Calls `write` to fill the file `path`, or `standard` if the path is "-". A regular file changes only
 * when all of its new content is written. If `path` is the same file as `input`, the call fails, since
 * it would overwrite the input. Prints a diagnostic on failure.
 */
enum cli_exit cli_out_file(const char *path, const char *input, struct cli_output *standard,
                           void (*write)(void *user, struct cli_output *out), void *user);

/* Whether both paths exist and are the same file. */
bool cli_is_same_file(const char *path, const char *other);

#endif
