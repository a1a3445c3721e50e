/*
 * residency.h: when something was resident on a device, as its backend saw it.
 *
 * There is one residency at a time. A writer makes the version odd while it writes. Readers read
 * the version before and after, and read again if it changed. There are no fences: fields are
 * stored with release and loaded with acquire, so that none of them is seen before the odd version
 * or after the even one.
 *
 * Thread-safety: any thread, any function.
 */
#ifndef VYRE_BACKEND_COMMON_RESIDENCY_H
#define VYRE_BACKEND_COMMON_RESIDENCY_H

#include <stdatomic.h>
#include <stdbool.h>

#include <vyre/backend.h>

/* A zeroed one is ready: nothing was resident yet. */
struct vyre_residency_log {
    _Atomic uint32_t version;
    _Atomic uint32_t resident; /* something is */
    _Atomic uint64_t number;
    _Atomic uint64_t begin_ns;
    _Atomic uint64_t ended;
    _Atomic uint64_t ended_begin_ns;
    _Atomic uint64_t ended_ns;
    _Atomic uint32_t why;
};

static inline bool vyre_residency_log_is_open(const struct vyre_residency_log *log)
{
    /* Relaxed: a hint; begin and end check again. */
    return atomic_load_explicit(&log->resident, memory_order_relaxed) != 0;
}

/* Does nothing if something is resident already. */
void vyre_residency_log_begin(struct vyre_residency_log *log);

/* Does nothing if nothing is resident. */
void vyre_residency_log_end(struct vyre_residency_log *log, enum vyre_residency_end why);

/* `serves`: whether something is resident. */
void vyre_residency_log_read(const struct vyre_residency_log *log, struct vyre_residency *out);

#endif
