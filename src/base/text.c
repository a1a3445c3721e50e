/*
 * text.c: building a text of bounded size from pieces.
 */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct vyre_text vyre_text_begin(char *out, size_t capacity)
{
    struct vyre_text text = {.out = out, .capacity = capacity, .length = 0};
    if (capacity > 0)
        out[0] = '\0';
    return text;
}

static void append_bytes(struct vyre_text *text, const char *bytes, size_t size)
{
    if (text->length < text->capacity) {
        size_t room = text->capacity - text->length - 1;
        size_t taken = size < room ? size : room;
        memcpy(text->out + text->length, bytes, taken);
        text->out[text->length + taken] = '\0';
    }
    text->length += size;
}

void vyre_text_append(struct vyre_text *text, const char *piece)
{
    append_bytes(text, piece, strlen(piece));
}

void vyre_text_append_u64(struct vyre_text *text, uint64_t value)
{
    vyre_text_append_u128(text, vyre_u128_from_u64(value));
}

void vyre_text_append_u128(struct vyre_text *text, struct vyre_u128 value)
{
    char digits[VYRE_U128_TEXT_BYTES];
    size_t length = vyre_u128_format(value, digits, sizeof digits);
    append_bytes(text, digits, length);
}

void vyre_text_appendf(struct vyre_text *text, const char *format, ...)
{
    bool open = text->length < text->capacity;
    char *out = open ? text->out + text->length : NULL;
    size_t room = open ? text->capacity - text->length : 0;
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(out, room, format, arguments);
    va_end(arguments);
    if (written > 0)
        text->length += (size_t)written;
}
