/*
 * bench.h: the harness of all benchmarks. It looks at the machine, runs contenders in turns, and reports
 * medians with 95 % intervals, as text and as JSON.
 *
 * Words
 *   contender  one way to do the work: a mode of Vyre, a peer, or a loop that is the limit
 *   cell       one size or pattern of the work; it has a group and a column in the printed table
 *   round      every contender measured once in every cell, one after the other
 *   figure     the median over the rounds of one contender in one cell
 *   ratio      the median of the ratios within each round, so that a change of the machine's pace from
 *              round to round cancels
 *   aim        what a figure or a ratio should reach; it is reported and never asserted
 *
 *   bench_begin -> for each table: bench_table_init, add, bench_run, bench_report, bench_table_deinit
 *               -> bench_end, whose value is the program's exit code
 */
#ifndef VYRE_BENCH_HARNESS_BENCH_H
#define VYRE_BENCH_HARNESS_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

uint64_t bench_now_ns(void);

/* ---- Statistics ------------------------------------------------------------------------------- */

#define BENCH_ROUNDS_MAX 1001
#define BENCH_ROUNDS_FOR_95 \
    6 /* fewer cannot give a 95 % interval; it is then the range of all values */

struct bench_summary {
    size_t count;
    double min;
    double low; /* 95 % interval of the median, from the order of the values: no shape is assumed */
    double median;
    double high;
};

/* Leaves `values` as they are. 1 to BENCH_ROUNDS_MAX of them. */
struct bench_summary bench_summarize(const double *values, size_t count);

/* ---- The machine ------------------------------------------------------------------------------ */

struct bench_machine {
    unsigned cores; /* that this process may use */
    double others;  /* cores that other programs used while this one slept; negative: unknown */
    double stolen;  /* cores that the hypervisor took meanwhile */
    double pair;    /* work of two pinned loops at once over the work of one; 0: one core only */
    bool is_quiet;
    bool has_two_cores; /* two loops did nearly twice the work of one */
};

/* Takes about a second. */
void bench_machine_look(struct bench_machine *out_machine);

/* From the figures: is_quiet and has_two_cores. */
void bench_machine_judge(struct bench_machine *machine);

/* One line for people. */
void bench_machine_format(const struct bench_machine *machine, char *out_text, size_t capacity);

/* ---- A program -------------------------------------------------------------------------------- */

struct json_t;

/* An option of one program beside those of all: its value is stored as text. */
struct bench_option {
    const char *name;  /* "--device" */
    const char *value; /* for the usage line: "TEXT"; NULL: not shown there */
    const char **target;
};

struct bench_desc {
    const char *name; /* "opencl", of bench_opencl */
    size_t rounds;
    size_t rounds_quick;
    double seconds; /* of a table: a round that is not over by then is dropped. 0: no limit */
    const struct bench_option *options;
    size_t option_count;
};

struct bench {
    const struct bench_desc *desc;
    size_t rounds;
    double seconds;
    bool json;
    const char *row; /* only contenders whose name contains it, and those they are compared with */
    struct bench_machine machine;
    struct json_t *tables; /* Owned: with json, what bench_end writes */
    bool failed;
};

/*
 * Reads --quick, --json, --rounds N, --seconds N, --row TEXT and the program's options, looks at the machine
 * and prints what it sees. False: the usage was printed; end with exit code 2.
 */
bool bench_begin(struct bench *bench, const struct bench_desc *desc, int argc, char **argv);

/*
 * With --json: takes the tables of another document, that of a second process of the program; each gets what that
 * process saw of the machine.
 */
void bench_append(struct bench *bench, FILE *document);

/* Writes the JSON document. 0, or 1 if a contender failed. */
int bench_end(struct bench *bench);

/* ---- Another process -------------------------------------------------------------------------- */

struct bench_process {
    FILE *output; /* what it writes to standard output */
    int pid;
};

/* Starts argv[0], looked up in PATH. False: it said why on standard error. */
bool bench_process_start(char *const argv[], struct bench_process *out_process);

/* Waits for its end. Its exit code, or 1 if a signal ended it. */
int bench_process_finish(struct bench_process *process);

/* ---- A table ---------------------------------------------------------------------------------- */

#define BENCH_CONTENDERS_MAX 16
#define BENCH_CELLS_MAX      96
#define BENCH_ABSENT_BYTES   192

enum bench_role {
    BENCH_PEER = 0, /* measured beside the others */
    BENCH_BASE,     /* ratios are to the fastest of these in the cell */
    BENCH_OWN,      /* a choice that auto has */
    BENCH_AUTO,     /* compared with the fastest BENCH_OWN */
};

struct bench_contender {
    const char *name; /* Static */
    enum bench_role role;
    bool skips[BENCH_CELLS_MAX];     /* cells that it does not run */
    char absent[BENCH_ABSENT_BYTES]; /* why it cannot run; "" when it can */
    bool failed;                     /* ran, and said why it failed; its figures are left out */
    void *state;                     /* Borrowed */
};

/* A size of a cell's work, for the document. */
struct bench_number {
    const char *name; /* Static */
    double value;
};
#define BENCH_NUMBERS_MAX 4

struct bench_cell {
    char group[48]; /* cells of a group stand beside each other in the printed table */
    char column[48];
    char detail[24];  /* printed behind the column where the table has room; may be "" */
    bool is_left_out; /* by an option */
    struct bench_number numbers[BENCH_NUMBERS_MAX];
    size_t number_count;
};

struct bench_table {
    const char *title;   /* Borrowed */
    const char *unit;    /* "ns per launch". Static */
    bool settles;        /* pause before each measurement, so that what still spins goes to sleep */
    bool starts_cold;    /* no round to warm up: each measurement starts anew anyway */
    bool is_whole;       /* --row leaves nothing out */
    double seconds_most; /* of --seconds; 0: all of it */
    struct bench_contender contenders[BENCH_CONTENDERS_MAX];
    size_t contender_count;
    struct bench_cell cells[BENCH_CELLS_MAX];
    size_t cell_count;

    /* Nanoseconds per unit. 0: it has no such cell. Negative: it failed and said why on standard error. */
    double (*measure)(void *context, struct bench_contender *contender, size_t cell);
    /* Says more of a figure of auto, such as which modes ran; may be NULL. */
    void (*note)(void *context, const struct bench_contender *contender, size_t cell,
                 char *out_text, size_t capacity);
    void *context;

    size_t rounds;        /* that were measured */
    size_t rounds_wanted; /* fewer were run when the time was up */
    double *ns;           /* Owned: see bench_samples */
};

void bench_table_init(struct bench_table *table, const char *title, const char *unit);
void bench_table_deinit(struct bench_table *table);
struct bench_contender *bench_add_contender(struct bench_table *table, const char *name,
                                            enum bench_role role);
/* Returns its index. */
size_t bench_add_cell(struct bench_table *table, const char *group, const char *column);

/*
 * Every contender in every cell, round by round. The order shifts by one each round and turns around in every
 * second, so that no contender always follows the same other. A first round warms up and is not kept. False: a
 * contender failed and the others were measured, or the options leave nothing to measure.
 */
bool bench_run(struct bench *bench, struct bench_table *table);

/* A short sleep, in which what still spins leaves, and a spin until the core is at its speed. */
void bench_settle(void);

/* ---- Figures ---------------------------------------------------------------------------------- */

#define BENCH_NONE SIZE_MAX

bool bench_is_measured(const struct bench_table *table, size_t contender, size_t cell);
const double *bench_samples(const struct bench_table *table, size_t contender, size_t cell);
struct bench_summary bench_figure(const struct bench_table *table, size_t contender, size_t cell);

/* Of `contender` in `cell` to `base` in `base_cell`. Both must be measured. */
struct bench_summary bench_ratio(const struct bench_table *table, size_t contender, size_t cell,
                                 size_t base, size_t base_cell);

/* The contender of this role with the lowest median in the cell, or BENCH_NONE. */
size_t bench_best(const struct bench_table *table, enum bench_role role, size_t cell);

/* By name, if it was measured in the cell; else BENCH_NONE. */
size_t bench_find(const struct bench_table *table, const char *name, size_t cell);

/* ---- Aims and reports ------------------------------------------------------------------------- */

enum bench_aim_kind {
    BENCH_TIMES_AT_MOST = 0, /* time over the base's time */
    BENCH_FASTER_AT_LEAST,   /* the base's time over time */
    BENCH_NS_AT_MOST,
    BENCH_GROWTH_AT_MOST, /* time over its own time in `base_cell` */
    BENCH_REGRET_AT_MOST, /* time over the time of the fastest BENCH_OWN */
};

struct bench_aim {
    enum bench_aim_kind kind;
    const char *contender; /* NULL: the fastest BENCH_OWN */
    const char *base;      /* NULL: the fastest BENCH_BASE */
    size_t cell;
    size_t base_cell;
    double limit;
};

struct bench_verdict {
    bool known; /* both sides were measured */
    size_t contender;
    size_t base; /* BENCH_NONE: the aim has none */
    struct bench_summary value;
    bool reached;       /* by the median */
    bool is_told_apart; /* there is a 95 % interval, and it does not contain the limit */
};

struct bench_verdict bench_judge(const struct bench_table *table, const struct bench_aim *aim);

/* Prints the table, auto against the best, and the aims; with --json keeps them for bench_end. */
void bench_report(struct bench *bench, const struct bench_table *table,
                  const struct bench_aim *aims, size_t aim_count);

#ifdef __cplusplus
}
#endif

#endif
