/*
 * proof.h: generated code is trusted only after it was right on the caller's own data.
 *
 * Some modes run code that Vyre generated around the caller's kernels, and a driver's compiler may
 * get that code wrong although it gets the kernels right. So before generated code serves its first
 * batch it is proven on that batch:
 *
 *   save what the batch writes -> run as the driver launches it -> restore -> run as generated
 *     -> compare the bytes -> restore -> submit the batch
 *
 * Words
 *   code     one kernel in one generated program: its text, build options and local size
 *   class    how many groups a dispatch has, roughly, and in which dimensions
 *   proven   a code was right for a class once; further batches run without a check
 *   refused  a code was wrong once: it is not used again, in any class. In auto the batch runs in
 *            another mode; a required mode fails with proof-differs
 *   put off  the batch writes too many bytes, takes too long (in auto), is submitted by a callback, uses
 *            bytes of a failed batch, or uploads what it downloads: auto runs it in another mode and tries
 *            again later; a required mode fails with proof-limit
 *
 * A kernel whose result depends on the order of its groups differs between two plain runs as well.
 * Bytes that differ there are not compared.
 *
 * struct vyre_device_desc has the limits (proof_bytes, proof_ns) and the switch (no_proof).
 *
 * Thread-safety: any thread.
 */
#ifndef VYRE_PROOF_H
#define VYRE_PROOF_H

#include <stddef.h>
#include <stdint.h>

#include <vyre/device.h>
#include <vyre/diag.h>
#include <vyre/export.h>
#include <vyre/hash.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The most refusals that a device keeps; beyond that the oldest is forgotten, and found again by a
 * check.
 */
#define VYRE_REFUSALS_MAX 256

/* What a device's checks came to so far. */
struct vyre_proof_counters {
    uint64_t proven;   /* checks that found the same bytes */
    uint64_t unstable; /* proven checks in which some bytes differed between plain runs, too */
    uint64_t refused;  /* checks that found other bytes */
    uint64_t put_off;  /* checks that were not made: too large, too long, no memory */
    uint64_t time_ns;  /* spent in all of them */
};

/* The counts of a device's checks. Any thread. */
VYRE_API void vyre_device_count_proofs(struct vyre_device *device,
                                       struct vyre_proof_counters *out_counters);

/* A code that gave wrong bytes, with the driver and the version of it that compiled the code. */
struct vyre_refusal {
    struct vyre_hash128 code; /* the same in every process */
    char kernel[64];          /* its label or entry */
    char reason[VYRE_REASON_BYTES];
};

/* Lists the refusals: fills up to `capacity` entries and returns how many codes are refused. */
VYRE_API size_t vyre_device_refusals(struct vyre_device *device, struct vyre_refusal *out_refusals,
                                     size_t capacity);

/* Takes in a refusal that another process found on the same device and driver. */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_device_import_refusal(
    struct vyre_device *device, const struct vyre_refusal *refusal, struct vyre_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
