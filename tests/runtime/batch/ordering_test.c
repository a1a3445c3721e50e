/*
 * ordering_test.c: whatever order the plan allows, the bytes are those of the serial run; what is
 * independent runs side by side, what is not never does.
 */
#include "runtime/batch/random_batch.h"

#ifndef VYRE_TEST_SIM_BATCHES
#define VYRE_TEST_SIM_BATCHES 400 /* per configuration */
#endif

static const char *const order_names[] = {"deps", "levels", "arms", "serial"};

/* A batch is kept and submitted again, changed and submitted again, or built anew. */
static void play(struct world *world, const char *what, size_t submits)
{
    struct rng *rng = &world->rng;
    for (size_t i = 0; i < submits; i++) {
        uint64_t act = rng_below(rng, 8);
        if (world->step_count == 0 || act < 4) {
            world_reset(world);
            static const uint64_t lengths[] = {3, 8, 30, 30, 30, STEPS_MAX};
            size_t count = 1 + (size_t)rng_below(rng, lengths[rng_below(rng, COUNT_OF(lengths))]);
            for (size_t k = 0; k < count; k++)
                world_add(world);
        } else if (act < 6) {
            world_change_constant(world);
        } else if (act == 6) {
            world_add(world); /* to a batch that may be in flight */
        }
        const struct vyre_submit_options options = {
            .mode = (enum vyre_mode)rng_below(rng, VYRE_MODE_COUNT),
            .repeat_hint = rng_bool(rng) ? (uint32_t)rng_below(rng, 100) : 0,
            .timed = rng_bool(rng),
        };
        (void)world_submit(world, &options);
        if (rng_below(rng, 16) == 0)
            world_check(world, what);
    }
    world_check(world, what);
}

static void play_configuration(const struct vyre_sim_desc *desc, size_t submits)
{
    char what[128];
    struct fixture fixture;
    struct world *world = malloc(sizeof *world);
    assert_non_null(world);
    snprintf(what, sizeof what, "order %s, %u queues%s, completion %d, seed %llu",
             order_names[desc->order], desc->compute_queues, desc->transfer_queue ? " + 1" : "",
             (int)desc->completion, (unsigned long long)desc->seed);
    fixture_open(&fixture, desc, &(struct vyre_device_desc){.in_flight_limit = 24});
    world_init(world, &fixture, desc->seed);
    play(world, what, submits);
    if (desc->order != VYRE_SIM_ORDER_SERIAL)
        assert_true(vyre_sim_planned(fixture.sim) > submits / 4);
    world_deinit(world);
    free(world);
    fixture_close(&fixture);
}

static void play_orders(struct vyre_sim_desc desc)
{
    static const uint32_t queues[] = {1, 2, 4};
    for (int order = 0; order < VYRE_SIM_ORDER_COUNT; order++) {
        for (size_t q = 0; q < COUNT_OF(queues); q++) {
            desc.order = (enum vyre_sim_order)order;
            desc.compute_queues = queues[q];
            desc.transfer_queue = q % 2 == 1;
            desc.seed++;
            play_configuration(&desc, VYRE_TEST_SIM_BATCHES);
        }
    }
}

static void submit_random_batches_bytes_serial(void **state)
{
    (void)state;
    play_orders((struct vyre_sim_desc){.seed = 1000});
}

static void submit_random_batches_held_back_bytes_serial(void **state)
{
    (void)state;
    play_orders((struct vyre_sim_desc){.seed = 2000, .completion = VYRE_SIM_COMPLETE_LAZY});
}

static void submit_random_batches_beside_device_bytes_serial(void **state)
{
    (void)state;
    play_orders((struct vyre_sim_desc){.seed = 3000, .completion = VYRE_SIM_COMPLETE_THREAD});
}

/* As a device with memory of its own: no addresses, transfers by batches, the plan asked for. */
static void submit_random_batches_no_host_memory_bytes_serial(void **state)
{
    (void)state;
    play_orders((struct vyre_sim_desc){.seed = 4000,
                                       .completion = VYRE_SIM_COMPLETE_LAZY,
                                       .no_host_addresses = true,
                                       .no_direct_access = true,
                                       .no_warm_up = true,
                                       .no_quiesce = true});
}

/* ---- Traces ----------------------------------------------------------------------------------- */

/* By command: the trace is in the order of execution. */
static size_t read_trace(struct fixture *fixture, uint64_t sequence,
                         struct vyre_sim_span *by_command, size_t capacity)
{
    struct vyre_sim_span spans[256];
    size_t found = 0;
    size_t count = vyre_sim_trace(fixture->sim, spans, COUNT_OF(spans));
    assert_in_range(count, 1, COUNT_OF(spans));
    for (size_t i = 0; i < count; i++) {
        if (spans[i].sequence != sequence)
            continue;
        assert_in_range(spans[i].command, 0, capacity - 1);
        by_command[spans[i].command] = spans[i];
        found++;
    }
    return found;
}

static bool overlap(const struct vyre_sim_span *a, const struct vyre_sim_span *b)
{
    return a->start_ns < b->end_ns && b->start_ns < a->end_ns;
}

static void trace_dependent_commands_never_overlap(void **state)
{
    (void)state;
    size_t overlaps = 0;
    for (int order = VYRE_SIM_ORDER_DEPS; order <= VYRE_SIM_ORDER_ARMS; order++) {
        struct fixture fixture;
        struct world *world = malloc(sizeof *world);
        assert_non_null(world);
        fixture_open(&fixture,
                     &(struct vyre_sim_desc){.order = (enum vyre_sim_order)order,
                                             .compute_queues = 4,
                                             .transfer_queue = true,
                                             .seed = 77},
                     NULL);
        world_init(world, &fixture, 77);
        for (int round = 0; round < 200; round++) {
            struct vyre_sim_span spans[STEPS_MAX];
            world_reset(world);
            while (world->step_count < 16)
                world_add(world);
            vyre_sim_trace_reset(fixture.sim);
            struct vyre_ticket ticket =
                world_submit(world, &(struct vyre_submit_options){.mode = VYRE_MODE_PLAIN});
            assert_int_equal(read_trace(&fixture, ticket.sequence, spans, COUNT_OF(spans)), 16);
            for (uint32_t b = 0; b < 16; b++) {
                for (uint32_t a = 0; a < b; a++) {
                    bool both = overlap(&spans[a], &spans[b]);
                    overlaps += both;
                    assert_false(both && spans[a].queue == spans[b].queue);
                    if (world_conflict(world, a, b))
                        assert_true(spans[a].end_ns <= spans[b].start_ns);
                }
            }
            world_check(world, "trace");
        }
        world_deinit(world);
        free(world);
        fixture_close(&fixture);
    }
    assert_true(overlaps > 1000); /* else the above says nothing */
}

/* Four kernels on disjoint ranges of one buffer: exact byte ranges, not whole buffers. */
static void trace_independent_kernels_overlap_on_all_queues(void **state)
{
    (void)state;
    for (int order = VYRE_SIM_ORDER_DEPS; order <= VYRE_SIM_ORDER_ARMS; order++) {
        struct fixture fixture;
        struct vyre_sim_span spans[4];
        fixture_open(
            &fixture,
            &(struct vyre_sim_desc){.order = (enum vyre_sim_order)order, .compute_queues = 4},
            NULL);
        struct vyre_buffer *buffer = fixture_buffer(&fixture, 1024);
        struct vyre_batch *batch = fixture_batch(&fixture);
        for (uint32_t i = 0; i < 4; i++)
            fixture_set(&fixture, batch, (struct vyre_range){buffer, 256 * i, 256}, i);
        struct vyre_ticket ticket = fixture_submit(&fixture, batch, VYRE_MODE_PLAIN);
        assert_int_equal(fixture_wait(&fixture, ticket), VYRE_OK);
        assert_int_equal(read_trace(&fixture, ticket.sequence, spans, 4), 4);
        for (int a = 0; a < 4; a++) {
            for (int b = 0; b < a; b++) {
                assert_int_equal(spans[a].start_ns, spans[b].start_ns);
                assert_int_not_equal(spans[a].queue, spans[b].queue);
            }
        }
        fixture_close(&fixture);
    }
}

static void trace_upload_overlaps_kernel_that_does_not_touch_it(void **state)
{
    (void)state;
    unsigned char bytes[256] = {1};
    for (int order = VYRE_SIM_ORDER_DEPS; order <= VYRE_SIM_ORDER_ARMS; order++) {
        for (int touches = 0; touches < 2; touches++) {
            struct fixture fixture;
            struct vyre_sim_span spans[2];
            fixture_open(&fixture,
                         &(struct vyre_sim_desc){.order = (enum vyre_sim_order)order,
                                                 .transfer_queue = true},
                         NULL);
            struct vyre_buffer *used = fixture_buffer(&fixture, 256);
            struct vyre_buffer *filled = touches ? used : fixture_buffer(&fixture, 256);
            struct vyre_batch *batch = fixture_batch(&fixture);
            fixture_set(&fixture, batch, (struct vyre_range){used, 0, 0}, 1);
            vyre_batch_upload(batch, (struct vyre_range){filled, 0, 0}, bytes);
            struct vyre_ticket ticket = fixture_submit(&fixture, batch, VYRE_MODE_PLAIN);
            assert_int_equal(fixture_wait(&fixture, ticket), VYRE_OK);
            assert_int_equal(read_trace(&fixture, ticket.sequence, spans, 2), 2);
            assert_int_equal(spans[1].queue, 1);
            assert_int_equal(overlap(&spans[0], &spans[1]), !touches);
            fixture_close(&fixture);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(submit_random_batches_bytes_serial),
        cmocka_unit_test(submit_random_batches_held_back_bytes_serial),
        cmocka_unit_test(submit_random_batches_beside_device_bytes_serial),
        cmocka_unit_test(submit_random_batches_no_host_memory_bytes_serial),
        cmocka_unit_test(trace_dependent_commands_never_overlap),
        cmocka_unit_test(trace_independent_kernels_overlap_on_all_queues),
        cmocka_unit_test(trace_upload_overlaps_kernel_that_does_not_touch_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
