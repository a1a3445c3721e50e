/*
 * why.h: one word for every "why": why a batch runs as it does, and why a candidate does not.
 *
 * Thread-safety: plain data and pure functions.
 */
#ifndef VYRE_WHY_H
#define VYRE_WHY_H

#include <vyre/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Why a batch runs as it does, or why a candidate does not. */
enum vyre_why {
    VYRE_WHY_NONE = 0, /* no reason: in a result, nothing kept the wanted mode from running */

    /* A batch, or the candidate that was chosen for it, runs so because ... */
    VYRE_WHY_REQUIRED = 1,       /* the caller required the mode */
    VYRE_WHY_ONLY_FEASIBLE = 2,  /* nothing else can run */
    VYRE_WHY_VERDICT = 3,        /* the policies ask for it; nothing measured speaks against it */
    VYRE_WHY_PREDICTED_BEST = 4, /* it was cheapest for other work: see enum vyre_evidence */
    VYRE_WHY_MEASURED_BEST = 5,  /* it was cheapest for this shape, against all predictions */
    VYRE_WHY_TRIAL = 6,          /* it is not measured yet, and what it may save is worth a try */
    VYRE_WHY_EXPLORE = 7,        /* it was slower before; paid from the exploration budget */
    VYRE_WHY_DRIFT_RECHECK = 8,  /* costs left their band: it is measured anew */

    /* It cannot run so, or what was wanted cannot, because ... */
    VYRE_WHY_ABILITY_ABSENT = 9,  /* the device lacks the ability */
    VYRE_WHY_NOT_APPLICABLE = 10, /* the batch has no such arms, copies or tables */
    VYRE_WHY_UNFIT = 11,          /* the batch cannot run so: its kernels do not allow it */
    VYRE_WHY_FAILED = 12,         /* it was tried and failed: recording, or launching */
    VYRE_WHY_UNPROVEN = 13,       /* its generated code is refused, or not proven yet: proof.h */
    VYRE_WHY_UNBUILT = 14,        /* what it needs is not built yet */
    VYRE_WHY_POOR_FIT = 15,       /* it would run slowly so: the backend advises against it */

    /* It could run so, but ... */
    VYRE_WHY_SLOWER_PREDICTED = 16, /* it is predicted to cost more; never measured */
    VYRE_WHY_SLOWER_MEASURED = 17,  /* it was measured, and dropped for the shape */
    VYRE_WHY_FIXED_TOO_SLOW = 18,   /* cheaper per batch, but not over the repeats expected */
    VYRE_WHY_IN_TRIAL = 19,         /* a trial is in flight */
    VYRE_WHY_MARGIN = 20,           /* it is cheaper by less than the margin for a switch */
    VYRE_WHY_NOT_REQUIRED = 21,     /* the caller required another */
};
/* How many there are of enum vyre_why. */
#define VYRE_WHY_COUNT 22

/* Below this number: why a batch runs as it does. */
#define VYRE_WHY_CHOSEN_COUNT 9

/* "none", "required", "only-feasible" and so on; "unknown" for anything else. Static. */
VYRE_API const char *vyre_why_name(enum vyre_why why);

/* The measurements that a choice rests on. */
enum vyre_evidence {
    VYRE_EVIDENCE_NONE = 0,   /* none: the policies, from calibrated or stated costs */
    VYRE_EVIDENCE_SHAPE = 1,  /* of this shape */
    VYRE_EVIDENCE_DEVICE = 2, /* of other shapes on this device */
    VYRE_EVIDENCE_STORE = 3,  /* of this work in another process: learning.h */
};
/* How many there are of enum vyre_evidence. */
#define VYRE_EVIDENCE_COUNT 4

/* "none", "shape", "device", "store"; "unknown" for anything else. Static. */
VYRE_API const char *vyre_evidence_name(enum vyre_evidence evidence);

#ifdef __cplusplus
}
#endif

#endif
