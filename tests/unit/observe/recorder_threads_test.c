/*
 * recorder_threads_test.c: several threads give their events to one recorder at once.
 */
#include <pthread.h>
#include <unistd.h>

#include <vyre/observer.h>

#include "report/story.h"
#include "support/json_check.h"
#include "support/test.h"

#define THREADS 3
#define BATCHES 3000

struct emitter {
    pthread_t thread;
    struct story_options story;
    struct vyre_observer observer;
};

static void *emit(void *user)
{
    struct emitter *emitter = user;
    story_tell(&emitter->story, emitter->observer);
    return NULL;
}

static void threads_lose_nothing(void **state)
{
    (void)state;
    char path[] = "/tmp/vyre-recorder-threads.XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    struct vyre_recorder *recorder = NULL;
    assert_int_equal(vyre_recorder_open(path, NULL, &recorder, NULL), VYRE_OK);
    struct emitter emitters[THREADS];
    memset(emitters, 0, sizeof emitters);
    for (unsigned i = 0; i < THREADS; i++) {
        emitters[i].story = (struct story_options){.batch_count = BATCHES,
                                                   .seed = i + 1,
                                                   .start_ns = vyre_clock_ns(),
                                                   .device_base = 10 * i,
                                                   .hostile = i == 1};
        emitters[i].observer = vyre_recorder_observer(recorder);
        assert_int_equal(pthread_create(&emitters[i].thread, NULL, emit, &emitters[i]), 0);
    }
    struct vyre_recorder_counters counters;
    do
        vyre_recorder_get_counters(recorder, &counters);
    while (counters.batches_seen < BATCHES);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(emitters[i].thread, NULL), 0);
    vyre_recorder_get_counters(recorder, &counters);
    assert_int_equal(counters.batches_seen, THREADS * BATCHES);
    assert_int_equal(counters.batches_kept, THREADS * BATCHES);
    assert_int_equal(counters.events_kept, counters.events_seen);
    assert_int_equal(vyre_recorder_close(&recorder, NULL), VYRE_OK);

    off_t size = lseek(descriptor, 0, SEEK_END);
    char *text = malloc((size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(pread(descriptor, text, (size_t)size, 0), size);
    text[size] = '\0';
    assert_true(json_is_valid(text));
    free(text);
    close(descriptor);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_lose_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
