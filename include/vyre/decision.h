/*
 * decision.h: the decision record: what was considered, predicted, chosen and measured for a batch.
 *
 * Words
 *   candidate  a mode with a variant: one of the ways in which the batch could have run
 *   why        what made the governor choose the one it chose
 *   out        a candidate that could not run; `reason` says why
 *
 * All times are whole nanoseconds; 0 means "not known" in every measured field. Structs grow only at
 * the end.
 *
 * Thread-safety: plain data and pure functions.
 */
#ifndef VYRE_DECISION_H
#define VYRE_DECISION_H

#include <stddef.h>
#include <stdint.h>

#include <vyre/device.h>
#include <vyre/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most candidates that one batch has. */
#define VYRE_CANDIDATES_MAX 12

enum vyre_decision_why {
    VYRE_WHY_NONE = 0,
    VYRE_WHY_REQUIRED = 1,       /* the caller required the mode */
    VYRE_WHY_ONLY_FEASIBLE = 2,  /* nothing else can run */
    VYRE_WHY_HINT = 3,           /* predicted best for as many repeats as the caller announced */
    VYRE_WHY_PREDICTED_BEST = 4, /* predicted best for as many repeats as were seen */
    VYRE_WHY_MEASURED_BEST = 5,  /* cheapest of what was measured, against all predictions */
    VYRE_WHY_TRIAL = 6,          /* not measured yet, and what it may save is worth a try */
    VYRE_WHY_EXPLORE = 7,        /* measured as worse before; paid from the exploration budget */
    VYRE_WHY_DRIFT_RECHECK = 8,  /* costs left their band: measured anew */
};
#define VYRE_WHY_COUNT 9

/* "none", "required", "only-feasible" and so on; "unknown" for anything else. Static. */
VYRE_API const char *vyre_decision_why_name(enum vyre_decision_why why);

/* Why a candidate was not chosen, or could not be. Up to RECORDING_FAILED, and
 * from UNPROVEN on: it was out. */
enum vyre_candidate_reason {
    VYRE_CANDIDATE_NONE = 0,             /* it was chosen */
    VYRE_CANDIDATE_ABILITY_ABSENT = 1,   /* the device lacks the ability */
    VYRE_CANDIDATE_NOT_APPLICABLE = 2,   /* the batch has no such arms, copies or tables */
    VYRE_CANDIDATE_UNFIT = 3,            /* the batch cannot run so: its kernels do not allow it */
    VYRE_CANDIDATE_RECORDING_FAILED = 4, /* it was tried and failed */
    VYRE_CANDIDATE_DEARER_PREDICTED = 5, /* predicted to cost more; never measured */
    VYRE_CANDIDATE_DEARER_MEASURED = 6,  /* measured, and dropped for the shape */
    VYRE_CANDIDATE_FIXED_TOO_DEAR = 7,   /* cheaper per batch, but not over the repeats expected */
    VYRE_CANDIDATE_IN_TRIAL = 8,         /* a trial is in flight */
    VYRE_CANDIDATE_MARGIN = 9,           /* cheaper by less than the margin for a switch */
    VYRE_CANDIDATE_NOT_REQUIRED = 10,    /* it could run, but the caller required another */
    VYRE_CANDIDATE_UNPROVEN = 11,        /* out: its generated code is refused, or not proven yet */
    VYRE_CANDIDATE_UNBUILT = 12,         /* out: what it needs is being built */
};
#define VYRE_CANDIDATE_REASON_COUNT 13

/* "chosen", "ability-absent" and so on; "unknown" for anything else. Static. */
VYRE_API const char *vyre_candidate_reason_name(enum vyre_candidate_reason reason);

enum vyre_candidate_state {
    VYRE_CANDIDATE_OUT = 0,
    VYRE_CANDIDATE_PREDICTED = 1, /* predicted_ns rests on calibration and other candidates */
    VYRE_CANDIDATE_MEASURED = 2,  /* ... on measurements of this shape in this candidate */
};

struct vyre_decision_candidate {
    uint64_t predicted_ns; /* this batch, its share of the fixed cost included; 0 when out */
    uint64_t measured_ns;  /* robust mean per batch so far */
    uint32_t count;        /* measurements behind it, saturating */
    uint16_t reason;       /* enum vyre_candidate_reason */
    uint8_t mode;          /* enum vyre_mode */
    uint8_t variant;       /* bits of enum vyre_variant */
    uint8_t state;         /* enum vyre_candidate_state */
    uint8_t reserved[7];
};

struct vyre_decision_record {
    uint64_t sequence; /* counts the device's decisions from 1; gaps were not sampled */
    uint64_t shape_lo;
    uint64_t shape_hi;
    uint64_t time_ns; /* monotonic, of the decision */
    uint32_t command_count;
    uint32_t repeat_hint;  /* 0: none */
    uint32_t repeats_seen; /* of the shape, this one included */
    uint8_t mode;          /* enum vyre_mode: chosen */
    uint8_t variant;
    uint8_t why;     /* enum vyre_decision_why */
    uint8_t settled; /* 1: the shape's choice stood; the candidates were not compared again */
    uint64_t predicted_ns;
    uint64_t host_ns;   /* spent in submit */
    uint64_t device_ns; /* from its start to its end on the device */
    uint64_t wall_ns;   /* from submit to completion; 0 until it is complete */
    int64_t saved_vs_plain_ns;
    uint32_t candidate_count;
    uint32_t reserved;
    struct vyre_decision_candidate candidates[VYRE_CANDIDATES_MAX];
};

/* Exact counts of all decisions, sampled or not. */
struct vyre_decision_counters {
    uint64_t decided;  /* the last sequence */
    uint64_t kept;     /* records ever kept */
    uint64_t finished; /* records that got their measurements */
    uint64_t late;     /* measurements whose record was gone by then */
    uint64_t by_mode[VYRE_MODE_COUNT];
    uint64_t by_why[VYRE_WHY_COUNT];
};

/*
 * The oldest records with a sequence of at least `from_sequence`, at most `capacity`, oldest first;
 * returns how many. Any thread, at any time. None when the device was opened with no_decisions.
 */
VYRE_API size_t vyre_device_read_decisions(struct vyre_device *device, uint64_t from_sequence,
                                           struct vyre_decision_record *out_records,
                                           size_t capacity);

VYRE_API void vyre_device_count_decisions(struct vyre_device *device,
                                          struct vyre_decision_counters *out_counters);

#ifdef __cplusplus
}
#endif

#endif
