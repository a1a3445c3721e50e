/*
 * session.c: devices, kernels, buffers and submits.
 */
#include "kernels/session.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/print.h"
#include "support/load_backend.h"

static bool broken(struct outcome *outcome, const char *what, const struct vyre_diag *diag)
{
    char text[560];
    vyre_diag_format(diag, text, sizeof text);
    outcome->verdict = VERDICT_BROKEN;
    snprintf(outcome->text, sizeof outcome->text, "%s: %s", what, text);
    return false;
}

/* ---- Opening ---------------------------------------------------------------------------------- */

static enum vyre_status open_device(const struct host *host, struct vyre_device **out_device,
                                    struct vyre_diag *diag)
{
    struct vyre_device_desc desc = {
        .backend = host->backend,
        .name = host->target->device,
        .no_proof = host->target->no_proof,
        .hang_timeout_ns = UINT64_C(60000000000), /* a busy machine is no fault */
    };
    return vyre_device_open(host->instance, &desc, out_device, diag);
}

bool host_init(struct host *host, const struct target *target, struct outcome *out_outcome)
{
    const struct vyre_backend_ops *ops = NULL;
    struct vyre_diag diag = {0};
    *host = (struct host){.target = target, .backend = target->backend};
    if (target->library) {
        ops = test_load_backend(target->library, TEST_BACKEND_SYMBOL);
        if (!ops) {
            out_outcome->verdict = VERDICT_NO_DEVICE;
            snprintf(out_outcome->text, sizeof out_outcome->text, "%s cannot be loaded",
                     target->library);
            return false;
        }
        host->backend = ops->name;
    }
    enum vyre_status status = vyre_instance_create(NULL, &host->instance, &diag);
    if (status == VYRE_OK && ops)
        status = vyre_instance_register_backend(host->instance, ops, &diag);
    return status == VYRE_OK || broken(out_outcome, "instance", &diag);
}

void host_deinit(struct host *host)
{
    vyre_instance_destroy(&host->instance);
}

/* ---- Kernels ---------------------------------------------------------------------------------- */

static enum vyre_scalar scalar_of(enum base base)
{
    return base == BASE_INT    ? VYRE_SCALAR_I32
           : base == BASE_UINT ? VYRE_SCALAR_U32
                               : VYRE_SCALAR_U64;
}

/* Pointers are bindings in the order of slots, all else is a constant. */
static void describe(const struct program *program, uint32_t number,
                     struct vyre_binding_desc *bindings, enum vyre_scalar *constants,
                     struct vyre_kernel_desc *desc)
{
    const struct function *function = &program->tree.functions[number];
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        const struct variable *parameter = &program->tree.variables[function->parameters[i]];
        if (!parameter->is_pointer) {
            constants[desc->constant_count++] = scalar_of(parameter->type.base);
            continue;
        }
        struct vyre_binding_desc *binding = &bindings[desc->binding_count];
        *binding = (struct vyre_binding_desc){.slot = (uint32_t)desc->binding_count};
        if (parameter->space == SPACE_LOCAL)
            binding->role = VYRE_ROLE_SHARED;
        else
            binding->access = parameter->is_constant ? VYRE_ACCESS_READ : VYRE_ACCESS_READWRITE;
        desc->binding_count++;
    }
    desc->bindings = bindings;
    desc->constants = constants;
    memcpy(desc->local_size, function->local_size, sizeof desc->local_size);
}

static bool create_kernel(struct session *session, uint32_t number, const struct text *source,
                          struct vyre_kernel **out_kernel, struct outcome *out_outcome)
{
    static const char *const names[SPECIALIZED_MAX] = {"SPEC_0", "SPEC_1"};
    const struct program *program = session->program;
    struct vyre_binding_desc bindings[PARAMETERS_MAX];
    enum vyre_scalar constants[PARAMETERS_MAX];
    char name[16];
    print_kernel_name(number, name);
    struct vyre_payload payload = {.target = VYRE_TARGET_OPENCL_C,
                                   .entry = name,
                                   .bytes = source->bytes,
                                   .size_bytes = source->size_bytes};
    struct vyre_kernel_desc desc = {.label = name,
                                    .payloads = &payload,
                                    .payload_count = 1,
                                    .specialization_defaults = program->specialized,
                                    .specialization_names = names,
                                    .specialization_count = program->tree.specialized_count};
    describe(program, number, bindings, constants, &desc);
    struct vyre_diag diag = {0};
    enum vyre_status status = vyre_kernel_create(session->device, &desc, out_kernel, &diag);
    return status == VYRE_OK || broken(out_outcome, "vyre_kernel_create", &diag);
}

static bool create_kernels(struct session *session, bool fault, struct outcome *out_outcome)
{
    const struct tree *tree = &session->program->tree;
    struct text source = {0};
    bool created = true;
    print_tree(tree, &dialect_opencl, fault, &source);
    for (uint32_t i = 0; i < tree->function_count && created; i++)
        if (tree->functions[i].is_kernel && !tree->functions[i].dropped)
            created =
                create_kernel(session, i, &source,
                              fault ? &session->faulty[i] : &session->kernels[i], out_outcome);
    free(source.bytes);
    return created;
}

/* ---- Sessions --------------------------------------------------------------------------------- */

bool session_init(struct session *session, struct host *host, const struct program *program,
                  struct outcome *out_outcome)
{
    struct vyre_diag diag = {0};
    struct vyre_device_limits limits;
    *session = (struct session){.target = host->target, .program = program};
    enum vyre_status status = open_device(host, &session->device, &diag);
    if (status != VYRE_OK) {
        broken(out_outcome, "vyre_device_open", &diag);
        if (status == VYRE_NOT_FOUND)
            out_outcome->verdict = VERDICT_NO_DEVICE;
        return false;
    }
    vyre_device_get_limits(session->device, &limits);
    if (limits.range_alignment > RANGE_ALIGNMENT) {
        out_outcome->verdict = VERDICT_NO_DEVICE;
        snprintf(out_outcome->text, sizeof out_outcome->text, "ranges must be aligned to %u bytes",
                 limits.range_alignment);
        return false;
    }
    for (uint32_t i = 0; i < program->buffer_count; i++) {
        struct vyre_buffer_desc desc = {.size_bytes = program->buffer_bytes[i]};
        if (vyre_buffer_create(session->device, &desc, &session->buffers[i], &diag) != VYRE_OK)
            return broken(out_outcome, "vyre_buffer_create", &diag);
    }
    const struct target *target = host->target;
    if (target->fault && target->modes == 1u << target->fault_mode)
        return true; /* only the wrong ones are needed */
    return create_kernels(session, false, out_outcome);
}

void session_deinit(struct session *session)
{
    vyre_device_close(&session->device);
}

bool session_has_mode(const struct session *session, enum vyre_mode mode,
                      struct outcome *out_outcome)
{
    struct vyre_ability ability = {.value = 1};
    if (mode == VYRE_MODE_REPLAY)
        vyre_device_get_ability(session->device, VYRE_ABILITY_REPLAY, &ability);
    if (mode == VYRE_MODE_PERSISTENT)
        vyre_device_get_ability(session->device, VYRE_ABILITY_PERSISTENT, &ability);
    if (ability.value != 0)
        return true;
    out_outcome->verdict = VERDICT_ABSENT;
    snprintf(out_outcome->text, sizeof out_outcome->text, "%s", ability.reason);
    return false;
}

/* ---- Running ---------------------------------------------------------------------------------- */

static bool write_buffers(struct session *session, unsigned char *bytes,
                          struct outcome *out_outcome)
{
    const struct program *program = session->program;
    struct vyre_diag diag = {0};
    program_fill(program, bytes);
    for (uint32_t i = 0; i < program->buffer_count; i++)
        if (vyre_buffer_write(session->buffers[i], 0, bytes + program_buffer_at(program, i),
                              program->buffer_bytes[i], &diag) != VYRE_OK)
            return broken(out_outcome, "vyre_buffer_write", &diag);
    return true;
}

static bool read_buffers(struct session *session, unsigned char *bytes, struct outcome *out_outcome)
{
    const struct program *program = session->program;
    struct vyre_diag diag = {0};
    for (uint32_t i = 0; i < program->buffer_count; i++)
        if (vyre_buffer_read(session->buffers[i], 0, bytes + program_buffer_at(program, i),
                             program->buffer_bytes[i], &diag) != VYRE_OK)
            return broken(out_outcome, "vyre_buffer_read", &diag);
    return true;
}

static void add_dispatch(struct session *session, struct vyre_batch *batch,
                         struct vyre_kernel *kernel, const struct dispatch *dispatch)
{
    const struct tree *tree = &session->program->tree;
    const struct function *function = &tree->functions[dispatch->kernel];
    struct vyre_slot_binding bindings[PARAMETERS_MAX];
    _Alignas(8) unsigned char constants[VYRE_CONSTANTS_BYTES_MAX] = {0};
    uint32_t binding_count = 0;
    uint32_t size = 0;
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        const struct variable *parameter = &tree->variables[function->parameters[i]];
        const struct area *area = &dispatch->areas[i];
        if (!parameter->is_pointer) {
            uint32_t bytes = type_bytes(tree, parameter->type);
            size = (size + bytes - 1) / bytes * bytes;
            memcpy(constants + size, &dispatch->scalars[i], bytes); /* little-endian, as devices */
            size += bytes;
            continue;
        }
        struct vyre_slot_binding *binding = &bindings[binding_count];
        *binding = (struct vyre_slot_binding){.slot = binding_count++};
        if (parameter->space == SPACE_LOCAL)
            binding->local_bytes = area->size_bytes;
        else
            binding->range = (struct vyre_range){session->buffers[area->buffer], area->offset_bytes,
                                                 area->size_bytes};
    }
    /* As a C struct of these members has it. */
    uint32_t constants_size = vyre_kernel_constants_size(kernel);
    struct vyre_dispatch command = {
        .kernel = kernel,
        .groups = {dispatch->groups[0], dispatch->groups[1], dispatch->groups[2]},
        .bindings = bindings,
        .binding_count = binding_count,
        .constants = constants_size == 0 ? NULL : constants,
        .constants_size_bytes = constants_size,
        .specialization = dispatch->specialized,
        .specialization_count = tree->specialized_count,
    };
    if (tree->specialized_count == 0)
        command.specialization = NULL;
    vyre_batch_dispatch(batch, &command);
}

static struct vyre_batch *build_batch(struct session *session, const struct batch *plan,
                                      bool faulty, struct outcome *out_outcome)
{
    struct vyre_diag diag = {0};
    struct vyre_batch *batch = NULL;
    if (vyre_batch_create(session->device, NULL, &batch, &diag) != VYRE_OK) {
        broken(out_outcome, "vyre_batch_create", &diag);
        return NULL;
    }
    for (uint32_t i = 0; i < plan->dispatch_count; i++) {
        const struct dispatch *dispatch = &plan->dispatches[i];
        if (!dispatch->dropped)
            add_dispatch(session, batch,
                         faulty ? session->faulty[dispatch->kernel]
                                : session->kernels[dispatch->kernel],
                         dispatch);
    }
    if (vyre_batch_status(batch, &diag) != VYRE_OK) {
        broken(out_outcome, "building a batch", &diag);
        vyre_batch_destroy(&batch);
    }
    return batch;
}

/* One submit; when the mode refuses the batch, in plain mode. */
static bool submit(struct session *session, struct vyre_batch *batch, enum vyre_mode mode,
                   struct outcome *out_outcome)
{
    struct vyre_submit_options options = {.mode = mode, .repeat_hint = 1000};
    struct vyre_diag diag = {0};
    struct vyre_ticket ticket;
    enum vyre_status status = vyre_batch_submit(batch, &options, &ticket, &diag);
    if (status == VYRE_UNSUPPORTED && diag.id == VYRE_DIAG_SUBMIT_MODE) {
        if (out_outcome->verdict != VERDICT_REFUSED)
            snprintf(out_outcome->text, sizeof out_outcome->text, "%s", diag.message);
        out_outcome->verdict = VERDICT_REFUSED;
        options.mode = VYRE_MODE_PLAIN;
        status = vyre_batch_submit(batch, &options, &ticket, &diag);
    } else {
        out_outcome->batches++;
    }
    if (status != VYRE_OK)
        return broken(out_outcome, "vyre_batch_submit", &diag);
    if (vyre_ticket_wait(session->device, ticket, VYRE_FOREVER, &diag) != VYRE_OK)
        return broken(out_outcome, "vyre_ticket_wait", &diag);
    struct vyre_batch_result result;
    if (vyre_ticket_result(session->device, ticket, &result, &diag) == VYRE_OK)
        out_outcome->by_mode[result.mode]++;
    return true;
}

bool session_run(struct session *session, enum vyre_mode mode, unsigned char *bytes,
                 struct outcome *out_outcome)
{
    const struct program *program = session->program;
    bool faulty = session->target->fault && session->target->fault_mode == mode;
    bool ran = write_buffers(session, bytes, out_outcome);
    if (ran && faulty)
        ran = create_kernels(session, true, out_outcome);
    for (uint32_t b = 0; b < program->batch_count && ran; b++) {
        struct vyre_batch *batch = build_batch(session, &program->batches[b], faulty, out_outcome);
        ran = batch != NULL;
        for (uint32_t i = 0; i < program->batches[b].repeats && ran; i++)
            ran = submit(session, batch, mode, out_outcome);
        vyre_batch_destroy(&batch);
    }
    return ran && read_buffers(session, bytes, out_outcome);
}
