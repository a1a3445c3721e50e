/*
 * tally.c: counting and printing.
 */
#include "kernels/tally.h"

#include <inttypes.h>
#include <string.h>

const char *verdict_name(enum verdict verdict)
{
    static const char *const names[] = {"none",      "started", "agreed",  "refused", "absent",
                                        "differs",   "broken",  "crashed", "hung",    "invalid",
                                        "no device", "ready",   "done"};
    return names[verdict];
}

bool outcome_is_driver_fault(const struct outcome *outcome)
{
    return outcome_is_failure(outcome) && outcome->mode == VYRE_MODE_PLAIN;
}

static void add_reason(struct tally *tally, const struct outcome *outcome)
{
    struct tally_reason *reason = tally->reasons;
    struct tally_reason *end = reason + tally->reason_count;
    while (reason < end && (reason->mode != outcome->mode ||
                            strncmp(reason->text, outcome->text, sizeof reason->text - 1) != 0))
        reason++;
    if (reason == end) {
        if (tally->reason_count == TALLY_REASONS_MAX)
            return;
        tally->reason_count++;
        reason->mode = outcome->mode;
        reason->seed = outcome->seed;
        snprintf(reason->text, sizeof reason->text, "%.199s", outcome->text);
    }
    reason->count++;
}

void tally_add(struct tally *tally, const struct outcome *outcome)
{
    if (outcome->verdict == VERDICT_STARTED || outcome->verdict >= VERDICT_NO_DEVICE)
        return;
    tally->by_mode[outcome->mode][outcome->verdict]++;
    tally->batches[outcome->mode] += outcome->batches;
    tally->invalid += outcome->verdict == VERDICT_INVALID;
    if (outcome->verdict == VERDICT_REFUSED || outcome->verdict == VERDICT_ABSENT)
        add_reason(tally, outcome);
    if (outcome_is_driver_fault(outcome))
        tally->driver_faults++;
    else if (outcome_is_failure(outcome))
        tally->failures++;
    if (outcome->mode == VYRE_MODE_AUTO)
        for (uint32_t i = 0; i < VYRE_MODE_COUNT; i++)
            tally->auto_became[i] += outcome->by_mode[i];
    if (outcome->mode != VYRE_MODE_PLAIN || outcome->verdict != VERDICT_AGREED)
        return;
    tally->programs++;
    for (uint32_t i = 0; i < FEATURE_COUNT; i++)
        tally->features[i] += outcome->features[i] != 0;
}

bool tally_is_hollow(const struct tally *tally, bool complete)
{
    const uint64_t *persistent = tally->by_mode[VYRE_MODE_PERSISTENT];
    uint64_t whole = persistent[VERDICT_AGREED] + persistent[VERDICT_DIFFERS] +
                     persistent[VERDICT_CRASHED] + persistent[VERDICT_HUNG] +
                     persistent[VERDICT_BROKEN];
    /* Absent throughout: the device does not have it. Absent now and then: it should have run. */
    uint64_t tried = whole + persistent[VERDICT_REFUSED];
    if (tried > 0 || complete)
        tried += persistent[VERDICT_ABSENT];
    return tried > 0 && whole * 2 < tried;
}

void tally_print(const struct tally *tally, FILE *file)
{
    fprintf(file,
            "%" PRIu64 " programs right in plain mode; %" PRIu64 " failures of a mode, %" PRIu64
            " of the driver, %" PRIu64 " invalid\n",
            tally->programs, tally->failures, tally->driver_faults, tally->invalid);
    for (uint32_t mode = 0; mode < VYRE_MODE_COUNT; mode++) {
        fprintf(file, "  %-10s", vyre_mode_name((enum vyre_mode)mode));
        for (uint32_t i = VERDICT_AGREED; i < VERDICT_NO_DEVICE; i++)
            if (tally->by_mode[mode][i] != 0)
                fprintf(file, " %s %" PRIu64, verdict_name((enum verdict)i),
                        tally->by_mode[mode][i]);
        fprintf(file, "; %" PRIu64 " submits\n", tally->batches[mode]);
    }
    fprintf(file, "  auto became:");
    for (uint32_t i = 1; i < VYRE_MODE_COUNT; i++)
        fprintf(file, " %s %" PRIu64, vyre_mode_name((enum vyre_mode)i), tally->auto_became[i]);
    fprintf(file, "\n  programs with:");
    for (uint32_t i = 0; i < FEATURE_COUNT; i++)
        fprintf(file, " %s %" PRIu64, feature_name((enum feature)i), tally->features[i]);
    fprintf(file, "\n");
    for (uint32_t i = 0; i < tally->reason_count; i++)
        fprintf(file, "  %s refused %" PRIu64 " times, first program 0x%" PRIx64 ": %s\n",
                vyre_mode_name(tally->reasons[i].mode), tally->reasons[i].count,
                tally->reasons[i].seed, tally->reasons[i].text);
}
