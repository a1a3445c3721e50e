/*
 * barriers.c: barriers under a condition.
 *
 * A barrier stands under a condition when some work-group may run the kernel without meeting it: inside an
 * `if`, a `switch` or an operand that is not always evaluated, or behind a way out of the function or the
 * loop. (Loops alone do not count.) Compilers that split kernels at barriers get these wrong in ways that
 * depend on the code around them, so what is right in a launch of its own may be wrong in a dispatcher.
 *
 * The answer errs on one side only: a barrier that is called free of conditions is.
 */
#include "backend/opencl/dispatcher/program.h"

static bool is_any(const struct vyre_cl_program *program, uint32_t index, const char *const *words)
{
    for (; *words; words++) {
        if (vyre_cl_is(program, index, *words))
            return true;
    }
    return false;
}

static const char *const CONDITIONS[] = {"if", "else", "switch", "case", "default", NULL};
static const char *const LOOPS[] = {"for", "while", "do", NULL};
static const char *const LEAVES_FUNCTION[] = {"return", "goto", NULL};
static const char *const LEAVES_LOOP[] = {"break", "continue", NULL};

/* "?", "&&", "||": what follows need not be evaluated. */
static bool may_skip(const struct vyre_cl_program *program, uint32_t index)
{
    return vyre_cl_is(program, index, "?") || vyre_cl_is(program, index, "&&") ||
           vyre_cl_is(program, index, "||");
}

static bool synchronizes(const struct vyre_cl_program *program, uint32_t index)
{
    uint32_t name = vyre_cl_at(program, index)->name;
    return name && program->facts[name].synchronizes;
}

/* The word that a statement or a block depends on, which ends right before `index`; 0: none. */
static uint32_t head_before(const struct vyre_cl_program *program, uint32_t index)
{
    uint32_t before = index - 1;
    if (vyre_cl_is_sign(program, before, ')') && program->match[before] != VYRE_CL_NONE)
        before = program->match[before] - 1;
    return is_any(program, before, CONDITIONS) || is_any(program, before, LOOPS) ? before : 0;
}

/* Where the statement around `index` starts. Sets `out_skips` if something in it may be skipped. */
static uint32_t statement_of(const struct vyre_cl_program *program, uint32_t index, uint32_t body,
                             bool *out_skips)
{
    while (index > body + 1) {
        uint32_t before = index - 1;
        const uint32_t other = program->match[before];
        if (vyre_cl_is_sign(program, before, ';') || vyre_cl_is_sign(program, before, '{') ||
            vyre_cl_is_sign(program, before, '}') || vyre_cl_is_sign(program, before, ':') ||
            vyre_cl_at(program, before)->directive || head_before(program, index) != 0)
            break;
        *out_skips = *out_skips || may_skip(program, before);
        index = other != VYRE_CL_NONE && other < before ? other : before;
    }
    return index;
}

/* The opening brace around `index`. */
static uint32_t brace_around(const struct vyre_cl_program *program, uint32_t index, uint32_t body)
{
    while (index-- > body) {
        uint32_t other = program->match[index];
        if (vyre_cl_at(program, index)->directive || other == VYRE_CL_NONE)
            continue;
        if (other < index)
            index = other;
        else if (vyre_cl_is_sign(program, index, '{'))
            return index;
    }
    return body;
}

/* Whether what a `break` or `continue` leaves, or goes on with, is closed before `index`. */
static bool stays_before(const struct vyre_cl_program *program, uint32_t way_out, uint32_t index,
                         uint32_t body)
{
    static const char *const breakable[] = {"for", "while", "do", "switch", NULL};
    const char *const *targets = vyre_cl_is(program, way_out, "break") ? breakable : LOOPS;
    uint32_t brace = brace_around(program, way_out, body);
    while (brace != body && !is_any(program, head_before(program, brace), targets))
        brace = brace_around(program, brace, body);
    return brace != body && program->match[brace] < index;
}

/* Whether a way out of the function, or of a loop around `index`, stands before it. */
static bool may_leave_before(const struct vyre_cl_program *program, uint32_t index, uint32_t body)
{
    for (uint32_t i = body; i < index; i++) {
        if (is_any(program, i, LEAVES_FUNCTION) ||
            (is_any(program, i, LEAVES_LOOP) && !stays_before(program, i, index, body)))
            return true;
    }
    return false;
}

/* Whether the barrier at `index` is met by every work-group that enters the function. */
static bool is_met(const struct vyre_cl_program *program, const struct vyre_cl_function *function,
                   uint32_t index)
{
    bool skips = false;
    if (may_leave_before(program, index, function->body))
        return false;
    for (uint32_t at = index;;) {
        at = statement_of(program, at, function->body, &skips);
        for (uint32_t head = head_before(program, at); head != 0; head = head_before(program, at)) {
            if (is_any(program, head, CONDITIONS))
                return false;
            at = head;
        }
        if (skips || vyre_cl_is_sign(program, at - 1, ':')) /* behind a label */
            return false;
        uint32_t brace = brace_around(program, at, function->body);
        if (brace == function->body)
            return true;
        at = brace;
    }
}

/* A macro's text is judged by itself: nothing in it may be a condition. */
static bool is_plain_macro(const struct vyre_cl_program *program, const struct vyre_cl_macro *macro)
{
    bool has = false;
    bool conditional = false;
    for (uint32_t i = macro->body; i < macro->end; i++) {
        has = has || synchronizes(program, i);
        conditional = conditional || may_skip(program, i) || is_any(program, i, CONDITIONS) ||
                      is_any(program, i, LEAVES_FUNCTION) || is_any(program, i, LEAVES_LOOP) ||
                      is_any(program, i, LOOPS);
    }
    return !(has && conditional);
}

void vyre_cl_program_barriers(struct vyre_cl_program *program,
                              const struct vyre_cl_dispatcher_input *input)
{
    static const char reason[] = "barrier under a condition";
    if (program->reason || !program->is_groupwise || !input->splits_at_barriers)
        return;
    for (uint32_t m = 0; m < program->macro_count; m++) {
        bool reached = program->facts[program->macros[m].name].visit != 0;
        if (reached && !is_plain_macro(program, &program->macros[m]))
            vyre_cl_program_refuse(program, reason);
    }
    for (uint32_t f = 0; f < program->function_count; f++) {
        const struct vyre_cl_function *function = &program->functions[f];
        if (function->body == VYRE_CL_NONE || !vyre_cl_function_is_kept(program, function))
            continue;
        for (uint32_t i = function->body + 1; !program->reason && i < function->last; i++) {
            if (synchronizes(program, i) && !is_met(program, function, i))
                vyre_cl_program_refuse(program, reason);
        }
    }
}
