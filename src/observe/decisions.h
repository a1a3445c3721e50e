/*
 * decisions.h: the last decisions of a device, in a bounded ring.
 *
 * Per batch:
 *     if (vyre_decisions_sample(ring, mode, why, notable, now_ns))
 *         ... fill the record ..., ticket = vyre_decisions_begin(ring, &record);
 *     ... when the batch is complete: vyre_decisions_finish(ring, ticket, &measured);
 * Every decision is counted by mode and by why; of many per second only some are recorded. A
 * notable one (a trial, a change of the choice) is always recorded.
 *
 * Thread-safety: sample, begin and finish by one thread at a time (the device's lock); read and
 * counters by any number of threads at any time, without a lock.
 */
#ifndef VYRE_OBSERVE_DECISIONS_H
#define VYRE_OBSERVE_DECISIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/allocator.h>
#include <vyre/decision.h>
#include <vyre/status.h>

#define VYRE_DECISIONS_LIMIT_DEFAULT 256
#define VYRE_DECISIONS_LIMIT_MAX     (1u << 20)
#define VYRE_DECISIONS_RATE_DEFAULT  1000

struct vyre_decisions_options {
    uint32_t record_limit;    /* 0: 256; rounded up to a power of two; clamped to 2^20 */
    uint32_t rate_per_second; /* records of decisions that are not notable; 0: 1,000 */
};

/* What is known once the batch is complete. */
struct vyre_decision_measured {
    uint64_t host_ns;
    uint64_t device_ns;
    uint64_t wall_ns;
    int64_t saved_vs_plain_ns;
};

struct vyre_decisions;

/* `options` may be NULL: the defaults. */
VYRE_NODISCARD enum vyre_status vyre_decisions_create(const struct vyre_decisions_options *options,
                                                      const struct vyre_allocator *allocator,
                                                      struct vyre_decisions **out_decisions);

/* NULL and a pointer to NULL are ignored. */
void vyre_decisions_destroy(struct vyre_decisions **decisions);

/* Records that the ring holds, after defaults and rounding. */
uint32_t vyre_decisions_limit(const struct vyre_decisions *decisions);

/* The sequence of the decision counted last. */
uint64_t vyre_decisions_decided(const struct vyre_decisions *decisions);

/* Counts one decision. True if it is to be recorded with begin. */
VYRE_NODISCARD bool vyre_decisions_sample(struct vyre_decisions *decisions, enum vyre_mode mode,
                                          enum vyre_why why, bool notable, uint64_t now_ns);

/* Records the decision counted last; its sequence is set here. Returns the ticket for finish. */
uint64_t vyre_decisions_begin(struct vyre_decisions *decisions,
                              const struct vyre_decision_record *record);

/* Ticket 0 is ignored: the decision was not recorded. So is a record that was overwritten since. */
void vyre_decisions_finish(struct vyre_decisions *decisions, uint64_t ticket,
                           const struct vyre_decision_measured *measured);

/*
 * The oldest records with a sequence of at least `from_sequence`, at most `capacity`, oldest first.
 * Returns how many. Skips a record that is being written at that moment.
 */
size_t vyre_decisions_read(const struct vyre_decisions *decisions, uint64_t from_sequence,
                           struct vyre_decision_record *out_records, size_t capacity);

void vyre_decisions_count(const struct vyre_decisions *decisions,
                          struct vyre_decision_counters *out_counters);

#endif
