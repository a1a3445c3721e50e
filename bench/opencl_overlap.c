/*
 * opencl_overlap.c: see opencl_overlap.h.
 *
 *   chains   two chains of dependent launches on a buffer each, a launch of the one after a launch of the
 *            other: with arms the chains run side by side
 *   upload   a large upload, and a chain of launches that does not touch it: with copy overlap it runs
 *            beside them
 *
 * A launch takes as long as `rounds` steps of a generator take for each of its invocations. One group
 * leaves a core of a CPU device free; sixteen do not.
 */
#include "opencl_overlap.h"

#include <string.h>

#define UPLOAD_BYTES ((size_t)32 << 20)
#define CHAIN_BYTES  (16 * GPU_GROUP_BYTES)
#define REPEATS      2
#define ROUNDS_MOST  11

static const char source[] = "kernel void work(global uint *a, uint rounds)\n"
                             "{\n"
                             "    uint x = a[get_global_id(0)];\n"
                             "    for (uint i = 0; i < rounds; i++)\n"
                             "        x = (x ^ (x >> 7)) * 1664525u + i;\n"
                             "    a[get_global_id(0)] = x;\n"
                             "}\n";

enum shape { CHAINS, UPLOAD };

static const struct cell {
    const char *name;
    enum shape shape;
    uint32_t groups;
    uint32_t launches; /* of each chain */
    uint32_t rounds;
} cells[] = {
    {"two chains, 1 group", CHAINS, 1, 64, 10},
    {"two chains, 1 group, long", CHAINS, 1, 32, 1500},
    {"two chains, 16 groups, long", CHAINS, 16, 32, 150},
    {"upload of 32 MiB, 1 group", UPLOAD, 1, 32, 1500},
    {"upload of 32 MiB, 16 groups", UPLOAD, 16, 32, 150},
};
#define CELLS (sizeof cells / sizeof cells[0])

enum { WITH, SERIAL, VARIANTS };

struct bench {
    struct vyre_instance *instance;
    struct vyre_device *device;
    struct vyre_kernel *kernel;
    struct vyre_buffer *chains[2];
    struct vyre_buffer *large;
    struct vyre_batch *batch;
    unsigned char *bytes; /* Owned: UPLOAD_BYTES to upload, and as many read back */
    struct vyre_diag diag;
};

static bool complain(const struct bench *bench, const char *what)
{
    fprintf(stderr, "bench_opencl: overlap: %s: %s\n", what, bench->diag.message);
    return false;
}

static bool open_bench(struct bench *bench, const char *device)
{
    const struct vyre_device_desc desc = {.backend = "opencl", .name = device};
    const struct vyre_payload payload = {.target = VYRE_TARGET_OPENCL_C,
                                         .entry = "work",
                                         .bytes = source,
                                         .size_bytes = sizeof source - 1};
    const struct vyre_kernel_desc kernel = {.label = "work",
                                            .payloads = &payload,
                                            .payload_count = 1,
                                            .local_size = {GPU_LOCAL_SIZE, 1, 1}};
    struct vyre_diag *diag = &bench->diag;
    bench->bytes = calloc(2, UPLOAD_BYTES);
    if (!bench->bytes)
        return complain(bench, "out of memory");
    for (size_t i = 0; i < UPLOAD_BYTES; i++)
        bench->bytes[i] = (unsigned char)(i * 131 >> 3);
    enum vyre_status status = vyre_instance_create(NULL, &bench->instance, diag);
    if (status == VYRE_OK)
        status = vyre_device_open(bench->instance, &desc, &bench->device, diag);
    if (status == VYRE_OK)
        status = vyre_kernel_create(bench->device, &kernel, &bench->kernel, diag);
    for (int i = 0; status == VYRE_OK && i < 2; i++)
        status =
            vyre_buffer_create(bench->device, &(struct vyre_buffer_desc){.size_bytes = CHAIN_BYTES},
                               &bench->chains[i], diag);
    if (status == VYRE_OK)
        status = vyre_buffer_create(bench->device,
                                    &(struct vyre_buffer_desc){.size_bytes = UPLOAD_BYTES},
                                    &bench->large, diag);
    if (status == VYRE_OK)
        status = vyre_batch_create(bench->device, NULL, &bench->batch, diag);
    return status == VYRE_OK || complain(bench, "open");
}

static void close_bench(struct bench *bench)
{
    if (bench->device)
        vyre_device_close(&bench->device);
    vyre_instance_destroy(&bench->instance);
    free(bench->bytes);
}

static void add_launch(struct bench *bench, const struct cell *cell, int chain)
{
    const struct vyre_slot_binding binding = {
        .slot = 0,
        .range = {.buffer = bench->chains[chain], .size_bytes = cell->groups * GPU_GROUP_BYTES}};
    vyre_batch_dispatch(bench->batch, &(struct vyre_dispatch){.kernel = bench->kernel,
                                                              .groups = {cell->groups, 1, 1},
                                                              .bindings = &binding,
                                                              .binding_count = 1,
                                                              .constants = &cell->rounds,
                                                              .constants_size_bytes = 4});
}

static void build(struct bench *bench, const struct cell *cell)
{
    vyre_batch_reset(bench->batch);
    if (cell->shape == UPLOAD)
        vyre_batch_upload_borrowed(bench->batch, (struct vyre_range){.buffer = bench->large},
                                   bench->bytes);
    for (uint32_t i = 0; i < cell->launches; i++) {
        add_launch(bench, cell, 0);
        if (cell->shape == CHAINS)
            add_launch(bench, cell, 1);
    }
}

static bool submit(struct bench *bench, enum vyre_mode mode, uint32_t variant)
{
    const struct vyre_submit_options options = {.mode = mode, .variant = variant};
    struct vyre_ticket ticket;
    return vyre_batch_submit(bench->batch, &options, &ticket, &bench->diag) == VYRE_OK &&
           vyre_ticket_wait(bench->device, ticket, VYRE_FOREVER, &bench->diag) == VYRE_OK;
}

/* Runs the batch REPEATS times on fresh bytes; what it leaves goes to `out_chains`. 0: it failed. */
static double time_once(struct bench *bench, enum vyre_mode mode, uint32_t variant,
                        unsigned char out_chains[2][CHAIN_BYTES])
{
    for (int i = 0; i < 2; i++) {
        if (vyre_buffer_write(bench->chains[i], 0, bench->bytes + 7 + i, CHAIN_BYTES,
                              &bench->diag) != VYRE_OK)
            return 0;
    }
    gpu_settle();
    uint64_t start = sample_now_ns();
    for (int r = 0; r < REPEATS; r++) {
        if (!submit(bench, mode, variant))
            return 0;
    }
    uint64_t end = sample_now_ns();
    for (int i = 0; i < 2; i++) {
        if (vyre_buffer_read(bench->chains[i], 0, out_chains[i], CHAIN_BYTES, &bench->diag) !=
            VYRE_OK)
            return 0;
    }
    return (double)(end - start) / REPEATS;
}

static bool large_is_right(struct bench *bench)
{
    unsigned char *read = bench->bytes + UPLOAD_BYTES;
    return vyre_buffer_read(bench->large, 0, read, UPLOAD_BYTES, &bench->diag) == VYRE_OK &&
           memcmp(read, bench->bytes, UPLOAD_BYTES) == 0;
}

static void print_cell(const struct cell *cell, enum vyre_mode mode,
                       double ns[VARIANTS][GPU_ROUNDS_MAX], size_t rounds)
{
    double ratios[GPU_ROUNDS_MAX];
    for (size_t i = 0; i < rounds; i++)
        ratios[i] = ns[WITH][i] / ns[SERIAL][i];
    struct sample_summary ratio = sample_summarize(ratios, rounds);
    struct sample_summary with = sample_summarize(ns[WITH], rounds);
    struct sample_summary serial = sample_summarize(ns[SERIAL], rounds);
    const char *verdict = ratio.high < 1  ? "pays"
                          : ratio.low > 1 ? "does not pay"
                                          : "no difference";
    printf("%-29s %-7s %11.1f %11.1f   %5.2fx [%.2f %.2f]  %s\n", cell->name, vyre_mode_name(mode),
           with.median / 1000, serial.median / 1000, ratio.median, ratio.low, ratio.high, verdict);
    fflush(stdout);
}

static bool measure(struct bench *bench, const struct cell *cell, enum vyre_mode mode,
                    size_t rounds)
{
    static const uint32_t variants[VARIANTS] = {0, VYRE_VARIANT_SERIAL};
    static unsigned char left[VARIANTS][2][CHAIN_BYTES];
    static double ns[VARIANTS][GPU_ROUNDS_MAX];
    build(bench, cell);
    for (size_t round = 0; round <= rounds; round++) { /* the first one warms up */
        for (size_t i = 0; i < VARIANTS; i++) {
            size_t v = (i + round) % VARIANTS;
            double time = time_once(bench, mode, variants[v], left[v]);
            if (time <= 0)
                return complain(bench, cell->name);
            if (round > 0)
                ns[v][round - 1] = time;
        }
        if (memcmp(left[WITH], left[SERIAL], sizeof left[WITH]) != 0 ||
            (cell->shape == UPLOAD && !large_is_right(bench))) {
            fprintf(stderr, "bench_opencl: overlap: WRONG BYTES: %s\n", cell->name);
            return false;
        }
    }
    print_cell(cell, mode, ns, rounds);
    return true;
}

bool overlap_run(const struct gpu_options *options, const char *device)
{
    static const enum vyre_mode modes[] = {VYRE_MODE_PLAIN, VYRE_MODE_REPLAY};
    struct bench bench = {0};
    struct vyre_ability ability = {0};
    size_t rounds = options->rounds < ROUNDS_MOST ? options->rounds : ROUNDS_MOST;
    bool ok = open_bench(&bench, device);
    if (ok)
        vyre_device_get_ability(bench.device, VYRE_ABILITY_ARMS, &ability);
    if (ok && ability.value == 0)
        printf("\narms and copy overlap on %s: absent: %s\n", device, ability.reason);
    if (ok && ability.value != 0) {
        printf("\narms and copy overlap on %s, µs per batch\n%-29s %-7s %11s %11s   %s\n", device,
               "batch", "mode", "with", "serial", "with / serial");
        for (size_t c = 0; ok && c < CELLS; c++) {
            for (size_t m = 0; ok && m < 2; m++)
                ok = measure(&bench, &cells[c], modes[m], rounds);
        }
    }
    close_bench(&bench);
    return ok;
}
