/*
 * text.h: a growing text.
 */
#ifndef VYRE_TESTS_KERNELS_TEXT_H
#define VYRE_TESTS_KERNELS_TEXT_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct text {
    char *bytes; /* Owned: free it. Terminated once something was added */
    size_t size_bytes;
    size_t capacity;
};

__attribute__((format(printf, 2, 3))) static inline void text_add(struct text *text,
                                                                  const char *format, ...)
{
    va_list arguments;
    for (;;) {
        size_t room = text->capacity - text->size_bytes;
        va_start(arguments, format);
        int length =
            vsnprintf(room ? text->bytes + text->size_bytes : NULL, room, format, arguments);
        va_end(arguments);
        if (length < 0)
            abort();
        if ((size_t)length < room) {
            text->size_bytes += (size_t)length;
            return;
        }
        text->capacity = (text->capacity + (size_t)length + 1) * 2;
        text->bytes = realloc(text->bytes, text->capacity);
        if (!text->bytes)
            abort();
    }
}

#endif
