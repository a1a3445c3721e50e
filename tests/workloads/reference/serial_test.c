/*
 * serial_test.c: the canonical workloads on a plain loop.
 *
 * Each file is read by the tool's parser; its schedule runs command by command, group by group, with
 * the tool's host kernels, and the outputs are checked against the reference. What this finds wrong is
 * wrong in a workload, a host kernel or the reference, not in the runtime. Then every output is
 * damaged in turn: the reference has to see it.
 *
 *   serial_test FOLDER NAME             checks
 *   serial_test --digests FOLDER NAME   prints `output digest` lines instead, as of one pass
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/hash.h>

#include "host_kernels/host_kernels.h"
#include "reference.h"
#include "run/schedule.h"
#include "workload/workload.h"

#define MESSAGE_BYTES 256

/* A workload whose buffers are memory. */
struct machine {
    const struct workload *workload;
    char **buffers;
};

static void *take(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    if (!memory) {
        fputs("serial_test: no memory\n", stderr);
        exit(1);
    }
    return memory;
}

static void require(enum vyre_status status, const struct vyre_diag *diag)
{
    if (status == VYRE_OK)
        return;
    fprintf(stderr, "serial_test: %s\n", diag->message);
    exit(1);
}

static void fill(const struct workload_init *init, enum workload_type type, void *bytes,
                 size_t size_bytes)
{
    struct vyre_diag diag;
    require(workload_fill(init, type, bytes, size_bytes / workload_type_size(type), &diag), &diag);
}

static void machine_init(struct machine *m, const struct workload *w)
{
    *m = (struct machine){.workload = w, .buffers = take(w->buffer_count, sizeof *m->buffers)};
    for (size_t i = 0; i < w->buffer_count; i++) {
        const struct workload_buffer *buffer = &w->buffers[i];
        m->buffers[i] = take(buffer->size_bytes, 1);
        fill(&buffer->init, buffer->type, m->buffers[i], buffer->size_bytes);
    }
}

static void machine_deinit(struct machine *m)
{
    for (size_t i = 0; i < m->workload->buffer_count; i++)
        free(m->buffers[i]);
    free(m->buffers);
}

static char *address(const struct machine *m, const struct workload_range *range)
{
    return m->buffers[range->buffer] + range->offset_bytes;
}

static void run_groups(vyre_host_function *function, struct vyre_host_group *group)
{
    const uint32_t *count = group->group_count;
    for (uint32_t z = 0; z < count[2]; z++) {
        for (uint32_t y = 0; y < count[1]; y++) {
            for (uint32_t x = 0; x < count[0]; x++) {
                group->group_id[0] = x;
                group->group_id[1] = y;
                group->group_id[2] = z;
                function(group);
            }
        }
    }
}

#define SLOTS_MAX 8

static void dispatch(const struct machine *m, const struct workload_command *command)
{
    const struct workload_kernel *kernel = &m->workload->kernels[command->kernel];
    vyre_host_function *function = host_kernel_find(kernel->host_name);
    _Alignas(16) unsigned char constants[VYRE_CONSTANTS_BYTES_MAX] = {0};
    uint64_t special[VYRE_SPECIALIZATION_VALUES_MAX] = {0};
    struct vyre_host_buffer buffers[SLOTS_MAX] = {{0}};
    void *table[64];
    if (!function || command->bind_count > SLOTS_MAX) {
        fprintf(stderr, "serial_test: kernel %s\n", kernel->name);
        exit(1);
    }
    if (command->constants)
        memcpy(constants, command->constants, kernel->constants_size_bytes);
    for (size_t i = 0; i < kernel->specialization_count; i++)
        special[i] =
            command->specialization ? command->specialization[i] : kernel->specializations[i].value;
    for (size_t i = 0; i < command->bind_count; i++) {
        const struct workload_bind *bind = &command->binds[i];
        struct vyre_host_buffer *buffer = &buffers[bind->slot]; /* slots are dense here */
        if (bind->kind == WORKLOAD_BIND_RANGE) {
            *buffer = (struct vyre_host_buffer){address(m, &bind->range), bind->range.size_bytes};
            continue;
        }
        for (uint32_t j = 0; j < bind->table_count && j < 64; j++)
            table[j] = m->buffers[bind->table[j]];
        *buffer = (struct vyre_host_buffer){table, bind->table_count * sizeof *table};
    }
    struct vyre_host_group group = {
        .size_bytes = sizeof group,
        .buffer_count = (uint32_t)command->bind_count,
        .specialization_count = (uint32_t)kernel->specialization_count,
        .buffers = buffers,
        .constants = constants,
        .specialization = special,
    };
    memcpy(group.group_count, command->groups, sizeof group.group_count);
    memcpy(group.local_size, kernel->local_size, sizeof group.local_size);
    run_groups(function, &group);
}

static void run_command(const struct machine *m, const struct workload_command *command)
{
    char *target = address(m, &command->target);
    size_t size = command->target.size_bytes;
    switch (command->type) {
    case WORKLOAD_DISPATCH:
        dispatch(m, command);
        break;
    case WORKLOAD_COPY:
        memcpy(target, address(m, &command->from), command->from.size_bytes);
        break;
    case WORKLOAD_FILL:
        for (size_t i = 0; i < size; i += sizeof command->fill_word)
            memcpy(target + i, &command->fill_word, sizeof command->fill_word);
        break;
    case WORKLOAD_UPLOAD:
        fill(&command->init, m->workload->buffers[command->target.buffer].type, target, size);
        break;
    case WORKLOAD_DOWNLOAD:
        break;
    }
}

static void run_schedule(const struct machine *m, uint32_t passes)
{
    struct schedule schedule;
    struct vyre_diag diag;
    require(schedule_init(&schedule, m->workload, passes, &diag), &diag);
    uint32_t index;
    while (schedule_next(&schedule, &index)) {
        const struct workload_batch *batch = &m->workload->batches[index];
        for (size_t i = 0; i < batch->command_count; i++)
            run_command(m, &batch->commands[i]);
    }
    schedule_deinit(&schedule);
}

/* How many checks went wrong. */
static int check_outputs(const struct machine *m, const char *name)
{
    const struct workload *w = m->workload;
    char message[MESSAGE_BYTES];
    const void **outputs = take(w->output_count, sizeof *outputs);
    for (size_t i = 0; i < w->output_count; i++)
        outputs[i] = m->buffers[w->outputs[i]];
    int failures = 0;
    if (!reference_check(name, w, outputs, message, sizeof message)) {
        fprintf(stderr, "FAILED: %s: %s\n", name, message);
        failures++;
    }
    for (size_t i = 0; i < w->output_count && failures == 0; i++) {
        const struct workload_buffer *buffer = &w->buffers[w->outputs[i]];
        char *damaged = m->buffers[w->outputs[i]] + buffer->size_bytes - 1;
        *damaged = (char)(*damaged ^ 0x40);
        if (reference_check(name, w, outputs, message, sizeof message)) {
            fprintf(stderr, "FAILED: %s: damage to %s was not seen\n", name, buffer->name);
            failures++;
        }
        *damaged = (char)(*damaged ^ 0x40);
    }
    free(outputs);
    return failures;
}

static void print_digests(const struct machine *m)
{
    const struct workload *w = m->workload;
    for (size_t i = 0; i < w->output_count; i++) {
        const struct workload_buffer *buffer = &w->buffers[w->outputs[i]];
        char text[VYRE_HASH128_TEXT_BYTES];
        vyre_hash128_format(vyre_hash128(m->buffers[w->outputs[i]], buffer->size_bytes), text);
        printf("%s %s\n", buffer->name, text);
    }
}

int main(int argument_count, char **arguments)
{
    bool digests = argument_count == 4 && strcmp(arguments[1], "--digests") == 0;
    if (argument_count != 3 && !digests) {
        fputs("usage: serial_test [--digests] FOLDER NAME\n", stderr);
        return 2;
    }
    const char *folder = arguments[argument_count - 2], *name = arguments[argument_count - 1];
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s.json", folder, name);
    struct workload *workload = NULL;
    struct vyre_diag diag;
    require(workload_load(path, &workload, &diag), &diag);
    struct machine machine;
    machine_init(&machine, workload);
    /* Checked after two passes: the second must find nothing of the first. */
    run_schedule(&machine, digests ? 1 : 2);
    int failures = 0;
    if (digests)
        print_digests(&machine);
    else
        failures = check_outputs(&machine, name);
    machine_deinit(&machine);
    workload_destroy(&workload);
    return failures ? 1 : 0;
}
