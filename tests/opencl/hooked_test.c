/*
 * hooked_test.c: the backend on a real device when the driver misbehaves at the wrong moment, and when
 * kernels are such that only the driver's compiler sees what is wrong with them.
 *
 *   hooked_test DEVICE      a part of the device's name; it must have persistent mode
 */
#include <pthread.h>
#include <unistd.h>

#include "opencl/hooked_fixture.h"
#include "support/test.h"

#include "backend/opencl/ring_host.h"

#define TABLES        5
#define TABLE_ENTRIES 65536

static const char *device_name;

/* What the hooks do and have seen. Only the test's own thread changes what they do. */
static struct {
    pthread_t thread;
    uint32_t failing_launches;       /* of dispatchers: so many are refused */
    bool events_fail;                /* of dispatchers that are tried out */
    bool events_run;                 /* all of them, for ever */
    bool no_svm;                     /* the device hides its shared virtual memory */
    size_t scalar_bytes;             /* arguments by value have this size; 0: as the driver says */
    bool submitting;                 /* the test's thread is inside a submit */
    _Atomic uint32_t *released_flag; /* set when a program's first argument is */
    _Atomic uint32_t builds;
    _Atomic uint32_t launches; /* of dispatchers */
    uint32_t shared_frees;
    void *last_shared;
    uint32_t unlocked_looks;    /* at the event of a launch */
    uint32_t messages;          /* that the instance logged */
    uint32_t launches_on_items; /* of a new dispatcher, beside the items of another */
    void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *);
    void *notify_user;
} hooks;

/* ---- Hooks ------------------------------------------------------------------------------------ */

static bool is_ours(void)
{
    return pthread_equal(pthread_self(), hooks.thread) && hooked_device;
}

static bool is_dispatcher_queue(cl_command_queue queue)
{
    return hooked_device && hooked_device->persistent &&
           (queue == hooked_device->persistent->queue ||
            queue == hooked_device->persistent->trial.queue);
}

static cl_int CL_API_CALL enqueue_launch(cl_command_queue queue, cl_kernel kernel,
                                         cl_uint dimensions, const size_t *offset,
                                         const size_t *global, const size_t *local,
                                         cl_uint wait_count, const cl_event *waits,
                                         cl_event *out_event)
{
    hooks.launches += is_dispatcher_queue(queue);
    if (is_dispatcher_queue(queue) && is_ours()) {
        const struct vyre_cl_persistent *persistent = hooked_device->persistent;
        if (hooks.failing_launches > 0) {
            hooks.failing_launches--;
            return CL_OUT_OF_RESOURCES;
        }
        if (queue == persistent->queue &&
            (!persistent->current || persistent->current->native != kernel))
            hooks.launches_on_items += atomic_load(&persistent->control->head) !=
                                       atomic_load(&persistent->control->completion);
    }
    return hooked_real.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local,
                                              wait_count, waits, out_event);
}

static cl_int CL_API_CALL event_info(cl_event event, cl_event_info what, size_t size, void *out,
                                     size_t *out_size)
{
    cl_int code = hooked_real.clGetEventInfo(event, what, size, out, out_size);
    cl_int *state = out;
    if (code != CL_SUCCESS || what != CL_EVENT_COMMAND_EXECUTION_STATUS)
        return code;
    if (hooks.events_run)
        *state = CL_RUNNING;
    if (!is_ours() || !hooked_device->persistent)
        return code;
    if (hooks.events_fail && event == hooked_device->persistent->trial.launched &&
        *state == CL_COMPLETE) /* then no other thread builds */
        *state = CL_OUT_OF_RESOURCES;
    if (event == hooked_device->persistent->launched && hooks.submitting &&
        vyre_lock_try(&hooked_device->persistent->lock)) {
        vyre_lock_release(&hooked_device->persistent->lock);
        hooks.unlocked_looks++;
    }
    return code;
}

static cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, size_t size,
                                      void *out, size_t *out_size)
{
    cl_int code = hooked_real.clGetDeviceInfo(device, what, size, out, out_size);
    if (code == CL_SUCCESS && out && what == CL_DEVICE_SVM_CAPABILITIES && hooks.no_svm)
        memset(out, 0, size);
    return code;
}

static cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id *devices,
                                const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                                void *user)
{
    hooks.builds++;
    return hooked_real.clBuildProgram(program, count, devices, options, notify, user);
}

static void *CL_API_CALL shared_allocate(cl_context context, cl_svm_mem_flags flags, size_t size,
                                         cl_uint alignment)
{
    hooks.last_shared = hooked_real.clSVMAlloc(context, flags, size, alignment);
    return hooks.last_shared;
}

static void CL_API_CALL shared_free(cl_context context, void *memory)
{
    hooks.shared_frees++;
    hooked_real.clSVMFree(context, memory);
}

static cl_int CL_API_CALL set_pointer(cl_kernel kernel, cl_uint index, const void *value)
{
    if (hooks.submitting && hooks.released_flag && hooked_device->persistent->current)
        atomic_store(hooks.released_flag, 1);
    return hooked_real.clSetKernelArgSVMPointer(kernel, index, value);
}

static cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, size_t size,
                                       const void *value)
{
    if (hooks.scalar_bytes != 0 && value && size != hooks.scalar_bytes)
        return CL_INVALID_ARG_SIZE;
    return hooked_real.clSetKernelArg(kernel, index, size, value);
}

static cl_context CL_API_CALL create_context(const cl_context_properties *properties, cl_uint count,
                                             const cl_device_id *devices,
                                             void(CL_CALLBACK *notify)(const char *, const void *,
                                                                       size_t, void *),
                                             void *user, cl_int *out_code)
{
    hooks.notify = notify;
    hooks.notify_user = user;
    return hooked_real.clCreateContext(properties, count, devices, notify, user, out_code);
}

static void install(struct vyre_cl_api *api)
{
    api->clEnqueueNDRangeKernel = enqueue_launch;
    api->clGetEventInfo = event_info;
    api->clGetDeviceInfo = device_info;
    api->clBuildProgram = build;
    api->clSVMAlloc = shared_allocate;
    api->clSVMFree = shared_free;
    api->clSetKernelArgSVMPointer = set_pointer;
    api->clSetKernelArg = set_argument;
    api->clCreateContext = create_context;
}

/* ---- The device ------------------------------------------------------------------------------- */

static void on_log(void *user, enum vyre_log_level level, const char *text)
{
    (void)user;
    (void)level;
    (void)text;
    hooks.messages++;
}

/* What is freed stays readable, so that a look at it is seen by what it does. */
static void *allocate(void *user, size_t size_bytes, size_t alignment)
{
    (void)user;
    return aligned_alloc(alignment, (size_bytes + alignment - 1) / alignment * alignment);
}

static void keep(void *user, void *memory, size_t size_bytes, size_t alignment)
{
    (void)user;
    (void)memory;
    (void)size_bytes;
    (void)alignment;
}

static void open_observed(struct fixture *f, struct vyre_device_desc desc,
                          const struct vyre_observer *observer)
{
    struct vyre_instance_desc instance = {.log = on_log, .observer = observer};
    instance.allocator = (struct vyre_allocator){.allocate = allocate, .deallocate = keep};
    hooks.thread = pthread_self();
    fixture_open_in(f, &instance, device_name, desc, install);
}

static void open_with(struct fixture *f, struct vyre_device_desc desc)
{
    open_observed(f, desc, NULL);
}

static int forget_hooks(void **state)
{
    (void)state;
    memset(&hooks, 0, sizeof hooks);
    return 0;
}

/* Eight work-items, unless a case says otherwise. */
static struct vyre_kernel *create(struct fixture *f, const char *source, const char *entry)
{
    return fixture_kernel(f, source, entry, (struct vyre_kernel_desc){.local_size = {8, 1, 1}});
}

/* Submits the batch and waits: the first status that is not VYRE_OK. */
static enum vyre_status run(struct fixture *f, enum vyre_mode mode)
{
    const struct vyre_submit_options options = {.mode = mode};
    struct vyre_ticket ticket;
    hooks.submitting = true;
    enum vyre_status status = vyre_batch_submit(f->batch, &options, &ticket, &f->diag);
    hooks.submitting = false;
    if (status == VYRE_OK)
        status = vyre_ticket_wait(f->device, ticket, VYRE_FOREVER, &f->diag);
    return status;
}

/* A batch of one group of a kernel with one buffer. */
static void dispatch(struct fixture *f, struct vyre_kernel *kernel, struct vyre_buffer *buffer)
{
    vyre_batch_reset(f->batch);
    fixture_dispatch(f, kernel, buffer, (struct vyre_dispatch){0});
}

static void expect_word(struct fixture *f, struct vyre_buffer *buffer, uint32_t expected)
{
    assert_int_equal(fixture_word(f, buffer), expected);
}

/* Refused for what it is, at once when it is tried again. */
static void expect_kept_refusal(struct fixture *f, int64_t native_code)
{
    assert_diag(run(f, VYRE_MODE_PERSISTENT), f->diag, VYRE_DIAG_SUBMIT_MODE);
    assert_int_equal(f->diag.native_code, native_code);
    uint32_t builds = hooks.builds;
    assert_diag(run(f, VYRE_MODE_PERSISTENT), f->diag, VYRE_DIAG_SUBMIT_MODE);
    assert_int_equal(f->diag.native_code, native_code);
    assert_int_equal(hooks.builds, builds);
}

/* ---- Tables ----------------------------------------------------------------------------------- */

static const char tables_source[] =
    "__kernel void pick(__global const ulong *a, __global const ulong *b, __global const ulong "
    "*c,\n"
    "                   __global const ulong *d, __global const ulong *e, __global uint *out,\n"
    "                   uint last)\n"
    "{\n"
    "    __global const ulong *tables[5] = {a, b, c, d, e};\n"
    "    uint i = get_local_id(0);\n"
    "    if (i < 5)\n"
    "        out[i] = *(__global const uint *)tables[i][0] * 100 +\n"
    "                 *(__global const uint *)tables[i][last];\n"
    "}\n";

static struct vyre_kernel *create_table_kernel(struct fixture *f)
{
    struct vyre_binding_desc bindings[TABLES + 1];
    static const enum vyre_scalar constants[] = {VYRE_SCALAR_U32};
    for (uint32_t i = 0; i <= TABLES; i++)
        bindings[i] = (struct vyre_binding_desc){
            .slot = i,
            .access = i < TABLES ? VYRE_ACCESS_READ : VYRE_ACCESS_WRITE,
            .table = i < TABLES,
        };
    return fixture_kernel(f, tables_source, "pick",
                          (struct vyre_kernel_desc){.local_size = {8, 1, 1},
                                                    .bindings = bindings,
                                                    .binding_count = TABLES + 1,
                                                    .constants = constants,
                                                    .constant_count = 1});
}

/* Every table names one buffer, whose word is its number. */
static void dispatch_tables(struct fixture *f, struct vyre_kernel *kernel,
                            struct vyre_buffer *const *members, struct vyre_buffer *out,
                            uint32_t entries)
{
    static struct vyre_buffer *tables[TABLES][TABLE_ENTRIES];
    struct vyre_slot_binding bindings[TABLES + 1] = {
        [TABLES] = {.slot = TABLES, .range = {out, 0, 0}}};
    const uint32_t last = entries - 1;
    for (uint32_t i = 0; i < TABLES; i++) {
        for (uint32_t j = 0; j < entries; j++)
            tables[i][j] = members[i];
        bindings[i] =
            (struct vyre_slot_binding){.slot = i, .table = tables[i], .table_count = entries};
    }
    vyre_batch_dispatch(f->batch, &(struct vyre_dispatch){.kernel = kernel,
                                                          .groups = {1, 1, 1},
                                                          .bindings = bindings,
                                                          .binding_count = TABLES + 1,
                                                          .constants = &last,
                                                          .constants_size_bytes = 4});
}

/* More than the ring of tables holds, behind a few that are in it, then again as many as fit. */
static void tables_of_one_dispatch_do_not_take_each_others_place(void **state)
{
    static const uint32_t entries[] = {100, TABLE_ENTRIES, 40000, 3, 50000};
    static const enum vyre_mode modes[] = {VYRE_MODE_PLAIN, VYRE_MODE_PERSISTENT, VYRE_MODE_REPLAY};
    struct fixture f;
    struct vyre_buffer *members[TABLES];
    (void)state;
    for (size_t m = 0; m < COUNT_OF(modes); m++) {
        open_with(&f, (struct vyre_device_desc){0});
        struct vyre_kernel *kernel = create_table_kernel(&f);
        struct vyre_buffer *out = fixture_buffer(&f, 256);
        for (uint32_t i = 0; i < TABLES; i++) {
            uint32_t word = i + 1;
            members[i] = fixture_buffer(&f, 256);
            assert_int_equal(vyre_buffer_write(members[i], 0, &word, 4, &f.diag), VYRE_OK);
        }
        for (size_t e = 0; e < COUNT_OF(entries); e++) {
            uint32_t words[TABLES] = {0};
            vyre_batch_reset(f.batch);
            dispatch_tables(&f, kernel, members, out, entries[e]);
            dispatch_tables(&f, kernel, members, out, entries[e]);
            if (run(&f, modes[m]) != VYRE_OK)
                fail_msg("%s", f.diag.message);
            assert_int_equal(vyre_buffer_read(out, 0, words, sizeof words, &f.diag), VYRE_OK);
            for (uint32_t i = 0; i < TABLES; i++)
                assert_int_equal(words[i], (i + 1) * 101);
        }
        fixture_close(&f);
    }
}

/* ---- Dispatchers ------------------------------------------------------------------------------ */

static void neighbour_that_does_not_compile_is_no_reason_to_refuse(void **state)
{
    static const char source[] =
        "#define SHARED __local\n"
        "__kernel void good(__global uint *o) { o[get_global_id(0)] = 7; }\n"
        "__kernel void bad(__global uint *o) { SHARED uint t[8]; t[get_local_id(0)] = 1;\n"
        "    o[get_global_id(0)] = t[get_local_id(0)]; }\n";
    struct fixture f;
    (void)state;
    open_with(&f, (struct vyre_device_desc){0});
    struct vyre_buffer *buffer = fixture_buffer(&f, 256);
    struct vyre_kernel *good = create(&f, source, "good");
    struct vyre_kernel *bad = create(&f, source, "bad");
    dispatch(&f, good, buffer);
    assert_int_equal(run(&f, VYRE_MODE_PLAIN), VYRE_OK);
    dispatch(&f, bad, buffer);
    assert_int_equal(run(&f, VYRE_MODE_PLAIN), VYRE_OK);
    dispatch(&f, good, buffer);
    if (run(&f, VYRE_MODE_PERSISTENT) != VYRE_OK)
        fail_msg("%s", f.diag.message);
    expect_word(&f, buffer, 7);
    dispatch(&f, bad, buffer);
    assert_diag(run(&f, VYRE_MODE_PERSISTENT), f.diag, VYRE_DIAG_SUBMIT_MODE);
    fixture_close(&f);
}

static const char two_source[] =
    "__kernel void one(__global uint *o) { o[get_global_id(0)] = 1; }\n"
    "__kernel void two(__global uint *o) { o[get_global_id(0)] = 2; }\n";

static void ignore(void *user, const struct vyre_event *event)
{
    (void)user;
    (void)event;
}

/* Explanations, checks and an observed plain batch compile and launch nothing; warm-up does, once. */
static void asking_builds_nothing(void **state)
{
    const struct vyre_observer observer = {sizeof observer, NULL, ignore};
    struct vyre_explanation said;
    struct vyre_device_counters counters;
    struct fixture f;
    (void)state;
    open_observed(&f, (struct vyre_device_desc){0}, &observer);
    struct vyre_buffer *buffer = fixture_buffer(&f, 256);
    dispatch(&f, create(&f, two_source, "one"), buffer);
    uint32_t builds = hooks.builds;
    uint32_t launches = hooks.launches;
    assert_int_equal(vyre_batch_explain(f.batch, 1000, &said, &f.diag), VYRE_OK);
    assert_diag(vyre_batch_check_mode(f.batch, VYRE_MODE_PERSISTENT, 0, &f.diag), f.diag,
                VYRE_DIAG_SUBMIT_UNBUILT);
    assert_int_equal(run(&f, VYRE_MODE_PLAIN), VYRE_OK);
    assert_int_equal(hooks.builds, builds);
    assert_int_equal(hooks.launches, launches);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(vyre_batch_warm_up(f.batch, VYRE_MODE_PERSISTENT, &f.diag), VYRE_OK);
        assert_int_equal(hooks.builds, builds + 1);
        assert_int_equal(hooks.launches, launches + 1);
        assert_int_equal(vyre_batch_check_mode(f.batch, VYRE_MODE_PERSISTENT, 0, &f.diag), VYRE_OK);
    }
    assert_int_equal(run(&f, VYRE_MODE_PERSISTENT), VYRE_OK);
    assert_int_equal(hooks.builds, builds + 1);
    vyre_device_get_counters(f.device, &counters);
    assert_int_equal(counters.builds_made, 1);
    expect_word(&f, buffer, 1);
    fixture_close(&f);
}

/* What auto leaves to other modes runs where it is required, and says why it is left. */
static void batches_that_suit_no_dispatcher_are_poor(void **state)
{
    struct vyre_explanation said;
    struct fixture f;
    (void)state;
    open_with(&f, (struct vyre_device_desc){0});
    struct vyre_buffer *buffer = fixture_buffer(&f, 8192);
    struct vyre_kernel *one = create(&f, two_source, "one");
    const struct vyre_slot_binding binding = {.slot = 0, .range = {buffer, 0, 0}};
    vyre_batch_dispatch(f.batch, &(struct vyre_dispatch){.kernel = one,
                                                         .groups = {129, 1, 1},
                                                         .bindings = &binding,
                                                         .binding_count = 1});
    uint32_t builds = hooks.builds;
    assert_int_equal(vyre_batch_check_mode(f.batch, VYRE_MODE_PERSISTENT, 0, &f.diag), VYRE_OK);
    assert_int_equal(vyre_batch_explain(f.batch, 1000000, &said, &f.diag), VYRE_OK);
    assert_true(said.unfit_reason[0] != '\0');
    for (uint32_t i = 0; i < said.next.candidate_count; i++) {
        const struct vyre_decision_candidate *candidate = &said.next.candidates[i];
        if (candidate->mode == VYRE_MODE_PERSISTENT)
            assert_int_equal(candidate->why, VYRE_WHY_POOR_FIT);
    }
    assert_int_equal(hooks.builds, builds);
    assert_int_equal(run(&f, VYRE_MODE_PERSISTENT), VYRE_OK);
    expect_word(&f, buffer, 1);
    fixture_close(&f);
}

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

/* Launches and exits of dispatchers are what the observer is told of. */
static void residency_is_reported_with_its_end(void **state)
{
    static const char other_source[] =
        "__kernel void three(__global uint *o) { o[get_global_id(0)] = 3; }\n";
    struct leases leases = {0};
    const struct vyre_observer observer = {sizeof observer, &leases, take_lease};
    struct fixture f;
    (void)state;
    /* Both dispatchers stay until they are told to leave. */
    open_observed(&f,
                  (struct vyre_device_desc){.persistent_idle_ns = UINT64_C(600000000000),
                                            .persistent_lease_ns = UINT64_C(1200000000000),
                                            .no_proof = true},
                  &observer);
    struct vyre_buffer *buffer = fixture_buffer(&f, 256);
    struct vyre_kernel *one = create(&f, two_source, "one");
    struct vyre_kernel *three = create(&f, other_source, "three");
    dispatch(&f, one, buffer);
    assert_int_equal(run(&f, VYRE_MODE_PERSISTENT), VYRE_OK);
    assert_int_equal(leases.begins, 1);
    assert_int_equal(leases.ends, 0);
    dispatch(&f, three, buffer);
    assert_int_equal(run(&f, VYRE_MODE_PERSISTENT), VYRE_OK);
    await_ends(&f, &leases, 1);
    assert_int_equal(leases.why, VYRE_RESIDENCY_CHANGED);
    expect_word(&f, buffer, 3);
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
    open_observed(&f, (struct vyre_device_desc){.no_proof = true}, &observer);
    struct vyre_buffer *buffer = fixture_buffer(&f, 256);
    dispatch(&f, create(&f, two_source, "one"), buffer);
    assert_int_equal(run(&f, VYRE_MODE_PERSISTENT), VYRE_OK);
    await_ends(&f, &leases, 1);
    assert_int_equal(leases.why, VYRE_RESIDENCY_IDLE);
    fixture_close(&f);
}

/* The kernel of a build that is under way may go. */
static void kernel_destroyed_while_its_dispatcher_is_built(void **state)
{
    struct fixture f;
    (void)state;
    open_with(&f, (struct vyre_device_desc){0});
    struct vyre_buffer *buffer = fixture_buffer(&f, 256);
    struct vyre_kernel *one = create(&f, two_source, "one");
    dispatch(&f, one, buffer);
    const struct vyre_submit_options options = {.repeat_hint = 1000000000};
    uint32_t builds = hooks.builds;
    for (int i = 0; i < 2000 && hooks.builds == builds; i++) {
        struct vyre_ticket ticket;
        assert_int_equal(vyre_batch_submit(f.batch, &options, &ticket, &f.diag), VYRE_OK);
        assert_int_equal(vyre_ticket_wait(f.device, ticket, VYRE_FOREVER, &f.diag), VYRE_OK);
    }
    assert_true(hooks.builds > builds);
    vyre_kernel_destroy(&one);
    fixture_close(&f);
}

static void launch_that_fails_with_neighbours_is_tried_without(void **state)
{
    struct fixture f;
    (void)state;
    open_with(&f, (struct vyre_device_desc){0});
    struct vyre_buffer *buffer = fixture_buffer(&f, 256);
    struct vyre_kernel *one = create(&f, two_source, "one");
    struct vyre_kernel *two = create(&f, two_source, "two");
    dispatch(&f, two, buffer);
    assert_int_equal(run(&f, VYRE_MODE_PLAIN), VYRE_OK);
    dispatch(&f, one, buffer);
    hooks.failing_launches = 1;
    if (run(&f, VYRE_MODE_PERSISTENT) != VYRE_OK)
        fail_msg("%s", f.diag.message);
    expect_word(&f, buffer, 1);
    fixture_close(&f);
}

static void launch_that_fails_is_a_kept_refusal_with_its_code(void **state)
{
    struct fixture f;
    (void)state;
    for (int late = 0; late < 2; late++) {
        open_with(&f, (struct vyre_device_desc){0});
        struct vyre_buffer *buffer = fixture_buffer(&f, 256);
        dispatch(&f, create(&f, two_source, "one"), buffer);
        hooks.failing_launches = late ? 0 : UINT32_MAX;
        hooks.events_fail = late;
        expect_kept_refusal(&f, CL_OUT_OF_RESOURCES);
        hooks.events_fail = false;
        hooks.failing_launches = 0;
        assert_int_equal(run(&f, VYRE_MODE_AUTO), VYRE_OK); /* and the device goes on */
        expect_word(&f, buffer, 1);
        dispatch(&f, create(&f, two_source, "two"), buffer);
        assert_int_equal(run(&f, VYRE_MODE_PERSISTENT), VYRE_OK);
        expect_word(&f, buffer, 2);
        fixture_close(&f);
    }
}

/* All local memory of the device: there is none left for the dispatcher's own variables. */
static void local_memory_without_room_for_the_dispatcher_is_refused(void **state)
{
    struct fixture f;
    struct vyre_device_limits limits;
    char source[512];
    (void)state;
    open_with(&f, (struct vyre_device_desc){0});
    vyre_device_get_limits(f.device, &limits);
    snprintf(source, sizeof source,
             "__kernel void big(__global uint *o) { __local uint t[%u / 4];\n"
             "    uint i = get_local_id(0); t[i] = i; barrier(CLK_LOCAL_MEM_FENCE);\n"
             "    o[i] = t[7 - i]; }\n",
             limits.local_bytes);
    struct vyre_buffer *buffer = fixture_buffer(&f, 256);
    dispatch(&f, create(&f, source, "big"), buffer);
    assert_int_equal(run(&f, VYRE_MODE_PLAIN), VYRE_OK);
    expect_word(&f, buffer, 7);
    expect_kept_refusal(&f, CL_OUT_OF_RESOURCES);
    assert_contains(f.diag.message, "local memory");
    fixture_close(&f);
}

/* What a macro hides from the reader of the source does not compile. */
static void second_meanings_behind_macros_are_refused(void **state)
{
    static const char *const sources[] = {
        "#define DECLARE(type, name) type name = 3\n"
        "__kernel void k(__global uint *o) { __local uint t[4]; t[get_local_id(0) & 3] = 1;\n"
        "    { DECLARE(uint, t); o[get_global_id(0)] = t; } }\n",
        "#define LOOP(name) for (uint i = 0, name = 0; name < 4; name++)\n"
        "__kernel void k(__global uint *o) { __local uint t[4]; t[get_local_id(0) & 3] = 1;\n"
        "    uint sum = 0; LOOP(t) sum += t; o[get_global_id(0)] = sum / 2; }\n",
    };
    struct fixture f;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sources); i++) {
        open_with(&f, (struct vyre_device_desc){0});
        struct vyre_buffer *buffer = fixture_buffer(&f, 256);
        dispatch(&f, create(&f, sources[i], "k"), buffer);
        if (run(&f, VYRE_MODE_PLAIN) != VYRE_OK)
            fail_msg("%s", f.diag.message);
        expect_word(&f, buffer, 3);
        assert_diag(run(&f, VYRE_MODE_PERSISTENT), f.diag, VYRE_DIAG_SUBMIT_MODE);
        fixture_close(&f);
    }
}

/* A type of the program's own: PoCL takes any size for it, other drivers do not. */
static void argument_that_the_driver_finds_too_small_is_refused_at_creation(void **state)
{
    static const char source[] =
        "typedef short tiny;\n"
        "__kernel void k(__global uint *o, tiny amount) { o[0] = amount; }";
    static const enum vyre_scalar constants[] = {VYRE_SCALAR_I32};
    const struct vyre_payload payload = {.target = VYRE_TARGET_OPENCL_C,
                                         .entry = "k",
                                         .bytes = source,
                                         .size_bytes = sizeof source - 1};
    const struct vyre_kernel_desc desc = {.label = "k",
                                          .payloads = &payload,
                                          .payload_count = 1,
                                          .constants = constants,
                                          .constant_count = 1};
    struct vyre_kernel *kernel;
    struct fixture f;
    (void)state;
    open_with(&f, (struct vyre_device_desc){0});
    hooks.scalar_bytes = 2;
    assert_diag(vyre_kernel_create(f.device, &desc, &kernel, &f.diag), f.diag,
                VYRE_DIAG_OPENCL_ARGUMENTS);
    assert_contains(f.diag.message, "amount");
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
    open_with(&f, (struct vyre_device_desc){.no_proof = true}); /* each item runs once */
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
    if (run(&f, VYRE_MODE_PERSISTENT) != VYRE_OK)
        fail_msg("%s", f.diag.message);
    assert_int_equal(hooks.launches_on_items, 0);
    assert_int_equal(hooks.unlocked_looks, 0);
    hooked_device->persistent->count -= VYRE_CL_RESIDENTS_MAX - 2;
    fixture_close(&f);
}

/* ---- Memory and ends -------------------------------------------------------------------------- */

static void probe_that_does_not_end_keeps_its_memory(void **state)
{
    struct fixture f;
    struct vyre_ability persistent;
    (void)state;
    hooks.events_run = true;
    open_with(&f, (struct vyre_device_desc){0});
    hooks.events_run = false;
    assert_int_equal(hooks.shared_frees, 0);
    vyre_device_get_ability(f.device, VYRE_ABILITY_PERSISTENT, &persistent);
    assert_int_equal(persistent.value, 0);
    assert_string_not_equal(persistent.reason, "");
    struct vyre_buffer *buffer = fixture_buffer(&f, 256);
    dispatch(&f, create(&f, two_source, "one"), buffer);
    assert_int_equal(run(&f, VYRE_MODE_PLAIN), VYRE_OK);
    expect_word(&f, buffer, 1);
    vyre_device_close(&f.device);
    const struct vyre_device_desc desc = {.backend = HOOKED_NAME, .name = device_name};
    assert_int_equal(vyre_device_open(f.instance, &desc, &f.device, &f.diag), VYRE_OK);
    vyre_device_get_ability(f.device, VYRE_ABILITY_PERSISTENT, &persistent);
    assert_int_not_equal(persistent.value, 0); /* what was not found out is asked again */
    fixture_close(&f);
}

static void memory_given_back_is_no_longer_counted(void **state)
{
    struct fixture f;
    struct vyre_device_memory before, with, after;
    (void)state;
    for (int i = 0; i < 2; i++) {
        hooks.no_svm = i;
        open_with(&f, (struct vyre_device_desc){0});
        vyre_device_get_memory(f.device, &before);
        struct vyre_buffer *buffer = fixture_buffer(&f, 4096);
        vyre_device_get_memory(f.device, &with);
        assert_int_equal(with.allocation_count, before.allocation_count + 1);
        vyre_buffer_destroy(&buffer);
        vyre_device_get_memory(f.device, &after);
        assert_int_equal(after.reserved_bytes, before.reserved_bytes);
        assert_int_equal(after.allocation_count, before.allocation_count);
        fixture_close(&f);
    }
}

/* A hung device is left alone; what its driver says later must not find an instance that is gone. */
static void abandoned_device_does_not_log_to_an_instance_that_is_gone(void **state)
{
    struct fixture f;
    (void)state;
    open_with(&f, (struct vyre_device_desc){.hang_timeout_ns = 200000000});
    struct vyre_buffer *buffer = fixture_buffer(&f, 256);
    dispatch(&f, create(&f, two_source, "one"), buffer);
    hooks.notify("heard", NULL, 0, hooks.notify_user);
    assert_int_equal(hooks.messages, 1);
    hooks.events_run = true;
    assert_int_equal(run(&f, VYRE_MODE_PLAIN), VYRE_DEVICE_LOST);
    fixture_close(&f);
    hooks.notify("too late", NULL, 0, hooks.notify_user);
    assert_int_equal(hooks.messages, 1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(tables_of_one_dispatch_do_not_take_each_others_place, forget_hooks),
        cmocka_unit_test_setup(neighbour_that_does_not_compile_is_no_reason_to_refuse,
                               forget_hooks),
        cmocka_unit_test_setup(asking_builds_nothing, forget_hooks),
        cmocka_unit_test_setup(batches_that_suit_no_dispatcher_are_poor, forget_hooks),
        cmocka_unit_test_setup(residency_is_reported_with_its_end, forget_hooks),
        cmocka_unit_test_setup(idle_dispatcher_is_reported_to_have_left, forget_hooks),
        cmocka_unit_test_setup(kernel_destroyed_while_its_dispatcher_is_built, forget_hooks),
        cmocka_unit_test_setup(launch_that_fails_with_neighbours_is_tried_without, forget_hooks),
        cmocka_unit_test_setup(launch_that_fails_is_a_kept_refusal_with_its_code, forget_hooks),
        cmocka_unit_test_setup(local_memory_without_room_for_the_dispatcher_is_refused,
                               forget_hooks),
        cmocka_unit_test_setup(second_meanings_behind_macros_are_refused, forget_hooks),
        cmocka_unit_test_setup(argument_that_the_driver_finds_too_small_is_refused_at_creation,
                               forget_hooks),
        cmocka_unit_test_setup(dispatcher_made_inside_a_batch_waits_for_the_items_before_it,
                               forget_hooks),
        cmocka_unit_test_setup(probe_that_does_not_end_keeps_its_memory, forget_hooks),
        cmocka_unit_test_setup(memory_given_back_is_no_longer_counted, forget_hooks),
        cmocka_unit_test_setup(abandoned_device_does_not_log_to_an_instance_that_is_gone,
                               forget_hooks),
    };
    if (argc != 2)
        return 2;
    device_name = argv[1];
    (void)alarm(290); /* a hang ends the test */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
