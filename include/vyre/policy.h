/*
 * policy.h: the six decisions, as pure functions.
 *
 * Words
 *   policy        a question with a fixed rule: numbers in, verdict out
 *   verdict       the answer: a tagged struct; its zero value means "nothing decided"
 *   aggressive    the verdict that asks for the trick (persistent, replay, bindless, speculate)
 *   conservative  the verdict that stays with the usual way; every tie is conservative
 *   arm           the slots that a run of commands reads and writes
 *   bundle        all six policies asked in one call
 *
 * No function here does I/O, reads a clock, allocates or keeps state: the same input gives the same
 * verdict everywhere. Pointers must not be NULL.
 *
 * Texts: each ..._format writes the stable text form of a verdict, each ..._explain one sentence
 * that shows the arithmetic, for people. Both work as snprintf does: always terminated when
 * `capacity` is not 0, and they return the length of the whole text.
 *
 * Thread-safety: pure functions.
 */
#ifndef VYRE_POLICY_H
#define VYRE_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/export.h>
#include <vyre/slot_set.h>
#include <vyre/u128.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that the text form of any verdict takes, the terminator included. */
#define VYRE_VERDICT_TEXT_BYTES 64

/* The policies. */
enum vyre_policy {
    VYRE_POLICY_NONE = 0,              /* none of them */
    VYRE_POLICY_PERSISTENT_KERNEL = 1, /* D1: does one resident kernel beat many launches? */
    VYRE_POLICY_ARM_INDEPENDENCE = 2,  /* D2: may two arms run side by side? */
    VYRE_POLICY_COPY_OVERLAP = 3,      /* D3: may an upload run beside a kernel? */
    VYRE_POLICY_COMMAND_REUSE = 4,     /* D4: does recording once and replaying pay? */
    VYRE_POLICY_BINDLESS = 5,          /* D9: one table of addresses instead of bindings? */
    VYRE_POLICY_TRACE_JIT = 6,         /* I2: does compiling ahead of need pay? */
};

/* One more than the last policy: the size of a table indexed by enum vyre_policy. */
#define VYRE_POLICY_COUNT 7

/*
 * The name of a policy in audit events: "persistent_kernel" and so on; "none" for anything else.
 * Static.
 */
VYRE_API const char *vyre_policy_name(enum vyre_policy policy);

/* ---- D1: does one resident kernel beat many launches? ---------------------------------------- */

/* What D1 compares. */
struct vyre_persistent_kernel_input {
    uint32_t batch_size;
    uint64_t per_launch_overhead_ns;
    uint64_t per_item_kernel_ns; /* on both sides of the comparison: never changes the verdict */
    uint64_t persistent_setup_overhead_ns;
};

/* What D1 answers. */
enum vyre_persistent_kernel_choice {
    VYRE_PERSISTENT_KERNEL_NONE = 0, /* not decided */
    VYRE_STANDARD_LAUNCHES = 1,      /* conservative: launch every item */
    VYRE_PERSISTENT_KERNEL = 2,      /* aggressive: keep a kernel resident */
};

/* The verdict of D1. */
struct vyre_persistent_kernel_verdict {
    enum vyre_persistent_kernel_choice choice;
    struct vyre_u128 savings_ns; /* batch x launch - setup, exact; 0 when conservative */
};

/* Decides D1: aggressive for a batch of two or more whose launches cost more than the setup. */
VYRE_API struct vyre_persistent_kernel_verdict vyre_persistent_kernel_decide(
    const struct vyre_persistent_kernel_input *input);

/* Writes the stable text form of a verdict of D1; returns the length of the whole text. */
VYRE_API size_t vyre_persistent_kernel_format(const struct vyre_persistent_kernel_verdict *verdict,
                                              char *out, size_t capacity);

/* Writes a sentence that shows the arithmetic of D1; returns the length of the whole text. */
VYRE_API size_t vyre_persistent_kernel_explain(const struct vyre_persistent_kernel_input *input,
                                               char *out, size_t capacity);

/* ---- D2: may two arms run side by side? ------------------------------------------------------ */

/*
 * The slots that a run of commands reads and writes. Borrowed memory of the sets must outlive the
 * arm.
 */
struct vyre_arm {
    struct vyre_slot_set reads;
    struct vyre_slot_set writes;
};

/* What D2 answers. */
enum vyre_arm_choice {
    VYRE_ARMS_NONE = 0,        /* not decided */
    VYRE_ARMS_SERIALIZE = 1,   /* conservative: one after the other */
    VYRE_ARMS_INDEPENDENT = 2, /* aggressive: side by side */
};

/* What keeps two arms apart; the first that is found, in this order. */
enum vyre_conflict {
    VYRE_CONFLICT_NONE = 0,             /* nothing */
    VYRE_CONFLICT_WRITE_WRITE = 1,      /* both arms write a slot */
    VYRE_CONFLICT_READ_AFTER_WRITE = 2, /* the first arm writes what the second reads */
    VYRE_CONFLICT_WRITE_AFTER_READ = 3, /* the first arm reads what the second writes */
};

/* The verdict of D2. */
struct vyre_arm_verdict {
    enum vyre_arm_choice choice;
    enum vyre_conflict conflict;
};

/* Decides D2: aggressive when neither arm writes a slot that the other touches. */
VYRE_API struct vyre_arm_verdict vyre_arm_independence_decide(const struct vyre_arm *first,
                                                              const struct vyre_arm *second);

/* Writes the stable text form of a verdict of D2; returns the length of the whole text. */
VYRE_API size_t vyre_arm_independence_format(const struct vyre_arm_verdict *verdict, char *out,
                                             size_t capacity);

/* Writes a sentence that shows the arithmetic of D2; returns the length of the whole text. */
VYRE_API size_t vyre_arm_independence_explain(const struct vyre_arm *first,
                                              const struct vyre_arm *second, char *out,
                                              size_t capacity);

/* ---- D3: may a host-to-device copy run beside a kernel? -------------------------------------- */

/* What D3 answers. */
enum vyre_copy_choice {
    VYRE_COPY_ABSENT = 0,    /* no copy is queued: there was nothing to decide */
    VYRE_COPY_SERIALIZE = 1, /* conservative: one after the other */
    VYRE_COPY_OVERLAP = 2,   /* aggressive: side by side */
};

/* The verdict of D3. */
struct vyre_copy_verdict {
    enum vyre_copy_choice choice;
};

/* Decides D3: aggressive when the kernel does not touch the slot that the copy writes. */
VYRE_API struct vyre_copy_verdict vyre_copy_overlap_decide(uint32_t copy_dst_slot,
                                                           const struct vyre_arm *kernel);

/* Writes the stable text form of a verdict of D3; returns the length of the whole text. */
VYRE_API size_t vyre_copy_overlap_format(const struct vyre_copy_verdict *verdict, char *out,
                                         size_t capacity);

/* Writes a sentence that shows the arithmetic of D3; returns the length of the whole text. */
VYRE_API size_t vyre_copy_overlap_explain(uint32_t copy_dst_slot, const struct vyre_arm *kernel,
                                          char *out, size_t capacity);

/* ---- D4: does recording once and replaying pay? ---------------------------------------------- */

/* What D4 compares. */
struct vyre_command_reuse_input {
    uint32_t repeat_count;
    uint64_t per_launch_overhead_ns;
    uint64_t record_overhead_ns;
    uint64_t replay_overhead_ns;
};

/* What D4 answers. */
enum vyre_command_reuse_choice {
    VYRE_COMMAND_REUSE_NONE = 0, /* not decided */
    VYRE_PLAIN_LAUNCHES = 1,     /* conservative: launch every time */
    VYRE_RECORD_AND_REPLAY = 2,  /* aggressive: record once, replay */
};

/* The verdict of D4. */
struct vyre_command_reuse_verdict {
    enum vyre_command_reuse_choice choice;
    uint64_t savings_ns; /* repeat x (launch - replay), saturating, - record */
};

/* Decides D4: aggressive for two or more repeats when replaying saves more than recording costs. */
VYRE_API struct vyre_command_reuse_verdict vyre_command_reuse_decide(
    const struct vyre_command_reuse_input *input);

/* Writes the stable text form of a verdict of D4; returns the length of the whole text. */
VYRE_API size_t vyre_command_reuse_format(const struct vyre_command_reuse_verdict *verdict,
                                          char *out, size_t capacity);

/* Writes a sentence that shows the arithmetic of D4; returns the length of the whole text. */
VYRE_API size_t vyre_command_reuse_explain(const struct vyre_command_reuse_input *input, char *out,
                                           size_t capacity);

/* ---- D9: one table of addresses instead of bindings? ----------------------------------------- */

/* From this many resources on, bindless pays by default. */
#define VYRE_BINDLESS_THRESHOLD 24

/* What a device can do with tables of addresses. */
enum vyre_bindless_support {
    VYRE_BINDLESS_UNSUPPORTED = 0, /* nothing */
    VYRE_BINDLESS_STATIC = 1,      /* the index must be known when the pipeline is made */
    VYRE_BINDLESS_FULL = 2,        /* any index */
};

/* What D9 looks at. */
struct vyre_bindless_input {
    uint32_t resource_count;
    enum vyre_bindless_support support;
    bool dynamic_indexing;
};

/* What D9 answers. */
enum vyre_bindless_choice {
    VYRE_BINDLESS_NONE = 0,        /* not decided */
    VYRE_TRADITIONAL_BINDINGS = 1, /* conservative: one binding per resource */
    VYRE_BINDLESS = 2,             /* aggressive: one table of addresses */
};

/* The verdict of D9. */
struct vyre_bindless_verdict {
    enum vyre_bindless_choice choice;
};

/* Decides D9: aggressive from 24 resources on, where the device supports the indexing. */
VYRE_API struct vyre_bindless_verdict vyre_bindless_decide(const struct vyre_bindless_input *input);

/* Writes the stable text form of a verdict of D9; returns the length of the whole text. */
VYRE_API size_t vyre_bindless_format(const struct vyre_bindless_verdict *verdict, char *out,
                                     size_t capacity);

/* Writes a sentence that shows the arithmetic of D9; returns the length of the whole text. */
VYRE_API size_t vyre_bindless_explain(const struct vyre_bindless_input *input, char *out,
                                      size_t capacity);

/* ---- I2: does compiling the predicted shape ahead of need pay? ------------------------------- */

/* The fewest hits from which I2 speculates. */
#define VYRE_TRACE_JIT_MIN_HITS 8
/* The least confidence from which I2 speculates. */
#define VYRE_TRACE_JIT_MIN_CONFIDENCE_BPS 6000
/* Certainty: confidences are out of 10,000. */
#define VYRE_CONFIDENCE_ONE_BPS 10000

/* What I2 compares. */
struct vyre_trace_jit_input {
    uint32_t shader_hit_count;
    uint32_t prediction_confidence_bps; /* out of 10,000 */
    uint64_t speculative_spec_cost_ns;
    uint64_t miss_cost_ns;
};

/* What I2 answers. */
enum vyre_trace_jit_choice {
    VYRE_TRACE_JIT_NONE = 0, /* not decided */
    VYRE_HOLD_STEADY = 1,    /* conservative: compile when the shape comes */
    VYRE_SPECULATE = 2,      /* aggressive: compile the predicted shape now */
};

/* The verdict of I2. */
struct vyre_trace_jit_verdict {
    enum vyre_trace_jit_choice choice;
    uint64_t savings_ns; /* miss x confidence / 10,000 (floor, clamped) - cost */
};

/*
 * Decides I2: aggressive with enough hits and confidence, when a miss, weighted by the confidence,
 * costs more than compiling ahead.
 */
VYRE_API struct vyre_trace_jit_verdict vyre_trace_jit_decide(
    const struct vyre_trace_jit_input *input);

/* Writes the stable text form of a verdict of I2; returns the length of the whole text. */
VYRE_API size_t vyre_trace_jit_format(const struct vyre_trace_jit_verdict *verdict, char *out,
                                      size_t capacity);

/* Writes a sentence that shows the arithmetic of I2; returns the length of the whole text. */
VYRE_API size_t vyre_trace_jit_explain(const struct vyre_trace_jit_input *input, char *out,
                                       size_t capacity);

/* ---- The bundle: all six at once ------------------------------------------------------------- */

/* The inputs of all six policies. */
struct vyre_bundle_input {
    struct vyre_persistent_kernel_input persistent_kernel;
    const struct vyre_arm *first_arm;  /* Borrowed; both NULL: there are no two arms */
    const struct vyre_arm *second_arm; /* Borrowed */
    const struct vyre_arm *copy_arm;   /* Borrowed: beside the copy; NULL: no copy is queued */
    uint32_t copy_dst_slot;
    struct vyre_command_reuse_input command_reuse;
    struct vyre_bindless_input bindless;
    struct vyre_trace_jit_input trace_jit;
};

/* The verdicts of all six policies. */
struct vyre_bundle {
    struct vyre_persistent_kernel_verdict persistent_kernel;
    struct vyre_arm_verdict arms;  /* VYRE_ARMS_NONE without two arms */
    struct vyre_copy_verdict copy; /* VYRE_COPY_ABSENT when no copy was queued */
    struct vyre_command_reuse_verdict command_reuse;
    struct vyre_bindless_verdict bindless;
    struct vyre_trace_jit_verdict trace_jit;
};

/* Asks all six policies. Each verdict is the one that the single policy gives. */
VYRE_API void vyre_bundle_decide(const struct vyre_bundle_input *input,
                                 struct vyre_bundle *out_bundle);

/* ---- What an aggressive verdict leaves behind ------------------------------------------------ */

/* What an aggressive verdict asks for. */
enum vyre_policy_action {
    VYRE_ACTION_NONE = 0,              /* nothing */
    VYRE_ACTION_QUEUE_BATCH = 1,       /* D1: feed a resident kernel through a queue */
    VYRE_ACTION_RECORD_AND_REPLAY = 2, /* D4: record once and replay */
    VYRE_ACTION_DESCRIPTOR_ARRAY = 3,  /* D9: bind one table of addresses */
    VYRE_ACTION_SPECULATE = 4,         /* I2: compile the predicted shape */
};

/* On what grounds. */
enum vyre_policy_detail {
    VYRE_DETAIL_NONE = 0,                     /* none */
    VYRE_DETAIL_LAUNCH_OVERHEAD = 1,          /* D1: launches cost more than the setup */
    VYRE_DETAIL_REPEAT_SHAPE = 2,             /* D4: the same shape comes again */
    VYRE_DETAIL_RESOURCE_COUNT_THRESHOLD = 3, /* D9: there are 24 resources or more */
    VYRE_DETAIL_PREDICTED_SHAPE = 4,          /* I2: the next shape is predicted */
};

/*
 * One aggressive verdict: which policy, what it asks for, on what grounds, and the saving it
 * predicts.
 */
struct vyre_policy_event {
    enum vyre_policy policy;
    enum vyre_policy_action action;
    enum vyre_policy_detail detail;
    struct vyre_u128 saved_ns;
};

/* The most events that one bundle leaves. */
#define VYRE_BUNDLE_EVENTS_MAX 4

/* The name of an action: "queue_batch" and so on; "none" for anything else. Static. */
VYRE_API const char *vyre_policy_action_name(enum vyre_policy_action action);

/* The name of a detail: "launch_overhead" and so on; "none" for anything else. Static. */
VYRE_API const char *vyre_policy_detail_name(enum vyre_policy_detail detail);

/*
 * Writes the events of a bundle, one per aggressive verdict of D1, D4, D9 and I2, in that order,
 * and returns how many. Conservative verdicts leave none.
 */
VYRE_API size_t vyre_bundle_events(const struct vyre_bundle *bundle,
                                   struct vyre_policy_event out_events[VYRE_BUNDLE_EVENTS_MAX]);

#ifdef __cplusplus
}
#endif

#endif
