/*
 * body.h: the contents of a batch, as the backend sees them.
 *
 * The building calls fill a body. It does not change once it is submitted: a batch that is changed
 * while its body is in flight gets another one. Bodies are reused, so that a steady stream of
 * batches stops allocating.
 *
 *   view.commands      [c0][c1][c2]...
 *   view.bindings      [c0 slot a][c0 slot b][c1 slot a]...
 *   view.ranges        [c0 a][c0 b][c1 a]...          owners[] in parallel: the buffers behind them
 *   view.host_buffers  one per binding
 *   data               constants, specialization values, tables, uploaded bytes: never moves
 *
 * Thread-safety: a body belongs to its batch; once submitted it is only read.
 */
#ifndef VYRE_RUNTIME_BODY_H
#define VYRE_RUNTIME_BODY_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/backend.h>
#include <vyre/hash.h>

#include "base/arena.h"
#include "plan/batch_plan.h"
#include "runtime/shapes.h"

struct vyre_buffer;
struct vyre_kernel;

/* Bytes of a buffer. */
struct vyre_body_extent {
    uint64_t identity;
    size_t begin_bytes;
    size_t end_bytes;
};

/* Addresses of the caller's memory; empty when end is 0. */
struct vyre_body_span {
    uintptr_t begin;
    uintptr_t end;
};

/* A growing array of one kind of item. */
struct vyre_body_array {
    void *items; /* Owned */
    uint32_t capacity;
};

struct vyre_body {
    struct vyre_batch_view view;         /* the backend reads this ... */
    _Alignas(64) struct vyre_body *next; /* ... and submit all. Owned: further bodies */
    bool host_addresses;                 /* the backend sees host_buffers */
    uint64_t words[VYRE_VIEW_WORDS];     /* the view's backend_words */
    uint64_t last_sequence;              /* of the last submission of this body */
    uint64_t epoch;  /* the device's epoch when all objects were last seen alive */
    bool past_limit; /* the last failure was due to limit_bytes, not to lack of memory */
    bool hashed;     /* `shape` is known */
    struct vyre_hash128 shape;
    bool keyed; /* `key` is known for `key_salt` */
    uint32_t key_salt;
    struct vyre_hash128 key;
    struct vyre_shape_ref entry; /* the entry of its shape, if `hashed` */
    uint64_t proof_epoch;        /* when `proven` was found: prove.h */
    uint32_t proven; /* bits of vyre_proof_bit: the modes in which this body's code is proven */
    bool planned;    /* `plan` is known, in the body's own memory */
    struct vyre_batch_plan plan;
    void *plan_memory; /* Owned */
    size_t plan_bytes;
    uint32_t resource_max; /* the most ranges that a dispatch binds */
    bool chained;          /* each command touches what the one before it wrote */
    bool host_overlap; /* commands overlap in the caller's memory, so the batch runs as a chain */
    struct vyre_body_span downloads;    /* of the caller's memory, first to last byte */
    struct vyre_body_span borrowed;     /* uploads: the same */
    struct vyre_body_extent last_write; /* of the last command; identity 0: it wrote nothing */

    struct vyre_body_array commands;
    struct vyre_body_array bindings;
    struct vyre_body_array ranges;
    struct vyre_body_array host_buffers;
    struct vyre_body_array owners;  /* struct vyre_buffer *: Borrowed; structs outlive the batch */
    struct vyre_body_array kernels; /* struct vyre_body_kernel, one per command */
    size_t array_bytes;             /* of all arrays */
    size_t limit_bytes;             /* of arrays and data */
    struct vyre_arena data;
};

struct vyre_body_kernel {
    struct vyre_kernel *kernel; /* Borrowed: structs outlive the batch; NULL: not a dispatch */
    uint64_t identity;
};

/* NULL when out of memory. */
struct vyre_body *vyre_body_create(const struct vyre_allocator *allocator, size_t limit_bytes,
                                   bool host_addresses);
void vyre_body_destroy(struct vyre_body *body);

/* Empties a body that is not in flight; memory stays. */
void vyre_body_reset(struct vyre_body *body);

/* Makes `to`, an empty body, equal to `from`. False when out of memory or past the limit. */
bool vyre_body_copy(struct vyre_body *to, const struct vyre_body *from);

/*
 * Room for `extra` further items in an array that holds `count`. False when out of memory or past
 * the limit; the body stays as it was.
 */
bool vyre_body_reserve_slow(struct vyre_body *body, struct vyre_body_array *array,
                            size_t item_bytes, uint32_t count, uint32_t extra);

static inline bool vyre_body_reserve(struct vyre_body *body, struct vyre_body_array *array,
                                     size_t item_bytes, uint32_t count, uint32_t extra)
{
    if (extra <= array->capacity - count)
        return true;
    return vyre_body_reserve_slow(body, array, item_bytes, count, extra);
}

/* Copies the plan into the body's memory. Without memory it is planned again next time. */
void vyre_body_keep_plan(struct vyre_body *body, const struct vyre_batch_plan *plan);

/*
 * The body's plan, made once and again after a change. Valid until then; if there was no memory to
 * keep it, until the planner plans again. The caller holds the device's lock.
 */
VYRE_NODISCARD enum vyre_status vyre_body_plan(struct vyre_body *body,
                                               struct vyre_batch_planner *planner,
                                               struct vyre_batch_plan *out_plan,
                                               struct vyre_diag *diag);

/* Memory for values of a command, aligned to 16 bytes; NULL when out of memory or past the limit. */
static inline void *vyre_body_take(struct vyre_body *body, size_t size_bytes)
{
    void *memory = vyre_arena_take(&body->data, size_bytes, 16);
    if (!memory)
        body->past_limit = size_bytes >= body->data.limit_bytes - body->data.total_bytes;
    return memory;
}

#endif
