/*
 * base64.h: bytes as text (RFC 4648, with padding, without line breaks).
 */
#ifndef VYRE_CLI_STORE_BASE64_H
#define VYRE_CLI_STORE_BASE64_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the text, terminator included. */
static inline size_t cli_base64_text_bytes(size_t size_bytes)
{
    return (size_bytes + 2) / 3 * 4 + 1;
}

void cli_base64_encode(const unsigned char *bytes, size_t size_bytes, char *out);

/* `out` has room for length / 4 * 3 bytes. False: the text is not one that encode writes. */
bool cli_base64_decode(const char *text, size_t length, unsigned char *out, size_t *out_size);

#endif
