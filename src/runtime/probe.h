/*
 * probe.h: what a calibration runs, and how it times it.
 *
 * Words
 *   step    one or two figures that are sampled together
 *   sample  one timing of a step
 *
 * Thread-safety: one thread at a time for each probe.
 */
#ifndef VYRE_RUNTIME_PROBE_H
#define VYRE_RUNTIME_PROBE_H

#include "runtime/internal.h"

struct vyre_probe {
    struct vyre_device *device; /* Borrowed */
    struct vyre_diag *diag;
    struct vyre_kernel *kernel;
    struct vyre_buffer *words, *bulk, *bulk_target;
    void *host_bytes; /* Owned */
    struct vyre_batch *empty, *one, *many;
    uint64_t figure_ns; /* time for one figure */
    uint64_t salt;
    enum vyre_status status; /* the first failure */
};

struct vyre_probe_way {
    enum vyre_mode mode;
    uint32_t variant;
};

/* Takes one sample of up to two figures. */
typedef void vyre_probe_sample(struct vyre_probe *probe, struct vyre_probe_way way,
                               double out_ns[2]);

struct vyre_probe_step {
    vyre_probe_sample *sample;
    struct vyre_probe_way way;
    uint32_t most; /* samples */
    enum vyre_cost_id first;
    enum vyre_cost_id second; /* VYRE_COST_COUNT: only one figure */
};

/* All steps, in order. */
#define VYRE_PROBE_STEPS 15
extern const struct vyre_probe_step vyre_probe_steps[VYRE_PROBE_STEPS];

/* Whether the device can take the step. Makes it ready for that. */
bool vyre_probe_can(struct vyre_probe *probe, const struct vyre_probe_step *step);

/* Creates what the samples run. A failure is in `status`. */
void vyre_probe_set_up(struct vyre_probe *probe);
void vyre_probe_tear_down(struct vyre_probe *probe);

/* Keeps the first failure. */
void vyre_probe_fail(struct vyre_probe *probe, enum vyre_status status);

#endif
