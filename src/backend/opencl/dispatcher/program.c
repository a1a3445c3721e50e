/*
 * program.c: what the dispatcher knows about a user's program.
 */
#include "backend/opencl/dispatcher/program.h"

#include <string.h>

#include "backend/opencl/dispatcher/words.h"
#include "base/text.h"

void vyre_cl_program_refuse(struct vyre_cl_program *program, const char *reason)
{
    if (!program->reason)
        program->reason = reason;
}

/* A define must stay within its line of source: no continuation and no line end in it. */
static bool define_is_plain(const char *define)
{
    return define[0] != '\0' && define[0] != '=' && !strpbrk(define, "\\\r\n");
}

static size_t text_bound(const struct vyre_cl_dispatcher_input *input)
{
    size_t bound = input->source_bytes + 2;
    for (size_t i = 0; i < input->define_count; i++)
        bound += strlen(input->defines[i]) + sizeof "#define  1\n";
    return bound;
}

/* Writes the macro as a line of source into `out`; returns the line's length. */
static size_t write_define(char *out, size_t room, const char *define)
{
    struct vyre_text line = vyre_text_begin(out, room);
    const char *equals = strchr(define, '=');
    int name = (int)(equals ? (size_t)(equals - define) : strlen(define));
    vyre_text_appendf(&line, "#define %.*s %s\n", name, define, equals ? equals + 1 : "1");
    return line.length;
}

static void read_tokens(struct vyre_cl_program *program,
                        const struct vyre_cl_dispatcher_input *input)
{
    for (size_t i = 0; i < input->define_count; i++) {
        if (!define_is_plain(input->defines[i])) {
            vyre_cl_program_refuse(program, "define of the build options that is not plain");
            return;
        }
    }
    if (memchr(input->source, '\0', input->source_bytes)) {
        vyre_cl_program_refuse(program, "byte that is no OpenCL C");
        return;
    }
    size_t bound = text_bound(input);
    char *text = vyre_arena_allocate(program->arena, bound, 1);
    if (!text) {
        vyre_cl_program_refuse(program, VYRE_CL_NO_MEMORY);
        return;
    }
    char *end = text;
    for (size_t i = 0; i < input->define_count; i++)
        end += write_define(end, bound - (size_t)(end - text), input->defines[i]);
    program->source_offset = (uint32_t)(end - text);
    memcpy(end, input->source, input->source_bytes);
    end += input->source_bytes;
    *end++ = '\n';
    const char *reason =
        vyre_cl_tokens_read(program->arena, text, (size_t)(end - text), &program->tokens);
    if (reason)
        vyre_cl_program_refuse(program, reason);
}

/* Every list is bounded by the number of tokens; the list of names by the number of names. */
static void make_lists(struct vyre_cl_program *program)
{
    if (program->reason)
        return;
    size_t tokens = program->tokens.count + 1;
    size_t names = program->tokens.name_count;
    size_t brackets = 1;
    size_t hashes = 1;
    size_t locals = 1;
    for (uint32_t i = 0; i < program->tokens.count; i++) {
        const struct vyre_cl_token *token = vyre_cl_at(program, i);
        brackets += token->kind == VYRE_CL_TOKEN_SIGN && token->sign == '(';
        hashes += token->kind == VYRE_CL_TOKEN_SIGN && token->sign == '#';
        locals += token->kind == VYRE_CL_TOKEN_SIGN && (token->sign == ',' || token->sign == ';');
        program->pastes = program->pastes || (token->sign == '#' && token->size == 2);
    }
    struct vyre_arena *arena = program->arena;
    program->match = vyre_arena_allocate(arena, tokens * sizeof *program->match, 8);
    program->facts = vyre_arena_allocate(arena, names * sizeof *program->facts, 8);
    program->functions = vyre_arena_allocate(arena, brackets * sizeof *program->functions, 8);
    program->macros = vyre_arena_allocate(arena, hashes * sizeof *program->macros, 8);
    program->locals = vyre_arena_allocate(arena, locals * sizeof *program->locals, 8);
    if (!program->match || !program->facts || !program->functions || !program->macros ||
        !program->locals) {
        vyre_cl_program_refuse(program, VYRE_CL_NO_MEMORY);
        return;
    }
    for (size_t i = 0; i < names; i++)
        program->facts[i] =
            (struct vyre_cl_name_facts){.function = VYRE_CL_NONE, .macro = VYRE_CL_NONE};
}

static void refuse_banned(struct vyre_cl_program *program)
{
    for (uint32_t i = 1; !program->reason && i < program->tokens.name_count; i++) {
        const struct vyre_cl_name *name = &program->tokens.names[i];
        const char *reason = vyre_cl_word_banned(program->tokens.text + name->offset, name->size);
        if (reason)
            vyre_cl_program_refuse(program, reason);
    }
}

void vyre_cl_program_read(struct vyre_cl_program *program, struct vyre_arena *arena,
                          const struct vyre_cl_dispatcher_input *input)
{
    *program = (struct vyre_cl_program){.arena = arena};
    read_tokens(program, input);
    vyre_cl_program_heads(program);
    make_lists(program);
    refuse_banned(program);
    vyre_cl_program_match(program);
    vyre_cl_program_directives(program);
    vyre_cl_program_parse(program);
    vyre_cl_program_reach(program, input);
    vyre_cl_program_barriers(program, input);
    vyre_cl_program_locals(program);
    vyre_cl_program_kernels(program, input);
}

const struct vyre_cl_function *vyre_cl_program_kernel(const struct vyre_cl_program *program,
                                                      const char *entry)
{
    uint32_t name = vyre_cl_tokens_find(&program->tokens, entry, strlen(entry));
    const struct vyre_cl_function *found = NULL;
    for (uint32_t i = program->facts[name].function; i != VYRE_CL_NONE;
         i = program->functions[i].next_of_name) {
        const struct vyre_cl_function *function = &program->functions[i];
        bool skipped = vyre_cl_at(program, function->name_token)->skipped;
        if (function->body != VYRE_CL_NONE && (!found || !skipped))
            found = function;
    }
    return found;
}

bool vyre_cl_function_is_kept(const struct vyre_cl_program *program,
                              const struct vyre_cl_function *function)
{
    return program->facts[function->name].visit != 0;
}
