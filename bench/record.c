/*
 * record.c: what watching costs.
 *
 * Claims: a recorder costs at most 2 % on a stream of batches of 2,000 items, and decision records at
 * most 1 %. Each contender has an instance and a device of its own on the cpu; all run the same batch in
 * turns, in short rounds, so that what disturbs one disturbs the others. What is compared is the median
 * over the rounds of the ratio within a round; the quartiles beside it say how far to trust it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <vyre/vyre.h>

#define ITEMS   2000
#define BATCHES 8 /* in a round */
#define ROUNDS  601
#define WARM_UP 32 /* rounds; auto has settled by then */
#define WORDS   64

enum contender { BARE, DECISIONS, RECORDED, CONTENDERS };
static const char *const names[CONTENDERS] = {"neither", "decision records", "recorder"};

struct stream {
    struct vyre_recorder *recorder;
    struct vyre_instance *instance;
    struct vyre_device *device;
    struct vyre_batch *batch;
    double round_ns[ROUNDS];
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

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Of sorted values. */
static double at(const double *values, double part)
{
    return values[(int)(part * (ROUNDS - 1))];
}

static void print_ratio(double *ratios, const char *against, int claim)
{
    qsort(ratios, ROUNDS, sizeof *ratios, compare);
    printf("   %+6.2f %% against %s (quartiles %+.2f, %+.2f; claim: at most %d %%)",
           (at(ratios, 0.5) - 1) * 100, against, (at(ratios, 0.25) - 1) * 100,
           (at(ratios, 0.75) - 1) * 100, claim);
}

static void report(struct stream streams[CONTENDERS], enum vyre_mode mode)
{
    static double decided[ROUNDS], recorded[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        decided[round] = streams[DECISIONS].round_ns[round] / streams[BARE].round_ns[round];
        recorded[round] = streams[RECORDED].round_ns[round] / streams[DECISIONS].round_ns[round];
    }
    printf("%s\n", vyre_mode_name(mode));
    for (int i = 0; i < CONTENDERS; i++) {
        qsort(streams[i].round_ns, ROUNDS, sizeof(double), compare);
        printf("  %-18s %8.2f us a batch", names[i], at(streams[i].round_ns, 0.5) / 1000);
        if (i == DECISIONS)
            print_ratio(decided, names[BARE], 1);
        if (i == RECORDED)
            print_ratio(recorded, names[DECISIONS], 2);
        printf("\n");
    }
}

static void compare_in(enum vyre_mode mode, const char *path)
{
    static struct stream streams[CONTENDERS];
    struct vyre_diag diag;
    for (int i = 0; i < CONTENDERS; i++) {
        open_stream(&streams[i], (enum contender)i, path);
        for (int j = 0; j < WARM_UP; j++)
            (void)run(&streams[i], mode);
    }
    /* Which one goes first changes from round to round. */
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < CONTENDERS; i++) {
            struct stream *stream = &streams[(round + i) % CONTENDERS];
            stream->round_ns[round] = run(stream, mode);
        }
    }
    report(streams, mode);
    for (int i = 0; i < CONTENDERS; i++) {
        vyre_device_close(&streams[i].device);
        vyre_instance_destroy(&streams[i].instance);
    }
    need(vyre_recorder_close(&streams[RECORDED].recorder, &diag), &diag);
}

int main(void)
{
    char path[] = "/tmp/vyre-bench-record.XXXXXX";
    int descriptor = mkstemp(path);
    if (descriptor < 0)
        return 1;
    close(descriptor);
    printf("%d batches of %d items a round, %d rounds\n", BATCHES, ITEMS, ROUNDS);
    compare_in(VYRE_MODE_PLAIN, path);
    compare_in(VYRE_MODE_REPLAY, path);
    compare_in(VYRE_MODE_AUTO, path);
    unlink(path);
    return 0;
}
