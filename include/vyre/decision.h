/*
 * decision.h: the decision record: what was considered, predicted, chosen and measured for a batch.
 *
 * Words
 *   candidate  a mode with a variant: one of the ways in which the batch could have run
 *   why        what made the governor choose a candidate, or pass it over: why.h
 *   wanted     what the policies ask for; it runs until measurements speak against it
 *   evidence   the measurements that the choice rests on
 *   out        a candidate that could not run; its why says for what reason
 *
 * All times are whole nanoseconds; 0 means "not known" in every measured field. Structs grow only
 * at the end.
 *
 * Thread-safety: plain data and pure functions.
 */
#ifndef VYRE_DECISION_H
#define VYRE_DECISION_H

#include <stddef.h>
#include <stdint.h>

#include <vyre/device.h>
#include <vyre/export.h>
#include <vyre/why.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most candidates that one batch has. */
#define VYRE_CANDIDATES_MAX 12

/* What is known of a candidate. */
enum vyre_candidate_state {
    VYRE_CANDIDATE_OUT = 0,       /* it cannot run */
    VYRE_CANDIDATE_PREDICTED = 1, /* predicted_ns rests on calibration and other candidates */
    VYRE_CANDIDATE_MEASURED = 2,  /* predicted_ns rests on measurements of this shape in it */
};

/* One candidate in a decision. */
struct vyre_decision_candidate {
    uint64_t predicted_ns; /* this batch, its share of the fixed cost included; 0 when out */
    uint64_t measured_ns;  /* mean per batch over its windows */
    uint32_t count;        /* batches in them, saturating */
    uint8_t mode;          /* enum vyre_mode */
    uint8_t variant;       /* bits of enum vyre_variant */
    uint8_t state;         /* enum vyre_candidate_state */
    uint8_t why;           /* enum vyre_why: why it was chosen, or why not */
    uint32_t windows; /* windows behind measured_ns: runs of batches that were timed as a whole */
    uint32_t
        error_bps;    /* how far measured_ns may be off, by the spread of its windows: of 10,000 */
    uint32_t look_at; /* looked at again when the shape was seen this often; 0: not planned */
};

/* One decision, and what its batch took. */
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
    uint8_t why;     /* enum vyre_why */
    uint8_t settled; /* 1: the shape's choice stood; the candidates were not compared again */
    uint64_t predicted_ns;
    uint64_t host_ns;   /* spent in submit */
    uint64_t device_ns; /* from its start to its end on the device */
    uint64_t wall_ns;   /* from submit to completion; 0 until it is complete */
    int64_t saved_vs_plain_ns;
    uint32_t candidate_count;
    uint8_t wanted;         /* enum vyre_mode: what the policies, or the caller, asked for */
    uint8_t wanted_variant; /* its variant: bits of enum vyre_variant */
    uint8_t wanted_out;     /* enum vyre_why: why that cannot run; 0: it can */
    uint8_t evidence;       /* enum vyre_evidence: what the choice rests on */
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
 * Copies the oldest records with a sequence of at least `from_sequence`, at most `capacity`, oldest
 * first, and returns how many. Any thread, at any time. None when the device was opened with
 * no_decisions.
 */
VYRE_API size_t vyre_device_read_decisions(struct vyre_device *device, uint64_t from_sequence,
                                           struct vyre_decision_record *out_records,
                                           size_t capacity);

/*
 * The counts of all decisions of a device; zeros when it was opened with no_decisions. Any thread.
 */
VYRE_API void vyre_device_count_decisions(struct vyre_device *device,
                                          struct vyre_decision_counters *out_counters);

#ifdef __cplusplus
}
#endif

#endif
