/*
 * recorder_text.c: pieces of JSON, written fast.
 */
#include "observe/recorder_text.h"

#include <stdbool.h>
#include <string.h>

static const char hex_digits[] = "0123456789abcdef";

void vyre_record_text_append(struct vyre_record_text *text, const char *piece)
{
    size_t size = strlen(piece);
    memcpy(text->at, piece, size);
    text->at += size;
}

/*
 * The longest number has 19 digits. Copies have a fixed size, which is faster than the exact one.
 */
#define DIGITS 20

void vyre_record_text_long(struct vyre_record_text *text, uint64_t value)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    if (value > RECORD_NUMBER_MAX)
        value = RECORD_NUMBER_MAX;
    char digits[2 * DIGITS] = {0};
    char *at = digits + DIGITS;
    while (value >= 100) {
        at -= 2;
        memcpy(at, pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value >= 10) {
        at -= 2;
        memcpy(at, pairs + 2 * value, 2);
    } else {
        *--at = (char)('0' + value);
    }
    memcpy(text->at, at, DIGITS);
    text->at += digits + DIGITS - at;
}

void vyre_record_text_i64(struct vyre_record_text *text, int64_t value)
{
    if (value < 0)
        vyre_record_text_char(text, '-');
    vyre_record_text_u64(text, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static char *append_hex64(char *at, uint64_t value)
{
    for (int shift = 60; shift >= 0; shift -= 4)
        *at++ = hex_digits[(value >> shift) & 15];
    return at;
}

void vyre_record_text_hash(struct vyre_record_text *text, uint64_t hi, uint64_t lo)
{
    char *at = text->at;
    *at++ = '"';
    at = append_hex64(at, hi);
    at = append_hex64(at, lo);
    *at++ = '"';
    text->at = at;
}

static bool continues(const unsigned char *bytes, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return false;
    }
    return true;
}

/* The size of the UTF-8 character at `bytes`; 0 if it is invalid. */
static size_t character_size(const unsigned char *bytes, size_t left)
{
    unsigned char first = bytes[0];
    if (first < 0x80)
        return 1;
    size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || left < size || !continues(bytes, size))
        return 0;
    /* Longer than needed, a half of a surrogate pair, or above U+10FFFF. */
    bool is_wrong = (first == 0xe0 && bytes[1] < 0xa0) || (first == 0xed && bytes[1] > 0x9f) ||
                    (first == 0xf0 && bytes[1] < 0x90) || (first == 0xf4 && bytes[1] > 0x8f);
    return is_wrong ? 0 : size;
}

size_t vyre_record_string_size(const char *string)
{
    if (!string)
        return 0;
    size_t size = strnlen(string, RECORD_STRING_BYTES + 1);
    if (size <= RECORD_STRING_BYTES)
        return size;
    size = RECORD_STRING_BYTES;
    while (size > RECORD_STRING_BYTES - 4 && ((unsigned char)string[size] & 0xc0) == 0x80)
        size--;
    return size;
}

static void append_ascii(struct vyre_record_text *text, unsigned char code)
{
    if (code == '"' || code == '\\') {
        vyre_record_text_char(text, '\\');
        vyre_record_text_char(text, (char)code);
    } else if (code < 0x20) {
        vyre_record_text_append(text, "\\u00");
        vyre_record_text_char(text, hex_digits[code >> 4]);
        vyre_record_text_char(text, hex_digits[code & 15]);
    } else {
        vyre_record_text_char(text, (char)code);
    }
}

void vyre_record_text_string(struct vyre_record_text *text, const char *string)
{
    size_t left = vyre_record_string_size(string);
    const unsigned char *at = (const unsigned char *)string;
    vyre_record_text_char(text, '"');
    while (left > 0) {
        size_t size = character_size(at, left);
        if (size == 1) {
            append_ascii(text, at[0]);
        } else if (size > 1) {
            memcpy(text->at, at, size);
            text->at += size;
        } else {
            vyre_record_text_append(text, "\xef\xbf\xbd");
            size = 1;
        }
        at += size;
        left -= size;
    }
    vyre_record_text_char(text, '"');
}

void vyre_record_text_member(struct vyre_record_text *text, const char *key, uint64_t value)
{
    vyre_record_text_append(text, ",\"");
    vyre_record_text_append(text, key);
    vyre_record_text_append(text, "\":");
    vyre_record_text_u64(text, value);
}
