/*
 * suggest.c: edit distance between short names.
 */
#include "terminal/suggest.h"

#include <stdint.h>

/* Longer names are never near enough. */
#define NAME_MAX_BYTES 63

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t smaller = a < b ? a : b;
    return smaller < c ? smaller : c;
}

/* Levenshtein distance, one row of the matrix at a time. */
static size_t edit_distance(struct cli_span a, struct cli_span b)
{
    size_t row[NAME_MAX_BYTES + 1];
    for (size_t j = 0; j <= b.size; j++)
        row[j] = j;
    for (size_t i = 0; i < a.size; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < b.size; j++) {
            size_t replaced = diagonal + (a.bytes[i] != b.bytes[j]);
            diagonal = row[j + 1];
            row[j + 1] = min3(replaced, row[j] + 1, row[j + 1] + 1);
        }
    }
    return row[b.size];
}

void cli_suggestion_offer(struct cli_suggestion *suggestion, const char *name)
{
    struct cli_span offered = cli_span_of(name);
    if (suggestion->wanted.size > NAME_MAX_BYTES || offered.size > NAME_MAX_BYTES)
        return;
    size_t distance = edit_distance(suggestion->wanted, offered);
    if (distance > (offered.size + 2) / 3)
        return;
    if (!suggestion->nearest || distance < suggestion->distance) {
        suggestion->nearest = name;
        suggestion->distance = distance;
    }
}
