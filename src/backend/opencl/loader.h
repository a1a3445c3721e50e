/*
 * loader.h: the functions of libOpenCL.so.1, found at run time.
 *
 * Invariant: in a loaded table all required entries are set; others are NULL if the loader is too
 * old for them. An entry of OpenCL 2.0 or later may only be called for devices of that version.
 *
 * Thread-safety: a loaded table is constant.
 */
#ifndef VYRE_BACKEND_OPENCL_LOADER_H
#define VYRE_BACKEND_OPENCL_LOADER_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <vyre/diag.h>

/* clang-format off */
#define VYRE_CL_REQUIRED(X)                                                                        \
    X(clGetPlatformIDs) X(clGetPlatformInfo) X(clGetDeviceIDs) X(clGetDeviceInfo)                  \
    X(clCreateContext) X(clReleaseContext) X(clCreateCommandQueue) X(clReleaseCommandQueue)        \
    X(clCreateBuffer) X(clCreateSubBuffer) X(clReleaseMemObject)                                   \
    X(clCreateProgramWithSource) X(clBuildProgram) X(clReleaseProgram) X(clGetProgramBuildInfo)    \
    X(clCreateKernel) X(clReleaseKernel) X(clSetKernelArg) X(clGetKernelInfo)                      \
    X(clGetKernelArgInfo) X(clGetKernelWorkGroupInfo)                                              \
    X(clWaitForEvents) X(clGetEventInfo) X(clRetainEvent) X(clReleaseEvent)                   \
    X(clSetEventCallback) X(clGetEventProfilingInfo) X(clFlush) X(clFinish)                                              \
    X(clEnqueueReadBuffer) X(clEnqueueWriteBuffer) X(clEnqueueCopyBuffer) X(clEnqueueFillBuffer)   \
    X(clEnqueueNDRangeKernel) X(clEnqueueMarkerWithWaitList) X(clEnqueueBarrierWithWaitList)       \
    X(clGetExtensionFunctionAddressForPlatform)
#define VYRE_CL_OPTIONAL(X)                                                                        \
    X(clSVMAlloc) X(clSVMFree) X(clSetKernelArgSVMPointer) X(clSetKernelExecInfo)                  \
    X(clEnqueueSVMMemcpy) X(clEnqueueSVMMemFill)
/* clang-format on */

struct vyre_cl_api {
    void *library; /* Owned */
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a member's name */
#define VYRE_CL_MEMBER(name) __typeof__(name) *name;
    VYRE_CL_REQUIRED(VYRE_CL_MEMBER)
    VYRE_CL_OPTIONAL(VYRE_CL_MEMBER)
#undef VYRE_CL_MEMBER
};

/* VYRE_NOT_FOUND (backend-absent) with the reason if there is no usable loader. */
VYRE_NODISCARD enum vyre_status vyre_cl_load(struct vyre_cl_api *api, struct vyre_diag *diag);
void vyre_cl_unload(struct vyre_cl_api *api);

#endif
