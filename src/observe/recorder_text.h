/*
 * recorder_text.h: pieces of JSON, written fast into memory that is known to be large enough.
 *
 * Nothing here checks for room: a line begins with RECORD_LINE_BYTES of it, and the lines of a
 * record are bounded by construction (see recorder_lines.h).
 */
#ifndef VYRE_OBSERVE_RECORDER_TEXT_H
#define VYRE_OBSERVE_RECORDER_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* The longest line of a record. */
#define RECORD_LINE_BYTES 32768

/* A label or a name is cut to this many bytes, between two characters. */
#define RECORD_STRING_BYTES 256

struct vyre_record_text {
    char *begin; /* Borrowed */
    char *at;
};

static inline void vyre_record_text_char(struct vyre_record_text *text, char byte)
{
    *text->at++ = byte;
}

void vyre_record_text_append(struct vyre_record_text *text, const char *piece);

/* Larger numbers are written as this one, so that readers can add two of them in signed 64 bits. */
#define RECORD_NUMBER_MAX ((UINT64_C(1) << 62) - 1)

void vyre_record_text_long(struct vyre_record_text *text, uint64_t value);

static inline void vyre_record_text_u64(struct vyre_record_text *text, uint64_t value)
{
    /* Most numbers of a record are a mode, a reason or a small count. */
    if (value < 10)
        *text->at++ = (char)('0' + value);
    else
        vyre_record_text_long(text, value);
}

void vyre_record_text_i64(struct vyre_record_text *text, int64_t value);

/* 32 hexadecimal digits in quotes. */
void vyre_record_text_hash(struct vyre_record_text *text, uint64_t hi, uint64_t lo);

/* A JSON string. Bytes that are not UTF-8 become U+FFFD. NULL is the empty string. */
void vyre_record_text_string(struct vyre_record_text *text, const char *string);

/* How many bytes of a string are written: all, or fewer if it is too long. */
size_t vyre_record_string_size(const char *string);

/* ,"key":value */
void vyre_record_text_member(struct vyre_record_text *text, const char *key, uint64_t value);

#endif
