/*
 * launch.h: what the parts of the launch benchmark agree on.
 *
 * Words
 *   launch     one dispatch of `groups` work-groups of 64 invocations
 *   pattern    how launches are handed over and waited for
 *   cell       one pattern at one number of groups
 *   contender  one way to do it: a mode of Vyre, a peer, or the direct loop that is the limit
 *   round      every contender measured once in every cell, one after the other
 *
 * A cell's work, the same bytes for every contender: `repeats` times a run of `launches` dependent
 * launches, the k-th of them with the constant launch_constant(k), over the same 256 x groups bytes.
 *
 *   P1          launches is 1; a wait after each
 *   P1 rebuilt  as P1, but the batch is reset and built again each time
 *   P2          each repeat builds, submits and waits
 *   P3          built ahead of time, submitted `repeats` times, one wait at the end
 */
#ifndef VYRE_BENCH_LAUNCH_H
#define VYRE_BENCH_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <vyre/device.h>
#include <vyre/hash.h>
#include <vyre/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LAUNCH_LOCAL_SIZE   64
#define LAUNCH_GROUP_BYTES  (LAUNCH_LOCAL_SIZE * sizeof(uint32_t))
#define LAUNCH_GROUPS_MAX   4096
#define LAUNCH_BUFFER_BYTES (LAUNCH_GROUPS_MAX * LAUNCH_GROUP_BYTES)

enum launch_pattern {
    LAUNCH_P1 = 0,
    LAUNCH_P1_REBUILT = 1,
    LAUNCH_P2 = 2,
    LAUNCH_P3 = 3,
};
#define LAUNCH_PATTERNS 4
#define LAUNCH_SIZES    4
#define LAUNCH_CELLS    (LAUNCH_SIZES * LAUNCH_PATTERNS)

struct launch_cell {
    uint32_t index; /* below LAUNCH_CELLS; unique */
    enum launch_pattern pattern;
    uint32_t groups;
    uint32_t launches;
    uint32_t repeats;
};

static inline size_t launch_cell_bytes(const struct launch_cell *cell)
{
    return cell->groups * LAUNCH_GROUP_BYTES;
}

static inline double launch_cell_launches(const struct launch_cell *cell)
{
    return (double)cell->launches * cell->repeats;
}

static inline uint32_t launch_constant(uint32_t launch)
{
    return 2 * launch + 1;
}

/* a[i] = a[i] * 1664525 + c: the one kernel of all contenders, in an object file of its own. */
void launch_kernel(const struct vyre_host_group *group);

/* The initial bytes of every buffer. */
void launch_fill(void *out_bytes, size_t size_bytes);

struct launch_sample {
    uint64_t ns;
    struct vyre_hash128 digest;
};

#define LAUNCH_ABSENT_BYTES 160

struct launch_contender {
    const char *name;                 /* Static */
    char absent[LAUNCH_ABSENT_BYTES]; /* why it cannot run; "" when it can */
    bool skips_rebuilt;               /* has no batch to rebuild */
    void *state;                      /* Owned */

    /* Fills the buffer, runs an eighth of the cell untimed, fills again, runs it, reads the digest. */
    bool (*measure)(struct launch_contender *contender, const struct launch_cell *cell,
                    struct launch_sample *out_sample);

    /* What launch_measure asks of a contender in this process. False: it failed and said why. */
    bool (*run)(void *state, const struct launch_cell *cell, uint32_t repeats);
    bool (*write)(void *state, const void *bytes, size_t size_bytes);
    bool (*read)(void *state, void *out_bytes, size_t size_bytes);
    void (*rest)(void *state); /* NULL: nothing spins once work is done */
    void (*close)(void *state);
};

bool launch_measure(struct launch_contender *contender, const struct launch_cell *cell,
                    struct launch_sample *out_sample);

/* Each fills a zeroed contender, or its `absent`. */
void launch_open_direct(struct launch_contender *out_contender);
void launch_open_openmp(struct launch_contender *out_contender);
void launch_open_openmp_if(struct launch_contender *out_contender);
void launch_open_openmp_active(struct launch_contender *out_contender);
void launch_open_onetbb(struct launch_contender *out_contender);
void launch_open_vyre(enum vyre_mode mode, struct launch_contender *out_contender);

/* The main function of the process behind launch_open_openmp_active; requests come on fd 0. */
int launch_openmp_child(void);

/* How often each mode ran in the cell, by enum vyre_mode; for contenders of launch_open_vyre. */
const uint64_t *launch_vyre_modes(const struct launch_contender *contender, uint32_t cell_index);

/* ---- Streaming: independent items of one group ------------------------------------------------ */

#define LAUNCH_STREAM_BUFFERS 64
#define LAUNCH_STREAM_BYTES   (LAUNCH_STREAM_BUFFERS * LAUNCH_GROUP_BYTES)

/* Item i runs on buffer i % LAUNCH_STREAM_BUFFERS with the constant 1. */
struct launch_streamer {
    const char *name;                                /* Static */
    char absent[LAUNCH_ABSENT_BYTES];                /* why it cannot run; "" when it can */
    void *state;                                     /* Owned */
    bool (*stream)(void *state, uint32_t items);     /* one wait, at the end */
    bool (*round_trip)(void *state, uint32_t items); /* a wait after each; all on buffer 0 */
    bool (*fill)(void *state);
    bool (*digest)(void *state, struct vyre_hash128 *out_digest); /* of all buffers in a row */
    void (*close)(void *state);
};

void launch_stream_open_direct(struct launch_streamer *out_streamer);
void launch_stream_open_onetbb(struct launch_streamer *out_streamer);
void launch_stream_open_vyre(bool workers_only, struct launch_streamer *out_streamer);

/* ---- Results ---------------------------------------------------------------------------------- */

#define LAUNCH_ROUNDS_MAX     101
#define LAUNCH_CONTENDERS_MAX 9
#define LAUNCH_STREAMERS_MAX  4

struct launch_results {
    const struct launch_cell *cells;                           /* LAUNCH_CELLS of them, by index */
    struct launch_contender contenders[LAUNCH_CONTENDERS_MAX]; /* the first is the direct loop */
    size_t contender_count;
    bool measured[LAUNCH_CONTENDERS_MAX][LAUNCH_CELLS];
    double ns[LAUNCH_CONTENDERS_MAX][LAUNCH_CELLS][LAUNCH_ROUNDS_MAX]; /* per launch */
    size_t rounds;
    size_t rounds_wanted; /* fewer were run when the time was up */
    double load;          /* the machine's, before the start */
    size_t auto_row;      /* which contender is Vyre's auto; the forced modes are the 3 before it */

    struct launch_streamer streamers[LAUNCH_STREAMERS_MAX];
    size_t streamer_count;
    double stream_ns[LAUNCH_STREAMERS_MAX][LAUNCH_ROUNDS_MAX]; /* per item */
    double round_trip_ns[LAUNCH_STREAMERS_MAX][LAUNCH_ROUNDS_MAX];
    size_t stream_rounds; /* 0: not measured */
};

const char *launch_pattern_name(enum launch_pattern pattern);
void launch_report_text(const struct launch_results *results, FILE *out);
void launch_report_json(const struct launch_results *results, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
