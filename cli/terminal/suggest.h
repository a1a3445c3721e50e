/*
 * suggest.h: finds the name that a user probably meant.
 */
#ifndef VYRE_CLI_TERMINAL_SUGGEST_H
#define VYRE_CLI_TERMINAL_SUGGEST_H

#include "terminal/span.h"

/* A search over names that are offered one by one. To start, set `wanted` and leave the rest 0. */
struct cli_suggestion {
    struct cli_span wanted;
    const char *nearest; /* Borrowed; NULL: none is near enough */
    size_t distance;
};

/*
 * Offers a name. It becomes the nearest if it takes fewer edits than every name before, and at most a
 * third of its own length, rounded up.
 */
void cli_suggestion_offer(struct cli_suggestion *suggestion, const char *name);

#endif
