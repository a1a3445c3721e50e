/*
 * repeats.c: how many repeats would change what auto begins with.
 *
 * The device is asked with other hints: the hint is doubled or halved until the choice changes, then
 * bisection finds where. A choice that changes and changes back in between is not found.
 */
#include "explain/repeats.h"

#include <stdio.h>

#include "terminal/units.h"

/* Larger hints are not tried. */
#define REPEATS_MAX (UINT32_C(1) << 20)

struct asking {
    struct vyre_batch *batch; /* Borrowed */
    struct vyre_diag *diag;   /* Borrowed */
    enum vyre_status status;
    unsigned way; /* the choice with the original hint */
};

static unsigned way_with(struct asking *asking, uint32_t hint)
{
    struct vyre_explanation explanation;
    if (asking->status == VYRE_OK)
        asking->status = vyre_batch_explain(asking->batch, hint, &explanation, asking->diag);
    if (asking->status != VYRE_OK)
        return asking->way;
    return explanation.next.mode * 256u + explanation.next.variant;
}

/* The hint nearest to `same` that gives another choice. `same` gives the original one, `other` another. */
static uint32_t bisect(struct asking *asking, uint32_t same, uint32_t other)
{
    while (same + 1 < other || other + 1 < same) {
        uint32_t middle = same / 2 + other / 2 + (same & other & 1);
        if (way_with(asking, middle) == asking->way)
            same = middle;
        else
            other = middle;
    }
    return other;
}

/* The nearest smaller hint with another choice; 0: none. */
static uint32_t find_below(struct asking *asking, uint32_t hint)
{
    uint32_t same = hint;
    for (uint32_t at = hint / 2; at >= 1; at /= 2) {
        if (way_with(asking, at) != asking->way)
            return bisect(asking, same, at);
        same = at;
    }
    return 0;
}

static uint32_t find_above(struct asking *asking, uint32_t hint)
{
    uint32_t same = hint;
    for (uint32_t at = hint ? hint : 1; at < REPEATS_MAX;) {
        at = hint == 0 && same == 0 ? at : at * 2;
        if (way_with(asking, at) != asking->way)
            return same == 0 ? at : bisect(asking, same, at);
        same = at;
    }
    return 0;
}

static void name(struct asking *asking, uint32_t hint, char out[EXPLAIN_TEXT_BYTES])
{
    unsigned way = way_with(asking, hint);
    explain_way((uint8_t)(way / 256), (uint8_t)(way % 256), out);
}

enum vyre_status explain_repeats(struct vyre_batch *batch, uint32_t hint,
                                 char out[EXPLAIN_TEXT_BYTES], struct vyre_diag *diag)
{
    struct asking asking = {.batch = batch, .diag = diag};
    asking.way = way_with(&asking, hint);
    uint32_t below = find_below(&asking, hint);
    uint32_t above = find_above(&asking, hint);
    char low[EXPLAIN_TEXT_BYTES], high[EXPLAIN_TEXT_BYTES];
    name(&asking, below ? below : hint, low);
    name(&asking, above ? above : hint, high);
    if (below && above)
        snprintf(
            out, EXPLAIN_TEXT_BYTES,
            "Announced %s times or fewer, it would begin with %.64s; announced %s times or more, "
            "with %.64s.",
            cli_unit_count(below).text, low, cli_unit_count(above).text, high);
    else if (below)
        snprintf(out, EXPLAIN_TEXT_BYTES,
                 "Announced %s time%s%s, it would begin with %.64s; more repeats change nothing.",
                 cli_unit_count(below).text, below == 1 ? "" : "s", below == 1 ? "" : " or fewer",
                 low);
    else if (above)
        snprintf(out, EXPLAIN_TEXT_BYTES,
                 "Announced %s time%s or more, it would begin with %.64s%s.",
                 cli_unit_count(above).text, above == 1 ? "" : "s", high,
                 hint ? "; fewer change nothing" : "");
    else
        snprintf(out, EXPLAIN_TEXT_BYTES, "Announcing %srepeats changes nothing.",
                 hint ? "more or fewer " : "");
    return asking.status;
}
