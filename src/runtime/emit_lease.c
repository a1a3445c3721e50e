/*
 * emit_lease.c: when something was resident on a device, as far as the runtime can tell.
 */
#include "runtime/emit_lease.h"

#include "base/checked.h"

void vyre_emit_lease_init(struct vyre_emit_lease *lease, uint64_t idle_ns, uint64_t lease_ns)
{
    *lease = (struct vyre_emit_lease){.idle_ns = idle_ns, .lease_ns = lease_ns};
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A lease during which work went on longer than its limit was renewed without a gap. */
static uint64_t end_of(const struct vyre_emit_lease *lease, uint64_t now_ns)
{
    uint64_t idle_end_ns = vyre_saturating_add_u64(lease->last_ns, lease->idle_ns);
    uint64_t limit_ns = vyre_saturating_add_u64(lease->begin_ns, lease->lease_ns);
    uint64_t end_ns = limit_ns > lease->last_ns ? least(idle_end_ns, limit_ns) : idle_end_ns;
    end_ns = least(end_ns, now_ns);
    return end_ns > lease->begin_ns ? end_ns : lease->begin_ns;
}

bool vyre_emit_lease_end(struct vyre_emit_lease *lease, uint64_t now_ns,
                         struct vyre_event_lease *out_change)
{
    if (!lease->is_open)
        return false;
    lease->is_open = false;
    *out_change = (struct vyre_event_lease){
        .size_bytes = sizeof *out_change,
        .is_derived = 1,
        .lease = lease->number,
        .begin_ns = lease->begin_ns,
        .end_ns = end_of(lease, now_ns),
    };
    return true;
}

uint32_t vyre_emit_lease_submit(struct vyre_emit_lease *lease, enum vyre_mode mode,
                                uint64_t sequence, uint64_t now_ns, uint64_t told,
                                struct vyre_event_lease out_changes[VYRE_EMIT_LEASE_CHANGES])
{
    uint32_t count = 0;
    bool is_resident = mode == VYRE_MODE_PERSISTENT;
    bool is_busy = lease->is_open && lease->last_sequence > told;
    bool is_over =
        !is_resident ||
        (!is_busy && now_ns >= vyre_saturating_add_u64(lease->last_ns, lease->idle_ns)) ||
        now_ns >= vyre_saturating_add_u64(lease->begin_ns, lease->lease_ns);
    if (lease->is_open && is_over)
        count += vyre_emit_lease_end(lease, now_ns, &out_changes[count]);
    if (!is_resident)
        return count;
    if (!lease->is_open) {
        lease->is_open = true;
        lease->number++;
        lease->begin_ns = now_ns;
        out_changes[count++] = (struct vyre_event_lease){
            .size_bytes = sizeof out_changes[0],
            .lease = lease->number,
            .begin_ns = now_ns,
        };
    }
    lease->last_sequence = sequence;
    lease->last_ns = now_ns;
    return count;
}

void vyre_emit_lease_complete(struct vyre_emit_lease *lease, uint64_t now_ns)
{
    if (lease->is_open && now_ns > lease->last_ns)
        lease->last_ns = now_ns;
}
