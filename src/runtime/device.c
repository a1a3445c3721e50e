/*
 * device.c: opening and closing devices, and questions about them.
 */
#include <string.h>
#include <strings.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/memory.h"
#include "runtime/emit.h"

#define DEFAULT_IN_FLIGHT       256
#define MAX_IN_FLIGHT           65536
#define DEFAULT_RECORDINGS      128
#define MAX_RECORDINGS          65536
#define DEFAULT_RECORDING_BYTES ((size_t)64 << 20)
#define DEFAULT_BATCH_BYTES     ((size_t)256 << 20)
#define DEFAULT_HANG_NS         UINT64_C(10000000000)
#define DEFAULT_IDLE_NS         UINT64_C(2000000)
#define DEFAULT_LEASE_NS        UINT64_C(1000000000)
#define DEFAULT_STAGING_BYTES   ((uint64_t)16 << 20)
#define DEFAULT_PROOF_BYTES     ((uint64_t)32 << 20)
#define DEFAULT_PROOF_NS        UINT64_C(1000000000)
#define RESULTS_KEPT_AT_LEAST   1024
#define ENUMERATED_DEVICES_MAX  64

/* ---- Choosing --------------------------------------------------------------------------------- */

static bool name_matches(const char *name, const char *part)
{
    return !part || strcasestr(name, part) != NULL;
}

static bool uuid_matches(const uint8_t *uuid, const uint8_t *wanted)
{
    return !wanted || memcmp(uuid, wanted, VYRE_UUID_BYTES) == 0;
}

/* Finds the device that a desc describes: the backend and the index within it. */
static enum vyre_status choose(struct vyre_instance *instance, const struct vyre_device_desc *desc,
                               size_t *out_backend, uint32_t *out_index, struct vyre_diag *diag)
{
    uint32_t skip = desc->index;
    bool backend_known = !desc->backend;
    for (size_t b = 0; b < instance->backend_count; b++) {
        struct vyre_instance_backend *backend = &instance->backends[b];
        if (desc->backend && strcmp(desc->backend, backend->ops->name) != 0)
            continue;
        backend_known = true;
        struct vyre_device_info infos[ENUMERATED_DEVICES_MAX];
        struct vyre_diag reason = backend->absent;
        size_t count = 0;
        bool there = reason.id == VYRE_DIAG_NONE &&
                     backend->ops->enumerate(backend->state, infos, ENUMERATED_DEVICES_MAX, &count,
                                             &reason) == VYRE_OK;
        if (!there && desc->backend)
            return vyre_diag_set(diag, VYRE_DIAG_BACKEND_ABSENT, desc->backend, reason.native_code,
                                 "%s", reason.message);
        for (uint32_t i = 0; there && i < count && i < ENUMERATED_DEVICES_MAX; i++) {
            bool fits = name_matches(infos[i].name, desc->name) &&
                        uuid_matches(infos[i].uuid, desc->uuid) &&
                        (desc->kind == VYRE_DEVICE_KIND_ANY || desc->kind == infos[i].kind);
            if (fits && skip-- == 0) {
                *out_backend = b;
                *out_index = i;
                return VYRE_OK;
            }
        }
    }
    if (!backend_known)
        return vyre_diag_set(diag, VYRE_DIAG_BACKEND_UNKNOWN, desc->backend, 0,
                             "there is no backend named %s", desc->backend);
    return vyre_diag_set(diag, VYRE_DIAG_DEVICE_UNKNOWN, NULL, 0,
                         "no device number %u with name %s and kind %s", desc->index,
                         desc->name ? desc->name : "any", vyre_device_kind_name(desc->kind));
}

/* Puts the runtime's defaults where the desc has zeros. */
static enum vyre_status resolve_desc(const struct vyre_device_desc *given,
                                     struct vyre_device_desc *out_desc, struct vyre_diag *diag)
{
    struct vyre_device_desc desc = given ? *given : (struct vyre_device_desc){0};
    desc.in_flight_limit = desc.in_flight_limit ? desc.in_flight_limit : DEFAULT_IN_FLIGHT;
    desc.recording_limit = desc.recording_limit ? desc.recording_limit : DEFAULT_RECORDINGS;
    desc.recording_bytes = desc.recording_bytes ? desc.recording_bytes : DEFAULT_RECORDING_BYTES;
    desc.batch_bytes_limit = desc.batch_bytes_limit ? desc.batch_bytes_limit : DEFAULT_BATCH_BYTES;
    desc.hang_timeout_ns = desc.hang_timeout_ns ? desc.hang_timeout_ns : DEFAULT_HANG_NS;
    desc.persistent_idle_ns = desc.persistent_idle_ns ? desc.persistent_idle_ns : DEFAULT_IDLE_NS;
    desc.persistent_lease_ns =
        desc.persistent_lease_ns ? desc.persistent_lease_ns : DEFAULT_LEASE_NS;
    desc.shape_limit = desc.shape_limit ? desc.shape_limit : VYRE_SHAPES_DEFAULT;
    desc.explore_bps = desc.explore_bps ? desc.explore_bps : VYRE_GOVERNOR_EXPLORE_DEFAULT;
    desc.staging_bytes = desc.staging_bytes ? desc.staging_bytes : DEFAULT_STAGING_BYTES;
    desc.proof_bytes = desc.proof_bytes ? desc.proof_bytes : DEFAULT_PROOF_BYTES;
    desc.proof_ns = desc.proof_ns ? desc.proof_ns : DEFAULT_PROOF_NS;
    *out_desc = desc;
    if (desc.in_flight_limit > MAX_IN_FLIGHT || desc.recording_limit > MAX_RECORDINGS)
        return vyre_diag_set(diag, VYRE_DIAG_ARGUMENT_RANGE, desc.label, 0,
                             "in_flight_limit %u and recording_limit %u must be at most %d",
                             desc.in_flight_limit, desc.recording_limit, MAX_IN_FLIGHT);
    return VYRE_OK;
}

/* ---- Open and close --------------------------------------------------------------------------- */

static enum vyre_status host_plan(void *context, const struct vyre_batch_view *view,
                                  struct vyre_batch_plan *out_plan, struct vyre_diag *diag)
{
    struct vyre_device *device = context;
    /* A body begins with its view. */
    return vyre_body_plan((struct vyre_body *)(uintptr_t)view, &device->planner, out_plan, diag);
}

static void host_log(void *context, enum vyre_log_level level, const char *text)
{
    const struct vyre_device *device = context;
    if (device->instance->log)
        device->instance->log(device->instance->log_user, level, text);
}

static void free_tables(struct vyre_device *device)
{
    vyre_emit_free(device);
    vyre_recordings_deinit(&device->recordings);
    vyre_shapes_deinit(&device->shapes);
    vyre_proofs_deinit(&device->proving.proofs, &device->allocator);
    vyre_decisions_destroy(&device->decisions);
    vyre_batch_planner_deinit(&device->planner);
    vyre_memory_free(&device->allocator, device->results.entries,
                     (device->results.mask + 1) * sizeof *device->results.entries,
                     _Alignof(struct vyre_result_entry));
    device->results.entries = NULL;
}

/* What the device needs besides the backend. */
static enum vyre_status allocate_tables(struct vyre_device *device, struct vyre_diag *diag)
{
    size_t kept = RESULTS_KEPT_AT_LEAST;
    while (kept < (size_t)device->desc.in_flight_limit * 2)
        kept *= 2;
    device->results.mask = kept - 1;
    device->results.entries =
        vyre_memory_allocate(&device->allocator, kept * sizeof *device->results.entries,
                             _Alignof(struct vyre_result_entry));
    vyre_batch_planner_init(&device->planner, &device->allocator);
    vyre_measure_init(&device->measure);
    vyre_builds_init(&device->builds, device->facts.costs.build_ns);
    vyre_candidates_init(&device->candidates, &device->facts);
    vyre_candidates_price(&device->candidates, &device->facts, &device->costs.calibration);
    enum vyre_status shapes =
        vyre_shapes_init(&device->shapes, &device->allocator, device->desc.shape_limit,
                         device->instance->observer.event != NULL);
    vyre_governor_init(&device->governor, &device->shapes,
                       device->desc.no_exploration ? 0 : device->desc.explore_bps);
    enum vyre_status recordings =
        vyre_recordings_init(&device->recordings, &device->allocator, device->desc.recording_limit,
                             device->desc.recording_bytes, device->desc.in_flight_limit,
                             device->ops->recording_destroy, device->native);
    const struct vyre_decisions_options kept_decisions = {.record_limit =
                                                              device->desc.decision_limit};
    enum vyre_status decisions = VYRE_OK;
    if (!device->desc.no_decisions)
        decisions = vyre_decisions_create(&kept_decisions, &device->allocator, &device->decisions);
    if (device->results.entries && shapes == VYRE_OK && recordings == VYRE_OK &&
        decisions == VYRE_OK)
        return VYRE_OK;
    free_tables(device);
    return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, device->label, 0,
                         "the tables of a device do not fit in memory");
}

static void free_device(struct vyre_device *device)
{
    struct vyre_allocator allocator = device->allocator;
    vyre_memory_free(&allocator, device, sizeof *device, _Alignof(struct vyre_device));
}

/*
 * Checks that the backend has the functions that its facts imply: to build, and to prove generated
 * code.
 */
static enum vyre_status check_entries(const struct vyre_device *device, struct vyre_diag *diag)
{
    const struct vyre_backend_ops *ops = device->ops;
    enum vyre_status status = VYRE_OK;
    if (device->facts.generated_modes != 0 &&
        !(ops->generated && ops->buffer_read && ops->buffer_write)) {
        status = vyre_diag_set(
            diag, VYRE_DIAG_BACKEND_ABI, ops->name, 0,
            "the backend generates code, but its table lacks generated, buffer_read or "
            "buffer_write");
        vyre_diag_set_fix(diag, "Fill these in, or set generated_modes to 0.");
    } else if (device->facts.built_modes != 0 &&
               !(ops->build_begin && ops->build_run && ops->build_end)) {
        status = vyre_diag_set(diag, VYRE_DIAG_BACKEND_ABI, ops->name, 0,
                               "the backend builds, but its table lacks build_begin, build_run or "
                               "build_end");
        vyre_diag_set_fix(diag, "Fill these in, or set built_modes to 0.");
    } else if (device->facts.built_modes >> VYRE_MODE_PLAIN & 1u) {
        status = vyre_diag_set(diag, VYRE_DIAG_BACKEND_ABI, ops->name, 0,
                               "plain mode needs no build: it is what runs meanwhile");
        vyre_diag_set_fix(diag, "Clear the bit of plain mode in built_modes.");
    }
    return status;
}

static enum vyre_status open_native(struct vyre_device *device,
                                    const struct vyre_instance_backend *backend, uint32_t index,
                                    struct vyre_diag *diag)
{
    device->host = (struct vyre_device_host){
        .context = device,
        .allocator = device->allocator,
        .complete = vyre_device_on_complete,
        .lost = vyre_device_on_lost,
        .plan = host_plan,
        .log = host_log,
    };
    enum vyre_status status = device->ops->device_open(
        backend->state, index, &device->desc, &device->host, &device->native, &device->facts, diag);
    if (status != VYRE_OK)
        return status;
    device->facts.info.backend = device->ops->name;
    device->facts.info.index = index;
    if (device->facts.limits.bindings > VYRE_KERNEL_BINDINGS_MAX)
        device->facts.limits.bindings = VYRE_KERNEL_BINDINGS_MAX;
    vyre_label_copy(device->label,
                    device->desc.label ? device->desc.label : device->facts.info.name);
    device->desc.label = device->label;
    device->desc.backend = device->ops->name;
    device->desc.uuid = device->facts.info.uuid;
    device->desc.spirv_tools_path = NULL; /* the caller's: not kept */
    if (device->desc.memory_limit_bytes &&
        device->desc.memory_limit_bytes < device->facts.limits.memory_bytes)
        device->facts.limits.memory_bytes = device->desc.memory_limit_bytes;
    device->desc.memory_limit_bytes = device->facts.limits.memory_bytes;
    if (device->desc.cpu_workers == 0)
        device->desc.cpu_workers = device->facts.cpu_workers;
    status = check_entries(device, diag);
    if (status == VYRE_OK)
        status = allocate_tables(device, diag);
    if (status == VYRE_OK) {
        status = vyre_emit_open(device, diag);
        if (status != VYRE_OK)
            free_tables(device);
    }
    if (status != VYRE_OK) {
        if (device->ops->quiesce)
            (void)device->ops->quiesce(device->native);
        device->ops->device_close(device->native);
    }
    return status;
}

enum vyre_status vyre_device_open(struct vyre_instance *instance,
                                  const struct vyre_device_desc *desc,
                                  struct vyre_device **out_device, struct vyre_diag *diag)
{
    *out_device = NULL;
    struct vyre_device_desc resolved;
    size_t backend_index = 0;
    uint32_t index = 0;
    enum vyre_status status = resolve_desc(desc, &resolved, diag);
    if (status == VYRE_OK)
        status = choose(instance, &resolved, &backend_index, &index, diag);
    if (status != VYRE_OK)
        return status;

    const struct vyre_instance_backend *backend = &instance->backends[backend_index];
    struct vyre_device *device =
        vyre_memory_allocate(&instance->allocator, sizeof *device, _Alignof(struct vyre_device));
    if (!device)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, resolved.label, 0,
                             "a device takes %zu bytes", sizeof *device);
    device->instance = instance;
    device->allocator = instance->allocator;
    device->ops = backend->ops;
    device->desc = resolved;
    device->workers_asked = resolved.cpu_workers;
    device->identity = vyre_instance_new_identity(instance);
    device->objects.epoch = 1;
    status = open_native(device, backend, index, diag);
    if (status != VYRE_OK) {
        free_device(device);
        return status;
    }
    *out_device = device;
    return VYRE_OK;
}

/* Frees the structs of freed buffers and kernels, which are kept for reuse. */
static void free_spares(struct vyre_device *device)
{
    while (device->objects.spare_buffers) {
        struct vyre_object *object = device->objects.spare_buffers;
        device->objects.spare_buffers = object->next;
        vyre_memory_free(&device->allocator, object, sizeof(struct vyre_buffer),
                         _Alignof(struct vyre_buffer));
    }
    while (device->objects.spare_kernels) {
        struct vyre_object *object = device->objects.spare_kernels;
        device->objects.spare_kernels = object->next;
        vyre_memory_free(&device->allocator, object, sizeof(struct vyre_kernel),
                         _Alignof(struct vyre_kernel));
    }
}

void vyre_device_close(struct vyre_device **device)
{
    if (!device || !*device)
        return;
    struct vyre_device *closing = *device;
    *device = NULL;
    /* A failed batch is reported to its waiter. Closing only needs the work to have ended. */
    enum vyre_status idle = vyre_device_wait_idle(closing, VYRE_FOREVER, NULL);
    (void)idle;
    vyre_builds_stop(closing);
    bool quiet = !closing->ops->quiesce || closing->ops->quiesce(closing->native);
    vyre_emit_close(closing);
    if (!quiet)
        return; /* a kernel still runs and may touch anything, so nothing is freed */

    vyre_lock_acquire(&closing->lock);
    /* Nothing runs any more. On a lost device the sequence does not show that. */
    atomic_store_explicit(&closing->progress.completed, UINT64_MAX, memory_order_release);
    while (closing->objects.living)
        vyre_object_bury_locked(closing->objects.living);
    vyre_device_reclaim_locked(closing);
    vyre_lock_release(&closing->lock);
    free_spares(closing);
    vyre_memory_free(&closing->allocator, closing->loss.left_behind,
                     closing->loss.left_behind_bytes, VYRE_CACHE_LINE_BYTES);
    free_tables(closing);
    closing->ops->device_close(closing->native);
    free_device(closing);
}

/* ---- Questions -------------------------------------------------------------------------------- */

void vyre_device_get_desc(const struct vyre_device *device, struct vyre_device_desc *out_desc)
{
    *out_desc = device->desc;
}

void vyre_device_get_info(const struct vyre_device *device, struct vyre_device_info *out_info)
{
    *out_info = device->facts.info;
}

void vyre_device_get_limits(const struct vyre_device *device, struct vyre_device_limits *out_limits)
{
    *out_limits = device->facts.limits;
}

void vyre_device_get_ability(const struct vyre_device *device, enum vyre_ability_id ability,
                             struct vyre_ability *out_ability)
{
    memset(out_ability, 0, sizeof *out_ability);
    if ((unsigned)ability < VYRE_ABILITY_COUNT)
        *out_ability = device->facts.abilities[ability];
}

size_t vyre_device_features(const struct vyre_device *device, struct vyre_feature *out_features,
                            size_t capacity)
{
    size_t count = device->facts.feature_count;
    for (size_t i = 0; i < count && i < capacity; i++)
        out_features[i] = device->facts.features[i];
    return count;
}

void vyre_device_get_memory(struct vyre_device *device, struct vyre_device_memory *out_memory)
{
    memset(out_memory, 0, sizeof *out_memory);
    if (!device->ops->memory_info)
        return;
    vyre_lock_acquire(&device->lock);
    device->ops->memory_info(device->native, out_memory);
    vyre_lock_release(&device->lock);
}

uint64_t vyre_clock_ns(void)
{
    return vyre_clock_now_ns();
}

size_t vyre_device_read_decisions(struct vyre_device *device, uint64_t from_sequence,
                                  struct vyre_decision_record *out_records, size_t capacity)
{
    if (!device->decisions)
        return 0;
    /* Batches that ended since the last submit have their times now. */
    vyre_lock_acquire(&device->lock);
    vyre_measure_collect_locked(device);
    vyre_lock_release(&device->lock);
    return vyre_decisions_read(device->decisions, from_sequence, out_records, capacity);
}

void vyre_device_count_decisions(struct vyre_device *device,
                                 struct vyre_decision_counters *out_counters)
{
    memset(out_counters, 0, sizeof *out_counters);
    if (device->decisions)
        vyre_decisions_count(device->decisions, out_counters);
}

void vyre_device_get_metrics(struct vyre_device *device, struct vyre_metrics *out_metrics)
{
    *out_metrics = (struct vyre_metrics){
        .size_bytes = sizeof *out_metrics,
        .info = device->facts.info,
        .label = device->label,
    };
    vyre_device_get_counters(device, &out_metrics->counters);
    vyre_device_count_decisions(device, &out_metrics->decisions);
    vyre_device_get_memory(device, &out_metrics->memory);
    vyre_device_count_proofs(device, &out_metrics->proofs);
}

void vyre_device_get_counters(struct vyre_device *device, struct vyre_device_counters *out_counters)
{
    vyre_lock_acquire(&device->lock);
    uint64_t completed = atomic_load_explicit(&device->progress.completed, memory_order_acquire);
    uint64_t own = device->proving.completed < completed ? device->proving.completed : completed;
    *out_counters = (struct vyre_device_counters){
        .submitted = atomic_load_explicit(&device->progress.submitted, memory_order_relaxed) -
                     device->proving.submitted,
        .completed = completed - own,
        .failed = atomic_load_explicit(&device->progress.failed, memory_order_relaxed),
        .recordings_made = device->recordings.made,
        .recordings_reused = device->recordings.reused,
        .recordings_evicted = device->recordings.evicted,
        .recordings_kept = device->recordings.count,
        .recording_bytes = device->recordings.total_bytes,
        .memory_bytes = device->objects.memory_bytes,
        .builds_made = device->builds.made,
        .builds_refused = device->builds.refused,
    };
    memcpy(out_counters->by_mode, device->by_mode, sizeof device->by_mode);
    vyre_lock_release(&device->lock);
}
