/*
 * hazards.c: deps of commands, interval by interval.
 */
#include "plan/hazards.h"

#include <stdbool.h>
#include <string.h>

/* Commands are numbered from 1 here, so that 0 is before all. */
#define NEVER 0

/* Runs of more intervals than this are read through the shared lists. */
#define NARROW_MAX 4

/* Deps of a dep are looked through when there are at most this many. */
#define REDUCE_MAX 16

/* Up to this many, deps are sorted by insertion. */
#define INSERTION_MAX 16

enum { NARROW = 0, WIDE = 1, LIST_COUNT = 2 };

struct interval_state {
    uint32_t writer;            /* the last command that wrote the interval */
    uint32_t lists[LIST_COUNT]; /* the newest nodes of those that read it */
};

/*
 * Lists are newest first and never cut: a reader counts while it is newer than the interval's
 * writer. Nodes do not change, so lists can share their tails. Node 0 ends all lists.
 */
struct reader {
    uint32_t command;
    uint32_t next;
};

void vyre_hazards_init(struct vyre_hazards *hazards, const struct vyre_allocator *allocator)
{
    *hazards = (struct vyre_hazards){.allocator = *allocator};
    vyre_room_init(&hazards->states, sizeof(struct interval_state));
    vyre_room_init(&hazards->readers, sizeof(struct reader));
    vyre_room_init(&hazards->marks, sizeof(uint32_t));
    vyre_room_init(&hazards->found, sizeof(uint32_t));
    vyre_room_init(&hazards->spans, sizeof(uint32_t));
    vyre_room_init(&hazards->floors, sizeof(uint32_t));
    vyre_room_init(&hazards->deps, sizeof(uint32_t));
}

void vyre_hazards_deinit(struct vyre_hazards *hazards)
{
    vyre_room_deinit(&hazards->states, &hazards->allocator);
    vyre_room_deinit(&hazards->readers, &hazards->allocator);
    vyre_room_deinit(&hazards->marks, &hazards->allocator);
    vyre_room_deinit(&hazards->found, &hazards->allocator);
    vyre_room_deinit(&hazards->spans, &hazards->allocator);
    vyre_room_deinit(&hazards->floors, &hazards->allocator);
    vyre_room_deinit(&hazards->deps, &hazards->allocator);
}

enum vyre_status vyre_hazards_begin(struct vyre_hazards *hazards, uint32_t command_count,
                                    uint32_t interval_count, struct vyre_diag *diag)
{
    const struct vyre_allocator *allocator = &hazards->allocator;
    hazards->reader_count = 0;
    hazards->found_count = 0;
    hazards->dep_count = 0;
    hazards->command_count = 0;
    enum vyre_status status =
        vyre_room_reserve(&hazards->states, allocator, interval_count, 0, diag);
    if (status == VYRE_OK)
        status = vyre_room_reserve(&hazards->readers, allocator, 1, 0, diag);
    if (status == VYRE_OK)
        status = vyre_room_reserve(&hazards->marks, allocator, (size_t)command_count + 1, 0, diag);
    if (status == VYRE_OK)
        status = vyre_room_reserve(&hazards->floors, allocator, command_count, 0, diag);
    if (status == VYRE_OK)
        status = vyre_room_reserve(&hazards->spans, allocator, (size_t)command_count + 1, 0, diag);
    if (status != VYRE_OK)
        return status;
    if (interval_count > 0)
        memset(hazards->states.memory, 0, interval_count * sizeof(struct interval_state));
    struct reader *readers = hazards->readers.memory;
    readers[hazards->reader_count++] = (struct reader){.command = NEVER};
    uint32_t *spans = hazards->spans.memory;
    spans[0] = 0;
    return VYRE_OK;
}

/* ---- Finding ---------------------------------------------------------------------------------- */

/* Marking NEVER and the command itself keeps both out of the deps. */
static void find(struct vyre_hazards *hazards, uint32_t command, uint32_t dep)
{
    uint32_t *marks = hazards->marks.memory;
    uint32_t *found = hazards->found.memory;
    if (marks[dep] == command)
        return;
    marks[dep] = command;
    found[hazards->found_count++] = dep - 1;
}

static void find_readers(struct vyre_hazards *hazards, uint32_t command, uint32_t list,
                         uint32_t writer)
{
    const struct reader *readers = hazards->readers.memory;
    for (; readers[list].command > writer; list = readers[list].next)
        find(hazards, command, readers[list].command);
}

static bool has_readers(const struct vyre_hazards *hazards, const struct interval_state *state)
{
    const struct reader *readers = hazards->readers.memory;
    return readers[state->lists[NARROW]].command > state->writer ||
           readers[state->lists[WIDE]].command > state->writer;
}

static void write_run(struct vyre_hazards *hazards, uint32_t command, struct vyre_interval_run run)
{
    struct interval_state *states = hazards->states.memory;
    struct interval_state walked = {.writer = NEVER}; /* its wide list is empty */
    for (uint32_t i = run.first; i <= run.last; i++) {
        struct interval_state *state = &states[i];
        /*
         * If there are readers, the writer is not a dep: other readers wait for it, and if this
         * command is the only reader, it found the writer when it read.
         */
        if (!has_readers(hazards, state)) {
            find(hazards, command, state->writer);
        } else {
            find_readers(hazards, command, state->lists[NARROW], state->writer);
            /* Neighbours mostly have the same wide list, which need be walked only once. */
            if (state->lists[WIDE] != walked.lists[WIDE] || state->writer < walked.writer) {
                find_readers(hazards, command, state->lists[WIDE], state->writer);
                walked = *state;
            }
        }
        state->writer = command;
    }
}

/*
 * Neighbours with the same list before have the same list afterwards. There is room for a node per
 * interval.
 */
static void read_run(struct vyre_hazards *hazards, uint32_t command, struct vyre_interval_run run)
{
    struct interval_state *states = hazards->states.memory;
    struct reader *readers = hazards->readers.memory;
    unsigned kind = run.last - run.first < NARROW_MAX ? NARROW : WIDE;
    struct reader node = {.command = NEVER};
    for (uint32_t i = run.first; i <= run.last; i++) {
        uint32_t *list = &states[i].lists[kind];
        if (states[i].writer == command || readers[*list].command == command)
            continue; /* a command that waits for the known reads waits for this one too */
        find(hazards, command, states[i].writer);
        if (node.command == NEVER || node.next != *list) {
            node = (struct reader){.command = command, .next = *list};
            readers[hazards->reader_count++] = node;
        }
        *list = hazards->reader_count - 1;
    }
}

/*
 * Ranges are processed one after another although they act at once. What a write removes from an
 * interval are deps that the command has already found.
 */
static enum vyre_status find_all(struct vyre_hazards *hazards,
                                 const struct vyre_intervals *intervals,
                                 const struct vyre_bound_range *ranges,
                                 const struct vyre_command *command, struct vyre_diag *diag)
{
    uint32_t self = hazards->command_count + 1;
    for (uint32_t i = 0; i < command->range_count; i++) {
        uint32_t range = command->first_range + i;
        struct vyre_interval_run run = vyre_intervals_run(intervals, range);
        if (run.first > run.last)
            continue;
        if (ranges[range].access & VYRE_ACCESS_WRITE) {
            write_run(hazards, self, run);
        } else if (ranges[range].access & VYRE_ACCESS_READ) {
            size_t nodes = (size_t)hazards->reader_count + (run.last - run.first) + 1;
            enum vyre_status status = vyre_room_reserve(&hazards->readers, &hazards->allocator,
                                                        nodes, hazards->reader_count, diag);
            if (status != VYRE_OK)
                return status;
            read_run(hazards, self, run);
        }
    }
    return VYRE_OK;
}

/* ---- Leaving out ------------------------------------------------------------------------------ */

static void sift_down(uint32_t *heap, uint32_t at, uint32_t count)
{
    uint32_t moved = heap[at];
    while (at < count / 2) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < count && heap[child + 1] > heap[child])
            child++;
        if (heap[child] <= moved)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* Heap sort: n log n in the worst case and no memory, which qsort may allocate. */
static void sort_many(uint32_t *values, uint32_t count)
{
    for (uint32_t at = count / 2; at-- > 0;)
        sift_down(values, at, count);
    for (uint32_t last = count - 1; last > 0; last--) {
        uint32_t largest = values[0];
        values[0] = values[last];
        values[last] = largest;
        sift_down(values, 0, last);
    }
}

static bool is_ascending(const uint32_t *values, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        if (values[i - 1] > values[i])
            return false;
    }
    return true;
}

static void sort_deps(uint32_t *deps, uint32_t count)
{
    if (is_ascending(deps, count))
        return;
    if (count > INSERTION_MAX) {
        sort_many(deps, count);
        return;
    }
    for (uint32_t i = 1; i < count; i++) {
        uint32_t moved = deps[i];
        uint32_t at = i;
        for (; at > 0 && deps[at - 1] > moved; at--)
            deps[at] = deps[at - 1];
        deps[at] = moved;
    }
}

/*
 * Removes deps below the highest floor of the deps, sorts the rest, and sets the floor of the
 * command. A dep that is exactly at the floor raises it.
 */
static void drop_below_floor(struct vyre_hazards *hazards, uint32_t first)
{
    uint32_t *floors = hazards->floors.memory;
    uint32_t *found = hazards->found.memory;
    uint32_t floor = 0;
    for (uint32_t i = first; i < hazards->found_count; i++) {
        if (floors[found[i]] > floor)
            floor = floors[found[i]];
    }
    uint32_t end = first;
    for (uint32_t i = first; i < hazards->found_count; i++) {
        if (found[i] >= floor)
            found[end++] = found[i];
    }
    hazards->found_count = end;
    if (end - first > 1)
        sort_deps(found + first, end - first);
    for (uint32_t i = first; i < end; i++)
        floor += found[i] == floor;
    floors[hazards->command_count] = floor;
}

/* Unmarks every dep that another dep was found to wait for. */
static void unmark_implied(struct vyre_hazards *hazards, uint32_t command, uint32_t first)
{
    uint32_t *marks = hazards->marks.memory;
    const uint32_t *found = hazards->found.memory;
    const uint32_t *spans = hazards->spans.memory;
    for (uint32_t i = first; i < hazards->found_count; i++) {
        uint32_t begin = spans[found[i]];
        uint32_t end = spans[found[i] + 1];
        if (end - begin > REDUCE_MAX)
            continue;
        for (uint32_t j = begin; j < end; j++) {
            if (marks[found[j] + 1] == command)
                marks[found[j] + 1] = NEVER;
        }
    }
}

/* Appends to `deps` what remains of the command's found deps, which start at `first`. */
static enum vyre_status keep(struct vyre_hazards *hazards, uint32_t command, uint32_t first,
                             struct vyre_diag *diag)
{
    drop_below_floor(hazards, first);
    uint32_t count = hazards->found_count - first;
    if (count == 0)
        return VYRE_OK;
    enum vyre_status status =
        vyre_room_reserve(&hazards->deps, &hazards->allocator, (size_t)hazards->dep_count + count,
                          hazards->dep_count, diag);
    if (status != VYRE_OK)
        return status;
    if (count > 1)
        unmark_implied(hazards, command, first);
    const uint32_t *marks = hazards->marks.memory;
    const uint32_t *found = hazards->found.memory;
    uint32_t *deps = hazards->deps.memory;
    for (uint32_t i = first; i < hazards->found_count; i++) {
        if (marks[found[i] + 1] == command)
            deps[hazards->dep_count++] = found[i];
    }
    return VYRE_OK;
}

enum vyre_status vyre_hazards_next(struct vyre_hazards *hazards,
                                   const struct vyre_intervals *intervals,
                                   const struct vyre_bound_range *ranges,
                                   const struct vyre_command *command, struct vyre_diag *diag)
{
    uint32_t index = hazards->command_count;
    uint32_t self = index + 1;
    uint32_t first = hazards->found_count;
    /* A command finds each one before it at most once. */
    enum vyre_status status =
        vyre_room_reserve(&hazards->found, &hazards->allocator, (size_t)first + index, first, diag);
    if (status != VYRE_OK)
        return status;
    uint32_t *marks = hazards->marks.memory;
    marks[NEVER] = self;
    marks[self] = self;
    status = find_all(hazards, intervals, ranges, command, diag);
    if (status == VYRE_OK)
        status = keep(hazards, self, first, diag);
    if (status != VYRE_OK)
        return status;
    uint32_t *spans = hazards->spans.memory;
    spans[index + 1] = hazards->found_count;
    hazards->command_count++;
    return VYRE_OK;
}
