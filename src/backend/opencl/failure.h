/*
 * failure.h: what the driver's codes mean to a caller.
 */
#ifndef VYRE_BACKEND_OPENCL_FAILURE_H
#define VYRE_BACKEND_OPENCL_FAILURE_H

#include "backend/opencl/loader.h"

/* "CL_OUT_OF_RESOURCES" and so on; "an unknown code" for anything else. Static. */
const char *vyre_cl_code_name(cl_int code);

/* The status of a batch whose command ended with `code`, which is negative. */
enum vyre_status vyre_cl_code_status(cl_int code);

/*
 * Reports a failed call in one statement: out of memory (opencl-memory), a lost device
 * (device-lost), or the driver's failure (opencl-call) with its code. `label` may be NULL.
 */
VYRE_NODISCARD enum vyre_status vyre_cl_failed(struct vyre_diag *diag, const char *label,
                                               cl_int code, const char *call);

#endif
