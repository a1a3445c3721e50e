/*
 * heads.c: conditionals in the head of a function.
 *
 * All branches of a program's conditionals are read, but the parameters of a function must be
 * known. So conditionals in a head, which goes from a declaration's first word to its brace or
 * semicolon, are decided from the source. The head keeps the tokens of the groups that are taken.
 * The directives move before it, where the output has the compiler evaluate the same conditions
 * (emit.c): an unexpected group is an error there. Outside heads, groups are only marked, for the
 * choice between two definitions of a kernel.
 *
 *     int f(int a          #ifdef B
 *     #ifdef B             #endif              the output adds an #else with an error
 *         , int b    -->   int f(int a
 *     #endif                   , int b
 *     )                    )
 */
#include <string.h>

#include "backend/opencl/dispatcher/condition.h"
#include "backend/opencl/dispatcher/program.h"

#define LEVELS_MAX 64

static const char NOT_DECIDED[] = "directive inside a declaration";

/* Whether the compiler reads a group, from surely to surely not. */
enum state { STATE_READ, STATE_UNKNOWN, STATE_SKIPPED };

/* An open conditional. */
struct level {
    enum state state; /* of the current group */
    bool taken;       /* a group of it was read */
    bool unknown;     /* ... or perhaps */
    bool has_else;
    bool head;  /* in a head, and decided */
    bool quiet; /* inside a group of a head that is not taken */
};

struct heads {
    struct vyre_cl_program *program;
    struct vyre_cl_token *out;
    uint32_t count;
    struct vyre_cl_token *moved; /* directives of the current head */
    uint32_t moved_count;
    struct vyre_cl_meaning *meanings; /* by name */
    struct level levels[LEVELS_MAX];
    uint32_t depth;
    uint32_t item; /* first token of the current declaration, in `out`, or VYRE_CL_NONE */
    uint32_t braces;
    uint32_t brackets; /* round and square ones */
    bool gap;          /* something was removed before the next token */
};

static struct level *top(struct heads *heads)
{
    return heads->depth ? &heads->levels[heads->depth - 1] : NULL;
}

static bool is_dropping(struct heads *heads)
{
    const struct level *level = top(heads);
    return level && level->head && level->state == STATE_SKIPPED;
}

/* ---- Tokens ---- */

/* The head is over: its directives are put before it. */
static void end_head(struct heads *heads)
{
    uint32_t moved = heads->moved_count;
    if (moved == 0)
        return;
    for (uint32_t i = 0; i < heads->depth; i++) {
        if (heads->levels[i].head)
            vyre_cl_program_refuse(heads->program, NOT_DECIDED);
    }
    struct vyre_cl_token *first = heads->out + heads->item;
    memmove(first + moved, first, (heads->count - heads->item) * sizeof *first);
    memcpy(first, heads->moved, moved * sizeof *first);
    heads->count += moved;
    heads->moved_count = 0;
}

static void see_bracket(struct heads *heads, char sign)
{
    bool outside = heads->braces == 0 && heads->brackets == 0;
    if (outside && (sign == '{' || sign == ';'))
        end_head(heads);
    if (sign == '(' || sign == '[')
        heads->brackets++;
    else if (sign == ')' || sign == ']')
        heads->brackets -= heads->brackets > 0;
    else if (sign == '{')
        heads->braces++;
    else if (sign == '}')
        heads->braces -= heads->braces > 0;
    outside = heads->braces == 0 && heads->brackets == 0;
    if (outside && (sign == ';' || sign == '}'))
        heads->item = VYRE_CL_NONE;
}

/* How certain it is that the compiler reads this place. */
static enum state state_here(const struct heads *heads)
{
    enum state state = STATE_READ;
    for (uint32_t i = 0; i < heads->depth; i++)
        state = heads->levels[i].state > state ? heads->levels[i].state : state;
    return state;
}

static void add_token(struct heads *heads, const struct vyre_cl_token *token)
{
    if (is_dropping(heads)) {
        heads->gap = true;
        return;
    }
    if (heads->item == VYRE_CL_NONE && heads->braces == 0)
        heads->item = heads->count;
    struct vyre_cl_token *out = &heads->out[heads->count++];
    *out = *token;
    out->gap = heads->gap;
    out->skipped = state_here(heads) == STATE_SKIPPED;
    heads->gap = false;
    if (token->kind == VYRE_CL_TOKEN_SIGN && token->size == 1)
        see_bracket(heads, token->sign);
}

/* A directive stays in place, or moves before the head. */
static void add_directive(struct heads *heads, uint32_t first, uint32_t end,
                          enum vyre_cl_branch branch)
{
    struct vyre_cl_token **list = branch ? &heads->moved : &heads->out;
    uint32_t *count = branch ? &heads->moved_count : &heads->count;
    for (uint32_t i = first; i < end; i++) {
        (*list)[*count] = *vyre_cl_at(heads->program, i);
        (*list)[(*count)++].branch = (uint8_t)branch;
    }
    heads->gap = heads->gap || branch;
}

/* ---- Directives ---- */

static enum vyre_cl_truth negate(enum vyre_cl_truth truth)
{
    if (truth == VYRE_CL_UNKNOWN)
        return truth;
    return truth == VYRE_CL_TRUE ? VYRE_CL_FALSE : VYRE_CL_TRUE;
}

/* Decides the directive whose word is at `index`. */
static enum vyre_cl_truth decide(struct heads *heads, uint32_t index, uint32_t end)
{
    struct vyre_cl_program *program = heads->program;
    if (vyre_cl_is(program, index, "else"))
        return VYRE_CL_TRUE;
    if (vyre_cl_is(program, index, "if") || vyre_cl_is(program, index, "elif"))
        return vyre_cl_condition_if(&program->tokens, heads->meanings, index + 1, end);
    if (index + 2 != end)
        return VYRE_CL_UNKNOWN;
    enum vyre_cl_truth truth =
        vyre_cl_condition_defined(&program->tokens, heads->meanings, index + 1);
    if (vyre_cl_is(program, index, "ifdef"))
        return truth;
    return vyre_cl_is(program, index, "ifndef") ? negate(truth) : VYRE_CL_UNKNOWN;
}

/* Opens the group that begins here. */
static void begin_group(struct heads *heads, enum vyre_cl_truth truth)
{
    static const enum state states[] = {
        [VYRE_CL_FALSE] = STATE_SKIPPED,
        [VYRE_CL_TRUE] = STATE_READ,
        [VYRE_CL_UNKNOWN] = STATE_UNKNOWN,
    };
    struct level *level = top(heads);
    level->state = level->taken ? STATE_SKIPPED : states[truth];
    if (level->unknown && level->state == STATE_READ)
        level->state = STATE_UNKNOWN;
    level->taken = level->taken || level->state == STATE_READ;
    level->unknown = level->unknown || level->state == STATE_UNKNOWN;
}

static enum vyre_cl_branch branch_of(const struct level *level)
{
    if (!level->head)
        return VYRE_CL_BRANCH_NONE;
    return level->state == STATE_READ ? VYRE_CL_BRANCH_TAKEN : VYRE_CL_BRANCH_OTHER;
}

static void see_if(struct heads *heads, uint32_t first, uint32_t end)
{
    bool quiet = is_dropping(heads);
    enum vyre_cl_truth truth = quiet ? VYRE_CL_FALSE : decide(heads, first + 1, end);
    bool in_head = heads->item != VYRE_CL_NONE && heads->braces == 0;
    if (heads->depth == LEVELS_MAX) {
        vyre_cl_program_refuse(heads->program, "conditionals nested too deeply");
        return;
    }
    heads->levels[heads->depth++] = (struct level){
        .head = quiet || (in_head && truth != VYRE_CL_UNKNOWN), .quiet = quiet, .taken = quiet};
    begin_group(heads, truth);
    if (!quiet)
        add_directive(heads, first, end, branch_of(top(heads)));
}

static void see_else(struct heads *heads, uint32_t first, uint32_t end)
{
    struct level *level = top(heads);
    if (!level || level->quiet) {
        if (!level)
            add_directive(heads, first, end, VYRE_CL_BRANCH_NONE);
        return;
    }
    begin_group(heads, level->taken ? VYRE_CL_FALSE : decide(heads, first + 1, end));
    level->has_else = level->has_else || vyre_cl_is(heads->program, first + 1, "else");
    if (level->head && level->state == STATE_UNKNOWN)
        vyre_cl_program_refuse(heads->program, NOT_DECIDED);
    add_directive(heads, first, end, branch_of(level));
}

static void see_endif(struct heads *heads, uint32_t first, uint32_t end)
{
    const struct level *level = top(heads);
    enum vyre_cl_branch branch = VYRE_CL_BRANCH_NONE;
    if (level && level->head)
        branch = level->taken && !level->has_else ? VYRE_CL_BRANCH_END_OPEN : VYRE_CL_BRANCH_END;
    bool quiet = level && level->quiet;
    heads->depth -= level != NULL;
    if (!quiet)
        add_directive(heads, first, end, branch);
}

/* A #define or #undef, as far as the compiler reads it. */
static void see_macro(struct heads *heads, uint32_t first, uint32_t end)
{
    struct vyre_cl_program *program = heads->program;
    enum state state = state_here(heads);
    uint32_t index = first + 2;
    if (index >= end || vyre_cl_at(program, index)->name == 0 || state == STATE_SKIPPED)
        return;
    struct vyre_cl_meaning meaning = {.body = index + 1, .end = end};
    bool parameters = index + 1 < end && vyre_cl_is_sign(program, index + 1, '(') &&
                      !vyre_cl_at(program, index)->space_after;
    if (vyre_cl_is(program, first + 1, "define"))
        meaning.kind = parameters ? VYRE_CL_MEANING_OTHER : VYRE_CL_MEANING_VALUE;
    if (state == STATE_UNKNOWN)
        meaning.kind = VYRE_CL_MEANING_UNKNOWN;
    heads->meanings[vyre_cl_at(program, index)->name] = meaning;
}

static void see_directive(struct heads *heads, uint32_t first, uint32_t end)
{
    struct vyre_cl_program *program = heads->program;
    uint32_t word = first + 1 < end ? first + 1 : first;
    if (vyre_cl_is(program, word, "if") || vyre_cl_is(program, word, "ifdef") ||
        vyre_cl_is(program, word, "ifndef"))
        see_if(heads, first, end);
    else if (vyre_cl_is(program, word, "else") || vyre_cl_is(program, word, "elif") ||
             vyre_cl_is(program, word, "elifdef") || vyre_cl_is(program, word, "elifndef"))
        see_else(heads, first, end);
    else if (vyre_cl_is(program, word, "endif"))
        see_endif(heads, first, end);
    else if (!is_dropping(heads)) {
        if (vyre_cl_is(program, word, "define") || vyre_cl_is(program, word, "undef"))
            see_macro(heads, first, end);
        add_directive(heads, first, end, VYRE_CL_BRANCH_NONE);
    }
}

static bool make_lists(struct heads *heads)
{
    struct vyre_cl_tokens *tokens = &heads->program->tokens;
    struct vyre_arena *arena = heads->program->arena;
    heads->out = vyre_arena_allocate(arena, (tokens->count + 1) * sizeof *heads->out, 8);
    heads->moved = vyre_arena_allocate(arena, (tokens->count + 1) * sizeof *heads->moved, 8);
    heads->meanings = vyre_arena_allocate(arena, tokens->name_count * sizeof *heads->meanings, 8);
    if (!heads->out || !heads->moved || !heads->meanings) {
        vyre_cl_program_refuse(heads->program, VYRE_CL_NO_MEMORY);
        return false;
    }
    memset(heads->meanings, 0, tokens->name_count * sizeof *heads->meanings);
    return true;
}

void vyre_cl_program_heads(struct vyre_cl_program *program)
{
    struct heads heads = {.program = program, .item = VYRE_CL_NONE};
    struct vyre_cl_tokens *tokens = &program->tokens;
    if (program->reason || !make_lists(&heads))
        return;
    for (uint32_t i = 0; !program->reason && i < tokens->count;) {
        uint32_t directive = tokens->list[i].directive;
        uint32_t end = i + 1;
        while (directive && end < tokens->count && tokens->list[end].directive == directive)
            end++;
        if (directive)
            see_directive(&heads, i, end);
        else
            add_token(&heads, &tokens->list[i]);
        i = end;
    }
    if (heads.moved_count > 0)
        vyre_cl_program_refuse(program, NOT_DECIDED);
    heads.out[heads.count] = tokens->list[tokens->count];
    tokens->list = heads.out;
    tokens->count = heads.count;
}
