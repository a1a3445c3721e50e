/*
 * shapes.h: all that a device remembers about shapes, in one table.
 *
 *   entries    one per exact shape; the least recently used is forgotten first:
 *              how often it was seen, what was found out once, what the policies say, what the governor
 *              learned, what an observer receives for each batch of the shape
 *   templates  one per template that another process learned something about; none is forgotten
 *
 * shape_keys.h defines the keys. To keep an entry, keep a struct vyre_shape_ref: by the time it is
 * used, the entry may belong to another shape.
 *
 * All memory is allocated at init, except that of the templates, which comes with the first of
 * them. Looking up allocates none.
 *
 * Thread-safety: the caller holds the device's lock.
 */
#ifndef VYRE_RUNTIME_SHAPES_H
#define VYRE_RUNTIME_SHAPES_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/allocator.h>
#include <vyre/decision.h>
#include <vyre/hash.h>
#include <vyre/observer.h>
#include <vyre/policy.h>
#include <vyre/status.h>

#define VYRE_SHAPES_DEFAULT 1024
#define VYRE_SHAPES_MIN     16
#define VYRE_SHAPES_MAX     (1u << 20)

struct vyre_kernel;

/* ---- Templates -------------------------------------------------------------------------------- */

/* Every entry begins with this. Links are indices + 1, so that zeroed memory is an empty table. */
struct vyre_shape_link {
    struct vyre_hash128 key;
    uint32_t chain; /* the bucket's next entry + 1 */
};

/* What another process learned about a template, until this process knows better. */
struct vyre_shape_template {
    struct vyre_shape_link link;
    float mean_ns[VYRE_CANDIDATES_MAX]; /* by candidate; 0: not known */
};

/* ---- Entries ---------------------------------------------------------------------------------- */

/* What is found out once per shape: facts.c. Bits stand for candidates. */
struct vyre_shape_found {
    bool template_known; /* looked for ... */
    bool has_template;   /* ... and there is one */
    struct vyre_hash128 template_key;
    uint16_t unfit;    /* candidates that cannot run this shape */
    uint16_t failed;   /* candidates that failed ... */
    uint16_t unproven; /* of the unfit and failed ones: because of their generated code */
    uint16_t unkept;   /* of the failed ones: what was built for them was thrown away */
    uint32_t retry_at; /* ... until the shape was seen this often */
    uint32_t recorded; /* recordings made of it */
    uint32_t builds;   /* made for the shape, counted up to its number of kernels */
    uint8_t missed;    /* batches in a row whose end went unobserved */
};

/* The inputs of the policies, except the arms of the plan. */
struct vyre_policy_inputs {
    struct vyre_persistent_kernel_input persistent_kernel;
    struct vyre_command_reuse_input command_reuse;
    struct vyre_bindless_input bindless;
    struct vyre_trace_jit_input trace_jit;
};

/* What the policies say: verdict.c. */
struct vyre_shape_verdict {
    bool asked;
    bool planned;       /* the plan was made: `arms` and `copy` of the bundle are valid */
    bool side_by_side;  /* the plan has commands that need not wait for each other */
    uint32_t arm_count; /* the most in one segment */
    struct vyre_policy_inputs inputs;
    struct vyre_bundle bundle;
    uint8_t wanted;    /* the candidate that the policies ask for, ... */
    uint8_t candidate; /* ... or the next best if that cannot run: it runs until it is overruled */
    uint8_t out;       /* enum vyre_why: why the wanted one cannot run; 0: it can */
};

/* What was measured of a unit in one candidate: governor.h. */
struct vyre_candidate_track {
    double mean_ns; /* per batch, without the fixed cost and updates; 0: not known */
    float taken_ns; /* mean_ns after its last window; the pace moves mean_ns only so far from it */
    float first_ns; /* of the batch that paid the fixed cost; 0: none yet */
    float fixed_ns; /* predicted for it */
    float again_ns; /* per batch: the fixed cost where it is paid again and again */
    uint32_t again_of; /* ... a mean over so many batches */
    float overhead_ns; /* calibrated, at the last comparison */
    float spread;      /* how far a batch is from the mean, as a part of it */
    float run_ns;      /* of the windows outside the band, the one nearest to it */
    float raw_ns;      /* of the open window: time ... */
    float open_ns;     /* ... with disturbed batches at their usual time ... */
    uint32_t open;     /* ... and batches so far ... */
    uint32_t window;   /* ... of so many */
    uint32_t count;    /* batches in mean_ns, saturating */
    uint32_t windows;  /* ... in so many windows */
    uint32_t look_at;  /* not the current one: look again when the unit was seen this often */
    uint8_t firsts;    /* batches that paid the fixed cost, saturating */
    uint8_t looks;     /* windows in a row that could not tell it from the current one */
    int8_t run;        /* windows in a row above (+) or below (-) the band */
    uint8_t flags;     /* VYRE_TRACK_... */
};

#define VYRE_TRACK_ESTIMATED 1u /* only the first batch is known; the fixed cost is less of it */
#define VYRE_TRACK_STALE     2u /* measured before the costs drifted */
#define VYRE_TRACK_SUSPECT   8u /* its last window was far off: it is measured again */
#define VYRE_TRACK_CONFIRMED 4u /* also measured in batches that did not pay the fixed cost */

/* What the governor learns of a shape, or of all shapes that alternate. */
struct vyre_unit {
    uint32_t seen;       /* batches in auto so far, saturating */
    uint32_t changed_at; /* ... when `current` was chosen */
    uint8_t current;
    uint8_t candidate_count;
    bool chosen;        /* `current` is valid */
    double anchor_ns;   /* mean of `current` at the last comparison: drift is measured from it */
    double recent_ns;   /* of the last few windows in `current` */
    double pace_ns;     /* mean of `current` when the others were last adjusted to it */
    double spent_ns;    /* in all batches */
    double explored_ns; /* in looks, beyond what the current one would have taken */
    struct vyre_candidate_track tracks[VYRE_CANDIDATES_MAX];
};

struct vyre_profile_kernel {
    const struct vyre_kernel *kernel; /* Borrowed: alive until its last batch was reported */
    uint32_t dispatch_count;
};

/* What an observer receives for every batch of the shape: emit.c. */
struct vyre_shape_profile {
    bool known;
    bool reported; /* the policies' answers were reported */
    uint32_t commands[VYRE_COMMAND_TYPE_COUNT];
    uint32_t kernel_count;
    uint64_t copied_bytes;
    struct vyre_profile_kernel kernels[VYRE_EVENT_KERNELS_MAX];

    /* For required modes, which the governor does not handle. */
    uint32_t required_seen;
    bool compared; /* ... in `mode` and `variant`, with this prediction */
    uint8_t mode;
    uint8_t variant;
    uint64_t predicted_ns;
};

struct vyre_shape {
    struct vyre_shape_link link; /* by the exact key */
    uint32_t newer;              /* neighbours by use, + 1 */
    uint32_t older;
    uint64_t serial; /* unique over the table's life; 0: unused entry */
    uint8_t warm;    /* bits: modes in which all of its kernels have run before */
    struct vyre_shape_found found;
    struct vyre_shape_verdict verdict;
    struct vyre_shape_profile *profile; /* Owned by the table; NULL: there is no observer */

    /* The governor's part. */
    struct vyre_unit unit;
    bool unreturned;   /* something was paid for it when it was first seen */
    double weight_ns;  /* what a plain batch is predicted to take: its part in a stream */
    uint32_t check_at; /* compare again when it was seen this often ... */
    uint32_t epoch;    /* ... or when the governor's differs */
    uint32_t settled_hint;
    uint32_t settled_updates;
    uint8_t settled;          /* the candidate that runs until then */
    uint8_t settled_why;      /* enum vyre_why */
    uint8_t settled_evidence; /* enum vyre_evidence */
    double settled_ns;        /* predicted when it was chosen */
    double settled_update_ns;
};

/* A reference to an entry that may be gone by now. A zeroed one refers to none. */
struct vyre_shape_ref {
    struct vyre_shape *entry; /* Borrowed */
    uint64_t serial;
};

static inline struct vyre_shape_ref vyre_shape_refer(struct vyre_shape *shape)
{
    return (struct vyre_shape_ref){shape, shape->serial};
}

/* NULL: it was forgotten. */
static inline struct vyre_shape *vyre_shape_get(struct vyre_shape_ref ref)
{
    return ref.entry && ref.entry->serial == ref.serial ? ref.entry : NULL;
}

/* ---- The table -------------------------------------------------------------------------------- */

/* One hash index over items of one size that begin with a struct vyre_shape_link. */
struct vyre_shape_index {
    unsigned char *items; /* Owned */
    uint32_t *buckets;    /* Owned: item + 1, 0 is none */
    uint32_t mask;
    uint32_t limit; /* items */
    size_t item_bytes;
};

struct vyre_shapes {
    struct vyre_allocator allocator;
    struct vyre_shape_index entries;
    struct vyre_shape_index templates;
    struct vyre_shape_profile *profiles; /* Owned: one per entry; NULL: there is no observer */
    uint32_t used;                       /* entries */
    uint32_t seen_count;                 /* how many of them were seen in auto */
    uint32_t template_count;
    uint32_t newest; /* by use, + 1 */
    uint32_t oldest;
    uint64_t serials;
    uint64_t forgotten;
    uint64_t mark; /* shape_keys.c: counts the templates computed */
};

/* `limit` 0: 1,024; else 16 to 1,048,576, clamped. `observed`: with profiles. */
VYRE_NODISCARD enum vyre_status vyre_shapes_init(struct vyre_shapes *shapes,
                                                 const struct vyre_allocator *allocator,
                                                 uint32_t limit, bool observed);
void vyre_shapes_deinit(struct vyre_shapes *shapes);

/* Bytes that init takes from the allocator. */
size_t vyre_shapes_bound(uint32_t limit, bool observed);

/* The entry, or NULL. */
struct vyre_shape *vyre_shapes_find(const struct vyre_shapes *shapes, struct vyre_hash128 key);

/* The entry, now the most recently used. A new shape may replace the least recently used one. */
struct vyre_shape *vyre_shapes_use(struct vyre_shapes *shapes, struct vyre_hash128 key);

/* The same for an entry that exists. */
void vyre_shapes_use_again(struct vyre_shapes *shapes, struct vyre_shape *shape);

/* The i-th of shapes->used entries, in no order. */
static inline struct vyre_shape *vyre_shapes_at(const struct vyre_shapes *shapes, uint32_t i)
{
    return (struct vyre_shape *)(void *)shapes->entries.items + i;
}

/* NULL: nothing was learned about it. */
const struct vyre_shape_template *vyre_shapes_find_template(const struct vyre_shapes *shapes,
                                                            struct vyre_hash128 key);

/* Adds it if it is missing. OUT_OF_MEMORY, or VYRE_LIMIT if the table is full. */
VYRE_NODISCARD enum vyre_status vyre_shapes_use_template(struct vyre_shapes *shapes,
                                                         struct vyre_hash128 key,
                                                         struct vyre_shape_template **out_template);

#endif
