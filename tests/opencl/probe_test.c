/*
 * probe_test.c: what the probe finds out, and that a late host changes nothing about it. Runs on PoCL's
 * pthread and basic; hooks play the busy machine and the drivers that PoCL is not.
 */
#include <unistd.h>

#include <vyre/vyre.h>

#include "opencl/hooked_backend.h"
#include "support/test.h"

#define GO_BYTES 64 /* the host's word has a cache line of its own, the first */

/* What the hooks do and have seen while a device is opened. */
static struct {
    bool opening;
    uint32_t late_enqueues; /* so many return only when their kernel has ended */
    bool late_flushes;      /* the host goes on only when the kernel has ended */
    bool runs_in_flush;     /* a kernel starts in the flush behind its enqueue */
    bool blind;             /* the kernel does not see what the host writes */
    uint32_t launches;
    cl_context context;
    cl_kernel waiting; /* for the flush */
    cl_event waiting_event;
    unsigned char *words;  /* the host's */
    unsigned char *shadow; /* the kernel's, if it is blind */
    size_t size_bytes;
} hooks;

static void expect(cl_int code)
{
    assert_int_equal(code, CL_SUCCESS);
}

static cl_context CL_API_CALL create_context(const cl_context_properties *properties, cl_uint count,
                                             const cl_device_id *devices,
                                             void(CL_CALLBACK *notify)(const char *, const void *,
                                                                       size_t, void *),
                                             void *user, cl_int *out_code)
{
    hooks.context = hooked_real.clCreateContext(properties, count, devices, notify, user, out_code);
    return hooks.context;
}

static void *CL_API_CALL shared_allocate(cl_context context, cl_svm_mem_flags flags, size_t size,
                                         cl_uint alignment)
{
    if (!hooks.opening || !hooks.blind || hooks.words)
        return hooked_real.clSVMAlloc(context, flags, size, alignment);
    hooks.words = hooked_real.clSVMAlloc(context, flags, 2 * size, alignment);
    hooks.shadow = hooks.words + size;
    hooks.size_bytes = size;
    return hooks.words;
}

static cl_int CL_API_CALL set_pointer(cl_kernel kernel, cl_uint index, const void *value)
{
    bool hidden = hooks.shadow && value == hooks.words;
    return hooked_real.clSetKernelArgSVMPointer(kernel, index, hidden ? hooks.shadow : value);
}

static cl_int CL_API_CALL event_info(cl_event event, cl_event_info what, size_t size, void *out,
                                     size_t *out_size)
{
    cl_int code = hooked_real.clGetEventInfo(event, what, size, out, out_size);
    if (hooks.opening && hooks.shadow)
        memcpy(hooks.words + GO_BYTES, hooks.shadow + GO_BYTES, hooks.size_bytes - GO_BYTES);
    return code;
}

static cl_int CL_API_CALL enqueue_launch(cl_command_queue queue, cl_kernel kernel,
                                         cl_uint dimensions, const size_t *offset,
                                         const size_t *global, const size_t *local,
                                         cl_uint wait_count, const cl_event *waits,
                                         cl_event *out_event)
{
    if (hooks.opening)
        hooks.launches++;
    if (hooks.shadow)
        memset(hooks.shadow, 0, hooks.size_bytes);
    if (hooks.opening && hooks.runs_in_flush) {
        cl_int made;
        hooks.waiting = kernel;
        *out_event = clCreateUserEvent(hooks.context, &made);
        hooks.waiting_event = *out_event;
        return made;
    }
    cl_int code = hooked_real.clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global,
                                                     local, wait_count, waits, out_event);
    if (hooks.opening && hooks.late_enqueues > 0) {
        hooks.late_enqueues--;
        expect(hooked_real.clFinish(queue));
    }
    return code;
}

static cl_int CL_API_CALL flush(cl_command_queue queue)
{
    if (hooks.waiting) {
        const size_t one = 1;
        expect(hooked_real.clEnqueueNDRangeKernel(queue, hooks.waiting, 1, NULL, &one, &one, 0,
                                                  NULL, NULL));
        expect(clSetUserEventStatus(hooks.waiting_event, CL_COMPLETE));
        hooks.waiting = NULL;
    }
    return hooks.opening && hooks.late_flushes ? hooked_real.clFinish(queue)
                                               : hooked_real.clFlush(queue);
}

static void install(struct vyre_cl_api *api)
{
    api->clCreateContext = create_context;
    api->clSVMAlloc = shared_allocate;
    api->clSetKernelArgSVMPointer = set_pointer;
    api->clGetEventInfo = event_info;
    api->clEnqueueNDRangeKernel = enqueue_launch;
    api->clFlush = flush;
}

static int make_instance(void **state)
{
    static struct vyre_instance *instance;
    struct vyre_diag diag;
    memset(&hooks, 0, sizeof hooks);
    assert_int_equal(vyre_instance_create(NULL, &instance, &diag), VYRE_OK);
    assert_int_equal(vyre_instance_register_backend(instance, hooked_backend(install), &diag),
                     VYRE_OK);
    *state = &instance;
    return 0;
}

static int drop_instance(void **state)
{
    vyre_instance_destroy(*state);
    return 0;
}

struct found {
    bool persistent;
    bool blocking;
    uint32_t launches; /* of the probe */
};

static struct found open_once(void **state, const char *name)
{
    const struct vyre_device_desc desc = {.backend = HOOKED_NAME, .name = name};
    struct vyre_instance **instance = *state;
    struct vyre_device *device;
    struct vyre_ability ability;
    struct vyre_diag diag;
    hooks.opening = true;
    hooks.launches = 0;
    hooks.words = NULL;
    hooks.shadow = NULL;
    if (vyre_device_open(*instance, &desc, &device, &diag) != VYRE_OK)
        fail_msg("cannot open: %s", diag.message);
    hooks.opening = false;
    vyre_device_get_ability(device, VYRE_ABILITY_PERSISTENT, &ability);
    struct found found = {ability.value != 0, hooked_device->blocking, hooks.launches};
    assert_int_equal(found.persistent, ability.reason[0] == '\0');
    vyre_device_close(&device);
    return found;
}

/* What is proven holds for the instance: nothing is launched to find it out again. */
static void expect_kept(void **state, const char *name, struct found first)
{
    assert_true(first.launches > 0);
    struct found second = open_once(state, name);
    assert_int_equal(second.launches, 0);
    assert_int_equal(second.persistent, first.persistent);
    assert_int_equal(second.blocking, first.blocking);
}

static void kernel_that_sees_the_host_is_found_and_kept(void **state)
{
    struct found found = open_once(state, "pthread");
    assert_true(found.persistent);
    assert_false(found.blocking);
    expect_kept(state, "pthread", found);
}

static void enqueue_that_runs_the_kernel_is_found_at_once_and_kept(void **state)
{
    struct found found = open_once(state, "basic");
    assert_false(found.persistent);
    assert_true(found.blocking);
    assert_int_equal(found.launches, 1);
    expect_kept(state, "basic", found);
}

static void enqueue_that_returns_late_is_asked_again(void **state)
{
    hooks.late_enqueues = 3;
    struct found found = open_once(state, "pthread");
    assert_true(found.persistent);
    assert_false(found.blocking);
    assert_true(found.launches > 3);
}

static void enqueue_that_is_always_late_is_not_held_against_the_device(void **state)
{
    hooks.late_enqueues = UINT32_MAX;
    struct found found = open_once(state, "pthread");
    assert_false(found.persistent);
    assert_false(found.blocking); /* it is not known, and plain mode must not rely on it */
    hooks.late_enqueues = 0;
    assert_true(open_once(state, "pthread").persistent);
}

static void host_that_is_always_late_is_not_held_against_the_device(void **state)
{
    hooks.late_flushes = true;
    struct found found = open_once(state, "pthread");
    assert_false(found.persistent);
    assert_false(found.blocking);
    hooks.late_flushes = false;
    assert_true(open_once(state, "pthread").persistent);
}

static void kernel_that_runs_in_a_later_call_is_found_and_kept(void **state)
{
    hooks.runs_in_flush = true;
    struct found found = open_once(state, "basic");
    assert_false(found.persistent);
    assert_false(found.blocking);
    assert_int_equal(found.launches, 1);
    expect_kept(state, "basic", found);
}

static void kernel_that_does_not_see_the_host_is_found_and_kept(void **state)
{
    hooks.blind = true;
    struct found found = open_once(state, "pthread");
    assert_false(found.persistent);
    assert_false(found.blocking);
    hooks.blind = false;
    expect_kept(state, "pthread", found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(kernel_that_sees_the_host_is_found_and_kept, make_instance,
                                        drop_instance),
        cmocka_unit_test_setup_teardown(enqueue_that_runs_the_kernel_is_found_at_once_and_kept,
                                        make_instance, drop_instance),
        cmocka_unit_test_setup_teardown(enqueue_that_returns_late_is_asked_again, make_instance,
                                        drop_instance),
        cmocka_unit_test_setup_teardown(enqueue_that_is_always_late_is_not_held_against_the_device,
                                        make_instance, drop_instance),
        cmocka_unit_test_setup_teardown(host_that_is_always_late_is_not_held_against_the_device,
                                        make_instance, drop_instance),
        cmocka_unit_test_setup_teardown(kernel_that_runs_in_a_later_call_is_found_and_kept,
                                        make_instance, drop_instance),
        cmocka_unit_test_setup_teardown(kernel_that_does_not_see_the_host_is_found_and_kept,
                                        make_instance, drop_instance),
    };
    (void)alarm(600); /* a hang ends the test */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
