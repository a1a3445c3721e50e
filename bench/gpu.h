/*
 * gpu.h: what the benchmarks against hand-written OpenCL and Vulkan share: cells, interleaved rounds,
 * Vyre's own rows, tables and aims.
 *
 * Words
 *   launch     one dispatch of `groups` work-groups of 64 invocations
 *   cell       one pattern at one number of groups
 *   contender  one way to do it: a mode of Vyre, or code as an expert would write it by hand
 *   round      every contender measured once in every cell, one after the other
 *
 * A cell's work, the same bytes for every contender: `repeats` times a run of `launches` dependent
 * launches, the k-th of them with the constant gpu_constant(k), over the same 256 x groups bytes.
 *
 *   P1  launches is 1; made ahead of time; a wait after each
 *   P2  each repeat builds or records, submits and waits
 *   P3  made ahead of time as far as the contender can, run `repeats` times
 *
 * The bytes are compared with those of a plain C loop after every cell.
 */
#ifndef VYRE_BENCH_GPU_H
#define VYRE_BENCH_GPU_H

#include <vyre/vyre.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sample.h"

#define GPU_LOCAL_SIZE   64
#define GPU_GROUP_BYTES  (GPU_LOCAL_SIZE * sizeof(uint32_t))
#define GPU_GROUPS_MAX   256
#define GPU_BUFFER_BYTES (GPU_GROUPS_MAX * GPU_GROUP_BYTES)
#define GPU_LAUNCHES_MAX 2000

enum gpu_pattern {
    GPU_P1 = 0,
    GPU_P2 = 1,
    GPU_P3 = 2,
};
#define GPU_PATTERNS     3
#define GPU_ALL_PATTERNS 7u
#define GPU_SIZES        3
#define GPU_CELLS        (GPU_SIZES * GPU_PATTERNS)

struct gpu_cell {
    uint32_t index; /* size x GPU_PATTERNS + pattern */
    enum gpu_pattern pattern;
    uint32_t groups;
    uint32_t launches;
    uint32_t repeats;
};

/* How much work a cell is; the groups are 1, 16 and 256. */
struct gpu_work {
    uint32_t launches;
    uint32_t repeats;
};
typedef struct gpu_work gpu_work_table[GPU_SIZES][GPU_PATTERNS];

static inline uint32_t gpu_constant(uint32_t launch)
{
    return 2 * launch + 1;
}

static inline size_t gpu_cell_bytes(const struct gpu_cell *cell)
{
    return cell->groups * GPU_GROUP_BYTES;
}

#define GPU_ABSENT_BYTES 192

struct gpu_contender {
    const char *name; /* Static */
    bool by_hand;
    unsigned patterns;             /* bit 1 << pattern: runs it */
    char absent[GPU_ABSENT_BYTES]; /* why it cannot run; "" when it can */
    bool failed;                   /* ran, and said why it failed */
    void *state;
    enum vyre_mode mode;                        /* of Vyre's rows */
    uint64_t modes[GPU_CELLS][VYRE_MODE_COUNT]; /* batches by mode, of Vyre's rows */

    /* Returns when all of it is done. False: it failed and said why. */
    bool (*run)(struct gpu_contender *contender, const struct gpu_cell *cell, uint32_t repeats);
    bool (*write)(struct gpu_contender *contender, const void *bytes, size_t size_bytes);
    bool (*read)(struct gpu_contender *contender, void *out_bytes, size_t size_bytes);
    void (*close)(struct gpu_contender *contender); /* NULL: the state is Borrowed */
};

/* ---- Vyre's rows ------------------------------------------------------------------------------ */

/* Fills a zeroed contender, or its `absent`. Each has a device of its own. */
struct gpu_vyre_desc {
    const char *name;    /* Static: of the row */
    const char *backend; /* Static */
    const char *device;  /* a part of the device's name */
    enum vyre_mode mode;
    uint32_t variant;
    struct vyre_payload payload; /* of the kernel */
};
void gpu_open_vyre(const struct gpu_vyre_desc *desc, struct gpu_contender *out_contender);

/*
 * Host time of vyre_batch_submit for a batch of `dispatches` one-group launches, on an idle device;
 * the first submit records. Only for contenders of gpu_open_vyre.
 */
void gpu_vyre_prepare_submit(struct gpu_contender *contender, uint32_t dispatches);
bool gpu_vyre_time_submit(struct gpu_contender *contender, double *out_ns);

/* ---- Measuring -------------------------------------------------------------------------------- */

#define GPU_ROUNDS_MAX     101
#define GPU_CONTENDERS_MAX 12

struct gpu_options {
    size_t rounds;
    double seconds;      /* of each configuration: a round that is not over by then is dropped */
    bool full;           /* 2,000 launches and 20 repeats also where a launch takes long */
    const char *row;     /* only contenders whose name contains it */
    const char *pattern; /* only this one */
    uint32_t groups;     /* only this many; 0: all */
    const char *device;  /* only devices whose name contains it */
    const char *child;   /* the configuration that this process is for */
};

struct gpu_results {
    const char *title; /* Borrowed: what was measured on */
    struct gpu_cell cells[GPU_CELLS];
    struct gpu_contender contenders[GPU_CONTENDERS_MAX];
    size_t contender_count;
    bool measured[GPU_CONTENDERS_MAX][GPU_CELLS];
    double ns[GPU_CONTENDERS_MAX][GPU_CELLS][GPU_ROUNDS_MAX]; /* per launch */
    size_t rounds;
    size_t rounds_wanted; /* fewer were run when the time was up */
    double load;          /* the machine's, before the start */
};

/* False: usage was printed. */
bool gpu_parse(const char *program, int argc, char **argv, struct gpu_options *out_options);

void gpu_define_cells(const struct gpu_options *options, const gpu_work_table work,
                      struct gpu_cell cells[GPU_CELLS]);
double gpu_load(void);

/* A short sleep, in which what still spins leaves, and a spin until the core is at its speed. */
void gpu_settle(void);

/* False: a contender failed or gave other bytes; it was said which, and the others were measured. */
bool gpu_measure(const struct gpu_options *options, struct gpu_results *results);

void gpu_close(struct gpu_results *results);

/* ---- Figures ---------------------------------------------------------------------------------- */

#define GPU_NONE SIZE_MAX

/* The contender with the lowest median in the cell, of those by hand or of Vyre's required modes. */
size_t gpu_best(const struct gpu_results *results, uint32_t cell, bool by_hand);

/* The contender with this name, if it was measured in the cell; else GPU_NONE. */
size_t gpu_find(const struct gpu_results *results, const char *name, uint32_t cell);

struct sample_summary gpu_figure(const struct gpu_results *results, size_t contender,
                                 uint32_t cell);

/* Of the ratios of each round, so that drift of the machine between rounds cancels. */
struct sample_summary gpu_ratio(const struct gpu_results *results, size_t contender, size_t base,
                                uint32_t cell);

void gpu_report(const struct gpu_results *results, FILE *out);

/* ---- Aims ------------------------------------------------------------------------------------- */

struct gpu_aim {
    const char *contender;
    const char *base; /* NULL: the best by hand */
    double limit;
    bool faster; /* at least `limit` times as fast; else at most `limit` times the time */
};

/* One line: what was aimed at, what came out, and whether it was reached. */
void gpu_print_aim(const struct gpu_results *results, const struct gpu_aim *aim, uint32_t cell,
                   FILE *out);

/* For every cell: the best of Vyre's modes against the best by hand. */
void gpu_print_best_aims(const struct gpu_results *results, FILE *out);

/* Whether any of Vyre's modes was measured at all: without one there is nothing to judge. */
bool gpu_has_vyre(const struct gpu_results *results);

const char *gpu_pattern_name(enum gpu_pattern pattern);
const char *gpu_busy_warning(double load);

#endif
