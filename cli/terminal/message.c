/*
 * message.c: diagnostics as the tool prints them.
 */
#include "terminal/message.h"

#include <inttypes.h>
#include <stdio.h>

#include "terminal/diag.h"

/* The longest text of vyre_diag_format_named: all parts of a diagnostic, and what joins them. */
#define MESSAGE_BYTES (sizeof(struct vyre_diag) + 128)

void cli_message_print(const struct vyre_diag *diag, const struct cli_position *position)
{
    char message[MESSAGE_BYTES];
    vyre_diag_format_named(diag, cli_diag_name(diag), message, sizeof message);
    if (position)
        fprintf(stderr, "vyre: %s:%" PRIu64 ":%" PRIu64 ": %s\n", position->file, position->line,
                position->column, message);
    else
        fprintf(stderr, "vyre: %s\n", message);
}

void cli_message_print_file(const struct vyre_diag *diag, const char *file)
{
    char message[MESSAGE_BYTES];
    vyre_diag_format_named(diag, cli_diag_name(diag), message, sizeof message);
    /* Only a diagnostic about the file names it; one about a missing device, for example, does not. */
    if (diag->message[0] == '$' || diag->status == VYRE_IO)
        fprintf(stderr, "vyre: %s: %s\n", file, message);
    else
        fprintf(stderr, "vyre: %s\n", message);
}

struct cli_quote cli_quote(struct cli_span span)
{
    static const char hex[] = "0123456789abcdef";
    struct cli_quote quote;
    size_t used = 0;
    /* Every step leaves room for one escaped byte, the dots of a cut text and the terminator. */
    size_t limit = sizeof quote.text - sizeof "\\x00" - sizeof "...";
    size_t i = 0;
    for (; i < span.size && used <= limit; i++) {
        unsigned char code = (unsigned char)span.bytes[i];
        if (code >= 0x20 && code < 0x7f) {
            quote.text[used++] = span.bytes[i];
        } else {
            quote.text[used++] = '\\';
            quote.text[used++] = 'x';
            quote.text[used++] = hex[code >> 4];
            quote.text[used++] = hex[code & 15];
        }
    }
    for (size_t dot = 0; i < span.size && dot < 3; dot++)
        quote.text[used++] = '.';
    quote.text[used] = '\0';
    return quote;
}
