/*
 * output.c: buffered output with an error that sticks.
 */
#include "terminal/output.h"

#include <errno.h>
#include <string.h>

void cli_output_init(struct cli_output *out, cli_output_write *write, void *user)
{
    out->write = write;
    out->user = user;
    out->used = 0;
    out->error = 0;
}

static void write_all(struct cli_output *out, const char *bytes, size_t size_bytes)
{
    while (size_bytes > 0 && out->error == 0) {
        ssize_t written = out->write(out->user, bytes, size_bytes);
        if (written > 0) {
            bytes += written;
            size_bytes -= (size_t)written;
        } else if (written == 0) {
            /* No byte was written and no error given: trying again might never end. */
            out->error = EIO;
        } else if (errno != EINTR) {
            out->error = errno;
        }
    }
}

void cli_output_flush(struct cli_output *out)
{
    write_all(out, out->buffer, out->used);
    out->used = 0;
}

void cli_output_bytes(struct cli_output *out, const char *bytes, size_t size_bytes)
{
    if (size_bytes > sizeof out->buffer - out->used)
        cli_output_flush(out);
    if (size_bytes > sizeof out->buffer) {
        write_all(out, bytes, size_bytes);
        return;
    }
    memcpy(out->buffer + out->used, bytes, size_bytes);
    out->used += size_bytes;
}

void cli_output_text(struct cli_output *out, const char *text)
{
    cli_output_bytes(out, text, strlen(text));
}

void cli_output_number(struct cli_output *out, struct vyre_u128 value)
{
    char digits[VYRE_U128_TEXT_BYTES];
    size_t length = vyre_u128_format(value, digits, sizeof digits);
    cli_output_bytes(out, digits, length);
}

/* The size of the UTF-8 character at `bytes`; 0 if they are not UTF-8. */
static size_t character_size(const unsigned char *bytes, size_t left)
{
    unsigned char first = bytes[0];
    if (first < 0x80)
        return 1;
    size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || left < size)
        return 0;
    for (size_t i = 1; i < size; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
    }
    /* An overlong form, half of a surrogate pair, or above U+10FFFF. */
    bool is_wrong = (first == 0xe0 && bytes[1] < 0xa0) || (first == 0xed && bytes[1] > 0x9f) ||
                    (first == 0xf0 && bytes[1] < 0x90) || (first == 0xf4 && bytes[1] > 0x8f);
    return is_wrong ? 0 : size;
}

static void json_ascii(struct cli_output *out, char byte)
{
    static const char hex[] = "0123456789abcdef";
    unsigned char code = (unsigned char)byte;
    if (byte == '"' || byte == '\\') {
        char escaped[2] = {'\\', byte};
        cli_output_bytes(out, escaped, sizeof escaped);
    } else if (code < 0x20) {
        char escaped[6] = {'\\', 'u', '0', '0', hex[code >> 4], hex[code & 15]};
        cli_output_bytes(out, escaped, sizeof escaped);
    } else {
        cli_output_bytes(out, &byte, 1);
    }
}

void cli_output_json_string(struct cli_output *out, struct cli_span text)
{
    cli_output_bytes(out, "\"", 1);
    for (size_t i = 0; i < text.size;) {
        const char *at = text.bytes + i;
        size_t size = character_size((const unsigned char *)at, text.size - i);
        if (size == 1)
            json_ascii(out, *at);
        else if (size > 1)
            cli_output_bytes(out, at, size);
        else
            cli_output_text(out, "\xef\xbf\xbd");
        i += size ? size : 1;
    }
    cli_output_bytes(out, "\"", 1);
}
