/*
 * proofs.h: which generated code was found right, and which wrong.
 *
 * A code has one bit for each class of group counts that it was proven for; a refused code is out
 * in all classes. The table has a fixed size and is allocated when the first code is noted. When it
 * is full, what was proven is forgotten and proven again; refusals stay.
 *
 * Thread-safety: the caller holds the device's lock.
 */
#ifndef VYRE_RUNTIME_PROOFS_H
#define VYRE_RUNTIME_PROOFS_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/allocator.h>
#include <vyre/proof.h>

struct vyre_proof_code {
    struct vyre_hash128 code; /* zero: unused */
    uint32_t classes;         /* bits: the classes it is proven for */
    bool refused;
};

struct vyre_proofs {
    struct vyre_proof_code *codes; /* Owned: open addressing; NULL: none yet */
    uint32_t code_count;           /* how many are used */
    struct vyre_refusal *refusals; /* Owned: a ring of VYRE_REFUSALS_MAX; NULL: none yet */
    uint64_t refusal_count;        /* refusals ever noted */
    uint64_t epoch; /* counts events after which an earlier "all proven" may no longer hold */
    struct vyre_proof_counters counters;
};

void vyre_proofs_deinit(struct vyre_proofs *proofs, const struct vyre_allocator *allocator);

/* The bit of a dispatch's class: which dimensions have more than one group, and how many groups. */
uint32_t vyre_proof_class_bit(const uint32_t groups[3]);

bool vyre_proofs_has(const struct vyre_proofs *proofs, struct vyre_hash128 code,
                     uint32_t class_bit);

/* The refusal of a code; NULL: it is not refused. */
const struct vyre_refusal *vyre_proofs_refusal(const struct vyre_proofs *proofs,
                                               struct vyre_hash128 code);

/* False when out of memory: then the code will be proven again. */
bool vyre_proofs_add(struct vyre_proofs *proofs, const struct vyre_allocator *allocator,
                     struct vyre_hash128 code, uint32_t class_bit);

/* Replaces an earlier refusal of the same code. False when out of memory. */
bool vyre_proofs_refuse(struct vyre_proofs *proofs, const struct vyre_allocator *allocator,
                        const struct vyre_refusal *refusal);

#endif
