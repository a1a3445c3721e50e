/*
 * lease_test.c: resident workers that come and go all the time lose nothing and run nothing twice.
 *
 * Lease and idle time are so short that a worker leaves while items arrive. Every item's kernel adds
 * to the item's own counter, once per group.
 */
#include "runtime/cpu_fixture.h"
#include "support/random.h"

#ifdef VYRE_TEST_SANITIZED
enum { ITEMS = 2000 };
#else
enum { ITEMS = 10000 };
#endif
enum { GROUPS_MAX = 8, WINDOW = 24 };

static atomic_uint runs[ITEMS];

static void count_item(const struct vyre_host_group *group)
{
    const uint32_t *item = group->constants;
    atomic_fetch_add(&runs[*item], 1);
    bump(group);
}

/* Nothing, a short spin, or a sleep about as long as the lease. */
static void pause_at_random(struct rng *rng)
{
    switch (rng_below(rng, 8)) {
    case 0:
        sleep_us(rng_below(rng, 150));
        break;
    case 1:
        for (uint64_t spins = rng_below(rng, 20000); spins > 0; spins--)
            atomic_signal_fence(memory_order_seq_cst);
        break;
    default:
        break;
    }
}

static void submit_item(struct vyre_batch *batch, struct vyre_kernel *kernel,
                        struct vyre_buffer *buffer, uint32_t item, uint32_t groups,
                        enum vyre_mode mode, struct vyre_ticket *out_ticket)
{
    vyre_batch_reset(batch);
    add_in_place(batch, kernel, groups, buffer, &item, 1);
    *out_ticket = submit_in(batch, mode);
}

static void check_leases(const struct vyre_device_desc *desc, bool mixed, uint64_t seed)
{
    struct fixture fixture;
    struct rng rng = rng_seeded(seed);
    fixture_open(&fixture, desc);
    struct vyre_kernel *kernel = kernel_in_place(fixture.device, "count", count_item, 1);
    struct vyre_buffer *buffers[2] = {buffer_of_groups(fixture.device, GROUPS_MAX),
                                      buffer_of_groups(fixture.device, GROUPS_MAX)};
    struct vyre_batch *batch = batch_of(fixture.device);
    uint8_t *groups = calloc(ITEMS, 1);
    assert_non_null(groups);
    uint32_t sums[2] = {0, 0}; /* what the first word of each buffer should be */
    struct vyre_ticket ticket = {0};
    for (uint32_t item = 0; item < ITEMS; item++) {
        uint32_t which = (uint32_t)rng_below(&rng, 2);
        bool other = mixed && rng_below(&rng, 10) == 0;
        atomic_store(&runs[item], 0);
        groups[item] = (uint8_t)(1 + rng_below(&rng, GROUPS_MAX));
        sums[which] += item;
        submit_item(batch, kernel, buffers[which], item, groups[item],
                    other ? (enum vyre_mode)rng_below(&rng, 3) : VYRE_MODE_PERSISTENT, &ticket);
        pause_at_random(&rng);
        if (rng_below(&rng, WINDOW) == 0)
            wait_for(fixture.device, ticket);
    }
    wait_for(fixture.device, ticket);
    for (uint32_t item = 0; item < ITEMS; item++)
        assert_int_equal(atomic_load(&runs[item]), groups[item]);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t word = 0;
        struct vyre_diag diag = {0};
        assert_ok(vyre_buffer_read(buffers[i], 0, &word, sizeof word, &diag), &diag);
        assert_int_equal(word, sums[i]);
    }
    free(groups);
    fixture_close(&fixture);
}

static void lease_very_short_nothing_is_lost_or_run_twice(void **state)
{
    (void)state;
    for (uint32_t workers = 1; workers <= 4; workers *= 2)
        check_leases(&(struct vyre_device_desc){.cpu_workers = workers,
                                                .cpu_no_inline = workers % 2 == 0,
                                                .persistent_lease_ns = 50000,
                                                .persistent_idle_ns = 50000},
                     false, workers);
}

static void lease_shortest_nothing_is_lost_or_run_twice(void **state)
{
    (void)state;
    check_leases(&(struct vyre_device_desc){.cpu_workers = 2,
                                            .persistent_lease_ns = 1,
                                            .persistent_idle_ns = 1},
                 false, 7);
}

static void lease_short_with_other_modes_between_nothing_is_lost(void **state)
{
    (void)state;
    for (int no_inline = 0; no_inline < 2; no_inline++)
        check_leases(&(struct vyre_device_desc){.cpu_workers = 2,
                                                .cpu_no_inline = no_inline,
                                                .persistent_lease_ns = 50000,
                                                .persistent_idle_ns = 50000,
                                                .in_flight_limit = 4},
                     true, 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lease_very_short_nothing_is_lost_or_run_twice),
        cmocka_unit_test(lease_shortest_nothing_is_lost_or_run_twice),
        cmocka_unit_test(lease_short_with_other_modes_between_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
