/*
 * metrics_test.c: metrics against a strict reader of Prometheus' text format.
 *
 * The reader takes what the format's description allows and nothing else: HELP and TYPE once per
 * metric and before its samples, samples of a metric together, no sample twice, labels escaped.
 */
#include <ctype.h>

#include <vyre/observer.h>

#include "support/test.h"

#define SAMPLES_MAX  256
#define FAMILIES_MAX 64

struct exposition {
    const char *at;
    size_t family_count;
    char families[FAMILIES_MAX][64];
    char help_of[64]; /* the metric whose HELP was the last line */
    size_t sample_count;
    char samples[SAMPLES_MAX][512]; /* names with labels */
    double values[SAMPLES_MAX];
};

static void take(struct exposition *reader, const char *text)
{
    size_t size = strlen(text);
    if (strncmp(reader->at, text, size) != 0)
        fail_msg("not `%s` at: %.40s", text, reader->at);
    reader->at += size;
}

static void take_name(struct exposition *reader, char *out, size_t capacity)
{
    size_t size = 0;
    assert_true(isalpha((unsigned char)*reader->at) || *reader->at == '_');
    while (isalnum((unsigned char)*reader->at) || *reader->at == '_') {
        assert_true(size + 1 < capacity);
        out[size++] = *reader->at++;
    }
    out[size] = '\0';
}

static void skip_line(struct exposition *reader)
{
    const char *end = strchr(reader->at, '\n');
    assert_non_null(end);
    reader->at = end + 1;
}

static void take_comment(struct exposition *reader)
{
    char name[64];
    if (strncmp(reader->at, "# HELP ", 7) == 0) {
        take(reader, "# HELP ");
        take_name(reader, reader->help_of, sizeof reader->help_of);
        take(reader, " ");
        assert_true(*reader->at != '\n');
        skip_line(reader);
        return;
    }
    take(reader, "# TYPE ");
    take_name(reader, name, sizeof name);
    assert_string_equal(name, reader->help_of);
    for (size_t i = 0; i < reader->family_count; i++)
        assert_string_not_equal(reader->families[i], name);
    assert_true(reader->family_count < FAMILIES_MAX);
    strcpy(reader->families[reader->family_count++], name);
    bool is_counter = strncmp(reader->at, " counter\n", 9) == 0;
    assert_true(is_counter || strncmp(reader->at, " gauge\n", 7) == 0);
    size_t length = strlen(name);
    bool is_total = length > 6 && strcmp(name + length - 6, "_total") == 0;
    assert_int_equal(is_counter, is_total);
    skip_line(reader);
}

static void take_label_value(struct exposition *reader)
{
    take(reader, "\"");
    for (; *reader->at != '"'; reader->at++) {
        assert_true(*reader->at != '\0' && *reader->at != '\n');
        if (*reader->at == '\\') {
            reader->at++;
            assert_true(*reader->at == '\\' || *reader->at == '"' || *reader->at == 'n');
        }
    }
    take(reader, "\"");
}

static void take_sample(struct exposition *reader)
{
    const char *begin = reader->at;
    char name[64];
    take_name(reader, name, sizeof name);
    assert_true(reader->family_count > 0);
    assert_string_equal(name, reader->families[reader->family_count - 1]);
    take(reader, "{");
    for (bool is_first = true; *reader->at != '}'; is_first = false) {
        if (!is_first)
            take(reader, ",");
        take_name(reader, name, sizeof name);
        take(reader, "=");
        take_label_value(reader);
    }
    take(reader, "}");
    size_t size = (size_t)(reader->at - begin);
    assert_true(reader->sample_count < SAMPLES_MAX && size < sizeof reader->samples[0]);
    char *sample = reader->samples[reader->sample_count];
    memcpy(sample, begin, size);
    sample[size] = '\0';
    for (size_t i = 0; i < reader->sample_count; i++)
        assert_string_not_equal(reader->samples[i], sample);
    take(reader, " ");
    char *end;
    reader->values[reader->sample_count++] = strtod(reader->at, &end);
    assert_true(end > reader->at);
    reader->at = end;
    take(reader, "\n");
}

static void read_all(struct exposition *reader, const char *text)
{
    memset(reader, 0, sizeof *reader);
    reader->at = text;
    while (*reader->at) {
        if (*reader->at == '#')
            take_comment(reader);
        else
            take_sample(reader);
    }
}

static double value_of(const struct exposition *reader, const char *sample)
{
    for (size_t i = 0; i < reader->sample_count; i++) {
        if (strcmp(reader->samples[i], sample) == 0)
            return reader->values[i];
    }
    fail_msg("there is no %s", sample);
    return 0;
}

static void fill(struct vyre_metrics *metrics)
{
    memset(metrics, 0, 2 * sizeof *metrics);
    for (uint32_t i = 0; i < 2; i++) {
        metrics[i].size_bytes = sizeof *metrics;
        metrics[i].info = (struct vyre_device_info){
            .backend = "cpu", .index = i, .kind = VYRE_DEVICE_KIND_CPU, .name = "plain name"};
        strcpy(metrics[i].info.driver, "driver \"1\" \\ of\n2 {x}");
        metrics[i].counters.submitted = 100 + i;
        metrics[i].counters.completed = 99 + i;
        metrics[i].counters.by_mode[VYRE_MODE_REPLAY] = 60 + i;
        metrics[i].counters.recordings_kept = 4 + i;
        metrics[i].decisions.decided = 100 + i;
        metrics[i].decisions.by_why[VYRE_WHY_TRIAL] = 7 + i;
        metrics[i].memory.reserved_bytes = UINT64_C(1) << 40;
        metrics[i].proofs = (struct vyre_proof_counters){.proven = 20 + i,
                                                         .unstable = 3 + i,
                                                         .refused = 1 + i,
                                                         .put_off = 8 + i,
                                                         .time_ns = 9000 + i};
    }
    metrics[1].label = "a \"label\"\\\n";
}

static struct exposition reader; /* too large for a stack under a sanitizer */

static void text_is_what_a_strict_reader_takes(void **state)
{
    (void)state;
    struct vyre_metrics metrics[2];
    fill(metrics);
    char text[32768];
    size_t length = vyre_metrics_text(metrics, 2, text, sizeof text);
    assert_true(length < sizeof text && length == strlen(text));
    read_all(&reader, text);
#define OF_FIRST  "{backend=\"cpu\",index=\"0\",device=\"plain name\""
#define OF_SECOND "{backend=\"cpu\",index=\"1\",device=\"a \\\"label\\\"\\\\\\n\""
    assert_true(value_of(&reader, "vyre_batches_submitted_total" OF_FIRST "}") == 100);
    assert_true(value_of(&reader, "vyre_batches_submitted_total" OF_SECOND "}") == 101);
    assert_true(value_of(&reader, "vyre_batches_total" OF_SECOND ",mode=\"replay\"}") == 61);
    assert_true(value_of(&reader, "vyre_decisions_total" OF_FIRST ",why=\"trial\"}") == 7);
    assert_true(value_of(&reader, "vyre_recordings" OF_SECOND "}") == 5);
    assert_true(value_of(&reader, "vyre_device_reserved_bytes" OF_FIRST "}") == 1099511627776.0);
    assert_true(value_of(&reader, "vyre_proofs_proven_total" OF_FIRST "}") == 20);
    assert_true(value_of(&reader, "vyre_proofs_unstable_total" OF_SECOND "}") == 4);
    assert_true(value_of(&reader, "vyre_proofs_refused_total" OF_SECOND "}") == 2);
    assert_true(value_of(&reader, "vyre_proofs_put_off_total" OF_FIRST "}") == 8);
    assert_true(value_of(&reader, "vyre_proofs_nanoseconds_total" OF_SECOND "}") == 9001);
    assert_true(value_of(&reader, "vyre_device_info" OF_FIRST ",kind=\"cpu\",driver=\"driver "
                                  "\\\"1\\\" \\\\ of\\n2 {x}\"}") == 1);
}

static void text_of_no_device_has_no_samples(void **state)
{
    (void)state;
    char text[8192];
    assert_true(vyre_metrics_text(NULL, 0, text, sizeof text) < sizeof text);
    read_all(&reader, text);
    assert_int_equal(reader.sample_count, 0);
    assert_true(reader.family_count > 10);
}

static void short_memory_is_terminated_and_length_whole(void **state)
{
    (void)state;
    struct vyre_metrics metrics[2];
    fill(metrics);
    char text[64];
    size_t whole = vyre_metrics_text(metrics, 2, NULL, 0);
    for (size_t capacity = 1; capacity <= sizeof text; capacity++) {
        memset(text, 'x', sizeof text);
        assert_int_equal(vyre_metrics_text(metrics, 2, text, capacity), whole);
        assert_int_equal(strlen(text), capacity - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_what_a_strict_reader_takes),
        cmocka_unit_test(text_of_no_device_has_no_samples),
        cmocka_unit_test(short_memory_is_terminated_and_length_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
