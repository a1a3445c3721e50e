/*
 * prove.h: runs generated code and the driver's own launch before the generated code is trusted
 * (vyre/proof.h).
 *
 * While a batch is proven, the device belongs to the prover. Only the prover's own runs are in
 * flight, and other threads wait at the gate before they submit, write, read or map. The prover
 * holds the device's lock only between its runs, so that completions and the loss of the device get
 * through.
 *
 * Thread-safety: all of it under the device's lock, which prove and the gate release for a while.
 */
#ifndef VYRE_RUNTIME_PROVE_H
#define VYRE_RUNTIME_PROVE_H

#include <assert.h>

#include "runtime/body.h"
#include "runtime/internal.h"

enum vyre_proof_state {
    VYRE_PROOF_NOT_NEEDED = 0, /* no generated code, or all of it is proven */
    VYRE_PROOF_DUE = 1,        /* also if the code is not built yet */
    VYRE_PROOF_REFUSED = 2,
};

/* Changes when a batch may run other generated code than before, or less of it is proven. */
static inline uint64_t vyre_proof_epoch(const struct vyre_device *device)
{
    const uint64_t *generated = device->facts.generated_epoch;
    return device->proving.proofs.epoch + (generated ? *generated : 0) + 1;
}

/* Whether the mode runs generated code that must be proven. */
static inline bool vyre_proof_applies(const struct vyre_device *device, enum vyre_mode mode)
{
    return (device->facts.generated_modes >> mode & 1u) && !device->desc.no_proof;
}

/* The bit of a mode and its variant in a body's `proven`. */
static inline uint32_t vyre_proof_bit(enum vyre_mode mode, uint32_t variant)
{
    static_assert(VYRE_MODE_COUNT * (VYRE_VARIANT_MASK + 1) <= 32, "a bit each");
    return 1u << ((uint32_t)mode * (VYRE_VARIANT_MASK + 1) + variant);
}

/* The batch is known to run proven code, so nothing need be looked up. */
static inline bool vyre_proof_is_known(const struct vyre_device *device,
                                       const struct vyre_body *body, enum vyre_mode mode,
                                       uint32_t variant)
{
    return !vyre_proof_applies(device, mode) || ((body->proven & vyre_proof_bit(mode, variant)) &&
                                                 body->proof_epoch == vyre_proof_epoch(device));
}

/* What is known about the code that the batch would run. `out_refusal` may be NULL. */
enum vyre_proof_state vyre_proof_state_locked(struct vyre_device *device, struct vyre_body *body,
                                              enum vyre_mode mode, uint32_t variant,
                                              const struct vyre_refusal **out_refusal);

/* proof-differs if code that the batch would run is refused. */
VYRE_NODISCARD enum vyre_status vyre_proof_refused_locked(struct vyre_device *device,
                                                          struct vyre_body *body,
                                                          enum vyre_mode mode, uint32_t variant,
                                                          struct vyre_diag *diag);

/*
 * Proves the batch's code, which is built (builds.h), if that is due. Releases the lock meanwhile:
 * afterwards the device may be lost and the batch stale, whatever the result. VYRE_OK: the code may
 * be used. proof-differs (VYRE_UNSUPPORTED): it is refused. proof-limit (VYRE_LIMIT): not now.
 * Other failures are those of the device or the batch. With `is_patient` a batch is proven even if
 * it takes longer than proof_ns.
 */
VYRE_NODISCARD enum vyre_status vyre_prove_locked(struct vyre_device *device,
                                                  struct vyre_body *body, enum vyre_mode mode,
                                                  uint32_t variant, bool is_patient,
                                                  struct vyre_diag *diag);

/* Waits while another thread proves. */
void vyre_prove_gate_slow_locked(struct vyre_device *device);

static inline void vyre_prove_gate_locked(struct vyre_device *device)
{
    if (device->proving.is_on)
        vyre_prove_gate_slow_locked(device);
}

#endif
