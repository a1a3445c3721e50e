/*
 * callback_cases.c: completion callbacks: once each, in order, with the right result.
 */
#include "conformance/conformance.h"

enum { COUNT = 120, WORDS = 256 };

/* What the callbacks saw. Each writes its own entry, then counts up; the case reads after that. */
struct seen {
    struct vyre_ticket ticket;
    struct vyre_batch_result result;
    pthread_t thread;
};

struct diary {
    _Atomic size_t count; /* callbacks that came; may pass COUNT */
    struct seen seen[COUNT];
};

/* One submit's user pointer. */
struct entry {
    struct diary *diary;
    _Atomic uint32_t calls;
};

static void note(void *user, struct vyre_ticket ticket, const struct vyre_batch_result *result)
{
    struct entry *entry = user;
    struct diary *diary = entry->diary;
    size_t at = atomic_load_explicit(&diary->count, memory_order_relaxed); /* one at a time */
    atomic_fetch_add_explicit(&entry->calls, 1, memory_order_relaxed);
    if (at < COUNT)
        diary->seen[at] = (struct seen){ticket, *result, pthread_self()};
    atomic_store_explicit(&diary->count, at + 1, memory_order_release); /* pairs: await_count */
}

static void await_count(_Atomic size_t *count, size_t wanted)
{
    uint64_t end = now_ns() + HANG_LIMIT_NS;
    while (atomic_load_explicit(count, memory_order_acquire) < wanted) { /* pairs: note */
        if (now_ns() > end)
            fail_msg("%zu of %zu callbacks came", atomic_load(count), wanted);
        sleep_ns(50000);
    }
}

static void called_once_in_order_with_result(struct fixture *f)
{
    static struct diary diary;
    static struct entry entries[COUNT];
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, f->device, WORDS * 4);
    struct vyre_batch *batch = make_batch(f, f->device);
    struct vyre_ticket tickets[COUNT];
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    memset(&diary, 0, sizeof diary);
    add_add(batch, add, whole(data), 1, WORDS);
    for (size_t i = 0; i < COUNT; i++) {
        entries[i] = (struct entry){.diary = &diary};
        struct vyre_submit_options options = {
            .mode = modes[i % mode_count], .on_complete = note, .user = &entries[i]};
        assert_ok(f, vyre_batch_submit(batch, &options, &tickets[i], &f->diag));
        if (i % 10 == 9) /* some in between without a callback */
            submit_in(f, batch, modes[i % mode_count]);
    }
    await_count(&diary.count, COUNT);
    assert_ok(f, vyre_device_wait_idle(f->device, VYRE_FOREVER, &f->diag));
    sleep_ns(5000000); /* time for one too many */
    assert_int_equal(atomic_load(&diary.count), COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(atomic_load(&entries[i].calls), 1);
        assert_int_equal(diary.seen[i].ticket.device, tickets[i].device);
        assert_int_equal(diary.seen[i].ticket.sequence, tickets[i].sequence);
        assert_int_equal(diary.seen[i].result.status, VYRE_OK);
        assert_int_equal(diary.seen[i].result.mode, modes[i % mode_count]);
        assert_int_equal(diary.seen[i].result.why, VYRE_WHY_REQUIRED);
        assert_false(pthread_equal(diary.seen[i].thread, pthread_self()));
    }
    assert_all_words(f, data, COUNT + COUNT / 10, WORDS);
}

/* The callback finds the downloads written and the ticket complete. */
struct observer {
    struct vyre_device *device;
    uint32_t words[WORDS];
    _Atomic size_t count;
    enum vyre_status polled;
    uint32_t word_seen;
};

static void observe(void *user, struct vyre_ticket ticket, const struct vyre_batch_result *result)
{
    struct observer *observer = user;
    (void)result;
    observer->polled = vyre_ticket_poll(observer->device, ticket, NULL);
    observer->word_seen = observer->words[WORDS - 1];
    atomic_fetch_add_explicit(&observer->count, 1, memory_order_release); /* pairs: await_count */
}

static void called_when_complete(struct fixture *f)
{
    static struct observer observer;
    observer = (struct observer){.device = f->device};
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, f->device, WORDS * 4);
    struct vyre_batch *batch = make_batch(f, f->device);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    add_add(batch, add, whole(data), 6, WORDS);
    vyre_batch_download(batch, whole(data), observer.words);
    for (uint32_t i = 0; i < 8 * mode_count; i++) {
        struct vyre_submit_options options = {
            .mode = modes[i % mode_count], .on_complete = observe, .user = &observer};
        assert_ok(f, vyre_batch_submit(batch, &options, NULL, &f->diag));
        await_count(&observer.count, i + 1);
        assert_int_equal(observer.polled, VYRE_OK);
        assert_int_equal(observer.word_seen, 6 * (i + 1));
    }
}

/* A chain: every callback submits the next batch. */
struct chain {
    struct vyre_batch *batch; /* belongs to the callbacks until the chain ends */
    enum vyre_mode mode;
    _Atomic size_t count;
    size_t wanted;
    enum vyre_status status;
};

static void submit_next(void *user, struct vyre_ticket ticket,
                        const struct vyre_batch_result *result)
{
    struct chain *chain = user;
    size_t done = atomic_load_explicit(&chain->count, memory_order_relaxed) + 1;
    struct vyre_submit_options options = {
        .mode = chain->mode, .on_complete = submit_next, .user = chain};
    (void)ticket;
    if (result->status != VYRE_OK)
        chain->status = result->status;
    bool goes_on = done < chain->wanted && chain->status == VYRE_OK;
    atomic_store_explicit(&chain->count, goes_on ? done : chain->wanted,
                          memory_order_release); /* pairs: await_count */
    if (goes_on && vyre_batch_submit(chain->batch, &options, NULL, NULL) != VYRE_OK)
        atomic_store_explicit(&chain->count, 2 * chain->wanted, memory_order_release);
}

static void callback_may_submit(struct fixture *f)
{
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    for (size_t i = 0; i < mode_count; i++) {
        struct vyre_buffer *data = make_buffer(f, f->device, WORDS * 4);
        static struct chain chain;
        chain = (struct chain){.batch = make_batch(f, f->device), .mode = modes[i], .wanted = 200};
        struct vyre_submit_options options = {
            .mode = modes[i], .on_complete = submit_next, .user = &chain};
        add_add(chain.batch, add, whole(data), 1, WORDS);
        assert_ok(f, vyre_batch_submit(chain.batch, &options, NULL, &f->diag));
        await_count(&chain.count, chain.wanted);
        assert_int_equal(atomic_load(&chain.count), chain.wanted);
        assert_int_equal(chain.status, VYRE_OK);
        assert_all_words(f, data, 200, WORDS);
    }
}

/* Later batches of the device start when the callback has returned. */
struct pause {
    struct gate *gate; /* that the next batch goes through */
    uint32_t entered_before, entered_after;
    _Atomic size_t count;
};

static void pause_a_while(void *user, struct vyre_ticket ticket,
                          const struct vyre_batch_result *result)
{
    struct pause *pause = user;
    (void)ticket, (void)result;
    pause->entered_before = atomic_load(&pause->gate->entered);
    sleep_ns(20000000);
    pause->entered_after = atomic_load(&pause->gate->entered);
    atomic_store_explicit(&pause->count, 1, memory_order_release); /* pairs: await_count */
}

static void later_batches_wait_for_the_callback(struct fixture *f)
{
    struct vyre_kernel *gate = make_kernel(f, f->device, KERNEL_GATE);
    struct vyre_buffer *door = make_buffer(f, f->device, 64);
    struct vyre_batch *first = make_batch(f, f->device), *next = make_batch(f, f->device);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    gate_open(&f->gates[0]);
    add_gate(next, gate, whole(door), &f->gates[0]);
    for (size_t i = 0; i < mode_count; i++) {
        static struct pause pause;
        pause = (struct pause){.gate = &f->gates[0]};
        struct vyre_submit_options options = {
            .mode = modes[i], .on_complete = pause_a_while, .user = &pause};
        uint32_t entered = atomic_load(&f->gates[0].entered);
        assert_ok(f, vyre_batch_submit(first, &options, NULL, &f->diag));
        struct vyre_ticket ticket = submit_in(f, next, modes[i]);
        await_count(&pause.count, 1);
        wait_for(f, f->device, ticket);
        assert_int_equal(pause.entered_before, entered);
        assert_int_equal(pause.entered_after, entered);
    }
}

static void close_waits_for_callbacks(struct fixture *f)
{
    static struct diary diary;
    static struct entry entry;
    entry = (struct entry){.diary = &diary};
    memset(&diary, 0, sizeof diary);
    struct vyre_device *device = open_device(f, NULL);
    struct vyre_kernel *add = make_kernel(f, device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, device, 1 << 16);
    struct vyre_batch *batch = make_batch(f, device);
    struct vyre_submit_options options = {.on_complete = note, .user = &entry};
    add_add(batch, add, whole(data), 1, 1 << 14);
    for (size_t i = 0; i < COUNT; i++)
        assert_ok(f, vyre_batch_submit(batch, &options, NULL, &f->diag));
    close_device(f, &device);
    assert_int_equal(atomic_load(&diary.count), COUNT);
}

/* A refused batch has no callback. */
static void refused_submit_calls_nobody(struct fixture *f)
{
    static struct diary diary;
    static struct entry entry;
    entry = (struct entry){.diary = &diary};
    struct vyre_buffer *data = make_buffer(f, f->device, 64);
    struct vyre_batch *batch = make_batch(f, f->device);
    struct vyre_submit_options options = {.on_complete = note, .user = &entry};
    memset(&diary, 0, sizeof diary);
    vyre_batch_fill(batch, range_of(data, 1, 4), 0);
    assert_refused(f, vyre_batch_submit(batch, &options, NULL, &f->diag),
                   VYRE_DIAG_BATCH_ALIGNMENT);
    sleep_ns(5000000);
    assert_int_equal(atomic_load(&diary.count), 0);
}

static const struct conformance_case cases[] = {
    {"called_once_in_order_with_result", called_once_in_order_with_result, 0},
    {"called_when_complete", called_when_complete, 0},
    {"callback_may_submit", callback_may_submit, 0},
    {"later_batches_wait_for_the_callback", later_batches_wait_for_the_callback,
     NEEDS_HOST_KERNELS},
    {"close_waits_for_callbacks", close_waits_for_callbacks, 0},
    {"refused_submit_calls_nobody", refused_submit_calls_nobody, 0},
};

const struct conformance_group callback_cases = {"callback", cases, COUNT_OF(cases)};
