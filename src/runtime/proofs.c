/*
 * proofs.c: the table of generated code, and queries on it.
 */
#include "runtime/proofs.h"

#include <string.h>

#include "base/groups.h"
#include "base/memory.h"
#include "runtime/internal.h"

#define SLOTS     1024u /* a power of two */
#define CODES_MAX (SLOTS / 4 * 3)

static const size_t codes_bytes = SLOTS * sizeof(struct vyre_proof_code);
static const size_t refusals_bytes = VYRE_REFUSALS_MAX * sizeof(struct vyre_refusal);

void vyre_proofs_deinit(struct vyre_proofs *proofs, const struct vyre_allocator *allocator)
{
    vyre_memory_free(allocator, proofs->codes, codes_bytes, _Alignof(struct vyre_proof_code));
    vyre_memory_free(allocator, proofs->refusals, refusals_bytes, _Alignof(struct vyre_refusal));
    *proofs = (struct vyre_proofs){0};
}

uint32_t vyre_proof_class_bit(const uint32_t groups[3])
{
    uint64_t total = vyre_groups_total(groups);
    uint32_t wide =
        (groups[0] > 1 ? 1u : 0u) | (groups[1] > 1 ? 2u : 0u) | (groups[2] > 1 ? 4u : 0u);
    uint32_t many = total <= 1 ? 0 : total <= 16 ? 1 : total <= 256 ? 2 : 3;
    return 1u << (many << 3 | wide);
}

/* ---- The table -------------------------------------------------------------------------------- */

/* The code's slot, or the unused one where it belongs. There is always one. */
static struct vyre_proof_code *slot_of(struct vyre_proof_code *codes, struct vyre_hash128 code)
{
    uint32_t at = (uint32_t)code.lo & (SLOTS - 1);
    while (!vyre_hash128_equal(codes[at].code, (struct vyre_hash128){0}) &&
           !vyre_hash128_equal(codes[at].code, code))
        at = (at + 1) & (SLOTS - 1);
    return &codes[at];
}

static const struct vyre_proof_code *find(const struct vyre_proofs *proofs,
                                          struct vyre_hash128 code)
{
    return proofs->codes ? slot_of(proofs->codes, code) : NULL;
}

/* The refusals kept, oldest first. */
static uint64_t first_refusal(const struct vyre_proofs *proofs)
{
    return proofs->refusal_count > VYRE_REFUSALS_MAX ? proofs->refusal_count - VYRE_REFUSALS_MAX
                                                     : 0;
}

static struct vyre_refusal *refusal_at(const struct vyre_proofs *proofs, uint64_t index)
{
    return &proofs->refusals[index % VYRE_REFUSALS_MAX];
}

/* Empties the table and enters the kept refusals again. */
static void forget_proven(struct vyre_proofs *proofs)
{
    memset(proofs->codes, 0, codes_bytes);
    proofs->code_count = 0;
    proofs->epoch++;
    for (uint64_t i = first_refusal(proofs); i < proofs->refusal_count; i++) {
        struct vyre_hash128 code = refusal_at(proofs, i)->code;
        struct vyre_proof_code *slot = slot_of(proofs->codes, code);
        proofs->code_count += !slot->refused;
        *slot = (struct vyre_proof_code){.code = code, .refused = true};
    }
}

/* The code's entry, created if it is new; NULL when out of memory. */
static struct vyre_proof_code *enter(struct vyre_proofs *proofs,
                                     const struct vyre_allocator *allocator,
                                     struct vyre_hash128 code)
{
    if (!proofs->codes)
        proofs->codes =
            vyre_memory_allocate(allocator, codes_bytes, _Alignof(struct vyre_proof_code));
    if (!proofs->codes)
        return NULL;
    struct vyre_proof_code *slot = slot_of(proofs->codes, code);
    if (vyre_hash128_equal(slot->code, code))
        return slot;
    if (proofs->code_count == CODES_MAX) {
        forget_proven(proofs);
        slot = slot_of(proofs->codes, code);
    }
    slot->code = code;
    proofs->code_count++;
    return slot;
}

bool vyre_proofs_has(const struct vyre_proofs *proofs, struct vyre_hash128 code, uint32_t class_bit)
{
    const struct vyre_proof_code *slot = find(proofs, code);
    return slot && !slot->refused && (slot->classes & class_bit);
}

const struct vyre_refusal *vyre_proofs_refusal(const struct vyre_proofs *proofs,
                                               struct vyre_hash128 code)
{
    const struct vyre_proof_code *slot = find(proofs, code);
    if (!slot || !slot->refused)
        return NULL;
    for (uint64_t i = first_refusal(proofs); i < proofs->refusal_count; i++) {
        if (vyre_hash128_equal(refusal_at(proofs, i)->code, code))
            return refusal_at(proofs, i);
    }
    return NULL;
}

bool vyre_proofs_add(struct vyre_proofs *proofs, const struct vyre_allocator *allocator,
                     struct vyre_hash128 code, uint32_t class_bit)
{
    struct vyre_proof_code *slot = enter(proofs, allocator, code);
    if (slot)
        slot->classes |= class_bit;
    return slot != NULL;
}

bool vyre_proofs_refuse(struct vyre_proofs *proofs, const struct vyre_allocator *allocator,
                        const struct vyre_refusal *refusal)
{
    if (!proofs->refusals)
        proofs->refusals =
            vyre_memory_allocate(allocator, refusals_bytes, _Alignof(struct vyre_refusal));
    struct vyre_proof_code *slot =
        proofs->refusals ? enter(proofs, allocator, refusal->code) : NULL;
    if (!slot)
        return false;
    struct vyre_refusal *kept = (struct vyre_refusal *)vyre_proofs_refusal(proofs, refusal->code);
    bool full = !kept && proofs->refusal_count >= VYRE_REFUSALS_MAX;
    if (!kept)
        kept = refusal_at(proofs, proofs->refusal_count++);
    *kept = *refusal;
    slot->refused = true;
    slot->classes = 0;
    proofs->epoch++;
    if (full)
        forget_proven(
            proofs); /* the oldest refusal has left the ring, so it leaves the table too */
    return true;
}

/* ---- Queries by users ------------------------------------------------------------------------- */

void vyre_device_count_proofs(struct vyre_device *device, struct vyre_proof_counters *out_counters)
{
    vyre_lock_acquire(&device->lock);
    *out_counters = device->proving.proofs.counters;
    vyre_lock_release(&device->lock);
}

size_t vyre_device_refusals(struct vyre_device *device, struct vyre_refusal *out_refusals,
                            size_t capacity)
{
    vyre_lock_acquire(&device->lock);
    const struct vyre_proofs *proofs = &device->proving.proofs;
    uint64_t first = first_refusal(proofs);
    size_t count = (size_t)(proofs->refusal_count - first);
    for (size_t i = 0; i < count && i < capacity; i++)
        out_refusals[i] = *refusal_at(proofs, first + i);
    vyre_lock_release(&device->lock);
    return count;
}

enum vyre_status vyre_device_import_refusal(struct vyre_device *device,
                                            const struct vyre_refusal *refusal,
                                            struct vyre_diag *diag)
{
    struct vyre_refusal taken = *refusal;
    taken.kernel[sizeof taken.kernel - 1] = '\0';
    taken.reason[sizeof taken.reason - 1] = '\0';
    if (vyre_hash128_equal(taken.code, (struct vyre_hash128){0}))
        return vyre_diag_set(diag, VYRE_DIAG_ARGUMENT_RANGE, device->label, 0,
                             "a refusal names no code");
    vyre_lock_acquire(&device->lock);
    bool noted = vyre_proofs_refuse(&device->proving.proofs, &device->allocator, &taken);
    vyre_lock_release(&device->lock);
    return noted ? VYRE_OK
                 : vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, device->label, 0,
                                 "no memory for a refusal");
}
