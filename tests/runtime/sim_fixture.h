/*
 * sim_fixture.h: an instance with the sim, one device, and the kernels that the tests dispatch.
 *
 * Kernels work on 32-bit words; group g takes the words g, g + groups, ... of what it writes, so the
 * order of groups does not matter. The order of dispatches does: no two of them commute.
 *
 *   mix     slot 0 in, slot 5 in-out       out = out * 31 + in * 17 + c
 *   set     slot 2 out                     out = hash of position and c
 *   add     slots 1, 3 in, slot 9 out      out = a * 3 + b * 5 + c
 *   gather  slot 0 table in, slot 4 in-out out = out * 7 + sum of all tables' words + c
 *   local   slot 0 in-out, slot 1 local    out = out * 13 + c, by way of local and scratch memory
 *
 * `in` wraps round where it is shorter. c is the constant, plus the specialization value of mix.
 */
#ifndef VYRE_TESTS_RUNTIME_SIM_FIXTURE_H
#define VYRE_TESTS_RUNTIME_SIM_FIXTURE_H

#include <vyre/vyre.h>

#include "support/sim/sim_backend.h"
#include "support/test.h"

enum fixture_kernel { KERNEL_MIX, KERNEL_SET, KERNEL_ADD, KERNEL_GATHER, KERNEL_LOCAL };
enum { KERNEL_COUNT = 5, KERNEL_BINDINGS_MAX = 3 };

struct fixture {
    struct vyre_sim *sim;
    struct vyre_instance *instance;
    struct vyre_device *device;
    struct vyre_device_desc device_desc;
    struct vyre_kernel *kernels[KERNEL_COUNT];
    struct vyre_diag diag; /* of the last call that failed */
};

/* What a kernel looks like, for tests that run it themselves. */
struct fixture_kernel_facts {
    const char *label;
    vyre_host_function *function;
    uint32_t slots[KERNEL_BINDINGS_MAX];
    enum vyre_role roles[KERNEL_BINDINGS_MAX];
    size_t binding_count;
    bool first_is_table;
    size_t scratch_bytes;
    uint64_t specialization; /* the default of the only value; 0: has none */
};
extern const struct fixture_kernel_facts fixture_kernels[KERNEL_COUNT];

/* Costs by which a resident kernel is the best by far. */
struct vyre_sim_costs fixture_resident_costs(void);

/* Both descs may be NULL. */
void fixture_open(struct fixture *fixture, const struct vyre_sim_desc *sim_desc,
                  const struct vyre_device_desc *device_desc);

/* ... in an instance that is not the default one. */
void fixture_open_in(struct fixture *fixture, const struct vyre_sim_desc *sim_desc,
                     const struct vyre_device_desc *device_desc,
                     const struct vyre_instance_desc *instance_desc);

/* Closes what is open and asserts that the runtime kept the contract. */
void fixture_close(struct fixture *fixture);

void fixture_open_device(struct fixture *fixture); /* with its kernels */
void fixture_close_device(struct fixture *fixture);

struct vyre_buffer *fixture_buffer(struct fixture *fixture, size_t size_bytes);
struct vyre_batch *fixture_batch(struct fixture *fixture);

/* Adds a dispatch of `set` or `mix` over whole ranges. */
void fixture_set(struct fixture *fixture, struct vyre_batch *batch, struct vyre_range range,
                 uint32_t constant);
void fixture_mix(struct fixture *fixture, struct vyre_batch *batch, struct vyre_range in,
                 struct vyre_range out, uint32_t constant);

/* Adds `count` dispatches of `mix`, each on what the one before wrote, over two new buffers. */
void fixture_add_mixes(struct fixture *fixture, struct vyre_batch *batch, uint32_t count,
                       size_t size_bytes);

/* A batch of nothing else. */
struct vyre_batch *fixture_mixes(struct fixture *fixture, uint32_t count, size_t size_bytes);

/* Submits, which must succeed. */
struct vyre_ticket fixture_submit(struct fixture *fixture, struct vyre_batch *batch,
                                  enum vyre_mode mode);

/* Waits forever. */
enum vyre_status fixture_wait(struct fixture *fixture, struct vyre_ticket ticket);

struct vyre_batch_result fixture_result(struct fixture *fixture, struct vyre_ticket ticket);

/* The first word of a buffer, read by a batch of its own. */
enum vyre_status fixture_download(struct fixture *fixture, struct vyre_buffer *buffer,
                                  uint32_t *out_word);

#endif
