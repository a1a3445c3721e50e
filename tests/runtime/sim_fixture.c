/*
 * sim_fixture.c: an instance with the sim, one device, and kernels.
 */
#include "runtime/sim_fixture.h"

static uint32_t constant_of(const struct vyre_host_group *group)
{
    uint32_t constant;
    memcpy(&constant, group->constants, sizeof constant);
    return constant;
}

static uint32_t *words_of(const struct vyre_host_group *group, uint32_t binding, size_t *out_count)
{
    *out_count = group->buffers[binding].size_bytes / 4;
    return group->buffers[binding].data;
}

static void mix(const struct vyre_host_group *group)
{
    size_t in_count, out_count;
    const uint32_t *in = words_of(group, 0, &in_count);
    uint32_t *out = words_of(group, 1, &out_count);
    uint32_t constant = constant_of(group) + (uint32_t)group->specialization[0];
    for (size_t i = group->group_id[0]; i < out_count; i += group->group_count[0])
        out[i] = out[i] * 31 + in[i % in_count] * 17 + constant;
}

static void set(const struct vyre_host_group *group)
{
    size_t count;
    uint32_t *out = words_of(group, 0, &count);
    for (size_t i = group->group_id[0]; i < count; i += group->group_count[0])
        out[i] = ((uint32_t)i + 1) * UINT32_C(2654435761) ^ constant_of(group);
}

static void add(const struct vyre_host_group *group)
{
    size_t a_count, b_count, out_count;
    const uint32_t *a = words_of(group, 0, &a_count);
    const uint32_t *b = words_of(group, 1, &b_count);
    uint32_t *out = words_of(group, 2, &out_count);
    for (size_t i = group->group_id[0]; i < out_count; i += group->group_count[0])
        out[i] = a[i % a_count] * 3 + b[i % b_count] * 5 + constant_of(group);
}

/* Looks at the first word of each table's member only: their sizes are not the kernel's to know. */
static void gather(const struct vyre_host_group *group)
{
    size_t count;
    void *const *table = group->buffers[0].data;
    size_t table_count = group->buffers[0].size_bytes / sizeof *table;
    uint32_t *out = words_of(group, 1, &count);
    for (size_t i = group->group_id[0]; i < count; i += group->group_count[0]) {
        out[i] = out[i] * 7 + constant_of(group);
        for (size_t k = 0; k < table_count; k++)
            out[i] += *(const uint32_t *)table[k] * ((uint32_t)k + 1);
    }
}

static void local(const struct vyre_host_group *group)
{
    size_t count, local_count;
    uint32_t *out = words_of(group, 0, &count);
    uint32_t *memory = words_of(group, 1, &local_count);
    uint32_t *scratch = group->scratch;
    *scratch = constant_of(group);
    for (size_t i = group->group_id[0]; i < count; i += group->group_count[0]) {
        memory[i % local_count] = out[i] * 13;
        out[i] = memory[i % local_count] + *scratch;
    }
}

const struct fixture_kernel_facts fixture_kernels[KERNEL_COUNT] = {
    [KERNEL_MIX] = {.label = "mix",
                    .function = mix,
                    .slots = {0, 5},
                    .roles = {VYRE_ROLE_INPUT, VYRE_ROLE_INPUT_OUTPUT},
                    .binding_count = 2,
                    .specialization = 99},
    [KERNEL_SET] = {.label = "set",
                    .function = set,
                    .slots = {2},
                    .roles = {VYRE_ROLE_OUTPUT},
                    .binding_count = 1},
    [KERNEL_ADD] = {.label = "add",
                    .function = add,
                    .slots = {1, 3, 9},
                    .roles = {VYRE_ROLE_INPUT, VYRE_ROLE_INPUT, VYRE_ROLE_OUTPUT},
                    .binding_count = 3},
    [KERNEL_GATHER] = {.label = "gather",
                       .function = gather,
                       .slots = {0, 4},
                       .roles = {VYRE_ROLE_INPUT, VYRE_ROLE_INPUT_OUTPUT},
                       .binding_count = 2,
                       .first_is_table = true},
    [KERNEL_LOCAL] = {.label = "local",
                      .function = local,
                      .slots = {0, 1},
                      .roles = {VYRE_ROLE_INPUT_OUTPUT, VYRE_ROLE_SHARED},
                      .binding_count = 2,
                      .scratch_bytes = 16},
};

struct vyre_sim_costs fixture_resident_costs(void)
{
    struct vyre_sim_costs costs = vyre_sim_costs_default();
    costs.group_ns = 10;
    costs.persistent_setup_ns = 1000;
    costs.persistent_round_trip_ns = 10;
    costs.persistent_item_ns = 1;
    costs.replay_ns = 900000;
    costs.submit_ns = 50000;
    return costs;
}

/* ---- Life ------------------------------------------------------------------------------------- */

#define assert_ok(fixture, call)                                                                \
    do {                                                                                        \
        enum vyre_status checked_call = (call);                                                 \
        if (checked_call != VYRE_OK)                                                            \
            fail_msg("%s: %s", vyre_diag_id_name((fixture)->diag.id), (fixture)->diag.message); \
    } while (0)

static void create_kernel(struct fixture *fixture, enum fixture_kernel which)
{
    const struct fixture_kernel_facts *facts = &fixture_kernels[which];
    static const enum vyre_scalar constants[] = {VYRE_SCALAR_U32};
    const struct vyre_payload payload = {.target = VYRE_TARGET_HOST, .function = facts->function};
    struct vyre_binding_desc bindings[KERNEL_BINDINGS_MAX] = {{0}};
    for (size_t i = 0; i < facts->binding_count; i++) {
        bindings[i] = (struct vyre_binding_desc){.slot = facts->slots[i],
                                                 .role = facts->roles[i],
                                                 .element_size_bytes = 4,
                                                 .table = i == 0 && facts->first_is_table};
    }
    const struct vyre_kernel_desc desc = {
        .label = facts->label,
        .payloads = &payload,
        .payload_count = 1,
        .bindings = bindings,
        .binding_count = facts->binding_count,
        .constants = constants,
        .constant_count = 1,
        .specialization_defaults = &facts->specialization,
        .specialization_count = facts->specialization != 0,
        .scratch_bytes = facts->scratch_bytes,
    };
    assert_ok(fixture,
              vyre_kernel_create(fixture->device, &desc, &fixture->kernels[which], &fixture->diag));
}

void fixture_open_device(struct fixture *fixture)
{
    assert_ok(fixture, vyre_device_open(fixture->instance, &fixture->device_desc, &fixture->device,
                                        &fixture->diag));
    for (int i = 0; i < KERNEL_COUNT; i++)
        create_kernel(fixture, (enum fixture_kernel)i);
}

void fixture_close_device(struct fixture *fixture)
{
    vyre_device_close(&fixture->device);
    memset(fixture->kernels, 0, sizeof fixture->kernels);
    assert_int_equal(vyre_sim_objects(fixture->sim), 0);
}

void fixture_open(struct fixture *fixture, const struct vyre_sim_desc *sim_desc,
                  const struct vyre_device_desc *device_desc)
{
    fixture_open_in(fixture, sim_desc, device_desc, NULL);
}

void fixture_open_in(struct fixture *fixture, const struct vyre_sim_desc *sim_desc,
                     const struct vyre_device_desc *device_desc,
                     const struct vyre_instance_desc *instance_desc)
{
    *fixture = (struct fixture){.sim = vyre_sim_create(sim_desc)};
    assert_non_null(fixture->sim);
    if (device_desc)
        fixture->device_desc = *device_desc;
    fixture->device_desc.backend = "sim";
    assert_ok(fixture, vyre_instance_create(instance_desc, &fixture->instance, &fixture->diag));
    assert_ok(fixture, vyre_instance_register_backend(fixture->instance, vyre_sim_ops(fixture->sim),
                                                      &fixture->diag));
    fixture_open_device(fixture);
}

void fixture_close(struct fixture *fixture)
{
    if (fixture->device)
        fixture_close_device(fixture);
    vyre_instance_destroy(&fixture->instance);
    assert_string_equal(vyre_sim_violation(fixture->sim), "");
    vyre_sim_destroy(&fixture->sim);
}

/* ---- Work ------------------------------------------------------------------------------------- */

struct vyre_buffer *fixture_buffer(struct fixture *fixture, size_t size_bytes)
{
    struct vyre_buffer *buffer;
    assert_ok(fixture, vyre_buffer_create(fixture->device,
                                          &(struct vyre_buffer_desc){.size_bytes = size_bytes},
                                          &buffer, &fixture->diag));
    return buffer;
}

struct vyre_batch *fixture_batch(struct fixture *fixture)
{
    struct vyre_batch *batch;
    assert_ok(fixture, vyre_batch_create(fixture->device, NULL, &batch, &fixture->diag));
    return batch;
}

void fixture_set(struct fixture *fixture, struct vyre_batch *batch, struct vyre_range range,
                 uint32_t constant)
{
    const struct vyre_slot_binding binding = {.slot = 2, .range = range};
    vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = fixture->kernels[KERNEL_SET],
                                                       .groups = {1, 1, 1},
                                                       .bindings = &binding,
                                                       .binding_count = 1,
                                                       .constants = &constant,
                                                       .constants_size_bytes = sizeof constant});
}

void fixture_mix(struct fixture *fixture, struct vyre_batch *batch, struct vyre_range in,
                 struct vyre_range out, uint32_t constant)
{
    const struct vyre_slot_binding bindings[] = {{.slot = 0, .range = in},
                                                 {.slot = 5, .range = out}};
    vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = fixture->kernels[KERNEL_MIX],
                                                       .groups = {1, 1, 1},
                                                       .bindings = bindings,
                                                       .binding_count = 2,
                                                       .constants = &constant,
                                                       .constants_size_bytes = sizeof constant});
}

void fixture_add_mixes(struct fixture *fixture, struct vyre_batch *batch, uint32_t count,
                       size_t size_bytes)
{
    const struct vyre_range in = {.buffer = fixture_buffer(fixture, size_bytes)};
    const struct vyre_range out = {.buffer = fixture_buffer(fixture, size_bytes)};
    for (uint32_t i = 0; i < count; i++)
        fixture_mix(fixture, batch, in, out, i);
}

struct vyre_batch *fixture_mixes(struct fixture *fixture, uint32_t count, size_t size_bytes)
{
    struct vyre_batch *batch = fixture_batch(fixture);
    fixture_add_mixes(fixture, batch, count, size_bytes);
    return batch;
}

struct vyre_ticket fixture_submit(struct fixture *fixture, struct vyre_batch *batch,
                                  enum vyre_mode mode)
{
    struct vyre_ticket ticket;
    assert_ok(fixture, vyre_batch_submit(batch, &(struct vyre_submit_options){.mode = mode},
                                         &ticket, &fixture->diag));
    return ticket;
}

enum vyre_status fixture_wait(struct fixture *fixture, struct vyre_ticket ticket)
{
    return vyre_ticket_wait(fixture->device, ticket, VYRE_FOREVER, &fixture->diag);
}

struct vyre_batch_result fixture_result(struct fixture *fixture, struct vyre_ticket ticket)
{
    struct vyre_batch_result result;
    assert_ok(fixture, vyre_ticket_result(fixture->device, ticket, &result, &fixture->diag));
    return result;
}

enum vyre_status fixture_download(struct fixture *fixture, struct vyre_buffer *buffer,
                                  uint32_t *out_word)
{
    struct vyre_batch *batch = fixture_batch(fixture);
    vyre_batch_download(batch, (struct vyre_range){buffer, 0, sizeof *out_word}, out_word);
    enum vyre_status status =
        fixture_wait(fixture, fixture_submit(fixture, batch, VYRE_MODE_PLAIN));
    vyre_batch_destroy(&batch);
    return status;
}
