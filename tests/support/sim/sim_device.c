/*
 * sim_device.c: devices of the sim: what they say of themselves, opening and closing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sim/sim_internal.h"

static void fill_info(uint32_t index, struct vyre_device_info *out_info)
{
    *out_info = (struct vyre_device_info){.kind = VYRE_DEVICE_KIND_SIMULATED};
    snprintf(out_info->name, sizeof out_info->name, "simulated device %u", index);
    snprintf(out_info->driver, sizeof out_info->driver, "sim 1");
}

static void fill_facts(const struct vyre_sim *sim, uint32_t index, struct vyre_device_facts *facts)
{
    const struct vyre_sim_desc *desc = &sim->desc;
    const uint64_t values[VYRE_ABILITY_COUNT] = {
        [VYRE_ABILITY_REPLAY] = !desc->no_record,
        [VYRE_ABILITY_PERSISTENT] = 1,
        [VYRE_ABILITY_ARMS] = desc->order == VYRE_SIM_ORDER_SERIAL ? 0 : desc->compute_queues,
        [VYRE_ABILITY_COPY_OVERLAP] = desc->transfer_queue,
        [VYRE_ABILITY_BINDLESS] = desc->limits.table_entries,
        [VYRE_ABILITY_SPECIALIZE] = 1,
        [VYRE_ABILITY_TIMESTAMPS] = 1,
        [VYRE_ABILITY_HOST_VISIBLE] = !desc->no_host_addresses,
    };
    *facts = (struct vyre_device_facts){.limits = desc->limits,
                                        .host_addresses = !desc->no_host_addresses};
    facts->costs = (struct vyre_launch_costs){
        .plain_command_ns = sim->costs.submit_command_ns,
        .record_command_ns = sim->costs.record_command_ns,
        .replay_command_ns = sim->costs.replay_command_ns,
        .persistent_setup_ns = sim->costs.persistent_setup_ns,
        .build_ns = sim->costs.build_ns,
    };
    facts->bakes = desc->bakes;
    facts->generated_modes = desc->generated_modes;
    facts->built_modes = desc->builds ? 1u << VYRE_MODE_PERSISTENT : 0;
    facts->completes_lazily =
        desc->completion == VYRE_SIM_COMPLETE_LAZY || desc->completion == VYRE_SIM_COMPLETE_FOUND;
    facts->driver_bakes = desc->driver_bakes;
    facts->command_times = !desc->no_command_times;
    memcpy(facts->parallel, desc->parallel, sizeof facts->parallel);
    for (int i = 0; i < VYRE_MODE_COUNT; i++)
        facts->variants[i] = desc->variants;
    fill_info(index, &facts->info);
    for (int i = 0; i < VYRE_ABILITY_COUNT; i++) {
        const char *reason = desc->absent[i];
        struct vyre_ability *ability = &facts->abilities[i];
        if (!reason && values[i] == 0)
            reason = "the sim was made without it";
        ability->value = reason ? 0 : values[i];
        snprintf(ability->reason, sizeof ability->reason, "%s", reason ? reason : "");
    }
}

static enum vyre_status backend_create(void *user, const struct vyre_allocator *allocator,
                                       void **out_backend, struct vyre_diag *diag)
{
    (void)allocator;
    (void)diag;
    *out_backend = user;
    return VYRE_OK;
}

static void backend_destroy(void *backend)
{
    struct vyre_sim *sim = backend;
    pthread_mutex_lock(&sim->lock);
    for (const struct sim_device *device = sim->devices; device; device = device->next) {
        if (!device->abandoned)
            sim_violate(sim, "destroy with open devices");
    }
    pthread_mutex_unlock(&sim->lock);
}

static enum vyre_status enumerate(void *backend, struct vyre_device_info *out_infos,
                                  size_t capacity, size_t *out_count, struct vyre_diag *diag)
{
    const struct vyre_sim *sim = backend;
    (void)diag;
    *out_count = sim->desc.device_count;
    for (uint32_t i = 0; i < sim->desc.device_count && i < capacity; i++)
        fill_info(i, &out_infos[i]);
    return VYRE_OK;
}

static void check_open(struct vyre_sim *sim, uint32_t index, const struct vyre_device_desc *desc,
                       const struct vyre_device_host *host)
{
    if (index >= sim->desc.device_count)
        sim_violate(sim, "device_open of device %u", index);
    if (!desc->in_flight_limit || !desc->recording_limit || !desc->recording_bytes ||
        !desc->batch_bytes_limit || !desc->hang_timeout_ns || !desc->persistent_idle_ns ||
        !desc->persistent_lease_ns)
        sim_violate(sim, "device_open with zeros that mean a default");
    if (!host->complete || !host->lost || !host->plan || !host->log || !host->allocator.allocate ||
        !host->allocator.deallocate)
        sim_violate(sim, "device_open with an incomplete host");
}

static enum vyre_status device_open(void *backend, uint32_t index,
                                    const struct vyre_device_desc *desc,
                                    const struct vyre_device_host *host, void **out_device,
                                    struct vyre_device_facts *out_facts, struct vyre_diag *diag)
{
    struct vyre_sim *sim = backend;
    *out_device = NULL;
    check_open(sim, index, desc, host);
    pthread_mutex_lock(&sim->lock);
    enum vyre_status status = sim_count_call_locked(sim, VYRE_SIM_DEVICE_OPEN, diag);
    struct sim_device *device = status == VYRE_OK ? calloc(1, sizeof *device) : NULL;
    if (device) {
        device->sim = sim;
        device->host = host;
        device->hang_timeout_ns = desc->hang_timeout_ns;
        device->tail = &device->head;
        device->busy_until_ns = sim->now_ns;
        device->next = sim->devices;
        sim->devices = device;
        if (sim->desc.completion != VYRE_SIM_COMPLETE_MANUAL && !sim_is_stream(sim))
            device->has_thread = pthread_create(&device->thread, NULL, sim_thread, device) == 0;
        fill_facts(sim, index, out_facts);
        *out_device = device;
    } else if (status == VYRE_OK) {
        status = vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, "sim", 0, "no memory to open it");
    }
    pthread_mutex_unlock(&sim->lock);
    return status;
}

static bool quiesce(void *self)
{
    struct sim_device *device = self;
    pthread_mutex_lock(&device->sim->lock);
    device->stop = true;
    sim_leave_locked(device, VYRE_RESIDENCY_STOPPED);
    bool joins = device->has_thread;
    bool quiet = !device->stuck;
    device->has_thread = false;
    pthread_cond_broadcast(&device->sim->changed);
    pthread_mutex_unlock(&device->sim->lock);
    if (joins)
        pthread_join(device->thread, NULL);
    if (!quiet)
        device->abandoned = true;
    return quiet;
}

static void device_close(void *self)
{
    struct sim_device *device = self;
    struct vyre_sim *sim = device->sim;
    if (!sim->desc.no_quiesce && !device->stop)
        sim_violate(sim, "device_close without quiesce");
    if (device->abandoned)
        sim_violate(sim, "device_close of a device on which something still runs");
    (void)quiesce(device);
    pthread_mutex_lock(&sim->lock);
    if (!device->lost && device->submitted != device->ended)
        sim_violate(sim, "device_close with work in flight");
    if (!device->lost && device->objects)
        sim_violate(sim, "device_close with buffers, kernels or recordings alive");
    if (device->builds)
        sim_violate(sim, "device_close with builds under way");
    sim_forget_pending_locked(device);
    sim_objects_free_locked(device); /* a lost device may have some */
    struct sim_device **link = &sim->devices;
    while (*link != device)
        link = &(*link)->next;
    *link = device->next;
    pthread_mutex_unlock(&sim->lock);
    free(device);
}

/* Also from inside host->complete, with the sim's lock held. */
static uint64_t now_ns(void *self)
{
    const struct sim_device *device = self;
    uint64_t stamp_ns = device->stamp_ns;
    return stamp_ns ? stamp_ns : device->sim->now_ns;
}

/* One kernel, one code: its label is all that a process has in common with the next. */
static enum vyre_status generated(void *self, const struct vyre_batch_view *view, uint32_t command,
                                  enum vyre_mode mode, uint32_t variant,
                                  struct vyre_hash128 *out_code, struct vyre_diag *diag)
{
    const struct sim_device *device = self;
    const struct sim_kernel *kernel = view->commands[command].kernel;
    (void)variant;
    *out_code = (struct vyre_hash128){0};
    if (!(device->sim->desc.generated_modes >> mode & 1u))
        return VYRE_OK;
    if (mode == VYRE_MODE_PERSISTENT && device->sim->desc.builds && !kernel->is_built)
        return vyre_diag_set(diag, VYRE_DIAG_SUBMIT_UNBUILT, kernel->label, 0, "it is not built");
    *out_code = vyre_hash128(kernel->label, strlen(kernel->label));
    return VYRE_OK;
}

/* What is resident serves any batch. */
static void residency(void *self, const struct vyre_batch_view *view, struct vyre_residency *out)
{
    struct sim_device *device = self;
    (void)view;
    pthread_mutex_lock(&device->sim->lock);
    sim_call_begin_locked(device, "residency");
    sim_stream_idle_locked(device);
    *out = device->residency;
    out->serves = out->number != out->ended;
    sim_call_end_locked(device);
    pthread_mutex_unlock(&device->sim->lock);
}

void sim_device_fill_ops(struct vyre_backend_ops *ops)
{
    ops->abi_version = VYRE_BACKEND_ABI_VERSION;
    ops->size_bytes = sizeof *ops;
    ops->name = "sim";
    ops->create = backend_create;
    ops->destroy = backend_destroy;
    ops->enumerate = enumerate;
    ops->device_open = device_open;
    ops->device_close = device_close;
    ops->submit = sim_submit;
    ops->wait = sim_wait;
    ops->quiesce = quiesce;
    ops->now_ns = now_ns;
    ops->generated = generated;
    ops->warm_up = sim_warm_up;
    ops->residency = residency;
    sim_objects_fill_ops(ops);
    sim_build_fill_ops(ops);
}
