/*
 * intervals.c: from ranges to numbers of disjoint byte intervals.
 *
 *   ranges --hash--> distinct ranges --split--> ends --sort--> by (identity, position) --sweep--> runs
 *
 * The sweep counts how many ranges are open. When the position moves while at least one is open, an
 * interval ends. All ranges of a buffer are closed at its last end, so the step to the next buffer
 * needs no test.
 */
#include "plan/intervals.h"

#include <stdbool.h>
#include <string.h>

#define TABLE_MIN_BITS 4

/* So that two ends per range, twice, can be numbered with 32 bits. */
#define RANGES_MAX ((uint32_t)1 << 29)

/* Up to this many, insertion sort beats a histogram. */
#define INSERTION_MAX 24

#define DIGIT_COUNT     16 /* bytes of an end's key */
#define DIGIT_VALUES    256
#define POSITION_DIGITS 8 /* the lower half of the key; the identity is the upper one */

struct distinct_range {
    uint64_t identity;
    uint64_t begin;
    uint64_t end; /* not included */
};

struct range_end {
    uint64_t identity;
    uint64_t position;
    uint32_t distinct;
    bool opens;
};

void vyre_intervals_init(struct vyre_intervals *intervals, const struct vyre_allocator *allocator)
{
    *intervals = (struct vyre_intervals){.allocator = *allocator};
    vyre_room_init(&intervals->table, sizeof(uint32_t));
    vyre_room_init(&intervals->distinct, sizeof(struct distinct_range));
    vyre_room_init(&intervals->runs, sizeof(struct vyre_interval_run));
    vyre_room_init(&intervals->distinct_of, sizeof(uint32_t));
    vyre_room_init(&intervals->ends, sizeof(struct range_end));
}

void vyre_intervals_deinit(struct vyre_intervals *intervals)
{
    vyre_room_deinit(&intervals->table, &intervals->allocator);
    vyre_room_deinit(&intervals->distinct, &intervals->allocator);
    vyre_room_deinit(&intervals->runs, &intervals->allocator);
    vyre_room_deinit(&intervals->distinct_of, &intervals->allocator);
    vyre_room_deinit(&intervals->ends, &intervals->allocator);
}

/* ---- Distinct ranges -------------------------------------------------------------------------- */

enum vyre_status vyre_intervals_begin(struct vyre_intervals *intervals, uint32_t range_capacity,
                                      struct vyre_diag *diag)
{
    intervals->range_count = 0;
    intervals->distinct_count = 1;
    intervals->interval_count = 0;
    if (range_capacity > RANGES_MAX)
        return vyre_diag_set(diag, VYRE_DIAG_PLAN_OVERFLOW, NULL, 0,
                             "a batch has %u ranges; at most %u can be planned", range_capacity,
                             RANGES_MAX);

    /* At most half of the table is ever full, so probes are short. */
    uint32_t bits = TABLE_MIN_BITS;
    while ((uint32_t)1 << bits < 2 * range_capacity)
        bits++;
    size_t places = (size_t)1 << bits;
    const struct vyre_allocator *allocator = &intervals->allocator;
    enum vyre_status status = vyre_room_reserve(&intervals->table, allocator, places, 0, diag);
    if (status == VYRE_OK)
        status =
            vyre_room_reserve(&intervals->distinct, allocator, (size_t)range_capacity + 1, 0, diag);
    if (status == VYRE_OK)
        status = vyre_room_reserve(&intervals->distinct_of, allocator, range_capacity, 0, diag);
    if (status != VYRE_OK)
        return status;
    intervals->table_shift = 64 - bits;
    memset(intervals->table.memory, 0, places * sizeof(uint32_t));
    return VYRE_OK;
}

/* Odd constants without structure; the last product spreads every bit into the upper ones. */
static uint64_t hash_of(const struct distinct_range *range)
{
    uint64_t hash = range->identity * UINT64_C(0x9e3779b97f4a7c15) ^
                    range->begin * UINT64_C(0xc2b2ae3d27d4eb4f) ^
                    range->end * UINT64_C(0x165667b19e3779f9);
    return (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
}

static bool is_same(const struct distinct_range *a, const struct distinct_range *b)
{
    return a->identity == b->identity && a->begin == b->begin && a->end == b->end;
}

/* The number of a distinct range, new or known. */
static uint32_t intern(struct vyre_intervals *intervals, const struct distinct_range *range)
{
    uint32_t *table = intervals->table.memory;
    struct distinct_range *distinct = intervals->distinct.memory;
    uint32_t mask = (uint32_t)(UINT64_MAX >> intervals->table_shift);
    uint32_t place = (uint32_t)(hash_of(range) >> intervals->table_shift);
    while (table[place] != 0) {
        if (is_same(&distinct[table[place]], range))
            return table[place];
        place = (place + 1) & mask;
    }
    uint32_t number = intervals->distinct_count++;
    table[place] = number;
    distinct[number] = *range;
    return number;
}

void vyre_intervals_add(struct vyre_intervals *intervals, const struct vyre_bound_range *ranges,
                        uint32_t count)
{
    if (count == 0)
        return;
    uint32_t *distinct_of = intervals->distinct_of.memory;
    distinct_of += intervals->range_count;
    for (uint32_t i = 0; i < count; i++) {
        struct distinct_range range = {.identity = ranges[i].identity,
                                       .begin = ranges[i].offset_bytes,
                                       .end = ranges[i].offset_bytes + ranges[i].size_bytes};
        distinct_of[i] = ranges[i].size_bytes == 0 ? 0 : intern(intervals, &range);
    }
    intervals->range_count += count;
}

/* ---- Sorting the ends ------------------------------------------------------------------------- */

static bool is_before(const struct range_end *a, const struct range_end *b)
{
    return a->identity != b->identity ? a->identity < b->identity : a->position < b->position;
}

static void sort_by_insertion(struct range_end *ends, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct range_end moved = ends[i];
        size_t at = i;
        for (; at > 0 && is_before(&moved, &ends[at - 1]); at--)
            ends[at] = ends[at - 1];
        ends[at] = moved;
    }
}

static unsigned digit_of(const struct range_end *end, unsigned digit)
{
    uint64_t half = digit < POSITION_DIGITS ? end->position : end->identity;
    return (unsigned)(half >> digit % POSITION_DIGITS * 8) & (DIGIT_VALUES - 1);
}

/* One stable pass of the radix sort. */
static void sort_by_digit(const struct range_end *from, struct range_end *to, size_t count,
                          unsigned digit)
{
    uint32_t places[DIGIT_VALUES] = {0};
    for (size_t i = 0; i < count; i++)
        places[digit_of(&from[i], digit)]++;
    uint32_t sum = 0;
    for (unsigned value = 0; value < DIGIT_VALUES; value++) {
        uint32_t of_value = places[value];
        places[value] = sum;
        sum += of_value;
    }
    for (size_t i = 0; i < count; i++)
        to[places[digit_of(&from[i], digit)]++] = from[i];
}

static bool is_sorted(const struct range_end *ends, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (is_before(&ends[i], &ends[i - 1]))
            return false;
    }
    return true;
}

/* Sorts `count` ends, using as many more behind them; returns the half that holds the result. */
static struct range_end *sort_ends(struct range_end *ends, size_t count)
{
    if (count <= INSERTION_MAX) {
        sort_by_insertion(ends, count);
        return ends;
    }
    if (is_sorted(ends, count)) /* as when pieces of one buffer are used in order */
        return ends;
    /* Digits that are equal everywhere, as most are, need no pass. */
    struct range_end varying = {0};
    for (size_t i = 1; i < count; i++) {
        varying.identity |= ends[i].identity ^ ends[0].identity;
        varying.position |= ends[i].position ^ ends[0].position;
    }
    struct range_end *from = ends;
    struct range_end *to = ends + count;
    for (unsigned digit = 0; digit < DIGIT_COUNT; digit++) {
        if (digit_of(&varying, digit) == 0)
            continue;
        sort_by_digit(from, to, count, digit);
        struct range_end *sorted = to;
        to = from;
        from = sorted;
    }
    return from;
}

/* ---- Numbers ---------------------------------------------------------------------------------- */

static void split_ranges(const struct vyre_intervals *intervals)
{
    const struct distinct_range *distinct = intervals->distinct.memory;
    struct range_end *end = intervals->ends.memory;
    for (uint32_t i = 1; i < intervals->distinct_count; i++) {
        *end++ = (struct range_end){distinct[i].identity, distinct[i].begin, i, true};
        *end++ = (struct range_end){distinct[i].identity, distinct[i].end, i, false};
    }
}

/* Walks the sorted ends; returns how many intervals there are. */
static uint32_t sweep(const struct range_end *ends, size_t count, struct vyre_interval_run *runs)
{
    uint32_t number = 0;
    uint32_t open = 0;
    uint64_t position = 0;
    for (size_t i = 0; i < count; i++) {
        if (open > 0 && ends[i].position != position)
            number++;
        position = ends[i].position;
        if (ends[i].opens) {
            runs[ends[i].distinct].first = number;
            open++;
        } else {
            runs[ends[i].distinct].last = number - 1;
            open--;
        }
    }
    return number;
}

enum vyre_status vyre_intervals_finish(struct vyre_intervals *intervals, struct vyre_diag *diag)
{
    size_t end_count = 2 * ((size_t)intervals->distinct_count - 1);
    enum vyre_status status = vyre_room_reserve(&intervals->runs, &intervals->allocator,
                                                intervals->distinct_count, 0, diag);
    if (status == VYRE_OK)
        status = vyre_room_reserve(&intervals->ends, &intervals->allocator, 2 * end_count, 0, diag);
    if (status != VYRE_OK)
        return status;
    struct vyre_interval_run *runs = intervals->runs.memory;
    runs[0] = (struct vyre_interval_run){.first = 1, .last = 0};
    if (end_count == 0)
        return VYRE_OK;
    split_ranges(intervals);
    intervals->interval_count =
        sweep(sort_ends(intervals->ends.memory, end_count), end_count, runs);
    return VYRE_OK;
}
