/*
 * vulkan.h: the Vulkan backend: any device with Vulkan 1.2 and timeline semaphores, through the
 * loader libvulkan.so.1, which is opened when the first device is asked for.
 *
 *   loader.h       libvulkan.so.1 and the tables of functions
 *   result.h       what a VkResult means to the caller
 *   backend.h      the instance and the physical devices
 *   facts.h        what a device can do, and what is absent for which reason
 *   ranges.h       free ranges of a block of memory
 *   heap.h         memory of the device, in few allocations
 *   staging.h      bounded memory through which bytes go up and come down
 *   buffer.h       buffers
 *   layouts.h      layouts of descriptor sets and pipelines, shared by kernels
 *   descriptors.h  descriptor sets by what they hold, so that nothing is written twice
 *   kernel.h       kernels: reflection, pipelines by specialization
 *   barriers.h     which barriers a batch needs
 *   steps.h        the queues, and batches on several of them (spread.c: whether)
 *   encode.h       the one path that turns commands into a command buffer
 *   recording.h    command buffers that are kept
 *   flight.h       submissions in flight: their order, their bytes, their end
 *   timer.h        device times
 *   device.h       the open device: opening (device.c), submitting (submit.c), waiting (wait.c)
 *
 * A resident kernel (persistent mode), constants that change without recording again and descriptor
 * arrays belong behind encode.h: they need another form of the kernels' SPIR-V, made when a kernel is
 * created (kernel.c), and nothing else of what is here changes.
 */
#ifndef VYRE_BACKEND_VULKAN_VULKAN_H
#define VYRE_BACKEND_VULKAN_VULKAN_H

#include <vyre/backend.h>

extern const struct vyre_backend_ops vyre_vulkan_backend_ops;

#endif
