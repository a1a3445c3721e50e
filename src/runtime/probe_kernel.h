/*
 * probe_kernel.h: the kernel that a calibration launches, for every target.
 *
 * Thread-safety: touches only the caller's struct.
 */
#ifndef VYRE_RUNTIME_PROBE_KERNEL_H
#define VYRE_RUNTIME_PROBE_KERNEL_H

#include <vyre/kernel.h>

#define VYRE_PROBE_WORDS    64
#define VYRE_PROBE_PAYLOADS 3

/* Self-contained: the desc points into it. Not to be moved. */
struct vyre_probe_kernel {
    struct vyre_kernel_desc desc;
    struct vyre_payload payloads[VYRE_PROBE_PAYLOADS];
    char opencl_c[192];
    uint32_t spirv[192];
};

/* Another salt gives another program with the same meaning, which no driver's cache knows. */
void vyre_probe_kernel_init(struct vyre_probe_kernel *probe, uint64_t salt);

#endif
