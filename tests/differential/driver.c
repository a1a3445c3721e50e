#include "differential/driver.h"

#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "support/deadline.h"

enum { CALLBACK_SECONDS = 300 }; /* against a hang */

/* ---- Failures --------------------------------------------------------------------------------- */

bool driver_broken(struct driver *driver, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(driver->failure, sizeof driver->failure, format, arguments);
    va_end(arguments);
    return false;
}

bool driver_expect_ok(struct driver *driver, enum vyre_status status, const struct vyre_diag *diag,
                      const char *what)
{
    if (status == VYRE_OK)
        return true;
    char text[600];
    vyre_diag_format(diag, text, sizeof text);
    return driver_broken(driver, "%s: %s\n  %s", what, vyre_status_name(status), text);
}

/* ---- Opening and closing ---------------------------------------------------------------------- */

static bool create_payloads(struct driver *driver, const struct test_kernel *kernel, bool backwards,
                            struct vyre_kernel **out_kernel)
{
    const struct vyre_payload payloads[] = {
        {.target = VYRE_TARGET_HOST, .function = kernel->host},
        {.target = VYRE_TARGET_OPENCL_C,
         .entry = kernel->name,
         .bytes = kernel->opencl_c,
         .size_bytes = strlen(kernel->opencl_c)},
        {.target = VYRE_TARGET_GLSL, .bytes = kernel->glsl, .size_bytes = strlen(kernel->glsl)},
    };
    struct vyre_binding_desc bindings[KERNEL_BINDINGS_MAX];
    for (uint32_t i = 0; i < kernel->binding_count; i++)
        bindings[backwards ? kernel->binding_count - 1 - i : i] = kernel->bindings[i].desc;
    enum vyre_scalar constants[KERNEL_CONSTANTS_MAX];
    for (uint32_t i = 0; i < kernel->constant_count; i++)
        constants[i] = kernel->constants[i].scalar;
    struct vyre_kernel_desc desc = {
        .label = kernel->name,
        .payloads = payloads,
        .payload_count = sizeof payloads / sizeof payloads[0],
        .local_size = {kernel->local_size[0], kernel->local_size[1], kernel->local_size[2]},
        .bindings = bindings,
        .binding_count = kernel->binding_count,
        .constants = constants,
        .constant_count = kernel->constant_count,
        .specialization_defaults = kernel->specialization_defaults,
        .specialization_count = kernel->specialization_count,
        .scratch_bytes = kernel->scratch_bytes,
    };
    struct vyre_diag diag = {0};
    enum vyre_status status = vyre_kernel_create(driver->device, &desc, out_kernel, &diag);
    return driver_expect_ok(driver, status, &diag, "vyre_kernel_create");
}

static bool create_kernel(struct driver *driver, uint32_t index)
{
    if (index == KERNEL_LCG && driver->config->inject_fault &&
        !create_payloads(driver, &kernel_lcg_faulty, false, &driver->faulty))
        return false;
    /* Kernels may declare their slots in any order: every other one does it backwards. */
    return create_payloads(driver, &test_kernels[index], index % 2 != 0, &driver->kernels[index]);
}

static bool create_buffer(struct driver *driver, uint32_t index)
{
    char label[16];
    snprintf(label, sizeof label, "b%" PRIu32, index);
    struct vyre_buffer_desc desc = {.size_bytes = driver->program->buffer_bytes[index],
                                    .label = label};
    struct vyre_diag diag = {0};
    enum vyre_status status =
        vyre_buffer_create(driver->device, &desc, &driver->buffers[index], &diag);
    return driver_expect_ok(driver, status, &diag, "vyre_buffer_create");
}

static bool create_object(struct driver *driver, uint32_t index)
{
    struct vyre_diag diag = {0};
    enum vyre_status status = vyre_batch_create(driver->device, &(struct vyre_batch_desc){0},
                                                &driver->objects[index].batch, &diag);
    return driver_expect_ok(driver, status, &diag, "vyre_batch_create");
}

static unsigned char *take(size_t size_bytes)
{
    unsigned char *memory = calloc(1, size_bytes);
    if (!memory)
        abort();
    return memory;
}

static bool create_all(struct driver *driver)
{
    const struct program *program = driver->program;
    for (uint32_t i = 0; i < KERNEL_COUNT; i++)
        if (!create_kernel(driver, i))
            return false;
    for (uint32_t i = 0; i < program->buffer_count; i++) {
        struct vyre_diag diag = {0};
        if (!create_buffer(driver, i))
            return false;
        fill_bytes(driver->scratch, program->buffer_bytes[i], model_buffer_seed(program, i));
        enum vyre_status status = vyre_buffer_write(driver->buffers[i], 0, driver->scratch,
                                                    program->buffer_bytes[i], &diag);
        if (!driver_expect_ok(driver, status, &diag, "vyre_buffer_write"))
            return false;
    }
    for (uint32_t i = 0; i < PROGRAM_OBJECTS; i++) {
        driver->objects[i].downloads = take(program->host_bytes);
        driver->objects[i].borrowed = take(program->host_bytes);
        if (!create_object(driver, i))
            return false;
    }
    return true;
}

static enum vyre_status open_device(const struct config *config, const struct program *program,
                                    struct vyre_instance *instance, struct vyre_device **out_device,
                                    struct vyre_diag *diag)
{
    struct vyre_device_desc desc = {
        .backend = config->backend,
        .name = config->device,
        .in_flight_limit = program->in_flight_limit,
        .busy_when_full = program->busy_when_full,
        .recording_limit = program->recording_limit,
        .persistent_idle_ns = program->persistent_idle_ns,
        .persistent_lease_ns = program->persistent_lease_ns,
        .cpu_workers = config->workers,
        .cpu_no_inline = config->no_inline,
        .no_proof = program->seed % 3 == 0, /* generated code must be right by itself, too */
    };
    return vyre_device_open(instance, &desc, out_device, diag);
}

static enum vyre_status create_instance(const struct config *config,
                                        const struct vyre_instance_desc *desc,
                                        struct vyre_instance **out_instance, struct vyre_diag *diag)
{
    enum vyre_status status = vyre_instance_create(desc, out_instance, diag);
    if (status != VYRE_OK || !config->ops)
        return status;
    return vyre_instance_register_backend(*out_instance, config->ops, diag);
}

enum vyre_status driver_open(const struct config *config, const struct program *program,
                             const struct vyre_instance_desc *desc,
                             struct vyre_instance **out_instance, struct vyre_device **out_device,
                             struct vyre_diag *diag)
{
    enum vyre_status status = create_instance(config, desc, out_instance, diag);
    return status == VYRE_OK ? open_device(config, program, *out_instance, out_device, diag)
                             : status;
}

enum vyre_status driver_probe(const struct config *config, struct device_shape *out_shape,
                              struct vyre_diag *diag)
{
    struct vyre_instance *instance = NULL;
    struct vyre_device *device = NULL;
    *out_shape = (struct device_shape){0};
    struct program *defaults = calloc(1, sizeof *defaults);
    if (!defaults)
        abort();
    enum vyre_status status = driver_open(config, defaults, NULL, &instance, &device, diag);
    free(defaults);
    if (status == VYRE_OK) {
        struct vyre_device_limits limits;
        struct vyre_ability bindless;
        vyre_device_get_limits(device, &limits);
        vyre_device_get_ability(device, VYRE_ABILITY_BINDLESS, &bindless);
        out_shape->alignment = limits.range_alignment < 4 ? 4 : limits.range_alignment;
        out_shape->table_entries = bindless.value == 0 ? 0 : limits.table_entries;
        vyre_device_close(&device);
    }
    vyre_instance_destroy(&instance);
    return status;
}

bool driver_init(struct driver *driver, const struct program *program, const struct config *config)
{
    memset(driver, 0, sizeof *driver);
    driver->program = program;
    driver->config = config;
    size_t largest = 1;
    for (uint32_t i = 0; i < program->buffer_count; i++)
        if (program->buffer_bytes[i] > largest)
            largest = program->buffer_bytes[i];
    driver->scratch = take(largest);
    if (config->kept) {
        driver->instance = config->kept->instance;
        driver->device = config->kept->device;
        vyre_device_get_counters(driver->device, &driver->before);
        return create_all(driver);
    }
    struct vyre_diag diag = {0};
    struct vyre_instance_desc desc = {.allocator = counting_allocator_face(&driver->allocator)};
    enum vyre_status status =
        driver_open(config, program, &desc, &driver->instance, &driver->device, &diag);
    return driver_expect_ok(driver, status, &diag, "opening") && create_all(driver);
}

/* The device stays open: what the program made on it goes. */
static void empty_device(struct driver *driver)
{
    const struct vyre_device_counters *before = &driver->before;
    struct vyre_device_counters *counters = &driver->counters;
    for (uint32_t i = 0; i < PROGRAM_OBJECTS; i++)
        vyre_batch_destroy(&driver->objects[i].batch);
    for (uint32_t i = 0; i < PROGRAM_BUFFERS_MAX; i++)
        vyre_buffer_destroy(&driver->buffers[i]);
    for (uint32_t i = 0; i < KERNEL_COUNT; i++)
        vyre_kernel_destroy(&driver->kernels[i]);
    vyre_kernel_destroy(&driver->faulty);
    (void)!vyre_device_wait_idle(driver->device, VYRE_FOREVER, NULL);
    const struct deadline limit = deadline_in(CALLBACK_SECONDS);
    while (atomic_load(&driver->callbacks_made) < driver->callbacks_asked &&
           !deadline_is_past(limit))
        sched_yield();
    vyre_device_get_counters(driver->device, counters);
    for (uint32_t i = 0; i < VYRE_MODE_COUNT; i++)
        counters->by_mode[i] -= before->by_mode[i];
    counters->recordings_made -= before->recordings_made;
    counters->recordings_reused -= before->recordings_reused;
    counters->recordings_evicted -= before->recordings_evicted;
    driver->device = NULL;
    driver->instance = NULL;
}

static bool check_closed(struct driver *driver)
{
    unsigned made = atomic_load(&driver->callbacks_made);
    unsigned failed = atomic_load(&driver->callbacks_failed);
    if (made != driver->callbacks_asked || failed != 0)
        return driver_broken(driver, "%u callbacks asked for, %u made, %u of them with a failure",
                             driver->callbacks_asked, made, failed);
    long long live = atomic_load(&driver->allocator.live_count);
    if (live != 0)
        return driver_broken(driver, "%lld allocations left after the instance was destroyed",
                             live);
    if (atomic_load(&driver->allocator.mismatch_count) != 0)
        return driver_broken(driver,
                             "memory was freed with another size than it was allocated with");
    return true;
}

bool driver_deinit(struct driver *driver)
{
    bool failed = driver->failure[0] != '\0';
    if (driver->device && driver->config->kept)
        empty_device(driver);
    if (driver->device) {
        vyre_device_get_counters(driver->device, &driver->counters);
        vyre_device_close(&driver->device);
    }
    vyre_instance_destroy(&driver->instance);
    for (uint32_t i = 0; i < PROGRAM_OBJECTS; i++) {
        free(driver->objects[i].downloads);
        free(driver->objects[i].borrowed);
    }
    for (uint32_t i = 0; i < driver->left_count; i++)
        free(driver->left[i]);
    free(driver->scratch);
    return failed || check_closed(driver);
}

/* ---- Building --------------------------------------------------------------------------------- */

static struct vyre_range range_of(const struct driver *driver, const struct area *area)
{
    return (struct vyre_range){driver->buffers[area->buffer], area->offset_bytes, area->size_bytes};
}

/* The injected fault: an lcg is wrong when a fill stands before it in its batch. */
static bool is_faulty(const struct driver *driver, const struct model_object *object,
                      uint32_t index)
{
    if (!driver->faulty || object->commands[index].kernel != KERNEL_LCG)
        return false;
    for (uint32_t i = 0; i < index; i++)
        if (object->commands[i].kind == COMMAND_FILL && !object->commands[i].dropped)
            return true;
    return false;
}

static void add_dispatch(struct driver *driver, struct vyre_batch *batch,
                         const struct model_object *object, uint32_t index)
{
    const struct command *command = &object->commands[index];
    const struct test_kernel *kernel = &test_kernels[command->kernel];
    struct vyre_buffer *table[PROGRAM_TABLE_MAX];
    for (uint32_t i = 0; i < command->table_count; i++)
        table[i] = driver->buffers[command->table[i]];
    /* Bindings may be given in any order, too. */
    bool backwards = command->groups[0] % 2 != 0;
    struct vyre_slot_binding bindings[KERNEL_BINDINGS_MAX];
    for (uint32_t i = 0; i < kernel->binding_count; i++) {
        const struct kernel_binding *binding = &kernel->bindings[i];
        struct vyre_slot_binding *slot = &bindings[backwards ? kernel->binding_count - 1 - i : i];
        *slot = (struct vyre_slot_binding){.slot = binding->desc.slot};
        if (kernel_binding_is_local(binding)) {
            slot->local_bytes = command->local_bytes;
        } else if (binding->desc.table) {
            slot->table = table;
            slot->table_count = command->table_count;
        } else {
            slot->range = range_of(driver, &command->areas[i]);
        }
    }
    struct vyre_dispatch dispatch = {
        .kernel =
            is_faulty(driver, object, index) ? driver->faulty : driver->kernels[command->kernel],
        .groups = {command->groups[0], command->groups[1], command->groups[2]},
        .bindings = bindings,
        .binding_count = kernel->binding_count,
        .constants = kernel->constant_count == 0 ? NULL : command->constants,
        .constants_size_bytes = kernel_constants_size(kernel),
        .specialization = command->specialize ? command->specialization : NULL,
        .specialization_count = command->specialize ? kernel->specialization_count : 0,
    };
    vyre_batch_dispatch(batch, &dispatch);
}

static void add_command(struct driver *driver, struct driver_object *self,
                        const struct model_object *object, uint32_t index)
{
    const struct command *command = &object->commands[index];
    struct vyre_range range = range_of(driver, &command->areas[0]);
    unsigned char *bytes = NULL;
    switch (command->kind) {
    case COMMAND_DISPATCH:
        add_dispatch(driver, self->batch, object, index);
        break;
    case COMMAND_COPY:
        vyre_batch_copy(self->batch, range, range_of(driver, &command->areas[1]));
        break;
    case COMMAND_FILL:
        vyre_batch_fill(self->batch, range, command->fill_word);
        break;
    case COMMAND_UPLOAD:
        bytes = take(range.size_bytes);
        fill_bytes(bytes, range.size_bytes, command->upload_seed);
        vyre_batch_upload(self->batch, range, bytes);
        memset(bytes, 0xee, range.size_bytes); /* they were copied */
        free(bytes);
        break;
    case COMMAND_UPLOAD_BORROWED:
        bytes = self->borrowed + command->host_offset;
        fill_bytes(bytes, range.size_bytes, model_borrowed_seed(object, command));
        vyre_batch_upload_borrowed(self->batch, range, bytes);
        break;
    case COMMAND_DOWNLOAD:
        vyre_batch_download(self->batch, range, self->downloads + command->host_offset);
        break;
    }
}

bool driver_build(struct driver *driver, const struct step *step, const struct model_object *object)
{
    struct driver_object *self = &driver->objects[step->object];
    if (self->in_flight) { /* what was borrowed must stay as it is */
        driver->left[driver->left_count++] = self->borrowed;
        self->borrowed = take(driver->program->host_bytes);
    }
    vyre_batch_reset(self->batch);
    for (uint32_t i = 0; i < object->command_count; i++)
        if (!object->commands[i].dropped)
            add_command(driver, self, object, i);
    struct vyre_diag diag = {0};
    enum vyre_status status = vyre_batch_status(self->batch, &diag);
    return driver_expect_ok(driver, status, &diag, "building the batch");
}

bool driver_set_constants(struct driver *driver, const struct step *step,
                          const struct model_object *object)
{
    const struct command *command = &object->commands[step->command];
    struct vyre_batch *batch = driver->objects[step->object].batch;
    size_t position = 0;
    for (uint32_t i = 0; i < step->command; i++)
        position += !object->commands[i].dropped;
    vyre_batch_set_constants(batch, position, command->constants,
                             kernel_constants_size(&test_kernels[command->kernel]));
    struct vyre_diag diag = {0};
    enum vyre_status status = vyre_batch_status(batch, &diag);
    return driver_expect_ok(driver, status, &diag, "vyre_batch_set_constants");
}

bool driver_refill(struct driver *driver, const struct step *step,
                   const struct model_object *object)
{
    if (!driver_wait(driver, WAIT_IDLE))
        return false;
    for (uint32_t i = 0; i < object->command_count; i++) {
        const struct command *command = &object->commands[i];
        if (command->kind == COMMAND_UPLOAD_BORROWED && !command->dropped)
            fill_bytes(driver->objects[step->object].borrowed + command->host_offset,
                       command->areas[0].size_bytes, model_borrowed_seed(object, command));
    }
    return true;
}

/* ---- Submitting ------------------------------------------------------------------------------- */

static void completed(void *user, struct vyre_ticket ticket, const struct vyre_batch_result *result)
{
    struct driver *driver = user;
    if (result->status != VYRE_OK || ticket.sequence == 0)
        atomic_fetch_add(&driver->callbacks_failed, 1);
    atomic_fetch_add(&driver->callbacks_made, 1);
}

bool driver_submit(struct driver *driver, const struct step *step, enum model_submit expected)
{
    struct driver_object *self = &driver->objects[step->object];
    struct vyre_submit_options options = {
        .mode = driver->config->mixed ? step->mode : driver->config->mode,
        .variant = driver->config->variant,
        .on_complete = step->called_back ? completed : NULL,
        .user = driver,
    };
    struct vyre_diag diag = {0};
    struct vyre_ticket ticket;
    memset(&ticket, 0xff, sizeof ticket);
    enum vyre_status status = vyre_batch_submit(self->batch, &options, &ticket, &diag);
    if (status == VYRE_BUSY && driver->program->busy_when_full) {
        if (diag.id != VYRE_DIAG_SUBMIT_FULL || ticket.sequence != 0)
            return driver_broken(driver,
                                 "submit was busy, but not with submit-full and a zeroed ticket");
        if (!driver_wait(driver, WAIT_IDLE))
            return false;
        status = vyre_batch_submit(self->batch, &options, &ticket, &diag);
    }
    if (expected == MODEL_STALE) {
        if (status != VYRE_INVALID || diag.id != VYRE_DIAG_BATCH_STALE || ticket.sequence != 0)
            return driver_broken(driver, "a stale batch was submitted: %s, %s",
                                 vyre_status_name(status), vyre_diag_id_name(diag.id));
        return true;
    }
    if (!driver_expect_ok(driver, status, &diag, "vyre_batch_submit"))
        return false;
    driver->tickets[driver->ticket_count++] = (struct driver_ticket){ticket, options.mode};
    driver->callbacks_asked += step->called_back;
    self->in_flight = true;
    return true;
}

/* ---- What is destroyed and created again ------------------------------------------------------ */

bool driver_new_buffer(struct driver *driver, uint32_t buffer)
{
    vyre_buffer_destroy(&driver->buffers[buffer]);
    return create_buffer(driver, buffer);
}

bool driver_new_kernel(struct driver *driver, uint32_t kernel)
{
    if (kernel == KERNEL_LCG)
        vyre_kernel_destroy(&driver->faulty);
    vyre_kernel_destroy(&driver->kernels[kernel]);
    return create_kernel(driver, kernel);
}

bool driver_new_object(struct driver *driver, uint32_t object)
{
    vyre_batch_destroy(&driver->objects[object].batch);
    return create_object(driver, object);
}
