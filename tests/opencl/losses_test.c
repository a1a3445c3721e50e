/*
 * losses_test.c: devices that the driver reports as lost, or that hang where a call of ours waits for them.
 *
 *   losses_test DEVICE      a part of the device's name; it must have persistent mode
 *
 * Kernels that do not end wait for a word of the host, which is set at the end of a case.
 */
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "opencl/hooked_fixture.h"
#include "support/test.h"

#include "backend/opencl/persistent.h"
#include "backend/opencl/ring_host.h"

#define MS            UINT64_C(1000000)
#define HOUR_NS       UINT64_C(3600000000000)
#define TABLE_ENTRIES 65536

static const char *device_name;

/* What the hooks do and have seen. */
static struct {
    _Atomic int refuse_after;  /* so many launches are taken; -1: all */
    bool dispatchers_spin;     /* a kernel that waits runs in their place */
    bool markers_run;          /* for ever */
    bool reads_fail;           /* and writes, of buffers */
    _Atomic cl_int events_are; /* not 0: how all commands have ended */
    _Atomic uint32_t launches; /* of dispatchers */
    _Atomic uint32_t early;    /* memory that was freed while a kernel runs */
    _Atomic uint32_t finishes; /* clFinish while a kernel runs */
    uint32_t *last_shared;     /* memory */
    cl_kernel spin;            /* the kernel that waits */
    cl_event last;             /* Owned: of the last launch */
    cl_event marker;
} hooks;

/* ---- Hooks ------------------------------------------------------------------------------------ */

static bool runs(void)
{
    cl_int state = CL_COMPLETE;
    if (hooks.last)
        (void)hooked_real.clGetEventInfo(hooks.last, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                         sizeof state, &state, NULL);
    return state > CL_COMPLETE;
}

static void keep_last(cl_event event)
{
    if (hooks.last)
        (void)hooked_real.clReleaseEvent(hooks.last);
    (void)hooked_real.clRetainEvent(event);
    hooks.last = event;
}

static cl_int CL_API_CALL enqueue_launch(cl_command_queue queue, cl_kernel kernel,
                                         cl_uint dimensions, const size_t *offset,
                                         const size_t *global, const size_t *local,
                                         cl_uint wait_count, const cl_event *waits,
                                         cl_event *out_event)
{
    static const size_t one[3] = {1, 1, 1};
    cl_event own;
    bool is_dispatcher = hooked_is_dispatcher_queue(queue);
    hooks.launches += is_dispatcher;
    if (hooks.refuse_after == 0)
        return CL_DEVICE_NOT_AVAILABLE;
    hooks.refuse_after -= hooks.refuse_after > 0;
    if (is_dispatcher && hooks.dispatchers_spin) {
        kernel = hooks.spin;
        global = local = one;
    }
    cl_int code =
        hooked_real.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local,
                                           wait_count, waits, out_event ? out_event : &own);
    if (code == CL_SUCCESS)
        keep_last(out_event ? *out_event : own);
    if (code == CL_SUCCESS && !out_event)
        (void)hooked_real.clReleaseEvent(own);
    return code;
}

static cl_int CL_API_CALL enqueue_marker(cl_command_queue queue, cl_uint count,
                                         const cl_event *waits, cl_event *out_event)
{
    cl_int code = hooked_real.clEnqueueMarkerWithWaitList(queue, count, waits, out_event);
    hooks.marker = out_event ? *out_event : NULL;
    return code;
}

static cl_int CL_API_CALL event_info(cl_event event, cl_event_info what, size_t size, void *out,
                                     size_t *out_size)
{
    cl_int code = hooked_real.clGetEventInfo(event, what, size, out, out_size);
    if (code != CL_SUCCESS || what != CL_EVENT_COMMAND_EXECUTION_STATUS)
        return code;
    if (hooks.markers_run && event == hooks.marker)
        *(cl_int *)out = CL_RUNNING;
    if (hooks.events_are != 0 && *(cl_int *)out <= CL_COMPLETE)
        *(cl_int *)out = hooks.events_are;
    return code;
}

static cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem memory, cl_bool blocking,
                                      size_t offset, size_t size, void *out, cl_uint count,
                                      const cl_event *waits, cl_event *out_event)
{
    return hooks.reads_fail ? CL_DEVICE_NOT_AVAILABLE
                            : hooked_real.clEnqueueReadBuffer(queue, memory, blocking, offset, size,
                                                              out, count, waits, out_event);
}

static cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem memory, cl_bool blocking,
                                       size_t offset, size_t size, const void *bytes, cl_uint count,
                                       const cl_event *waits, cl_event *out_event)
{
    return hooks.reads_fail
               ? CL_DEVICE_NOT_AVAILABLE
               : hooked_real.clEnqueueWriteBuffer(queue, memory, blocking, offset, size, bytes,
                                                  count, waits, out_event);
}

static void *CL_API_CALL shared_allocate(cl_context context, cl_svm_mem_flags flags, size_t size,
                                         cl_uint alignment)
{
    hooks.last_shared = hooked_real.clSVMAlloc(context, flags, size, alignment);
    return hooks.last_shared;
}

static void CL_API_CALL shared_free(cl_context context, void *memory)
{
    hooks.early += runs();
    hooked_real.clSVMFree(context, memory);
}

static cl_int CL_API_CALL finish(cl_command_queue queue)
{
    hooks.finishes += runs();
    return hooked_real.clFinish(queue);
}

static void install(struct vyre_cl_api *api)
{
    api->clEnqueueNDRangeKernel = enqueue_launch;
    api->clEnqueueMarkerWithWaitList = enqueue_marker;
    api->clGetEventInfo = event_info;
    api->clEnqueueReadBuffer = read_buffer;
    api->clEnqueueWriteBuffer = write_buffer;
    api->clSVMAlloc = shared_allocate;
    api->clSVMFree = shared_free;
    api->clFinish = finish;
}

/* ---- Steps ------------------------------------------------------------------------------------ */

static const char source[] =
    "__kernel void spin(__global volatile uint *go) { while (go[0] == 0) {} }\n"
    "__kernel void one(__global uint *o) { o[0] += 1; }\n";

static int forget_hooks(void **state)
{
    (void)state;
    memset(&hooks, 0, sizeof hooks);
    hooks.refuse_after = -1;
    hooked_no_svm = false;
    return 0;
}

/* A buffer and the host's view of it. */
static struct vyre_buffer *create_word(struct fixture *f, uint32_t **out_word)
{
    struct vyre_buffer *buffer = fixture_buffer(f, 256);
    *out_word = hooks.last_shared;
    return buffer;
}

/* Lets what waits end, and waits for that. */
static void let_go(uint32_t *word)
{
    *(volatile uint32_t *)word = 1;
    while (runs())
        sched_yield();
}

/* Nothing that a kernel uses was freed, and no call waited for it. */
static void close_while_it_runs(struct fixture *f, uint32_t *word)
{
    assert_true(runs());
    fixture_close(f);
    assert_true(runs());
    assert_int_equal(hooks.early, 0);
    assert_int_equal(hooks.finishes, 0);
    let_go(word);
}

struct waiter {
    struct fixture *f;
    struct vyre_ticket ticket;
    enum vyre_status status;
    struct vyre_diag diag;
};

static void *wait_for_ticket(void *user)
{
    struct waiter *waiter = user;
    waiter->status =
        vyre_ticket_wait(waiter->f->device, waiter->ticket, VYRE_FOREVER, &waiter->diag);
    return NULL;
}

static void join_soon(pthread_t thread)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 120;
    if (pthread_timedjoin_np(thread, NULL, &until) != 0)
        fail_msg("it still waits");
}

/* ---- Losses that the driver reports ----------------------------------------------------------- */

static void loss_at_submit_wakes_those_who_wait(void **state)
{
    const struct vyre_submit_options options = {.mode = VYRE_MODE_PLAIN};
    const struct timespec moment = {.tv_nsec = 50000000};
    struct fixture f;
    struct waiter waiter = {.f = &f};
    pthread_t thread;
    uint32_t *word;
    (void)state;
    fixture_open(&f, device_name, (struct vyre_device_desc){.hang_timeout_ns = HOUR_NS}, install);
    struct vyre_buffer *buffer = create_word(&f, &word);
    fixture_dispatch(&f, fixture_kernel(&f, source, "spin", (struct vyre_kernel_desc){0}), buffer,
                     (struct vyre_dispatch){0});
    assert_int_equal(vyre_batch_submit(f.batch, &options, &waiter.ticket, &f.diag), VYRE_OK);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_ticket, &waiter), 0);
    nanosleep(&moment, NULL); /* so that it sleeps; if it does not, the case is easier */
    hooks.refuse_after = 0;
    assert_diag(fixture_run(&f, VYRE_MODE_PLAIN), f.diag, VYRE_DIAG_DEVICE_LOST);
    assert_int_equal(f.diag.native_code, CL_DEVICE_NOT_AVAILABLE);
    join_soon(thread);
    assert_diag(waiter.status, waiter.diag, VYRE_DIAG_DEVICE_LOST);
    close_while_it_runs(&f, word);
}

/* A part of the batch is queued, and no event says when it ends. */
static void loss_inside_a_batch_keeps_its_memory(void **state)
{
    struct fixture f;
    uint32_t *word;
    (void)state;
    fixture_open(&f, device_name, (struct vyre_device_desc){.hang_timeout_ns = HOUR_NS}, install);
    struct vyre_buffer *buffer = create_word(&f, &word);
    struct vyre_kernel *spin = fixture_kernel(&f, source, "spin", (struct vyre_kernel_desc){0});
    for (int i = 0; i < 2; i++)
        fixture_dispatch(&f, spin, buffer, (struct vyre_dispatch){0});
    hooks.refuse_after = 1;
    assert_diag(fixture_run(&f, VYRE_MODE_PLAIN), f.diag, VYRE_DIAG_DEVICE_LOST);
    (void)hooked_real.clFlush(hooked_device->queue);
    close_while_it_runs(&f, word);
}

static void command_that_ends_with_a_loss_loses_the_device(void **state)
{
    struct fixture f;
    uint32_t *word;
    (void)state;
    fixture_open(&f, device_name, (struct vyre_device_desc){0}, install);
    struct vyre_buffer *buffer = create_word(&f, &word);
    fixture_dispatch(&f, fixture_kernel(&f, source, "one", (struct vyre_kernel_desc){0}), buffer,
                     (struct vyre_dispatch){0});
    hooks.events_are = CL_DEVICE_NOT_AVAILABLE;
    assert_int_equal(fixture_run(&f, VYRE_MODE_PLAIN), VYRE_DEVICE_LOST);
    hooks.events_are = 0;
    assert_diag(fixture_run(&f, VYRE_MODE_PLAIN), f.diag, VYRE_DIAG_DEVICE_LOST);
    fixture_close(&f);
}

static void loss_at_a_read_or_write_is_noted(void **state)
{
    struct fixture f;
    uint32_t word = 0;
    (void)state;
    for (int reads = 0; reads < 2; reads++) {
        hooked_no_svm = true;
        hooks.reads_fail = false;
        fixture_open(&f, device_name, (struct vyre_device_desc){0}, install);
        struct vyre_buffer *buffer = fixture_buffer(&f, 256);
        hooks.reads_fail = true;
        enum vyre_status status = reads ? vyre_buffer_read(buffer, 0, &word, 4, &f.diag)
                                        : vyre_buffer_write(buffer, 0, &word, 4, &f.diag);
        assert_diag(status, f.diag, VYRE_DIAG_DEVICE_LOST);
        assert_true(vyre_is_lost(&hooked_device->flight.loss));
        fixture_close(&f);
    }
}

/* ---- Hangs inside a call ---------------------------------------------------------------------- */

/* The first launch of a dispatcher, which only tries it out. */
static void dispatcher_that_hangs_when_it_is_tried_is_known_to_run(void **state)
{
    struct fixture f;
    uint32_t *word;
    (void)state;
    fixture_open(&f, device_name, (struct vyre_device_desc){.no_proof = true}, install);
    struct vyre_buffer *buffer = create_word(&f, &word);
    struct vyre_kernel *spin = fixture_kernel(&f, source, "spin", (struct vyre_kernel_desc){0});
    fixture_dispatch(&f, fixture_kernel(&f, source, "one", (struct vyre_kernel_desc){0}), buffer,
                     (struct vyre_dispatch){0});
    /* One plain run compiles the kernel that takes the dispatcher's place, and sets its argument. */
    *word = 1;
    struct vyre_batch *first = f.batch;
    assert_int_equal(vyre_batch_create(f.device, NULL, &f.batch, &f.diag), VYRE_OK);
    fixture_dispatch(&f, spin, buffer, (struct vyre_dispatch){0});
    fixture_must_run(&f, VYRE_MODE_PLAIN);
    f.batch = first;
    *word = 0;
    for (struct vyre_cl_kernel *at = hooked_device->kernels; at; at = at->next) {
        if (strcmp(at->entry, "spin") == 0)
            hooks.spin = at->last->call.native;
    }
    hooks.dispatchers_spin = true;
    hooked_device->persistent->trial.limit_ns = 300 * MS;
    assert_diag(fixture_run(&f, VYRE_MODE_PERSISTENT), f.diag, VYRE_DIAG_DEVICE_HANG);
    assert_contains(f.diag.message, "300 ms");
    close_while_it_runs(&f, word);
}

/* Submit empties the queue to have room for tables. */
static void hang_while_tables_are_waited_for_is_no_lack_of_memory(void **state)
{
    static struct vyre_buffer *table[TABLE_ENTRIES];
    static const char tables_source[] = "__kernel void pick(__global const ulong *a, __global uint "
                                        "*o) { o[0] = *(__global uint *)a[0]; }\n";
    static const struct vyre_binding_desc described[] = {
        {.slot = 0, .access = VYRE_ACCESS_READ, .table = true},
        {.slot = 1, .access = VYRE_ACCESS_WRITE},
    };
    struct fixture f;
    (void)state;
    fixture_open(&f, device_name, (struct vyre_device_desc){.hang_timeout_ns = HOUR_NS}, install);
    struct vyre_buffer *buffer = fixture_buffer(&f, 256);
    struct vyre_kernel *pick = fixture_kernel(
        &f, tables_source, "pick",
        (struct vyre_kernel_desc){.bindings = described, .binding_count = COUNT_OF(described)});
    for (size_t i = 0; i < TABLE_ENTRIES; i++)
        table[i] = buffer;
    const struct vyre_slot_binding bindings[] = {
        {.slot = 0, .table = table, .table_count = TABLE_ENTRIES},
        {.slot = 1, .range = {buffer, 0, 0}},
    };
    for (int i = 0; i < 8; i++)
        vyre_batch_dispatch(f.batch, &(struct vyre_dispatch){.kernel = pick,
                                                             .groups = {1, 1, 1},
                                                             .bindings = bindings,
                                                             .binding_count = COUNT_OF(bindings)});
    fixture_must_run(&f, VYRE_MODE_PLAIN);
    /* From now on only the marker is waited for, and it never ends: a short limit is enough. */
    hooked_device->desc.hang_timeout_ns = 300 * MS;
    hooks.markers_run = true;
    assert_diag(fixture_run(&f, VYRE_MODE_PLAIN), f.diag, VYRE_DIAG_DEVICE_HANG);
    fixture_close(&f);
}

/* Items that are left in the ring stay there. */
static void lost_device_launches_nothing(void **state)
{
    struct fixture f;
    struct vyre_diag reason;
    (void)state;
    fixture_open(&f, device_name, (struct vyre_device_desc){0}, install);
    struct vyre_buffer *buffer = fixture_buffer(&f, 256);
    fixture_dispatch(&f, fixture_kernel(&f, source, "one", (struct vyre_kernel_desc){0}), buffer,
                     (struct vyre_dispatch){0});
    fixture_must_run(&f, VYRE_MODE_PERSISTENT);
    struct vyre_cl_persistent *persistent = hooked_device->persistent;
    while (atomic_load(&persistent->running))
        vyre_cl_ring_look(hooked_device);
    vyre_diag_reset(&reason);
    (void)vyre_diag_set(&reason, VYRE_DIAG_DEVICE_LOST, NULL, 0, "by the test");
    uint32_t launches = hooks.launches;
    /* Under the lock, so that the helper thread cannot see the item without the loss. */
    vyre_lock_acquire(&persistent->lock);
    vyre_flight_lose(&hooked_device->flight, &reason);
    atomic_fetch_add(&persistent->control->head, 1);
    vyre_lock_release(&persistent->lock);
    assert_false(vyre_cl_persistent_tend(hooked_device));
    assert_int_equal(vyre_cl_persistent_settle(hooked_device, NULL), VYRE_DEVICE_LOST);
    assert_int_equal(hooks.launches, launches);
    atomic_fetch_sub(&persistent->control->head, 1);
    fixture_close(&f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(loss_at_submit_wakes_those_who_wait, forget_hooks),
        cmocka_unit_test_setup(loss_inside_a_batch_keeps_its_memory, forget_hooks),
        cmocka_unit_test_setup(command_that_ends_with_a_loss_loses_the_device, forget_hooks),
        cmocka_unit_test_setup(loss_at_a_read_or_write_is_noted, forget_hooks),
        cmocka_unit_test_setup(dispatcher_that_hangs_when_it_is_tried_is_known_to_run,
                               forget_hooks),
        cmocka_unit_test_setup(hang_while_tables_are_waited_for_is_no_lack_of_memory, forget_hooks),
        cmocka_unit_test_setup(lost_device_launches_nothing, forget_hooks),
    };
    if (argc != 2)
        return 2;
    device_name = argv[1];
    (void)alarm(1200); /* a hang ends the test */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
