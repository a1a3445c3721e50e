/*
 * launch.h: what the parts of the launch benchmark on the CPU agree on. launches/launches.h has the patterns.
 */
#ifndef VYRE_BENCH_LAUNCH_H
#define VYRE_BENCH_LAUNCH_H

#include <vyre/kernel.h>

#include "launches/launches.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The one kernel of all contenders, in an object file of its own. */
void launch_kernel(const struct vyre_host_group *group);

/* ---- The peers' rows -------------------------------------------------------------------------- */

/* Each fills a zeroed row, or its `absent`. */
void launch_open_direct(struct launches_row *out_row);
void launch_open_openmp(struct launches_row *out_row);
void launch_open_openmp_if(struct launches_row *out_row);
void launch_open_openmp_active(struct launches_row *out_row);
void launch_open_onetbb(struct launches_row *out_row);

/* The main function of the process behind launch_open_openmp_active; requests come on fd 0. */
int launch_openmp_child(void);

/* ---- Streaming: independent items of one group ------------------------------------------------ */

#define LAUNCH_STREAM_BUFFERS 64
#define LAUNCH_STREAM_BYTES   (LAUNCH_STREAM_BUFFERS * LAUNCHES_GROUP_BYTES)

/* Item i runs on buffer i % LAUNCH_STREAM_BUFFERS with the constant launches_constant(0). */
struct launch_streamer {
    const char *name; /* Static */
    enum bench_role role;
    char absent[BENCH_ABSENT_BYTES];                 /* why it cannot run; "" when it can */
    void *state;                                     /* Owned */
    bool (*stream)(void *state, uint32_t items);     /* one wait, at the end */
    bool (*round_trip)(void *state, uint32_t items); /* a wait after each; all on buffer 0 */
    bool (*fill)(void *state);
    bool (*digest)(void *state, struct vyre_hash128 *out_digest); /* of all buffers in a row */
    void (*close)(void *state);
};

/* Each fills a zeroed streamer, or its `absent`. */
void launch_stream_open_direct(struct launch_streamer *out_streamer);
void launch_stream_open_onetbb(struct launch_streamer *out_streamer);
void launch_stream_open_vyre(bool workers_only, struct launch_streamer *out_streamer);

/* Measures all streamers and reports them. */
void launch_stream_run(struct bench *bench);

#ifdef __cplusplus
}
#endif

#endif
