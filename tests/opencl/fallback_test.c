/*
 * fallback_test.c: the driver refuses to launch resident kernels. What lies in the ring is run by ordinary
 * launches, in order and with the right bytes; afterwards the device has no persistent mode.
 *
 * On PoCL, through a table whose launches are refused when the test says so.
 */
#include <stdatomic.h>

#include <vyre/vyre.h>

#include "backend/opencl/backend.h"
#include "backend/opencl/opencl.h"
#include "support/deadline.h"
#include "support/test.h"

#define LIMIT_SECONDS 300 /* against a hang */
#define GROUPS        3u
#define LOCAL         8u
#define WORDS         (GROUPS * LOCAL)
#define ITEMS         1300u /* more than the ring holds, and more than fall back at a time */

/* Order matters in both, and the second one turns the words of a group around in local memory. */
static const char source[] =
    "__kernel void advance(__global uint *a, uint c)\n"
    "{\n"
    "    size_t i = get_global_id(0);\n"
    "    a[i] = a[i] * 1664525u + c + (uint)i;\n"
    "}\n"
    "__kernel void turn(__global uint *a, __local uint *kept, uint c, ulong wide)\n"
    "{\n"
    "    size_t l = get_local_id(0);\n"
    "    kept[l] = a[get_global_id(0)];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    a[get_global_id(0)] = kept[get_local_size(0) - 1 - l] * 22695477u + c + (uint)(wide >> "
    "32);\n"
    "}\n";

/* ---- A table that refuses --------------------------------------------------------------------- */

enum refusal { REFUSE_NOTHING, REFUSE_RESIDENT, REFUSE_ALL };

typedef __typeof__(clEnqueueNDRangeKernel) launch_function;
typedef __typeof__(clGetKernelInfo) kernel_info_function;
static _Atomic(launch_function *) real_launch;
static _Atomic(kernel_info_function *) real_kernel_info;
static atomic_uint refused;        /* enum refusal */
static atomic_uint allowed;        /* resident launches before they are refused */
static atomic_uint refusals;       /* how often that was done */
static atomic_uint ordinary_count; /* launches of user's kernels that were let through */

static bool is_resident(cl_kernel kernel)
{
    char name[64] = "";
    (void)atomic_load (&real_kernel_info)(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name - 1, name,
                                          NULL);
    return strcmp(name, "vyre_resident") == 0;
}

static bool is_refused(bool resident)
{
    unsigned what = atomic_load(&refused);
    if (what == REFUSE_ALL)
        return true;
    if (what != REFUSE_RESIDENT || !resident)
        return false;
    unsigned left = atomic_load(&allowed);
    while (left > 0 && !atomic_compare_exchange_weak(&allowed, &left, left - 1))
        continue;
    return left == 0;
}

static cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                 const size_t *offset, const size_t *global, const size_t *local,
                                 cl_uint wait_count, const cl_event *waits, cl_event *out_event)
{
    bool resident = is_resident(kernel);
    if (is_refused(resident)) {
        atomic_fetch_add(&refusals, 1);
        return CL_OUT_OF_RESOURCES;
    }
    if (!resident)
        atomic_fetch_add(&ordinary_count, 1);
    return atomic_load(&real_launch)(queue, kernel, dimensions, offset, global, local, wait_count,
                                     waits, out_event);
}

static enum vyre_status enumerate(void *native, struct vyre_device_info *out_infos, size_t capacity,
                                  size_t *out_count, struct vyre_diag *diag)
{
    struct vyre_cl_backend *backend = native;
    enum vyre_status status = vyre_cl_enumerate(native, out_infos, capacity, out_count, diag);
    if (backend->api.clEnqueueNDRangeKernel != launch) {
        atomic_store(&real_launch, backend->api.clEnqueueNDRangeKernel);
        atomic_store(&real_kernel_info, backend->api.clGetKernelInfo);
        backend->api.clEnqueueNDRangeKernel = launch;
    }
    return status;
}

static void refuse(enum refusal what, unsigned after)
{
    atomic_store(&allowed, after);
    atomic_store(&refused, what);
}

/* ---- Work ------------------------------------------------------------------------------------- */

struct fixture {
    struct vyre_backend_ops ops;
    struct vyre_instance *instance;
    struct vyre_device *device;
    struct vyre_kernel *advance;
    struct vyre_kernel *turn;
    struct vyre_buffer *buffer;
    struct vyre_batch *batch;
    struct vyre_diag diag;
    uint32_t want[WORDS];
    atomic_uint launched; /* dispatchers, as an observer learns of them */
    atomic_uint left;
};

static void must(const struct fixture *f, enum vyre_status status)
{
    if (status != VYRE_OK)
        fail_msg("%s: %s", vyre_diag_id_name(f->diag.id), f->diag.message);
}

static void create_kernel(struct fixture *f, const char *entry, struct vyre_kernel **out_kernel)
{
    const struct vyre_payload payload = {.target = VYRE_TARGET_OPENCL_C,
                                         .entry = entry,
                                         .bytes = source,
                                         .size_bytes = sizeof source - 1};
    must(f, vyre_kernel_create(f->device,
                               &(struct vyre_kernel_desc){.label = entry,
                                                          .payloads = &payload,
                                                          .payload_count = 1,
                                                          .local_size = {LOCAL, 1, 1}},
                               out_kernel, &f->diag));
}

static void fill_buffer(struct fixture *f)
{
    for (uint32_t i = 0; i < WORDS; i++)
        f->want[i] = i * 2654435761u;
    must(f, vyre_buffer_write(f->buffer, 0, f->want, sizeof f->want, &f->diag));
}

static void take_lease(void *user, const struct vyre_event *event)
{
    struct fixture *f = user;
    if (event->type == VYRE_EVENT_LEASE)
        atomic_fetch_add(event->as.lease->end_ns ? &f->left : &f->launched, 1);
}

static void open_all(struct fixture *f, uint64_t lease_ns)
{
    const struct vyre_observer observer = {sizeof observer, f, take_lease};
    memset(f, 0, sizeof *f);
    refuse(REFUSE_NOTHING, 0);
    atomic_store(&refusals, 0);
    f->ops = vyre_opencl_backend_ops;
    f->ops.name = "refusing";
    f->ops.enumerate = enumerate;
    must(f, vyre_instance_create(&(struct vyre_instance_desc){.observer = &observer}, &f->instance,
                                 &f->diag));
    must(f, vyre_instance_register_backend(f->instance, &f->ops, &f->diag));
    must(f, vyre_device_open(f->instance,
                             &(struct vyre_device_desc){.backend = "refusing",
                                                        .name = "pthread",
                                                        .persistent_lease_ns = lease_ns},
                             &f->device, &f->diag));
    create_kernel(f, "advance", &f->advance);
    create_kernel(f, "turn", &f->turn);
    must(f, vyre_buffer_create(f->device, &(struct vyre_buffer_desc){.size_bytes = sizeof f->want},
                               &f->buffer, &f->diag));
    must(f, vyre_batch_create(f->device, NULL, &f->batch, &f->diag));
    fill_buffer(f);
}

static void close_all(struct fixture *f)
{
    refuse(REFUSE_NOTHING, 0);
    vyre_device_close(&f->device);
    vyre_instance_destroy(&f->instance);
}

static void add_advance(struct fixture *f, uint32_t constant)
{
    const struct vyre_slot_binding binding = {.slot = 0, .range = {.buffer = f->buffer}};
    vyre_batch_dispatch(f->batch, &(struct vyre_dispatch){.kernel = f->advance,
                                                          .groups = {GROUPS, 1, 1},
                                                          .bindings = &binding,
                                                          .binding_count = 1,
                                                          .constants = &constant,
                                                          .constants_size_bytes = 4});
    for (uint32_t i = 0; i < WORDS; i++)
        f->want[i] = f->want[i] * 1664525u + constant + i;
}

static void add_turn(struct fixture *f, uint32_t constant)
{
    const struct vyre_slot_binding bindings[] = {
        {.slot = 0, .range = {.buffer = f->buffer}},
        {.slot = 1, .local_bytes = LOCAL * sizeof(uint32_t)},
    };
    struct {
        uint32_t c;
        uint32_t unused;
        uint64_t wide;
    } constants = {constant, 0, (uint64_t)(constant ^ 77) << 32};
    uint32_t before[WORDS];
    vyre_batch_dispatch(f->batch,
                        &(struct vyre_dispatch){.kernel = f->turn,
                                                .groups = {GROUPS, 1, 1},
                                                .bindings = bindings,
                                                .binding_count = 2,
                                                .constants = &constants,
                                                .constants_size_bytes = sizeof constants});
    memcpy(before, f->want, sizeof before);
    for (uint32_t i = 0; i < WORDS; i++)
        f->want[i] = before[i / LOCAL * LOCAL + LOCAL - 1 - i % LOCAL] * 22695477u + constant +
                     (constant ^ 77);
}

/* Runs of one kernel and now and then the other, which needs another dispatcher. */
static void add_items(struct fixture *f, uint32_t count)
{
    vyre_batch_reset(f->batch);
    for (uint32_t i = 0; i < count; i++) {
        if (i % 400 == 399)
            add_turn(f, i);
        else
            add_advance(f, i * 7 + 1);
    }
}

static enum vyre_status run(struct fixture *f, enum vyre_mode mode,
                            struct vyre_batch_result *out_result)
{
    struct vyre_ticket ticket;
    enum vyre_status status =
        vyre_batch_submit(f->batch, &(struct vyre_submit_options){.mode = mode}, &ticket, &f->diag);
    if (status == VYRE_OK)
        status = vyre_ticket_wait(f->device, ticket, VYRE_FOREVER, &f->diag);
    if (status == VYRE_OK && out_result)
        must(f, vyre_ticket_result(f->device, ticket, out_result, &f->diag));
    return status;
}

static void expect_bytes(struct fixture *f)
{
    uint32_t got[WORDS];
    must(f, vyre_buffer_read(f->buffer, 0, got, sizeof got, &f->diag));
    assert_memory_equal(got, f->want, sizeof got);
}

/* Until a dispatcher that has nothing to do has left. */
static void let_it_leave(struct fixture *f)
{
    const struct deadline limit = deadline_in(LIMIT_SECONDS);
    assert_int_not_equal(atomic_load(&f->launched), 0);
    while (atomic_load(&f->left) < atomic_load(&f->launched)) {
        assert_false(deadline_is_past(limit));
        must(f, vyre_device_wait_idle(f->device, VYRE_FOREVER, &f->diag));
    }
}

/* Persistent mode is refused with the reason; auto takes another one. */
static void expect_retired(struct fixture *f)
{
    struct vyre_batch_result result;
    add_items(f, 10);
    assert_int_equal(run(f, VYRE_MODE_PERSISTENT, NULL), VYRE_UNSUPPORTED);
    assert_int_equal(f->diag.id, VYRE_DIAG_SUBMIT_MODE);
    assert_non_null(strstr(f->diag.message, "CL_OUT_OF_RESOURCES"));
    assert_int_equal(vyre_batch_check_mode(f->batch, VYRE_MODE_PERSISTENT, 0, &f->diag),
                     VYRE_UNSUPPORTED);
    must(f, run(f, VYRE_MODE_AUTO, &result));
    assert_int_not_equal(result.mode, VYRE_MODE_PERSISTENT);
    expect_bytes(f);
}

/* ---- Cases ------------------------------------------------------------------------------------ */

static void relaunch_refused_items_run_by_the_queue(void **state)
{
    struct fixture f;
    struct vyre_batch_result result;
    (void)state;
    open_all(&f, 0);
    add_items(&f, 450);
    must(&f, run(&f, VYRE_MODE_PERSISTENT, &result));
    expect_bytes(&f);
    let_it_leave(&f);
    refuse(REFUSE_RESIDENT, 0);
    unsigned before = atomic_load(&ordinary_count);
    add_items(&f, ITEMS);
    must(&f, run(&f, VYRE_MODE_PERSISTENT, &result));
    assert_int_equal(result.mode, VYRE_MODE_PERSISTENT);
    expect_bytes(&f);
    assert_int_equal(atomic_load(&ordinary_count) - before, ITEMS);
    assert_int_equal(atomic_load(&refusals), 1);
    expect_retired(&f);
    close_all(&f);
}

/* The dispatcher leaves in the middle of a batch, with work in the ring, and cannot come back. */
static void lease_over_with_work_items_run_by_the_queue(void **state)
{
    (void)state;
    for (unsigned after = 1; after <= 3; after++) {
        struct fixture f;
        open_all(&f, 100000);
        add_items(&f, 450); /* makes both dispatchers */
        must(&f, run(&f, VYRE_MODE_PERSISTENT, NULL));
        let_it_leave(&f);
        refuse(REFUSE_RESIDENT, after);
        unsigned before = atomic_load(&ordinary_count);
        for (int i = 0; i < 100 && atomic_load(&refusals) == 0; i++) {
            add_items(&f, ITEMS);
            must(&f, run(&f, VYRE_MODE_PERSISTENT, NULL));
        }
        expect_bytes(&f);
        assert_int_equal(atomic_load(&refusals), 1);
        assert_int_not_equal(atomic_load(&ordinary_count), before);
        expect_retired(&f);
        close_all(&f);
    }
}

/* Batches in flight, one of them with a callback. */
static void on_complete(void *user, struct vyre_ticket ticket,
                        const struct vyre_batch_result *result)
{
    (void)ticket;
    atomic_store((atomic_int *)user, (int)result->status);
}

static void several_in_flight_all_end_in_order(void **state)
{
    struct fixture f;
    atomic_int called_with = -1;
    (void)state;
    open_all(&f, 0);
    add_items(&f, 450);
    must(&f, run(&f, VYRE_MODE_PERSISTENT, NULL));
    let_it_leave(&f);
    struct vyre_batch *more;
    must(&f, vyre_batch_create(f.device, NULL, &more, &f.diag));
    add_items(&f, 100);
    struct vyre_submit_options options = {
        .mode = VYRE_MODE_PERSISTENT, .on_complete = on_complete, .user = &called_with};
    refuse(REFUSE_RESIDENT, 0);
    must(&f, vyre_batch_submit(f.batch, &options, NULL, &f.diag));
    struct vyre_batch *first = f.batch;
    f.batch = more;
    add_items(&f, 10);
    must(&f, run(&f, VYRE_MODE_PLAIN, NULL)); /* another mode waits for the ring */
    expect_bytes(&f);
    assert_int_equal(atomic_load(&called_with), VYRE_OK);
    f.batch = first;
    expect_retired(&f);
    close_all(&f);
}

/* Nothing can be launched at all: the batch ends with the driver's code. */
static void queue_refuses_too_batch_fails(void **state)
{
    struct fixture f;
    (void)state;
    open_all(&f, 0);
    add_items(&f, 450);
    must(&f, run(&f, VYRE_MODE_PERSISTENT, NULL));
    let_it_leave(&f);
    refuse(REFUSE_ALL, 0);
    add_items(&f, 100);
    assert_int_equal(run(&f, VYRE_MODE_PERSISTENT, NULL), VYRE_OUT_OF_MEMORY);
    refuse(REFUSE_NOTHING, 0);
    fill_buffer(&f);
    expect_retired(&f);
    close_all(&f);
}

/* Refused when it is tried out: the batch is not taken, and there is no second try. */
static void first_launch_refused_kernel_is_refused(void **state)
{
    struct fixture f;
    (void)state;
    open_all(&f, 0);
    refuse(REFUSE_RESIDENT, 0);
    expect_retired(&f);
    assert_int_equal(atomic_load(&refusals), 1);
    close_all(&f);
    open_all(&f, 0); /* another open begins anew */
    add_items(&f, 10);
    must(&f, run(&f, VYRE_MODE_PERSISTENT, NULL));
    expect_bytes(&f);
    close_all(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relaunch_refused_items_run_by_the_queue),
        cmocka_unit_test(lease_over_with_work_items_run_by_the_queue),
        cmocka_unit_test(several_in_flight_all_end_in_order),
        cmocka_unit_test(queue_refuses_too_batch_fails),
        cmocka_unit_test(first_launch_refused_kernel_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
