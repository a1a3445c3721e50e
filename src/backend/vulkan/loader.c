/*
 * loader.c: finding the functions by name.
 */
#include "backend/vulkan/loader.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define LIBRARY "libvulkan.so.1"

/* A function's name and where its pointer goes in a table. */
struct entry {
    const char *name;
    size_t offset;
};

#define GLOBAL_ENTRY(function)   {"vk" #function, offsetof(struct vyre_vk_loader, function)},
#define INSTANCE_ENTRY(function) {"vk" #function, offsetof(struct vyre_vk_instance_api, function)},
#define DEVICE_ENTRY(function)   {"vk" #function, offsetof(struct vyre_vk_device_api, function)},

static const struct entry global_entries[] = {VYRE_VK_GLOBAL_FUNCTIONS(GLOBAL_ENTRY)};
static const struct entry instance_entries[] = {VYRE_VK_INSTANCE_FUNCTIONS(INSTANCE_ENTRY)};
static const struct entry instance_optional[] = {VYRE_VK_INSTANCE_OPTIONAL(INSTANCE_ENTRY)};
static const struct entry device_entries[] = {VYRE_VK_DEVICE_FUNCTIONS(DEVICE_ENTRY)};
static const struct entry device_optional[] = {VYRE_VK_DEVICE_OPTIONAL(DEVICE_ENTRY)};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Where names are looked up: in an instance, or in a device if one is given. */
struct source {
    PFN_vkGetInstanceProcAddr by_instance;
    VkInstance instance;
    PFN_vkGetDeviceProcAddr by_device;
    VkDevice device;
};

static PFN_vkVoidFunction look_up(const struct source *source, const char *name)
{
    if (source->by_device)
        return source->by_device(source->device, name);
    return source->by_instance ? source->by_instance(source->instance, name) : NULL;
}

/* Fills a table; returns the first name that is missing, or NULL. */
static const char *fill(const struct source *source, const struct entry *entries, size_t count,
                        void *table)
{
    const char *missing = NULL;
    for (size_t i = 0; i < count; i++) {
        PFN_vkVoidFunction function = look_up(source, entries[i].name);
        memcpy((unsigned char *)table + entries[i].offset, &function, sizeof function);
        if (!function && !missing)
            missing = entries[i].name;
    }
    return missing;
}

static enum vyre_status lacks(const char *name, struct vyre_diag *diag)
{
    return vyre_diag_set(diag, VYRE_DIAG_VULKAN_LOADER, NULL, 0, "%s lacks %s", LIBRARY, name);
}

enum vyre_status vyre_vk_loader_open(struct vyre_vk_loader *out_loader, struct vyre_diag *diag)
{
    memset(out_loader, 0, sizeof *out_loader);
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return vyre_diag_set(diag, VYRE_DIAG_VULKAN_LOADER, NULL, 0, "%s", dlerror());
    void *symbol = dlsym(library, "vkGetInstanceProcAddr");
    /* POSIX promises that a symbol's address fits a function pointer. C has no cast for it. */
    memcpy(&out_loader->GetInstanceProcAddr, &symbol, sizeof symbol);
    const char *missing = "vkGetInstanceProcAddr";
    if (symbol) {
        struct source source = {.by_instance = out_loader->GetInstanceProcAddr};
        missing = fill(&source, global_entries, COUNT(global_entries), out_loader);
    }
    if (missing) {
        dlclose(library);
        memset(out_loader, 0, sizeof *out_loader);
        return lacks(missing, diag);
    }
    out_loader->library = library;
    return VYRE_OK;
}

void vyre_vk_loader_close(struct vyre_vk_loader *loader)
{
    if (loader->library)
        dlclose(loader->library);
    memset(loader, 0, sizeof *loader);
}

enum vyre_status vyre_vk_load_instance(const struct vyre_vk_loader *loader, VkInstance instance,
                                       struct vyre_vk_instance_api *out_api, struct vyre_diag *diag)
{
    struct source source = {.by_instance = loader->GetInstanceProcAddr, .instance = instance};
    const char *missing = fill(&source, instance_entries, COUNT(instance_entries), out_api);
    (void)fill(&source, instance_optional, COUNT(instance_optional), out_api);
    return missing ? lacks(missing, diag) : VYRE_OK;
}

enum vyre_status vyre_vk_load_device(const struct vyre_vk_instance_api *instance, VkDevice device,
                                     struct vyre_vk_device_api *out_api, struct vyre_diag *diag)
{
    struct source source = {.by_device = instance->GetDeviceProcAddr, .device = device};
    const char *missing = fill(&source, device_entries, COUNT(device_entries), out_api);
    (void)fill(&source, device_optional, COUNT(device_optional), out_api);
    return missing ? lacks(missing, diag) : VYRE_OK;
}
