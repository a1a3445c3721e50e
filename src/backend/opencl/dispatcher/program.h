/*
 * program.h: what the dispatcher knows about a user's program.
 *
 * The text is the build options' macros, one #define each, followed by the source. A program is
 * read at file scope: functions, macros and other declarations. Inside a function only its names
 * are read and, in kernels, local variables.
 *
 * The names that a kernel reaches are found through functions and macros, over all branches of
 * conditionals. So none is missed, except names that only "##" makes; for those the output has
 * macros that do not compile.
 */
#ifndef VYRE_BACKEND_OPENCL_DISPATCHER_PROGRAM_H
#define VYRE_BACKEND_OPENCL_DISPATCHER_PROGRAM_H

#include "backend/opencl/dispatcher/dispatcher.h"
#include "backend/opencl/dispatcher/lexer.h"

#define VYRE_CL_NONE UINT32_MAX

struct vyre_cl_function {
    uint32_t name;
    uint32_t first; /* tokens: first of the declaration, ... */
    uint32_t name_token;
    uint32_t open; /* ... parenthesis before the parameters, ... */
    uint32_t close;
    uint32_t body; /* ... brace before the body, or VYRE_CL_NONE in a prototype, ... */
    uint32_t last; /* ... and last of all */
    uint32_t parameter_count;
    uint32_t next_of_name; /* or VYRE_CL_NONE */
    uint32_t first_local;  /* in the program's list */
    uint32_t local_count;
    bool is_kernel;
};

struct vyre_cl_macro {
    uint32_t name;
    uint32_t body; /* tokens of the replacement */
    uint32_t end;
    uint32_t next_of_name;
    bool has_parameters;
};

/* A declarator of a local variable in a kernel. */
struct vyre_cl_local {
    uint32_t name;
    uint32_t name_token;
    uint32_t first; /* tokens of the whole declaration; several variables may share one */
    uint32_t last;  /* the semicolon */
};

struct vyre_cl_name_facts {
    uint32_t function; /* first in a chain, or VYRE_CL_NONE */
    uint32_t macro;
    uint8_t visit;     /* 0 not seen, 1 on the path, 2 done */
    bool is_entry;     /* of a kernel in this dispatcher */
    bool is_called;    /* reached from another name */
    bool synchronizes; /* it is a barrier or the like, or reaches one */
    bool stands;       /* in the output, whether the kernels reach it or not */
};

struct vyre_cl_program {
    struct vyre_arena *arena; /* Borrowed */
    struct vyre_cl_tokens tokens;
    uint32_t source_offset;           /* where the user's source begins in the text */
    uint32_t *match;                  /* by token: the other bracket of a pair */
    struct vyre_cl_name_facts *facts; /* by name */
    struct vyre_cl_function *functions;
    uint32_t function_count;
    struct vyre_cl_macro *macros;
    uint32_t macro_count;
    struct vyre_cl_local *locals;
    uint32_t local_count;
    bool is_groupwise;  /* some kernel has a barrier or the like */
    bool pastes;        /* some macro has a "##" */
    const char *reason; /* the first refusal, or NULL */
};

/* Reads a program and refuses what it must; see `reason`. The arena keeps everything. */
void vyre_cl_program_read(struct vyre_cl_program *program, struct vyre_arena *arena,
                          const struct vyre_cl_dispatcher_input *input);

/*
 * The definition of a listed kernel. Of several, in branches of conditionals, the one that is most
 * likely read. If it is not read, the output does not compile. Only after a successful read.
 */
const struct vyre_cl_function *vyre_cl_program_kernel(const struct vyre_cl_program *program,
                                                      const char *entry);

/* Whether a function is in the output: reached from a listed kernel. */
bool vyre_cl_function_is_kept(const struct vyre_cl_program *program,
                              const struct vyre_cl_function *function);

/* ---- Steps of the reading, one file each; none runs once there is a reason -------------------- */

void vyre_cl_program_heads(struct vyre_cl_program *program);      /* heads.c */
void vyre_cl_program_match(struct vyre_cl_program *program);      /* brackets.c */
void vyre_cl_program_directives(struct vyre_cl_program *program); /* directives.c */
void vyre_cl_program_parse(struct vyre_cl_program *program);      /* parse.c */
void vyre_cl_program_reach(struct vyre_cl_program *program,       /* reach.c */
                           const struct vyre_cl_dispatcher_input *input);
void vyre_cl_program_barriers(struct vyre_cl_program *program, /* barriers.c */
                              const struct vyre_cl_dispatcher_input *input);
void vyre_cl_program_locals(struct vyre_cl_program *program); /* locals.c */
void vyre_cl_program_kernels(struct vyre_cl_program *program, /* kernels.c */
                             const struct vyre_cl_dispatcher_input *input);

/* Keeps the first reason. */
void vyre_cl_program_refuse(struct vyre_cl_program *program, const char *reason);

/* ---- Small questions ---- */

static inline const struct vyre_cl_token *vyre_cl_at(const struct vyre_cl_program *program,
                                                     uint32_t index)
{
    return &program->tokens.list[index];
}

static inline bool vyre_cl_is(const struct vyre_cl_program *program, uint32_t index,
                              const char *word)
{
    return vyre_cl_token_is(&program->tokens, index, word);
}

static inline bool vyre_cl_is_sign(const struct vyre_cl_program *program, uint32_t index, char sign)
{
    const struct vyre_cl_token *token = vyre_cl_at(program, index);
    return token->kind == VYRE_CL_TOKEN_SIGN && token->sign == sign && token->size == 1;
}

/* An attribute with its parenthesis. The word alone has been refused by then. */
static inline bool vyre_cl_is_attribute(const struct vyre_cl_program *program, uint32_t index)
{
    return vyre_cl_is(program, index, "__attribute__") || vyre_cl_is(program, index, "__attribute");
}

static inline bool vyre_cl_is_local(const struct vyre_cl_program *program, uint32_t index)
{
    return vyre_cl_is(program, index, "__local") || vyre_cl_is(program, index, "local");
}

#endif
