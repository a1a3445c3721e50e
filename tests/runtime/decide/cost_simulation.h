/*
 * cost_simulation.h: a device made of costs, for the governor's regret.
 *
 *   cost(batch, mode) = (first use of the shape in that mode ? fixed : 0)
 *                     + commands x per_command(mode) + execution(shape, mode)
 *
 * The governor gets fixed and per_command as from a calibration, with errors where asked for. It must find
 * out the execution.
 */
#ifndef VYRE_TESTS_RUNTIME_COST_SIMULATION_H
#define VYRE_TESTS_RUNTIME_COST_SIMULATION_H

#include <stdbool.h>
#include <stdint.h>

struct vyre_governor_rules;

#define SIM_MODES_MAX  12
#define SIM_SHAPES_MAX 20
#define SIM_BATCHES    1000
#define SIM_LATE       50 /* batches of a shape after which wrong calibration is corrected */

enum sim_execution {
    SIM_EXECUTION_PER_MODE,  /* one number per mode: the same for all shapes of the draw */
    SIM_EXECUTION_SCALED,    /* ... times the shape's size, 1/8 to 8 */
    SIM_EXECUTION_PER_SHAPE, /* independent per shape and mode: nothing carries over */
    SIM_EXECUTION_ALIKE,     /* per shape, within a factor of 2 between modes: as real ones are */
};

enum sim_calibration {
    SIM_CALIBRATION_RIGHT,
    SIM_CALIBRATION_NOISY,      /* every figure within 30 % */
    SIM_CALIBRATION_ALL_HIGH,   /* every figure 10 times what it is */
    SIM_CALIBRATION_ALL_LOW,    /* ... a tenth */
    SIM_CALIBRATION_EITHER_WAY, /* each of these at random */
};

struct sim_options {
    enum sim_execution execution;
    enum sim_calibration calibration;
    bool hinted;
    bool stored;       /* the store remembers execution times, within 30 % */
    uint32_t modes;    /* 3 by default */
    uint32_t commands; /* most commands of a batch; 0: 32 */
    bool change;       /* midway every cost per batch is drawn anew */
    uint32_t explore_bps;
    bool noisy; /* measurements within 20 %, one in 100 is 50 times too long */
    const struct vyre_governor_rules *rules; /* Borrowed; NULL: the governor's own */
};

struct sim_draw {
    uint32_t mode_count, shape_count;
    bool feasible[SIM_MODES_MAX];
    double fixed[SIM_MODES_MAX];
    double per_command[SIM_MODES_MAX];
    double execution[2][SIM_SHAPES_MAX][SIM_MODES_MAX]; /* before and after the change */
    double known_fixed[SIM_MODES_MAX];                  /* what calibration says */
    double known_per_command[SIM_MODES_MAX];
    double known_execution[SIM_SHAPES_MAX][SIM_MODES_MAX];
    uint32_t commands[SIM_SHAPES_MAX];
    uint16_t order[SIM_BATCHES]; /* shape of each batch */
    uint32_t batches[SIM_SHAPES_MAX];
};

struct sim_result {
    double auto_ns;
    double best_fixed_ns;     /* one mode for all batches of the draw, in hindsight */
    double best_per_shape_ns; /* one mode for each shape, in hindsight */
    double blind_ns;     /* of auto_ns: beyond the cheapest mode, in the device's first batch of
                                 each mode and the second of the same shape: that cannot be known before;
                                 and without a hint in a shape's first, which stays plain by rule */
    double late_ns;      /* of auto_ns: batches after a shape's 50th, in shapes of 100 or more */
    double late_best_ns; /* the least those could have cost from there on, with one mode */
    uint32_t trials, explorations, drifts;
};

void sim_draw_make(struct sim_draw *draw, uint64_t seed, const struct sim_options *options);
void sim_draw_run(const struct sim_draw *draw, const struct sim_options *options,
                  struct sim_result *out_result);

#endif
