/*
 * measure.h: the clocks of submissions, and what each batch cost.
 *
 *   submit 1 |--|            completions are in order; what a batch cost is the time from its
 *   submit 2    |--|         submit, or from the end of the one before it if that came later,
 *   ends           1    2    to its own end
 *
 * Some backends find out only when somebody looks: then several batches end at one moment. Their
 * time is shared out by what was predicted for each.
 *
 * Per submission, all clocks are read here:
 *     vyre_timing_begin_locked       whether it is timed, and its start
 *     vyre_timing_decided_locked     ... its start, where the decision wants it measured
 *     vyre_timing_absent_locked      ... but what was made first is no part of what it costs
 *     vyre_measure_begin_locked      before the backend has it: what is to be learned
 *     vyre_measure_submitted_locked  submit is over
 *     vyre_measure_ended             its end, on the thread that completes it
 *     vyre_measure_collect_locked    what it cost, told to the governor, its record and the observer
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
    bool asked;   /* by the caller */
    bool sampled; /* its turn came */
    bool opens;   /* the first of two samples: it tells the second when it could start */
    bool timed;   /* the clock is read */
    uint64_t start_ns;
    uint64_t decided_ns; /* start_ns, or the end of a decision that had to make something */
    uint64_t
        resident; /* persistent mode: the number of what was resident before it; 0: nothing was */
};

/* What is to be learned of one submission. Written by submit; `end_ns` by complete. */
struct vyre_measurement {
    bool timed;       /* the clock is read at both ends */
    bool learns;      /* in auto: the governor is told */
    bool behind;      /* another one was in flight at its start */
    bool end_unknown; /* nobody was looking when it ended */
    bool was_first;   /* it paid what is paid once */
    uint8_t candidate;
    uint8_t why;
    struct vyre_shape_ref shape;
    uint64_t record; /* the ticket of its decision record; 0: none */
    double predicted_ns;
    double update_ns;
    double usual_ns; /* what it usually takes, known before its group is told; 0: nothing is */
    uint64_t start_ns;
    uint64_t decided_ns; /* what it cost counts from here */
    uint64_t end_ns;
    uint64_t look;                 /* lazy backends: in which its end was found */
    _Atomic uint64_t submitted_ns; /* when submit returned; 0: it has not */
};

struct vyre_measure {
    uint64_t next;    /* the first submission that was not looked at yet */
    uint32_t pending; /* timed ones from there on */
    uint64_t last_end_ns;
    bool last_known;
    uint64_t clock_ns; /* when the clock was last read */
    uint64_t tick;     /* submissions so far: every so many are sampled */
};

void vyre_measure_init(struct vyre_measure *measure);

/* When nobody asks, two submissions in a row of this many are timed: reading the clock twice costs 56 ns. */
#define VYRE_SAMPLE_EVERY 64

/* The next submission, by its turn alone. The first of two samples tells when the second could start. */
static inline void vyre_timing_init(const struct vyre_measure *measure, bool asked,
                                    struct vyre_timing *out_timing)
{
    uint64_t turn = measure->tick % VYRE_SAMPLE_EVERY;
    *out_timing = (struct vyre_timing){.asked = asked, .sampled = turn < 2, .opens = turn == 0};
}

/* Its start, if it is timed: asked for, sampled, observed, or in auto not settled. */
void vyre_timing_begin_locked(struct vyre_device *device, const struct vyre_body *body,
                              bool is_auto, struct vyre_timing *inout_timing);

/* After a decision that compared: what comes of it must be measured. */
void vyre_timing_decided_locked(struct vyre_device *device, struct vyre_timing *timing);

/* The submit made something, which is no part of what the batch costs. */
void vyre_timing_absent_locked(struct vyre_device *device, struct vyre_timing *timing);

/* What is to be learned of a timed submission. `pays_recording`: its recording was made for it. */
void vyre_measure_begin_locked(struct vyre_device *device, struct vyre_timing *timing,
                               const struct vyre_choice *choice, bool pays_recording,
                               struct vyre_result_entry *entry);

/* The backend refused it. */
void vyre_measure_cancel_locked(struct vyre_device *device, struct vyre_result_entry *entry);

/* The backend has it, and submit is about to return. */
void vyre_measure_submitted_locked(struct vyre_device *device, const struct vyre_timing *timing,
                                   const struct vyre_choice *choice,
                                   struct vyre_result_entry *entry);

/* The end of a timed submission, before it is told complete. From any thread. */
void vyre_measure_ended(struct vyre_device *device, struct vyre_result_entry *entry);

/* Somebody begins to wait. From any thread. */
void vyre_measure_waits(struct vyre_device *device);

/* Looks at what is complete and tells the governor and the decision records. */
void vyre_measure_collect_locked(struct vyre_device *device);

#endif
