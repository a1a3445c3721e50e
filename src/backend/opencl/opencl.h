/*
 * opencl.h: the OpenCL backend: any device of OpenCL 1.2 or later, through the ICD loader.
 *
 *   submit ── plain ───────> enqueue ─────────────┐
 *      ├───── replay ──────> prelinked list ──────┼──> in-order queue ──> event of the last command
 *      ├───── replay+driver > command buffers ────┘
 *      └───── persistent ──> ring in shared memory ──> resident dispatcher kernel
 *
 * Everything that the driver does ends in an event. Waiting threads collect events in submit order
 * (flight.h), so a launch costs little more than the driver's own calls.
 *
 *   loader.h      libOpenCL.so.1, loaded at run time
 *   query.h       questions to a driver that may answer nonsense
 *   failure.h     what the driver's codes mean to a caller
 *   backend.h     platforms and devices of one instance
 *   device.h      an open device
 *   memory.h      buffers: shared virtual memory, or else cl_mem
 *   build.h       source text to programs, with the log's line in the diagnostic
 *   kernel.h      kernels: reflection, variants by specialization
 *   call.h        a cl_kernel with its current arguments
 *   flight.h      submissions in flight and their ends
 *   encode.h      puts commands onto a queue
 *   recording.h   recordings: a list, or command buffers of the driver
 *   persistent.h  the host's side of resident kernels
 */
#ifndef VYRE_BACKEND_OPENCL_OPENCL_H
#define VYRE_BACKEND_OPENCL_OPENCL_H

#include <vyre/backend.h>

extern const struct vyre_backend_ops vyre_opencl_backend_ops;

#endif
