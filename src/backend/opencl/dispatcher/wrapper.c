/*
 * wrapper.c: from a slot of the ring to a call of the user's kernel.
 *
 * A wrapper comes right after its kernel, so that the words of its parameters have the same
 * meaning. It declares each parameter again and fills it from the slot, so the compiler checks
 * types and sizes.
 */
#include "backend/opencl/dispatcher/emit.h"
#include "backend/opencl/dispatcher/kernels.h"
#include "backend/opencl/dispatcher/ring.h"

static bool is_qualifier(const struct vyre_cl_program *program, uint32_t index)
{
    return vyre_cl_is(program, index, "const") || vyre_cl_is(program, index, "volatile") ||
           vyre_cl_is(program, index, "private") || vyre_cl_is(program, index, "__private");
}

static void emit_type(struct vyre_cl_emitter *emitter, struct vyre_cl_span span)
{
    for (uint32_t i = span.first; i + 1 < span.end; i++) {
        if (is_qualifier(emitter->program, i))
            continue;
        vyre_cl_emit_tokens(emitter, i, i + 1);
        vyre_text_append(&emitter->out, " ");
    }
}

static void emit_scalar(struct vyre_cl_emitter *emitter, struct vyre_cl_span span,
                        const struct vyre_cl_argument *argument, uint32_t address_count)
{
    uint32_t offset = vyre_cl_slot_constants_offset(address_count) + argument->offset_bytes;
    vyre_text_append(&emitter->out, "  { typedef char vyre_size_check[sizeof(");
    emit_type(emitter, span);
    vyre_text_appendf(&emitter->out, ") == %uu ? 1 : -1]; }\n  const ", argument->size_bytes);
    emit_type(emitter, span);
    vyre_cl_emit_tokens(emitter, span.end - 1, span.end);
    vyre_text_append(&emitter->out, " = *(__global const ");
    emit_type(emitter, span);
    vyre_text_appendf(&emitter->out, "*)(vyre_s + VYRE_PAYLOAD + %uu);\n", offset);
}

static void emit_argument(struct vyre_cl_emitter *emitter, struct vyre_cl_span span,
                          const struct vyre_cl_dispatcher_kernel *kernel, size_t index)
{
    const struct vyre_cl_argument *argument = &kernel->arguments[index];
    if (argument->kind == VYRE_CL_ARGUMENT_SCALAR) {
        emit_scalar(emitter, span, argument, kernel->address_count);
        return;
    }
    vyre_text_append(&emitter->out, "  ");
    vyre_cl_emit_tokens(emitter, span.first, span.end);
    if (argument->kind == VYRE_CL_ARGUMENT_LOCAL)
        vyre_text_appendf(&emitter->out, " = (__local void *)vyre_m%zu;\n", index);
    else
        vyre_text_appendf(&emitter->out,
                          " = (%s void *)*(__global const vyre_u64 *)(vyre_s + VYRE_PAYLOAD + "
                          "%uu);\n",
                          argument->kind == VYRE_CL_ARGUMENT_GLOBAL ? "__global" : "__constant",
                          8 * argument->address);
}

static bool uses_pool(const struct vyre_cl_dispatcher_kernel *kernel,
                      const struct vyre_cl_function *function)
{
    bool used = function->local_count > 0;
    for (size_t i = 0; i < kernel->argument_count; i++)
        used = used || kernel->arguments[i].kind == VYRE_CL_ARGUMENT_LOCAL;
    return used;
}

/*
 * The local memory of a kernel, as parameters, as arguments or as members of its part of the pool.
 */
static void emit_local_list(struct vyre_cl_emitter *emitter, size_t index, const char *variable,
                            const char *argument)
{
    const struct vyre_cl_dispatcher_kernel *kernel = &emitter->input->kernels[index];
    const struct vyre_cl_function *function =
        vyre_cl_program_kernel(emitter->program, kernel->entry);
    for (uint32_t i = 0; i < function->local_count; i++) {
        for (const char *c = variable; *c; c++) {
            if (*c == '@')
                vyre_text_appendf(&emitter->out, "%u", function->first_local + i);
            else if (*c == '!')
                vyre_text_appendf(&emitter->out, "%zu", index);
            else
                vyre_text_appendf(&emitter->out, "%c", *c);
        }
    }
    for (size_t i = 0; i < kernel->argument_count; i++) {
        if (kernel->arguments[i].kind != VYRE_CL_ARGUMENT_LOCAL)
            continue;
        for (const char *c = argument; *c; c++) {
            if (*c == '@')
                vyre_text_appendf(&emitter->out, "%zu", i);
            else if (*c == '!')
                vyre_text_appendf(&emitter->out, "%zu", index);
            else if (*c == '$')
                vyre_text_appendf(&emitter->out, "%u", kernel->arguments[i].size_bytes);
            else
                vyre_text_appendf(&emitter->out, "%c", *c);
        }
    }
}

static void emit_call(struct vyre_cl_emitter *emitter, const struct vyre_cl_function *function,
                      const char *ids)
{
    vyre_text_append(&emitter->out, "vyre_u_");
    vyre_cl_emit_tokens(emitter, function->name_token, function->name_token + 1);
    vyre_text_appendf(&emitter->out, "(%s", ids);
    for (uint32_t i = 0; i < function->local_count; i++)
        vyre_text_appendf(&emitter->out, ", vyre_at_%u", function->first_local + i);
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        struct vyre_cl_span span = vyre_cl_kernel_parameter(emitter->program, function, i);
        vyre_text_append(&emitter->out, ", ");
        vyre_cl_emit_tokens(emitter, span.end - 1, span.end);
    }
    vyre_text_append(&emitter->out, ");\n");
}

static const char LOOP_HEAD[] =
    "  if (vyre_first == vyre_end) return;\n"
    "  const vyre_size vyre_gx = vyre_plain(vyre_s, VYRE_GROUPS);\n"
    "  const vyre_size vyre_gy = vyre_plain(vyre_s, VYRE_GROUPS + 4);\n"
    "  const vyre_size vyre_gz = vyre_plain(vyre_s, VYRE_GROUPS + 8);\n"
    "  vyre_size vyre_x = 0, vyre_y = 0, vyre_z = 0;\n"
    "  if (vyre_first) {\n"
    "    vyre_x = vyre_first % vyre_gx;\n"
    "    vyre_y = vyre_first / vyre_gx % vyre_gy;\n"
    "    vyre_z = vyre_first / vyre_gx / vyre_gy;\n"
    "  }\n"
    "  for (vyre_u32 vyre_i = vyre_first; vyre_i != vyre_end; ++vyre_i) {\n"
    "    for (vyre_size vyre_lz = 0; vyre_lz < VYRE_LZ; ++vyre_lz)\n"
    "    for (vyre_size vyre_ly = 0; vyre_ly < VYRE_LY; ++vyre_ly)\n";

static const char LOOP_TAIL[] = "    if (++vyre_x == vyre_gx) {\n"
                                "      vyre_x = 0;\n"
                                "      if (++vyre_y == vyre_gy) { vyre_y = 0; ++vyre_z; }\n"
                                "    }\n"
                                "  }\n";

static void emit_loop(struct vyre_cl_emitter *emitter, const struct vyre_cl_function *function)
{
    vyre_text_append(&emitter->out, LOOP_HEAD);
    /* Has the compiler add checks at run time if it cannot see that lanes are independent. */
    if (emitter->input->local_size[0] >= 8)
        vyre_text_append(&emitter->out, "#pragma clang loop vectorize(enable)\n");
    vyre_text_append(&emitter->out,
                     "    for (vyre_size vyre_lx = 0; vyre_lx < VYRE_LX; ++vyre_lx)\n      ");
    emit_call(emitter, function,
              "vyre_lx, vyre_ly, vyre_lz, vyre_x * VYRE_LX, vyre_y * VYRE_LY, vyre_z * VYRE_LZ, "
              "vyre_gx, vyre_gy, vyre_gz");
    vyre_text_append(&emitter->out, LOOP_TAIL);
}

void vyre_cl_emit_wrapper(struct vyre_cl_emitter *emitter, size_t index)
{
    const struct vyre_cl_dispatcher_kernel *kernel = &emitter->input->kernels[index];
    const struct vyre_cl_function *function =
        vyre_cl_program_kernel(emitter->program, kernel->entry);
    bool looped = emitter->form == VYRE_CL_FORM_LOOPED;
    vyre_text_appendf(
        &emitter->out, "\nVYRE_INLINE void vyre_run_%zu(const vyre_bytes vyre_s, %s", index,
        looped ? "const vyre_u32 vyre_first, const vyre_u32 vyre_end" : "VYRE_PARAMETERS");
    emit_local_list(emitter, index, ", __local vyre_type_@ *vyre_at_@", ", __local uchar *vyre_m@");
    vyre_text_append(&emitter->out, ")\n{\n");
    for (size_t i = 0; i < kernel->argument_count; i++)
        emit_argument(emitter, vyre_cl_kernel_parameter(emitter->program, function, i), kernel, i);
    if (looped) {
        emit_loop(emitter, function);
    } else {
        vyre_text_append(&emitter->out, "  ");
        emit_call(emitter, function, "VYRE_PASS");
    }
    vyre_text_append(&emitter->out, "}\n");
}

/* One member per kernel with local memory: kernels of one group never run at the same time. */
static bool emit_pool(struct vyre_cl_emitter *emitter)
{
    bool any = false;
    for (size_t i = 0; i < emitter->input->kernel_count; i++) {
        const struct vyre_cl_dispatcher_kernel *kernel = &emitter->input->kernels[i];
        if (!uses_pool(kernel, vyre_cl_program_kernel(emitter->program, kernel->entry)))
            continue;
        vyre_text_append(&emitter->out, any ? "  struct {" : "union vyre_pool {\n  struct {");
        emit_local_list(emitter, i, " vyre_type_@ vyre_v@;",
                        " uchar vyre_m@[$] __attribute__((__aligned__(128)));");
        vyre_text_appendf(&emitter->out, " } vyre_k%zu;\n", i);
        any = true;
    }
    if (any)
        vyre_text_append(&emitter->out, "};\n"
                                        "#define VYRE_POOL_PARAMETER , __local union vyre_pool "
                                        "*vyre_p\n#define VYRE_POOL_PASS , &vyre_p\n");
    else
        vyre_text_append(&emitter->out, "#define VYRE_POOL_PARAMETER\n#define VYRE_POOL_PASS\n");
    return any;
}

bool vyre_cl_emit_dispatch(struct vyre_cl_emitter *emitter)
{
    bool looped = emitter->form == VYRE_CL_FORM_LOOPED;
    bool pool = emit_pool(emitter);
    vyre_text_appendf(&emitter->out,
                      "VYRE_INLINE void vyre_dispatch(const vyre_bytes vyre_s, "
                      "const vyre_u32 vyre_kernel, %s VYRE_POOL_PARAMETER)\n{\n"
                      "  switch (vyre_kernel) {\n",
                      looped ? "const vyre_u32 vyre_first, const vyre_u32 vyre_end"
                             : "VYRE_PARAMETERS");
    for (size_t i = 0; i < emitter->input->kernel_count; i++) {
        vyre_text_appendf(&emitter->out, "  case %zu: vyre_run_%zu(vyre_s, %s", i, i,
                          looped ? "vyre_first, vyre_end" : "VYRE_PASS");
        emit_local_list(emitter, i, ", &vyre_p->vyre_k!.vyre_v@", ", vyre_p->vyre_k!.vyre_m@");
        if (looped)
            vyre_text_append(&emitter->out, "); break;\n");
        else
            vyre_text_appendf(&emitter->out, "); VYRE_CASE_END(%zu); break;\n", i);
    }
    vyre_text_append(&emitter->out, "  }\n}\n");
    return pool;
}
