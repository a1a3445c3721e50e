/*
 * tally.h: outcomes, added up.
 */
#ifndef VYRE_TESTS_KERNELS_TALLY_H
#define VYRE_TESTS_KERNELS_TALLY_H

#include <stdio.h>

#include "kernels/outcome.h"

enum { TALLY_REASONS_MAX = 48 };

struct tally_reason {
    enum vyre_mode mode;
    uint64_t count;
    uint64_t seed; /* of the first program */
    char text[200];
};

struct tally {
    uint64_t programs; /* that plain agreed with the oracle on */
    uint64_t by_mode[VYRE_MODE_COUNT][VERDICT_DONE];
    uint64_t batches[VYRE_MODE_COUNT];
    uint64_t auto_became[VYRE_MODE_COUNT];
    uint64_t features[FEATURE_COUNT]; /* programs that have it */
    uint64_t driver_faults;           /* plain differs from the oracle */
    uint64_t failures;                /* a mode differs, plain does not */
    uint64_t invalid;
    struct tally_reason reasons[TALLY_REASONS_MAX];
    uint32_t reason_count;
};

void tally_add(struct tally *tally, const struct outcome *outcome);
void tally_print(const struct tally *tally, FILE *file);

/* A driver's fault rather than Vyre's. */
bool outcome_is_driver_fault(const struct outcome *outcome);

/*
 * Whether persistent mode ran less than half of the programs as a whole, so that the campaign says
 * little about it. A device that never has the mode is fine, unless `complete`.
 */
bool tally_is_hollow(const struct tally *tally, bool complete);

const char *verdict_name(enum verdict verdict);

#endif
