/*
 * direct.c: the limit: the kernel called group by group on the calling thread. The call goes through
 * a volatile pointer, so that it stays a call.
 */
#include "host_memory.h"

#include "../launch.h"

static vyre_host_function *volatile kernel = launch_kernel;

static bool run(void *state, const struct launches_cell *cell, uint32_t repeats)
{
    const struct host_memory *memory = state;
    uint32_t constant = 0;
    struct vyre_host_group group = host_memory_group(memory, cell->groups, &constant);
    for (uint32_t r = 0; r < repeats; r++) {
        for (uint32_t k = 0; k < cell->launches; k++) {
            constant = launches_constant(k);
            for (uint32_t g = 0; g < cell->groups; g++) {
                group.group_id[0] = g;
                kernel(&group);
            }
        }
    }
    return true;
}

static bool write_bytes(void *state, const void *bytes, size_t size_bytes)
{
    const struct host_memory *memory = state;
    memcpy(memory->buffer.data, bytes, size_bytes);
    return true;
}

static bool read_bytes(void *state, void *out_bytes, size_t size_bytes)
{
    const struct host_memory *memory = state;
    memcpy(out_bytes, memory->buffer.data, size_bytes);
    return true;
}

static void close_memory(void *state)
{
    host_memory_deinit(state);
    free(state);
}

static struct host_memory *open_memory(char absent[BENCH_ABSENT_BYTES])
{
    struct host_memory *memory = calloc(1, sizeof *memory);
    if (memory)
        host_memory_init(memory);
    if (memory && memory->buffer.data)
        return memory;
    free(memory);
    snprintf(absent, BENCH_ABSENT_BYTES, "out of memory");
    return NULL;
}

void launch_open_direct(struct launches_row *out_row)
{
    out_row->name = "direct loop";
    out_row->role = BENCH_BASE;
    out_row->patterns = LAUNCHES_ALL_PATTERNS;
    out_row->state = open_memory(out_row->absent);
    out_row->run = run;
    out_row->write = write_bytes;
    out_row->read = read_bytes;
    out_row->close = close_memory;
}

/* ---- Streaming -------------------------------------------------------------------------------- */

/* The buffers lie in a row, so that buffer i is group i of one dispatch. */
static bool stream(void *state, uint32_t items)
{
    uint32_t constant = launches_constant(0);
    struct vyre_host_group group = host_memory_group(state, LAUNCH_STREAM_BUFFERS, &constant);
    for (uint32_t i = 0; i < items; i++) {
        group.group_id[0] = i % LAUNCH_STREAM_BUFFERS;
        kernel(&group);
    }
    return true;
}

static bool round_trip(void *state, uint32_t items)
{
    uint32_t constant = launches_constant(0);
    struct vyre_host_group group = host_memory_group(state, 1, &constant);
    for (uint32_t i = 0; i < items; i++)
        kernel(&group);
    return true;
}

static bool fill(void *state)
{
    const struct host_memory *memory = state;
    launches_fill(memory->buffer.data, LAUNCH_STREAM_BYTES);
    return true;
}

static bool digest(void *state, struct vyre_hash128 *out_digest)
{
    const struct host_memory *memory = state;
    *out_digest = vyre_hash128(memory->buffer.data, LAUNCH_STREAM_BYTES);
    return true;
}

void launch_stream_open_direct(struct launch_streamer *out_streamer)
{
    out_streamer->name = "direct loop";
    out_streamer->role = BENCH_BASE;
    out_streamer->state = open_memory(out_streamer->absent);
    out_streamer->stream = stream;
    out_streamer->round_trip = round_trip;
    out_streamer->fill = fill;
    out_streamer->digest = digest;
    out_streamer->close = close_memory;
}
