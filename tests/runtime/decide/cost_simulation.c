/*
 * cost_simulation.c: draws of costs, and the governor run on them.
 */
#include "runtime/decide/cost_simulation.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "runtime/decide/least_cost.h"
#include "runtime/governor.h"
#include "support/random.h"

static double unit(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

/* Log-uniform over 1 us to 10 ms. */
static double random_cost(struct rng *rng)
{
    return exp(log(1e3) + unit(rng) * log(1e4));
}

static double random_between(struct rng *rng, double low, double high)
{
    return low + unit(rng) * (high - low);
}

static double calibrated(struct rng *rng, const struct sim_options *options, double real)
{
    double noise = random_between(rng, 0.7, 1.3);
    bool up = rng_bool(rng);
    switch (options->calibration) {
    case SIM_CALIBRATION_NOISY:
        return real * noise;
    case SIM_CALIBRATION_ALL_HIGH:
        return real * 10;
    case SIM_CALIBRATION_ALL_LOW:
        return real / 10;
    case SIM_CALIBRATION_EITHER_WAY:
        return up ? real * 10 : real / 10;
    case SIM_CALIBRATION_RIGHT:
    default:
        return real;
    }
}

static void draw_modes(struct sim_draw *draw, struct rng *rng, const struct sim_options *options)
{
    draw->mode_count = options->modes ? options->modes : 3;
    for (uint32_t m = 0; m < draw->mode_count; m++) {
        draw->feasible[m] = m == 0 || rng_bool(rng);
        draw->fixed[m] = random_cost(rng);
        draw->per_command[m] = random_cost(rng);
        draw->known_fixed[m] = calibrated(rng, options, draw->fixed[m]);
        draw->known_per_command[m] = calibrated(rng, options, draw->per_command[m]);
    }
}

static void draw_execution(struct sim_draw *draw, struct rng *rng,
                           const struct sim_options *options, uint32_t half)
{
    double per_mode[SIM_MODES_MAX];
    for (uint32_t m = 0; m < draw->mode_count; m++)
        per_mode[m] = random_cost(rng);
    for (uint32_t s = 0; s < draw->shape_count; s++) {
        double size = exp2(random_between(rng, -3, 3));
        double own = random_cost(rng);
        for (uint32_t m = 0; m < draw->mode_count; m++) {
            double independent = random_cost(rng);
            double alike = own * exp2(random_between(rng, -0.5, 0.5));
            double *cost = &draw->execution[half][s][m];
            *cost = per_mode[m];
            if (options->execution == SIM_EXECUTION_SCALED)
                *cost *= size;
            else if (options->execution == SIM_EXECUTION_PER_SHAPE)
                *cost = independent;
            else if (options->execution == SIM_EXECUTION_ALIKE)
                *cost = alike;
        }
    }
}

void sim_draw_make(struct sim_draw *draw, uint64_t seed, const struct sim_options *options)
{
    struct rng rng = rng_seeded(seed);
    memset(draw, 0, sizeof *draw);
    draw_modes(draw, &rng, options);
    draw->shape_count = 1 + (uint32_t)(rng_below(&rng, SIM_SHAPES_MAX));
    draw_execution(draw, &rng, options, 0);
    memcpy(draw->execution[1], draw->execution[0], sizeof draw->execution[0]);
    if (options->change)
        draw_execution(draw, &rng, options, 1);
    for (uint32_t s = 0; s < draw->shape_count; s++) {
        uint32_t most = options->commands ? options->commands : 32;
        draw->commands[s] = 1 + (uint32_t)(rng_below(&rng, most));
        for (uint32_t m = 0; m < draw->mode_count; m++)
            draw->known_execution[s][m] = draw->execution[0][s][m] * random_between(&rng, 0.7, 1.3);
    }
    for (uint32_t b = 0; b < SIM_BATCHES; b++) {
        draw->order[b] = (uint16_t)(rng_below(&rng, draw->shape_count));
        draw->batches[draw->order[b]]++;
    }
}

static double per_batch(const struct sim_draw *draw, uint32_t batch, uint32_t shape, uint32_t mode)
{
    return draw->commands[shape] * draw->per_command[mode] +
           draw->execution[batch >= SIM_BATCHES / 2][shape][mode];
}

/* In hindsight: one mode for all, and one for each shape. */
static void hindsight(const struct sim_draw *draw, struct sim_result *result)
{
    double sums[SIM_SHAPES_MAX][SIM_MODES_MAX] = {{0}};
    for (uint32_t b = 0; b < SIM_BATCHES; b++) {
        for (uint32_t m = 0; m < draw->mode_count; m++)
            sums[draw->order[b]][m] += per_batch(draw, b, draw->order[b], m);
    }
    double all[SIM_MODES_MAX] = {0};
    for (uint32_t s = 0; s < draw->shape_count; s++) {
        double least = INFINITY;
        if (!draw->batches[s])
            continue;
        for (uint32_t m = 0; m < draw->mode_count; m++) {
            double cost = draw->feasible[m] ? sums[s][m] + draw->fixed[m] : INFINITY;
            all[m] += cost;
            least = cost < least ? cost : least;
        }
        result->best_per_shape_ns += least;
    }
    result->best_fixed_ns = INFINITY;
    for (uint32_t m = 0; m < draw->mode_count; m++)
        result->best_fixed_ns = all[m] < result->best_fixed_ns ? all[m] : result->best_fixed_ns;
}

struct run {
    const struct sim_draw *draw;
    const struct sim_options *options;
    struct vyre_shapes shapes;
    struct vyre_governor governor;
    struct sim_result *result;
    bool used[SIM_SHAPES_MAX][SIM_MODES_MAX];
    uint32_t tried[SIM_MODES_MAX];
    uint32_t seen[SIM_SHAPES_MAX];
    bool ready_late[SIM_SHAPES_MAX][SIM_MODES_MAX];
    double late[SIM_SHAPES_MAX][SIM_MODES_MAX];
    struct rng rng;
};

static void fill_facts(const struct run *run, uint32_t shape, struct vyre_candidate_facts *facts)
{
    const struct sim_draw *draw = run->draw;
    for (uint32_t m = 0; m < draw->mode_count; m++) {
        facts[m] = (struct vyre_candidate_facts){
            .feasible = draw->feasible[m],
            .ready = run->used[shape][m],
            .why = VYRE_WHY_ABILITY_ABSENT,
            .fixed_ns = (uint64_t)draw->known_fixed[m],
            .per_command_ns = (uint64_t)draw->known_per_command[m],
            .execution_ns = run->options->stored ? (uint64_t)draw->known_execution[shape][m] : 0,
        };
    }
}

static void account(struct run *run, uint32_t batch, uint32_t shape, uint32_t mode, double cost_ns)
{
    const struct sim_draw *draw = run->draw;
    double least = INFINITY;
    for (uint32_t m = 0; m < draw->mode_count; m++) {
        double cost = per_batch(draw, batch, shape, m);
        if (draw->feasible[m] && cost < least)
            least = cost;
    }
    run->result->auto_ns += cost_ns;
    /* Until a mode is known its second batch in a shape is as blind: the first shows only a sum. */
    bool stays_plain = !run->options->hinted && run->seen[shape] == 0 && mode == 0;
    if (stays_plain || !run->tried[mode] || (run->tried[mode] == 1 && run->used[shape][mode]))
        run->result->blind_ns += cost_ns - least;
    run->tried[mode] += !run->tried[mode] || (run->tried[mode] == 1 && run->used[shape][mode]);
    if (++run->seen[shape] == SIM_LATE)
        memcpy(run->ready_late[shape], run->used[shape], sizeof run->used[shape]);
    if (run->seen[shape] > SIM_LATE && draw->batches[shape] >= 2 * SIM_LATE) {
        run->result->late_ns += cost_ns;
        for (uint32_t m = 0; m < draw->mode_count; m++)
            run->late[shape][m] += per_batch(draw, batch, shape, m);
    }
}

static void run_batch(struct run *run, uint32_t batch)
{
    const struct sim_draw *draw = run->draw;
    uint32_t s = draw->order[batch];
    struct vyre_governor_batch asked = {
        .command_count = draw->commands[s],
        .repeat_hint = run->options->hinted ? draw->batches[s] : 0,
    };
    struct vyre_shape *shape =
        vyre_governor_see(&run->governor, (struct vyre_hash128){.lo = s * 7919 + 1, .hi = s});
    struct vyre_governor_choice choice;
    if (!vyre_governor_settled(&run->governor, shape, &asked, &choice)) {
        struct vyre_candidate_facts facts[SIM_MODES_MAX];
        fill_facts(run, s, facts);
        asked.verdict = verdict_of(facts, draw->mode_count, &asked, shape->unit.seen);
        vyre_governor_choose(&run->governor, shape, facts, draw->mode_count, &asked, &choice);
    }
    vyre_governor_ran(&run->governor, shape, &choice);
    uint32_t mode = choice.candidate;
    bool first = !run->used[s][mode];
    double cost = per_batch(draw, batch, s, mode) + (first ? draw->fixed[mode] : 0);
    account(run, batch, s, mode, cost);
    run->used[s][mode] = true;
    double noise = run->options->noisy ? random_between(&run->rng, 0.8, 1.2) : 1;
    if (run->options->noisy && rng_below(&run->rng, 100) == 0)
        noise *= 50;
    const struct vyre_governor_sample sample = {
        .shape = choice.shape,
        .measured_ns = (uint64_t)(cost * noise),
        .update_ns = choice.update_ns,
        .expected_ns = choice.expected_ns,
        .candidate = choice.candidate,
        .why = choice.why,
        .was_first = first,
        .switched = choice.switched,
    };
    vyre_governor_learn(&run->governor, &sample);
}

static void sum_late(struct run *run)
{
    const struct sim_draw *draw = run->draw;
    for (uint32_t s = 0; s < draw->shape_count; s++) {
        double least = INFINITY;
        for (uint32_t m = 0; m < draw->mode_count; m++) {
            double cost = run->late[s][m] + (run->ready_late[s][m] ? 0 : draw->fixed[m]);
            if (draw->feasible[m] && cost < least)
                least = cost;
        }
        run->result->late_best_ns += run->draw->batches[s] >= 2 * SIM_LATE ? least : 0;
    }
}

void sim_draw_run(const struct sim_draw *draw, const struct sim_options *options,
                  struct sim_result *out_result)
{
    struct run run = {
        .draw = draw, .options = options, .result = out_result, .rng = rng_seeded(draw->order[0])};
    struct vyre_allocator allocator = vyre_allocator_resolve(NULL);
    memset(out_result, 0, sizeof *out_result);
    hindsight(draw, out_result);
    if (vyre_shapes_init(&run.shapes, &allocator, 32, false) != VYRE_OK) {
        out_result->auto_ns = INFINITY; /* no bound holds then */
        return;
    }
    vyre_governor_init(&run.governor, &run.shapes, options->explore_bps);
    if (options->rules)
        run.governor.rules = options->rules;
    for (uint32_t b = 0; b < SIM_BATCHES; b++)
        run_batch(&run, b);
    sum_late(&run);
    out_result->trials = (uint32_t)run.governor.counters.trials;
    out_result->explorations = (uint32_t)run.governor.counters.explorations;
    out_result->drifts = (uint32_t)run.governor.counters.drifts;
    vyre_shapes_deinit(&run.shapes);
}
