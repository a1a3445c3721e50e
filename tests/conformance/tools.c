/*
 * tools.c: time and gates.
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
    uint64_t end = now_ns() + HANG_LIMIT_NS;
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
