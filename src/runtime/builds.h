/*
 * builds.h: building what a batch needs in a mode, before it is submitted.
 *
 * The backend splits a build in three (backend.h: build_begin, build_run, build_end). The long part runs
 * without the device's lock: others submit meanwhile, kernels may be destroyed, and the device may be lost.
 * What a build uses it keeps by references in the backend, so that the runtime keeps nothing for it.
 *
 * Thread-safety: the caller holds the device's lock, except where it says otherwise.
 */
#ifndef VYRE_RUNTIME_BUILDS_H
#define VYRE_RUNTIME_BUILDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <vyre/vyre.h>

struct vyre_body;

struct vyre_builds {
    uint64_t made;          /* builds that ran and ended well */
    uint64_t refused;       /* ... after which the backend refuses what they were for */
    uint64_t build_ns;      /* a running mean of what one takes; at first what the backend states */
    _Atomic uint32_t ended; /* counts all that ended: those who wait for one sleep on it */
};

void vyre_builds_init(struct vyre_builds *builds, uint64_t stated_ns);

/*
 * Builds here and now all that the batch lacks in a mode. Releases the lock meanwhile: whatever comes of
 * it, the device may be lost and the batch stale afterwards. *out_built: something was built, or waited
 * for. VYRE_UNSUPPORTED with the reason where the backend refuses it.
 */
VYRE_NODISCARD enum vyre_status vyre_build_now_locked(struct vyre_device *device,
                                                      struct vyre_body *body, enum vyre_mode mode,
                                                      uint32_t variant, bool *out_built,
                                                      struct vyre_diag *diag);

#endif
