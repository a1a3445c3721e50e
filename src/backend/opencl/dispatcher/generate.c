/*
 * generate.c: persistent mode for ordinary OpenCL C kernels.
 */
#include "backend/opencl/dispatcher/dispatcher.h"

#include <string.h>

#include "backend/opencl/dispatcher/emit.h"
#include "backend/opencl/dispatcher/prelude.h"
#include "backend/opencl/dispatcher/ring.h"
#include "base/memory.h"

/*
 * Room for the tokens and lists of the longest source that is read: at least 64 bytes for each of
 * its bytes.
 */
#define ARENA_BLOCK_BYTES ((size_t)64 << 10)
#define ARENA_LIMIT_BYTES ((size_t)512 << 20)

static bool kernel_is_valid(const struct vyre_cl_dispatcher_kernel *kernel)
{
    return kernel->entry && (kernel->arguments || kernel->argument_count == 0) &&
           kernel->address_count <= VYRE_CL_SLOT_ADDRESSES_MAX;
}

static enum vyre_status validate(const struct vyre_cl_dispatcher_input *input,
                                 struct vyre_diag *diag)
{
    if (!input || !input->source || !input->kernels || (input->define_count && !input->defines))
        return vyre_diag_set(diag, VYRE_DIAG_ARGUMENT_NULL, NULL, 0,
                             "a dispatcher needs a source and kernels");
    bool good = input->kernel_count >= 1 && input->kernel_count <= VYRE_CL_DISPATCHER_KERNELS &&
                input->work_dim <= 3 && input->source_bytes <= VYRE_CL_SOURCE_BYTES_MAX;
    for (size_t i = 0; i < 3; i++)
        good = good && input->local_size[i] >= 1 && input->local_size[i] <= 1u << 16;
    for (size_t i = 0; good && i < input->kernel_count; i++)
        good = kernel_is_valid(&input->kernels[i]);
    size_t define_bytes = 0;
    for (size_t i = 0; good && i < input->define_count; i++) {
        good = input->defines[i] != NULL;
        define_bytes += good ? strlen(input->defines[i]) : 0;
    }
    if (!good || define_bytes > VYRE_CL_SOURCE_BYTES_MAX)
        return vyre_diag_set(diag, VYRE_DIAG_ARGUMENT_RANGE, NULL, 0,
                             "a dispatcher's source, kernels or sizes are out of range");
    return VYRE_OK;
}

static enum vyre_cl_dispatcher_form choose_form(struct vyre_cl_program *program,
                                                const struct vyre_cl_dispatcher_input *input)
{
    if (input->form == VYRE_CL_FORM_LOOPED && program->is_groupwise)
        vyre_cl_program_refuse(program, "barriers in a looped dispatcher");
    if (input->form != VYRE_CL_FORM_AUTO)
        return input->form;
    return program->is_groupwise ? VYRE_CL_FORM_GROUPED : VYRE_CL_FORM_LOOPED;
}

/* Reads and checks the program; the arena holds what `program` points to. */
static enum vyre_status read_program(struct vyre_cl_program *program, struct vyre_arena *arena,
                                     const struct vyre_cl_dispatcher_input *input,
                                     enum vyre_cl_dispatcher_form *out_form, struct vyre_diag *diag)
{
    vyre_cl_program_read(program, arena, input);
    *out_form = choose_form(program, input);
    if (!program->reason)
        return VYRE_OK;
    *out_form = VYRE_CL_FORM_AUTO;
    if (program->reason == VYRE_CL_NO_MEMORY)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0, "reading an OpenCL source");
    return vyre_diag_set(diag, VYRE_DIAG_SUBMIT_MODE, NULL, 0, "%s", program->reason);
}

static const char SAME_SHAPE[] =
    "#define VYRE_SAME_SHAPE(vyre_x, vyre_y, vyre_z) \\\n"
    "  ((vyre_x) == VYRE_LX && (vyre_y) == VYRE_LY && (vyre_z) == VYRE_LZ)\n";

static void write_all(struct vyre_cl_emitter *emitter)
{
    vyre_cl_prelude_write(&emitter->out, emitter->input, emitter->form);
    vyre_text_append(&emitter->out, SAME_SHAPE);
    vyre_cl_emit_calls(emitter);
    vyre_cl_emit_source(emitter);
    bool pool = vyre_cl_emit_dispatch(emitter);
    vyre_cl_resident_write(&emitter->out, emitter->input, emitter->form, pool);
}

/* Once to measure and once to write. */
static enum vyre_status write_output(const struct vyre_allocator *allocator,
                                     struct vyre_cl_emitter *emitter,
                                     struct vyre_cl_dispatcher_output *out, struct vyre_diag *diag)
{
    emitter->out = vyre_text_begin(NULL, 0);
    write_all(emitter);
    size_t size = emitter->out.length;
    char *text = vyre_memory_allocate(allocator, size + 1, 1);
    if (!text)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0, "writing an OpenCL source");
    emitter->out = vyre_text_begin(text, size + 1);
    write_all(emitter);
    bool looped = emitter->form == VYRE_CL_FORM_LOOPED;
    *out = (struct vyre_cl_dispatcher_output){
        .source = text, .source_bytes = size, .form = emitter->form};
    for (size_t i = 0; i < 3; i++)
        out->launch_local_size[i] = looped ? 1 : emitter->input->local_size[i];
    return VYRE_OK;
}

enum vyre_status vyre_cl_dispatcher_generate(const struct vyre_allocator *allocator,
                                             const struct vyre_cl_dispatcher_input *input,
                                             struct vyre_cl_dispatcher_output *out,
                                             struct vyre_diag *diag)
{
    *out = (struct vyre_cl_dispatcher_output){0};
    enum vyre_status status = validate(input, diag);
    if (status != VYRE_OK)
        return status;
    struct vyre_allocator resolved = vyre_allocator_resolve(allocator);
    struct vyre_arena arena;
    vyre_arena_init(&arena, &resolved, ARENA_BLOCK_BYTES, ARENA_LIMIT_BYTES);
    struct vyre_cl_program program;
    struct vyre_cl_emitter emitter = {.program = &program, .input = input};
    status = read_program(&program, &arena, input, &emitter.form, diag);
    if (status == VYRE_OK)
        status = write_output(&resolved, &emitter, out, diag);
    vyre_arena_deinit(&arena);
    return status;
}

void vyre_cl_dispatcher_free(const struct vyre_allocator *allocator,
                             struct vyre_cl_dispatcher_output *output)
{
    struct vyre_allocator resolved = vyre_allocator_resolve(allocator);
    if (output->source)
        vyre_memory_free(&resolved, output->source, output->source_bytes + 1, 1);
    *output = (struct vyre_cl_dispatcher_output){0};
}

enum vyre_status vyre_cl_dispatcher_check(const struct vyre_allocator *allocator,
                                          const struct vyre_cl_dispatcher_input *input,
                                          char out_reason[VYRE_CL_REASON_BYTES],
                                          enum vyre_cl_dispatcher_form *out_form)
{
    enum vyre_cl_dispatcher_form form = VYRE_CL_FORM_AUTO;
    struct vyre_diag diag;
    vyre_diag_reset(&diag);
    enum vyre_status status = validate(input, &diag);
    if (status == VYRE_OK) {
        struct vyre_allocator resolved = vyre_allocator_resolve(allocator);
        struct vyre_arena arena;
        vyre_arena_init(&arena, &resolved, ARENA_BLOCK_BYTES, ARENA_LIMIT_BYTES);
        struct vyre_cl_program program;
        status = read_program(&program, &arena, input, &form, &diag);
        vyre_arena_deinit(&arena);
    }
    struct vyre_text reason = vyre_text_begin(out_reason, VYRE_CL_REASON_BYTES);
    vyre_text_append(&reason, diag.message);
    if (out_form)
        *out_form = form;
    return status;
}
