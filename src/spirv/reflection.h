/*
 * reflection.h: what is known about a SPIR-V kernel, from either reader.
 *
 * The interface holds what the entry point sees:
 *   SPIR-V 1.4 and later   the variables of its interface list
 *   earlier, one entry     every variable of the module
 *   earlier, several       the variables that its functions name
 * Bindings are in ascending order of their slots, specialization constants of their ids.
 */
#ifndef VYRE_SPIRV_REFLECTION_H
#define VYRE_SPIRV_REFLECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/kernel.h>

#define VYRE_SPIRV_CAPABILITIES_MAX 64
#define VYRE_SPIRV_NO_ID            UINT32_MAX
#define VYRE_SPIRV_SIZED_MAX        8
#define VYRE_SPIRV_SIZED_IDS_MAX    4

/*
 * Work-group memory whose size specialization decides: the unit times the values of the ids, or
 * times these defaults. The defaults are those of these constants; other constants with the same id
 * may have others.
 */
struct vyre_spirv_sized {
    uint64_t unit_bytes;
    uint32_t id_count; /* at least 1 */
    uint32_t ids[VYRE_SPIRV_SIZED_IDS_MAX];
    uint64_t defaults[VYRE_SPIRV_SIZED_IDS_MAX];
};

struct vyre_spirv_reflection {
    /*
     * Uniform buffers have the role uniform, storage buffers none. The constants' size is that of a
     * C struct if the scalars are known, else the end of the block's last member. The local size is
     * the one that the defaults of the specialization constants give; it is unknown if an
     * expression determines it.
     */
    struct vyre_kernel_interface interface;

    uint32_t local_size_ids[3];   /* the SpecId that sets a dimension, or VYRE_SPIRV_NO_ID */
    bool local_size_by_id;        /* LocalSizeId is used: Vulkan before 1.3 needs maintenance4 */
    bool uses_physical_addresses; /* buffer_reference: the device needs bufferDeviceAddress */
    uint32_t specialization_sizes[VYRE_SPECIALIZATION_VALUES_MAX]; /* bytes; a bool has 4 */

    /*
     * Ids whose constants differ in size: they can have no value, and the interface does not list
     * them.
     */
    uint32_t fixed_count;
    uint32_t fixed_ids[VYRE_SPECIALIZATION_VALUES_MAX];

    /*
     * Bytes of work-group memory that the kernel declares, without padding; UINT64_MAX: too many to
     * count. What specialization decides is listed separately. If the list is full, defaults are
     * counted. What an expression determines is not counted.
     */
    uint64_t local_bytes;
    uint32_t sized_count;
    struct vyre_spirv_sized sized[VYRE_SPIRV_SIZED_MAX];

    uint32_t version; /* as in the header: 0x00010500 is 1.5 */
    uint32_t capability_count;
    uint32_t capabilities[VYRE_SPIRV_CAPABILITIES_MAX]; /* in the module's order */
};

/* A binary module. Owned: free it with the allocator that made it. */
struct vyre_spirv_words {
    uint32_t *words;
    size_t count;
};

#endif
