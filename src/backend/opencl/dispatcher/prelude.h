/*
 * prelude.h: the parts of a dispatcher's source that do not depend on the user's program.
 */
#ifndef VYRE_BACKEND_OPENCL_DISPATCHER_PRELUDE_H
#define VYRE_BACKEND_OPENCL_DISPATCHER_PRELUDE_H

#include "backend/opencl/dispatcher/dispatcher.h"
#include "base/text.h"

/* Everything before the user's source: layout, ring, work-item functions. */
void vyre_cl_prelude_write(struct vyre_text *out, const struct vyre_cl_dispatcher_input *input,
                           enum vyre_cl_dispatcher_form form);

/* The resident kernel, after the user's source and `vyre_dispatch`. `pool`: there is local memory. */
void vyre_cl_resident_write(struct vyre_text *out, const struct vyre_cl_dispatcher_input *input,
                            enum vyre_cl_dispatcher_form form, bool pool);

#endif
