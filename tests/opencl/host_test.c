/*
 * host_test.c: small parts of the OpenCL backend's host side, on made-up devices.
 */
#include "support/test.h"

#include "backend/opencl/device.h"
#include "backend/opencl/encode.h"
#include "backend/opencl/kernel.h"
#include "backend/opencl/persistent.h"
#include "backend/opencl/ring_host.h"
#include "backend/opencl/tables.h"
#include "base/clock.h"

/* ---- Events ----------------------------------------------------------------------------------- */

#define COMMANDS_MAX 512

static struct vyre_command commands[COMMANDS_MAX];

/* `count` commands that do something behind `first` that do not, and some of those behind them. */
static void lay_out(uint32_t first, uint32_t count, uint32_t trailing)
{
    for (uint32_t i = 0; i < first + count + trailing; i++) {
        bool empty = i < first || i >= first + count;
        commands[i] =
            (struct vyre_command){.type = VYRE_COMMAND_DISPATCH, .groups = {empty ? 0 : 1, 1, 1}};
    }
}

/* Walks a batch as submit does, with `last` standing for the last command's event. */
static void fly(uint32_t first, uint32_t count, uint32_t trailing)
{
    const cl_event other = (cl_event)&commands[0];
    const cl_event last = (cl_event)&commands[1];
    struct vyre_cl_device device = {0};
    struct vyre_cl_entry entry = {0};
    struct vyre_cl_encoder encoder;
    lay_out(first, count, trailing);
    const struct vyre_batch_view view = {.commands = commands,
                                         .command_count = first + count + trailing};
    const struct vyre_submission submission = {.view = &view};
    vyre_cl_encoder_begin(&encoder, &device, &submission, &entry);
    assert_int_equal(encoder.first, first);
    assert_int_equal(encoder.last, first + count - 1);
    for (uint32_t i = encoder.first; i <= encoder.last; i++) {
        cl_event *event = vyre_cl_encoder_event(&encoder, i);
        if (event) {
            assert_in_range(event - entry.events, 0, VYRE_CL_EVENTS_MAX - 1);
            *event = i == encoder.last ? last : other;
        }
        vyre_cl_encoder_kept(&encoder, i, event);
    }
    if (entry.event_count == 0 || entry.event_count > VYRE_CL_EVENTS_MAX ||
        entry.events[entry.event_count - 1] != last)
        fail_msg("the last of %u commands behind %u empty ones has no event", count, first);
    if (count >= VYRE_CL_EVENTS_MAX) /* a long batch is seen to make progress */
        assert_true(entry.event_count >= VYRE_CL_EVENTS_MAX / 2);
}

static void encoder_last_command_always_has_the_last_event(void **state)
{
    (void)state;
    for (uint32_t first = 0; first < 40; first++) {
        for (uint32_t count = 1; count < 400; count++)
            fly(first, count, count % 3);
    }
}

/* ---- Memory of tables ------------------------------------------------------------------------- */

static void tables_released_late_do_not_take_back_what_is_free(void **state)
{
    static unsigned char memory[1024];
    struct vyre_cl_tables tables = {.memory = memory, .size_bytes = sizeof memory};
    (void)state;
    assert_ptr_equal(vyre_cl_tables_take(&tables, 512, 64), memory);
    uint64_t first_end = tables.head;
    assert_ptr_equal(vyre_cl_tables_take(&tables, 256, 64), memory + 512);
    assert_null(vyre_cl_tables_take(&tables, 512, 64));
    vyre_cl_tables_clear(&tables);
    vyre_cl_tables_release(&tables, first_end); /* a batch that ended before, collected now */
    assert_ptr_equal(vyre_cl_tables_take(&tables, sizeof memory, 64), memory);
    assert_null(vyre_cl_tables_take(&tables, 64, 64));
}

/* ---- Arguments -------------------------------------------------------------------------------- */

static cl_int argument_code;
static uint32_t argument_calls;

static cl_int CL_API_CALL set_argument(cl_kernel native, cl_uint index, size_t size,
                                       const void *value)
{
    (void)native;
    (void)index;
    (void)size;
    (void)value;
    argument_calls++;
    return argument_code;
}

static void bind_local_that_failed_is_set_again(void **state)
{
    const struct vyre_cl_api api = {.clSetKernelArg = set_argument};
    struct vyre_cl_device device = {.api = &api};
    const struct vyre_cl_kernel kernel = {0};
    uint64_t bound[1] = {0};
    struct vyre_cl_call call = {.bound = bound};
    const struct vyre_bound_range range = {0};
    const struct vyre_batch_view view = {.ranges = &range};
    const struct vyre_command_binding local = {.kind = VYRE_BINDING_LOCAL, .local_bytes = 64};
    (void)state;
    argument_calls = 0;
    argument_code = CL_OUT_OF_RESOURCES;
    assert_int_equal(vyre_cl_call_bind(&device, &kernel, &call, 0, &local, &view, NULL),
                     CL_OUT_OF_RESOURCES);
    argument_code = CL_SUCCESS;
    assert_int_equal(vyre_cl_call_bind(&device, &kernel, &call, 0, &local, &view, NULL),
                     CL_SUCCESS);
    assert_int_equal(argument_calls, 2);
    assert_int_equal(vyre_cl_call_bind(&device, &kernel, &call, 0, &local, &view, NULL),
                     CL_SUCCESS);
    assert_int_equal(argument_calls, 2);
}

/* ---- Leases ----------------------------------------------------------------------------------- */

/* What a device learns of a poll when `groups` have made ten million each in a second. */
static uint64_t learn(uint32_t groups)
{
    static struct vyre_cl_control control;
    static struct vyre_cl_resident resident;
    struct vyre_cl_persistent persistent = {
        .control = &control,
        .groups = groups,
        .current = &resident,
        .running = 1,
        .launched_ns = vyre_clock_now_ns() - 1000000000,
        .poll_ns_x16 = 320,
    };
    struct vyre_cl_device device = {.persistent = &persistent};
    vyre_cl_ring_init(&control, 0, 0);
    atomic_store(&control.heartbeat, groups * 10000000);
    atomic_store(&control.leaving, VYRE_CL_EXIT_IDLE);
    atomic_store(&control.exited, groups);
    assert_false(vyre_cl_persistent_tend(&device));
    return persistent.poll_ns_x16;
}

/* 100 ns a poll, of which the new figure takes a quarter. A slow machine can only find more. */
static void lease_is_learned_per_group(void **state)
{
    (void)state;
    for (uint32_t groups = 1; groups <= 64; groups *= 4)
        assert_true(learn(groups) >= (3 * 320 + 100 * 16) / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encoder_last_command_always_has_the_last_event),
        cmocka_unit_test(tables_released_late_do_not_take_back_what_is_free),
        cmocka_unit_test(bind_local_that_failed_is_set_again),
        cmocka_unit_test(lease_is_learned_per_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
