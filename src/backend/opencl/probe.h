/*
 * probe.h: whether a kernel can stay on the device while the host continues.
 */
#ifndef VYRE_BACKEND_OPENCL_PROBE_H
#define VYRE_BACKEND_OPENCL_PROBE_H

#include <vyre/backend.h>

struct vyre_cl_device;

/*
 * How many resident groups the device can have beside other work; 0 with the reason. Runs a kernel
 * that polls a word of shared memory and leaves by itself after a bounded number of polls, so that
 * it cannot hang. What is proven is kept in the instance. What is not, because the machine is busy
 * or something failed, is asked again at the next open. Sets device->blocking.
 */
uint32_t vyre_cl_probe_resident(struct vyre_cl_device *device, char out_reason[VYRE_REASON_BYTES]);

#endif
