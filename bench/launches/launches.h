/*
 * launches.h: the work of the benchmarks of a launch, the same on the CPU, in OpenCL and in Vulkan.
 *
 * Words
 *   launch   one dispatch of `groups` work-groups of 64 invocations
 *   pattern  how launches are handed over and waited for
 *   row      a contender that can run every pattern
 *
 * A cell's work, the same bytes for every row: `repeats` times a run of `launches` dependent launches, the k-th
 * of them with the constant launches_constant(k), over the same 256 x groups bytes. Each launch does
 * a[i] = a[i] * 1664525 + constant.
 *
 *   P1          launches is 1; made ahead of time; a wait after each
 *   P1 rebuilt  as P1, but the batch is reset and built again each time
 *   P2          each repeat builds or records, submits and waits
 *   P3          made ahead of time as far as the row can, run `repeats` times, one wait at the end
 *
 * The bytes that a row leaves are compared after every cell: different bytes are a failure.
 */
#ifndef VYRE_BENCH_LAUNCHES_H
#define VYRE_BENCH_LAUNCHES_H

#include <vyre/hash.h>

#include "../harness/bench.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LAUNCHES_LOCAL_SIZE   64
#define LAUNCHES_GROUP_BYTES  (LAUNCHES_LOCAL_SIZE * sizeof(uint32_t))
#define LAUNCHES_GROUPS_MAX   4096
#define LAUNCHES_BUFFER_BYTES (LAUNCHES_GROUPS_MAX * LAUNCHES_GROUP_BYTES)
#define LAUNCHES_MOST         2000 /* in a run */

enum launches_pattern {
    LAUNCHES_P1 = 0,
    LAUNCHES_P1_REBUILT = 1,
    LAUNCHES_P2 = 2,
    LAUNCHES_P3 = 3,
};
#define LAUNCHES_PATTERNS 4
#define LAUNCHES_SIZES    4
#define LAUNCHES_CELLS    (LAUNCHES_SIZES * LAUNCHES_PATTERNS)

struct launches_cell {
    uint32_t index; /* of the table's cell; below LAUNCHES_CELLS */
    enum launches_pattern pattern;
    uint32_t groups;
    uint32_t launches;
    uint32_t repeats;
};

/* How much work a cell is; 0 launches: there is no such cell. */
struct launches_work {
    uint32_t launches;
    uint32_t repeats;
};

/* The cells of one number of groups. */
struct launches_size {
    uint32_t groups;
    struct launches_work work[LAUNCHES_PATTERNS];
};

static inline size_t launches_bytes(const struct launches_cell *cell)
{
    return cell->groups * LAUNCHES_GROUP_BYTES;
}

static inline uint32_t launches_constant(uint32_t launch)
{
    return 2 * launch + 1;
}

/* The initial bytes of every buffer. */
void launches_fill(void *out_bytes, size_t size_bytes);

struct launches_sample {
    double ns; /* per launch */
    struct vyre_hash128 digest;
};

struct launches_row {
    const char *name; /* Static */
    enum bench_role role;
    unsigned patterns; /* bit 1 << pattern: runs it */
    char absent[BENCH_ABSENT_BYTES];
    void *state; /* Owned where there is a `close`, else Borrowed */

    /* Returns when all of it is done. False: it failed and said why. */
    bool (*run)(void *state, const struct launches_cell *cell, uint32_t repeats);
    bool (*write)(void *state, const void *bytes, size_t size_bytes);
    bool (*read)(void *state, void *out_bytes, size_t size_bytes);
    void (*rest)(void *state); /* NULL: nothing spins once work is done */
    void (*close)(void *state);
    /* Which modes ran in a cell; NULL: the row has none. */
    void (*note)(const void *state, uint32_t cell, char *out_text, size_t capacity);
    /* NULL: launches_measure. For a row that is in another process. */
    bool (*measure)(struct launches_row *row, const struct launches_cell *cell,
                    struct launches_sample *out_sample);
};

#define LAUNCHES_ALL_PATTERNS ((1u << LAUNCHES_PATTERNS) - 1)
#define LAUNCHES_NOT_REBUILT  (LAUNCHES_ALL_PATTERNS & ~(1u << LAUNCHES_P1_REBUILT))

/* Fills the buffer, runs an eighth of the cell untimed, fills again, runs it, and reads the digest. */
bool launches_measure(struct launches_row *row, const struct launches_cell *cell,
                      struct launches_sample *out_sample);

/* ---- The benchmark ---------------------------------------------------------------------------- */

struct launches {
    struct bench_table table;
    struct launches_cell cells[LAUNCHES_CELLS]; /* as in the table */
    struct vyre_hash128 want[LAUNCHES_CELLS];
    struct launches_row rows[BENCH_CONTENDERS_MAX];
    size_t row_count;
};

/* Options of every benchmark of a launch; `pattern` and `groups` leave the other cells out. */
struct launches_options {
    const char *pattern; /* "P1" */
    const char *groups;  /* "16" */
};

void launches_init(struct launches *launches, const char *title, const struct launches_size *sizes,
                   size_t size_count, const struct launches_options *options);

/* The next row, zeroed. */
struct launches_row *launches_add(struct launches *launches);

/* Measures all rows. False: one of them failed. */
bool launches_run(struct bench *bench, struct launches *launches);

/* The cell's index in the table; BENCH_NONE: there is no such cell. */
size_t launches_find(const struct launches *launches, uint32_t groups,
                     enum launches_pattern pattern);

/* Closes the rows and frees the samples. */
void launches_deinit(struct launches *launches);

#ifdef __cplusplus
}
#endif

#endif
