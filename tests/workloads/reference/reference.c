/*
 * reference.c: which workload is computed how, random contents, comparing.
 */
#include "reference.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static const struct {
    const char *name;
    reference_function *function;
} references[] = {
    {"decode", reference_decode},           {"scan-jobs", reference_scan_jobs},
    {"fan-out", reference_fan_out},         {"stream-upload", reference_stream_upload},
    {"gather-64", reference_gather_64},     {"shape-shift", reference_shape_shift},
    {"big-kernels", reference_big_kernels},
};

#define REFERENCE_COUNT (sizeof references / sizeof references[0])

const char *reference_name(size_t index)
{
    return index < REFERENCE_COUNT ? references[index].name : NULL;
}

bool reference_check(const char *workload_name, const struct workload *w,
                     const void *const *outputs, char *message, size_t capacity)
{
    struct check check = {
        .workload = w, .outputs = outputs, .message = message, .capacity = capacity};
    if (capacity > 0)
        message[0] = '\0';
    size_t i = 0;
    while (i < REFERENCE_COUNT && strcmp(references[i].name, workload_name) != 0)
        i++;
    if (i == REFERENCE_COUNT) {
        reference_fail(&check, "there is no reference for %s", workload_name);
        return false;
    }
    references[i].function(&check);
    if (!check.failed && check.compared != w->output_count)
        reference_fail(&check, "%zu outputs, but %zu are compared", w->output_count,
                       check.compared);
    return !check.failed;
}

/* ---- Memory and random contents ---------------------------------------------------------------- */

void *reference_memory(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory) {
        fputs("reference: no memory\n", stderr);
        exit(1);
    }
    return memory;
}

struct generator {
    uint64_t s[4];
};

static struct generator generator_from(uint64_t seed)
{
    struct generator g;
    for (int i = 0; i < 4; i++) {
        uint64_t z = seed += UINT64_C(0x9E3779B97F4A7C15);
        z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
        z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
        g.s[i] = z ^ z >> 31;
    }
    return g;
}

static uint64_t rotated(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

static uint64_t generator_next(struct generator *g)
{
    uint64_t result = rotated(g->s[1] * 5, 7) * 9;
    uint64_t t = g->s[1] << 17;
    g->s[2] ^= g->s[0];
    g->s[3] ^= g->s[1];
    g->s[1] ^= g->s[2];
    g->s[0] ^= g->s[3];
    g->s[2] ^= t;
    g->s[3] = rotated(g->s[3], 45);
    return result;
}

void reference_random_bytes(uint64_t seed, void *bytes, size_t size)
{
    struct generator g = generator_from(seed);
    uint8_t *to = bytes;
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) {
        value = i % 8 == 0 ? generator_next(&g) : value >> 8;
        to[i] = (uint8_t)(value & 0xFF);
    }
}

void reference_random_floats(uint64_t seed, double *values, size_t count)
{
    struct generator g = generator_from(seed);
    for (size_t i = 0; i < count; i++)
        values[i] = ldexp((double)(generator_next(&g) >> 40), -24);
}

/* ---- Comparing --------------------------------------------------------------------------------- */

void reference_fail(struct check *check, const char *format, ...)
{
    if (check->failed)
        return;
    check->failed = true;
    va_list arguments;
    va_start(arguments, format);
    if (check->capacity > 0)
        (void)vsnprintf(check->message, check->capacity, format, arguments);
    va_end(arguments);
}

const void *reference_output(struct check *check, const char *output, enum workload_type type,
                             size_t count)
{
    const struct workload *w = check->workload;
    for (size_t i = 0; i < w->output_count; i++) {
        const struct workload_buffer *buffer = &w->buffers[w->outputs[i]];
        if (strcmp(buffer->name, output) != 0)
            continue;
        if (buffer->type == type && buffer->count == count)
            return check->outputs[i];
        reference_fail(check, "%s: %zu elements of type %d, not %zu of type %d", output,
                       buffer->count, (int)buffer->type, count, (int)type);
        return NULL;
    }
    reference_fail(check, "%s is not an output", output);
    return NULL;
}

void reference_compare_u8(struct check *check, const char *output, const uint8_t *expected,
                          size_t count)
{
    const uint8_t *got = reference_output(check, output, WORKLOAD_U8, count);
    for (size_t i = 0; got && i < count; i++) {
        if (got[i] != expected[i]) {
            reference_fail(check, "%s[%zu] is %u, not %u", output, i, got[i], expected[i]);
            return;
        }
    }
    check->compared += got != NULL;
}

void reference_compare_u32(struct check *check, const char *output, const uint32_t *expected,
                           size_t count)
{
    const uint32_t *got = reference_output(check, output, WORKLOAD_U32, count);
    for (size_t i = 0; got && i < count; i++) {
        if (got[i] != expected[i]) {
            reference_fail(check, "%s[%zu] is %u, not %u", output, i, (unsigned)got[i],
                           (unsigned)expected[i]);
            return;
        }
    }
    check->compared += got != NULL;
}

void reference_compare_f32(struct check *check, const char *output, const double *expected,
                           size_t count, double tolerance)
{
    const float *got = reference_output(check, output, WORKLOAD_F32, count);
    for (size_t i = 0; got && i < count; i++) {
        double allowed = tolerance * fmax(1.0, fabs(expected[i]));
        /* Written so that NaN fails. */
        if (!(fabs((double)got[i] - expected[i]) <= allowed)) {
            reference_fail(check, "%s[%zu] is %.9g, not %.9g within %.1e", output, i,
                           (double)got[i], expected[i], allowed);
            return;
        }
    }
    check->compared += got != NULL;
}
