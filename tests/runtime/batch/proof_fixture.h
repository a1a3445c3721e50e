/*
 * proof_fixture.h: a simulated device whose persistent mode runs generated code, and a batch whose bytes
 * show how often it ran.
 */
#ifndef VYRE_TESTS_RUNTIME_PROOF_FIXTURE_H
#define VYRE_TESTS_RUNTIME_PROOF_FIXTURE_H

#include <string.h>

#include "runtime/sim_fixture.h"

enum { BYTES = 256, WORDS = BYTES / 4 };

static inline void open_proving(struct fixture *fixture, struct vyre_sim_desc desc,
                                const struct vyre_device_desc *device)
{
    desc.generated_modes = 1u << VYRE_MODE_PERSISTENT;
    fixture_open(fixture, &desc, device);
}

/* in-out: what is wrongly restored or run once too often shows. */
static inline struct vyre_batch *mix_batch(struct fixture *fixture, struct vyre_buffer *buffer)
{
    struct vyre_batch *batch = fixture_batch(fixture);
    fixture_mix(fixture, batch, (struct vyre_range){fixture_buffer(fixture, BYTES), 0, 0},
                (struct vyre_range){buffer, 64, 64}, 7);
    return batch;
}

static inline struct vyre_proof_counters counters(struct fixture *fixture)
{
    struct vyre_proof_counters out;
    vyre_device_count_proofs(fixture->device, &out);
    return out;
}

static inline void assert_bytes(struct vyre_buffer *buffer, const uint32_t *words)
{
    uint32_t read[WORDS];
    struct vyre_diag diag;
    assert_int_equal(vyre_buffer_read(buffer, 0, read, BYTES, &diag), VYRE_OK);
    assert_memory_equal(read, words, BYTES);
}

/* What `times` plain runs of mix_batch give. */
static inline void expect_mix(uint32_t words[WORDS], int times)
{
    struct fixture fixture;
    open_proving(&fixture, (struct vyre_sim_desc){0}, NULL);
    struct vyre_buffer *buffer = fixture_buffer(&fixture, BYTES);
    struct vyre_batch *batch = mix_batch(&fixture, buffer);
    for (int i = 0; i < times; i++)
        assert_int_equal(fixture_wait(&fixture, fixture_submit(&fixture, batch, VYRE_MODE_PLAIN)),
                         VYRE_OK);
    assert_int_equal(vyre_buffer_read(buffer, 0, words, BYTES, &fixture.diag), VYRE_OK);
    fixture_close(&fixture);
}

static inline enum vyre_status submit(struct fixture *fixture, struct vyre_batch *batch,
                                      enum vyre_mode mode, struct vyre_batch_result *out_result)
{
    struct vyre_ticket ticket;
    const struct vyre_submit_options options = {.mode = mode, .repeat_hint = 100000};
    vyre_diag_reset(&fixture->diag);
    enum vyre_status status = vyre_batch_submit(batch, &options, &ticket, &fixture->diag);
    memset(out_result, 0, sizeof *out_result);
    if (status == VYRE_OK) {
        assert_int_equal(fixture_wait(fixture, ticket), VYRE_OK);
        *out_result = fixture_result(fixture, ticket);
    }
    return status;
}

#endif
