/*
 * lexer.h: the tokens of an OpenCL C source, and its identifiers as numbers.
 *
 * Comments, white space and line continuations are not tokens. Directives are tokenized like the
 * rest; each of their tokens carries `directive`, and their first is the '#'. The lexer stops with
 * a reason at anything that it does not know with certainty: a continuation inside a token (one
 * between tokens counts as a space), bytes outside ASCII, digraphs, a directive without meaning
 * here.
 */
#ifndef VYRE_BACKEND_OPENCL_DISPATCHER_LEXER_H
#define VYRE_BACKEND_OPENCL_DISPATCHER_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/export.h>

#include "base/arena.h"

enum vyre_cl_token_kind {
    VYRE_CL_TOKEN_END = 0,
    VYRE_CL_TOKEN_NAME,   /* identifiers and keywords */
    VYRE_CL_TOKEN_NUMBER, /* a preprocessing number */
    VYRE_CL_TOKEN_TEXT,   /* a string or character literal */
    VYRE_CL_TOKEN_SIGN,   /* punctuation; an operator of several characters is one */
};

/* The role of a directive in the head of a function: heads.c. */
enum vyre_cl_branch {
    VYRE_CL_BRANCH_NONE = 0, /* not in a head */
    VYRE_CL_BRANCH_TAKEN,    /* begins the group that is read */
    VYRE_CL_BRANCH_OTHER,    /* begins a group that is not */
    VYRE_CL_BRANCH_END,
    VYRE_CL_BRANCH_END_OPEN, /* the end; there is a group that is read, and no #else */
};

struct vyre_cl_token {
    uint32_t offset; /* in the text */
    uint32_t size;
    uint32_t name;      /* of a NAME: its number, from 1; else 0 */
    uint32_t directive; /* 0, or the number of its directive, from 1 */
    uint8_t kind;
    char sign; /* of a SIGN: the character; '>' for "->", '#' for "##", 0 for other operators */
    bool space_after; /* a space, comment or end follows: shows whether a macro has parameters */
    bool gap;         /* something between it and the token before it was removed */
    uint8_t branch;   /* enum vyre_cl_branch */
    bool skipped;     /* in a group of a conditional that is probably not read: heads.c */
};

struct vyre_cl_name {
    uint32_t offset; /* of its first occurrence */
    uint32_t size;
};

struct vyre_cl_tokens {
    const char *text; /* Borrowed */
    size_t size;
    struct vyre_cl_token *list; /* ends with an END */
    uint32_t count;             /* without the END */
    struct vyre_cl_name *names; /* by number; 0 is unused */
    uint32_t name_count;        /* with the unused one */
    uint32_t *table;            /* hash table of numbers */
    uint32_t table_mask;
};

/*
 * Reads `text`. NULL on success, otherwise a reason, which is VYRE_CL_NO_MEMORY if the arena had no
 * room.
 */
VYRE_NODISCARD const char *vyre_cl_tokens_read(struct vyre_arena *arena, const char *text,
                                               size_t size, struct vyre_cl_tokens *out);

extern const char VYRE_CL_NO_MEMORY[];

/* The number of an identifier; 0 if the source does not have it. */
uint32_t vyre_cl_tokens_find(const struct vyre_cl_tokens *tokens, const char *word, size_t size);

/* Whether the token is the identifier or sign `word`. */
bool vyre_cl_token_is(const struct vyre_cl_tokens *tokens, uint32_t index, const char *word);

#endif
