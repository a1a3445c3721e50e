/*
 * thread_cases.c: many threads on one device, and devices in many threads.
 *
 * cmocka's asserts belong to the main thread: a worker notes the first thing that went wrong.
 */
#include "conformance/conformance.h"

enum { THREADS = 4, WORDS = 192, SUBMITS = 300 };

struct worker {
    pthread_t thread;
    const struct subject *subject;
    struct vyre_instance *instance;
    struct vyre_device *device;
    struct vyre_kernel *kernel;
    struct vyre_buffer *shared;
    uint32_t number;
    enum vyre_status status; /* the first that was not OK */
    const char *flaw;        /* what else was wrong, or NULL */
    struct vyre_diag diag;
    struct vyre_ticket ticket;
    struct gate *gate;
};

static void start(struct worker *workers, void *(*run)(void *))
{
    for (size_t i = 0; i < THREADS; i++) {
        if (pthread_create(&workers[i].thread, NULL, run, &workers[i]) != 0)
            abort();
    }
}

static void join_and_check(struct fixture *f, struct worker *workers)
{
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    for (size_t i = 0; i < THREADS; i++) {
        f->diag = workers[i].diag;
        assert_ok(f, workers[i].status);
        if (workers[i].flaw)
            fail_msg("thread %zu: %s", i, workers[i].flaw);
    }
}

/* Submits `batch` SUBMITS times, in all modes, waiting now and then. */
static void submit_many(struct worker *worker, struct vyre_batch *batch)
{
    enum vyre_mode modes[4];
    size_t mode_count = device_modes(worker->device, modes);
    modes[mode_count++] = VYRE_MODE_AUTO;
    for (uint32_t i = 0; worker->status == VYRE_OK && i < SUBMITS; i++) {
        struct vyre_ticket ticket;
        struct vyre_submit_options options = {.mode = modes[(i / 3 + worker->number) % mode_count]};
        worker->status = vyre_batch_submit(batch, &options, &ticket, &worker->diag);
        if (worker->status == VYRE_OK && i % 16 == 5)
            worker->status = vyre_ticket_wait(worker->device, ticket, VYRE_FOREVER, &worker->diag);
        if (worker->status == VYRE_OK && ticket.sequence == 0)
            worker->flaw = "a ticket is zero";
    }
}

/* ---- One device ------------------------------------------------------------------------------- */

static void *increment_shared(void *argument)
{
    struct worker *worker = argument;
    struct vyre_batch *batch = NULL;
    worker->status = vyre_batch_create(worker->device, NULL, &batch, &worker->diag);
    if (worker->status != VYRE_OK)
        return NULL;
    add_add(batch, worker->kernel, whole(worker->shared), 1, WORDS);
    submit_many(worker, batch);
    vyre_batch_destroy(&batch);
    return NULL;
}

/* Plain additions, no atomics: only the order of batches keeps them from being lost. */
static void shared_counter_is_exact(struct fixture *f)
{
    struct worker workers[THREADS] = {0};
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *shared = make_buffer(f, f->device, WORDS * 4);
    for (uint32_t i = 0; i < THREADS; i++)
        workers[i] =
            (struct worker){.device = f->device, .kernel = add, .shared = shared, .number = i};
    start(workers, increment_shared);
    join_and_check(f, workers);
    assert_ok(f, vyre_device_wait_idle(f->device, VYRE_FOREVER, &f->diag));
    assert_int_equal(counters_of(f->device).submitted, THREADS * SUBMITS);
    assert_int_equal(counters_of(f->device).completed, THREADS * SUBMITS);
    assert_all_words(f, shared, THREADS * SUBMITS, WORDS);
}

/* A small in-flight limit makes the submitting threads wait for room. */
static void shared_counter_is_exact_when_full(struct fixture *f)
{
    struct worker workers[THREADS] = {0};
    struct vyre_device *device = open_device(f, &(struct vyre_device_desc){.in_flight_limit = 2});
    struct vyre_kernel *add = make_kernel(f, device, KERNEL_ADD);
    struct vyre_buffer *shared = make_buffer(f, device, WORDS * 4);
    for (uint32_t i = 0; i < THREADS; i++)
        workers[i] =
            (struct worker){.device = device, .kernel = add, .shared = shared, .number = i};
    start(workers, increment_shared);
    join_and_check(f, workers);
    assert_all_words(f, shared, THREADS * SUBMITS, WORDS);
}

/* Creates its own objects, works on them, checks them, destroys them: beside the other threads. */
static void use_own_objects(struct worker *worker)
{
    struct kernel_plan plan;
    struct vyre_kernel *kernel = NULL;
    struct vyre_buffer *data = NULL;
    struct vyre_batch *batch = NULL;
    uint32_t words[WORDS] = {0};
    kernel_plan_init(&plan, KERNEL_ADD);
    worker->status = vyre_kernel_create(worker->device, &plan.desc, &kernel, &worker->diag);
    if (worker->status == VYRE_OK)
        worker->status = vyre_buffer_create(worker->device,
                                            &(struct vyre_buffer_desc){.size_bytes = sizeof words},
                                            &data, &worker->diag);
    if (worker->status == VYRE_OK)
        worker->status = vyre_batch_create(worker->device, NULL, &batch, &worker->diag);
    if (worker->status == VYRE_OK) {
        add_add(batch, kernel, whole(data), 1, WORDS);
        submit_many(worker, batch);
    }
    if (worker->status == VYRE_OK) {
        vyre_batch_reset(batch);
        vyre_batch_download(batch, whole(data), words);
        struct vyre_ticket ticket = {0};
        worker->status = vyre_batch_submit(batch, NULL, &ticket, &worker->diag);
        if (worker->status == VYRE_OK)
            worker->status = vyre_ticket_wait(worker->device, ticket, VYRE_FOREVER, &worker->diag);
        for (size_t i = 0; i < WORDS; i++) {
            if (words[i] != SUBMITS)
                worker->flaw = "the thread's own buffer is wrong";
        }
    }
    vyre_batch_destroy(&batch); /* with work that other threads submitted in flight */
    vyre_buffer_destroy(&data);
    vyre_kernel_destroy(&kernel);
}

static void *use_own_objects_twice(void *argument)
{
    struct worker *worker = argument;
    use_own_objects(worker);
    if (worker->status == VYRE_OK)
        use_own_objects(worker);
    return NULL;
}

static void disjoint_buffers_in_threads(struct fixture *f)
{
    struct worker workers[THREADS] = {0};
    uint64_t memory = counters_of(f->device).memory_bytes;
    for (uint32_t i = 0; i < THREADS; i++)
        workers[i] = (struct worker){.device = f->device, .number = i};
    start(workers, use_own_objects_twice);
    join_and_check(f, workers);
    make_batch(f, f->device);
    assert_ok(f, vyre_device_wait_idle(f->device, VYRE_FOREVER, &f->diag));
    struct vyre_buffer *last = make_buffer(f, f->device, 4); /* frees what waited */
    assert_int_equal(counters_of(f->device).memory_bytes, memory + vyre_buffer_size(last));
}

/* ---- One ticket, many waiters ----------------------------------------------------------------- */

static void *wait_for_ticket(void *argument)
{
    struct worker *worker = argument;
    switch (worker->number % 3) {
    case 0:
        worker->status =
            vyre_ticket_wait(worker->device, worker->ticket, VYRE_FOREVER, &worker->diag);
        break;
    case 1:
        worker->status = vyre_device_wait_idle(worker->device, VYRE_FOREVER, &worker->diag);
        break;
    default:
        while ((worker->status = vyre_ticket_poll(worker->device, worker->ticket, &worker->diag)) ==
               VYRE_BUSY)
            sleep_ns(200000);
    }
    if (!atomic_load(&worker->gate->open))
        worker->flaw = "the wait ended before the work";
    return NULL;
}

static void many_threads_wait_for_one_ticket(struct fixture *f)
{
    struct worker workers[THREADS] = {0};
    struct vyre_device *device = open_async_device(f, (struct vyre_device_desc){0});
    struct vyre_kernel *gate = make_kernel(f, device, KERNEL_GATE);
    struct vyre_buffer *door = make_buffer(f, device, 64);
    struct vyre_batch *batch = make_batch(f, device);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(device, modes);
    add_gate(batch, gate, whole(door), &f->gates[0]);
    for (size_t i = 0; i < mode_count; i++) {
        gate_close(&f->gates[0]);
        struct vyre_ticket ticket = submit_in(f, batch, modes[i]);
        for (uint32_t j = 0; j < THREADS; j++)
            workers[j] = (struct worker){
                .device = device, .number = j, .ticket = ticket, .gate = &f->gates[0]};
        start(workers, wait_for_ticket);
        sleep_ns(10000000);
        gate_open(&f->gates[0]);
        join_and_check(f, workers);
    }
}

/* ---- Many devices ----------------------------------------------------------------------------- */

static void *use_own_device(void *argument)
{
    struct worker *worker = argument;
    for (size_t i = 0; worker->status == VYRE_OK && i < 3; i++) {
        struct vyre_device_desc desc = {.backend = worker->subject->backend,
                                        .name = worker->subject->device_name,
                                        .index = worker->subject->device_index};
        worker->status = vyre_device_open(worker->instance, &desc, &worker->device, &worker->diag);
        if (worker->status == VYRE_OK)
            use_own_objects(worker);
        vyre_device_close(&worker->device);
    }
    return NULL;
}

static void devices_in_threads(struct fixture *f)
{
    struct worker workers[THREADS] = {0};
    for (uint32_t i = 0; i < THREADS; i++)
        workers[i] = (struct worker){.subject = f->subject, .instance = f->instance, .number = i};
    start(workers, use_own_device);
    join_and_check(f, workers);
}

static void *use_own_instance(void *argument)
{
    struct worker *worker = argument;
    worker->instance = subject_instance(worker->subject, NULL, &worker->diag);
    if (!worker->instance) {
        worker->status = worker->diag.status;
        return NULL;
    }
    use_own_device(worker);
    vyre_instance_destroy(&worker->instance);
    return NULL;
}

static void instances_in_threads(struct fixture *f)
{
    struct worker workers[THREADS] = {0};
    for (uint32_t i = 0; i < THREADS; i++)
        workers[i] = (struct worker){.subject = f->subject, .number = i};
    start(workers, use_own_instance);
    join_and_check(f, workers);
}

static void two_devices_at_once(struct fixture *f)
{
    struct vyre_device *devices[2] = {f->device, open_device(f, NULL)};
    struct vyre_buffer *data[2];
    struct vyre_batch *batches[2];
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    for (size_t i = 0; i < 2; i++) {
        struct vyre_kernel *add = make_kernel(f, devices[i], KERNEL_ADD);
        data[i] = make_buffer(f, devices[i], WORDS * 4);
        batches[i] = make_batch(f, devices[i]);
        add_add(batches[i], add, whole(data[i]), (uint32_t)i + 1, WORDS);
    }
    for (size_t i = 0; i < 2 * SUBMITS; i++)
        submit_in(f, batches[i % 2], modes[i / 2 % mode_count]);
    assert_all_words(f, data[1], 2 * SUBMITS, WORDS);
    assert_all_words(f, data[0], SUBMITS, WORDS);
}

/* ---- Whose thread ----------------------------------------------------------------------------- */

/* With cpu_no_inline no kernel runs on a thread that submits or waits, however small it is. */
static void no_inline_keeps_callers_free(struct fixture *f)
{
    struct vyre_device *device = open_async_device(f, (struct vyre_device_desc){0});
    struct vyre_kernel *gate = make_kernel(f, device, KERNEL_GATE);
    struct vyre_buffer *door = make_buffer(f, device, 64);
    struct vyre_batch *batch = make_batch(f, device);
    enum vyre_mode modes[4];
    size_t mode_count = device_modes(device, modes);
    modes[mode_count++] = VYRE_MODE_AUTO;
    gate_open(&f->gates[0]);
    add_gate(batch, gate, whole(door), &f->gates[0]);
    for (size_t i = 0; i < 50 * mode_count; i++) {
        wait_for(f, device, submit_in(f, batch, modes[i % mode_count]));
        pthread_t ran_on = (pthread_t)atomic_load(&f->gates[0].thread);
        assert_false(pthread_equal(ran_on, pthread_self()));
    }
    assert_int_equal(read_word(f, door, 0), 50 * mode_count);
}

static const struct conformance_case cases[] = {
    {"shared_counter_is_exact", shared_counter_is_exact, 0},
    {"shared_counter_is_exact_when_full", shared_counter_is_exact_when_full, 0},
    {"disjoint_buffers_in_threads", disjoint_buffers_in_threads, 0},
    {"many_threads_wait_for_one_ticket", many_threads_wait_for_one_ticket, NEEDS_ASYNC},
    {"devices_in_threads", devices_in_threads, 0},
    {"instances_in_threads", instances_in_threads, 0},
    {"two_devices_at_once", two_devices_at_once, 0},
    {"no_inline_keeps_callers_free", no_inline_keeps_callers_free, NEEDS_ASYNC},
};

const struct conformance_group thread_cases = {"thread", cases, COUNT_OF(cases)};
