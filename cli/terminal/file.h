/*
 * file.h: reading whole files.
 */
#ifndef VYRE_CLI_TERMINAL_FILE_H
#define VYRE_CLI_TERMINAL_FILE_H

#include <stddef.h>
#include <sys/types.h>

/* Reads to the end of the file, or until `bytes` is full. On failure -1, with errno set. */
ssize_t cli_read_all(int descriptor, char *bytes, size_t capacity);

#endif
