/*
 * hooked_backend.h: the OpenCL backend on real devices, with some calls of the driver replaced.
 *
 * Thread-safety: one instance at a time; hooks are installed before a device is opened.
 */
#ifndef VYRE_TESTS_OPENCL_HOOKED_BACKEND_H
#define VYRE_TESTS_OPENCL_HOOKED_BACKEND_H

#include "backend/opencl/device.h"

#define HOOKED_NAME "opencl-hooked"

/* The driver's own functions. */
extern struct vyre_cl_api hooked_real;

/* What was opened last. */
extern struct vyre_cl_device *hooked_device;

/* Devices hide their shared virtual memory; set it before a device is opened. */
extern bool hooked_no_svm;

/* The queue on which the device's dispatchers run or are tried out. */
bool hooked_is_dispatcher_queue(cl_command_queue queue);

/* The backend's table, under HOOKED_NAME; `install` puts its functions into the driver's table. */
const struct vyre_backend_ops *hooked_backend(void (*install)(struct vyre_cl_api *api));

#endif
