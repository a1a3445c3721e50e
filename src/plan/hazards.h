/*
 * hazards.h: which commands of a batch must wait for which.
 *
 * Commands come in order. Each interval (see intervals.h) remembers the command that wrote it last
 * and those that have read it since. A command's deps come from the intervals that its ranges
 * cover.
 *
 *   interval  writer  readers, newest first
 *      0        3     5 -> 4 -> 2       a read of 0 waits for 3; a write of 0 waits for 5 and 4
 *      1        4     5 -> 4 -> 2       lists share nodes; of this one only 5 came after the writer
 *      2       none   none              nothing to wait for
 *
 * What is left out of the deps, and nothing else:
 *   1. the last writer of an interval that the command writes, if commands have read it since: the
 *      readers wait for that writer;
 *   2. a dep below the floor of another dep: the floor of a command is the number of commands at the
 *      start of the batch that are all known to come before it, by the floors of its deps and by
 *      deps of its own that continue them without a gap;
 *   3. a dep that another dep was itself found to wait for directly, with 2 but not yet 3 applied
 *      to it; deps of a dep that has more than 16 are not looked at.
 * Every remaining dep shares bytes with the command, and at least one of the two writes them. For
 * every two such commands there is a path of deps from the later to the earlier.
 *
 * Time per command: the intervals that its ranges cover, the readers since the last write of what
 * it writes, and 16 steps per dep. With few distinct ranges that is a constant per range; a whole
 * buffer that is used beside n small pieces of it costs up to 2n + 1 each time. Memory: a read of
 * up to 4 intervals takes a node each. A wider read takes a node per change of wide readers along
 * its run, so whole reads beside small pieces take one each. Only wide ranges that start and end at
 * many different places take more, up to a node per interval that they cover. There are at most
 * twice as many deps as interval accesses: a read adds one, and is waited for once.
 *
 * Thread-safety: belongs to one thread at a time.
 */
#ifndef VYRE_PLAN_HAZARDS_H
#define VYRE_PLAN_HAZARDS_H

#include <stdint.h>

#include <vyre/allocator.h>
#include <vyre/backend.h>
#include <vyre/diag.h>
#include <vyre/export.h>

#include "plan/intervals.h"
#include "plan/room.h"

struct vyre_hazards {
    struct vyre_allocator allocator;
    struct vyre_room states;  /* struct interval_state, one per interval */
    struct vyre_room readers; /* struct reader */
    /* uint32_t per command, from 1: the last command that found it as a dep */
    struct vyre_room marks;
    struct vyre_room found;  /* uint32_t: deps of all commands before the third kind is left out */
    struct vyre_room spans;  /* uint32_t per command, and one more: its first in `found` */
    struct vyre_room floors; /* uint32_t per command: all commands below it come before it */
    struct vyre_room deps;   /* uint32_t: the remaining deps of all commands */
    uint32_t reader_count;
    uint32_t found_count;
    uint32_t dep_count;
    uint32_t command_count; /* seen so far */
};

/* `allocator` is a resolved one. Allocates nothing yet. */
void vyre_hazards_init(struct vyre_hazards *hazards, const struct vyre_allocator *allocator);
void vyre_hazards_deinit(struct vyre_hazards *hazards);

/* Forgets everything and makes room for a batch. OUT_OF_MEMORY, PLAN_OVERFLOW. */
VYRE_NODISCARD enum vyre_status vyre_hazards_begin(struct vyre_hazards *hazards,
                                                   uint32_t command_count, uint32_t interval_count,
                                                   struct vyre_diag *diag);

/*
 * The next command: appends its deps, ascending, to `deps`. `ranges` are the view's, and
 * `intervals` has numbered all of them. OUT_OF_MEMORY, PLAN_OVERFLOW: only begin may follow.
 */
VYRE_NODISCARD enum vyre_status vyre_hazards_next(struct vyre_hazards *hazards,
                                                  const struct vyre_intervals *intervals,
                                                  const struct vyre_bound_range *ranges,
                                                  const struct vyre_command *command,
                                                  struct vyre_diag *diag);

#endif
