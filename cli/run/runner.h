/*
 * runner.h: runs the schedule of a session and keeps counts and times for the summary.
 *
 * The work in flight is limited by count and by time, so that Ctrl-C takes effect soon. The first
 * submissions of each batch are timed; after that the library times samples.
 *
 * Words
 *   kind  a batch of the workload
 *   cell  the submissions of one kind that ran in one mode
 *   cost  the time that one more batch in a stream takes: the time in submit or the time on the device,
 *         whichever is longer, since the two overlap
 */
#ifndef VYRE_CLI_RUN_RUNNER_H
#define VYRE_CLI_RUN_RUNNER_H

#include <vyre/vyre.h>

#include "run/samples.h"
#include "run/schedule.h"
#include "run/session.h"
#include "terminal/progress.h"

#define RUNNER_WINDOW_MAX 64

/*
 * A saving is the difference of two medians. Each needs at least RUNNER_SAMPLES_MIN measurements. The
 * first RUNNER_COLD batches of a kind do not count: memory and kernels are cold, and auto, which begins
 * with plain, would look better than it is.
 */
#define RUNNER_SAMPLES_MIN 3
#define RUNNER_COLD        8

struct runner_cell {
    uint64_t count;
    uint64_t whys[VYRE_WHY_COUNT];
    uint64_t outs[VYRE_WHY_COUNT]; /* why the wanted mode could not run */
    enum vyre_mode wanted;         /* of the last batch that ran in another mode than wanted */
    struct samples device_ns;
    struct samples submit_ns;
    struct samples cost_ns;
};

struct runner_kind {
    uint64_t submitted;
    struct runner_cell cells[VYRE_MODE_COUNT];
    unsigned char verdicts[VYRE_POLICY_COUNT]; /* the last choice seen; 0: none */
    uint32_t repeat_hint;                      /* how often the schedule submits it */
    uint64_t predicted_ns[VYRE_MODE_COUNT];    /* saved per batch, by the verdict; 0: no verdict */
};

struct runner_pending {
    struct vyre_ticket ticket;
    uint32_t batch;
    uint64_t number; /* of its kind, from 1 */
};

struct runner {
    struct session *session;       /* Borrowed */
    struct vyre_audit *audit;      /* Borrowed: the instance's; NULL: verdicts are not kept */
    struct cli_progress *progress; /* Borrowed */
    enum vyre_mode mode;
    struct schedule schedule;
    struct runner_kind *kinds; /* Owned: as many as the workload has batches */
    struct runner_pending pending[RUNNER_WINDOW_MAX]; /* a ring */
    size_t first_pending;
    size_t pending_count;
    size_t window;
    uint64_t completed;
    uint64_t dispatches;
    uint64_t wall_ns;
    uint64_t by_mode[VYRE_MODE_COUNT];
    uint64_t progress_base; /* batches that other runners have completed */
    bool at_end;            /* of the schedule */
    bool busy;              /* interrupted, and the device is still at work */
};

VYRE_NODISCARD enum vyre_status runner_init(struct runner *runner, struct session *session,
                                            enum vyre_mode mode, uint64_t repeat,
                                            struct vyre_diag *diag);
void runner_deinit(struct runner *runner);

/* Tells auto how often each batch comes if the schedule runs `repeat` times in all. */
void runner_announce(struct runner *runner, uint64_t repeat);

/*
 * Submits up to `count` more batches and waits for them. Also returns VYRE_OK at the end of the schedule
 * and when interrupted (see cli_interrupted): the counts then say how far it came.
 */
VYRE_NODISCARD enum vyre_status runner_run(struct runner *runner, uint64_t count,
                                           struct vyre_diag *diag);

/*
 * What a batch in this mode saved against plain, by the measurements of this run; can be negative.
 * False when there are too few measurements of either mode.
 */
bool runner_saved_ns(struct runner_kind *kind, enum vyre_mode mode, int64_t *out_saved_ns);

/* Batches whose wanted mode could not run for this reason. */
uint64_t runner_count_out(const struct runner *runner, enum vyre_why why);

#endif
