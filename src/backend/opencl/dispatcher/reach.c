/*
 * reach.c: which names a dispatcher's kernels reach.
 *
 * A name reaches the names in the bodies of its functions and macros. The walk refuses recursion,
 * which would never end when everything is inlined. A variable, parameter or member may have the
 * name of a function. Such a mention is recognised by what follows it, if no macro is involved.
 */
#include <string.h>

#include "backend/opencl/dispatcher/program.h"
#include "backend/opencl/dispatcher/words.h"

#define PATH_MAX_NAMES 200

struct walk {
    struct vyre_cl_program *program;
    uint32_t path[PATH_MAX_NAMES];
    uint32_t depth;
};

/* The depth of the recursion is bounded by PATH_MAX_NAMES. NOLINTBEGIN(misc-no-recursion) */

static void visit(struct walk *walk, uint32_t name);

static bool is_function(const struct vyre_cl_program *program, uint32_t name)
{
    return program->facts[name].function != VYRE_CL_NONE;
}

/* A name that is already on the path: recursion, unless only macros mention each other. */
static void meet_again(struct walk *walk, uint32_t name)
{
    uint32_t i = walk->depth;
    while (i > 0) {
        i--;
        if (is_function(walk->program, walk->path[i]))
            vyre_cl_program_refuse(walk->program, "recursion");
        if (walk->path[i] == name)
            return;
    }
}

static bool is_macro(const struct vyre_cl_program *program, uint32_t index)
{
    uint32_t name = vyre_cl_at(program, index)->name;
    return name && program->facts[name].macro != VYRE_CL_NONE;
}

/* Whether the token is among the arguments of a macro, which may add a parenthesis after it. */
static bool is_macro_argument(const struct vyre_cl_program *program, uint32_t index, uint32_t first)
{
    for (uint32_t i = index; i-- > first;) {
        uint32_t other = program->match[i];
        if (vyre_cl_at(program, i)->directive || other == VYRE_CL_NONE)
            continue;
        if (other < i)
            i = other;
        else if (i > first && vyre_cl_is_sign(program, i, '(') && is_macro(program, i - 1))
            return true;
    }
    return false;
}

/* Whether a name is mentioned but cannot be a call. There are no pointers to functions. */
static bool is_no_call(const struct vyre_cl_program *program, uint32_t index, uint32_t first)
{
    return !vyre_cl_at(program, index)->directive && index + 1 < program->tokens.count &&
           !vyre_cl_is_sign(program, index + 1, '(') && !is_macro(program, index + 1) &&
           !vyre_cl_at(program, index + 1)->directive && !is_macro_argument(program, index, first);
}

/*
 * The same for a function of the program: the output's macro for it, which passes hidden values,
 * expands only before a parenthesis.
 */
static bool is_only_a_name(const struct vyre_cl_program *program, uint32_t index, uint32_t first)
{
    return is_function(program, vyre_cl_at(program, index)->name) &&
           is_no_call(program, index, first);
}

/* A function of the language that is newer than this list of words may contain a barrier. */
static void see_unknown(struct vyre_cl_program *program, uint32_t index, uint32_t first)
{
    const struct vyre_cl_token *token = vyre_cl_at(program, index);
    if (vyre_cl_word_is_unknown(program->tokens.text + token->offset, token->size) &&
        !is_function(program, token->name) && !is_macro(program, index) &&
        !is_no_call(program, index, first))
        vyre_cl_program_refuse(program, "work-group function that is not known");
}

static void visit_tokens(struct walk *walk, uint32_t first, uint32_t end)
{
    struct vyre_cl_program *program = walk->program;
    for (uint32_t i = first; !program->reason && i < end; i++) {
        uint32_t name = vyre_cl_at(program, i)->name;
        if (name && !is_only_a_name(program, i, first)) {
            visit(walk, name);
            if (program->facts[name].synchronizes && walk->depth > 0)
                program->facts[walk->path[walk->depth - 1]].synchronizes = true;
        }
        if (name)
            see_unknown(program, i, first);
    }
}

static void see_word(struct vyre_cl_program *program, uint32_t name)
{
    const struct vyre_cl_name *word = &program->tokens.names[name];
    const char *text = program->tokens.text + word->offset;
    const char *reason = vyre_cl_word_refused(text, word->size);
    if (!reason)
        reason = vyre_cl_word_unkept(text, word->size);
    if (reason)
        vyre_cl_program_refuse(program, reason);
    if (vyre_cl_word_is_groupwise(text, word->size))
        program->is_groupwise = program->facts[name].synchronizes = true;
}

static void visit_definitions(struct walk *walk, uint32_t name)
{
    struct vyre_cl_program *program = walk->program;
    for (uint32_t i = program->facts[name].function; i != VYRE_CL_NONE;
         i = program->functions[i].next_of_name) {
        const struct vyre_cl_function *function = &program->functions[i];
        visit_tokens(walk, function->first, function->name_token);
        visit_tokens(walk, function->open, function->last);
    }
    for (uint32_t i = program->facts[name].macro; i != VYRE_CL_NONE;
         i = program->macros[i].next_of_name)
        visit_tokens(walk, program->macros[i].body, program->macros[i].end);
}

static void visit(struct walk *walk, uint32_t name)
{
    struct vyre_cl_name_facts *facts = &walk->program->facts[name];
    if (walk->depth > 0)
        facts->is_called = true;
    if (facts->visit == 1)
        meet_again(walk, name);
    if (facts->visit != 0)
        return;
    if (walk->depth == PATH_MAX_NAMES) {
        vyre_cl_program_refuse(walk->program, "calls nested too deeply");
        return;
    }
    facts->visit = 1;
    walk->path[walk->depth++] = name;
    see_word(walk->program, name);
    visit_definitions(walk, name);
    walk->depth--;
    facts->visit = 2;
}

/* NOLINTEND(misc-no-recursion) */

static bool is_constant_or_local(const struct vyre_cl_program *program, uint32_t index)
{
    return vyre_cl_is_local(program, index) || vyre_cl_is(program, index, "constant") ||
           vyre_cl_is(program, index, "__constant");
}

/* Static variables that change: the output's copies are not the program's. */
static void check_statics(struct vyre_cl_program *program)
{
    for (uint32_t f = 0; f < program->function_count; f++) {
        const struct vyre_cl_function *function = &program->functions[f];
        if (function->body == VYRE_CL_NONE || !vyre_cl_function_is_kept(program, function))
            continue;
        for (uint32_t i = function->body; i < function->last; i++) {
            if (vyre_cl_is(program, i, "static") && !is_constant_or_local(program, i - 1) &&
                !is_constant_or_local(program, i + 1))
                vyre_cl_program_refuse(program, "static variable in a function");
        }
    }
}

/* ---- What is in the output although no kernel reaches it -------------------------------------- */

struct standing {
    struct vyre_cl_program *program;
    uint32_t *names; /* still to be examined */
    uint32_t count;
};

static void stand(struct standing *standing, uint32_t name)
{
    if (name == 0 || standing->program->facts[name].stands)
        return;
    standing->program->facts[name].stands = true;
    standing->names[standing->count++] = name;
}

/* Names in conditionals, wherever they are, and outside functions. */
static void stand_tokens(struct standing *standing)
{
    struct vyre_cl_program *program = standing->program;
    uint32_t function = 0;
    uint32_t directive = 0;
    bool define = false;
    for (uint32_t i = 0; i < program->tokens.count; i++) {
        const struct vyre_cl_token *token = vyre_cl_at(program, i);
        while (function < program->function_count && program->functions[function].last < i)
            function++;
        bool inside = function < program->function_count && i >= program->functions[function].first;
        if (token->directive && token->directive != directive)
            define = vyre_cl_is(program, i + 1, "define");
        directive = token->directive;
        if (token->directive ? !define : !inside)
            stand(standing, token->name);
    }
}

/* A word there also has its meaning through macros. */
static void check_standing(struct vyre_cl_program *program)
{
    struct standing standing = {.program = program};
    standing.names =
        vyre_arena_allocate(program->arena, program->tokens.name_count * sizeof *standing.names, 8);
    if (!standing.names) {
        vyre_cl_program_refuse(program, VYRE_CL_NO_MEMORY);
        return;
    }
    stand_tokens(&standing);
    while (standing.count > 0) {
        uint32_t name = standing.names[--standing.count];
        const struct vyre_cl_name *word = &program->tokens.names[name];
        const char *reason = vyre_cl_word_unkept(program->tokens.text + word->offset, word->size);
        if (reason)
            vyre_cl_program_refuse(program, reason);
        for (uint32_t m = program->facts[name].macro; m != VYRE_CL_NONE;
             m = program->macros[m].next_of_name) {
            for (uint32_t i = program->macros[m].body; i < program->macros[m].end; i++)
                stand(&standing, vyre_cl_at(program, i)->name);
        }
    }
}

void vyre_cl_program_reach(struct vyre_cl_program *program,
                           const struct vyre_cl_dispatcher_input *input)
{
    struct walk walk = {.program = program};
    for (size_t i = 0; !program->reason && i < input->kernel_count; i++) {
        const char *entry = input->kernels[i].entry;
        uint32_t name = vyre_cl_tokens_find(&program->tokens, entry, strlen(entry));
        if (name == 0 || !is_function(program, name)) {
            vyre_cl_program_refuse(program, "kernel that is not visible in the source");
            return;
        }
        program->facts[name].is_entry = true;
        visit(&walk, name);
    }
    check_statics(program);
    if (!program->reason)
        check_standing(program);
}
