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

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/vyre.h>

#define UPLOAD_BYTES ((size_t)32 << 20)
#define LOCAL_SIZE   64
#define GROUP_BYTES  (LOCAL_SIZE * sizeof(uint32_t))
#define CHAIN_BYTES  (16 * GROUP_BYTES)
#define REPEATS      2

static const char source[] = "kernel void work(global uint *a, uint rounds)\n"
                             "{\n"
                             "    uint x = a[get_global_id(0)];\n"
                             "    for (uint i = 0; i < rounds; i++)\n"
                             "        x = (x ^ (x >> 7)) * 1664525u + i;\n"
                             "    a[get_global_id(0)] = x;\n"
                             "}\n";

enum shape { CHAINS, UPLOAD };

static const struct work {
    const char *name;
    enum shape shape;
    uint32_t groups;
    uint32_t launches; /* of each chain */
    uint32_t rounds;
} works[] = {
    {"two chains, 1 group", CHAINS, 1, 64, 10},
    {"two chains, 1 group, long", CHAINS, 1, 32, 1500},
    {"two chains, 16 groups, long", CHAINS, 16, 32, 150},
    {"upload of 32 MiB, 1 group", UPLOAD, 1, 32, 1500},
    {"upload of 32 MiB, 16 groups", UPLOAD, 16, 32, 150},
};
#define WORKS (sizeof works / sizeof works[0])

static const enum vyre_mode modes[] = {VYRE_MODE_PLAIN, VYRE_MODE_REPLAY};
#define MODES (sizeof modes / sizeof modes[0])

struct overlap {
    struct vyre_instance *instance;
    struct vyre_device *device;
    struct vyre_kernel *kernel;
    struct vyre_buffer *chains[2];
    struct vyre_buffer *large;
    struct vyre_batch *batches[WORKS];
    unsigned char *bytes; /* Owned: UPLOAD_BYTES to upload, and as many read back */
    struct vyre_diag diag;
    unsigned char want[WORKS][2][CHAIN_BYTES]; /* what the first contender left in the chains */
    bool has_want[WORKS];
};

static bool complain(const struct overlap *overlap, const char *what)
{
    fprintf(stderr, "bench_opencl: overlap: %s: %s\n", what, overlap->diag.message);
    return false;
}

static void add_launch(struct overlap *overlap, const struct work *work, int chain,
                       struct vyre_batch *batch)
{
    const struct vyre_slot_binding binding = {
        .slot = 0,
        .range = {.buffer = overlap->chains[chain], .size_bytes = work->groups * GROUP_BYTES}};
    vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = overlap->kernel,
                                                       .groups = {work->groups, 1, 1},
                                                       .bindings = &binding,
                                                       .binding_count = 1,
                                                       .constants = &work->rounds,
                                                       .constants_size_bytes = 4});
}

static void build(struct overlap *overlap, const struct work *work, struct vyre_batch *batch)
{
    if (work->shape == UPLOAD)
        vyre_batch_upload_borrowed(batch, (struct vyre_range){.buffer = overlap->large},
                                   overlap->bytes);
    for (uint32_t i = 0; i < work->launches; i++) {
        add_launch(overlap, work, 0, batch);
        if (work->shape == CHAINS)
            add_launch(overlap, work, 1, batch);
    }
}

static bool open_overlap(struct overlap *overlap, const char *device)
{
    const struct vyre_device_desc desc = {.backend = "opencl", .name = device};
    const struct vyre_payload payload = {.target = VYRE_TARGET_OPENCL_C,
                                         .entry = "work",
                                         .bytes = source,
                                         .size_bytes = sizeof source - 1};
    const struct vyre_kernel_desc kernel = {.label = "work",
                                            .payloads = &payload,
                                            .payload_count = 1,
                                            .local_size = {LOCAL_SIZE, 1, 1}};
    struct vyre_diag *diag = &overlap->diag;
    overlap->bytes = calloc(2, UPLOAD_BYTES);
    if (!overlap->bytes)
        return complain(overlap, "out of memory");
    for (size_t i = 0; i < UPLOAD_BYTES; i++)
        overlap->bytes[i] = (unsigned char)(i * 131 >> 3);
    enum vyre_status status = vyre_instance_create(NULL, &overlap->instance, diag);
    if (status == VYRE_OK)
        status = vyre_device_open(overlap->instance, &desc, &overlap->device, diag);
    if (status == VYRE_OK)
        status = vyre_kernel_create(overlap->device, &kernel, &overlap->kernel, diag);
    for (int i = 0; status == VYRE_OK && i < 2; i++)
        status = vyre_buffer_create(overlap->device,
                                    &(struct vyre_buffer_desc){.size_bytes = CHAIN_BYTES},
                                    &overlap->chains[i], diag);
    if (status == VYRE_OK)
        status = vyre_buffer_create(overlap->device,
                                    &(struct vyre_buffer_desc){.size_bytes = UPLOAD_BYTES},
                                    &overlap->large, diag);
    for (size_t w = 0; status == VYRE_OK && w < WORKS; w++) {
        status = vyre_batch_create(overlap->device, NULL, &overlap->batches[w], diag);
        if (status == VYRE_OK)
            build(overlap, &works[w], overlap->batches[w]);
    }
    return status == VYRE_OK || complain(overlap, "open");
}

static void close_overlap(struct overlap *overlap)
{
    if (overlap->device)
        vyre_device_close(&overlap->device);
    vyre_instance_destroy(&overlap->instance);
    free(overlap->bytes);
}

static bool submit(struct overlap *overlap, struct vyre_batch *batch, enum vyre_mode mode,
                   uint32_t variant)
{
    const struct vyre_submit_options options = {.mode = mode, .variant = variant};
    struct vyre_ticket ticket;
    return vyre_batch_submit(batch, &options, &ticket, &overlap->diag) == VYRE_OK &&
           vyre_ticket_wait(overlap->device, ticket, VYRE_FOREVER, &overlap->diag) == VYRE_OK;
}

/* Runs the batch REPEATS times on fresh bytes; what it leaves goes to `out_chains`. 0: it failed. */
static double time_once(struct overlap *overlap, struct vyre_batch *batch, enum vyre_mode mode,
                        uint32_t variant, unsigned char out_chains[2][CHAIN_BYTES])
{
    for (int i = 0; i < 2; i++) {
        if (vyre_buffer_write(overlap->chains[i], 0, overlap->bytes + 7 + i, CHAIN_BYTES,
                              &overlap->diag) != VYRE_OK)
            return 0;
    }
    bench_settle();
    uint64_t start = bench_now_ns();
    for (int r = 0; r < REPEATS; r++) {
        if (!submit(overlap, batch, mode, variant))
            return 0;
    }
    uint64_t end = bench_now_ns();
    for (int i = 0; i < 2; i++) {
        if (vyre_buffer_read(overlap->chains[i], 0, out_chains[i], CHAIN_BYTES, &overlap->diag) !=
            VYRE_OK)
            return 0;
    }
    return (double)(end - start) / REPEATS;
}

static bool large_is_right(struct overlap *overlap)
{
    unsigned char *read = overlap->bytes + UPLOAD_BYTES;
    return vyre_buffer_read(overlap->large, 0, read, UPLOAD_BYTES, &overlap->diag) == VYRE_OK &&
           memcmp(read, overlap->bytes, UPLOAD_BYTES) == 0;
}

/* A cell is a batch in a mode; a contender is a variant, its state the variant's bits. */
static double measure(void *context, struct bench_contender *contender, size_t cell)
{
    unsigned char left[2][CHAIN_BYTES];
    struct overlap *overlap = context;
    size_t w = cell / MODES;
    const struct work *work = &works[w];
    double ns = time_once(overlap, overlap->batches[w], modes[cell % MODES],
                          *(const uint32_t *)contender->state, left);
    if (ns <= 0) {
        complain(overlap, work->name);
        return -1;
    }
    if (!overlap->has_want[w])
        memcpy(overlap->want[w], left, sizeof left);
    overlap->has_want[w] = true;
    if (memcmp(overlap->want[w], left, sizeof left) == 0 &&
        (work->shape != UPLOAD || large_is_right(overlap)))
        return ns;
    fprintf(stderr, "WRONG BYTES: overlap: %s\n", work->name);
    return -1;
}

static void measure_all(struct bench *bench, struct overlap *overlap, const char *title)
{
    uint32_t variants[] = {0, VYRE_VARIANT_SERIAL};
    struct bench_table table;
    struct vyre_ability ability = {0};
    bench_table_init(&table, title, "ns per batch");
    table.is_whole = true;
    table.measure = measure;
    table.context = overlap;
    bench_add_contender(&table, "serial", BENCH_BASE)->state = &variants[1];
    bench_add_contender(&table, "with arms and copy overlap", BENCH_PEER)->state = &variants[0];
    vyre_device_get_ability(overlap->device, VYRE_ABILITY_ARMS, &ability);
    for (size_t c = 0; ability.value == 0 && c < table.contender_count; c++)
        snprintf(table.contenders[c].absent, BENCH_ABSENT_BYTES, "%s", ability.reason);
    for (size_t cell = 0; cell < WORKS * MODES; cell++)
        bench_add_cell(&table, works[cell / MODES].name, vyre_mode_name(modes[cell % MODES]));
    bench_run(bench, &table);
    bench_report(bench, &table, NULL, 0);
    bench_table_deinit(&table);
}

void overlap_run(struct bench *bench, const char *device)
{
    struct overlap *overlap = calloc(1, sizeof *overlap);
    char title[160];
    snprintf(title, sizeof title, "arms and copy overlap on %s", device);
    if (overlap && open_overlap(overlap, device))
        measure_all(bench, overlap, title);
    else
        bench->failed = true;
    if (overlap)
        close_overlap(overlap);
    free(overlap);
}
