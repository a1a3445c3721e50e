/*
 * recorder_test.c: the recorder's file: whole at any limit, exact in its sums, safe in its texts.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vyre/observer.h>

#include "report/story.h"
#include "support/json_check.h"
#include "support/test.h"

static char folder[] = "/tmp/vyre-recorder.XXXXXX";
static char path[64];

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/record.json", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

/* The file as a text; the caller frees it. */
static char *read_file(size_t *out_size)
{
    int descriptor = open(path, O_RDONLY);
    assert_true(descriptor >= 0);
    struct stat facts;
    assert_int_equal(fstat(descriptor, &facts), 0);
    char *text = malloc((size_t)facts.st_size + 1);
    assert_non_null(text);
    assert_int_equal(read(descriptor, text, (size_t)facts.st_size), facts.st_size);
    text[facts.st_size] = '\0';
    close(descriptor);
    assert_int_equal(strlen(text), facts.st_size);
    if (out_size)
        *out_size = (size_t)facts.st_size;
    return text;
}

/* The number behind the last "key": of the text. */
static uint64_t number_of(const char *text, const char *key)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\"%s\":", key);
    const char *found = NULL;
    for (const char *at = text; (at = strstr(at, wanted)); at++)
        found = at;
    assert_non_null(found);
    return strtoull(found + strlen(wanted), NULL, 10);
}

/* Rows of batches are the lines that begin with a bracket; the last line is "]}". */
static uint64_t rows_of(const char *text)
{
    uint64_t count = 0;
    for (const char *at = text; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        count += *at == '[';
    }
    return count;
}

static struct vyre_recorder *open_recorder(uint64_t limit_bytes)
{
    struct vyre_recorder_options options;
    memset(&options, 0, sizeof options);
    options.limit_bytes = limit_bytes;
    struct vyre_recorder *recorder = NULL;
    assert_int_equal(vyre_recorder_open(path, &options, &recorder, NULL), VYRE_OK);
    assert_non_null(recorder);
    return recorder;
}

static void emit_story(struct vyre_recorder *recorder, uint64_t batch_count, bool hostile)
{
    struct story_options story = {
        .batch_count = batch_count, .seed = 7, .start_ns = vyre_clock_ns(), .hostile = hostile};
    story_tell(&story, vyre_recorder_observer(recorder));
}

static void close_whole_at_any_limit(void **state)
{
    (void)state;
    for (uint64_t limit = VYRE_RECORDER_MIN_BYTES; limit < 3000000; limit += limit / 5 + 17) {
        struct vyre_recorder *recorder = open_recorder(limit);
        emit_story(recorder, 8000, limit % 2 == 0);
        struct vyre_recorder_counters counters;
        vyre_recorder_get_counters(recorder, &counters);
        assert_int_equal(vyre_recorder_close(&recorder, NULL), VYRE_OK);
        assert_null(recorder);
        size_t size;
        char *text = read_file(&size);
        assert_true(size <= limit);
        assert_true(json_is_valid(text));
        assert_int_equal(counters.batches_seen, 8000);
        assert_int_equal(number_of(text, "batches_seen"), 8000);
        assert_int_equal(number_of(text, "batches_kept"), counters.batches_kept);
        assert_int_equal(rows_of(text), counters.batches_kept);
        assert_non_null(strstr(text, "\"closed\":true"));
        free(text);
    }
}

/* What is thinned out is spread over the run: the file knows how it ended. */
static void record_past_the_limit_keeps_late_batches(void **state)
{
    (void)state;
    struct vyre_recorder *recorder = open_recorder(256 << 10);
    emit_story(recorder, 200000, false);
    assert_int_equal(vyre_recorder_close(&recorder, NULL), VYRE_OK);
    char *text = read_file(NULL);
    const char *last = NULL;
    for (const char *at = text; (at = strstr(at, "\n[1,")); at++)
        last = at;
    assert_non_null(last);
    uint64_t sequence = strtoull(last + 4, NULL, 10);
    assert_true(sequence > 70000); /* of about 140,000 on the first device */
    assert_true(number_of(text, "stride") > 16);
    free(text);
}

static void sums_do_not_depend_on_the_limit(void **state)
{
    (void)state;
    static const char *const keys[] = {"wall_ns",      "saved_ns",     "submit_ns",  "device_ns",
                                       "copied_bytes", "batches_seen", "events_seen"};
    uint64_t sums[COUNT_OF(keys)];
    for (int pass = 0; pass < 2; pass++) {
        struct vyre_recorder *recorder = open_recorder(pass == 0 ? 0 : VYRE_RECORDER_MIN_BYTES);
        emit_story(recorder, 5000, false);
        assert_int_equal(vyre_recorder_close(&recorder, NULL), VYRE_OK);
        char *text = read_file(NULL);
        const char *end = strstr(text, "{\"type\":\"end\"");
        assert_non_null(end);
        for (size_t i = 0; i < COUNT_OF(keys); i++) {
            uint64_t value = number_of(end, keys[i]);
            assert_true(value > 0);
            if (pass > 0)
                assert_int_equal(value, sums[i]);
            sums[i] = value;
        }
        free(text);
    }
}

static void hostile_labels_stay_strings(void **state)
{
    (void)state;
    struct vyre_recorder *recorder = open_recorder(0);
    emit_story(recorder, 50, true);
    assert_int_equal(vyre_recorder_close(&recorder, NULL), VYRE_OK);
    char *text = read_file(NULL);
    assert_true(json_is_valid(text));
    /* Control characters are escaped; what is not UTF-8 is marked; the long label is cut. */
    assert_contains(text, "nul\\u0001\\u001b[31m tab\\u0009 \xef\xbf\xbd\xef\xbf\xbd not utf-8");
    assert_contains(text, "\\\"><img src=x");
    assert_null(strstr(text, "long end"));
    free(text);
}

/* A process that dies without closing leaves a document with what was written by then. */
static void killed_process_leaves_a_whole_document(void **state)
{
    (void)state;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct vyre_recorder *recorder = NULL;
        if (vyre_recorder_open(path, NULL, &recorder, NULL) == VYRE_OK) {
            struct story_options story = {
                .batch_count = 20000, .seed = 7, .start_ns = vyre_clock_ns()};
            story_tell(&story, vyre_recorder_observer(recorder));
        }
        kill(getpid(), SIGKILL);
        _exit(1);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFSIGNALED(result));
    char *text = read_file(NULL);
    assert_true(json_is_valid(text));
    assert_contains(text, "\"closed\":false");
    uint64_t rows = rows_of(text);
    assert_true(rows > 15000 && rows < 20000);
    assert_int_equal(number_of(text, "batches_kept"), rows);
    free(text);
}

/* As on a full disk: the file can grow no further. */
static void failed_write_is_reported_and_leaves_a_whole_document(void **state)
{
    (void)state;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    struct vyre_recorder *recorder = open_recorder(0);
    struct rlimit small = {700000, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    emit_story(recorder, 20000, false);
    struct vyre_diag diag;
    enum vyre_status status = vyre_recorder_close(&recorder, &diag);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_diag(status, diag, VYRE_DIAG_RECORDER_WRITE);
    assert_null(recorder);
    size_t size;
    char *text = read_file(&size);
    assert_true(size <= 700000);
    assert_true(json_is_valid(text));
    assert_int_equal(number_of(text, "batches_seen"), 20000);
    assert_int_equal(number_of(text, "batches_kept"), rows_of(text));
    free(text);
}

static void open_of_what_is_no_file_fails(void **state)
{
    (void)state;
    struct vyre_recorder *recorder = (void *)&recorder;
    struct vyre_diag diag;
    assert_diag(vyre_recorder_open(folder, NULL, &recorder, &diag), diag, VYRE_DIAG_RECORDER_OPEN);
    assert_null(recorder);
    assert_diag(vyre_recorder_open("/nonexistent/x", NULL, &recorder, &diag), diag,
                VYRE_DIAG_RECORDER_OPEN);
    assert_diag(vyre_recorder_open("/dev/null", NULL, &recorder, &diag), diag,
                VYRE_DIAG_RECORDER_OPEN);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_diag(vyre_recorder_open(path, NULL, &recorder, &diag), diag, VYRE_DIAG_RECORDER_OPEN);
    unlink(path);
    struct vyre_recorder_options options;
    memset(&options, 0, sizeof options);
    options.limit_bytes = VYRE_RECORDER_MIN_BYTES - 1;
    assert_diag(vyre_recorder_open(path, &options, &recorder, &diag), diag,
                VYRE_DIAG_ARGUMENT_RANGE);
    assert_diag(vyre_recorder_open(NULL, NULL, &recorder, &diag), diag, VYRE_DIAG_ARGUMENT_NULL);
    assert_int_equal(vyre_recorder_close(&recorder, NULL), VYRE_OK);
    assert_int_equal(vyre_recorder_close(NULL, NULL), VYRE_OK);
}

/* Counts what is alive, and how often it was asked. */
struct counting {
    size_t alive;
    size_t calls;
};

static void *counted_allocate(void *user, size_t size_bytes, size_t alignment)
{
    (void)alignment;
    struct counting *counting = user;
    counting->alive++;
    counting->calls++;
    return malloc(size_bytes);
}

static void counted_deallocate(void *user, void *memory, size_t size_bytes, size_t alignment)
{
    (void)size_bytes;
    (void)alignment;
    ((struct counting *)user)->alive--;
    free(memory);
}

static void *no_allocate(void *user, size_t size_bytes, size_t alignment)
{
    (void)user;
    (void)size_bytes;
    (void)alignment;
    return NULL;
}

static void memory_is_taken_by_open_alone(void **state)
{
    (void)state;
    struct counting counting = {0, 0};
    struct vyre_recorder_options options = {
        .allocator = {&counting, counted_allocate, counted_deallocate}};
    struct vyre_recorder *recorder = NULL;
    assert_int_equal(vyre_recorder_open(path, &options, &recorder, NULL), VYRE_OK);
    size_t calls = counting.calls;
    emit_story(recorder, 5000, true);
    assert_int_equal(counting.calls, calls);
    assert_int_equal(vyre_recorder_close(&recorder, NULL), VYRE_OK);
    assert_int_equal(counting.alive, 0);
    options.allocator.allocate = no_allocate;
    struct vyre_diag diag;
    assert_diag(vyre_recorder_open(path, &options, &recorder, &diag), diag,
                VYRE_DIAG_OUT_OF_MEMORY);
}

static void events_of_unknown_devices_are_counted_only(void **state)
{
    (void)state;
    struct vyre_recorder *recorder = open_recorder(0);
    struct vyre_observer observer = vyre_recorder_observer(recorder);
    struct vyre_event_batch_completed completed;
    memset(&completed, 0, sizeof completed);
    completed.label = "never defined";
    struct vyre_event event = {.size_bytes = sizeof event,
                               .type = VYRE_EVENT_BATCH_COMPLETED,
                               .device = 99,
                               .as.batch_completed = &completed};
    observer.event(observer.user, &event);
    struct vyre_event_lease lease = {sizeof lease, 0, 1, 5, 0, VYRE_RESIDENCY_NONE, 0};
    event.type = VYRE_EVENT_LEASE;
    event.as.lease = &lease;
    observer.event(observer.user, &event);
    struct vyre_recorder_counters counters;
    vyre_recorder_get_counters(recorder, &counters);
    assert_int_equal(counters.batches_seen, 1);
    assert_int_equal(counters.batches_kept, 0);
    assert_int_equal(counters.events_seen, 1);
    assert_int_equal(counters.events_kept, 0);
    assert_int_equal(vyre_recorder_close(&recorder, NULL), VYRE_OK);
    char *text = read_file(NULL);
    assert_true(json_is_valid(text));
    assert_null(strstr(text, "never defined"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(close_whole_at_any_limit),
        cmocka_unit_test(record_past_the_limit_keeps_late_batches),
        cmocka_unit_test(sums_do_not_depend_on_the_limit),
        cmocka_unit_test(hostile_labels_stay_strings),
        cmocka_unit_test(killed_process_leaves_a_whole_document),
        cmocka_unit_test(failed_write_is_reported_and_leaves_a_whole_document),
        cmocka_unit_test(open_of_what_is_no_file_fails),
        cmocka_unit_test(memory_is_taken_by_open_alone),
        cmocka_unit_test(events_of_unknown_devices_are_counted_only),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
