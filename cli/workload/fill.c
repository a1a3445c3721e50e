/*
 * fill.c: contents of buffers, as docs/workloads.md defines them.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "terminal/diag.h"
#include "terminal/message.h"
#include "workload/internal.h"
#include "workload/random.h"

static void fill_random_bytes(struct cli_random *generator, unsigned char *bytes, size_t size_bytes)
{
    for (size_t i = 0; i < size_bytes; i += 8) {
        uint64_t word = cli_random_next(generator);
        size_t left = size_bytes - i < 8 ? size_bytes - i : 8;
        for (size_t j = 0; j < left; j++)
            bytes[i + j] = (unsigned char)(word >> (8 * j));
    }
}

static void fill_random(const struct workload_init *init, enum workload_type type, void *bytes,
                        size_t count)
{
    struct cli_random generator = cli_random_seed(init->seed);
    if (type == WORKLOAD_F32) {
        for (size_t i = 0; i < count; i++) {
            float value = (float)(cli_random_next(&generator) >> 40) * 0x1p-24f;
            memcpy((char *)bytes + i * sizeof value, &value, sizeof value);
        }
    } else if (type == WORKLOAD_F64) {
        for (size_t i = 0; i < count; i++) {
            double value = (double)(cli_random_next(&generator) >> 11) * 0x1p-53;
            memcpy((char *)bytes + i * sizeof value, &value, sizeof value);
        }
    } else {
        fill_random_bytes(&generator, bytes, count * workload_type_size(type));
    }
}

/* ---- Value and ramp ---------------------------------------------------------------------------- */

/* Stores the lowest bits as element i. */
static void store(void *bytes, size_t i, size_t element_bytes, uint64_t bits)
{
    unsigned char *at = (unsigned char *)bytes + i * element_bytes;
    uint16_t half = (uint16_t)bits;
    uint32_t word = (uint32_t)bits;
    if (element_bytes == 1)
        *at = (unsigned char)bits;
    else if (element_bytes == sizeof half)
        memcpy(at, &half, sizeof half);
    else if (element_bytes == sizeof word)
        memcpy(at, &word, sizeof word);
    else
        memcpy(at, &bits, sizeof bits);
}

static uint64_t float_bits(enum workload_type type, double value)
{
    uint64_t bits = 0;
    if (type == WORKLOAD_F64) {
        memcpy(&bits, &value, sizeof value);
    } else {
        uint32_t word;
        float narrow = (float)value;
        memcpy(&word, &narrow, sizeof word);
        bits = word;
    }
    return bits;
}

static double float_at(const struct workload_init *init, size_t i)
{
    /* A ramp with step 0 would turn a negative zero into a positive one. */
    if (init->kind == WORKLOAD_INIT_VALUE)
        return init->value[0];
    return init->value[0] + (double)i * init->value[1];
}

/* An integer value is a ramp with step 0. */
static void fill_ramp(const struct workload_init *init, enum workload_type type, void *bytes,
                      size_t count)
{
    size_t element_bytes = workload_type_size(type);
    if (workload_type_is_float(type)) {
        for (size_t i = 0; i < count; i++)
            store(bytes, i, element_bytes, float_bits(type, float_at(init, i)));
    } else {
        for (size_t i = 0; i < count; i++)
            store(bytes, i, element_bytes,
                  (uint64_t)init->integer[0] + (uint64_t)i * (uint64_t)init->integer[1]);
    }
}

/* ---- File -------------------------------------------------------------------------------------- */

static enum vyre_status fail_file(const char *path, int error, struct vyre_diag *diag)
{
    return cli_diag_set(diag, CLI_DIAG_WORKLOAD_FILE, NULL, error, "the file `%s`: %s",
                        cli_quote(cli_span_of(path)).text,
                        error ? strerror(error)
                              : "it is now shorter than when the workload was read");
}

static enum vyre_status fill_file(const char *path, char *bytes, size_t size_bytes,
                                  struct vyre_diag *diag)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return fail_file(path, errno, diag);
    size_t used = 0;
    int error = 0;
    while (used < size_bytes && error == 0) {
        ssize_t count = read(file, bytes + used, size_bytes - used);
        if (count == 0)
            break;
        if (count > 0)
            used += (size_t)count;
        else if (errno != EINTR)
            error = errno;
    }
    close(file);
    return used == size_bytes ? VYRE_OK : fail_file(path, error, diag);
}

enum vyre_status workload_fill(const struct workload_init *init, enum workload_type type,
                               void *bytes, size_t count, struct vyre_diag *diag)
{
    switch (init->kind) {
    case WORKLOAD_INIT_RANDOM:
        fill_random(init, type, bytes, count);
        break;
    case WORKLOAD_INIT_FILE:
        return fill_file(init->path, bytes, count * workload_type_size(type), diag);
    case WORKLOAD_INIT_VALUE:
    case WORKLOAD_INIT_RAMP:
        fill_ramp(init, type, bytes, count);
        break;
    }
    return VYRE_OK;
}
