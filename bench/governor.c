/*
 * governor.c: what a decision costs.
 *
 * Claim: on a settled shape, looking it up and choosing takes under 30 ns, learning under 30 ns, and a
 * decision that is not recorded a few more. Beside them, interleaved in the same run: a comparison
 * of twelve candidates, which a shape needs only while it is new or when it is due, and a record.
 */
#include <string.h>

#include "base/memory.h"
#include "harness/bench.h"
#include "observe/decisions.h"
#include "runtime/governor.h"

#define SHAPES     64
#define CANDIDATES 12
#define CALLS      8192 /* in a round */

struct work {
    struct vyre_shapes table;
    struct vyre_governor governor;
    struct vyre_decisions *decisions;
    struct vyre_candidate_facts facts[CANDIDATES];
    struct vyre_shape *shapes[SHAPES];
    struct vyre_decision_record record;
};

static volatile uint64_t sink;

static struct vyre_hash128 key_of(uint64_t shape)
{
    return (struct vyre_hash128){.lo = shape * UINT64_C(0x9E3779B97F4A7C15), .hi = shape};
}

static const struct vyre_governor_batch batch = {.command_count = 8};

static void learn(struct work *work, const struct vyre_governor_choice *choice, bool first)
{
    uint64_t measured_ns = 20000 + choice->candidate * 3000u;
    vyre_governor_learn(&work->governor,
                        &(struct vyre_governor_sample){.shape = choice->shape,
                                                       .update_ns = 0,
                                                       .measured_ns = measured_ns,
                                                       .candidate = choice->candidate,
                                                       .why = choice->why,
                                                       .was_first = first});
}

static void step(struct work *work, uint64_t index)
{
    struct vyre_shape *shape = vyre_governor_see(&work->governor, key_of(index));
    struct vyre_governor_choice choice;
    if (!vyre_governor_settled(&work->governor, shape, &batch, &choice))
        vyre_governor_choose(&work->governor, shape, work->facts, CANDIDATES, &batch, &choice);
    learn(work, &choice, false);
    work->shapes[index] = shape;
}

static void run_see_and_settled(struct work *work)
{
    struct vyre_governor_choice choice = {0};
    for (uint64_t i = 0; i < CALLS; i++) {
        struct vyre_shape *shape = vyre_governor_see(&work->governor, key_of(i % SHAPES));
        shape->unit.seen--; /* stay settled: only the fast path is timed */
        sink += vyre_governor_settled(&work->governor, shape, &batch, &choice) + choice.candidate;
    }
}

static void run_learn(struct work *work)
{
    struct vyre_governor_choice choice = {.why = VYRE_WHY_MEASURED_BEST};
    for (uint64_t i = 0; i < CALLS; i++) {
        struct vyre_shape *shape = work->shapes[i % SHAPES];
        choice.candidate = shape->unit.current;
        choice.shape = vyre_shape_refer(shape);
        learn(work, &choice, false);
    }
}

static void run_compare(struct work *work)
{
    for (uint64_t i = 0; i < CALLS; i++) {
        struct vyre_governor_choice choice;
        struct vyre_shape *shape = work->shapes[i % SHAPES];
        vyre_governor_choose(&work->governor, shape, work->facts, CANDIDATES, &batch, &choice);
        vyre_governor_abandon(&work->governor, choice.shape, choice.candidate);
        sink += choice.candidate;
    }
}

static void run_sampled_out(struct work *work)
{
    for (uint64_t i = 0; i < CALLS; i++)
        sink += vyre_decisions_sample(work->decisions, VYRE_MODE_REPLAY, VYRE_WHY_MEASURED_BEST,
                                      false, 1);
}

static void run_recorded(struct work *work)
{
    const struct vyre_decision_measured measured = {.wall_ns = 1};
    for (uint64_t i = 0; i < CALLS; i++) {
        if (vyre_decisions_sample(work->decisions, VYRE_MODE_REPLAY, VYRE_WHY_TRIAL, true, 1))
            vyre_decisions_finish(work->decisions,
                                  vyre_decisions_begin(work->decisions, &work->record), &measured);
    }
}

static int prepare(struct work *work)
{
    struct vyre_allocator allocator = vyre_allocator_resolve(NULL);
    memset(work, 0, sizeof *work);
    if (vyre_shapes_init(&work->table, &allocator, 0, false) != VYRE_OK ||
        vyre_decisions_create(NULL, &allocator, &work->decisions) != VYRE_OK)
        return 1;
    vyre_governor_init(&work->governor, &work->table, VYRE_GOVERNOR_EXPLORE_DEFAULT);
    for (unsigned i = 0; i < CANDIDATES; i++)
        work->facts[i] = (struct vyre_candidate_facts){
            .feasible = true, .ready = true, .per_batch_ns = 1000, .per_command_ns = 1000};
    for (uint64_t i = 0; i < SHAPES * 4000; i++)
        step(work, i % SHAPES);
    return 0;
}

typedef void run_function(struct work *work);

static double measure(void *context, struct bench_contender *contender, size_t cell)
{
    (void)cell;
    run_function *const *run = contender->state;
    uint64_t start_ns = bench_now_ns();
    (*run)(context);
    return (double)(bench_now_ns() - start_ns) / CALLS;
}

int main(int argc, char **argv)
{
    static struct {
        const char *name;
        run_function *run;
    } contenders[] = {
        {"look up + settled choice", run_see_and_settled},
        {"learn", run_learn},
        {"compare 12 candidates", run_compare},
        {"decision, sampled out", run_sampled_out},
        {"decision, recorded", run_recorded},
    };
    static const struct bench_desc desc = {.name = "governor", .rounds = 201, .rounds_quick = 51};
    static const struct bench_aim aims[] = {
        {.kind = BENCH_NS_AT_MOST, .contender = "look up + settled choice", .limit = 30},
        {.kind = BENCH_NS_AT_MOST, .contender = "learn", .limit = 30},
    };
    static struct work work;
    struct bench bench;
    struct bench_table table;
    if (!bench_begin(&bench, &desc, argc, argv))
        return 2;
    if (prepare(&work))
        return 1;
    bench_table_init(&table, "a decision", "ns a call");
    table.measure = measure;
    table.context = &work;
    bench_add_cell(&table, "64 shapes", "");
    for (size_t i = 0; i < sizeof contenders / sizeof contenders[0]; i++)
        bench_add_contender(&table, contenders[i].name, BENCH_PEER)->state = &contenders[i].run;
    bench_run(&bench, &table);
    bench_report(&bench, &table, aims, sizeof aims / sizeof aims[0]);
    bench_table_deinit(&table);
    vyre_decisions_destroy(&work.decisions);
    vyre_shapes_deinit(&work.table);
    return bench_end(&bench);
}
