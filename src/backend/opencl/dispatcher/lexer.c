/*
 * lexer.c: the tokens of an OpenCL C source.
 */
#include "backend/opencl/dispatcher/lexer.h"

#include <string.h>

const char VYRE_CL_NO_MEMORY[] = "out of memory";

struct reader {
    const char *text;
    size_t size;
    size_t at;
    uint32_t directive; /* of the current line, or 0 */
    uint32_t directives;
    bool line_start; /* no token on this line yet */
    const char *reason;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\r';
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_part(char c)
{
    return is_name_start(c) || is_digit(c);
}

static char peek(const struct reader *r, size_t ahead)
{
    if (ahead >= r->size - r->at)
        return '\0';
    return r->text[r->at + ahead];
}

/*
 * Bytes of a backslash and the line end after it, or 0. Compilers ignore white space between the
 * two.
 */
static size_t splice(const struct reader *r, size_t ahead)
{
    size_t size = 1;
    if (peek(r, ahead) != '\\')
        return 0;
    while (is_space(peek(r, ahead + size)))
        size++;
    return peek(r, ahead + size) == '\n' ? size + 1 : 0;
}

/*
 * The offset of the character with this number once lines are joined, which happens before tokens
 * are read.
 */
static size_t joined(const struct reader *r, size_t number)
{
    size_t ahead = 0;
    for (;;) {
        size_t join = splice(r, ahead);
        if (join) {
            ahead += join;
        } else if (number == 0) {
            return ahead;
        } else {
            number--;
            ahead++;
        }
    }
}

static char peek_joined(const struct reader *r, size_t number)
{
    return peek(r, joined(r, number));
}

/* The characters up to this number belong together, so no lines may be joined between them. */
static void expect_whole(struct reader *r, size_t last)
{
    if (joined(r, last) != last)
        r->reason = "line continuation inside a token";
}

static bool is_comment(const struct reader *r)
{
    char next = peek_joined(r, 1);
    return peek_joined(r, 0) == '/' && (next == '/' || next == '*');
}

static void line_comment(struct reader *r)
{
    while (r->at < r->size && peek(r, 0) != '\n') {
        size_t join = splice(r, 0);
        /* With white space in between, only some compilers continue on the next line. */
        if (join && is_space(peek(r, 1)) && peek(r, 1) != '\r')
            r->reason = "comment that may end at two places";
        r->at += join ? join : 1;
    }
}

static void block_comment(struct reader *r)
{
    r->at += 2;
    while (r->at < r->size && !r->reason && !(peek(r, 0) == '*' && peek(r, 1) == '/')) {
        if (peek(r, 0) == '*' && peek_joined(r, 1) == '/')
            expect_whole(r, 1);
        r->at++;
    }
    if (r->at >= r->size)
        r->reason = "comment without an end";
    else
        r->at += 2;
}

static void comment(struct reader *r)
{
    expect_whole(r, 1);
    if (r->reason)
        return;
    if (peek(r, 1) == '/')
        line_comment(r);
    else
        block_comment(r);
}

static void end_line(struct reader *r)
{
    r->at++;
    r->line_start = true;
    r->directive = 0;
}

static void skip_blank(struct reader *r)
{
    while (r->at < r->size && !r->reason) {
        char c = peek(r, 0);
        size_t join = splice(r, 0);
        if (join)
            r->at += join;
        else if (c == '\n')
            end_line(r);
        else if (is_space(c))
            r->at++;
        else if (is_comment(r))
            comment(r);
        else
            break;
    }
}

static void read_literal(struct reader *r, char quote)
{
    r->at++;
    while (r->at < r->size && peek(r, 0) != quote) {
        char c = peek(r, 0);
        size_t join = splice(r, 0);
        if (c == '\n') {
            r->reason = "literal over several lines";
            return;
        }
        if (join)
            r->at += join;
        else
            r->at += c == '\\' && r->at + 1 < r->size ? 2 : 1;
    }
    if (r->at >= r->size)
        r->reason = "literal without an end";
    else
        r->at++;
}

static bool is_number_part(char before, char c)
{
    bool exponent = before == 'e' || before == 'E' || before == 'p' || before == 'P';
    return is_name_part(c) || c == '.' || ((c == '+' || c == '-') && exponent);
}

static void read_name(struct reader *r)
{
    while (is_name_part(peek(r, 0)))
        r->at++;
    if (is_name_part(peek_joined(r, 0)))
        expect_whole(r, 0);
}

static void read_number(struct reader *r)
{
    char before = '\0';
    while (is_number_part(before, peek(r, 0))) {
        before = peek(r, 0);
        r->at++;
    }
    if (is_number_part(before, peek_joined(r, 0)))
        expect_whole(r, 0);
}

/* The number of characters of the longest operator here, by C's rule. */
static size_t operator_size(const struct reader *r)
{
    char c = peek(r, 0);
    char next = peek_joined(r, 1);
    char third = peek_joined(r, 2);
    if (c == '.' && next == '.' && third == '.')
        return 3;
    if ((c == '<' || c == '>') && next == c)
        return third == '=' ? 3 : 2;
    bool twice = next == c && strchr("&|+-=#", c);
    bool assigns = next == '=' && strchr("+-*/%&|^!<>", c);
    return twice || assigns || (c == '-' && next == '>') ? 2 : 1;
}

static void read_sign(struct reader *r, struct vyre_cl_token *out)
{
    char c = peek(r, 0);
    char next = peek_joined(r, 1);
    size_t size = operator_size(r);
    bool digraph = (c == '<' && (next == ':' || next == '%')) || (c == ':' && next == '>') ||
                   (c == '%' && (next == ':' || next == '>'));
    out->kind = VYRE_CL_TOKEN_SIGN;
    out->sign = c;
    if (size > 1 && c != '#')
        out->sign = next == '>' && c == '-' ? '>' : '\0';
    expect_whole(r, size - 1);
    r->at += size;
    if (digraph || (c == '?' && next == '?'))
        r->reason = "digraph or trigraph";
    else if (!strchr("#(){}[];,.+-*/%&|^~!=<>?:", c))
        r->reason = "byte that is no OpenCL C";
}

static void start_directive(struct reader *r, const struct vyre_cl_token *token)
{
    bool hash = token->kind == VYRE_CL_TOKEN_SIGN && token->sign == '#';
    if (hash && token->size == 1 && r->line_start)
        r->directive = ++r->directives;
    else if (hash && r->directive == 0)
        r->reason = "# outside a directive";
    r->line_start = false;
}

static struct vyre_cl_token next_token(struct reader *r)
{
    struct vyre_cl_token token = {0};
    skip_blank(r);
    token.offset = (uint32_t)r->at;
    if (r->at >= r->size || r->reason)
        return token;
    char c = peek(r, 0);
    if (is_name_start(c)) {
        token.kind = VYRE_CL_TOKEN_NAME;
        read_name(r);
    } else if (is_digit(c) || (c == '.' && is_digit(peek_joined(r, 1)))) {
        token.kind = VYRE_CL_TOKEN_NUMBER;
        read_number(r);
    } else if (c == '"' || c == '\'') {
        token.kind = VYRE_CL_TOKEN_TEXT;
        read_literal(r, c);
    } else if (c == '\0') {
        r->reason = "byte that is no OpenCL C";
    } else {
        read_sign(r, &token);
    }
    token.size = (uint32_t)r->at - token.offset;
    char after = peek_joined(r, 0);
    token.space_after = after == '\0' || is_space(after) || after == '\n' || is_comment(r);
    if (!r->reason)
        start_directive(r, &token);
    token.directive = r->directive;
    return token;
}

static uint32_t hash_bytes(const char *bytes, size_t size)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 16777619u;
    return hash;
}

/* The place in the table where the word is or would be. */
static uint32_t *place_of(const struct vyre_cl_tokens *tokens, const char *word, size_t size)
{
    uint32_t at = hash_bytes(word, size) & tokens->table_mask;
    while (tokens->table[at]) {
        const struct vyre_cl_name *name = &tokens->names[tokens->table[at]];
        if (name->size == size && memcmp(tokens->text + name->offset, word, size) == 0)
            break;
        at = (at + 1) & tokens->table_mask;
    }
    return &tokens->table[at];
}

static void number_name(struct vyre_cl_tokens *tokens, struct vyre_cl_token *token)
{
    uint32_t *place = place_of(tokens, tokens->text + token->offset, token->size);
    if (*place == 0) {
        *place = tokens->name_count++;
        tokens->names[*place].offset = token->offset;
        tokens->names[*place].size = token->size;
    }
    token->name = *place;
}

/* Room for `count` tokens, of which `names` are identifiers. */
static bool make_room(struct vyre_arena *arena, struct vyre_cl_tokens *out, uint32_t count,
                      uint32_t names)
{
    uint32_t table = 16;
    while (table < 2 * (names + 1))
        table *= 2;
    out->list = vyre_arena_allocate(arena, (count + 1) * sizeof *out->list, 8);
    out->names = vyre_arena_allocate(arena, (names + 1) * sizeof *out->names, 8);
    out->table = vyre_arena_allocate(arena, table * sizeof *out->table, 8);
    if (!out->list || !out->names || !out->table)
        return false;
    memset(out->table, 0, table * sizeof *out->table);
    out->names[0] = (struct vyre_cl_name){0};
    out->table_mask = table - 1;
    out->name_count = 1;
    return true;
}

static const char *count_tokens(struct reader r, uint32_t *out_count, uint32_t *out_names)
{
    *out_count = 0;
    *out_names = 0;
    for (;;) {
        struct vyre_cl_token token = next_token(&r);
        if (r.reason || token.kind == VYRE_CL_TOKEN_END)
            return r.reason;
        *out_count += 1;
        *out_names += token.kind == VYRE_CL_TOKEN_NAME;
    }
}

/* Only some compilers end a line at a lone carriage return. */
static bool has_lone_return(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\r' && !(i + 1 < size && text[i + 1] == '\n') &&
            !(i > 0 && text[i - 1] == '\n'))
            return true;
    }
    return false;
}

const char *vyre_cl_tokens_read(struct vyre_arena *arena, const char *text, size_t size,
                                struct vyre_cl_tokens *out)
{
    struct reader r = {.text = text, .size = size, .line_start = true};
    uint32_t count;
    uint32_t names;
    *out = (struct vyre_cl_tokens){.text = text, .size = size};
    if (has_lone_return(text, size))
        return "byte that is no OpenCL C";
    const char *reason = count_tokens(r, &count, &names);
    if (reason)
        return reason;
    if (!make_room(arena, out, count, names))
        return VYRE_CL_NO_MEMORY;
    for (out->count = 0; out->count < count; out->count++) {
        out->list[out->count] = next_token(&r);
        if (out->list[out->count].kind == VYRE_CL_TOKEN_NAME)
            number_name(out, &out->list[out->count]);
    }
    out->list[count] = next_token(&r);
    return NULL;
}

uint32_t vyre_cl_tokens_find(const struct vyre_cl_tokens *tokens, const char *word, size_t size)
{
    return *place_of(tokens, word, size);
}

bool vyre_cl_token_is(const struct vyre_cl_tokens *tokens, uint32_t index, const char *word)
{
    const struct vyre_cl_token *token = &tokens->list[index];
    return token->size == strlen(word) &&
           memcmp(tokens->text + token->offset, word, token->size) == 0;
}
