/*
 * sim_backend.c: the sim itself: creation, knobs, faults, what was seen.
 */
#include "support/sim/sim_backend.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/sim/sim_internal.h"

struct vyre_sim_costs vyre_sim_costs_default(void)
{
    return (struct vyre_sim_costs){
        .submit_ns = 5000,
        .submit_command_ns = 1000,
        .record_ns = 20000,
        .record_command_ns = 2000,
        .replay_ns = 3000,
        .replay_command_ns = 50,
        .persistent_setup_ns = 100000,
        .persistent_item_ns = 100,
        .persistent_round_trip_ns = 500,
        .copy_ns = 1000,
        .copy_byte_ps = 100,
        .group_ns = 1000,
    };
}

static uint32_t default_u32(uint32_t value, uint32_t otherwise)
{
    return value ? value : otherwise;
}

static uint64_t default_u64(uint64_t value, uint64_t otherwise)
{
    return value ? value : otherwise;
}

static void fill_defaults(struct vyre_sim_desc *desc)
{
    struct vyre_device_limits *limits = &desc->limits;
    desc->device_count = default_u32(desc->device_count, 1);
    desc->compute_queues = default_u32(desc->compute_queues, 1);
    desc->trace_limit = desc->trace_limit ? desc->trace_limit : 65536;
    limits->buffer_size_bytes = default_u64(limits->buffer_size_bytes, UINT64_C(1) << 28);
    limits->memory_bytes = default_u64(limits->memory_bytes, UINT64_C(1) << 30);
    limits->range_alignment = default_u32(limits->range_alignment, 4);
    for (int i = 0; i < 3; i++)
        limits->group_count[i] = default_u32(limits->group_count[i], 65535);
    limits->group_invocations = default_u32(limits->group_invocations, 1024);
    limits->bindings = default_u32(limits->bindings, 64);
    limits->table_entries = default_u32(limits->table_entries, 4096);
    limits->constants_bytes = VYRE_CONSTANTS_BYTES_MAX;
    limits->local_bytes = default_u32(limits->local_bytes, 65536);
}

static bool init_locks(struct vyre_sim *sim)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    bool ok = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
              pthread_cond_init(&sim->changed, &attributes) == 0 &&
              pthread_mutex_init(&sim->lock, NULL) == 0 &&
              pthread_mutex_init(&sim->violation_lock, NULL) == 0;
    pthread_condattr_destroy(&attributes);
    return ok;
}

struct vyre_sim *vyre_sim_create(const struct vyre_sim_desc *desc)
{
    struct vyre_sim *sim = calloc(1, sizeof *sim);
    if (!sim || !init_locks(sim)) {
        free(sim);
        return NULL;
    }
    sim->desc = desc ? *desc : (struct vyre_sim_desc){0};
    fill_defaults(&sim->desc);
    sim->costs = sim->desc.costs ? *sim->desc.costs : vyre_sim_costs_default();
    sim->desc.costs = NULL; /* borrowed during this call only */
    sim->noise = rng_seeded(sim->desc.seed);
    sim->lose_after_ns = UINT64_MAX;
    sim->ops.user = sim;
    sim_device_fill_ops(&sim->ops);
    if (sim->desc.no_direct_access) {
        sim->ops.buffer_write = NULL;
        sim->ops.buffer_read = NULL;
    }
    if (sim->desc.no_record) {
        sim->ops.record = NULL;
        sim->ops.recording_destroy = NULL;
    }
    if (!sim->desc.reflected)
        sim->ops.kernel_reflect = NULL;
    if (!sim->desc.unfit_label && !sim->desc.poor_label && !sim->desc.builds)
        sim->ops.batch_check = NULL;
    if (!sim->desc.builds) {
        sim->ops.build_begin = NULL;
        sim->ops.build_run = NULL;
        sim->ops.build_end = NULL;
    }
    if (sim->desc.no_warm_up)
        sim->ops.warm_up = NULL;
    if (sim->desc.no_quiesce)
        sim->ops.quiesce = NULL;
    return sim;
}

void vyre_sim_destroy(struct vyre_sim **sim)
{
    if (!sim || !*sim)
        return;
    while ((*sim)->devices) { /* abandoned ones; their objects are the instance's memory */
        struct sim_device *device = (*sim)->devices;
        (*sim)->devices = device->next;
        free(device);
    }
    pthread_cond_destroy(&(*sim)->changed);
    pthread_mutex_destroy(&(*sim)->lock);
    pthread_mutex_destroy(&(*sim)->violation_lock);
    free((*sim)->spans);
    free(*sim);
    *sim = NULL;
}

const struct vyre_backend_ops *vyre_sim_ops(const struct vyre_sim *sim)
{
    return &sim->ops;
}

/* ---- Time ------------------------------------------------------------------------------------- */

uint64_t vyre_sim_now_ns(struct vyre_sim *sim)
{
    pthread_mutex_lock(&sim->lock);
    uint64_t now_ns = sim->now_ns;
    pthread_mutex_unlock(&sim->lock);
    return now_ns;
}

void vyre_sim_advance(struct vyre_sim *sim, uint64_t ns)
{
    pthread_mutex_lock(&sim->lock);
    sim->now_ns += ns;
    for (struct sim_device *device = sim->devices; device; device = device->next) {
        if (sim->desc.completion == VYRE_SIM_COMPLETE_ON_TIME)
            sim_stream_report_locked(device, true);
    }
    pthread_mutex_unlock(&sim->lock);
}

struct vyre_sim_costs vyre_sim_costs(struct vyre_sim *sim)
{
    pthread_mutex_lock(&sim->lock);
    struct vyre_sim_costs costs = sim->costs;
    pthread_mutex_unlock(&sim->lock);
    return costs;
}

void vyre_sim_set_costs(struct vyre_sim *sim, const struct vyre_sim_costs *costs)
{
    pthread_mutex_lock(&sim->lock);
    sim->costs = *costs;
    pthread_mutex_unlock(&sim->lock);
}

bool vyre_sim_set_kernel_cost(struct vyre_sim *sim, const char *label, uint64_t group_ns)
{
    pthread_mutex_lock(&sim->lock);
    size_t at = 0;
    while (at < sim->kernel_cost_count && strcmp(sim->kernel_costs[at].label, label) != 0)
        at++;
    bool fits = at < SIM_KERNEL_COSTS_MAX;
    if (fits) {
        struct sim_kernel_cost *cost = &sim->kernel_costs[at];
        snprintf(cost->label, sizeof cost->label, "%s", label);
        cost->group_ns = group_ns;
        if (at == sim->kernel_cost_count)
            sim->kernel_cost_count++;
    }
    pthread_mutex_unlock(&sim->lock);
    return fits;
}

uint64_t sim_vary_locked(struct vyre_sim *sim, uint64_t cost_ns)
{
    uint64_t reach = cost_ns * sim->costs.noise_percent / 100;
    if (reach == 0)
        return cost_ns;
    return cost_ns - reach + rng_below(&sim->noise, 2 * reach + 1);
}

/* ---- Work ------------------------------------------------------------------------------------- */

size_t vyre_sim_step(struct vyre_sim *sim, size_t count)
{
    size_t done = 0;
    pthread_mutex_lock(&sim->lock);
    for (struct sim_device *device = sim->devices; device && done < count; device = device->next) {
        uint64_t left = count - done;
        uint64_t pending = device->submitted - device->ended;
        device->released = device->ended + (pending < left ? pending : left);
        done += sim_run_locked(device, true);
    }
    pthread_mutex_unlock(&sim->lock);
    return done;
}

size_t vyre_sim_run_all(struct vyre_sim *sim)
{
    return vyre_sim_step(sim, SIZE_MAX);
}

size_t vyre_sim_in_flight(struct vyre_sim *sim)
{
    size_t count = 0;
    pthread_mutex_lock(&sim->lock);
    for (struct sim_device *device = sim->devices; device; device = device->next) {
        if (!device->lost)
            count += (size_t)(device->submitted - device->ended);
    }
    pthread_mutex_unlock(&sim->lock);
    return count;
}

void vyre_sim_end_residency(struct vyre_sim *sim, enum vyre_residency_end why)
{
    pthread_mutex_lock(&sim->lock);
    for (struct sim_device *device = sim->devices; device; device = device->next)
        sim_leave_locked(device, why);
    pthread_mutex_unlock(&sim->lock);
}

void vyre_sim_throw_away(struct vyre_sim *sim)
{
    pthread_mutex_lock(&sim->lock);
    for (struct sim_device *device = sim->devices; device; device = device->next)
        sim_kernels_unbuild_locked(device);
    pthread_mutex_unlock(&sim->lock);
}

/* ---- Faults ----------------------------------------------------------------------------------- */

void vyre_sim_fail(struct vyre_sim *sim, enum vyre_sim_entry entry, uint64_t nth,
                   enum vyre_status status, int64_t native_code)
{
    pthread_mutex_lock(&sim->lock);
    sim->faults[entry] = (struct sim_fault){nth, status, native_code};
    pthread_mutex_unlock(&sim->lock);
}

void vyre_sim_fail_running(struct vyre_sim *sim, uint64_t nth, enum vyre_status status,
                           int64_t native_code)
{
    pthread_mutex_lock(&sim->lock);
    sim->run_fault = (struct sim_fault){nth, status, native_code};
    pthread_mutex_unlock(&sim->lock);
}

void vyre_sim_hang_at(struct vyre_sim *sim, uint64_t nth)
{
    pthread_mutex_lock(&sim->lock);
    sim->hang_countdown = nth;
    pthread_mutex_unlock(&sim->lock);
}

void vyre_sim_unhang(struct vyre_sim *sim)
{
    pthread_mutex_lock(&sim->lock);
    sim->hang_countdown = 0;
    for (struct sim_device *device = sim->devices; device; device = device->next) {
        for (struct sim_pending *pending = device->head; pending; pending = pending->next)
            pending->fate.hangs = false;
        if (sim->desc.completion != VYRE_SIM_COMPLETE_MANUAL)
            sim_run_locked(device, false);
    }
    pthread_cond_broadcast(&sim->changed);
    pthread_mutex_unlock(&sim->lock);
}

void vyre_sim_lose_at(struct vyre_sim *sim, uint64_t nth)
{
    pthread_mutex_lock(&sim->lock);
    sim->lose_countdown = nth;
    pthread_mutex_unlock(&sim->lock);
}

void vyre_sim_lose_after(struct vyre_sim *sim, uint64_t now_ns)
{
    pthread_mutex_lock(&sim->lock);
    sim->lose_after_ns = now_ns;
    pthread_mutex_unlock(&sim->lock);
}

void vyre_sim_lose_now(struct vyre_sim *sim)
{
    pthread_mutex_lock(&sim->lock);
    for (struct sim_device *device = sim->devices; device; device = device->next) {
        sim_lose_locked(device, VYRE_DIAG_DEVICE_LOST);
        while (!device->lost_reported)
            pthread_cond_wait(&sim->changed, &sim->lock);
    }
    pthread_mutex_unlock(&sim->lock);
}

/* An id that has the status, as far as there is one that a backend would use. */
static enum vyre_diag_id id_of(enum vyre_status status)
{
    switch (status) {
    case VYRE_NOT_FOUND:
        return VYRE_DIAG_BACKEND_ABSENT;
    case VYRE_UNSUPPORTED:
        return VYRE_DIAG_SUBMIT_MODE;
    case VYRE_OUT_OF_MEMORY:
        return VYRE_DIAG_OUT_OF_MEMORY;
    case VYRE_LIMIT:
        return VYRE_DIAG_CAPACITY;
    case VYRE_BUSY:
        return VYRE_DIAG_SUBMIT_FULL;
    case VYRE_TIMEOUT:
        return VYRE_DIAG_TICKET_TIMEOUT;
    case VYRE_DEVICE_LOST:
        return VYRE_DIAG_DEVICE_LOST;
    case VYRE_INVALID:
        return VYRE_DIAG_ARGUMENT_RANGE;
    case VYRE_OK:
    case VYRE_BUILD_FAILED:
    case VYRE_IO:
    case VYRE_DRIVER:
    case VYRE_INTERNAL:
        break;
    }
    return VYRE_DIAG_TICKET_FAILED;
}

enum vyre_status sim_refuse(struct vyre_diag *diag, enum vyre_status status, int64_t native_code)
{
    (void)vyre_diag_set(diag, id_of(status), "sim", native_code, "the test asked for this failure");
    if (diag)
        diag->status = status;
    return status;
}

enum vyre_status sim_count_call_locked(struct vyre_sim *sim, enum vyre_sim_entry entry,
                                       struct vyre_diag *diag)
{
    struct sim_fault *fault = &sim->faults[entry];
    sim->calls[entry]++;
    if (fault->countdown == 0 || --fault->countdown > 0)
        return VYRE_OK;
    return sim_refuse(diag, fault->status, fault->native_code);
}

/* ---- What was seen ---------------------------------------------------------------------------- */

size_t vyre_sim_trace(struct vyre_sim *sim, struct vyre_sim_span *out_spans, size_t capacity)
{
    pthread_mutex_lock(&sim->lock);
    size_t count = sim->span_count;
    for (size_t i = 0; i < count && i < capacity; i++)
        out_spans[i] = sim->spans[i];
    pthread_mutex_unlock(&sim->lock);
    return count;
}

void vyre_sim_trace_reset(struct vyre_sim *sim)
{
    pthread_mutex_lock(&sim->lock);
    sim->span_count = 0;
    pthread_mutex_unlock(&sim->lock);
}

uint64_t vyre_sim_calls(struct vyre_sim *sim, enum vyre_sim_entry entry)
{
    pthread_mutex_lock(&sim->lock);
    uint64_t calls = sim->calls[entry];
    pthread_mutex_unlock(&sim->lock);
    return calls;
}

uint64_t vyre_sim_planned(struct vyre_sim *sim)
{
    pthread_mutex_lock(&sim->lock);
    uint64_t planned = sim->planned;
    pthread_mutex_unlock(&sim->lock);
    return planned;
}

size_t vyre_sim_objects(struct vyre_sim *sim)
{
    size_t count = 0;
    pthread_mutex_lock(&sim->lock);
    for (const struct sim_device *device = sim->devices; device; device = device->next) {
        for (const struct sim_object *object = device->objects; object; object = object->next)
            count++;
    }
    pthread_mutex_unlock(&sim->lock);
    return count;
}

void sim_violate(struct vyre_sim *sim, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&sim->violation_lock);
    if (sim->violation[0] == '\0')
        vsnprintf(sim->violation, sizeof sim->violation, format, arguments);
    pthread_mutex_unlock(&sim->violation_lock);
    va_end(arguments);
}

const char *vyre_sim_violation(struct vyre_sim *sim)
{
    pthread_mutex_lock(&sim->violation_lock);
    const char *text = sim->violation;
    pthread_mutex_unlock(&sim->violation_lock);
    return text;
}
