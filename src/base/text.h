/*
 * text.h: building a text of bounded size from pieces, with snprintf's contract.
 *
 * Invariants: `length` is the length of the whole text so far, including what did not fit. If
 * `capacity` is not 0, the bytes in `out` are terminated.
 */
#ifndef VYRE_BASE_TEXT_H
#define VYRE_BASE_TEXT_H

#include <stddef.h>

#include <vyre/export.h>
#include <vyre/u128.h>

struct vyre_text {
    char *out; /* Borrowed */
    size_t capacity;
    size_t length;
};

/* Starts an empty text in the caller's memory. */
struct vyre_text vyre_text_begin(char *out, size_t capacity);

void vyre_text_append(struct vyre_text *text, const char *piece);
void vyre_text_append_u64(struct vyre_text *text, uint64_t value);
void vyre_text_append_u128(struct vyre_text *text, struct vyre_u128 value);
void vyre_text_appendf(struct vyre_text *text, const char *format, ...) VYRE_PRINTF(2, 3);

#endif
