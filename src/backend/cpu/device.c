/*
 * device.c: the CPU backend's table: devices, memory, kernels.
 */
#include "backend/cpu/device.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <vyre/version.h>

#include "backend/cpu/cpu.h"
#include "base/checked.h"
#include "base/memory.h"

#define BUFFER_ALIGNMENT 64
#define RANGE_ALIGNMENT  16
#define GROUPS_MAX       UINT32_C(0x7fffffff)
#define INVOCATIONS_MAX  1024
#define BINDINGS_MAX     64
#define TABLE_MAX        65536

/*
 * Launch costs until the device is calibrated, from bench/launch and fan-out. A chain costs the
 * same plain and replayed, because it runs from the batch itself; anything else is planned first.
 */
static const struct vyre_launch_costs default_costs = {
    .plain_command_ns = 13,
    .plan_command_ns = 100,
    .record_command_ns = 60,
    .replay_command_ns = 13,
    .persistent_setup_ns = 1000000,
};

/* A buffer is its memory, with the size in front of it. */
struct cpu_buffer_head {
    _Alignas(BUFFER_ALIGNMENT) size_t total_bytes;
};

/* ---- Devices ---------------------------------------------------------------------------------- */

static void describe(struct vyre_device_info *info)
{
    *info = (struct vyre_device_info){.kind = VYRE_DEVICE_KIND_CPU};
    snprintf(info->name, sizeof info->name, "%ld-core CPU", sysconf(_SC_NPROCESSORS_ONLN));
    snprintf(info->driver, sizeof info->driver, "built in, %s", vyre_version_string());
}

static enum vyre_status enumerate(void *backend, struct vyre_device_info *out_infos,
                                  size_t capacity, size_t *out_count, struct vyre_diag *diag)
{
    (void)backend;
    (void)diag;
    *out_count = 1;
    if (capacity > 0)
        describe(&out_infos[0]);
    return VYRE_OK;
}

static void state_facts(const struct vyre_cpu_device *device, struct vyre_device_facts *facts)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    long page_bytes = sysconf(_SC_PAGESIZE);
    uint64_t memory =
        pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : UINT64_C(1) << 30;
    uint64_t participants = (uint64_t)device->pool.worker_count + 1;
    describe(&facts->info);
    facts->limits = (struct vyre_device_limits){
        .buffer_size_bytes = memory,
        .memory_bytes = memory,
        .range_alignment = RANGE_ALIGNMENT,
        .group_count = {GROUPS_MAX, GROUPS_MAX, GROUPS_MAX},
        .group_invocations = INVOCATIONS_MAX,
        .bindings = BINDINGS_MAX,
        .table_entries = TABLE_MAX,
        .constants_bytes = VYRE_CONSTANTS_BYTES_MAX,
        .local_bytes = VYRE_CPU_LOCAL_BYTES,
    };
    facts->abilities[VYRE_ABILITY_REPLAY].value = 1;
    facts->abilities[VYRE_ABILITY_PERSISTENT].value = 1;
    facts->abilities[VYRE_ABILITY_ARMS].value = participants;
    facts->abilities[VYRE_ABILITY_COPY_OVERLAP].value = 1;
    facts->abilities[VYRE_ABILITY_BINDLESS].value = TABLE_MAX;
    facts->abilities[VYRE_ABILITY_SPECIALIZE].value = 1;
    facts->abilities[VYRE_ABILITY_TIMESTAMPS].value = 1;
    facts->abilities[VYRE_ABILITY_HOST_VISIBLE].value = 1;
    facts->host_addresses = true;
    facts->costs = default_costs;
    facts->cpu_workers = device->pool.worker_count;
    facts->command_times = true;
    for (int mode = VYRE_MODE_PLAIN; mode < VYRE_MODE_COUNT; mode++)
        facts->parallel[mode] = device->pool.worker_count + 1;
}

static enum vyre_status device_open(void *backend, uint32_t index,
                                    const struct vyre_device_desc *desc,
                                    const struct vyre_device_host *host, void **out_device,
                                    struct vyre_device_facts *out_facts, struct vyre_diag *diag)
{
    (void)backend;
    (void)index;
    struct vyre_cpu_device *device =
        vyre_memory_allocate(&host->allocator, sizeof *device, _Alignof(struct vyre_cpu_device));
    if (!device)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, desc->label, 0,
                             "no memory for a device");
    device->allocator = host->allocator;
    device->host = *host;
    device->no_inline = desc->cpu_no_inline;
    vyre_watch_init(&device->watch, desc->hang_timeout_ns);
    enum vyre_status status =
        vyre_cpu_ring_init(&device->ring, &device->allocator, desc->in_flight_limit);
    device->ring.loss.host = &device->host;
    if (status != VYRE_OK)
        (void)vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, desc->label, 0,
                            "no memory for %u batches in flight", desc->in_flight_limit);
    else
        status = vyre_cpu_pool_start(&device->pool, &device->ring, &device->host, desc, diag);
    if (status != VYRE_OK) {
        vyre_cpu_ring_deinit(&device->ring, &device->allocator);
        vyre_memory_free(&host->allocator, device, sizeof *device,
                         _Alignof(struct vyre_cpu_device));
        return status;
    }
    device->caller.lost = &device->ring.loss.lost;
    device->caller.cost_version = &device->pool.cost_version;
    device->caller.clock_ns = device->pool.clock_ns;
    device->caller.on_wait = vyre_cpu_check_hang;
    device->caller.user = device;
    state_facts(device, out_facts);
    *out_device = device;
    return VYRE_OK;
}

static bool quiesce(void *native)
{
    struct vyre_cpu_device *device = native;
    return vyre_cpu_pool_stop(&device->pool);
}

static void device_close(void *native)
{
    struct vyre_cpu_device *device = native;
    struct vyre_allocator allocator = device->allocator;
    vyre_cpu_pool_deinit(&device->pool);
    vyre_cpu_ring_deinit(&device->ring, &allocator);
    while (device->free_programs) {
        struct vyre_cpu_program *program = device->free_programs;
        device->free_programs = program->next;
        vyre_cpu_program_destroy(program);
    }
    vyre_memory_free(&allocator, device, sizeof *device, _Alignof(struct vyre_cpu_device));
}

/* ---- Memory and kernels ----------------------------------------------------------------------- */

static enum vyre_status buffer_create(void *native, const struct vyre_buffer_desc *desc,
                                      void **out_buffer, void **out_address, struct vyre_diag *diag)
{
    struct vyre_cpu_device *device = native;
    size_t total;
    struct cpu_buffer_head *head = NULL;
    if (vyre_checked_add_size(desc->size_bytes, sizeof *head, &total))
        head = vyre_memory_allocate(&device->allocator, total, BUFFER_ALIGNMENT);
    if (!head)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, desc->label, 0,
                             "no memory for a buffer of %zu bytes", desc->size_bytes);
    head->total_bytes = total;
    *out_buffer = head + 1;
    *out_address = head + 1;
    return VYRE_OK;
}

static void buffer_destroy(void *native, void *buffer)
{
    struct vyre_cpu_device *device = native;
    struct cpu_buffer_head *head = (struct cpu_buffer_head *)buffer - 1;
    vyre_memory_free(&device->allocator, head, head->total_bytes, BUFFER_ALIGNMENT);
}

static enum vyre_status buffer_write(void *native, void *buffer, size_t offset_bytes,
                                     const void *bytes, size_t size_bytes, struct vyre_diag *diag)
{
    (void)native;
    (void)diag;
    memcpy((unsigned char *)buffer + offset_bytes, bytes, size_bytes);
    return VYRE_OK;
}

static enum vyre_status buffer_read(void *native, void *buffer, size_t offset_bytes,
                                    void *out_bytes, size_t size_bytes, struct vyre_diag *diag)
{
    (void)native;
    (void)diag;
    memcpy(out_bytes, (const unsigned char *)buffer + offset_bytes, size_bytes);
    return VYRE_OK;
}

static enum vyre_status kernel_create(void *native, const struct vyre_kernel_desc *desc,
                                      const struct vyre_binding_plan *plan, void **out_kernel,
                                      struct vyre_diag *diag)
{
    struct vyre_cpu_device *device = native;
    struct vyre_cpu_kernel *kernel;
    enum vyre_status status = vyre_cpu_kernel_create(&device->allocator, desc, plan,
                                                     device->pool.worker_count + 1, &kernel, diag);
    if (status == VYRE_OK)
        *out_kernel = kernel;
    return status;
}

static void kernel_destroy(void *native, void *kernel)
{
    struct vyre_cpu_device *device = native;
    vyre_cpu_kernel_destroy(&device->allocator, kernel);
}

static enum vyre_status warm_up(void *native, enum vyre_mode mode, struct vyre_diag *diag)
{
    struct vyre_cpu_device *device = native;
    (void)diag;
    if (mode == VYRE_MODE_PERSISTENT) {
        vyre_cpu_pool_stay(&device->pool);
        vyre_cpu_pool_wake(&device->pool, device->pool.worker_count);
    }
    return VYRE_OK;
}

/* Resident workers take any batch. */
static void residency(void *native, const struct vyre_batch_view *view, struct vyre_residency *out)
{
    const struct vyre_cpu_device *device = native;
    (void)view;
    vyre_residency_log_read(&device->pool.residency, out);
}

const struct vyre_backend_ops vyre_cpu_backend_ops = {
    .abi_version = VYRE_BACKEND_ABI_VERSION,
    .size_bytes = sizeof(struct vyre_backend_ops),
    .name = "cpu",
    .enumerate = enumerate,
    .device_open = device_open,
    .device_close = device_close,
    .buffer_create = buffer_create,
    .buffer_destroy = buffer_destroy,
    .kernel_create = kernel_create,
    .kernel_destroy = kernel_destroy,
    .record = vyre_cpu_record,
    .recording_destroy = vyre_cpu_recording_destroy,
    .submit = vyre_cpu_submit,
    .wait = vyre_cpu_wait,
    .quiesce = quiesce,
    .warm_up = warm_up,
    .buffer_write = buffer_write,
    .buffer_read = buffer_read,
    .residency = residency,
};
