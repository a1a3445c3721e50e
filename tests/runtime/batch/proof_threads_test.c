/*
 * proof_threads_test.c: what other threads, callbacks and the host do while a batch is proven.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "runtime/batch/proof_fixture.h"

struct from_callback {
    struct vyre_batch *batch;
    enum vyre_status status;
    struct vyre_diag diag;
};

static void submit_again(void *user, struct vyre_ticket ticket,
                         const struct vyre_batch_result *result)
{
    struct from_callback *inner = user;
    const struct vyre_submit_options options = {.mode = VYRE_MODE_PERSISTENT};
    (void)ticket;
    (void)result;
    inner->status = vyre_batch_submit(inner->batch, &options, NULL, &inner->diag);
}

static void submit_inside_a_callback_does_not_wait_for_itself(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_ticket ticket;
    open_proving(&fixture, (struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_THREAD}, NULL);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    struct from_callback inner = {.batch = mix_batch(&fixture, buffer), .status = VYRE_OK};
    struct vyre_batch *outer = fixture_batch(&fixture);
    fixture_set(&fixture, outer, (struct vyre_range){buffer, 0, 0}, 1);
    const struct vyre_submit_options options = {
        .mode = VYRE_MODE_PLAIN, .on_complete = submit_again, .user = &inner};
    assert_int_equal(vyre_batch_submit(outer, &options, &ticket, &fixture.diag), VYRE_OK);
    assert_int_equal(fixture_wait(&fixture, ticket), VYRE_OK);
    fixture_close_device(&fixture); /* waits for the callback */
    assert_diag(inner.status, inner.diag, VYRE_DIAG_PROOF_LIMIT);
    fixture_open_device(&fixture);
    fixture_close(&fixture);
}

/* What a kernel does, once, while it runs: on the sim's thread, beside the one that proves. */
struct deed {
    void (*act)(struct deed *deed);
    int at; /* the number of the run, from 1 */
    int runs;
    struct vyre_buffer **victim;
    struct vyre_buffer *mapped;
    uint32_t *bytes;
    pthread_t thread;
    bool has_thread;
};
static struct deed deed;

static void do_deed(const struct vyre_host_group *group)
{
    uint32_t *out = group->buffers[0].data;
    out[0] += 3;
    if (++deed.runs == deed.at && deed.act)
        deed.act(&deed);
}

static void destroy_victim(struct deed *this)
{
    vyre_buffer_destroy(this->victim);
}

static void *map_and_write(void *argument)
{
    struct deed *this = argument;
    void *bytes = NULL;
    struct vyre_diag diag;
    if (vyre_buffer_map(this->mapped, &bytes, &diag) == VYRE_OK)
        ((uint32_t *)bytes)[WORDS - 1] = 0xabcdef01;
    return NULL;
}

static void write_mapped(struct deed *this)
{
    this->bytes[WORDS - 1] = 0xabcdef01;
}

static void start_mapping(struct deed *this)
{
    this->has_thread = pthread_create(&this->thread, NULL, map_and_write, this) == 0;
}

/* Writes word 16 of `out`; names `in` as well, which no one reads. */
static struct vyre_batch *deed_batch(struct fixture *fixture, struct vyre_buffer *out,
                                     struct vyre_buffer *in)
{
    const struct vyre_payload payload = {.target = VYRE_TARGET_HOST, .function = do_deed};
    const struct vyre_binding_desc bindings[] = {
        {.slot = 0, .role = VYRE_ROLE_INPUT_OUTPUT, .element_size_bytes = 4},
        {.slot = 1, .role = VYRE_ROLE_INPUT, .element_size_bytes = 4},
    };
    const struct vyre_kernel_desc desc = {.label = "deed",
                                          .payloads = &payload,
                                          .payload_count = 1,
                                          .bindings = bindings,
                                          .binding_count = 2};
    struct vyre_kernel *kernel;
    assert_int_equal(vyre_kernel_create(fixture->device, &desc, &kernel, &fixture->diag), VYRE_OK);
    const struct vyre_slot_binding slots[] = {{.slot = 0, .range = {out, 64, 64}},
                                              {.slot = 1, .range = {in, 0, 0}}};
    struct vyre_batch *batch = fixture_batch(fixture);
    vyre_batch_dispatch(
        batch, &(struct vyre_dispatch){
                   .kernel = kernel, .groups = {1, 1, 1}, .bindings = slots, .binding_count = 2});
    return batch;
}

static void submit_object_destroyed_while_proving_is_stale_and_restored(void **state)
{
    (void)state;
    static const enum vyre_mode modes[] = {VYRE_MODE_PERSISTENT, VYRE_MODE_AUTO};
    for (size_t m = 0; m < COUNT_OF(modes); m++) {
        for (int at = 1; at <= 2; at++) {
            struct fixture fixture;
            struct vyre_batch_result result;
            uint32_t words[WORDS];
            static const uint32_t zeros[WORDS];
            struct vyre_sim_costs costs = vyre_sim_costs_default();
            costs.record_ns = costs.record_command_ns = 1000000000;
            costs.persistent_setup_ns = costs.persistent_item_ns = 1;
            costs.persistent_round_trip_ns = 1;
            open_proving(
                &fixture,
                (struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_THREAD, .costs = &costs},
                NULL);
            struct vyre_buffer *out = fixture_buffer(&fixture, BYTES);
            struct vyre_buffer *in = fixture_buffer(&fixture, BYTES);
            struct vyre_batch *batch = deed_batch(&fixture, out, in);
            deed = (struct deed){.act = destroy_victim, .at = at, .victim = &in};
            assert_diag(submit(&fixture, batch, modes[m], &result), fixture.diag,
                        VYRE_DIAG_BATCH_STALE);
            assert_int_equal(vyre_buffer_read(out, 0, words, BYTES, &fixture.diag), VYRE_OK);
            assert_memory_equal(words, zeros, BYTES);
            fixture_close(&fixture);
        }
    }
}

static void map_while_proving_waits_for_the_proof(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch_result result;
    uint32_t word = 0;
    open_proving(&fixture, (struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_THREAD}, NULL);
    struct vyre_buffer *out = fixture_buffer(&fixture, BYTES);
    struct vyre_batch *batch = deed_batch(&fixture, out, fixture_buffer(&fixture, BYTES));
    deed = (struct deed){.act = start_mapping, .at = 1, .mapped = out};
    assert_int_equal(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), VYRE_OK);
    assert_true(deed.has_thread);
    assert_int_equal(pthread_join(deed.thread, NULL), 0);
    assert_int_equal(vyre_buffer_read(out, BYTES - 4, &word, 4, &fixture.diag), VYRE_OK);
    assert_int_equal(word, 0xabcdef01);
    assert_int_equal(counters(&fixture).refused, 0);
    fixture_close(&fixture);
}

/* Bytes beside the output of a mapped buffer are the host's, which may write them at any time. */
static void host_writes_to_mapped_memory_while_proving_stay(void **state)
{
    (void)state;
    for (int at = 1; at <= 2; at++) {
        struct fixture fixture;
        struct vyre_batch_result result;
        void *bytes = NULL;
        open_proving(&fixture, (struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_THREAD},
                     NULL);
        struct vyre_buffer *out = fixture_buffer(&fixture, BYTES);
        struct vyre_batch *batch = deed_batch(&fixture, out, fixture_buffer(&fixture, BYTES));
        assert_int_equal(vyre_buffer_map(out, &bytes, &fixture.diag), VYRE_OK);
        deed = (struct deed){.act = write_mapped, .at = at, .bytes = bytes};
        assert_int_equal(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), VYRE_OK);
        assert_int_equal(counters(&fixture).proven, 1);
        assert_int_equal(((uint32_t *)bytes)[16], 3);
        assert_int_equal(((uint32_t *)bytes)[WORDS - 1], 0xabcdef01);
        fixture_close(&fixture);
    }
}

struct held {
    pthread_mutex_t lock;
    _Atomic bool began;
};

static void wait_for_lock(void *user, struct vyre_ticket ticket,
                          const struct vyre_batch_result *result)
{
    struct held *held = user;
    (void)ticket;
    (void)result;
    atomic_store(&held->began, true);
    pthread_mutex_lock(&held->lock);
    pthread_mutex_unlock(&held->lock);
}

/* A callback waits for a lock that the submitting thread holds: the proof gives up, nothing hangs. */
static void submit_while_a_callback_waits_for_us_is_put_off(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch_result result;
    struct held held = {.lock = PTHREAD_MUTEX_INITIALIZER};
    open_proving(&fixture, (struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_THREAD}, NULL);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    struct vyre_batch *batch = mix_batch(&fixture, buffer);
    struct vyre_batch *first = fixture_batch(&fixture);
    fixture_set(&fixture, first, (struct vyre_range){buffer, 0, 0}, 1);
    const struct vyre_submit_options options = {
        .mode = VYRE_MODE_PLAIN, .on_complete = wait_for_lock, .user = &held};
    pthread_mutex_lock(&held.lock);
    assert_int_equal(vyre_batch_submit(first, &options, NULL, &fixture.diag), VYRE_OK);
    while (!atomic_load(&held.began))
        sched_yield();
    assert_diag(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), fixture.diag,
                VYRE_DIAG_PROOF_LIMIT);
    assert_contains(fixture.diag.message, "callbacks");
    pthread_mutex_unlock(&held.lock);
    assert_int_equal(vyre_device_wait_idle(fixture.device, VYRE_FOREVER, &fixture.diag), VYRE_OK);
    assert_int_equal(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), VYRE_OK);
    assert_int_equal(counters(&fixture).proven, 1);
    fixture_close(&fixture);
}

struct stream {
    struct fixture *fixture;
    struct vyre_batch *batch;
    _Atomic uint32_t submitted;
    _Atomic bool stop, ended;
    enum vyre_status status; /* of the last one */
};

static void *submit_without_end(void *argument)
{
    struct stream *stream = argument;
    const struct vyre_submit_options options = {.mode = VYRE_MODE_PLAIN};
    struct vyre_diag diag;
    do {
        stream->status = vyre_batch_submit(stream->batch, &options, NULL, &diag);
        atomic_fetch_add(&stream->submitted, 1);
    } while (stream->status == VYRE_OK && !atomic_load(&stream->stop));
    atomic_store(&stream->ended, true);
    return NULL;
}

/* The stream ends only when the proof is made: one that waits for a pause would wait for ever. */
static void submit_beside_a_stream_is_proven(void **state)
{
    (void)state;
    struct fixture fixture;
    struct vyre_batch_result result;
    pthread_t thread;
    open_proving(&fixture, (struct vyre_sim_desc){.completion = VYRE_SIM_COMPLETE_THREAD},
                 &(struct vyre_device_desc){.in_flight_limit = 4});
    struct stream stream = {.fixture = &fixture, .batch = fixture_batch(&fixture)};
    fixture_set(&fixture, stream.batch, (struct vyre_range){fixture_buffer(&fixture, BYTES), 0, 0},
                1);
    struct vyre_batch *batch = mix_batch(&fixture, fixture_buffer(&fixture, BYTES));
    assert_int_equal(pthread_create(&thread, NULL, submit_without_end, &stream), 0);
    while (atomic_load(&stream.submitted) < 8 && !atomic_load(&stream.ended))
        sched_yield();
    assert_int_equal(submit(&fixture, batch, VYRE_MODE_PERSISTENT, &result), VYRE_OK);
    assert_int_equal(counters(&fixture).proven, 1);
    atomic_store(&stream.stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(stream.status, VYRE_OK);
    fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(submit_inside_a_callback_does_not_wait_for_itself),
        cmocka_unit_test(submit_object_destroyed_while_proving_is_stale_and_restored),
        cmocka_unit_test(map_while_proving_waits_for_the_proof),
        cmocka_unit_test(host_writes_to_mapped_memory_while_proving_stay),
        cmocka_unit_test(submit_while_a_callback_waits_for_us_is_put_off),
        cmocka_unit_test(submit_beside_a_stream_is_proven),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
