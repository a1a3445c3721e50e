/*
 * changes.c: `vyre run --audit`: one line for each change of a batch's decision.
 */
#include "run/changes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/message.h"
#include "terminal/units.h"

#define LINE_BYTES 768
/* A mode with a variant, as one number. */
#define WAYS        (VYRE_MODE_COUNT * (VYRE_VARIANT_MASK + 1))
#define TEXT_BYTES  128
#define LABEL_BYTES 64

/* What the last comparison said of a way. */
struct way {
    uint64_t ns; /* 0: unknown */
    bool is_measured;
};

/* One shape. Batches of the same shape are decided together. */
struct changes_entry {
    bool is_used;
    bool is_shared;          /* batches with other labels have it, too */
    char label[LABEL_BYTES]; /* of the first batch, safe for a terminal */
    uint64_t shape_lo;
    uint64_t shape_hi;
    uint64_t seen;
    bool is_decided;
    unsigned current; /* way */
    struct way ways[WAYS];
};

enum vyre_status changes_init(struct changes *changes, size_t batches, struct vyre_diag *diag)
{
    size_t capacity = 16;
    while (capacity < batches * 2)
        capacity *= 2;
    changes->entries = calloc(capacity, sizeof *changes->entries);
    changes->mask = capacity - 1;
    if (!changes->entries)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0, "no memory for the audit");
    return VYRE_OK;
}

void changes_deinit(struct changes *changes)
{
    free(changes->entries);
    changes->entries = NULL;
}

static unsigned way_of(unsigned mode, unsigned variant)
{
    return mode % VYRE_MODE_COUNT * (VYRE_VARIANT_MASK + 1) + (variant & VYRE_VARIANT_MASK);
}

static struct changes_entry *find(struct changes *changes,
                                  const struct vyre_event_batch_completed *batch)
{
    const struct vyre_decision_record *decision = batch->decision;
    for (size_t at = (size_t)decision->shape_lo;; at++) {
        struct changes_entry *entry = &changes->entries[at & changes->mask];
        bool is_same =
            entry->shape_lo == decision->shape_lo && entry->shape_hi == decision->shape_hi;
        if (entry->is_used && is_same)
            return entry;
        if (entry->is_used)
            continue;
        /* One entry stays free, so that every search ends. */
        if (changes->used == changes->mask)
            return NULL;
        changes->used++;
        *entry = (struct changes_entry){
            .is_used = true,
            .shape_lo = decision->shape_lo,
            .shape_hi = decision->shape_hi,
        };
        return entry;
    }
}

static void keep_costs(struct changes_entry *entry, const struct vyre_decision_record *decision)
{
    for (uint32_t i = 0; i < decision->candidate_count; i++) {
        const struct vyre_decision_candidate *candidate = &decision->candidates[i];
        struct way *way = &entry->ways[way_of(candidate->mode, candidate->variant)];
        /* The number that was compared: it includes a share of the fixed cost. */
        way->is_measured = candidate->state == VYRE_CANDIDATE_MEASURED;
        way->ns = candidate->predicted_ns;
    }
}

/* ---- Words ------------------------------------------------------------------------------------ */

static void name_way(unsigned way, char out[TEXT_BYTES])
{
    unsigned variant = way % (VYRE_VARIANT_MASK + 1);
    snprintf(out, TEXT_BYTES, "%s%s%s",
             vyre_mode_name((enum vyre_mode)(way / (VYRE_VARIANT_MASK + 1))),
             variant & VYRE_VARIANT_SERIAL ? ", serial" : "",
             variant & VYRE_VARIANT_DRIVER ? ", driver" : "");
}

static const char *verb(const struct way *way)
{
    return way->is_measured ? "measured" : "predicted";
}

/* The new way's cost and the old one's, as far as they are known. */
static void say_costs(const struct way *before, const struct way *after, char out[TEXT_BYTES])
{
    if (after->ns == 0)
        snprintf(out, TEXT_BYTES, "no costs are known");
    else if (!before || before->ns == 0)
        snprintf(out, TEXT_BYTES, "%s at %s", verb(after), cli_unit_ns(after->ns).text);
    else if (before->is_measured == after->is_measured)
        snprintf(out, TEXT_BYTES, "%s at %s against %s", verb(after), cli_unit_ns(after->ns).text,
                 cli_unit_ns(before->ns).text);
    else
        snprintf(out, TEXT_BYTES, "%s at %s against %s %s", verb(after),
                 cli_unit_ns(after->ns).text, cli_unit_ns(before->ns).text, verb(before));
}

static void say_reason(const struct vyre_decision_record *decision, char out[TEXT_BYTES])
{
    out[0] = '\0';
    if (decision->why == VYRE_WHY_REQUIRED)
        snprintf(out, TEXT_BYTES, ", required");
    else if (decision->why == VYRE_WHY_ONLY_FEASIBLE)
        snprintf(out, TEXT_BYTES, ", nothing else can run it here");
    else if (decision->why == VYRE_WHY_VERDICT && decision->repeat_hint)
        snprintf(out, TEXT_BYTES, ", as the policies ask with %s repeat%s announced",
                 cli_unit_count(decision->repeat_hint).text, decision->repeat_hint == 1 ? "" : "s");
    else if (decision->why == VYRE_WHY_VERDICT)
        snprintf(out, TEXT_BYTES, ", as the policies ask with %s repeat%s seen",
                 cli_unit_count(decision->repeats_seen).text,
                 decision->repeats_seen == 1 ? "" : "s");
    else if (decision->why == VYRE_WHY_PREDICTED_BEST)
        snprintf(out, TEXT_BYTES, ", based on measurements of other work");
}

static void print(const struct changes *changes, const struct changes_entry *entry,
                  const struct vyre_event_batch_completed *batch, unsigned way)
{
    char from[TEXT_BYTES], to[TEXT_BYTES], costs[TEXT_BYTES], reason[TEXT_BYTES];
    char line[LINE_BYTES];
    const char *others = entry->is_shared ? " and others like it" : "";
    const struct way *before = entry->is_decided ? &entry->ways[entry->current] : NULL;
    name_way(entry->current, from);
    name_way(way, to);
    say_costs(before, &entry->ways[way], costs);
    say_reason(batch->decision, reason);
    if (entry->is_decided)
        snprintf(line, sizeof line, "batch %s%s, run %" PRIu64 ": %s instead of %s, %s%s\n",
                 entry->label, others, entry->seen, to, from, costs, reason);
    else
        snprintf(line, sizeof line, "batch %s%s, run %" PRIu64 ": %s, %s%s\n", entry->label, others,
                 entry->seen, to, costs, reason);
    cli_progress_clear(changes->progress);
    if (changes->out) {
        cli_output_text(changes->out, line);
        cli_output_flush(changes->out);
    } else {
        fputs(line, stderr);
    }
}

static bool is_try(unsigned why)
{
    return why == VYRE_WHY_TRIAL || why == VYRE_WHY_EXPLORE || why == VYRE_WHY_DRIFT_RECHECK;
}

void changes_take(struct changes *changes, const struct vyre_event_batch_completed *batch)
{
    const struct vyre_decision_record *decision = batch->decision;
    struct changes_entry *entry = decision ? find(changes, batch) : NULL;
    if (!entry) {
        changes->left_out++;
        return;
    }
    const struct cli_quote label =
        cli_quote(cli_span_of(batch->label ? batch->label : "(no label)"));
    if (entry->seen++ == 0)
        snprintf(entry->label, sizeof entry->label, "%s", label.text);
    entry->is_shared |= strcmp(entry->label, label.text) != 0;
    keep_costs(entry, decision);
    unsigned way = way_of(decision->mode, decision->variant);
    if (is_try(decision->why) || (entry->is_decided && entry->current == way))
        return;
    print(changes, entry, batch, way);
    entry->current = way;
    entry->is_decided = true;
}
