/*
 * opencl_overlap.h: whether arms and copy overlap pay on an OpenCL device: the same batch with them and
 * with VYRE_VARIANT_SERIAL, interleaved.
 */
#ifndef VYRE_BENCH_OPENCL_OVERLAP_H
#define VYRE_BENCH_OPENCL_OVERLAP_H

#include "gpu.h"

/* Measures and prints. False: it failed or the bytes differ, and it said so. */
bool overlap_run(const struct gpu_options *options, const char *device);

#endif
