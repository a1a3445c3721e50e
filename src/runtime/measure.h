/*
 * measure.h: the clocks of submissions, and what each batch cost.
 *
 *   submit 1 |--|            completions are in order; the cost of a batch is the time from its
 *   submit 2    |--|         submit, or from the end of the one before it if that came later,
 *   ends           1    2    to its own end
 *
 * A lazy backend finds completions only when a thread looks. Several batches then end at the same
 * moment, and their time is divided in proportion to what was predicted for each.
 *
 * All clocks of a submission are read here:
 *     vyre_timing_begin_locked       whether it is timed, and its start
 *     vyre_timing_decided_locked     ... its start, if the decision needs a measurement
 *     vyre_timing_absent_locked      ... leaves out what was made before the batch could run
 *     vyre_measure_begin_locked      before the backend gets it: what is to be learned
 *     vyre_measure_submitted_locked  submit is over
 *     vyre_measure_ended             its end, on the thread that completes it
 *     vyre_measure_collect_locked    its cost, for the governor, its record and the observer
 *
 * Thread-safety: the caller holds the device's lock where the name says so.
 */
#ifndef VYRE_RUNTIME_MEASURE_H
#define VYRE_RUNTIME_MEASURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/governor.h"

struct vyre_body;
struct vyre_choice;
struct vyre_device;
struct vyre_result_entry;

/* How a submission is timed. */
struct vyre_timing {
    bool asked;   /* the caller asked for it */
    bool sampled; /* its turn came */
    bool opens;   /* the first of two samples: it shows when the second could start */
    bool timed;   /* the clock is read */
    bool is_cold; /* a kernel is new in the chosen mode */
    uint64_t start_ns;
    uint64_t decided_ns; /* start_ns, or the end of a decision that had to make something first */
    uint64_t resident;   /* persistent mode: the number of what was resident before; 0: nothing */
};

/* What is to be learned from one submission. Written by submit; how and when it ended by complete. */
struct vyre_measurement {
    bool timed;       /* the clock is read at both ends */
    bool learns;      /* in auto: the governor learns from it */
    bool behind;      /* another submission was in flight at its start */
    bool end_unknown; /* its end went unobserved */
    bool altered;     /* it did not run as batches in its candidate do */
    bool was_first;   /* it paid the one-time costs */
    bool switched;    /* the batch before it ran in another candidate */
    bool leads_in;    /* ... and so did batches in flight */
    bool is_cold;     /* a kernel was new in this mode: it may have been compiled */
    uint8_t candidate;
    uint8_t why;
    struct vyre_shape_ref shape;
    uint64_t record; /* the ticket of its decision record; 0: none */
    double predicted_ns;
    double update_ns;
    double expected_ns;
    double usual_ns; /* its usual time, known before its group is reported; 0: not known */
    uint64_t start_ns;
    uint64_t decided_ns; /* its cost counts from here */
    uint64_t end_ns;
    uint64_t look;                 /* lazy backends: the look that found its end */
    _Atomic uint64_t submitted_ns; /* when submit returned; 0: it has not */
};

struct vyre_measure {
    uint64_t next;    /* the first submission not yet looked at */
    uint32_t pending; /* how many from there on are timed */
    uint64_t last_end_ns;
    bool last_known;
    bool is_steady;    /* the last choice for a body that was just built stood, and it is short */
    uint64_t clock_ns; /* when the clock was last read */
    uint64_t
        tick; /* submissions so far; the first VYRE_SAMPLE_RUN of VYRE_SAMPLE_EVERY are sampled */
};

void vyre_measure_init(struct vyre_measure *measure);

/*
 * Unless the caller asks, a run of this many submissions out of so many is timed: reading the clock
 * twice costs 56 ns. It is a run, because ends that are observed in groups say little one by one.
 */
#define VYRE_SAMPLE_RUN   64
#define VYRE_SAMPLE_EVERY 2048

/*
 * The next submission, by its turn alone. The first of a run shows when the second could start.
 */
static inline void vyre_timing_init(const struct vyre_measure *measure, bool asked,
                                    struct vyre_timing *out_timing)
{
    uint64_t turn = measure->tick % VYRE_SAMPLE_EVERY;
    *out_timing =
        (struct vyre_timing){.asked = asked, .sampled = turn < VYRE_SAMPLE_RUN, .opens = turn == 0};
}

/* Its start, if it is timed: because it is asked for, sampled, observed, or not settled in auto. */
void vyre_timing_begin_locked(struct vyre_device *device, const struct vyre_body *body,
                              bool is_auto, struct vyre_timing *inout_timing);

/*
 * After a decision that compared candidates, or about a body that was just built: its outcome must be
 * measured, unless it is one of many alike.
 */
void vyre_timing_decided_locked(struct vyre_device *device,
                                const struct vyre_governor_choice *choice,
                                struct vyre_timing *timing);

/* The submit made something first, which is not part of the batch's cost. */
void vyre_timing_absent_locked(struct vyre_device *device, struct vyre_timing *timing);

/*
 * What is to be learned from a timed submission. `pays_recording`: its recording was made for it.
 */
void vyre_measure_begin_locked(struct vyre_device *device, struct vyre_timing *timing,
                               const struct vyre_choice *choice, bool pays_recording,
                               struct vyre_result_entry *entry);

/* The backend refused the submission. */
void vyre_measure_cancel_locked(struct vyre_device *device, struct vyre_result_entry *entry);

/* The backend has it, and submit is about to return. */
void vyre_measure_submitted_locked(struct vyre_device *device, const struct vyre_timing *timing,
                                   const struct vyre_choice *choice,
                                   struct vyre_result_entry *entry);

/* The end of a timed submission, before its completion is reported. From any thread. */
void vyre_measure_ended(struct vyre_device *device, struct vyre_result_entry *entry,
                        const struct vyre_completion *completion);

/*
 * Finds what a lazy backend has completed while batches are timed, so that their ends are seen one
 * by one and not only when the caller waits. Without the lock: it may find that the device is lost.
 */
void vyre_measure_look(struct vyre_device *device);

/* A thread begins to wait. From any thread. */
void vyre_measure_waits(struct vyre_device *device);

/*
 * ... and goes on. If it waited for the newest submission, the time until then counts, although the
 * submission may have ended before. From any thread.
 */
void vyre_measure_waited(struct vyre_device *device, uint64_t sequence);

/* Collects what is complete and reports it to the governor and the decision records. */
void vyre_measure_collect_locked(struct vyre_device *device);

#endif
