/*
 * suggest.h: the name that somebody probably meant.
 */
#ifndef VYRE_CLI_SUGGEST_H
#define VYRE_CLI_SUGGEST_H

#include "terminal/span.h"

/* A search over names that are offered one after the other; start with the wanted name alone. */
struct cli_suggestion {
    struct cli_span wanted;
    const char *nearest; /* Borrowed; NULL: none is near enough */
    size_t distance;
};

/* Offers a name. It wins if it takes fewer edits than any before, and at most a third of them. */
void cli_suggestion_offer(struct cli_suggestion *suggestion, const char *name);

#endif
