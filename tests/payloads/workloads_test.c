/*
 * workloads_test.c: a canonical workload with its OpenCL C or GLSL payloads, dispatch by dispatch on a
 * plain device; the outputs are held to the reference. What this finds wrong is wrong in a payload.
 *
 *   workloads_test opencl|vulkan FOLDER NAME [ARGUMENT]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/payloads.h"
#include "reference.h"
#include "run/schedule.h"
#include "workload/workload.h"

enum { KERNELS_MAX = 16, TEXT_BYTES_MAX = 1 << 16 };

struct machine {
    const struct workload *workload;
    const struct runner_ops *ops;
    void *runner;
    unsigned char *memory;
    size_t *offsets;     /* by buffer */
    size_t table_offset; /* room for one table, behind the buffers */
    size_t memory_bytes;
    struct subject subjects[KERNELS_MAX]; /* by kernel */
    char texts[KERNELS_MAX][TEXT_BYTES_MAX];
    struct trial trial;
};

static void fail(const char *what)
{
    fprintf(stderr, "FAILED: %s\n", what);
    exit(1);
}

static void require(enum vyre_status status, const struct vyre_diag *diag)
{
    if (status != VYRE_OK)
        fail(diag->message);
}

/* ---- Kernels ---------------------------------------------------------------------------------- */

static void read_text(const char *path, char *text)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail(path);
    size_t size = fread(text, 1, TEXT_BYTES_MAX - 1, file);
    fclose(file);
    text[size] = '\0';
}

static void add_subject(struct machine *m, size_t index, const char *name)
{
    const struct workload_kernel *kernel = &m->workload->kernels[index];
    struct subject *subject = &m->subjects[index];
    if (index >= KERNELS_MAX || kernel->binding_count > SUBJECT_BINDINGS_MAX ||
        kernel->specialization_count > SUBJECT_SPECIALIZATION_MAX)
        fail("the workload is too large");
    read_text(kernel->opencl_path, m->texts[index]);
    *subject = (struct subject){.suite = name,
                                .name = kernel->entry,
                                .opencl_c = m->texts[index],
                                .binding_count = (uint32_t)kernel->binding_count,
                                .constant_count = (uint32_t)kernel->constant_count,
                                .specialization_count = (uint32_t)kernel->specialization_count};
    for (uint32_t i = 0; i < 3; i++)
        subject->local_size[i] = kernel->local_size[i];
    for (uint32_t i = 0; i < kernel->binding_count; i++) {
        if (kernel->bindings[i].slot != i)
            fail("slots are not dense");
        subject->bindings[i] =
            (struct subject_binding){.slot = i, .table = kernel->bindings[i].table};
    }
    for (size_t i = 0; i < kernel->constant_count; i++)
        subject->constants[i].scalar = kernel->constants[i].type;
}

/* ---- Memory ----------------------------------------------------------------------------------- */

static void fill(const struct workload_init *init, enum workload_type type, void *bytes,
                 size_t size_bytes)
{
    struct vyre_diag diag;
    require(workload_fill(init, type, bytes, size_bytes / workload_type_size(type), &diag), &diag);
}

static size_t aligned(size_t size_bytes)
{
    return (size_bytes + TRIAL_ALIGNMENT - 1) / TRIAL_ALIGNMENT * TRIAL_ALIGNMENT;
}

static void machine_init(struct machine *m, const struct workload *w, const char *name,
                         const struct runner_ops *ops, const char *argument)
{
    m->workload = w;
    m->ops = ops;
    m->offsets = calloc(w->buffer_count + 1, sizeof *m->offsets);
    if (!m->offsets)
        fail("no memory");
    for (size_t i = 0; i < w->buffer_count; i++) {
        m->offsets[i] = m->table_offset;
        m->table_offset += aligned(w->buffers[i].size_bytes);
    }
    m->memory_bytes = m->table_offset + TRIAL_MEMBERS_MAX * sizeof(uint64_t);
    m->runner = ops->open(m->memory_bytes, argument);
    if (!m->runner)
        fail("the device does not open");
    m->memory = ops->memory(m->runner);
    for (size_t i = 0; i < w->buffer_count; i++)
        fill(&w->buffers[i].init, w->buffers[i].type, m->memory + m->offsets[i],
             w->buffers[i].size_bytes);
    for (size_t i = 0; i < w->kernel_count; i++)
        add_subject(m, i, name);
}

static size_t offset_of(const struct machine *m, const struct workload_range *range)
{
    return m->offsets[range->buffer] + range->offset_bytes;
}

/* ---- Commands --------------------------------------------------------------------------------- */

static void bind_slot(struct machine *m, const struct workload_bind *bind)
{
    struct trial_area *area = &m->trial.areas[bind->slot];
    if (bind->kind == WORKLOAD_BIND_RANGE) {
        *area = (struct trial_area){offset_of(m, &bind->range), bind->range.size_bytes};
        return;
    }
    if (bind->kind != WORKLOAD_BIND_TABLE || bind->table_count > TRIAL_MEMBERS_MAX)
        fail("a binding is of no known kind");
    *area = (struct trial_area){m->table_offset, bind->table_count * sizeof(uint64_t)};
    m->trial.member_count = bind->table_count;
    for (uint32_t i = 0; i < bind->table_count; i++)
        m->trial.members[i].offset_bytes = m->offsets[bind->table[i]];
}

static void dispatch(struct machine *m, const struct workload_command *command)
{
    const struct workload_kernel *kernel = &m->workload->kernels[command->kernel];
    struct trial *trial = &m->trial;
    memcpy(trial->groups, command->groups, sizeof trial->groups);
    trial->member_count = 0;
    for (size_t i = 0; i < command->bind_count; i++)
        bind_slot(m, &command->binds[i]);
    if (command->constants)
        memcpy(trial->constants, command->constants, kernel->constants_size_bytes);
    trial->specialized = command->specialization != NULL;
    for (size_t i = 0; i < kernel->specialization_count; i++)
        trial->specialization[i] =
            command->specialization ? command->specialization[i] : kernel->specializations[i].value;
    if (!m->ops->run(m->runner, &m->subjects[command->kernel], trial))
        fail(kernel->name);
}

static void run_command(struct machine *m, const struct workload_command *command)
{
    unsigned char *target = m->memory + offset_of(m, &command->target);
    size_t size = command->target.size_bytes;
    switch (command->type) {
    case WORKLOAD_DISPATCH:
        dispatch(m, command);
        break;
    case WORKLOAD_COPY:
        memcpy(target, m->memory + offset_of(m, &command->from), command->from.size_bytes);
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

static void run_schedule(struct machine *m)
{
    struct schedule schedule;
    struct vyre_diag diag;
    uint32_t index;
    require(schedule_init(&schedule, m->workload, 1, &diag), &diag);
    while (schedule_next(&schedule, &index)) {
        const struct workload_batch *batch = &m->workload->batches[index];
        for (size_t i = 0; i < batch->command_count; i++)
            run_command(m, &batch->commands[i]);
    }
    schedule_deinit(&schedule);
}

static bool check_outputs(const struct machine *m, const char *name)
{
    const struct workload *w = m->workload;
    char message[256];
    const void **outputs = calloc(w->output_count + 1, sizeof *outputs);
    if (!outputs)
        fail("no memory");
    for (size_t i = 0; i < w->output_count; i++)
        outputs[i] = m->memory + m->offsets[w->outputs[i]];
    bool right = reference_check(name, w, outputs, message, sizeof message);
    printf("%s, %s: %s\n", name, m->ops->name, right ? "agrees" : message);
    free(outputs);
    return right;
}

int main(int count, char **arguments)
{
    static struct machine machine;
    bool vulkan = count >= 4 && strcmp(arguments[1], "vulkan") == 0;
    if (count < 4 || (!vulkan && strcmp(arguments[1], "opencl") != 0)) {
        fprintf(stderr, "usage: %s opencl|vulkan FOLDER NAME [ARGUMENT]\n", arguments[0]);
        return 2;
    }
    char path[4096];
    struct workload *workload = NULL;
    struct vyre_diag diag;
    snprintf(path, sizeof path, "%s/%s.json", arguments[2], arguments[3]);
    require(workload_load(path, &workload, &diag), &diag);
    machine_init(&machine, workload, arguments[3], vulkan ? &vulkan_runner : &opencl_runner,
                 count > 4 ? arguments[4] : NULL);
    run_schedule(&machine);
    bool right = check_outputs(&machine, arguments[3]);
    machine.ops->close(machine.runner);
    free(machine.offsets);
    workload_destroy(&workload);
    return right ? 0 : 1;
}
