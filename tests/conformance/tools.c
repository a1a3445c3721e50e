/*
 * tools.c: time, gates, and an allocator that counts.
 */
#include "conformance/conformance.h"

#include <stdlib.h>
#include <time.h>

/* ---- Time and gates --------------------------------------------------------------------------- */

void sleep_ns(uint64_t ns)
{
    struct timespec time = {.tv_sec = (time_t)(ns / 1000000000),
                            .tv_nsec = (long)(ns % 1000000000)};
    nanosleep(&time, NULL);
}

uint64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

void gate_await(struct gate *gate)
{
    uint64_t end = now_ns() + UINT64_C(8000000000);
    while (!atomic_load_explicit(&gate->entered, memory_order_acquire)) { /* pairs: run_gate */
        if (now_ns() > end)
            fail_msg("no kernel came to the gate");
        sleep_ns(100000);
    }
}

void gate_open(struct gate *gate)
{
    atomic_store_explicit(&gate->open, 1, memory_order_release); /* pairs: run_gate */
}

void gate_close(struct gate *gate)
{
    atomic_store_explicit(&gate->open, 0, memory_order_relaxed);
    atomic_store_explicit(&gate->entered, 0, memory_order_relaxed);
}

static void *opener_main(void *argument)
{
    struct gate_opener *opener = argument;
    sleep_ns(opener->delay_ns);
    atomic_store(&opener->opened, true);
    gate_open(opener->gate);
    return NULL;
}

void gate_opener_start(struct gate_opener *opener, struct gate *gate, uint64_t delay_ns)
{
    opener->gate = gate;
    opener->delay_ns = delay_ns;
    atomic_init(&opener->opened, false);
    if (pthread_create(&opener->thread, NULL, opener_main, opener) != 0)
        abort();
}

void gate_opener_join(struct gate_opener *opener)
{
    pthread_join(opener->thread, NULL);
}

/* ---- The counting allocator ------------------------------------------------------------------- */

/* [size, alignment, padding][memory ...] */
struct block_header {
    size_t size_bytes;
    size_t alignment;
};

static size_t block_pad(size_t alignment)
{
    return alignment < 64 ? 64 : alignment;
}

static void *counting_allocate(void *user, size_t size_bytes, size_t alignment)
{
    struct counting_allocator *self = user;
    size_t pad = block_pad(alignment);
    if (atomic_fetch_sub(&self->fail_in, 1) == 0)
        return NULL;
    unsigned char *raw = aligned_alloc(pad, (size_bytes + 2 * pad - 1) / pad * pad);
    if (!raw)
        return NULL;
    memset(raw, 0xa5, size_bytes + pad); /* nobody may take memory for zeroed */
    memcpy(raw, &(struct block_header){size_bytes, alignment}, sizeof(struct block_header));
    atomic_fetch_add(&self->taken_count, 1);
    atomic_fetch_add(&self->live_count, 1);
    return raw + pad;
}

static void counting_deallocate(void *user, void *memory, size_t size_bytes, size_t alignment)
{
    struct counting_allocator *self = user;
    unsigned char *raw = (unsigned char *)memory - block_pad(alignment);
    struct block_header header;
    memcpy(&header, raw, sizeof header);
    if (header.size_bytes != size_bytes || header.alignment != alignment)
        atomic_fetch_add(&self->mismatch_count, 1);
    atomic_fetch_sub(&self->live_count, 1);
    free(raw);
}

struct vyre_allocator counting_allocator_face(struct counting_allocator *self)
{
    *self = (struct counting_allocator){0};
    atomic_store(&self->fail_in, -1);
    return (struct vyre_allocator){self, counting_allocate, counting_deallocate};
}
