/*
 * compare.h: what `vyre compare` measures and prints.
 *
 * Every mode has its own session on its own device. The schedule is cut into rounds. In a round each
 * mode runs the same part of it, one mode after the other; the mode that goes first changes from round
 * to round. Modes are compared within each round: rounds differ in what they run and in the machine's
 * pace. The batches before the first round warm up and do not count.
 */
#ifndef VYRE_CLI_RUN_COMPARE_H
#define VYRE_CLI_RUN_COMPARE_H

#include "run/decisions.h"
#include "run/knowledge.h"
#include "run/options.h"
#include "run/proofs.h"
#include "run/runner.h"
#include "terminal/output.h"

#define COMPARE_MODES  4 /* plain, replay, persistent, auto */
#define COMPARE_ROUNDS 9 /* without --rounds */

/* One mode. An absent one has a reason and nothing else. */
struct contender {
    enum vyre_mode mode;
    char reason[VYRE_DIAG_MESSAGE_BYTES]; /* "": the mode is present */
    struct session *session;              /* Owned */
    struct runner runner;
    uint64_t round_ns; /* of the current round */
    struct samples rounds;
    uint64_t total_ns;                        /* of all rounds */
    uint64_t warm_up_ns;                      /* of the batches before them */
    char (*digests)[VYRE_HASH128_TEXT_BYTES]; /* Owned: one per output; NULL: not read */
    bool agrees;                              /* with the first mode */
};

struct comparison {
    struct cli_options options;
    struct workload *workload;      /* Owned */
    struct vyre_instance *instance; /* Owned */
    struct contender contenders[COMPARE_MODES];
    struct vyre_device_info device;
    struct cli_progress progress;
    struct cli_knowledge knowledge; /* of the device of auto */
    struct cli_decisions decisions; /* of auto, warm-up included */
    struct cli_proofs proofs;       /* of all devices */
    uint64_t repeat;                /* passes through the schedule */
    uint64_t warm_up;               /* submissions before the first round */
    uint64_t planned;               /* submissions of each mode in all */
    uint64_t rounds;
    uint64_t rounds_done;
    uint64_t timed_batches; /* of each mode, in completed rounds */
    bool interrupted;
    bool has_digests;
};

static inline bool contender_is_there(const struct contender *contender)
{
    return contender->reason[0] == '\0';
}

/* How two modes compare: the median of the ratios within each round, with its 95 % interval. */
struct compare_ratio {
    double median;     /* 0: not measured */
    bool has_interval; /* there were rounds enough for one */
    double low;
    double high;
    bool is_clear; /* the interval does not contain 1 */
};

/* The required mode with the least ratio to the first of them; NULL when nothing was measured. */
const struct contender *compare_best(const struct comparison *comparison);

/* `best` may be NULL. Both ran the same rounds. */
struct compare_ratio compare_ratio_to(const struct contender *contender,
                                      const struct contender *best);

/* Whether all present modes gave the same bytes. */
bool compare_agrees(const struct comparison *comparison);

void compare_print_text(struct comparison *comparison, bool colour, struct cli_output *out);
void compare_print_json(struct comparison *comparison, struct cli_output *out);

#endif
