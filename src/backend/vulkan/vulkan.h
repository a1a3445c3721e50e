/*
 * vulkan.h: the Vulkan backend: any device with Vulkan 1.2 and timeline semaphores, through the
 * loader libvulkan.so.1, which is opened when the first device is asked for.
 *
 *   loader.h       libvulkan.so.1 and the tables of functions
 *   result.h       what a VkResult means to the caller
 *   backend.h      the instance and the physical devices
 *   facts.h        what a device can do, and the reason for each missing ability
 *   ranges.h       free ranges of a block of memory
 *   heap.h         memory of the device, in few allocations
 *   staging.h      bounded memory for uploads and downloads
 *   buffer.h       buffers
 *   layouts.h      layouts of descriptor sets and pipelines, shared by kernels
 *   descriptors.h  descriptor sets, found by their contents, so that nothing is written twice
 *   kernel.h       kernels: reflection, pipelines by specialization
 *   barriers.h     which barriers a batch needs
 *   steps.h        the queues, and batches on several of them (spread.c: whether)
 *   encode.h       the one path that turns commands into a command buffer
 *   recording.h    command buffers that are kept
 *   flight.h       submissions in flight: their order, their bytes, their end
 *   stamps.h       times of single dispatches
 *   timer.h        device times
 *   device.h       the open device: opening (device.c), submitting (submit.c), waiting (flight.c)
 *
 * A resident kernel (persistent mode), constants that change without a new recording and descriptor
 * arrays would go behind encode.h. They need another form of the kernels' SPIR-V, made when a
 * kernel is created (kernel.c); nothing else here changes.
 */
#ifndef VYRE_BACKEND_VULKAN_VULKAN_H
#define VYRE_BACKEND_VULKAN_VULKAN_H

#include <vyre/backend.h>

extern const struct vyre_backend_ops vyre_vulkan_backend_ops;

#endif
