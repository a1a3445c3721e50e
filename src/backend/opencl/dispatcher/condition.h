/*
 * condition.h: the outcome of a preprocessor conditional, as far as the source shows.
 *
 * It is a guess: names that nothing defines count as undefined, arithmetic is signed, and a macro's
 * value is computed by itself. Code that relies on a guess has the compiler confirm it.
 */
#ifndef VYRE_BACKEND_OPENCL_DISPATCHER_CONDITION_H
#define VYRE_BACKEND_OPENCL_DISPATCHER_CONDITION_H

#include "backend/opencl/dispatcher/lexer.h"

enum vyre_cl_meaning_kind {
    VYRE_CL_MEANING_NONE = 0, /* not defined, unless by the compiler */
    VYRE_CL_MEANING_VALUE,    /* a macro without parameters */
    VYRE_CL_MEANING_OTHER,    /* a macro with parameters */
    VYRE_CL_MEANING_UNKNOWN,  /* depends on an unknown condition */
};

/* What a name is to the preprocessor at some place. */
struct vyre_cl_meaning {
    enum vyre_cl_meaning_kind kind;
    uint32_t body; /* tokens of the replacement */
    uint32_t end;
};

enum vyre_cl_truth { VYRE_CL_FALSE = 0, VYRE_CL_TRUE = 1, VYRE_CL_UNKNOWN = 2 };

/* The condition in tokens [first, end) after #if or #elif. `meanings` are by name. */
enum vyre_cl_truth vyre_cl_condition_if(const struct vyre_cl_tokens *tokens,
                                        const struct vyre_cl_meaning *meanings, uint32_t first,
                                        uint32_t end);

/* The condition of a name after #ifdef. */
enum vyre_cl_truth vyre_cl_condition_defined(const struct vyre_cl_tokens *tokens,
                                             const struct vyre_cl_meaning *meanings,
                                             uint32_t index);

#endif
