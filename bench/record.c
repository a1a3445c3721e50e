/*
 * record.c: what watching costs.
 *
 * Claims: a recorder costs at most 2 % on a stream of batches of 2,000 items, and decision records at
 * most 1 %. Each contender has an instance and a device of its own on the cpu; all run the same batch in
 * turns, in short rounds, so that what disturbs one disturbs the others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <vyre/vyre.h>

#include "harness/bench.h"

#define ITEMS   2000
#define BATCHES 8  /* in a round */
#define WARM_UP 32 /* measurements; auto has settled by then */
#define WORDS   64

enum contender { BARE, DECISIONS, RECORDED, CONTENDERS };
static const char *const names[CONTENDERS] = {"neither", "decision records", "recorder"};

struct stream {
    struct vyre_recorder *recorder;
    struct vyre_instance *instance;
    struct vyre_device *device;
    struct vyre_batch *batch;
};

static void step(const struct vyre_host_group *group)
{
    uint32_t *words = group->buffers[0].data;
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = words[i] * 1664525u + 1013904223u;
}

static void need(enum vyre_status status, const struct vyre_diag *diag)
{
    if (status == VYRE_OK)
        return;
    fprintf(stderr, "record: %s\n", diag->message);
    exit(1);
}

static void open_stream(struct stream *stream, enum contender contender, const char *path)
{
    struct vyre_diag diag;
    struct vyre_observer observer = {0};
    if (contender == RECORDED) {
        need(vyre_recorder_open(path, NULL, &stream->recorder, &diag), &diag);
        observer = vyre_recorder_observer(stream->recorder);
    }
    const struct vyre_instance_desc instance = {.observer = &observer};
    const struct vyre_device_desc device = {.backend = "cpu", .no_decisions = contender == BARE};
    need(vyre_instance_create(&instance, &stream->instance, &diag), &diag);
    need(vyre_device_open(stream->instance, &device, &stream->device, &diag), &diag);

    struct vyre_buffer *buffer;
    struct vyre_kernel *kernel;
    const struct vyre_buffer_desc words = {.size_bytes = WORDS * sizeof(uint32_t)};
    const struct vyre_payload payload = {.target = VYRE_TARGET_HOST, .function = step};
    const struct vyre_binding_desc binding = {.slot = 0, .role = VYRE_ROLE_INPUT_OUTPUT};
    const struct vyre_kernel_desc desc = {
        .label = "step",
        .payloads = &payload,
        .payload_count = 1,
        .local_size = {WORDS, 1, 1},
        .bindings = &binding,
        .binding_count = 1,
    };
    const struct vyre_batch_desc label = {.label = "stream"};
    need(vyre_buffer_create(stream->device, &words, &buffer, &diag), &diag);
    need(vyre_kernel_create(stream->device, &desc, &kernel, &diag), &diag);
    need(vyre_batch_create(stream->device, &label, &stream->batch, &diag), &diag);
    const struct vyre_slot_binding bound = {.slot = 0, .range = {.buffer = buffer}};
    const struct vyre_dispatch dispatch = {
        .kernel = kernel, .groups = {1, 1, 1}, .bindings = &bound, .binding_count = 1};
    for (int i = 0; i < ITEMS; i++)
        vyre_batch_dispatch(stream->batch, &dispatch);
}

static void close_stream(struct stream *stream)
{
    struct vyre_diag diag;
    vyre_device_close(&stream->device);
    vyre_instance_destroy(&stream->instance);
    if (stream->recorder)
        need(vyre_recorder_close(&stream->recorder, &diag), &diag);
}

static double run(struct stream *stream, enum vyre_mode mode)
{
    const struct vyre_submit_options options = {.mode = mode};
    struct vyre_diag diag;
    uint64_t start_ns = vyre_clock_ns();
    for (int i = 0; i < BATCHES; i++)
        need(vyre_batch_submit(stream->batch, &options, NULL, &diag), &diag);
    need(vyre_device_wait_idle(stream->device, VYRE_FOREVER, &diag), &diag);
    return (double)(vyre_clock_ns() - start_ns) / BATCHES;
}

static const enum vyre_mode modes[] = {VYRE_MODE_PLAIN, VYRE_MODE_REPLAY, VYRE_MODE_AUTO};
#define MODES (sizeof modes / sizeof modes[0])

/* One stream for each contender and mode. */
struct streams {
    struct stream of[CONTENDERS][MODES];
};

static double measure(void *context, struct bench_contender *contender, size_t cell)
{
    (void)context;
    struct stream *stream = contender->state;
    return run(&stream[cell], modes[cell]);
}

int main(int argc, char **argv)
{
    static const struct bench_desc desc = {.name = "record", .rounds = 601, .rounds_quick = 101};
    static struct streams streams;
    struct bench_aim aims[2 * MODES];
    struct bench bench;
    struct bench_table table;
    char folder[] = "/tmp/vyre-bench-record.XXXXXX";
    char paths[MODES][64];
    if (!bench_begin(&bench, &desc, argc, argv))
        return 2;
    if (!mkdtemp(folder))
        return 1;
    bench_table_init(&table, "batches of 2,000 items", "ns per batch");
    table.measure = measure;
    for (size_t m = 0; m < MODES; m++) {
        aims[2 * m] = (struct bench_aim){.contender = names[DECISIONS], .cell = m, .limit = 1.01};
        aims[2 * m + 1] = (struct bench_aim){
            .contender = names[RECORDED], .base = names[DECISIONS], .cell = m, .limit = 1.02};
        bench_add_cell(&table, "a batch", vyre_mode_name(modes[m]));
        snprintf(paths[m], sizeof paths[m], "%s/%s.json", folder, vyre_mode_name(modes[m]));
    }
    for (size_t c = 0; c < CONTENDERS; c++) {
        bench_add_contender(&table, names[c], c == BARE ? BENCH_BASE : BENCH_PEER)->state =
            streams.of[c];
        for (size_t m = 0; m < MODES; m++) {
            open_stream(&streams.of[c][m], (enum contender)c, paths[m]);
            for (int i = 0; i < WARM_UP; i++)
                (void)run(&streams.of[c][m], modes[m]);
        }
    }
    bench_run(&bench, &table);
    bench_report(&bench, &table, aims, sizeof aims / sizeof aims[0]);
    bench_table_deinit(&table);
    for (size_t i = 0; i < CONTENDERS * MODES; i++)
        close_stream(&streams.of[i / MODES][i % MODES]);
    for (size_t m = 0; m < MODES; m++)
        unlink(paths[m]);
    rmdir(folder);
    return bench_end(&bench);
}
