/*
 * random_batch.h: random batches, run by the runtime and, one command after another, by a model.
 *
 * A world is a few small buffers on the device and the same bytes in the test's memory. Commands are
 * drawn so that ranges meet often: every kind of hazard, whole and partial overlap, byte ranges for
 * transfers. What a batch should do is kept as steps, which the model runs as often as the batch is
 * submitted.
 */
#ifndef VYRE_TESTS_RUNTIME_RANDOM_BATCH_H
#define VYRE_TESTS_RUNTIME_RANDOM_BATCH_H

#include "runtime/sim_fixture.h"
#include "support/random.h"

enum {
    WORLD_BUFFERS = 5,
    WORLD_BUFFER_BYTES = 384,
    WORLD_POOL_BYTES = 2048,
    WORLD_DOWNLOAD_BYTES = 1 << 15,
    STEPS_MAX = 160,
};

struct step_range {
    uint32_t buffer;
    size_t offset_bytes;
    size_t size_bytes;
};

struct step {
    enum vyre_command_type type;
    enum fixture_kernel kernel;
    struct step_range ranges[KERNEL_BINDINGS_MAX]; /* a table's place is empty */
    uint32_t range_count;
    uint32_t table[WORLD_BUFFERS];
    uint32_t table_count;
    uint32_t groups[3];
    uint32_t constant; /* also the word of a fill */
    uint64_t specialization;
    bool borrowed;
    size_t host_offset; /* in the pool or the downloads */
};

struct world {
    struct fixture *fixture;
    struct rng rng;
    struct vyre_buffer *buffers[WORLD_BUFFERS];
    _Alignas(64) unsigned char model[WORLD_BUFFERS][WORLD_BUFFER_BYTES];
    unsigned char pool[WORLD_POOL_BYTES];
    unsigned char downloads[WORLD_DOWNLOAD_BYTES];
    unsigned char expected[WORLD_DOWNLOAD_BYTES];
    size_t download_bytes;
    struct vyre_batch *batch;
    struct step steps[STEPS_MAX];
    size_t step_count;
};

/* Fills the buffers with random bytes. */
void world_init(struct world *world, struct fixture *fixture, uint64_t seed);
void world_deinit(struct world *world);

/* Adds a random command to the batch and its step; false when the steps are full. */
bool world_add(struct world *world);

/* Gives a random dispatch of the batch another constant, if it has one. */
void world_change_constant(struct world *world);

void world_reset(struct world *world);

/* Submits the batch, which must succeed, and runs its steps in the model. */
struct vyre_ticket world_submit(struct world *world, const struct vyre_submit_options *options);

/* Waits for everything and compares all bytes; `what` is said when they differ. */
void world_check(struct world *world, const char *what);

/* Whether two commands of the batch must keep their order. */
bool world_conflict(const struct world *world, uint32_t first, uint32_t second);

#endif
