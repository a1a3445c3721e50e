/*
 * emit.h: the user's program, rewritten.
 */
#ifndef VYRE_BACKEND_OPENCL_DISPATCHER_EMIT_H
#define VYRE_BACKEND_OPENCL_DISPATCHER_EMIT_H

#include "backend/opencl/dispatcher/program.h"
#include "base/text.h"

struct vyre_cl_emitter {
    struct vyre_text out;
    const struct vyre_cl_program *program;        /* Borrowed */
    const struct vyre_cl_dispatcher_input *input; /* Borrowed */
    enum vyre_cl_dispatcher_form form;
};

/* Macros that pass the ids to calls of the user's functions. */
void vyre_cl_emit_calls(struct vyre_cl_emitter *emitter);

/* The source: functions with their ids, kernels as functions, each with its `vyre_run_`. */
void vyre_cl_emit_source(struct vyre_cl_emitter *emitter);

/* Tokens [first, end) with the space between them. */
void vyre_cl_emit_tokens(struct vyre_cl_emitter *emitter, uint32_t first, uint32_t end);

/* The function that runs listed kernel `index` for one item: wrapper.c. */
void vyre_cl_emit_wrapper(struct vyre_cl_emitter *emitter, size_t index);

/* The switch over the kernels, and the local memory that they share: wrapper.c. */
bool vyre_cl_emit_dispatch(struct vyre_cl_emitter *emitter);

#endif
