/*
 * directives.c: preprocessor directives.
 *
 * Directives stay in the output unchanged, so the compiler obeys them. They are read here for the
 * macros that they define, and refused if they would affect what the output adds.
 */
#include <string.h>

#include "backend/opencl/dispatcher/program.h"
#include "backend/opencl/dispatcher/words.h"

static bool is_kept(const struct vyre_cl_program *program, uint32_t index)
{
    const struct vyre_cl_token *token = vyre_cl_at(program, index);
    return vyre_cl_word_is_kept(program->tokens.text + token->offset, token->size);
}

/* `index` is the macro's name. */
static void read_define(struct vyre_cl_program *program, uint32_t index, uint32_t end)
{
    if (index >= end || vyre_cl_at(program, index)->kind != VYRE_CL_TOKEN_NAME) {
        vyre_cl_program_refuse(program, "define without a name");
        return;
    }
    if (is_kept(program, index)) {
        vyre_cl_program_refuse(program, "macro that changes a word of the language");
        return;
    }
    uint32_t name = vyre_cl_at(program, index)->name;
    uint32_t body = index + 1;
    bool has_parameters = body < end && vyre_cl_is_sign(program, body, '(') &&
                          !vyre_cl_at(program, index)->space_after;
    while (has_parameters && body < end && !vyre_cl_is_sign(program, body, ')'))
        body++;
    if (has_parameters && body == end) {
        vyre_cl_program_refuse(program, "brackets that do not match");
        return;
    }
    program->macros[program->macro_count] = (struct vyre_cl_macro){
        .name = name,
        .body = body + has_parameters,
        .end = end,
        .next_of_name = program->facts[name].macro,
        .has_parameters = has_parameters,
    };
    program->facts[name].macro = program->macro_count++;
}

/* A program asks for an extension by its name, which the output does not change. */
static bool is_extension(const struct vyre_cl_program *program, uint32_t index)
{
    const struct vyre_cl_token *token = vyre_cl_at(program, index);
    return token->size > 3 && strncmp(program->tokens.text + token->offset, "cl_", 3) == 0;
}

/* A source must neither undefine nor test what the output defines. */
static void read_names(struct vyre_cl_program *program, uint32_t index, uint32_t end)
{
    for (; index < end; index++) {
        bool is_name = vyre_cl_at(program, index)->kind == VYRE_CL_TOKEN_NAME;
        if (is_name && is_kept(program, index) && !vyre_cl_is(program, index, "defined") &&
            !is_extension(program, index))
            vyre_cl_program_refuse(program, "directive about a word of the language");
    }
}

static void read_pragma(struct vyre_cl_program *program, uint32_t index, uint32_t end)
{
    bool known = index == end || vyre_cl_is(program, index, "OPENCL") ||
                 vyre_cl_is(program, index, "unroll") || vyre_cl_is(program, index, "nounroll") ||
                 (vyre_cl_is(program, index, "clang") && vyre_cl_is(program, index + 1, "loop"));
    if (!known)
        vyre_cl_program_refuse(program, "pragma that is not known");
}

/* `index` is the word after the '#'. */
static void read_directive(struct vyre_cl_program *program, uint32_t index, uint32_t end)
{
    if (index == end)
        return;
    if (vyre_cl_is(program, index, "define"))
        read_define(program, index + 1, end);
    else if (vyre_cl_is(program, index, "undef") || vyre_cl_is(program, index, "if") ||
             vyre_cl_is(program, index, "ifdef") || vyre_cl_is(program, index, "ifndef") ||
             vyre_cl_is(program, index, "elif"))
        read_names(program, index + 1, end);
    else if (vyre_cl_is(program, index, "pragma"))
        read_pragma(program, index + 1, end);
    else if (vyre_cl_is(program, index, "include"))
        vyre_cl_program_refuse(program, "#include");
    else if (!vyre_cl_is(program, index, "else") && !vyre_cl_is(program, index, "endif") &&
             !vyre_cl_is(program, index, "error"))
        vyre_cl_program_refuse(program, "directive that is not known");
}

void vyre_cl_program_directives(struct vyre_cl_program *program)
{
    uint32_t i = 0;
    while (!program->reason && i < program->tokens.count) {
        uint32_t directive = vyre_cl_at(program, i)->directive;
        uint32_t end = i + 1;
        while (directive && vyre_cl_at(program, end)->directive == directive &&
               end < program->tokens.count)
            end++;
        if (directive)
            read_directive(program, i + 1, end);
        i = end;
    }
}
