/*
 * opencl_overlap.h: whether arms and copy overlap pay on an OpenCL device: the same batch with them and
 * with VYRE_VARIANT_SERIAL, interleaved.
 */
#ifndef VYRE_BENCH_OPENCL_OVERLAP_H
#define VYRE_BENCH_OPENCL_OVERLAP_H

#include "harness/bench.h"

/* Measures and reports. Different bytes are a failure. */
void overlap_run(struct bench *bench, const char *device);

#endif
