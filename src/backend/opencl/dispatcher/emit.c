/*
 * emit.c: the user's program, rewritten.
 *
 * Everything between functions is copied unchanged. A function `f` becomes `vyre_u_f` with the ids
 * as first parameters, and a macro `f(a, b)` passes them on, so that the preprocessor itself finds
 * the calls, even in macros and among their arguments. Functions that no listed kernel reaches are
 * left out, except the directives in them.
 */
#include "backend/opencl/dispatcher/emit.h"

#include <string.h>

#include "backend/opencl/dispatcher/kernels.h"
#include "backend/opencl/dispatcher/words.h"

static void copy_bytes(struct vyre_cl_emitter *emitter, uint32_t from, uint32_t to)
{
    if (from < to)
        vyre_text_appendf(&emitter->out, "%.*s", (int)(to - from),
                          emitter->program->tokens.text + from);
}

static uint32_t start_of(const struct vyre_cl_emitter *emitter, uint32_t token)
{
    return vyre_cl_at(emitter->program, token)->offset;
}

static uint32_t end_of(const struct vyre_cl_emitter *emitter, uint32_t token)
{
    const struct vyre_cl_token *at = vyre_cl_at(emitter->program, token);
    return at->offset + at->size;
}

void vyre_cl_emit_tokens(struct vyre_cl_emitter *emitter, uint32_t first, uint32_t end)
{
    uint32_t from = first;
    for (uint32_t i = first + 1; i < end; i++) {
        if (!vyre_cl_at(emitter->program, i)->gap)
            continue;
        copy_bytes(emitter, start_of(emitter, from), end_of(emitter, i - 1));
        vyre_text_append(&emitter->out, " ");
        from = i;
    }
    if (from < end)
        copy_bytes(emitter, start_of(emitter, from), end_of(emitter, end - 1));
}

static void emit_name(struct vyre_cl_emitter *emitter, uint32_t name)
{
    const struct vyre_cl_name *word = &emitter->program->tokens.names[name];
    copy_bytes(emitter, word->offset, word->offset + word->size);
}

void vyre_cl_emit_calls(struct vyre_cl_emitter *emitter)
{
    const struct vyre_cl_program *program = emitter->program;
    for (uint32_t i = 0; i < program->function_count; i++) {
        const struct vyre_cl_function *function = &program->functions[i];
        if (!vyre_cl_function_is_kept(program, function) ||
            function->next_of_name != VYRE_CL_NONE || function->local_count > 0)
            continue;
        vyre_text_append(&emitter->out, "#define ");
        emit_name(emitter, function->name);
        vyre_text_append(&emitter->out, "(");
        for (uint32_t p = 0; p < function->parameter_count; p++)
            vyre_text_appendf(&emitter->out, "%svyre_a%u", p ? ", " : "", p);
        vyre_text_append(&emitter->out, ") vyre_u_");
        emit_name(emitter, function->name);
        vyre_text_append(&emitter->out, "(VYRE_PASS");
        for (uint32_t p = 0; p < function->parameter_count; p++)
            vyre_text_appendf(&emitter->out, ", vyre_a%u", p);
        vyre_text_append(&emitter->out, ")\n");
    }
}

/* Words that the output writes itself, or that only kernels have. */
static bool is_left_out(const struct vyre_cl_program *program, uint32_t index)
{
    static const char *const WORDS[] = {"__kernel", "kernel",     "static", "inline",
                                        "__inline", "__inline__", "extern"};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        if (vyre_cl_is(program, index, WORDS[i]))
            return true;
    }
    return false;
}

static void emit_specifiers(struct vyre_cl_emitter *emitter,
                            const struct vyre_cl_function *function)
{
    const struct vyre_cl_program *program = emitter->program;
    vyre_text_append(&emitter->out, "VYRE_INLINE");
    for (uint32_t i = function->first; i < function->name_token; i++) {
        if (vyre_cl_is_attribute(program, i)) {
            i = program->match[i + 1];
        } else if (!is_left_out(program, i)) {
            vyre_text_append(&emitter->out, " ");
            vyre_cl_emit_tokens(emitter, i, i + 1);
        }
    }
}

static void emit_parameters(struct vyre_cl_emitter *emitter,
                            const struct vyre_cl_function *function)
{
    vyre_text_append(&emitter->out, " vyre_u_");
    emit_name(emitter, function->name);
    vyre_text_append(&emitter->out, "(VYRE_PARAMETERS");
    for (uint32_t i = 0; i < function->local_count; i++)
        vyre_text_appendf(&emitter->out, ", __local vyre_type_%u *vyre_at_%u",
                          function->first_local + i, function->first_local + i);
    if (function->parameter_count > 0) {
        vyre_text_append(&emitter->out, ", ");
        vyre_cl_emit_tokens(emitter, function->open + 1, function->close);
    }
    vyre_text_append(&emitter->out, ")");
}

static const struct vyre_cl_local *local_named_at(const struct vyre_cl_program *program,
                                                  const struct vyre_cl_function *function,
                                                  uint32_t token)
{
    for (uint32_t i = 0; i < function->local_count; i++) {
        if (program->locals[function->first_local + i].name_token == token)
            return &program->locals[function->first_local + i];
    }
    return NULL;
}

/* Whether the variable shares its declaration with the one before it. */
static bool is_further(const struct vyre_cl_program *program,
                       const struct vyre_cl_function *function, uint32_t index)
{
    const struct vyre_cl_local *local = &program->locals[function->first_local + index];
    return index > 0 && local->first == local[-1].first;
}

/* A declaration of local variables as a typedef: its words without __local, its names replaced. */
static void emit_typedef(struct vyre_cl_emitter *emitter, const struct vyre_cl_function *function,
                         const struct vyre_cl_local *local, const char *prefix)
{
    const struct vyre_cl_program *program = emitter->program;
    vyre_text_append(&emitter->out, "typedef");
    for (uint32_t t = local->first; t <= local->last; t++) {
        const struct vyre_cl_local *named = local_named_at(program, function, t);
        if (named)
            vyre_text_appendf(&emitter->out, " %s%u", prefix, (unsigned)(named - program->locals));
        else if (!vyre_cl_is_local(program, t) && !vyre_cl_is(program, t, "static")) {
            vyre_text_append(&emitter->out, " ");
            vyre_cl_emit_tokens(emitter, t, t + 1);
        }
    }
    vyre_text_append(&emitter->out, "\n");
}

static void emit_types(struct vyre_cl_emitter *emitter, const struct vyre_cl_function *function)
{
    for (uint32_t i = 0; i < function->local_count; i++) {
        if (!is_further(emitter->program, function, i))
            emit_typedef(emitter, function, &emitter->program->locals[function->first_local + i],
                         "vyre_type_");
    }
}

/*
 * Replaces a declaration of local variables in the body: makes the compiler check that their types
 * are the same there as before the function. Two declarations of one function must agree.
 */
static void emit_same_types(struct vyre_cl_emitter *emitter,
                            const struct vyre_cl_function *function, uint32_t first, uint32_t end)
{
    const struct vyre_cl_program *program = emitter->program;
    vyre_text_append(&emitter->out, "{\n");
    emit_typedef(emitter, function, &program->locals[function->first_local + first], "vyre_here_");
    for (uint32_t i = function->first_local + first; i < function->first_local + end; i++)
        vyre_text_appendf(&emitter->out,
                          "void vyre_same_%u(__local vyre_type_%u *);\n"
                          "void vyre_same_%u(__local vyre_here_%u *);\n",
                          i, i, i, i);
    vyre_text_append(&emitter->out, "}\n");
}

/*
 * From here on the names of these variables of the kernel stand for the targets of the parameters.
 */
static void emit_names(struct vyre_cl_emitter *emitter, const struct vyre_cl_function *function,
                       uint32_t first, uint32_t end)
{
    for (uint32_t i = function->first_local + first; i < function->first_local + end; i++) {
        vyre_text_append(&emitter->out, "#define ");
        emit_name(emitter, emitter->program->locals[i].name);
        /* The same as (*vyre_at_), but never a declarator: a second meaning does not compile. */
        vyre_text_appendf(&emitter->out, " (*&*vyre_at_%u)\n", i);
    }
}

static void emit_names_end(struct vyre_cl_emitter *emitter, const struct vyre_cl_function *function)
{
    for (uint32_t i = 0; i < function->local_count; i++) {
        vyre_text_append(&emitter->out, "#undef ");
        emit_name(emitter, emitter->program->locals[function->first_local + i].name);
        vyre_text_append(&emitter->out, "\n");
    }
}

/* The body unchanged, except for the declarations of local variables. */
static void emit_body(struct vyre_cl_emitter *emitter, const struct vyre_cl_function *function)
{
    uint32_t from = start_of(emitter, function->body);
    /*
     * If a macro hides a static variable, the output compiles only if the variable never changes.
     */
    vyre_text_append(&emitter->out, "\n#define static static __constant\n");
    for (uint32_t i = 0; i < function->local_count;) {
        const struct vyre_cl_local *local = &emitter->program->locals[function->first_local + i];
        uint32_t end = i + 1;
        while (end < function->local_count && is_further(emitter->program, function, end))
            end++;
        copy_bytes(emitter, from, start_of(emitter, local->first));
        emit_same_types(emitter, function, i, end);
        emit_names(emitter, function, i, end);
        from = end_of(emitter, local->last);
        i = end;
    }
    copy_bytes(emitter, from, end_of(emitter, function->last));
    vyre_text_append(&emitter->out, "\n#undef static\n");
    emit_names_end(emitter, function);
}

/* A required shape that is written with macros, which only the compiler can compare. */
static void emit_shape_check(struct vyre_cl_emitter *emitter,
                             const struct vyre_cl_function *function)
{
    struct vyre_cl_span span;
    if (!function->is_kernel || !vyre_cl_kernel_shape(emitter->program, function, &span))
        return;
    vyre_text_append(&emitter->out, "\ntypedef char vyre_shape_");
    emit_name(emitter, function->name);
    vyre_text_append(&emitter->out, "[VYRE_SAME_SHAPE(");
    vyre_cl_emit_tokens(emitter, span.first, span.end);
    vyre_text_append(&emitter->out, ") ? 1 : -1];\n");
}

/*
 * A prototype of a kernel lacks its local variables. Such a kernel is not called, so it needs no
 * prototype.
 */
static bool has_locals(const struct vyre_cl_program *program,
                       const struct vyre_cl_function *function)
{
    for (uint32_t i = program->facts[function->name].function; i != VYRE_CL_NONE;
         i = program->functions[i].next_of_name) {
        if (program->functions[i].local_count > 0)
            return true;
    }
    return false;
}

/*
 * Conditionals in the head are decided. If one comes out differently, the output does not compile.
 * This holds for omitted functions too, because an unexpected group may contain any directive.
 */
static void emit_branches(struct vyre_cl_emitter *emitter, const struct vyre_cl_function *function)
{
    static const char ERROR[] = "#error \"a conditional comes out otherwise\"\n";
    const struct vyre_cl_program *program = emitter->program;
    uint32_t first = function->first;
    while (first > 0 && vyre_cl_at(program, first - 1)->branch)
        first--;
    for (uint32_t i = first; i < function->first;) {
        const struct vyre_cl_token *token = vyre_cl_at(program, i);
        uint32_t end = i + 1;
        while (end < function->first && vyre_cl_at(program, end)->directive == token->directive)
            end++;
        vyre_text_append(&emitter->out, "\n");
        if (token->branch == VYRE_CL_BRANCH_END_OPEN)
            vyre_text_appendf(&emitter->out, "#else\n%s", ERROR);
        vyre_cl_emit_tokens(emitter, i, end);
        vyre_text_append(&emitter->out, "\n");
        if (token->branch == VYRE_CL_BRANCH_OTHER)
            vyre_text_append(&emitter->out, ERROR);
        i = end;
    }
}

static void emit_function(struct vyre_cl_emitter *emitter, const struct vyre_cl_function *function)
{
    const struct vyre_cl_program *program = emitter->program;
    vyre_text_append(&emitter->out, "\n");
    if (function->body == VYRE_CL_NONE && has_locals(program, function))
        return;
    emit_types(emitter, function);
    emit_specifiers(emitter, function);
    emit_parameters(emitter, function);
    if (function->body == VYRE_CL_NONE) {
        vyre_text_append(&emitter->out, ";");
        return;
    }
    emit_body(emitter, function);
    if (!program->facts[function->name].is_entry)
        return;
    emit_shape_check(emitter, function);
    for (size_t i = 0; i < emitter->input->kernel_count; i++) {
        if (vyre_cl_program_kernel(program, emitter->input->kernels[i].entry) == function)
            vyre_cl_emit_wrapper(emitter, i);
    }
}

/* Pragmas apply to the block or loop that they are in, except those that enable extensions. */
static bool ends_with_block(const struct vyre_cl_program *program, uint32_t hash)
{
    return vyre_cl_is(program, hash + 1, "pragma") && !vyre_cl_is(program, hash + 3, "EXTENSION");
}

/* The directives in an omitted function, which have effect after the function. */
static void emit_directives(struct vyre_cl_emitter *emitter,
                            const struct vyre_cl_function *function)
{
    const struct vyre_cl_program *program = emitter->program;
    for (uint32_t i = function->first; i < function->last; i++) {
        uint32_t directive = vyre_cl_at(program, i)->directive;
        uint32_t end = i + 1;
        while (directive && vyre_cl_at(program, end)->directive == directive)
            end++;
        if (directive && !ends_with_block(program, i)) {
            vyre_text_append(&emitter->out, "\n");
            vyre_cl_emit_tokens(emitter, i, end);
            vyre_text_append(&emitter->out, "\n");
        }
        i = end - 1;
    }
}

/*
 * Words that nothing in the output mentions, but that "##" could produce, do not compile. In a
 * conditional neither.
 */
static void emit_traps(struct vyre_cl_emitter *emitter)
{
    const char *word;
    for (size_t i = 0; (word = vyre_cl_word_place(i)) != NULL; i++) {
        if (emitter->program->pastes)
            vyre_text_appendf(&emitter->out, "#define %s \"vyre\"[vyre_place]\n", word);
    }
}

void vyre_cl_emit_source(struct vyre_cl_emitter *emitter)
{
    const struct vyre_cl_program *program = emitter->program;
    emit_traps(emitter);
    uint32_t from = program->source_offset;
    for (uint32_t i = 0; i < program->function_count; i++) {
        const struct vyre_cl_function *function = &program->functions[i];
        if (start_of(emitter, function->first) < from)
            continue;
        copy_bytes(emitter, from, start_of(emitter, function->first));
        from = end_of(emitter, function->last);
        emit_branches(emitter, function);
        if (vyre_cl_function_is_kept(program, function))
            emit_function(emitter, function);
        else
            emit_directives(emitter, function);
    }
    copy_bytes(emitter, from, (uint32_t)program->tokens.size);
}
