/*
 * decisions.c: a bounded ring of decision records with one writer, many readers and no lock.
 *
 *   kept = 6             ring of 4: record number k lives in slot k modulo the ring's size
 *
 *   slot      0        1        2        3
 *          +--------+--------+--------+--------+
 *   stamp  |   4    |   5    |   2    |   2    |     even: complete; odd: being written; 0: never
 *          +--------+--------+--------+--------+
 *   record |   4    |   5    |   2    |   3    |
 *          +--------+--------+--------+--------+
 *
 * A record is written twice, when the batch is submitted and when it is complete, so the stamp
 * counts writes and does not name the record. A reader copies the words between two reads of the
 * stamp, and keeps the copy if both show the same even number.
 *
 * Orders: no stand-alone fences; each order belongs to an access and names its pair.
 *
 *   (A) stamp made odd, relaxed    stays before (B) because (B) releases
 *   (B) words stored, release      pairs with (C): a reader of a new word sees the odd stamp too
 *   (C) words loaded, acquire
 *   (D) stamp made even, release   pairs with (E)
 *   (E) stamp first seen, acquire
 *   (F) kept stored, release       pairs with (G)
 *   (G) kept loaded, acquire       the record before it is complete
 */
#include "observe/decisions.h"

#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"

#define CACHE_LINE_BYTES 64
#define RECORD_WORDS     (sizeof(struct vyre_decision_record) / sizeof(uint64_t))
#define NS_PER_SECOND    UINT64_C(1000000000)

_Static_assert(sizeof(struct vyre_decision_record) % sizeof(uint64_t) == 0, "copied as words");

/* The words of a record that finish writes. */
#define WORD_OF(field) (offsetof(struct vyre_decision_record, field) / sizeof(uint64_t))

struct slot {
    _Atomic uint64_t stamp;
    _Atomic uint64_t words[RECORD_WORDS];
};

/* Written by one thread only: a plain load and store, atomic so that readers see whole numbers. */
struct counts {
    _Atomic uint64_t decided;
    _Atomic uint64_t finished;
    _Atomic uint64_t late;
    _Atomic uint64_t by_mode[VYRE_MODE_COUNT];
    _Atomic uint64_t by_why[VYRE_WHY_COUNT];
};

struct vyre_decisions {
    struct vyre_allocator allocator;
    size_t size_bytes; /* of this allocation */
    uint64_t mask;     /* ring size - 1 */
    uint64_t gap_ns;   /* between two records that are not notable */
    uint64_t next_ns;  /* from then on another may be recorded */
    _Alignas(CACHE_LINE_BYTES) struct counts counts;
    _Alignas(CACHE_LINE_BYTES) _Atomic uint64_t kept;
    _Alignas(CACHE_LINE_BYTES) struct slot slots[];
};

static uint32_t round_to_power_of_two(uint32_t value)
{
    uint32_t power = 1;
    while (power < value)
        power *= 2;
    return power;
}

enum vyre_status vyre_decisions_create(const struct vyre_decisions_options *options,
                                       const struct vyre_allocator *allocator,
                                       struct vyre_decisions **out_decisions)
{
    uint32_t limit =
        options && options->record_limit ? options->record_limit : VYRE_DECISIONS_LIMIT_DEFAULT;
    uint32_t rate = options && options->rate_per_second ? options->rate_per_second
                                                        : VYRE_DECISIONS_RATE_DEFAULT;
    *out_decisions = NULL;
    limit =
        round_to_power_of_two(limit < VYRE_DECISIONS_LIMIT_MAX ? limit : VYRE_DECISIONS_LIMIT_MAX);
    size_t size = sizeof(struct vyre_decisions) + limit * sizeof(struct slot);
    struct vyre_decisions *decisions = vyre_memory_allocate(allocator, size, CACHE_LINE_BYTES);
    if (!decisions)
        return VYRE_OUT_OF_MEMORY;
    decisions->allocator = *allocator;
    decisions->size_bytes = size;
    decisions->mask = limit - 1;
    decisions->gap_ns = NS_PER_SECOND / rate;
    *out_decisions = decisions;
    return VYRE_OK;
}

void vyre_decisions_destroy(struct vyre_decisions **decisions)
{
    if (!decisions || !*decisions)
        return;
    struct vyre_allocator allocator = (*decisions)->allocator;
    vyre_memory_free(&allocator, *decisions, (*decisions)->size_bytes, CACHE_LINE_BYTES);
    *decisions = NULL;
}

uint32_t vyre_decisions_limit(const struct vyre_decisions *decisions)
{
    return (uint32_t)(decisions->mask + 1);
}

static uint64_t get(const _Atomic uint64_t *count)
{
    return atomic_load_explicit(count, memory_order_relaxed); /* a count orders nothing */
}

static void increment(_Atomic uint64_t *count)
{
    atomic_store_explicit(count, get(count) + 1, memory_order_relaxed);
}

uint64_t vyre_decisions_decided(const struct vyre_decisions *decisions)
{
    return get(&decisions->counts.decided);
}

bool vyre_decisions_sample(struct vyre_decisions *decisions, enum vyre_mode mode, enum vyre_why why,
                           bool notable, uint64_t now_ns)
{
    increment(&decisions->counts.decided);
    if ((unsigned)mode < VYRE_MODE_COUNT)
        increment(&decisions->counts.by_mode[mode]);
    if ((unsigned)why < VYRE_WHY_COUNT)
        increment(&decisions->counts.by_why[why]);
    if (!notable && now_ns < decisions->next_ns)
        return false;
    if (!notable)
        decisions->next_ns = now_ns + decisions->gap_ns;
    return true;
}

static void store_words(struct slot *slot, size_t first, const uint64_t *words, size_t count)
{
    uint64_t stamp = get(&slot->stamp);
    atomic_store_explicit(&slot->stamp, stamp + 1, memory_order_relaxed); /* (A) */
    for (size_t i = 0; i < count; i++)                                    /* (B) */
        atomic_store_explicit(&slot->words[first + i], words[i], memory_order_release);
    atomic_store_explicit(&slot->stamp, stamp + 2, memory_order_release); /* (D) */
}

uint64_t vyre_decisions_begin(struct vyre_decisions *decisions,
                              const struct vyre_decision_record *record)
{
    uint64_t kept = get(&decisions->kept);
    uint64_t words[RECORD_WORDS];
    memcpy(words, record, sizeof words);
    words[WORD_OF(sequence)] = get(&decisions->counts.decided);
    store_words(&decisions->slots[kept & decisions->mask], 0, words, RECORD_WORDS);
    atomic_store_explicit(&decisions->kept, kept + 1, memory_order_release); /* (F) */
    return kept + 1;
}

void vyre_decisions_finish(struct vyre_decisions *decisions, uint64_t ticket,
                           const struct vyre_decision_measured *measured)
{
    if (ticket == 0)
        return;
    uint64_t age = get(&decisions->kept) - ticket; /* records since */
    if (age > decisions->mask) {
        increment(&decisions->counts.late);
        return;
    }
    _Static_assert(WORD_OF(device_ns) == WORD_OF(host_ns) + 1 &&
                       WORD_OF(wall_ns) == WORD_OF(host_ns) + 2 &&
                       WORD_OF(saved_vs_plain_ns) == WORD_OF(host_ns) + 3,
                   "written in one go");
    const uint64_t words[] = {measured->host_ns, measured->device_ns, measured->wall_ns,
                              (uint64_t)measured->saved_vs_plain_ns};
    store_words(&decisions->slots[(ticket - 1) & decisions->mask], WORD_OF(host_ns), words, 4);
    increment(&decisions->counts.finished);
}

/* Copies what is in the slot if it is whole. */
static bool read_slot(const struct slot *slot, struct vyre_decision_record *out_record)
{
    uint64_t words[RECORD_WORDS];
    uint64_t before = atomic_load_explicit(&slot->stamp, memory_order_acquire); /* (E) */
    if (before == 0 || before % 2 != 0)
        return false;
    for (size_t i = 0; i < RECORD_WORDS; i++) /* (C) */
        words[i] = atomic_load_explicit(&slot->words[i], memory_order_acquire);
    if (atomic_load_explicit(&slot->stamp, memory_order_relaxed) != before)
        return false;
    memcpy(out_record, words, sizeof words);
    return true;
}

size_t vyre_decisions_read(const struct vyre_decisions *decisions, uint64_t from_sequence,
                           struct vyre_decision_record *out_records, size_t capacity)
{
    uint64_t kept = atomic_load_explicit(&decisions->kept, memory_order_acquire); /* (G) */
    uint64_t ring = decisions->mask + 1;
    uint64_t last = 0; /* a slot that was overwritten meanwhile holds a later record */
    size_t count = 0;
    for (uint64_t k = kept > ring ? kept - ring : 0; k < kept && count < capacity; k++) {
        struct vyre_decision_record *record = &out_records[count];
        if (!read_slot(&decisions->slots[k & decisions->mask], record))
            continue;
        if (record->sequence < from_sequence || record->sequence <= last)
            continue;
        last = record->sequence;
        count++;
    }
    return count;
}

void vyre_decisions_count(const struct vyre_decisions *decisions,
                          struct vyre_decision_counters *out_counters)
{
    const struct counts *counts = &decisions->counts;
    memset(out_counters, 0, sizeof *out_counters);
    out_counters->decided = get(&counts->decided);
    out_counters->kept = get(&decisions->kept);
    out_counters->finished = get(&counts->finished);
    out_counters->late = get(&counts->late);
    for (size_t i = 0; i < VYRE_MODE_COUNT; i++)
        out_counters->by_mode[i] = get(&counts->by_mode[i]);
    for (size_t i = 0; i < VYRE_WHY_COUNT; i++)
        out_counters->by_why[i] = get(&counts->by_why[i]);
}
