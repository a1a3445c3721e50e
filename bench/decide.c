/*
 * decide.c: what a full bundle of six verdicts costs.
 *
 * Claim: at most 25 ns a bundle, with arms of 4 slots a set and every input different from call to
 * call. Beside it, in the same run and interleaved: a bare loop that only reads the same inputs,
 * and the bundle recorded into an audit. No allocation is made between start and end of a round.
 */
#include <vyre/vyre.h>

#include <stdlib.h>

#include "harness/bench.h"

#define INPUTS 4096
#define PASSES 16 /* over all inputs, in a round */

struct work {
    struct vyre_bundle_input inputs[INPUTS];
    struct vyre_arm arms[INPUTS][2];
    struct vyre_audit *audit;
};

static uint64_t random_state = 7;

/* splitmix64 */
static uint64_t next_random(void)
{
    uint64_t z = random_state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static uint64_t random_below(uint64_t limit)
{
    return next_random() % limit;
}

static void fill_set(struct vyre_slot_set *set)
{
    vyre_slot_set_init(set, NULL, 0);
    while (set->count < 4) {
        if (vyre_slot_set_add(set, (uint32_t)random_below(256), NULL) != VYRE_OK)
            abort();
    }
}

static void fill_input(struct work *work, size_t i)
{
    for (size_t arm = 0; arm < 2; arm++) {
        fill_set(&work->arms[i][arm].reads);
        fill_set(&work->arms[i][arm].writes);
    }
    work->inputs[i] = (struct vyre_bundle_input){
        .persistent_kernel = {.batch_size = (uint32_t)random_below(4096),
                              .per_launch_overhead_ns = random_below(100000),
                              .per_item_kernel_ns = random_below(50000),
                              .persistent_setup_overhead_ns = random_below(200000000)},
        .first_arm = &work->arms[i][0],
        .second_arm = &work->arms[i][1],
        .copy_arm = random_below(2) ? &work->arms[i][0] : NULL,
        .copy_dst_slot = (uint32_t)random_below(256),
        .command_reuse = {.repeat_count = (uint32_t)random_below(1000),
                          .per_launch_overhead_ns = random_below(100000),
                          .record_overhead_ns = random_below(20000000),
                          .replay_overhead_ns = random_below(100000)},
        .bindless = {.resource_count = (uint32_t)random_below(48),
                     .support = (enum vyre_bindless_support)random_below(3),
                     .dynamic_indexing = random_below(2) != 0},
        .trace_jit = {.shader_hit_count = (uint32_t)random_below(32),
                      .prediction_confidence_bps = (uint32_t)random_below(10001),
                      .speculative_spec_cost_ns = random_below(1000000),
                      .miss_cost_ns = random_below(1000000)},
    };
}

static uint64_t read_set(const struct vyre_slot_set *set)
{
    uint64_t sum = set->count;
    for (size_t i = 0; i < 4; i++)
        sum += set->inline_slots[i];
    return sum;
}

static uint64_t read_arm(const struct vyre_arm *arm)
{
    return read_set(&arm->reads) + read_set(&arm->writes);
}

static uint64_t run_reads(struct work *work)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < INPUTS; i++) {
        const struct vyre_bundle_input *in = &work->inputs[i];
        sum += in->persistent_kernel.batch_size + in->persistent_kernel.per_launch_overhead_ns +
               in->persistent_kernel.persistent_setup_overhead_ns;
        sum += read_arm(in->first_arm) + read_arm(in->second_arm) + in->copy_dst_slot +
               (in->copy_arm != NULL);
        sum += in->command_reuse.repeat_count + in->command_reuse.per_launch_overhead_ns +
               in->command_reuse.record_overhead_ns + in->command_reuse.replay_overhead_ns;
        sum += in->bindless.resource_count + in->bindless.support + in->bindless.dynamic_indexing;
        sum += in->trace_jit.shader_hit_count + in->trace_jit.prediction_confidence_bps +
               in->trace_jit.speculative_spec_cost_ns + in->trace_jit.miss_cost_ns;
    }
    return sum;
}

static uint64_t use_bundle(const struct vyre_bundle *bundle)
{
    return bundle->persistent_kernel.savings_ns.lo + bundle->arms.choice + bundle->copy.choice +
           bundle->command_reuse.savings_ns + bundle->bindless.choice +
           bundle->trace_jit.savings_ns;
}

static uint64_t run_bundles(struct work *work)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < INPUTS; i++) {
        struct vyre_bundle bundle;
        vyre_bundle_decide(&work->inputs[i], &bundle);
        sum += use_bundle(&bundle);
    }
    return sum;
}

static uint64_t run_audited(struct work *work)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < INPUTS; i++) {
        struct vyre_bundle bundle;
        vyre_bundle_decide(&work->inputs[i], &bundle);
        vyre_audit_record_bundle(work->audit, &bundle);
        sum += use_bundle(&bundle);
    }
    return sum;
}

static volatile uint64_t sink;

typedef uint64_t run_function(struct work *work);

static double measure(void *context, struct bench_contender *contender, size_t cell)
{
    (void)cell;
    run_function *const *run = contender->state;
    uint64_t start_ns = bench_now_ns();
    for (size_t pass = 0; pass < PASSES; pass++)
        sink += (*run)(context);
    return (double)(bench_now_ns() - start_ns) / (INPUTS * PASSES);
}

int main(int argc, char **argv)
{
    static run_function *runs[] = {run_reads, run_bundles, run_audited};
    static const char *const names[] = {"only read the inputs", "six verdicts",
                                        "six verdicts + audit"};
    static const struct bench_desc desc = {.name = "decide", .rounds = 201, .rounds_quick = 51};
    static const struct bench_aim aim = {
        .kind = BENCH_NS_AT_MOST, .contender = "six verdicts", .limit = 25};
    struct bench bench;
    struct bench_table table;
    struct work *work = calloc(1, sizeof *work);
    if (!work || vyre_audit_create(NULL, &work->audit, NULL) != VYRE_OK)
        return 1;
    for (size_t i = 0; i < INPUTS; i++)
        fill_input(work, i);
    if (!bench_begin(&bench, &desc, argc, argv))
        return 2;
    bench_table_init(&table, "a bundle of six verdicts, every input different", "ns per bundle");
    table.measure = measure;
    table.context = work;
    bench_add_cell(&table, "4,096 inputs", "");
    for (size_t i = 0; i < 3; i++)
        bench_add_contender(&table, names[i], i == 0 ? BENCH_BASE : BENCH_PEER)->state = &runs[i];
    bench_run(&bench, &table);
    bench_report(&bench, &table, &aim, 1);
    bench_table_deinit(&table);
    vyre_audit_destroy(&work->audit);
    free(work);
    return bench_end(&bench);
}
