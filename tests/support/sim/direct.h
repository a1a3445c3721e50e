/*
 * direct.h: the sim driven by hand, without the runtime: the test is the host.
 *
 * Views and plans are built command by command from ranges of three buffers. The plan is the one
 * that a chain has; tests change it.
 */
#ifndef VYRE_TESTS_SUPPORT_SIM_DIRECT_H
#define VYRE_TESTS_SUPPORT_SIM_DIRECT_H

#include "support/sim/sim_backend.h"
#include "support/test.h"

enum {
    DIRECT_BUFFERS = 3,
    DIRECT_BUFFER_BYTES = 64,
    DIRECT_COMMANDS_MAX = 16,
    DIRECT_COMPLETIONS_MAX = 64,
};

struct direct {
    struct vyre_sim *sim;
    const struct vyre_backend_ops *ops;
    struct vyre_device_host host;
    struct vyre_device_facts facts;
    void *device;
    void *buffers[DIRECT_BUFFERS];
    unsigned char *bytes[DIRECT_BUFFERS];
    void *kernel;
    uint64_t sequence;
    struct vyre_completion completions[DIRECT_COMPLETIONS_MAX];
    uint64_t completed_ns[DIRECT_COMPLETIONS_MAX]; /* the device's clock in complete */
    size_t completion_count;
    size_t lost_count;
    const struct direct_batch *given; /* whose plan the sim may ask for */
};

struct direct_batch {
    struct vyre_command commands[DIRECT_COMMANDS_MAX];
    struct vyre_command_binding bindings[DIRECT_COMMANDS_MAX];
    struct vyre_bound_range ranges[2 * DIRECT_COMMANDS_MAX];
    struct vyre_host_buffer host_buffers[DIRECT_COMMANDS_MAX];
    struct vyre_plan_node nodes[DIRECT_COMMANDS_MAX];
    struct vyre_plan_segment segments[DIRECT_COMMANDS_MAX];
    uint32_t deps[DIRECT_COMMANDS_MAX];
    uint64_t words[VYRE_VIEW_WORDS];
    struct vyre_batch_view view;
    struct vyre_batch_plan plan;
};

static inline void *direct_allocate(void *user, size_t size_bytes, size_t alignment)
{
    (void)user;
    return aligned_alloc(alignment, (size_bytes + alignment - 1) / alignment * alignment);
}

static inline void direct_deallocate(void *user, void *memory, size_t size_bytes, size_t alignment)
{
    (void)user;
    (void)size_bytes;
    (void)alignment;
    free(memory);
}

static inline void direct_complete(void *context, const struct vyre_completion *completion)
{
    struct direct *direct = context;
    if (direct->completion_count == DIRECT_COMPLETIONS_MAX)
        return;
    direct->completed_ns[direct->completion_count] = direct->ops->now_ns(direct->device);
    direct->completions[direct->completion_count++] = *completion;
}

static inline void direct_lost(void *context, const struct vyre_diag *reason)
{
    (void)reason;
    ((struct direct *)context)->lost_count++;
}

static inline enum vyre_status direct_plan(void *context, const struct vyre_batch_view *view,
                                           struct vyre_batch_plan *out_plan, struct vyre_diag *diag)
{
    const struct direct *direct = context;
    *out_plan = (struct vyre_batch_plan){0};
    if (!direct->given || view != &direct->given->view)
        return vyre_diag_set(diag, VYRE_DIAG_PLAN_OVERFLOW, NULL, 0, "no such batch was given");
    *out_plan = direct->given->plan;
    return VYRE_OK;
}

static inline void direct_log(void *context, enum vyre_log_level level, const char *text)
{
    (void)context;
    (void)level;
    (void)text;
}

/* Adds 1 to every byte. */
static inline void direct_kernel(const struct vyre_host_group *group)
{
    unsigned char *bytes = group->buffers[0].data;
    for (size_t i = group->group_id[0]; i < group->buffers[0].size_bytes;
         i += group->group_count[0])
        bytes[i]++;
}

static inline void direct_open(struct direct *direct, const struct vyre_sim_desc *desc)
{
    *direct = (struct direct){.sim = vyre_sim_create(desc)};
    assert_non_null(direct->sim);
    direct->ops = vyre_sim_ops(direct->sim);
    direct->host = (struct vyre_device_host){
        .context = direct,
        .allocator = {.allocate = direct_allocate, .deallocate = direct_deallocate},
        .complete = direct_complete,
        .lost = direct_lost,
        .plan = direct_plan,
        .log = direct_log,
    };
    const struct vyre_device_desc device_desc = {
        .in_flight_limit = 1,
        .recording_limit = 1,
        .recording_bytes = 1,
        .batch_bytes_limit = 1,
        .hang_timeout_ns = 1000,
        .persistent_idle_ns = 1,
        .persistent_lease_ns = 1,
    };
    void *backend;
    assert_int_equal(direct->ops->create(direct->ops->user, NULL, &backend, NULL), VYRE_OK);
    assert_int_equal(direct->ops->device_open(backend, 0, &device_desc, &direct->host,
                                              &direct->device, &direct->facts, NULL),
                     VYRE_OK);
    const struct vyre_buffer_desc buffer_desc = {.size_bytes = DIRECT_BUFFER_BYTES};
    for (int i = 0; i < DIRECT_BUFFERS; i++) {
        void *address;
        assert_int_equal(direct->ops->buffer_create(direct->device, &buffer_desc,
                                                    &direct->buffers[i], &address, NULL),
                         VYRE_OK);
        direct->bytes[i] = address;
    }
    const struct vyre_payload payload = {.target = VYRE_TARGET_HOST, .function = direct_kernel};
    struct vyre_binding binding = {.role = VYRE_ROLE_INPUT_OUTPUT, .access = VYRE_ACCESS_READWRITE};
    const struct vyre_binding_plan plan = {.bindings = &binding, .binding_count = 1};
    const struct vyre_kernel_desc kernel_desc = {
        .label = "increment", .payloads = &payload, .payload_count = 1};
    assert_int_equal(
        direct->ops->kernel_create(direct->device, &kernel_desc, &plan, &direct->kernel, NULL),
        VYRE_OK);
}

static inline void direct_close(struct direct *direct)
{
    for (int i = 0; i < DIRECT_BUFFERS; i++)
        direct->ops->buffer_destroy(direct->device, direct->buffers[i]);
    direct->ops->kernel_destroy(direct->device, direct->kernel);
    assert_int_equal(vyre_sim_objects(direct->sim), 0);
    assert_true(direct->ops->quiesce(direct->device));
    direct->ops->device_close(direct->device);
    vyre_sim_destroy(&direct->sim);
}

/* ---- Batches ---------------------------------------------------------------------------------- */

static inline void direct_batch_begin(struct direct_batch *batch)
{
    memset(batch, 0, sizeof *batch);
    batch->view = (struct vyre_batch_view){.commands = batch->commands,
                                           .bindings = batch->bindings,
                                           .ranges = batch->ranges,
                                           .host_buffers = batch->host_buffers,
                                           .backend_words = batch->words};
    batch->plan = (struct vyre_batch_plan){
        .nodes = batch->nodes, .segments = batch->segments, .deps = batch->deps};
}

static inline void direct_batch_range(const struct direct *direct, struct direct_batch *batch,
                                      int buffer, enum vyre_access access)
{
    batch->ranges[batch->view.range_count++] =
        (struct vyre_bound_range){.buffer = direct->buffers[buffer],
                                  .identity = (uint64_t)buffer + 1,
                                  .size_bytes = DIRECT_BUFFER_BYTES,
                                  .access = access};
}

/* Adds a command whose ranges come next, in the plan as the next one of a chain. */
static inline struct vyre_command *direct_batch_add(struct direct_batch *batch,
                                                    enum vyre_command_type type,
                                                    uint32_t range_count)
{
    uint32_t index = batch->view.command_count++;
    assert_in_range(index, 0, DIRECT_COMMANDS_MAX - 1);
    batch->commands[index] = (struct vyre_command){
        .type = type, .first_range = batch->view.range_count, .range_count = range_count};
    batch->nodes[index] = (struct vyre_plan_node){
        .level = index, .first_dep = batch->plan.dep_count, .dep_count = index > 0};
    if (index > 0)
        batch->deps[batch->plan.dep_count++] = index - 1;
    batch->plan.node_count = batch->plan.level_count = index + 1;
    batch->plan.segment_count = 1;
    batch->segments[0] = (struct vyre_plan_segment){.command_count = index + 1, .arm_count = 1};
    return &batch->commands[index];
}

static inline void direct_batch_fill(const struct direct *direct, struct direct_batch *batch,
                                     int buffer, uint32_t word)
{
    direct_batch_add(batch, VYRE_COMMAND_FILL, 1)->fill_word = word;
    direct_batch_range(direct, batch, buffer, VYRE_ACCESS_WRITE);
}

static inline void direct_batch_copy(const struct direct *direct, struct direct_batch *batch,
                                     int from, int to)
{
    direct_batch_add(batch, VYRE_COMMAND_COPY, 2);
    direct_batch_range(direct, batch, from, VYRE_ACCESS_READ);
    direct_batch_range(direct, batch, to, VYRE_ACCESS_WRITE);
}

static inline void direct_batch_upload(const struct direct *direct, struct direct_batch *batch,
                                       int buffer, const void *bytes)
{
    direct_batch_add(batch, VYRE_COMMAND_UPLOAD, 1)->upload_bytes = bytes;
    direct_batch_range(direct, batch, buffer, VYRE_ACCESS_WRITE);
}

static inline void direct_batch_increment(const struct direct *direct, struct direct_batch *batch,
                                          int buffer, uint32_t groups)
{
    struct vyre_command *command = direct_batch_add(batch, VYRE_COMMAND_DISPATCH, 1);
    command->kernel = direct->kernel;
    command->groups[0] = groups;
    command->groups[1] = command->groups[2] = 1;
    command->binding_count = 1;
    command->first_binding = command->first_host_buffer = batch->view.binding_count;
    batch->bindings[batch->view.binding_count] = (struct vyre_command_binding){
        .kind = VYRE_BINDING_RANGE, .first_range = command->first_range, .range_count = 1};
    batch->host_buffers[batch->view.binding_count++] =
        (struct vyre_host_buffer){direct->bytes[buffer], DIRECT_BUFFER_BYTES};
    direct_batch_range(direct, batch, buffer, VYRE_ACCESS_READWRITE);
}

/* Says that no command waits for another: deps, levels and arms alike. */
static inline void direct_batch_untie(struct direct_batch *batch)
{
    for (uint32_t i = 0; i < batch->plan.node_count; i++)
        batch->nodes[i] = (struct vyre_plan_node){.arm = i};
    batch->plan.dep_count = 0;
    batch->plan.level_count = 1;
    batch->segments[0].arm_count = batch->plan.node_count;
}

static inline void *direct_record(struct direct *direct, const struct direct_batch *batch)
{
    void *recording;
    size_t size_bytes;
    direct->given = batch;
    assert_int_equal(
        direct->ops->record(direct->device, &batch->view, 0, &recording, &size_bytes, NULL),
        VYRE_OK);
    direct->given = NULL;
    return recording;
}

static inline enum vyre_status direct_submit(struct direct *direct, struct direct_batch *batch,
                                             enum vyre_mode mode, void *recording)
{
    const struct vyre_submission submission = {
        .sequence = direct->sequence + 1,
        .mode = mode,
        .view = &batch->view,
        .recording = recording,
        .timed = true,
    };
    direct->given = batch;
    enum vyre_status status = direct->ops->submit(direct->device, &submission, NULL);
    direct->given = NULL;
    direct->sequence += status == VYRE_OK;
    return status;
}

#endif
