/*
 * vulkan_hand.h: the launch patterns in Vulkan, written by hand.
 *
 * One queue, one descriptor set written once, mapped memory, push constants for what changes, one
 * global memory barrier between dependent dispatches, device functions without the loader's
 * trampolines, a fence to wait for.
 *
 *   recorded each time  records and submits; P3 records into other buffers while earlier ones run
 *   replayed            records once, submits again and again
 *   replayed, polled    as that, but reads the fence's status until it is signalled
 */
#ifndef VYRE_BENCH_VULKAN_HAND_H
#define VYRE_BENCH_VULKAN_HAND_H

#include "launches/launches.h"

#define HAND_RECORDED "by hand, recorded each time"
#define HAND_REPLAYED "by hand, replayed"
#define HAND_POLLED   "by hand, replayed, polled"

/* The kernel of both sides, SPIR-V. */
extern const uint32_t *const hand_spirv;
extern const size_t hand_spirv_bytes;

struct hand_device;

/*
 * The first device whose name contains `name`, or with NULL llvmpipe where it is there and else the
 * first. NULL: there is none, and it was said why.
 */
struct hand_device *hand_device_open(const char *name);
const char *hand_device_name(const struct hand_device *device);
void hand_device_close(struct hand_device *device);

/* Appends the rows by hand. The device is Borrowed. */
void hand_add_rows(struct hand_device *device, struct launches *launches);

/* Host time of vkQueueSubmit for a recorded command buffer of one-group dispatches. */
bool hand_prepare_submit(struct hand_device *device, uint32_t dispatches);
bool hand_time_submit(struct hand_device *device, double *out_ns);

#endif
