/*
 * lost_cases.c: a kernel that does not end. Its thread cannot be stopped, so each case runs in a
 * child process that opens an instance of its own and ends by _exit, and the parent looks at the
 * exit code only. What must come is waited for without a limit: the child's alarm ends a child that
 * hangs.
 */
#include "conformance/conformance.h"

#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 64, MS = 1000000, HANG_MS = 200, SLOW_MS = 400, CHILD_SECONDS = 120 };

/* What the child works with. Lives until _exit: the stuck kernel looks at the gate. */
struct child {
    const struct subject *subject;
    enum vyre_mode mode; /* that the stuck batch is submitted in */
    uint64_t hang_ns;
    struct vyre_instance *instance;
    struct vyre_device *device;
    struct vyre_kernel *gate_kernel;
    struct vyre_buffer *data;
    struct vyre_batch *batch;
    struct vyre_ticket stuck, behind;
    struct gate gate;
    _Atomic uint32_t calls;
    _Atomic uint32_t lost_calls;
    struct vyre_diag diag;
};

/* The child has no cmocka: the first thing that does not hold ends it. */
#define expect(condition)                                                                 \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
            _exit(1);                                                                     \
        }                                                                                 \
    } while (0)

static void note_end(void *user, struct vyre_ticket ticket, const struct vyre_batch_result *result)
{
    struct child *child = user;
    (void)ticket;
    if (result->status == VYRE_DEVICE_LOST)
        atomic_fetch_add(&child->lost_calls, 1);
    atomic_fetch_add(&child->calls, 1);
}

static struct vyre_kernel *child_kernel(struct child *child, enum kernel_id id)
{
    struct kernel_plan plan;
    struct vyre_kernel *kernel = NULL;
    kernel_plan_init(&plan, id);
    expect(vyre_kernel_create(child->device, &plan.desc, &kernel, &child->diag) == VYRE_OK);
    return kernel;
}

/* Opens a device on which one batch hangs and one waits behind it. Returns once it hangs. */
static void child_open_stuck(struct child *child)
{
    struct vyre_device_desc desc = {.backend = child->subject->backend,
                                    .name = child->subject->device_name,
                                    .index = child->subject->device_index,
                                    .cpu_no_inline = true,
                                    .hang_timeout_ns = child->hang_ns};
    struct vyre_submit_options options = {
        .mode = child->mode, .on_complete = note_end, .user = child};
    child->instance = subject_instance(child->subject, NULL, &child->diag);
    expect(child->instance);
    expect(vyre_device_open(child->instance, &desc, &child->device, &child->diag) == VYRE_OK);
    child->gate_kernel = child_kernel(child, KERNEL_GATE);
    expect(vyre_buffer_create(child->device, &(struct vyre_buffer_desc){.size_bytes = WORDS * 4},
                              &child->data, &child->diag) == VYRE_OK);
    expect(vyre_batch_create(child->device, NULL, &child->batch, &child->diag) == VYRE_OK);
    add_gate(child->batch, child->gate_kernel, whole(child->data), &child->gate);
    add_gate(child->batch, child->gate_kernel, whole(child->data), &child->gate);
    expect(vyre_batch_submit(child->batch, &options, &child->stuck, &child->diag) == VYRE_OK);
    options.mode = VYRE_MODE_AUTO;
    expect(vyre_batch_submit(child->batch, &options, &child->behind, &child->diag) == VYRE_OK);
    while (!atomic_load(&child->gate.entered))
        sleep_ns(MS);
}

static bool is_lost(struct child *child, enum vyre_status status)
{
    return status == VYRE_DEVICE_LOST && child->diag.status == VYRE_DEVICE_LOST &&
           (child->diag.id == VYRE_DIAG_DEVICE_LOST || child->diag.id == VYRE_DIAG_DEVICE_HANG);
}

/* ---- Cases ------------------------------------------------------------------------------------ */

static void pending_tickets_end(struct child *child)
{
    struct vyre_batch_result result;
    uint64_t start = now_ns();
    child_open_stuck(child);
    expect(
        is_lost(child, vyre_ticket_wait(child->device, child->behind, VYRE_FOREVER, &child->diag)));
    expect(now_ns() - start >= UINT64_C(1000000) * (HANG_MS - 20));
    expect(child->diag.id == VYRE_DIAG_DEVICE_HANG);
    expect(is_lost(child, vyre_ticket_wait(child->device, child->stuck, 0, &child->diag)));
    expect(is_lost(child, vyre_ticket_poll(child->device, child->stuck, &child->diag)));
    expect(is_lost(child, vyre_ticket_result(child->device, child->stuck, &result, &child->diag)));
    expect(is_lost(child, vyre_device_wait_idle(child->device, VYRE_FOREVER, &child->diag)));
    while (atomic_load(&child->calls) < 2)
        sleep_ns(10 * MS);
    expect(atomic_load(&child->calls) == 2 && atomic_load(&child->lost_calls) == 2);
}

static void nothing_further_runs(struct child *child)
{
    struct vyre_ticket ticket = {7, 7};
    struct vyre_buffer *buffer = NULL;
    uint32_t word = 0;
    child_open_stuck(child);
    expect(vyre_ticket_wait(child->device, child->stuck, VYRE_FOREVER, NULL) == VYRE_DEVICE_LOST);
    vyre_batch_reset(child->batch);
    vyre_batch_fill(child->batch, whole(child->data), 5);
    expect(is_lost(child, vyre_batch_submit(child->batch, NULL, &ticket, &child->diag)));
    expect(ticket.device == 0 && ticket.sequence == 0);
    expect(is_lost(child, vyre_batch_warm_up(child->batch, VYRE_MODE_PLAIN, &child->diag)));
    expect(is_lost(child, vyre_buffer_read(child->data, 0, &word, 4, &child->diag)));
    expect(is_lost(child, vyre_buffer_write(child->data, 0, &word, 4, &child->diag)));
    expect(is_lost(child,
                   vyre_buffer_create(child->device, &(struct vyre_buffer_desc){.size_bytes = 64},
                                      &buffer, &child->diag)));
    expect(!buffer);
    vyre_buffer_destroy(&child->data);
    vyre_kernel_destroy(&child->gate_kernel);
    vyre_batch_destroy(&child->batch);
    sleep_ns(10 * MS);
    gate_open(&child->gate); /* the stuck kernel goes on, and its memory is still there */
    sleep_ns(60 * MS);
    expect(atomic_load(&child->gate.entered) == 1); /* no command behind it was started */
    vyre_device_close(&child->device);
    vyre_instance_destroy(&child->instance);
}

static void close_does_not_block_and_reopen_works(struct child *child)
{
    uint32_t word = 0;
    child_open_stuck(child);
    expect(vyre_ticket_wait(child->device, child->stuck, VYRE_FOREVER, NULL) == VYRE_DEVICE_LOST);
    vyre_device_close(&child->device);
    expect(!child->device);

    struct vyre_device_desc desc = {.backend = child->subject->backend,
                                    .name = child->subject->device_name,
                                    .index = child->subject->device_index};
    expect(vyre_device_open(child->instance, &desc, &child->device, &child->diag) == VYRE_OK);
    struct vyre_kernel *add = child_kernel(child, KERNEL_ADD);
    expect(vyre_buffer_create(child->device, &(struct vyre_buffer_desc){.size_bytes = WORDS * 4},
                              &child->data, &child->diag) == VYRE_OK);
    expect(vyre_batch_create(child->device, NULL, &child->batch, &child->diag) == VYRE_OK);
    add_add(child->batch, add, whole(child->data), 3, WORDS);
    expect(vyre_batch_submit(child->batch, NULL, NULL, &child->diag) == VYRE_OK);
    expect(vyre_buffer_read(child->data, 4 * (WORDS - 1), &word, 4, &child->diag) == VYRE_OK);
    expect(word == 3);
    gate_open(&child->gate); /* the stuck kernel ends after all, and does no harm */
    sleep_ns(20 * MS);
    expect(vyre_buffer_read(child->data, 0, &word, 4, &child->diag) == VYRE_OK);
    expect(word == 3);
    vyre_device_close(&child->device);
}

/* When no thread waits, a poll finds out in the end. */
static void poll_finds_out(struct child *child)
{
    enum vyre_status status = VYRE_BUSY;
    child_open_stuck(child);
    while (status == VYRE_BUSY) {
        status = vyre_ticket_poll(child->device, child->stuck, &child->diag);
        sleep_ns(5 * MS);
    }
    expect(is_lost(child, status));
}

/* Long work below the timeout is not a hang. */
static void slow_is_not_lost(struct child *child)
{
    struct gate_opener opener;
    child->hang_ns = UINT64_C(1000000) * 8 * SLOW_MS;
    gate_opener_start(&opener, &child->gate, UINT64_C(1000000) * SLOW_MS);
    child_open_stuck(child);
    expect(vyre_ticket_wait(child->device, child->stuck, VYRE_FOREVER, NULL) == VYRE_OK);
    gate_opener_join(&opener);
    expect(vyre_device_wait_idle(child->device, VYRE_FOREVER, NULL) == VYRE_OK);
    vyre_device_close(&child->device);
    vyre_instance_destroy(&child->instance);
}

/* ---- Parent ----------------------------------------------------------------------------------- */

/* Runs a case in a child, once per mode that the device has. */
static void run_in_child(struct fixture *f, void (*run)(struct child *child))
{
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    vyre_device_close(&f->device); /* a child of threads may only exit: fork without any */
    for (size_t i = 0; i < mode_count; i++) {
        int code = 0;
        fflush(NULL);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            struct child *child = calloc(1, sizeof *child);
            alarm(CHILD_SECONDS);
            expect(child);
            child->subject = f->subject;
            child->mode = modes[i];
            child->hang_ns = UINT64_C(1000000) * HANG_MS;
            run(child);
            _exit(0);
        }
        assert_int_equal(waitpid(pid, &code, 0), pid);
        if (!WIFEXITED(code) || WEXITSTATUS(code) != 0)
            fail_msg("the child in mode %s ended with %x", vyre_mode_name(modes[i]),
                     (unsigned)code);
    }
}

#define CHILD_CASE(name)                           \
    static void name##_in_child(struct fixture *f) \
    {                                              \
        run_in_child(f, name);                     \
    }
CHILD_CASE(pending_tickets_end)
CHILD_CASE(nothing_further_runs)
CHILD_CASE(close_does_not_block_and_reopen_works)
CHILD_CASE(poll_finds_out)
CHILD_CASE(slow_is_not_lost)
#undef CHILD_CASE

static const struct conformance_case cases[] = {
    {"pending_tickets_end", pending_tickets_end_in_child, NEEDS_ASYNC},
    {"nothing_further_runs", nothing_further_runs_in_child, NEEDS_ASYNC},
    {"close_does_not_block_and_reopen_works", close_does_not_block_and_reopen_works_in_child,
     NEEDS_ASYNC},
    {"poll_finds_out", poll_finds_out_in_child, NEEDS_ASYNC},
    {"slow_is_not_lost", slow_is_not_lost_in_child, NEEDS_ASYNC},
};

const struct conformance_group lost_cases = {"lost", cases, COUNT_OF(cases)};
