/*
 * span.h: a piece of text that is borrowed and not terminated.
 */
#ifndef VYRE_CLI_TERMINAL_SPAN_H
#define VYRE_CLI_TERMINAL_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct cli_span {
    const char *bytes; /* Borrowed */
    size_t size;
};

static inline struct cli_span cli_span_of(const char *text)
{
    struct cli_span span = {text, strlen(text)};
    return span;
}

static inline bool cli_span_equals(struct cli_span span, const char *text)
{
    return strlen(text) == span.size && memcmp(span.bytes, text, span.size) == 0;
}

#endif
