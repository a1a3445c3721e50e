/*
 * condition.c: the outcome of a preprocessor conditional, as far as the source shows.
 */
#include "backend/opencl/dispatcher/condition.h"

#include <string.h>

#define DEPTH_MAX 64    /* of parentheses and of macros in macros */
#define STEPS_MAX 10000 /* nested macros could double the work each time */

struct expression {
    const struct vyre_cl_tokens *tokens;
    const struct vyre_cl_meaning *meanings;
    uint32_t at;
    uint32_t end;
    unsigned depth;
    unsigned steps;
    bool failed; /* not understood, or not known */
};

static bool at_sign(const struct expression *e, const char *sign)
{
    return e->at < e->end && vyre_cl_token_is(e->tokens, e->at, sign);
}

static bool take(struct expression *e, const char *sign)
{
    bool here = at_sign(e, sign);
    e->at += here;
    return here;
}

/* Names that compilers define: whether this one does is not known here. */
static bool is_compilers(const struct vyre_cl_tokens *tokens, uint32_t index)
{
    static const char *const BEGINNINGS[] = {"__OPENCL", "__opencl", "CL_VERSION",
                                             "cl_",      "__IMAGE",  "__ENDIAN"};
    const struct vyre_cl_token *token = &tokens->list[index];
    for (size_t i = 0; i < sizeof BEGINNINGS / sizeof *BEGINNINGS; i++) {
        size_t size = strlen(BEGINNINGS[i]);
        if (token->size >= size && memcmp(tokens->text + token->offset, BEGINNINGS[i], size) == 0)
            return true;
    }
    return false;
}

enum vyre_cl_truth vyre_cl_condition_defined(const struct vyre_cl_tokens *tokens,
                                             const struct vyre_cl_meaning *meanings, uint32_t index)
{
    uint32_t name = tokens->list[index].name;
    if (name == 0 || meanings[name].kind == VYRE_CL_MEANING_UNKNOWN)
        return VYRE_CL_UNKNOWN;
    if (meanings[name].kind != VYRE_CL_MEANING_NONE)
        return VYRE_CL_TRUE;
    return is_compilers(tokens, index) ? VYRE_CL_UNKNOWN : VYRE_CL_FALSE;
}

static uint64_t digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return (uint64_t)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (uint64_t)(c - 'a') + 10;
    return c >= 'A' && c <= 'F' ? (uint64_t)(c - 'A') + 10 : 99;
}

static int64_t number(struct expression *e)
{
    const struct vyre_cl_token *token = &e->tokens->list[e->at++];
    const char *text = e->tokens->text + token->offset;
    uint64_t base = 10;
    uint64_t value = 0;
    size_t i = 0;
    if (token->size > 1 && text[0] == '0') {
        bool hex = text[1] == 'x' || text[1] == 'X';
        base = hex ? 16 : 8;
        i = hex ? 2 : 1;
    }
    for (; i < token->size && digit_of(text[i]) < base; i++)
        value = value * base + digit_of(text[i]);
    while (i < token->size && strchr("uUlL", text[i]))
        i++;
    e->failed = e->failed || i != token->size;
    return (int64_t)value;
}

/* The depth of the recursion is bounded by DEPTH_MAX. NOLINTBEGIN(misc-no-recursion) */

static int64_t value_of(struct expression *e);

/* An expression of its own: the tokens of a macro. */
static int64_t macro(struct expression *e, const struct vyre_cl_meaning *meaning)
{
    struct expression inner = *e;
    inner.at = meaning->body;
    inner.end = meaning->end;
    int64_t value = value_of(&inner);
    e->steps = inner.steps;
    e->failed = e->failed || inner.failed || inner.at != inner.end;
    return value;
}

static int64_t defined(struct expression *e)
{
    bool enclosed = take(e, "(");
    uint32_t index = e->at++;
    enum vyre_cl_truth truth = VYRE_CL_UNKNOWN;
    if (index < e->end)
        truth = vyre_cl_condition_defined(e->tokens, e->meanings, index);
    if (truth == VYRE_CL_UNKNOWN || (enclosed && !take(e, ")")))
        e->failed = true;
    return truth == VYRE_CL_TRUE;
}

static int64_t name(struct expression *e)
{
    uint32_t index = e->at++;
    const struct vyre_cl_meaning *meaning = &e->meanings[e->tokens->list[index].name];
    if (vyre_cl_token_is(e->tokens, index, "defined"))
        return defined(e);
    if (meaning->kind == VYRE_CL_MEANING_VALUE)
        return macro(e, meaning);
    if (meaning->kind != VYRE_CL_MEANING_NONE || is_compilers(e->tokens, index))
        e->failed = true;
    return 0;
}

static int64_t operand(struct expression *e)
{
    int64_t value = 0;
    if (e->failed || e->at >= e->end || e->depth >= DEPTH_MAX || ++e->steps > STEPS_MAX) {
        e->failed = true;
        return 0;
    }
    e->depth++;
    const struct vyre_cl_token *token = &e->tokens->list[e->at];
    if (take(e, "!"))
        value = !operand(e);
    else if (take(e, "-"))
        value = (int64_t)(0 - (uint64_t)operand(e));
    else if (take(e, "+"))
        value = operand(e);
    else if (take(e, "~"))
        value = ~operand(e);
    else if (take(e, "(")) {
        value = value_of(e);
        e->failed = e->failed || !take(e, ")");
    } else if (token->kind == VYRE_CL_TOKEN_NAME)
        value = name(e);
    else if (token->kind == VYRE_CL_TOKEN_NUMBER)
        value = number(e);
    else
        e->failed = true;
    e->depth--;
    return value;
}

static const struct operation {
    const char *sign;
    int rank;
} OPERATIONS[] = {
    {"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5},  {"==", 6},
    {"!=", 6}, {"<=", 7}, {">=", 7}, {"<", 7},  {">", 7},  {"<<", 8},
    {">>", 8}, {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
};

static int64_t compute(struct expression *e, const char *sign, int64_t a, int64_t b)
{
    bool twice = sign[1] == sign[0];
    bool equal = sign[1] == '=';
    bool shifts = twice && (sign[0] == '<' || sign[0] == '>');
    bool divides = sign[0] == '/' || sign[0] == '%';
    if ((shifts && (a < 0 || b < 0 || b > 62)) || (divides && (a < 0 || b <= 0))) {
        e->failed = true;
        return 0;
    }
    switch (sign[0]) {
    case '|':
        return twice ? a || b : (a | b);
    case '&':
        return twice ? a && b : (a & b);
    case '^':
        return a ^ b;
    case '=':
        return a == b;
    case '!':
        return a != b;
    case '<':
        return twice ? (int64_t)((uint64_t)a << b) : equal ? a <= b : a < b;
    case '>':
        return twice ? a >> b : equal ? a >= b : a > b;
    case '+':
        return (int64_t)((uint64_t)a + (uint64_t)b);
    case '-':
        return (int64_t)((uint64_t)a - (uint64_t)b);
    case '*':
        return (int64_t)((uint64_t)a * (uint64_t)b);
    case '/':
        return b ? a / b : 0;
    default:
        return b ? a % b : 0;
    }
}

/* Operators of this rank and higher ones. */
static int64_t ranked(struct expression *e, int rank)
{
    int64_t value = operand(e);
    for (size_t i = 0; !e->failed && i < sizeof OPERATIONS / sizeof *OPERATIONS;) {
        const struct operation *operation = &OPERATIONS[i++];
        if (operation->rank < rank || !take(e, operation->sign))
            continue;
        value = compute(e, operation->sign, value, ranked(e, operation->rank + 1));
        i = 0;
    }
    return value;
}

static int64_t value_of(struct expression *e)
{
    e->depth++;
    int64_t value = ranked(e, 1);
    if (!e->failed && take(e, "?")) {
        int64_t yes = value_of(e);
        e->failed = e->failed || !take(e, ":");
        int64_t no = value_of(e);
        value = value ? yes : no;
    }
    e->depth--;
    return value;
}

/* NOLINTEND(misc-no-recursion) */

enum vyre_cl_truth vyre_cl_condition_if(const struct vyre_cl_tokens *tokens,
                                        const struct vyre_cl_meaning *meanings, uint32_t first,
                                        uint32_t end)
{
    struct expression e = {.tokens = tokens, .meanings = meanings, .at = first, .end = end};
    int64_t value = value_of(&e);
    if (e.failed || e.at != end)
        return VYRE_CL_UNKNOWN;
    return value ? VYRE_CL_TRUE : VYRE_CL_FALSE;
}
