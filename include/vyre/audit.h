/*
 * audit.h: what the policies decided, kept in a bounded ring that any thread may read.
 *
 * An audit belongs to the code that created it. Recording takes no lock and allocates nothing. When
 * the ring is full the oldest event is overwritten and counted as dropped. A snapshot holds whole
 * events only, also while other threads record.
 *
 * Thread-safety: record and snapshot may be called from any number of threads at once; create and
 * destroy belong to the owner.
 */
#ifndef VYRE_AUDIT_H
#define VYRE_AUDIT_H

#include <stddef.h>
#include <stdint.h>

#include <vyre/allocator.h>
#include <vyre/diag.h>
#include <vyre/export.h>
#include <vyre/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A bounded ring of events, with counts of all verdicts. */
struct vyre_audit;

/* Events that an audit holds when its desc names no number. */
#define VYRE_AUDIT_DEFAULT_EVENTS 1024
/* The most events that an audit can hold. */
#define VYRE_AUDIT_MAX_EVENTS (1u << 24)

/* Choices are small numbers in every verdict: 1 is conservative, 2 aggressive (0: not decided). */
#define VYRE_AUDIT_CHOICES 3

/* How to create an audit. A zeroed desc is fine. */
struct vyre_audit_desc {
    struct vyre_allocator allocator;
    uint32_t event_limit; /* 0: 1,024; rounded up to a power of two; at most 2^24 */
};

/* One event with its place in the audit. */
struct vyre_audit_event {
    uint64_t sequence; /* counts from 0 over the audit's life; gaps are dropped events */
    uint64_t time_ns;  /* monotonic */
    struct vyre_policy_event event;
};

/* Counts over the audit's life; none is ever dropped. */
struct vyre_audit_counters {
    /* How often each verdict fell: by enum vyre_policy, then by the verdict's choice. */
    uint64_t verdicts[VYRE_POLICY_COUNT][VYRE_AUDIT_CHOICES];
};

/* What a snapshot found. recorded = whole in the ring at that moment + dropped. */
struct vyre_audit_snapshot {
    size_t count;         /* events written to the caller's memory, oldest first */
    uint64_t recorded;    /* events ever recorded */
    uint64_t dropped;     /* overwritten, given up, or still being written at that moment */
    uint32_t event_limit; /* what the desc's value became */
    struct vyre_audit_counters counters;
};

/*
 * Creates an audit, with all the memory that it ever takes. `desc` may be NULL: the defaults. The
 * caller owns the audit and destroys it after the instances that use it.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_audit_create(const struct vyre_audit_desc *desc,
                                                           struct vyre_audit **out_audit,
                                                           struct vyre_diag *diag);

/* Frees the audit and sets *audit to NULL. NULL and a pointer to NULL are ignored. */
VYRE_API void vyre_audit_destroy(struct vyre_audit **audit);

/* Counts all six verdicts and records the events of the aggressive ones. */
VYRE_API void vyre_audit_record_bundle(struct vyre_audit *audit, const struct vyre_bundle *bundle);

/* Records one event, for callers that ask a single policy. It is not counted as a verdict. */
VYRE_API void vyre_audit_record_event(struct vyre_audit *audit,
                                      const struct vyre_policy_event *event);

/*
 * Copies the newest events that fit into `events`, oldest first. An event that is being written or
 * overwritten at that moment is left out. `events` may be NULL when `capacity` is 0.
 */
VYRE_API void vyre_audit_snapshot(const struct vyre_audit *audit, struct vyre_audit_event *events,
                                  size_t capacity, struct vyre_audit_snapshot *out_snapshot);

/*
 * Writes one event as a line of text without its end:
 *
 *   17 persistent_kernel queue_batch launch_overhead saved_ns=4626826
 *
 * Works as snprintf does: always terminated when `capacity` is not 0; returns the length of the
 * whole text.
 */
VYRE_API size_t vyre_audit_event_format(const struct vyre_audit_event *event, char *out,
                                        size_t capacity);

/*
 * Writes one event as a JSON object; 128-bit savings are whole numbers:
 *
 *   {"sequence":17,"time_ns":...,"policy":"persistent_kernel","action":"queue_batch",...}
 *
 * Works as snprintf does: always terminated when `capacity` is not 0; returns the length of the
 * whole text.
 */
VYRE_API size_t vyre_audit_event_format_json(const struct vyre_audit_event *event, char *out,
                                             size_t capacity);

/* Called with pieces of a text, in order; the bytes are not terminated. */
typedef void vyre_text_sink(void *user, const char *bytes, size_t size_bytes);

/*
 * Writes a whole snapshot as text: one line per event, one line of verdict counts per policy, and
 * one line with recorded, dropped and limit. `events` are those that the snapshot filled in; `user`
 * is passed to `sink`.
 */
VYRE_API void vyre_audit_render_text(const struct vyre_audit_snapshot *snapshot,
                                     const struct vyre_audit_event *events, vyre_text_sink *sink,
                                     void *user);

/*
 * Writes a whole snapshot as one JSON document. The parameters are those of vyre_audit_render_text.
 */
VYRE_API void vyre_audit_render_json(const struct vyre_audit_snapshot *snapshot,
                                     const struct vyre_audit_event *events, vyre_text_sink *sink,
                                     void *user);

#ifdef __cplusplus
}
#endif

#endif
