/*
 * decision_names.c: stable words for the enums of decision records.
 */
#include <vyre/decision.h>
#include <vyre/explain.h>

#include <stddef.h>

#define NAME_OF(table, value) \
    ((size_t)(value) < sizeof(table) / sizeof(table)[0] ? (table)[value] : "unknown")

const char *vyre_decision_why_name(enum vyre_decision_why why)
{
    static const char *const names[VYRE_WHY_COUNT] = {"none",  "required",       "only-feasible",
                                                      "hint",  "predicted-best", "measured-best",
                                                      "trial", "explore",        "drift-recheck"};
    return NAME_OF(names, why);
}

const char *vyre_candidate_reason_name(enum vyre_candidate_reason reason)
{
    static const char *const names[VYRE_CANDIDATE_REASON_COUNT] = {
        "chosen",           "ability-absent",  "not-applicable", "unfit",    "recording-failed",
        "dearer-predicted", "dearer-measured", "fixed-too-dear", "in-trial", "margin",
        "not-required",     "unproven",        "unbuilt"};
    return NAME_OF(names, reason);
}

const char *vyre_origin_name(enum vyre_origin origin)
{
    static const char *const names[] = {"none", "stated", "calibrated", "observed", "hint"};
    return NAME_OF(names, origin);
}
