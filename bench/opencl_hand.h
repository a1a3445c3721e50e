/*
 * opencl_hand.h: the launch patterns in OpenCL, written by hand.
 *
 * The ways to do it, each as good as it gets on the devices known: memory is fine-grained SVM where
 * the device has it (measured faster than cl_mem on PoCL), arguments are set only when they change,
 * no event is asked for that no code reads.
 *
 *   finish each       enqueue, clFinish
 *   polled            enqueue, clFlush, and the event's status read until it is complete
 *   enqueue all       one kernel object, its constant set before each enqueue; one clFinish
 *   set-up kernels    a kernel object for each launch, made ahead with its arguments; one clFinish
 *   command buffer    cl_khr_command_buffer
 */
#ifndef VYRE_BENCH_OPENCL_HAND_H
#define VYRE_BENCH_OPENCL_HAND_H

#include "launches/launches.h"

/* The kernel of both sides, OpenCL C. */
extern const char hand_source[];

#define HAND_FINISH_EACH    "by hand, finish each"
#define HAND_POLLED         "by hand, event polled"
#define HAND_ENQUEUE        "by hand, enqueue all"
#define HAND_KERNELS        "by hand, set-up kernels"
#define HAND_COMMAND_BUFFER "by hand, command buffer"

#define HAND_DEVICES_MAX 16

/* The loader, and the devices of all platforms. */
struct hand_library;
struct hand_library *hand_library_open(void); /* NULL: said why */
size_t hand_library_devices(const struct hand_library *library);
const char *hand_library_device_name(const struct hand_library *library, size_t index);
void hand_library_close(struct hand_library *library);

/* One device with everything that the rows share. */
struct hand_device;
struct hand_device *hand_device_open(struct hand_library *library, size_t index);
void hand_device_close(struct hand_device *device);

/* Appends the rows by hand. The device is Borrowed. */
void hand_add_rows(struct hand_device *device, struct launches *launches);

#endif
