/*
 * hang_test.c: a kernel that never ends costs its device, and nothing else.
 *
 * A running kernel cannot be killed, so every case runs in child processes, one for each mode, side by
 * side: this program again, with the case's name. The parent gives them CHILD_SECONDS to end by
 * themselves; that is the only time that is checked, and it is generous. The hang timeout is such that a
 * machine that stalls for a second changes nothing.
 *
 * The devices never run kernels on the calling thread here, except in one case where a worker is stuck
 * before: a caller that runs an endless kernel itself cannot be helped.
 */
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/cpu_fixture.h"
#include "support/deadline.h"

enum { GROUPS = 4, CHILD_SECONDS = 180, SHORT_NS = 20000000, LATER = 4 };

#define HANG_TIMEOUT_NS UINT64_C(2000000000)
#define PATIENCE_NS     UINT64_C(120000000000)
/* QUEUED batches: each far below the timeout, but longer than a waiter sleeps (a quarter of it); all above it. */
#define QUEUE_HANG_NS UINT64_C(3000000000)
enum { QUEUED = 6, SLOW_US = 1000000 };

/* ---- The child -------------------------------------------------------------------------------- */

static atomic_bool stuck_started;
static atomic_bool stuck_released;
static atomic_bool stuck_left;
static atomic_uint later_ran;
static atomic_uint stuck_ran;

static void stuck(const struct vyre_host_group *group)
{
    atomic_fetch_add(&stuck_ran, 1);
    atomic_store(&stuck_started, true);
    while (!atomic_load(&stuck_released))
        sleep_us(1000);
    memset(group->buffers[0].data, 0x5a, group->buffers[0].size_bytes); /* still its memory */
    atomic_store(&stuck_left, true);
}

static void later(const struct vyre_host_group *group)
{
    (void)group;
    atomic_fetch_add(&later_ran, 1);
}

static void slow(const struct vyre_host_group *group)
{
    (void)group;
    sleep_us(SLOW_US);
    atomic_fetch_add(&later_ran, 1);
}

static void require(bool good, const char *what, int line)
{
    if (good)
        return;
    fprintf(stderr, "hang_test.c:%d: %s\n", line, what);
    fflush(NULL);
    _exit(1);
}

#define REQUIRE(condition) require((condition), #condition, __LINE__)

struct lost {
    struct fixture fixture;
    struct vyre_ticket first;
    struct vyre_ticket rest[LATER];
};

/* When may the stuck kernel go on? */
enum release { RELEASE_NEVER, RELEASE_BEFORE_CLOSE, RELEASE_AFTER_CLOSE };

/* A device with a stuck kernel and batches behind it that wait for the bytes it works on. */
static void get_stuck(struct lost *lost, enum vyre_mode mode)
{
    fixture_open(&lost->fixture, &(struct vyre_device_desc){.cpu_workers = 2,
                                                            .cpu_no_inline = true,
                                                            .hang_timeout_ns = HANG_TIMEOUT_NS});
    struct vyre_device *device = lost->fixture.device;
    struct vyre_kernel *stuck_kernel = kernel_in_place(device, "stuck", stuck, 0);
    struct vyre_kernel *later_kernel = kernel_in_place(device, "later", later, 0);
    struct vyre_buffer *buffer = buffer_of_groups(device, GROUPS);
    struct vyre_batch *batch = batch_of(device);
    add_in_place(batch, stuck_kernel, 1, buffer, NULL, 0);
    add_in_place(batch, later_kernel, GROUPS, buffer, NULL, 0);
    lost->first = submit_in(batch, mode);
    vyre_batch_reset(batch);
    add_in_place(batch, later_kernel, GROUPS, buffer, NULL, 0);
    for (uint32_t i = 0; i < LATER; i++)
        lost->rest[i] = submit_in(batch, mode);

    while (!atomic_load(&stuck_started))
        sleep_us(1000);
    struct vyre_diag diag = {0};
    enum vyre_status status = vyre_ticket_wait(device, lost->first, SHORT_NS, &diag);
    REQUIRE(status == VYRE_TIMEOUT && diag.id == VYRE_DIAG_TICKET_TIMEOUT);
    REQUIRE(vyre_ticket_poll(device, lost->rest[0], &diag) == VYRE_BUSY);
    status = vyre_ticket_wait(device, lost->first, PATIENCE_NS, &diag);
    REQUIRE(status == VYRE_DEVICE_LOST);
    REQUIRE(diag.id == VYRE_DIAG_DEVICE_HANG);
    REQUIRE(diag.status == VYRE_DEVICE_LOST && diag.message[0] != '\0' && diag.fix[0] != '\0');

    /* From now on the device says so in every call. */
    struct vyre_ticket refused = {1, 1};
    REQUIRE(vyre_batch_submit(batch, &(struct vyre_submit_options){.mode = mode}, &refused,
                              &diag) == VYRE_DEVICE_LOST);
    REQUIRE(refused.device == 0 && refused.sequence == 0);
}

static bool is_lost_id(enum vyre_diag_id id)
{
    return id == VYRE_DIAG_DEVICE_HANG || id == VYRE_DIAG_DEVICE_LOST;
}

static void check_rest(struct lost *lost)
{
    struct vyre_device *device = lost->fixture.device;
    for (uint32_t i = 0; i < LATER; i++) {
        struct vyre_diag diag = {0};
        REQUIRE(vyre_ticket_wait(device, lost->rest[i], VYRE_FOREVER, &diag) == VYRE_DEVICE_LOST);
        REQUIRE(is_lost_id(diag.id));
        REQUIRE(vyre_ticket_poll(device, lost->rest[i], &diag) == VYRE_DEVICE_LOST);
    }
    struct vyre_diag diag = {0};
    REQUIRE(vyre_device_wait_idle(device, VYRE_FOREVER, &diag) == VYRE_DEVICE_LOST);
    REQUIRE(is_lost_id(diag.id));
    REQUIRE(atomic_load(&later_ran) == 0);
}

/* Another device of the same instance goes on. */
static void check_other_device(struct lost *lost, enum vyre_mode mode)
{
    struct vyre_device *other = NULL;
    struct vyre_diag diag = {0};
    struct vyre_device_desc desc = {.backend = "cpu", .cpu_workers = 1, .cpu_no_inline = true};
    REQUIRE(vyre_device_open(lost->fixture.instance, &desc, &other, &diag) == VYRE_OK);
    struct vyre_kernel *kernel = kernel_in_place(other, "bump", bump, 1);
    struct vyre_buffer *buffer = buffer_of_groups(other, GROUPS);
    struct vyre_batch *batch = batch_of(other);
    uint32_t amount = 9;
    uint32_t word = 0;
    add_in_place(batch, kernel, GROUPS, buffer, &amount, 1);
    for (uint32_t i = 0; i < 10; i++)
        REQUIRE(vyre_ticket_wait(other, submit_in(batch, mode), PATIENCE_NS, &diag) == VYRE_OK);
    REQUIRE(vyre_buffer_read(buffer, 0, &word, sizeof word, &diag) == VYRE_OK && word == 90);
    vyre_device_close(&other);
    REQUIRE(other == NULL);
}

static void let_go(void)
{
    atomic_store(&stuck_released, true);
    while (!atomic_load(&stuck_left))
        sleep_us(1000);
    sleep_us(300000); /* whatever would run now is not to run */
    REQUIRE(atomic_load(&later_ran) == 0);
    REQUIRE(atomic_load(&stuck_ran) == 1);
}

static void run_stuck_case(enum vyre_mode mode, enum release release)
{
    static struct lost lost; /* outlives main: the stuck kernel's thread may */
    get_stuck(&lost, mode);
    check_rest(&lost);
    check_other_device(&lost, mode);
    if (release == RELEASE_BEFORE_CLOSE)
        let_go();
    vyre_device_close(&lost.fixture.device);
    REQUIRE(lost.fixture.device == NULL);
    if (release == RELEASE_AFTER_CLOSE)
        let_go();
    sleep_us(300000);
    REQUIRE(atomic_load(&later_ran) == 0);
    REQUIRE(atomic_load(&stuck_ran) == 1);
    check_other_device(&lost, mode); /* the instance lives on, too */
    vyre_instance_destroy(&lost.fixture.instance);
}

/* Work that waits for its turn, however long, is no hang: only what runs too long is. */
static void run_queue_case(enum vyre_mode mode)
{
    struct fixture fixture;
    struct vyre_diag diag = {0};
    fixture_open(&fixture, &(struct vyre_device_desc){.cpu_workers = 2,
                                                      .cpu_no_inline = true,
                                                      .hang_timeout_ns = QUEUE_HANG_NS});
    struct vyre_kernel *kernel = kernel_in_place(fixture.device, "slow", slow, 0);
    struct vyre_buffer *buffer = buffer_of_groups(fixture.device, 1);
    struct vyre_batch *batch = batch_of(fixture.device);
    struct vyre_ticket last = {0};
    add_in_place(batch, kernel, 1, buffer, NULL, 0);
    for (uint32_t i = 0; i < QUEUED; i++)
        last = submit_in(batch, mode);
    REQUIRE(vyre_ticket_wait(fixture.device, last, VYRE_FOREVER, &diag) == VYRE_OK);
    REQUIRE(atomic_load(&later_ran) == QUEUED);
    fixture_close(&fixture);
}

/* Does what its constant says. */
enum { GATE_OPEN, GATE_HELD, GATE_STUCK };

static atomic_bool all_submitted; /* what a held gate waits for */

static void gate(const struct vyre_host_group *group)
{
    const uint32_t *how = group->constants;
    while (*how == GATE_HELD && !atomic_load(&all_submitted))
        sleep_us(1000);
    if (*how == GATE_STUCK)
        stuck(group);
}

static struct vyre_ticket submit_gate(struct vyre_batch *batch, enum vyre_mode mode, uint32_t how)
{
    vyre_batch_set_constants(batch, 0, &how, sizeof how);
    return submit_in(batch, mode);
}

/*
 * A caller that may run kernels waits for a batch that it could run, behind one that a worker is
 * stuck in: it must not wait for that one without end.
 */
static void run_helping_case(enum vyre_mode mode)
{
    static struct fixture fixture; /* outlives main: the stuck kernel's thread may */
    struct vyre_diag diag = {0};
    fixture_open(&fixture,
                 &(struct vyre_device_desc){.cpu_workers = 1, .hang_timeout_ns = HANG_TIMEOUT_NS});
    struct vyre_kernel *kernel = kernel_in_place(fixture.device, "gate", gate, 1);
    struct vyre_buffer *buffer = buffer_of_groups(fixture.device, 1);
    struct vyre_batch *batch = batch_of(fixture.device);
    uint32_t how = GATE_OPEN;
    add_in_place(batch, kernel, 1, buffer, &how, 1);
    for (uint32_t i = 0; i < 200; i++) /* so that it is known to be short */
        wait_for(fixture.device, submit_gate(batch, mode, GATE_OPEN));
    /* Keeps the caller from running the next. */
    submit_gate(batch, VYRE_MODE_PERSISTENT, GATE_HELD);
    struct vyre_ticket first = submit_gate(batch, mode, GATE_STUCK);
    struct vyre_ticket second = submit_gate(batch, mode, GATE_OPEN);
    atomic_store(&all_submitted, true);
    while (!atomic_load(&stuck_started))
        sleep_us(1000);
    enum vyre_status status = vyre_ticket_wait(fixture.device, second, SHORT_NS, &diag);
    REQUIRE(status == VYRE_TIMEOUT || status == VYRE_DEVICE_LOST);
    REQUIRE(vyre_ticket_wait(fixture.device, second, PATIENCE_NS, &diag) == VYRE_DEVICE_LOST);
    REQUIRE(vyre_ticket_wait(fixture.device, first, PATIENCE_NS, &diag) == VYRE_DEVICE_LOST);
    vyre_device_close(&fixture.device);
    vyre_instance_destroy(&fixture.instance);
}

/* ---- The cases -------------------------------------------------------------------------------- */

static const char *const case_names[] = {"never", "before-close", "after-close", "queue",
                                         "helping"};
enum { QUEUE_CASE = 3, HELPING_CASE = 4 };

static int run_child(const char *mode_text, const char *case_text)
{
    enum vyre_mode mode = (enum vyre_mode)atoi(mode_text);
    int which = atoi(case_text);
    if (which == QUEUE_CASE)
        run_queue_case(mode);
    else if (which == HELPING_CASE)
        run_helping_case(mode);
    else
        run_stuck_case(mode, (enum release)which);
    return 0;
}

/* What the environment says of sanitizers, but memory that a stuck kernel holds is no leak. */
static char **child_environment(void)
{
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    setenv("TSAN_OPTIONS", "report_thread_leaks=0", 1);
    return environ;
}

static pid_t start_child(enum vyre_mode mode, int which)
{
    char mode_text[16];
    char case_text[16];
    snprintf(mode_text, sizeof mode_text, "%d", (int)mode);
    snprintf(case_text, sizeof case_text, "%d", which);
    char program[] = "/proc/self/exe";
    char name[] = "hang_test";
    char marker[] = "--child";
    char *arguments[] = {name, marker, mode_text, case_text, NULL};
    pid_t child = 0;
    assert_int_equal(posix_spawn(&child, program, NULL, NULL, arguments, child_environment()), 0);
    return child;
}

/* True: it ended well. Kills it at the deadline. */
static bool await_child(pid_t child, struct deadline limit, enum vyre_mode mode, int which)
{
    int status = 0;
    pid_t done;
    while ((done = waitpid(child, &status, WNOHANG)) == 0 && !deadline_is_past(limit))
        sleep_us(10000);
    if (done == child) {
        bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (!good)
            print_error("%s, %s: the child ended with wait status 0x%x\n", vyre_mode_name(mode),
                        case_names[which], (unsigned)status);
        return good;
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    print_error("%s, %s: the child did not end\n", vyre_mode_name(mode), case_names[which]);
    return false;
}

static void check_modes(int which)
{
    static const enum vyre_mode modes[] = {VYRE_MODE_PLAIN, VYRE_MODE_REPLAY, VYRE_MODE_PERSISTENT};
    const struct deadline limit = deadline_in(CHILD_SECONDS);
    pid_t children[COUNT_OF(modes)];
    bool good = true;
    for (size_t i = 0; i < COUNT_OF(modes); i++)
        children[i] = start_child(modes[i], which);
    for (size_t i = 0; i < COUNT_OF(modes); i++)
        good = await_child(children[i], limit, modes[i], which) && good;
    assert_true(good);
}

static void hang_never_released_device_is_lost_and_closes(void **state)
{
    (void)state;
    check_modes(RELEASE_NEVER);
}

static void hang_released_before_close_nothing_else_runs(void **state)
{
    (void)state;
    check_modes(RELEASE_BEFORE_CLOSE);
}

static void hang_released_after_close_nothing_else_runs(void **state)
{
    (void)state;
    check_modes(RELEASE_AFTER_CLOSE);
}

static void queued_longer_than_hang_timeout_is_not_lost(void **state)
{
    (void)state;
    check_modes(QUEUE_CASE);
}

static void hang_of_worker_caller_may_help_wait_ends(void **state)
{
    (void)state;
    check_modes(HELPING_CASE);
}

int main(int count, char **arguments)
{
    if (count == 4 && strcmp(arguments[1], "--child") == 0)
        return run_child(arguments[2], arguments[3]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hang_never_released_device_is_lost_and_closes),
        cmocka_unit_test(hang_released_before_close_nothing_else_runs),
        cmocka_unit_test(hang_released_after_close_nothing_else_runs),
        cmocka_unit_test(queued_longer_than_hang_timeout_is_not_lost),
        cmocka_unit_test(hang_of_worker_caller_may_help_wait_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
