/*
 * refusal_text.c: a refusal as the bytes of a store's entry.
 */
#include "runtime/refusal_text.h"

#include <assert.h>
#include <string.h>

#include <vyre/knowledge.h>

static const char head[] = "vyre-refusal 1\n";
static_assert(sizeof head <= 16, "VYRE_REFUSAL_TEXT_BYTES has room for it");

static bool is_control(char letter)
{
    return (unsigned char)letter < 0x20 || letter == 0x7f;
}

/* Copies a text on one line; returns where the next one begins. */
static char *put_line(char *out, const char *text, size_t capacity)
{
    for (size_t i = 0; i + 1 < capacity && text[i]; i++)
        *out++ = is_control(text[i]) ? '?' : text[i];
    *out++ = '\n';
    return out;
}

size_t vyre_refusal_write(const struct vyre_refusal *refusal, char out[VYRE_REFUSAL_TEXT_BYTES])
{
    memcpy(out, head, sizeof head - 1);
    char *end = put_line(out + sizeof head - 1, refusal->kernel, sizeof refusal->kernel);
    end = put_line(end, refusal->reason, sizeof refusal->reason);
    return (size_t)(end - out);
}

/* Copies a line without its line feed and moves on. False if there is none that fits. */
static bool take_line(const char **at, const char *end, char *out, size_t capacity)
{
    size_t length = 0;
    while (*at + length < end && !is_control((*at)[length]))
        length++;
    if (*at + length == end || (*at)[length] != '\n' || length >= capacity)
        return false;
    memcpy(out, *at, length);
    *at += length + 1;
    return true;
}

bool vyre_refusal_read(const struct vyre_store_entry *entry, struct vyre_refusal *out_refusal)
{
    static const struct vyre_hash128 none = {0};
    const size_t head_bytes = sizeof head - 1;
    *out_refusal = (struct vyre_refusal){.code = entry->key};
    if (entry->kind != VYRE_STORE_TUNING || vyre_hash128_equal(entry->key, none) ||
        entry->size_bytes <= head_bytes || entry->size_bytes > VYRE_REFUSAL_TEXT_BYTES ||
        memcmp(entry->bytes, head, head_bytes) != 0)
        return false;
    const char *at = (const char *)entry->bytes + head_bytes;
    const char *end = (const char *)entry->bytes + entry->size_bytes;
    return take_line(&at, end, out_refusal->kernel, sizeof out_refusal->kernel) &&
           take_line(&at, end, out_refusal->reason, sizeof out_refusal->reason) && at == end;
}
