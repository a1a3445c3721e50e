/*
 * command_buffer.c: cl_khr_command_buffer.
 */
#include "backend/opencl/command_buffer.h"

#include <string.h>

#include "backend/opencl/device.h"
#include "backend/opencl/query.h"

#define NAME           "cl_khr_command_buffer"
#define EXTENSIONS_MAX 256

/* The version under which the device lists the extension. */
static void find_version(struct vyre_cl_device *device, uint32_t out_version[3])
{
    cl_name_version entries[EXTENSIONS_MAX];
    size_t size = 0;
    memset(out_version, 0, 3 * sizeof *out_version);
    if (device->traits.version < 300 ||
        device->api->clGetDeviceInfo(device->id, CL_DEVICE_EXTENSIONS_WITH_VERSION, 0, NULL,
                                     &size) != CL_SUCCESS ||
        size == 0 || size > sizeof entries)
        return;
    memset(entries, 0, sizeof entries);
    if (device->api->clGetDeviceInfo(device->id, CL_DEVICE_EXTENSIONS_WITH_VERSION, size, entries,
                                     NULL) != CL_SUCCESS)
        return;
    for (size_t i = 0; i < size / sizeof entries[0]; i++) {
        if (strncmp(entries[i].name, NAME, sizeof entries[i].name) == 0) {
            out_version[0] = CL_VERSION_MAJOR_KHR(entries[i].version);
            out_version[1] = CL_VERSION_MINOR_KHR(entries[i].version);
            out_version[2] = CL_VERSION_PATCH_KHR(entries[i].version);
        }
    }
}

static void find(struct vyre_cl_device *device, const char *name, void *out_function)
{
    void *address = device->api->clGetExtensionFunctionAddressForPlatform(device->platform, name);
    memcpy(out_function, &address, sizeof address);
}

void vyre_cl_command_buffer_find(struct vyre_cl_device *device)
{
    struct vyre_cl_command_buffer_api *api = &device->command_buffers;
    char extensions[VYRE_CL_TEXT_BYTES_MAX];
    cl_device_command_buffer_capabilities_khr abilities;
    cl_command_queue_properties needed;
    memset(api, 0, sizeof *api);
    vyre_cl_device_text(device->api, device->id, CL_DEVICE_EXTENSIONS, extensions,
                        sizeof extensions);
    if (!vyre_cl_has_word(extensions, NAME))
        return;
    find_version(device, api->version);
    const uint32_t *version = api->version;
    bool is_new = version[0] >= 1 || version[1] > 9 || (version[1] == 9 && version[2] >= 5);
    find(device, "clCreateCommandBufferKHR", &api->create);
    find(device, "clFinalizeCommandBufferKHR", &api->finalize);
    find(device, "clReleaseCommandBufferKHR", &api->release);
    find(device, "clEnqueueCommandBufferKHR", &api->enqueue);
    find(device, "clCommandNDRangeKernelKHR", &api->launch);
    find(device, "clCommandCopyBufferKHR", is_new ? (void *)&api->copy_new : &api->copy_old);
    find(device, "clCommandFillBufferKHR", is_new ? (void *)&api->fill_new : &api->fill_old);
    (void)vyre_cl_device_value(device->api, device->id, CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR,
                               &abilities, sizeof abilities);
    (void)vyre_cl_device_value(device->api, device->id,
                               CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR, &needed,
                               sizeof needed);
    api->simultaneous = (abilities & CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR) != 0;
    bool complete = api->create && api->finalize && api->release && api->enqueue && api->launch &&
                    (api->copy_old || api->copy_new) && (api->fill_old || api->fill_new);
    /* Our queue has no properties of its own. */
    api->there = complete && needed == 0;
}

cl_int vyre_cl_command_buffer_copy(struct vyre_cl_device *device, cl_command_buffer_khr buffer,
                                   cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
                                   size_t size_bytes)
{
    const struct vyre_cl_command_buffer_api *api = &device->command_buffers;
    if (api->copy_new)
        return api->copy_new(buffer, NULL, NULL, from, to, from_offset, to_offset, size_bytes, 0,
                             NULL, NULL, NULL);
    return api->copy_old(buffer, NULL, from, to, from_offset, to_offset, size_bytes, 0, NULL, NULL,
                         NULL);
}

cl_int vyre_cl_command_buffer_fill(struct vyre_cl_device *device, cl_command_buffer_khr buffer,
                                   cl_mem memory, uint32_t word, size_t offset, size_t size_bytes)
{
    const struct vyre_cl_command_buffer_api *api = &device->command_buffers;
    if (api->fill_new)
        return api->fill_new(buffer, NULL, NULL, memory, &word, sizeof word, offset, size_bytes, 0,
                             NULL, NULL, NULL);
    return api->fill_old(buffer, NULL, memory, &word, sizeof word, offset, size_bytes, 0, NULL,
                         NULL, NULL);
}
