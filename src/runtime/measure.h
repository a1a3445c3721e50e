/*
 * measure.h: from the times of submissions to what each batch cost.
 *
 *   submit 1 |--|            completions are in order; what a batch cost is the time from its
 *   submit 2    |--|         submit, or from the end of the one before it if that came later,
 *   ends           1    2    to its own end
 *
 * Some backends find out only when somebody looks: then several batches end at one moment. Their
 * time is shared out by what was predicted for each.
 *
 * Thread-safety: the caller holds the device's lock.
 */
#ifndef VYRE_RUNTIME_MEASURE_H
#define VYRE_RUNTIME_MEASURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/governor.h"

/* A look at something that is complete already takes less than this. */
#define VYRE_ONE_LOOK_NS 2000
/* A submit that prepares something for so long looks at nothing meanwhile. */
#define VYRE_LONG_ABSENCE_NS 500000

struct vyre_device;

/* What is to be learned of one submission. Written by submit; `end_ns` by complete. */
struct vyre_measurement {
    bool timed;       /* the clock is read at both ends */
    bool learns;      /* in auto: the governor is told */
    bool behind;      /* another one was in flight at its start */
    bool end_unknown; /* nobody was looking when it ended */
    bool was_first;
    uint8_t candidate;
    uint8_t why;
    struct vyre_governor_shape *shape; /* Borrowed: checked by the serial */
    uint64_t serial;
    uint64_t record; /* the ticket of its decision record; 0: none */
    double predicted_ns;
    double update_ns;
    double usual_ns; /* what it usually takes, known before its group is told; 0: nothing is */
    uint64_t start_ns;
    uint64_t decided_ns; /* what it cost counts from here: see submit.c */
    uint64_t end_ns;
    uint64_t look;                 /* lazy backends: in which its end was found */
    _Atomic uint64_t submitted_ns; /* when submit returned; 0: it has not */
};

struct vyre_measure {
    uint64_t next;    /* the first submission that was not looked at yet */
    uint32_t pending; /* timed ones from there on */
    uint64_t last_end_ns;
    bool last_known;
};

void vyre_measure_init(struct vyre_measure *measure);

/* Looks at what is complete and tells the governor and the decision records. */
void vyre_measure_collect_locked(struct vyre_device *device);

#endif
