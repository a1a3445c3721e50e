/*
 * decision_names.c: stable words for the enums of decision records.
 */
#include <vyre/decision.h>
#include <vyre/explain.h>

#include <stddef.h>

#define NAME_OF(table, value) \
    ((size_t)(value) < sizeof(table) / sizeof(table)[0] ? (table)[value] : "unknown")

const char *vyre_why_name(enum vyre_why why)
{
    static const char *const names[VYRE_WHY_COUNT] = {
        "none",           "required",         "only-feasible",
        "verdict",        "predicted-best",   "measured-best",
        "trial",          "explore",          "drift-recheck",
        "ability-absent", "not-applicable",   "unfit",
        "failed",         "unproven",         "unbuilt",
        "poor-fit",       "slower-predicted", "slower-measured",
        "fixed-too-slow", "in-trial",         "margin",
        "not-required"};
    return NAME_OF(names, why);
}

const char *vyre_evidence_name(enum vyre_evidence evidence)
{
    static const char *const names[VYRE_EVIDENCE_COUNT] = {"none", "shape", "device", "store"};
    return NAME_OF(names, evidence);
}

const char *vyre_origin_name(enum vyre_origin origin)
{
    static const char *const names[] = {"none", "stated", "calibrated", "observed", "hint"};
    return NAME_OF(names, origin);
}
