/*
 * audit.c: a bounded ring of events with many writers, many readers and no lock.
 *
 *   next ---------------------------------------------------+   counts all events ever recorded
 *                                                           v
 *   slots  [stamp|words] [stamp|words] [stamp|words] [stamp|words]      ticket t lives in slot
 *                                                                       t modulo the ring's size
 *
 * A writer takes ticket t. It owns its slot from the moment it moves the stamp from an older even
 * value to the odd 2t + 1, until it stores the even 2t + 2. A reader that sees 2t + 2 before and
 * after copying the words has the whole event t. If a writer finds its slot being written, or
 * already holding a later event, it drops its own event instead of waiting. That happens only if a
 * thread is a full lap of the ring behind. `dropped` counts all such losses.
 *
 * Orders: there are no stand-alone fences (the thread sanitizer cannot see them); each order
 * belongs to an access and names its pair.
 *
 *   (A) stamp claimed, acquire     pairs with (D) of the slot's previous writer
 *   (B) words stored, release      pairs with (C): a reader that sees a word of a new event also
 *                                  sees the claim before it, so its second look at the stamp differs
 *   (C) words loaded, acquire
 *   (D) stamp completed, release   pairs with (A) and (E)
 *   (E) stamp first seen, acquire
 */
#include <vyre/audit.h>

#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

#define CACHE_LINE_BYTES 64

/* An event as atomic words: time, codes, saved lo, saved hi. The sequence is in the stamp. */
enum { WORD_TIME, WORD_CODES, WORD_SAVED_LO, WORD_SAVED_HI, WORD_COUNT };

struct slot {
    _Atomic uint64_t stamp; /* 0: never written; 2t + 1: event t is being written; 2t + 2: it is */
    _Atomic uint64_t words[WORD_COUNT];
};

struct vyre_audit {
    struct vyre_allocator allocator;
    size_t size_bytes; /* of this allocation */
    uint64_t mask;     /* ring size - 1 */
    _Alignas(CACHE_LINE_BYTES) _Atomic uint64_t next;
    _Alignas(CACHE_LINE_BYTES) _Atomic uint64_t verdicts[VYRE_POLICY_COUNT][VYRE_AUDIT_CHOICES];
    _Alignas(CACHE_LINE_BYTES) struct slot slots[];
};

static uint32_t round_to_power_of_two(uint32_t value)
{
    uint32_t power = 1;
    while (power < value)
        power *= 2;
    return power;
}

enum vyre_status vyre_audit_create(const struct vyre_audit_desc *desc,
                                   struct vyre_audit **out_audit, struct vyre_diag *diag)
{
    *out_audit = NULL;
    uint32_t limit = desc && desc->event_limit ? desc->event_limit : VYRE_AUDIT_DEFAULT_EVENTS;
    if (limit > VYRE_AUDIT_MAX_EVENTS)
        return vyre_diag_set(diag, VYRE_DIAG_ARGUMENT_RANGE, NULL, 0,
                             "an audit of %u events is more than %u", limit, VYRE_AUDIT_MAX_EVENTS);
    limit = round_to_power_of_two(limit);

    struct vyre_allocator allocator = vyre_allocator_resolve(desc ? &desc->allocator : NULL);
    size_t size = sizeof(struct vyre_audit) + limit * sizeof(struct slot);
    struct vyre_audit *audit = vyre_memory_allocate(&allocator, size, CACHE_LINE_BYTES);
    if (!audit)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0,
                             "an audit of %u events takes %zu bytes", limit, size);
    audit->allocator = allocator;
    audit->size_bytes = size;
    audit->mask = limit - 1;
    *out_audit = audit;
    return VYRE_OK;
}

void vyre_audit_destroy(struct vyre_audit **audit)
{
    if (!audit || !*audit)
        return;
    struct vyre_allocator allocator = (*audit)->allocator;
    vyre_memory_free(&allocator, *audit, (*audit)->size_bytes, CACHE_LINE_BYTES);
    *audit = NULL;
}

static uint64_t pack_codes(const struct vyre_policy_event *event)
{
    return (uint64_t)event->policy | (uint64_t)event->action << 16 | (uint64_t)event->detail << 32;
}

static void unpack_codes(uint64_t codes, struct vyre_policy_event *event)
{
    event->policy = (enum vyre_policy)(codes & 0xffff);
    event->action = (enum vyre_policy_action)(codes >> 16 & 0xffff);
    event->detail = (enum vyre_policy_detail)(codes >> 32 & 0xffff);
}

/* Moves the slot's stamp to "ticket is being written". False if the event must be dropped. */
static bool claim_slot(struct slot *slot, uint64_t ticket)
{
    uint64_t seen = atomic_load_explicit(&slot->stamp, memory_order_relaxed);
    bool free_and_older = seen % 2 == 0 && seen <= 2 * ticket;
    /* (A) acquire: pairs with (D) of the slot's previous writer. */
    return free_and_older &&
           atomic_compare_exchange_strong_explicit(&slot->stamp, &seen, 2 * ticket + 1,
                                                   memory_order_acquire, memory_order_relaxed);
}

static void record_at(struct vyre_audit *audit, const struct vyre_policy_event *event,
                      uint64_t time_ns)
{
    uint64_t ticket = atomic_fetch_add_explicit(&audit->next, 1, memory_order_relaxed);
    struct slot *slot = &audit->slots[ticket & audit->mask];
    if (!claim_slot(slot, ticket))
        return;
    const uint64_t words[WORD_COUNT] = {
        [WORD_TIME] = time_ns,
        [WORD_CODES] = pack_codes(event),
        [WORD_SAVED_LO] = event->saved_ns.lo,
        [WORD_SAVED_HI] = event->saved_ns.hi,
    };
    for (size_t i = 0; i < WORD_COUNT; i++) /* (B) release: pairs with (C) */
        atomic_store_explicit(&slot->words[i], words[i], memory_order_release);
    /* (D) release: pairs with (A) and (E). */
    atomic_store_explicit(&slot->stamp, 2 * ticket + 2, memory_order_release);
}

void vyre_audit_record_event(struct vyre_audit *audit, const struct vyre_policy_event *event)
{
    record_at(audit, event, vyre_clock_now_ns());
}

static void count_verdict(struct vyre_audit *audit, enum vyre_policy policy, unsigned choice)
{
    /* Relaxed: a counter orders nothing. */
    if (choice != 0 && choice < VYRE_AUDIT_CHOICES)
        atomic_fetch_add_explicit(&audit->verdicts[policy][choice], 1, memory_order_relaxed);
}

void vyre_audit_record_bundle(struct vyre_audit *audit, const struct vyre_bundle *bundle)
{
    count_verdict(audit, VYRE_POLICY_PERSISTENT_KERNEL, bundle->persistent_kernel.choice);
    count_verdict(audit, VYRE_POLICY_ARM_INDEPENDENCE, bundle->arms.choice);
    count_verdict(audit, VYRE_POLICY_COPY_OVERLAP, bundle->copy.choice);
    count_verdict(audit, VYRE_POLICY_COMMAND_REUSE, bundle->command_reuse.choice);
    count_verdict(audit, VYRE_POLICY_BINDLESS, bundle->bindless.choice);
    count_verdict(audit, VYRE_POLICY_TRACE_JIT, bundle->trace_jit.choice);

    struct vyre_policy_event events[VYRE_BUNDLE_EVENTS_MAX];
    size_t count = vyre_bundle_events(bundle, events);
    if (count == 0)
        return;
    uint64_t now_ns = vyre_clock_now_ns();
    for (size_t i = 0; i < count; i++)
        record_at(audit, &events[i], now_ns);
}

/* Copies event `ticket` if it is complete in its slot. */
static bool read_slot(const struct vyre_audit *audit, uint64_t ticket,
                      struct vyre_audit_event *out_event)
{
    const struct slot *slot = &audit->slots[ticket & audit->mask];
    uint64_t words[WORD_COUNT];
    /* (E) acquire: pairs with (D). */
    uint64_t before = atomic_load_explicit(&slot->stamp, memory_order_acquire);
    if (before != 2 * ticket + 2)
        return false;
    for (size_t i = 0; i < WORD_COUNT; i++) /* (C) acquire: pairs with (B) */
        words[i] = atomic_load_explicit(&slot->words[i], memory_order_acquire);
    if (atomic_load_explicit(&slot->stamp, memory_order_relaxed) != before)
        return false;

    out_event->sequence = ticket;
    out_event->time_ns = words[WORD_TIME];
    unpack_codes(words[WORD_CODES], &out_event->event);
    out_event->event.saved_ns.lo = words[WORD_SAVED_LO];
    out_event->event.saved_ns.hi = words[WORD_SAVED_HI];
    return true;
}

void vyre_audit_snapshot(const struct vyre_audit *audit, struct vyre_audit_event *events,
                         size_t capacity, struct vyre_audit_snapshot *out_snapshot)
{
    memset(out_snapshot, 0, sizeof *out_snapshot);
    uint64_t recorded = atomic_load_explicit(&audit->next, memory_order_relaxed);
    uint64_t ring = audit->mask + 1;
    uint64_t oldest = recorded > ring ? recorded - ring : 0;
    uint64_t kept = 0; /* complete in the ring, whether or not the caller has room */

    uint64_t wanted = recorded - oldest < capacity ? recorded - oldest : capacity;
    struct vyre_audit_event passed_over;
    for (uint64_t ticket = oldest; ticket < recorded; ticket++) {
        bool room = ticket >= recorded - wanted;
        struct vyre_audit_event *target = room ? &events[out_snapshot->count] : &passed_over;
        bool whole = read_slot(audit, ticket, target);
        kept += whole;
        out_snapshot->count += room && whole;
    }
    out_snapshot->recorded = recorded;
    out_snapshot->dropped = recorded - kept;
    out_snapshot->event_limit = (uint32_t)ring;
    for (size_t policy = 0; policy < VYRE_POLICY_COUNT; policy++) {
        for (size_t choice = 0; choice < VYRE_AUDIT_CHOICES; choice++)
            out_snapshot->counters.verdicts[policy][choice] =
                atomic_load_explicit(&audit->verdicts[policy][choice], memory_order_relaxed);
    }
}
