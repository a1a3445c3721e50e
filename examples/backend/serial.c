/*
 * serial.c: a whole backend in one file, outside Vyre's tree. "serial" is one thread that runs host
 * kernels, one group after the other. It has plain launches only, and gives a reason for each ability
 * that it lacks.
 *
 *   submit ──> queue ──> thread: run all commands in order, notify the host, next
 *                                      │
 *   wait  <── changed ─────────────────┘
 *
 * The runtime has checked everything that arrives here, and keeps it alive while work uses it. It calls
 * submit and the create and destroy functions one at a time; any thread may call wait.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <vyre/backend.h>

enum { ALIGNMENT = 64, LOCAL_BYTES_MAX = 32768, BINDINGS_MAX = 32, TABLE_MAX = 4096 };

struct serial_device {
    struct vyre_allocator allocator;
    const struct vyre_device_host *host; /* Borrowed until close */
    uint64_t hang_ns;
    struct vyre_submission *queue; /* Owned: queue_size entries, by sequence */
    uint32_t queue_size;
    pthread_t thread;
    _Atomic bool lost; /* and reported to the host */

    pthread_mutex_t lock; /* guards all that follows */
    pthread_cond_t changed;
    uint64_t submitted; /* sequences */
    uint64_t completed;
    uint64_t started_ns; /* of the running batch; 0: none */
    bool hang_found;
    bool stop;
};

struct serial_buffer {
    size_t total_bytes;
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

struct serial_kernel {
    vyre_host_function *function;
    void *library; /* Owned; NULL: a function of this process */
    uint32_t local_size[3];
    size_t scratch_bytes;
    size_t workspace_bytes;
    unsigned char *workspace; /* Owned: scratch, then local memory slot by slot */
};

static uint64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static size_t aligned(size_t size_bytes)
{
    return (size_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* ---- Memory ----------------------------------------------------------------------------------- */

/* Zeroed memory; on failure NULL, with the diagnostic set. */
static void *take(const struct vyre_allocator *allocator, size_t size_bytes, const char *label,
                  struct vyre_diag *diag)
{
    void *memory = allocator->allocate(allocator->user, size_bytes, ALIGNMENT);
    if (memory)
        return memset(memory, 0, size_bytes);
    (void)vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, label, 0, "no %zu bytes", size_bytes);
    return NULL;
}

static void give_back(const struct vyre_allocator *allocator, void *memory, size_t size_bytes)
{
    if (memory)
        allocator->deallocate(allocator->user, memory, size_bytes, ALIGNMENT);
}

static enum vyre_status buffer_create(void *native, const struct vyre_buffer_desc *desc,
                                      void **out_buffer, void **out_address, struct vyre_diag *diag)
{
    struct serial_device *device = native;
    size_t total_bytes = sizeof(struct serial_buffer) + desc->size_bytes; /* below the limit */
    struct serial_buffer *buffer = take(&device->allocator, total_bytes, desc->label, diag);
    if (!buffer)
        return VYRE_OUT_OF_MEMORY;
    buffer->total_bytes = total_bytes;
    *out_buffer = buffer;
    *out_address = buffer->bytes;
    return VYRE_OK;
}

static void buffer_destroy(void *native, void *buffer)
{
    struct serial_device *device = native;
    give_back(&device->allocator, buffer, ((struct serial_buffer *)buffer)->total_bytes);
}

/* ---- Kernels ---------------------------------------------------------------------------------- */

static enum vyre_status load(struct serial_kernel *kernel, const struct vyre_payload *payload,
                             const char *label, struct vyre_diag *diag)
{
    if (!payload->path || !payload->entry)
        return vyre_diag_set(diag, VYRE_DIAG_KERNEL_PAYLOAD, label, 0, "no path or no entry");
    kernel->library = dlopen(payload->path, RTLD_NOW | RTLD_LOCAL);
    if (!kernel->library)
        return vyre_diag_set(diag, VYRE_DIAG_KERNEL_LIBRARY, label, 0, "%s", dlerror());
    void *symbol = dlsym(kernel->library, payload->entry);
    if (!symbol)
        return vyre_diag_set(diag, VYRE_DIAG_KERNEL_SYMBOL, label, 0, "%s lacks %s", payload->path,
                             payload->entry);
    memcpy(&kernel->function, &symbol, sizeof symbol); /* POSIX allows this; C has no cast for it */
    return VYRE_OK;
}

/* Takes the first payload that this backend can run. */
static enum vyre_status find_function(struct serial_kernel *kernel,
                                      const struct vyre_kernel_desc *desc, struct vyre_diag *diag)
{
    for (size_t i = 0; i < desc->payload_count; i++) {
        const struct vyre_payload *payload = &desc->payloads[i];
        if (payload->target == VYRE_TARGET_HOST_LIBRARY)
            return load(kernel, payload, desc->label, diag);
        if (payload->target != VYRE_TARGET_HOST)
            continue;
        if (!payload->function)
            return vyre_diag_set(diag, VYRE_DIAG_KERNEL_PAYLOAD, desc->label, 0, "no function");
        kernel->function = payload->function;
        return VYRE_OK;
    }
    return vyre_diag_set(diag, VYRE_DIAG_KERNEL_NO_PAYLOAD, desc->label, 0,
                         "serial runs host kernels only");
}

static void kernel_destroy(void *native, void *native_kernel)
{
    struct serial_device *device = native;
    struct serial_kernel *kernel = native_kernel;
    give_back(&device->allocator, kernel->workspace, kernel->workspace_bytes);
    if (kernel->library)
        dlclose(kernel->library);
    give_back(&device->allocator, kernel, sizeof *kernel);
}

/* What one group needs besides its buffers. Local memory of unknown size gets the maximum. */
static size_t measure_workspace(const struct vyre_kernel_desc *desc,
                                const struct vyre_binding_plan *plan)
{
    size_t size_bytes = aligned(desc->scratch_bytes);
    for (size_t i = 0; i < plan->binding_count; i++) {
        const struct vyre_binding *binding = &plan->bindings[i];
        if (binding->role == VYRE_ROLE_SHARED)
            size_bytes += aligned(binding->size_bytes ? binding->size_bytes : LOCAL_BYTES_MAX);
    }
    return size_bytes;
}

static enum vyre_status kernel_create(void *native, const struct vyre_kernel_desc *desc,
                                      const struct vyre_binding_plan *plan, void **out_kernel,
                                      struct vyre_diag *diag)
{
    struct serial_device *device = native;
    struct serial_kernel *kernel = take(&device->allocator, sizeof *kernel, desc->label, diag);
    if (!kernel)
        return VYRE_OUT_OF_MEMORY;
    memcpy(kernel->local_size, desc->local_size, sizeof kernel->local_size);
    kernel->scratch_bytes = desc->scratch_bytes;
    kernel->workspace_bytes = measure_workspace(desc, plan);
    enum vyre_status status = find_function(kernel, desc, diag);
    if (status == VYRE_OK && kernel->workspace_bytes > 0) {
        kernel->workspace = take(&device->allocator, kernel->workspace_bytes, desc->label, diag);
        status = kernel->workspace ? VYRE_OK : VYRE_OUT_OF_MEMORY;
    }
    if (status != VYRE_OK) {
        kernel_destroy(device, kernel);
        return status;
    }
    *out_kernel = kernel;
    return VYRE_OK;
}

/* ---- Running ---------------------------------------------------------------------------------- */

static unsigned char *address_of(const struct vyre_bound_range *range)
{
    return ((struct serial_buffer *)range->buffer)->bytes + range->offset_bytes;
}

static void run_dispatch(const struct vyre_batch_view *view, const struct vyre_command *command)
{
    const struct serial_kernel *kernel = command->kernel;
    struct vyre_host_buffer buffers[BINDINGS_MAX];
    size_t used_bytes = aligned(kernel->scratch_bytes);
    for (uint32_t i = 0; i < command->binding_count; i++) {
        buffers[i] = view->host_buffers[command->first_host_buffer + i];
        if (view->bindings[command->first_binding + i].kind == VYRE_BINDING_LOCAL) {
            buffers[i].data = kernel->workspace + used_bytes;
            used_bytes += aligned(buffers[i].size_bytes);
        }
    }
    struct vyre_host_group group = {.size_bytes = sizeof group,
                                    .buffer_count = command->binding_count,
                                    .specialization_count = command->specialization_count,
                                    .buffers = buffers,
                                    .constants = command->constants,
                                    .specialization = command->specialization,
                                    .scratch = kernel->workspace,
                                    .scratch_bytes = kernel->scratch_bytes};
    memcpy(group.group_count, command->groups, sizeof group.group_count);
    memcpy(group.local_size, kernel->local_size, sizeof group.local_size);
    for (uint32_t z = 0; z < command->groups[2]; z++) {
        for (uint32_t y = 0; y < command->groups[1]; y++) {
            for (uint32_t x = 0; x < command->groups[0]; x++) {
                group.group_id[0] = x;
                group.group_id[1] = y;
                group.group_id[2] = z;
                kernel->function(&group);
            }
        }
    }
}

static void run_command(const struct vyre_batch_view *view, const struct vyre_command *command)
{
    const struct vyre_bound_range *range = &view->ranges[command->first_range];
    switch (command->type) {
    case VYRE_COMMAND_DISPATCH:
        run_dispatch(view, command);
        break;
    case VYRE_COMMAND_COPY:
        memcpy(address_of(&range[1]), address_of(&range[0]), range->size_bytes);
        break;
    case VYRE_COMMAND_FILL:
        for (size_t i = 0; i < range->size_bytes; i += sizeof command->fill_word)
            memcpy(address_of(range) + i, &command->fill_word, sizeof command->fill_word);
        break;
    case VYRE_COMMAND_UPLOAD:
        memcpy(address_of(range), command->upload_bytes, range->size_bytes);
        break;
    case VYRE_COMMAND_DOWNLOAD:
        memcpy(command->download_bytes, address_of(range), range->size_bytes);
        break;
    }
}

/* Runs the next batch. The lock is held on entry and on exit, but not while the batch runs. */
static void run_next_locked(struct serial_device *device)
{
    struct vyre_submission submission = device->queue[(device->completed + 1) % device->queue_size];
    const struct vyre_batch_view *view = submission.view;
    uint64_t start_ns = device->started_ns = now_ns();
    pthread_mutex_unlock(&device->lock);
    for (uint32_t i = 0; i < view->command_count && !atomic_load(&device->lost); i++)
        run_command(view, &view->commands[i]);
    const struct vyre_completion completion = {
        .sequence = submission.sequence,
        .device_ns = submission.timed ? now_ns() - start_ns : 0,
    };
    device->host->complete(device->host->context,
                           &completion); /* may run a callback that submits */
    pthread_mutex_lock(&device->lock);
    device->completed = submission.sequence;
    device->started_ns = 0;
    pthread_cond_broadcast(&device->changed);
}

static void *thread_main(void *argument)
{
    struct serial_device *device = argument;
    pthread_mutex_lock(&device->lock);
    while (!device->stop && !atomic_load(&device->lost)) {
        if (device->completed == device->submitted)
            pthread_cond_wait(&device->changed, &device->lock);
        else
            run_next_locked(device);
    }
    pthread_mutex_unlock(&device->lock);
    return NULL;
}

/* ---- Submit and wait -------------------------------------------------------------------------- */

static enum vyre_status submit(void *native, const struct vyre_submission *submission,
                               struct vyre_diag *diag)
{
    struct serial_device *device = native;
    (void)diag;
    pthread_mutex_lock(&device->lock);
    device->queue[submission->sequence % device->queue_size] = *submission;
    device->submitted = submission->sequence;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
    return VYRE_OK;
}

/* True for the first caller that finds the hang: it must report it to the host. */
static bool find_hang_locked(struct serial_device *device)
{
    bool hangs = device->started_ns && now_ns() - device->started_ns > device->hang_ns;
    bool first = hangs && !device->hang_found;
    device->hang_found = device->hang_found || hangs;
    return first;
}

static void report_lost(struct serial_device *device)
{
    struct vyre_diag reason;
    vyre_diag_reset(&reason);
    (void)vyre_diag_set(&reason, VYRE_DIAG_DEVICE_HANG, NULL, 0, "a batch does not end");
    device->host->lost(device->host->context, &reason);
    pthread_mutex_lock(&device->lock); /* waiting threads ask the host when they wake */
    atomic_store(&device->lost, true);
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
}

/* Sleeps until something changes, but not past `end_ns` or the time at which a batch counts as hung. */
static void sleep_locked(struct serial_device *device, uint64_t end_ns)
{
    uint64_t since_ns = device->started_ns ? device->started_ns : now_ns();
    uint64_t hang_ns = since_ns + device->hang_ns + 1000000;
    uint64_t until_ns = end_ns < hang_ns ? end_ns : hang_ns;
    struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000),
                             .tv_nsec = (long)(until_ns % 1000000000)};
    pthread_cond_timedwait(&device->changed, &device->lock, &until);
}

static void wait(void *native, uint64_t sequence, uint64_t timeout_ns)
{
    struct serial_device *device = native;
    uint64_t start_ns = now_ns();
    uint64_t end_ns = timeout_ns < UINT64_MAX - start_ns ? start_ns + timeout_ns : UINT64_MAX;
    bool found = false;
    pthread_mutex_lock(&device->lock);
    while (device->completed < sequence && !atomic_load(&device->lost)) {
        found = find_hang_locked(device);
        if (found || now_ns() >= end_ns)
            break;
        sleep_locked(device, end_ns);
    }
    pthread_mutex_unlock(&device->lock);
    if (found)
        report_lost(device);
}

/* ---- Devices ---------------------------------------------------------------------------------- */

static void describe(struct vyre_device_info *out_info)
{
    *out_info = (struct vyre_device_info){.kind = VYRE_DEVICE_KIND_CPU};
    snprintf(out_info->name, sizeof out_info->name, "one thread");
    snprintf(out_info->driver, sizeof out_info->driver, "vyre example backend");
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

static void state_facts(struct vyre_device_facts *facts)
{
    static const struct {
        uint64_t value;
        const char *reason; /* why it is absent */
    } abilities[VYRE_ABILITY_COUNT] = {
        [VYRE_ABILITY_REPLAY] = {0, "this example does not record"},
        [VYRE_ABILITY_PERSISTENT] = {0, "this example has nothing that stays resident"},
        [VYRE_ABILITY_ARMS] = {0, "one thread runs one command at a time"},
        [VYRE_ABILITY_COPY_OVERLAP] = {0, "one thread runs one command at a time"},
        [VYRE_ABILITY_BINDLESS] = {TABLE_MAX, ""},
        [VYRE_ABILITY_SPECIALIZE] = {1, ""},
        [VYRE_ABILITY_TIMESTAMPS] = {1, ""},
        [VYRE_ABILITY_HOST_VISIBLE] = {1, ""},
    };
    *facts = (struct vyre_device_facts){
        .limits = {.buffer_size_bytes = UINT32_MAX,
                   .memory_bytes = UINT64_C(4) * UINT32_MAX,
                   .range_alignment = 16,
                   .group_count = {65535, 65535, 65535},
                   .group_invocations = 1024,
                   .bindings = BINDINGS_MAX,
                   .table_entries = TABLE_MAX,
                   .constants_bytes = VYRE_CONSTANTS_BYTES_MAX,
                   .local_bytes = LOCAL_BYTES_MAX},
        .host_addresses = true,
    };
    describe(&facts->info);
    for (size_t i = 0; i < VYRE_ABILITY_COUNT; i++) {
        facts->abilities[i].value = abilities[i].value;
        snprintf(facts->abilities[i].reason, VYRE_REASON_BYTES, "%s", abilities[i].reason);
    }
}

/* Nothing is running: see quiesce. */
static void device_close(void *native)
{
    struct serial_device *device = native;
    struct vyre_allocator allocator = device->allocator;
    pthread_cond_destroy(&device->changed);
    pthread_mutex_destroy(&device->lock);
    give_back(&allocator, device->queue, device->queue_size * sizeof *device->queue);
    give_back(&allocator, device, sizeof *device);
}

static bool quiesce(void *native)
{
    struct serial_device *device = native;
    pthread_mutex_lock(&device->lock);
    device->stop = true;
    bool stuck = atomic_load(&device->lost) && device->started_ns;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
    if (stuck)
        pthread_detach(device->thread);
    else
        pthread_join(device->thread, NULL);
    return !stuck;
}

static enum vyre_status device_open(void *backend, uint32_t index,
                                    const struct vyre_device_desc *desc,
                                    const struct vyre_device_host *host, void **out_device,
                                    struct vyre_device_facts *out_facts, struct vyre_diag *diag)
{
    (void)backend;
    (void)index;
    struct serial_device *device = take(&host->allocator, sizeof *device, desc->label, diag);
    if (!device)
        return VYRE_OUT_OF_MEMORY;
    device->allocator = host->allocator;
    device->host = host;
    device->hang_ns = desc->hang_timeout_ns;
    device->queue_size = desc->in_flight_limit + 1; /* room for one that is complete already */
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&device->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&device->lock, NULL);

    enum vyre_status status = VYRE_OUT_OF_MEMORY;
    device->queue =
        take(&host->allocator, device->queue_size * sizeof *device->queue, desc->label, diag);
    if (device->queue) {
        int error = pthread_create(&device->thread, NULL, thread_main, device);
        status = error ? vyre_diag_set(diag, VYRE_DIAG_DEVICE_THREADS, desc->label, error,
                                       "the thread could not be started")
                       : VYRE_OK;
    }
    if (status != VYRE_OK) {
        device_close(device);
        return status;
    }
    state_facts(out_facts);
    *out_device = device;
    return VYRE_OK;
}

static const struct vyre_backend_ops serial_ops = {
    .abi_version = VYRE_BACKEND_ABI_VERSION,
    .size_bytes = sizeof(struct vyre_backend_ops),
    .name = "serial",
    .enumerate = enumerate,
    .device_open = device_open,
    .device_close = device_close,
    .buffer_create = buffer_create,
    .buffer_destroy = buffer_destroy,
    .kernel_create = kernel_create,
    .kernel_destroy = kernel_destroy,
    .submit = submit,
    .wait = wait,
    .quiesce = quiesce,
};

VYRE_API const struct vyre_backend_ops *vyre_backend_entry(void);

/* The one symbol that the shared object exports. */
const struct vyre_backend_ops *vyre_backend_entry(void)
{
    return &serial_ops;
}
