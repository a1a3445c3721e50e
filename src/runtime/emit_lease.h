/*
 * emit_lease.h: when something was resident on a device, as far as the runtime can tell.
 *
 * Backends do not say when a resident kernel comes and goes. What is known is how it must behave: it
 * is there when a batch in persistent mode runs; it leaves when nothing came for idle_ns, and after
 * lease_ns in any case, to come back while there is work; and another mode's batch takes its place.
 *
 *   persistent batches   |--| |---|              |--|
 *   lease                [ 1          ]idle_ns   [ 2 ...
 *
 * So a lease's begin is that of a submit, and its end is derived.
 *
 * Thread-safety: the caller holds the device's lock.
 */
#ifndef VYRE_RUNTIME_EMIT_LEASE_H
#define VYRE_RUNTIME_EMIT_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/observer.h>

struct vyre_emit_lease {
    uint64_t idle_ns;
    uint64_t lease_ns;
    uint64_t number;        /* of the last lease; counts from 1 */
    bool is_open;           /* ... whose end is not known yet */
    uint64_t begin_ns;      /* of it */
    uint64_t last_sequence; /* its last submission */
    uint64_t last_ns;       /* its last submit or completion */
};

/* One submit may end a lease and begin the next. */
#define VYRE_EMIT_LEASE_CHANGES 2

void vyre_emit_lease_init(struct vyre_emit_lease *lease, uint64_t idle_ns, uint64_t lease_ns);

/*
 * A batch in `mode` was submitted at `now_ns`; all up to `told` are complete. Fills what is to be
 * told and returns how many.
 */
uint32_t vyre_emit_lease_submit(struct vyre_emit_lease *lease, enum vyre_mode mode,
                                uint64_t sequence, uint64_t now_ns, uint64_t told,
                                struct vyre_event_lease out_changes[VYRE_EMIT_LEASE_CHANGES]);

/* A batch in persistent mode was complete; 0: it never was. */
void vyre_emit_lease_complete(struct vyre_emit_lease *lease, uint64_t now_ns);

/* Ends the lease by `now_ns` at the latest. False: there is none. */
bool vyre_emit_lease_end(struct vyre_emit_lease *lease, uint64_t now_ns,
                         struct vyre_event_lease *out_change);

#endif
