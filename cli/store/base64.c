/*
 * base64.c: bytes as text.
 */
#include "store/base64.h"

#include <stdint.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void cli_base64_encode(const unsigned char *bytes, size_t size_bytes, char *out)
{
    for (size_t i = 0; i < size_bytes; i += 3) {
        size_t left = size_bytes - i;
        uint32_t group = (uint32_t)bytes[i] << 16;
        if (left > 1)
            group |= (uint32_t)bytes[i + 1] << 8;
        if (left > 2)
            group |= bytes[i + 2];
        *out++ = digits[group >> 18];
        *out++ = digits[group >> 12 & 63];
        *out++ = (char)(left > 1 ? digits[group >> 6 & 63] : '=');
        *out++ = (char)(left > 2 ? digits[group & 63] : '=');
    }
    *out = '\0';
}

static bool value_of(char digit, uint32_t *out_value)
{
    const char *found = digit != '\0' ? strchr(digits, digit) : NULL;
    *out_value = found ? (uint32_t)(found - digits) : 0;
    return found != NULL;
}

/* Four digits, the last `padding` of them '='. Unused bits must be zero. */
static bool decode_group(const char *text, unsigned padding, unsigned char *out)
{
    uint32_t group = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint32_t value = 0;
        bool is_padding = i >= 4 - padding;
        if (is_padding ? text[i] != '=' : !value_of(text[i], &value))
            return false;
        group = group << 6 | value;
    }
    if (group & ((1u << (8 * padding)) - 1))
        return false;
    for (unsigned i = 0; i < 3 - padding; i++)
        out[i] = (unsigned char)(group >> (16 - 8 * i));
    return true;
}

bool cli_base64_decode(const char *text, size_t length, unsigned char *out, size_t *out_size)
{
    *out_size = 0;
    if (length % 4 != 0)
        return false;
    for (size_t i = 0; i < length; i += 4) {
        bool last = i + 4 == length;
        unsigned padding = 0;
        if (last && text[i + 3] == '=')
            padding = text[i + 2] == '=' ? 2 : 1;
        if (!decode_group(text + i, padding, out + *out_size))
            return false;
        *out_size += 3 - padding;
    }
    return true;
}
