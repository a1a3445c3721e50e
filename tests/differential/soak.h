/*
 * soak.h: one device for a whole run. Programs come and go on it; what it holds between them must not grow.
 */
#ifndef VYRE_TESTS_DIFFERENTIAL_SOAK_H
#define VYRE_TESTS_DIFFERENTIAL_SOAK_H

#include "differential/driver.h"

enum { SOAK_CHECKS = 20 };

/* What was held between two programs, in bytes. */
struct soak_held {
    uint64_t host;     /* from the instance's allocator */
    uint64_t device;   /* from the driver */
    uint64_t resident; /* by the process, whatever it holds */
};

struct soak {
    struct counting_allocator allocator;
    struct kept_device kept;
    struct soak_held held[SOAK_CHECKS];
    uint32_t held_count;
};

enum vyre_status soak_open(struct soak *soak, const struct config *config, struct vyre_diag *diag);

/* To be called after each program: looks at what is held SOAK_CHECKS times in a run. */
void soak_look(struct soak *soak, uint64_t done, uint64_t total);

/* Prints what was held; false: it grew, or something was left after closing. */
bool soak_close(struct soak *soak);

#endif
