/*
 * fixture.c: opening, probing, and the small helpers that the cases are written with.
 */
#include "conformance/conformance.h"

#include <stdlib.h>

/* ---- The subject ------------------------------------------------------------------------------ */

struct vyre_instance *subject_instance(const struct subject *subject,
                                       const struct vyre_instance_desc *desc,
                                       struct vyre_diag *diag)
{
    struct vyre_instance *instance = NULL;
    if (vyre_instance_create(desc, &instance, diag) != VYRE_OK)
        return NULL;
    if (subject->ops && vyre_instance_register_backend(instance, subject->ops, diag) != VYRE_OK)
        vyre_instance_destroy(&instance);
    return instance;
}

static void lacks(struct subject *subject, uint32_t need, const char *reason)
{
    uint32_t bit = 0;
    while (need >> bit != 1)
        bit++;
    snprintf(subject->reasons[bit], sizeof subject->reasons[bit], "%s", reason);
}

/* Whether submit comes back while a kernel stands in a closed gate. */
static bool probe_async(struct vyre_device *device, struct vyre_kernel *kernel)
{
    struct gate gate = {0};
    struct gate_opener opener;
    struct vyre_buffer *data = NULL;
    struct vyre_batch *batch = NULL;
    bool async = false;
    if (vyre_buffer_create(device, &(struct vyre_buffer_desc){.size_bytes = 64}, &data, NULL) ==
            VYRE_OK &&
        vyre_batch_create(device, NULL, &batch, NULL) == VYRE_OK) {
        add_gate(batch, kernel, whole(data), &gate);
        gate_opener_start(&opener, &gate, 200000000);
        enum vyre_status status = vyre_batch_submit(batch, NULL, NULL, NULL);
        async = status == VYRE_OK && !atomic_load(&opener.opened);
        gate_opener_join(&opener);
        if (vyre_device_wait_idle(device, VYRE_FOREVER, NULL) != VYRE_OK)
            async = false;
    }
    return async;
}

static void probe_kernels(struct subject *subject, struct vyre_device *device)
{
    struct kernel_plan plan;
    struct vyre_kernel *gate = NULL;
    struct vyre_diag diag = {0};
    kernel_plan_init(&plan, KERNEL_GATE);
    if (vyre_kernel_create(device, &plan.desc, &gate, &diag) != VYRE_OK) {
        lacks(subject, NEEDS_HOST_KERNELS, "the device does not run host kernels");
        char reason[VYRE_REASON_BYTES];
        snprintf(reason, sizeof reason, "needs the gate, a host kernel: %s",
                 kernel_host_only_reason(KERNEL_GATE));
        lacks(subject, NEEDS_ASYNC, reason);
        return;
    }
    subject->has |= NEEDS_HOST_KERNELS;
    if (probe_async(device, gate))
        subject->has |= NEEDS_ASYNC;
    else
        lacks(subject, NEEDS_ASYNC, "the backend runs work inside submit: nothing stays in flight");
}

static bool probe_failed(const struct subject *subject, const struct vyre_diag *diag)
{
    char text[1024];
    vyre_diag_format(diag, text, sizeof text);
    fprintf(stderr, "conformance: backend %s: %s\n", subject->backend, text);
    return false;
}

bool subject_probe(struct subject *subject)
{
    struct vyre_diag diag = {0};
    struct vyre_device *device = NULL;
    struct vyre_device_desc desc = {.backend = subject->backend,
                                    .name = subject->device_name,
                                    .index = subject->device_index,
                                    .cpu_no_inline = true};
    struct vyre_instance *instance = subject_instance(subject, NULL, &diag);
    if (!instance)
        return probe_failed(subject, &diag);
    if (vyre_device_open(instance, &desc, &device, &diag) != VYRE_OK) {
        vyre_instance_destroy(&instance);
        return probe_failed(subject, &diag);
    }
    for (uint32_t i = 0; i < VYRE_ABILITY_COUNT; i++) {
        struct vyre_ability ability;
        vyre_device_get_ability(device, (enum vyre_ability_id)i, &ability);
        if (ability.value)
            subject->has |= 1u << i;
        else
            lacks(subject, 1u << i, ability.reason);
    }
    probe_kernels(subject, device);
    vyre_device_close(&device);
    vyre_instance_destroy(&instance);
    return true;
}

/* ---- Devices ---------------------------------------------------------------------------------- */

static struct vyre_device *open_in(struct fixture *f, struct vyre_instance *instance,
                                   const struct vyre_device_desc *desc)
{
    struct vyre_device_desc wanted = desc ? *desc : (struct vyre_device_desc){0};
    for (size_t i = 0; i < FIXTURE_DEVICES; i++) {
        if (f->devices[i])
            continue;
        wanted.backend = f->subject->backend;
        if (!wanted.name) { /* else the case chooses */
            wanted.name = f->subject->device_name;
            wanted.index = f->subject->device_index;
        }
        assert_ok(f, vyre_device_open(instance, &wanted, &f->devices[i], &f->diag));
        return f->devices[i];
    }
    fail_msg("the case opens too many devices");
    return NULL;
}

struct vyre_device *open_device(struct fixture *f, const struct vyre_device_desc *desc)
{
    return open_in(f, f->instance, desc);
}

struct vyre_device *open_in_other(struct fixture *f, const struct vyre_instance_desc *desc)
{
    f->other = subject_instance(f->subject, desc, &f->diag);
    assert_ok(f, f->other ? VYRE_OK : f->diag.status);
    return open_in(f, f->other, NULL);
}

struct vyre_device *open_async_device(struct fixture *f, struct vyre_device_desc desc)
{
    desc.cpu_no_inline = true;
    return open_device(f, &desc);
}

void close_device(struct fixture *f, struct vyre_device **device)
{
    for (size_t i = 0; i < FIXTURE_DEVICES; i++) {
        if (f->devices[i] == *device)
            f->devices[i] = NULL;
    }
    vyre_device_close(device);
    assert_null(*device);
}

bool device_has(struct vyre_device *device, enum vyre_ability_id id)
{
    struct vyre_ability ability;
    vyre_device_get_ability(device, id, &ability);
    return ability.value != 0;
}

size_t device_modes(struct vyre_device *device, enum vyre_mode out_modes[3])
{
    size_t count = 0;
    out_modes[count++] = VYRE_MODE_PLAIN;
    if (device_has(device, VYRE_ABILITY_REPLAY))
        out_modes[count++] = VYRE_MODE_REPLAY;
    if (device_has(device, VYRE_ABILITY_PERSISTENT))
        out_modes[count++] = VYRE_MODE_PERSISTENT;
    return count;
}

/* ---- Objects ---------------------------------------------------------------------------------- */

struct vyre_buffer *make_buffer(struct fixture *f, struct vyre_device *device, size_t size_bytes)
{
    struct vyre_buffer *buffer = NULL;
    struct vyre_buffer_desc desc = {.size_bytes = size_bytes};
    assert_ok(f, vyre_buffer_create(device, &desc, &buffer, &f->diag));
    return buffer;
}

struct vyre_buffer *make_words(struct fixture *f, struct vyre_device *device, const uint32_t *words,
                               size_t count)
{
    struct vyre_buffer *buffer = make_buffer(f, device, count * sizeof *words);
    assert_ok(f, vyre_buffer_write(buffer, 0, words, count * sizeof *words, &f->diag));
    return buffer;
}

struct vyre_kernel *make_kernel(struct fixture *f, struct vyre_device *device, enum kernel_id id)
{
    struct kernel_plan plan;
    struct vyre_kernel *kernel = NULL;
    kernel_plan_init(&plan, id);
    assert_ok(f, vyre_kernel_create(device, &plan.desc, &kernel, &f->diag));
    return kernel;
}

struct vyre_batch *make_batch(struct fixture *f, struct vyre_device *device)
{
    struct vyre_batch *batch = NULL;
    assert_ok(f, vyre_batch_create(device, NULL, &batch, &f->diag));
    return batch;
}

/* ---- Commands --------------------------------------------------------------------------------- */

static uint32_t groups_for(uint32_t count)
{
    return (count + LOCAL_SIZE - 1) / LOCAL_SIZE;
}

void add_add(struct vyre_batch *batch, struct vyre_kernel *kernel, struct vyre_range data,
             uint32_t value, uint32_t count)
{
    struct add_constants constants = {value, count};
    struct vyre_slot_binding binding = {.slot = 0, .range = data};
    vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = kernel,
                                                       .groups = {groups_for(count), 1, 1},
                                                       .bindings = &binding,
                                                       .binding_count = 1,
                                                       .constants = &constants,
                                                       .constants_size_bytes = sizeof constants});
}

void add_mix(struct vyre_batch *batch, struct vyre_kernel *kernel, struct vyre_range from,
             struct vyre_range to, uint32_t factor, uint32_t count)
{
    struct mix_constants constants = {factor, count};
    struct vyre_slot_binding bindings[] = {{.slot = 0, .range = from}, {.slot = 1, .range = to}};
    vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = kernel,
                                                       .groups = {groups_for(count), 1, 1},
                                                       .bindings = bindings,
                                                       .binding_count = 2,
                                                       .constants = &constants,
                                                       .constants_size_bytes = sizeof constants});
}

struct append_constants append_constants_for(struct vyre_range log, uint32_t value)
{
    size_t size_bytes =
        log.size_bytes ? log.size_bytes : vyre_buffer_size(log.buffer) - log.offset_bytes;
    return (struct append_constants){value, (uint32_t)(size_bytes / sizeof value)};
}

void add_append(struct vyre_batch *batch, struct vyre_kernel *kernel, struct vyre_range log,
                uint32_t value)
{
    struct append_constants constants = append_constants_for(log, value);
    struct vyre_slot_binding binding = {.slot = 0, .range = log};
    vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = kernel,
                                                       .groups = {1, 1, 1},
                                                       .bindings = &binding,
                                                       .binding_count = 1,
                                                       .constants = &constants,
                                                       .constants_size_bytes = sizeof constants});
}

void add_gate(struct vyre_batch *batch, struct vyre_kernel *kernel, struct vyre_range data,
              struct gate *gate)
{
    uint64_t address = (uintptr_t)gate;
    struct vyre_slot_binding binding = {.slot = 0, .range = data};
    vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = kernel,
                                                       .groups = {1, 1, 1},
                                                       .bindings = &binding,
                                                       .binding_count = 1,
                                                       .constants = &address,
                                                       .constants_size_bytes = sizeof address});
}

/* ---- Running ---------------------------------------------------------------------------------- */

struct vyre_ticket submit_in(struct fixture *f, struct vyre_batch *batch, enum vyre_mode mode)
{
    struct vyre_ticket ticket = {0};
    struct vyre_submit_options options = {.mode = mode};
    assert_ok(f, vyre_batch_submit(batch, &options, &ticket, &f->diag));
    assert_int_not_equal(ticket.sequence, 0);
    return ticket;
}

void wait_for(struct fixture *f, struct vyre_device *device, struct vyre_ticket ticket)
{
    assert_ok(f, vyre_ticket_wait(device, ticket, VYRE_FOREVER, &f->diag));
}

void run_in(struct fixture *f, struct vyre_device *device, struct vyre_batch *batch,
            enum vyre_mode mode)
{
    struct vyre_batch_result result = {0};
    struct vyre_ticket ticket = submit_in(f, batch, mode);
    wait_for(f, device, ticket);
    assert_ok(f, vyre_ticket_result(device, ticket, &result, &f->diag));
    assert_int_equal(result.status, VYRE_OK);
    assert_int_not_equal(result.mode, VYRE_MODE_AUTO);
    if (mode != VYRE_MODE_AUTO)
        assert_string_equal(vyre_mode_name(result.mode), vyre_mode_name(mode));
}

uint32_t read_word(struct fixture *f, struct vyre_buffer *buffer, size_t index)
{
    uint32_t word = 0;
    assert_ok(f, vyre_buffer_read(buffer, index * sizeof word, &word, sizeof word, &f->diag));
    return word;
}

struct vyre_device_counters counters_of(struct vyre_device *device)
{
    struct vyre_device_counters counters;
    vyre_device_get_counters(device, &counters);
    return counters;
}

/* ---- Asserts ---------------------------------------------------------------------------------- */

void assert_ok_at(struct fixture *f, enum vyre_status status, const char *text, const char *file,
                  int line)
{
    if (status == VYRE_OK)
        return;
    char diag[1024];
    vyre_diag_format(&f->diag, diag, sizeof diag);
    print_error("%s is %s\n%s\n", text, vyre_status_name(status), diag);
    _fail(file, line);
}

static void expect_id(struct fixture *f, enum vyre_status status, enum vyre_diag_id id,
                      const char *where, const char *file, int line)
{
    if (f->diag.id == id && status == vyre_diag_id_status(id) && f->diag.status == status)
        return;
    print_error("%s: %s with %s, wanted %s\n", where, vyre_status_name(status),
                vyre_diag_id_name(f->diag.id), vyre_diag_id_name(id));
    _fail(file, line);
}

void assert_building_error_at(struct fixture *f, struct vyre_batch *batch, enum vyre_diag_id id,
                              const char *file, int line)
{
    struct vyre_ticket ticket = {7, 7};
    vyre_diag_reset(&f->diag);
    expect_id(f, vyre_batch_status(batch, &f->diag), id, "batch_status", file, line);
    vyre_diag_reset(&f->diag);
    expect_id(f, vyre_batch_submit(batch, NULL, &ticket, &f->diag), id, "submit", file, line);
    if (ticket.device || ticket.sequence) {
        print_error("the ticket of a failed submit is not zeroed\n");
        _fail(file, line);
    }
    vyre_diag_reset(&f->diag);
    expect_id(f, vyre_batch_warm_up(batch, VYRE_MODE_PLAIN, &f->diag), id, "warm_up", file, line);
}

void assert_words_at(struct fixture *f, struct vyre_buffer *buffer, const uint32_t *words,
                     size_t count, const char *file, int line)
{
    uint32_t *held = malloc(count * sizeof *held);
    assert_non_null(held);
    enum vyre_status status = vyre_buffer_read(buffer, 0, held, count * sizeof *held, &f->diag);
    size_t first = 0;
    while (first < count && held[first] == words[first])
        first++;
    uint32_t got = first < count ? held[first] : 0;
    free(held);
    assert_ok_at(f, status, "vyre_buffer_read", file, line);
    if (first < count) {
        print_error("word %zu is %u, wanted %u\n", first, got, words[first]);
        _fail(file, line);
    }
}

void assert_all_words_at(struct fixture *f, struct vyre_buffer *buffer, uint32_t word, size_t count,
                         const char *file, int line)
{
    uint32_t *words = malloc(count * sizeof *words);
    assert_non_null(words);
    for (size_t i = 0; i < count; i++)
        words[i] = word;
    assert_words_at(f, buffer, words, count, file, line);
    free(words);
}
