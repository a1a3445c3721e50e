/*
 * brackets.c: which bracket closes which.
 *
 * All branches of a conditional are read one after another, so each must leave the brackets as it
 * found them. Otherwise the nesting would depend on the branch taken.
 */
#include "backend/opencl/dispatcher/program.h"

#define CONDITIONALS_MAX 64

struct brackets {
    struct vyre_cl_program *program;
    uint32_t *open; /* tokens of the brackets that are open */
    uint32_t depth;
    uint32_t floor[CONDITIONALS_MAX]; /* depth at each conditional that is open */
    uint32_t conditionals;
};

static char closer_of(char sign)
{
    switch (sign) {
    case '(':
        return ')';
    case '[':
        return ']';
    case '{':
        return '}';
    default:
        return '\0';
    }
}

static void open_or_close(struct brackets *b, uint32_t index)
{
    struct vyre_cl_program *program = b->program;
    const struct vyre_cl_token *token = vyre_cl_at(program, index);
    if (token->kind != VYRE_CL_TOKEN_SIGN || token->size != 1)
        return;
    if (closer_of(token->sign)) {
        b->open[b->depth++] = index;
        return;
    }
    if (token->sign != ')' && token->sign != ']' && token->sign != '}')
        return;
    uint32_t floor = b->conditionals ? b->floor[b->conditionals - 1] : 0;
    if (b->depth <= floor ||
        closer_of(vyre_cl_at(program, b->open[b->depth - 1])->sign) != token->sign) {
        vyre_cl_program_refuse(program, "brackets that do not match");
        return;
    }
    b->depth--;
    program->match[index] = b->open[b->depth];
    program->match[b->open[b->depth]] = index;
}

static void enter_conditional(struct brackets *b)
{
    if (b->conditionals == CONDITIONALS_MAX)
        vyre_cl_program_refuse(b->program, "conditionals nested too deeply");
    else
        b->floor[b->conditionals++] = b->depth;
}

static void turn_conditional(struct brackets *b, bool ends)
{
    if (b->conditionals == 0)
        vyre_cl_program_refuse(b->program, "conditional without a beginning");
    else if (b->depth != b->floor[b->conditionals - 1])
        vyre_cl_program_refuse(b->program, "brackets that depend on a conditional");
    else if (ends)
        b->conditionals--;
}

/* `index` is the first token after the '#'. */
static void see_directive(struct brackets *b, uint32_t index)
{
    struct vyre_cl_program *program = b->program;
    if (vyre_cl_is(program, index, "if") || vyre_cl_is(program, index, "ifdef") ||
        vyre_cl_is(program, index, "ifndef"))
        enter_conditional(b);
    else if (vyre_cl_is(program, index, "else") || vyre_cl_is(program, index, "elif") ||
             vyre_cl_is(program, index, "elifdef") || vyre_cl_is(program, index, "elifndef"))
        turn_conditional(b, false);
    else if (vyre_cl_is(program, index, "endif"))
        turn_conditional(b, true);
}

/* An attribute ends where its parenthesis does, so it must have one. */
static void check_attributes(struct vyre_cl_program *program)
{
    for (uint32_t i = 0; !program->reason && i < program->tokens.count; i++) {
        if (vyre_cl_at(program, i)->directive == 0 && vyre_cl_is_attribute(program, i) &&
            (!vyre_cl_is_sign(program, i + 1, '(') || program->match[i + 1] == VYRE_CL_NONE))
            vyre_cl_program_refuse(program, "attribute that is not understood");
    }
}

void vyre_cl_program_match(struct vyre_cl_program *program)
{
    if (program->reason)
        return;
    struct brackets b = {.program = program};
    b.open = vyre_arena_allocate(program->arena, (program->tokens.count + 1) * sizeof *b.open, 8);
    if (!b.open) {
        vyre_cl_program_refuse(program, VYRE_CL_NO_MEMORY);
        return;
    }
    uint32_t directive = 0;
    for (uint32_t i = 0; !program->reason && i < program->tokens.count; i++) {
        const struct vyre_cl_token *token = vyre_cl_at(program, i);
        program->match[i] = VYRE_CL_NONE;
        if (token->directive == 0)
            open_or_close(&b, i);
        else if (token->directive != directive && vyre_cl_at(program, i + 1)->directive)
            see_directive(&b, i + 1);
        directive = token->directive ? token->directive : directive;
    }
    if (b.depth != 0 || b.conditionals != 0)
        vyre_cl_program_refuse(program, "brackets that do not match");
    check_attributes(program);
}
