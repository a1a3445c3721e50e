/*
 * barriers.c: barriers under a condition.
 *
 * A barrier is under a condition if some work-group may run the kernel without reaching it: inside
 * an `if`, a `switch` or an operand that is not always evaluated, or after a way out of the
 * function or the loop. (Loops alone do not count.) Compilers that split kernels at barriers get
 * these wrong in ways that depend on the code around them, so a kernel that is right in a launch of
 * its own may be wrong in a dispatcher.
 *
 * The check errs on one side only: a barrier reported as free of conditions really is.
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

/* ---- What comes before a token, whatever the preprocessor leaves of it ------------------------ */

static uint32_t line_start(const struct vyre_cl_program *program, uint32_t index)
{
    uint32_t line = vyre_cl_at(program, index)->directive;
    while (index > 0 && vyre_cl_at(program, index - 1)->directive == line)
        index--;
    return index;
}

static bool ends_statement(const struct vyre_cl_program *program, uint32_t index)
{
    return vyre_cl_is_sign(program, index, ';') || vyre_cl_is_sign(program, index, '{') ||
           vyre_cl_is_sign(program, index, '}');
}

/* Whether a statement ends right before the directive at `start`. */
static bool is_between_statements(const struct vyre_cl_program *program, uint32_t start)
{
    uint32_t before = start - 1;
    while (vyre_cl_at(program, before)->directive)
        before = line_start(program, before) - 1;
    return ends_statement(program, before);
}

/*
 * The last token before `index` that is not in a directive. Skips conditionals that are closed
 * before `index`, and stops at the start of one that it is in. Sets `out_doubt` if a conditional
 * splits a statement.
 */
static uint32_t token_before(const struct vyre_cl_program *program, uint32_t index, bool *out_doubt)
{
    static const char *const openers[] = {"if", "ifdef", "ifndef", NULL};
    static const char *const middles[] = {"else", "elif", NULL};
    uint32_t depth = 0;
    bool inside = false;
    uint32_t i = index - 1;
    while (vyre_cl_at(program, i)->directive || depth > 0) {
        if (!vyre_cl_at(program, i)->directive) {
            i--;
            continue;
        }
        uint32_t start = line_start(program, i);
        bool closes = vyre_cl_is(program, start + 1, "endif");
        bool middle = is_any(program, start + 1, middles);
        if (middle && depth == 0)
            inside = true; /* the branches before this one do not run if this one does */
        if ((closes && depth == 0) || (middle && depth == 1 && !inside))
            *out_doubt = *out_doubt || !is_between_statements(program, start);
        depth += closes || (middle && depth == 0);
        if (is_any(program, start + 1, openers)) {
            *out_doubt = *out_doubt || !is_between_statements(program, start);
            depth -= depth > 0;
            inside = inside && depth > 0;
        }
        i = start - 1;
    }
    return i;
}

/* The word that controls the statement or block ending right before `index`; 0: none. */
static uint32_t head_before(const struct vyre_cl_program *program, uint32_t index, bool *out_doubt)
{
    uint32_t before = token_before(program, index, out_doubt);
    if (vyre_cl_is_sign(program, before, ')') && program->match[before] != VYRE_CL_NONE)
        before = program->match[before] - 1;
    return is_any(program, before, CONDITIONS) || is_any(program, before, LOOPS) ? before : 0;
}

/* The start of the statement around `index`. Sets `out_doubt` if something in it may be skipped. */
static uint32_t statement_of(const struct vyre_cl_program *program, uint32_t index, uint32_t body,
                             bool *out_doubt)
{
    while (index > body + 1) {
        uint32_t before = token_before(program, index, out_doubt);
        if (ends_statement(program, before) || vyre_cl_is_sign(program, before, ':') ||
            head_before(program, index, out_doubt) != 0)
            break;
        *out_doubt = *out_doubt || may_skip(program, before);
        const uint32_t other = program->match[before];
        index = other != VYRE_CL_NONE && other < before ? other : before;
    }
    return index;
}

/* ---- What is around a token ---- */

/* The opening bracket around `index`, of any kind; `body` if there is none inside the function. */
static uint32_t bracket_around(const struct vyre_cl_program *program, uint32_t index, uint32_t body)
{
    while (index-- > body) {
        uint32_t other = program->match[index];
        if (vyre_cl_at(program, index)->directive || other == VYRE_CL_NONE)
            continue;
        if (other > index)
            return index;
        index = other;
    }
    return body;
}

/*
 * Leaves the parentheses around `index`. Sets `out_doubt` for those of a control statement or of a
 * macro.
 */
static uint32_t leave_parentheses(const struct vyre_cl_program *program, uint32_t index,
                                  uint32_t body, bool *out_doubt)
{
    for (;;) {
        uint32_t open = bracket_around(program, index, body);
        if (vyre_cl_is_sign(program, open, '{'))
            return index;
        uint32_t before = token_before(program, open, out_doubt);
        uint32_t name = vyre_cl_at(program, before)->name;
        *out_doubt = *out_doubt || is_any(program, before, CONDITIONS) ||
                     is_any(program, before, LOOPS) ||
                     (name && program->facts[name].macro != VYRE_CL_NONE);
        for (uint32_t i = open; i < index; i++)
            *out_doubt = *out_doubt || may_skip(program, i);
        index = open;
    }
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

/* Whether what a `break` or `continue` leaves, or continues with, is closed before `index`. */
static bool stays_before(const struct vyre_cl_program *program, uint32_t way_out, uint32_t index,
                         uint32_t body)
{
    static const char *const breakable[] = {"for", "while", "do", "switch", NULL};
    const char *const *targets = vyre_cl_is(program, way_out, "break") ? breakable : LOOPS;
    uint32_t brace = brace_around(program, way_out, body);
    bool unused = false;
    while (brace != body && !is_any(program, head_before(program, brace, &unused), targets))
        brace = brace_around(program, brace, body);
    return brace != body && program->match[brace] < index;
}

/* Whether a way out of the function, or of a loop around `index`, comes before it. */
static bool may_leave_before(const struct vyre_cl_program *program, uint32_t index, uint32_t body)
{
    for (uint32_t i = body; i < index; i++) {
        if (is_any(program, i, LEAVES_FUNCTION) ||
            (is_any(program, i, LEAVES_LOOP) && !stays_before(program, i, index, body)))
            return true;
    }
    return false;
}

/* Whether every work-group that enters the function reaches the barrier at `index`. */
static bool is_met(const struct vyre_cl_program *program, const struct vyre_cl_function *function,
                   uint32_t index)
{
    bool doubt = may_leave_before(program, index, function->body);
    uint32_t at = leave_parentheses(program, index, function->body, &doubt);
    while (!doubt) {
        at = statement_of(program, at, function->body, &doubt);
        uint32_t head = head_before(program, at, &doubt);
        if (head != 0 && is_any(program, head, CONDITIONS))
            return false;
        if (head != 0) {
            at = head;
            continue;
        }
        if (vyre_cl_is_sign(program, token_before(program, at, &doubt), ':'))
            return false; /* after a label */
        uint32_t brace = brace_around(program, at, function->body);
        if (brace == function->body)
            return !doubt;
        at = brace;
    }
    return false;
}

/* A macro may hide a condition, or a barrier in a loop, from this check. */
static bool is_plain_macro(const struct vyre_cl_program *program, const struct vyre_cl_macro *macro)
{
    bool has = false;
    bool looks = false;
    for (uint32_t i = macro->body; i < macro->end; i++) {
        has = has || synchronizes(program, i);
        looks = looks || may_skip(program, i) || is_any(program, i, LOOPS);
        if (is_any(program, i, CONDITIONS) || is_any(program, i, LEAVES_FUNCTION) ||
            is_any(program, i, LEAVES_LOOP))
            return false;
    }
    return !(has && looks);
}

void vyre_cl_program_barriers(struct vyre_cl_program *program,
                              const struct vyre_cl_dispatcher_input *input)
{
    static const char reason[] = "barrier under a condition";
    if (program->reason || !program->is_groupwise || !input->splits_at_barriers)
        return;
    if (program->pastes) /* "##" may make a barrier */
        vyre_cl_program_refuse(program, reason);
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
