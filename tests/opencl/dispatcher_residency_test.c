/*
 * dispatcher_residency_test.c: resident dispatchers on the device: what an observer learns of their launches
 * and exits, and that one does not overtake the items of another.
 *
 *   dispatcher_residency_test DEVICE
 */
#include "opencl/driver_hooks.h"

#include "backend/opencl/ring_host.h"

struct leases {
    uint64_t begins, ends, last;
    enum vyre_residency_end why;
};

static void take_lease(void *user, const struct vyre_event *event)
{
    struct leases *leases = user;
    if (event->type != VYRE_EVENT_LEASE)
        return;
    const struct vyre_event_lease *lease = event->as.lease;
    leases->begins += lease->end_ns == 0;
    leases->ends += lease->end_ns != 0;
    if (lease->end_ns == 0) {
        assert_true(lease->lease > leases->last);
        leases->last = lease->lease;
        return;
    }
    assert_true(lease->end_ns >= lease->begin_ns);
    leases->why = (enum vyre_residency_end)lease->why;
}

static void await_ends(struct fixture *f, const struct leases *leases, uint64_t count)
{
    while (leases->ends < count)
        assert_int_equal(vyre_device_wait_idle(f->device, VYRE_FOREVER, &f->diag), VYRE_OK);
}

/* The observer gets the launches and the exits of dispatchers. */
static void residency_is_reported_with_its_end(void **state)
{
    static const char other_source[] =
        "__kernel void three(__global uint *o) { o[get_global_id(0)] = 3; }\n";
    struct leases leases = {0};
    const struct vyre_observer observer = {sizeof observer, &leases, take_lease};
    struct fixture f;
    (void)state;
    /* Both dispatchers stay until they are asked to leave. */
    hooks_open_observed(&f,
                        (struct vyre_device_desc){.persistent_idle_ns = UINT64_C(600000000000),
                                                  .persistent_lease_ns = UINT64_C(1200000000000),
                                                  .no_proof = true},
                        &observer);
    struct vyre_buffer *buffer = fixture_buffer(&f, 256);
    struct vyre_kernel *one = hooks_kernel(&f, hooks_two_source, "one");
    struct vyre_kernel *three = hooks_kernel(&f, other_source, "three");
    hooks_dispatch(&f, one, buffer);
    assert_int_equal(hooks_run(&f, VYRE_MODE_PERSISTENT), VYRE_OK);
    assert_int_equal(leases.begins, 1);
    assert_int_equal(leases.ends, 0);
    hooks_dispatch(&f, three, buffer);
    assert_int_equal(hooks_run(&f, VYRE_MODE_PERSISTENT), VYRE_OK);
    await_ends(&f, &leases, 1);
    assert_int_equal(leases.why, VYRE_RESIDENCY_CHANGED);
    hooks_expect_word(&f, buffer, 3);
    fixture_close(&f);
    assert_int_equal(leases.begins, 2);
    assert_int_equal(leases.ends, 2);
    assert_int_equal(leases.why, VYRE_RESIDENCY_STOPPED);
}

static void idle_dispatcher_is_reported_to_have_left(void **state)
{
    struct leases leases = {0};
    const struct vyre_observer observer = {sizeof observer, &leases, take_lease};
    struct fixture f;
    (void)state;
    hooks_open_observed(&f, (struct vyre_device_desc){.no_proof = true}, &observer);
    struct vyre_buffer *buffer = fixture_buffer(&f, 256);
    hooks_dispatch(&f, hooks_kernel(&f, hooks_two_source, "one"), buffer);
    assert_int_equal(hooks_run(&f, VYRE_MODE_PERSISTENT), VYRE_OK);
    await_ends(&f, &leases, 1);
    assert_int_equal(leases.why, VYRE_RESIDENCY_IDLE);
    fixture_close(&f);
}

static const char slow_source[] =
    "__kernel void slow(__global uint *o, uint wait, uint turns)\n"
    "{\n"
    "    volatile __global atomic_uint *flag = (volatile __global atomic_uint *)o;\n"
    "    for (uint i = 0; wait && i < 2000000000u; i++)\n"
    "        if (atomic_load_explicit(flag, memory_order_acquire, memory_scope_device)) break;\n"
    "    uint x = o[1];\n"
    "    for (uint i = 0; i < turns; i++) x = x * 1664525u + 1013904223u + (x >> 7);\n"
    "    o[1] = x;\n"
    "}\n";

static void dispatch_slow(struct fixture *f, struct vyre_kernel *kernel, struct vyre_buffer *buffer,
                          uint32_t wait, uint32_t turns)
{
    const struct vyre_slot_binding binding = {.slot = 0, .range = {buffer, 0, 0}};
    const uint32_t constants[] = {wait, turns};
    vyre_batch_dispatch(f->batch, &(struct vyre_dispatch){.kernel = kernel,
                                                          .groups = {1, 1, 1},
                                                          .bindings = &binding,
                                                          .binding_count = 1,
                                                          .constants = constants,
                                                          .constants_size_bytes = 8});
}

/* Batches of more dispatchers than are kept: the room is made two for the test. */
static void dispatcher_made_inside_a_batch_waits_for_the_items_before_it(void **state)
{
    struct vyre_kernel *kernels[3];
    struct fixture f;
    (void)state;
    hooks_open(&f, (struct vyre_device_desc){.no_proof = true}); /* each item runs once */
    for (uint32_t i = 0; i < 3; i++)
        kernels[i] = fixture_kernel(&f, slow_source, "slow",
                                    (struct vyre_kernel_desc){.local_size = {1, 1 + i, 1}});
    struct vyre_buffer *buffer = fixture_buffer(&f, 256);
    hooks.released_flag = hooks.last_shared;
    hooked_device->persistent->count += VYRE_CL_RESIDENTS_MAX - 2;
    /* The first item lasts until the second dispatcher is compiled, the next longer than its launch. */
    dispatch_slow(&f, kernels[0], buffer, 1, 1);
    dispatch_slow(&f, kernels[0], buffer, 0, 100000000);
    dispatch_slow(&f, kernels[0], buffer, 0, 1000000);
    dispatch_slow(&f, kernels[1], buffer, 0, 1);
    dispatch_slow(&f, kernels[2], buffer, 0, 1);
    if (hooks_run(&f, VYRE_MODE_PERSISTENT) != VYRE_OK)
        fail_msg("%s", f.diag.message);
    assert_int_equal(hooks.launches_on_items, 0);
    assert_int_equal(hooks.unlocked_looks, 0);
    hooked_device->persistent->count -= VYRE_CL_RESIDENTS_MAX - 2;
    fixture_close(&f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        HOOKS_CASE(residency_is_reported_with_its_end),
        HOOKS_CASE(idle_dispatcher_is_reported_to_have_left),
        HOOKS_CASE(dispatcher_made_inside_a_batch_waits_for_the_items_before_it),
    };
    return hooks_start(argc, argv) ? cmocka_run_group_tests(tests, NULL, NULL) : 2;
}
