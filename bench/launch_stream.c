/*
 * launch_stream.c: independent items of one group: streamed with one wait at the end, and a round trip each.
 * Vyre's persistent mode beside oneTBB and the direct loop; see launch.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "launch.h"
#include "launches/vyre_row.h"

#define ITEMS      20000
#define TRIP_ITEMS 5000
#define SECONDS    8
#define STREAMERS  4

#define VYRE_HELPS   "Vyre persistent"
#define VYRE_WORKERS "Vyre persistent, workers only"

enum { STREAMED, ROUND_TRIP, CELLS };

/* ---- Vyre ------------------------------------------------------------------------------------- */

struct vyre_stream {
    const char *name;
    struct vyre_row_device on;
    struct vyre_buffer *buffers[LAUNCH_STREAM_BUFFERS];
    struct vyre_batch *batches[LAUNCH_STREAM_BUFFERS];
};

static const struct vyre_submit_options persistent = {.mode = VYRE_MODE_PERSISTENT};

static bool stream(void *state, uint32_t items)
{
    struct vyre_stream *s = state;
    struct vyre_ticket ticket = {0};
    struct vyre_diag diag = {0};
    for (uint32_t i = 0; i < items; i++) {
        if (vyre_batch_submit(s->batches[i % LAUNCH_STREAM_BUFFERS], &persistent, &ticket, &diag) !=
            VYRE_OK)
            return vyre_row_complain(s->name, "submit", &diag);
    }
    return vyre_ticket_wait(s->on.device, ticket, VYRE_FOREVER, &diag) == VYRE_OK ||
           vyre_row_complain(s->name, "wait", &diag);
}

static bool round_trip(void *state, uint32_t items)
{
    struct vyre_stream *s = state;
    struct vyre_ticket ticket = {0};
    struct vyre_diag diag = {0};
    for (uint32_t i = 0; i < items; i++) {
        if (vyre_batch_submit(s->batches[0], &persistent, &ticket, &diag) != VYRE_OK ||
            vyre_ticket_wait(s->on.device, ticket, VYRE_FOREVER, &diag) != VYRE_OK)
            return vyre_row_complain(s->name, "round trip", &diag);
    }
    return true;
}

static bool fill(void *state)
{
    struct vyre_stream *s = state;
    struct vyre_diag diag = {0};
    unsigned char bytes[LAUNCH_STREAM_BYTES];
    launches_fill(bytes, sizeof bytes);
    for (size_t i = 0; i < LAUNCH_STREAM_BUFFERS; i++) {
        if (vyre_buffer_write(s->buffers[i], 0, bytes + i * LAUNCHES_GROUP_BYTES,
                              LAUNCHES_GROUP_BYTES, &diag) != VYRE_OK)
            return vyre_row_complain(s->name, "write", &diag);
    }
    return true;
}

static bool digest(void *state, struct vyre_hash128 *out_digest)
{
    struct vyre_stream *s = state;
    struct vyre_diag diag = {0};
    unsigned char bytes[LAUNCH_STREAM_BYTES];
    for (size_t i = 0; i < LAUNCH_STREAM_BUFFERS; i++) {
        if (vyre_buffer_read(s->buffers[i], 0, bytes + i * LAUNCHES_GROUP_BYTES,
                             LAUNCHES_GROUP_BYTES, &diag) != VYRE_OK)
            return vyre_row_complain(s->name, "read", &diag);
    }
    *out_digest = vyre_hash128(bytes, sizeof bytes);
    return true;
}

static void close_stream(void *state)
{
    struct vyre_stream *s = state;
    vyre_row_device_close(&s->on);
    free(s);
}

static enum vyre_status open_stream(struct vyre_stream *s, bool workers_only,
                                    struct vyre_diag *diag)
{
    const struct vyre_row_desc desc = {
        .device = {.backend = "cpu", .cpu_no_inline = workers_only},
        .payload = {.target = VYRE_TARGET_HOST, .function = launch_kernel},
    };
    const struct vyre_buffer_desc buffer = {.size_bytes = LAUNCHES_GROUP_BYTES};
    enum vyre_status status = vyre_row_device_open(&desc, &s->on, diag);
    for (size_t i = 0; status == VYRE_OK && i < LAUNCH_STREAM_BUFFERS; i++) {
        status = vyre_buffer_create(s->on.device, &buffer, &s->buffers[i], diag);
        if (status == VYRE_OK)
            status = vyre_batch_create(s->on.device, NULL, &s->batches[i], diag);
        if (status == VYRE_OK)
            vyre_row_build(s->batches[i], s->on.kernel, s->buffers[i], 1, 1);
    }
    if (status == VYRE_OK)
        status = vyre_batch_warm_up(s->batches[0], VYRE_MODE_PERSISTENT, diag);
    return status;
}

void launch_stream_open_vyre(bool workers_only, struct launch_streamer *out_streamer)
{
    struct vyre_stream *s = calloc(1, sizeof *s);
    struct vyre_diag diag = {0};
    out_streamer->name = workers_only ? VYRE_WORKERS : VYRE_HELPS;
    out_streamer->role = BENCH_OWN;
    if (!s) {
        snprintf(out_streamer->absent, BENCH_ABSENT_BYTES, "out of memory");
        return;
    }
    s->name = out_streamer->name;
    if (open_stream(s, workers_only, &diag) != VYRE_OK) {
        vyre_row_set_absent(out_streamer->absent, &diag);
        close_stream(s);
        return;
    }
    out_streamer->state = s;
    out_streamer->stream = stream;
    out_streamer->round_trip = round_trip;
    out_streamer->fill = fill;
    out_streamer->digest = digest;
    out_streamer->close = close_stream;
}

/* ---- The table -------------------------------------------------------------------------------- */

struct streams {
    struct bench_table table;
    struct launch_streamer streamers[STREAMERS];
    struct vyre_hash128 want[CELLS];
    bool has_want[CELLS];
};

/* An eighth to warm up, then the timed run. All streamers do the same, so that they leave the same bytes. */
static double time_items(const struct launch_streamer *s, size_t cell)
{
    bool (*run)(void *, uint32_t) = cell == STREAMED ? s->stream : s->round_trip;
    uint32_t items = cell == STREAMED ? ITEMS : TRIP_ITEMS;
    if (!s->fill(s->state) || !run(s->state, items / 8))
        return -1;
    uint64_t start_ns = bench_now_ns();
    if (!run(s->state, items))
        return -1;
    return (double)(bench_now_ns() - start_ns) / items;
}

/* The first streamer, the direct loop, is the reference. */
static double measure(void *context, struct bench_contender *contender, size_t cell)
{
    struct streams *streams = context;
    const struct launch_streamer *s = contender->state;
    struct vyre_hash128 got = {0, 0};
    double ns = time_items(s, cell);
    if (ns < 0 || !s->digest(s->state, &got))
        return -1;
    if (!streams->has_want[cell])
        streams->want[cell] = got;
    streams->has_want[cell] = true;
    if (vyre_hash128_equal(got, streams->want[cell]))
        return ns;
    fprintf(stderr, "WRONG BYTES: %s streams other bytes than the direct loop\n", s->name);
    return -1;
}

void launch_stream_run(struct bench *bench)
{
    const struct bench_aim aims[] = {
        {.kind = BENCH_NS_AT_MOST, .contender = VYRE_HELPS, .cell = STREAMED, .limit = 50},
        {.kind = BENCH_NS_AT_MOST, .contender = VYRE_WORKERS, .cell = STREAMED, .limit = 50},
        {.kind = BENCH_NS_AT_MOST, .contender = VYRE_HELPS, .cell = ROUND_TRIP, .limit = 1000},
        {.kind = BENCH_NS_AT_MOST, .contender = VYRE_WORKERS, .cell = ROUND_TRIP, .limit = 1000},
    };
    static struct streams streams;
    struct bench_table *table = &streams.table;
    bench_table_init(table, "independent items of 1 group on 64 buffers", "ns per item");
    table->settles = true;
    table->measure = measure;
    table->context = &streams;
    bench_add_cell(table, "items", "streamed, one wait at the end");
    bench_add_cell(table, "items", "round trip: submit + wait");
    launch_stream_open_direct(&streams.streamers[0]);
    launch_stream_open_onetbb(&streams.streamers[1]);
    launch_stream_open_vyre(false, &streams.streamers[2]);
    launch_stream_open_vyre(true, &streams.streamers[3]);
    for (size_t i = 0; i < STREAMERS; i++) {
        struct launch_streamer *s = &streams.streamers[i];
        struct bench_contender *contender = bench_add_contender(table, s->name, s->role);
        snprintf(contender->absent, sizeof contender->absent, "%s", s->absent);
        contender->state = s;
    }
    table->seconds_most = SECONDS;
    bench_run(bench, table);
    bench_report(bench, table, aims, sizeof aims / sizeof aims[0]);
    for (size_t i = 0; i < STREAMERS; i++) {
        if (streams.streamers[i].state)
            streams.streamers[i].close(streams.streamers[i].state);
    }
    bench_table_deinit(table);
}
