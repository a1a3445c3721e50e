/*
 * facts.c: abilities, limits and features as data.
 */
#include "backend/vulkan/facts.h"

#include <stdio.h>
#include <string.h>

#include "backend/vulkan/result.h"
#include "base/memory.h"

#define BINDINGS_MAX 64
#define TABLE_MAX    65536u
#define GROUPS_MAX   UINT32_C(0x7fffffff)
#define ARMS_MAX     64 /* assumed dispatches side by side: a queue does not report it */

/*
 * Launch costs until the device is calibrated: a software device with one thread, where a dispatch
 * is most expensive compared with its work. A plain dispatch costs more than a replayed one almost
 * only by its recording.
 */
static const struct vyre_launch_costs default_costs = {
    .plain_command_ns = 1800,
    .plan_command_ns = 100,
    .record_command_ns = 1000,
    .replay_command_ns = 900,
    .persistent_setup_ns = 1000000,
};

/* ---- What the driver reports ------------------------------------------------------------------ */

static enum vyre_status find_extensions(const struct vyre_vk_backend *backend,
                                        const struct vyre_vk_physical *physical,
                                        struct vyre_vk_features *features, struct vyre_diag *diag)
{
    const struct {
        const char *name;
        bool *found;
    } wanted[] = {
        {VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME, &features->push_descriptor},
        {VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME, &features->calibrated_timestamps},
        {VK_EXT_MEMORY_BUDGET_EXTENSION_NAME, &features->memory_budget},
        {VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME, &features->external_host},
        {VK_EXT_PIPELINE_CREATION_FEEDBACK_EXTENSION_NAME, &features->creation_feedback},
    };
    uint32_t count = 0;
    VkResult result =
        backend->vk.EnumerateDeviceExtensionProperties(physical->handle, NULL, &count, NULL);
    if (result != VK_SUCCESS || count == 0)
        return vyre_vk_check(result, "vkEnumerateDeviceExtensionProperties", NULL, diag);
    size_t bytes = count * sizeof(VkExtensionProperties);
    VkExtensionProperties *list =
        vyre_memory_allocate(&backend->allocator, bytes, _Alignof(VkExtensionProperties));
    if (!list)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0,
                             "no memory for the names of %u extensions", count);
    uint32_t filled = count;
    result = backend->vk.EnumerateDeviceExtensionProperties(physical->handle, NULL, &filled, list);
    for (uint32_t i = 0; i < filled; i++) {
        for (size_t j = 0; j < sizeof wanted / sizeof wanted[0]; j++)
            *wanted[j].found |= strcmp(list[i].extensionName, wanted[j].name) == 0;
    }
    vyre_memory_free(&backend->allocator, list, bytes, _Alignof(VkExtensionProperties));
    return result == VK_INCOMPLETE
               ? VYRE_OK
               : vyre_vk_check(result, "vkEnumerateDeviceExtensionProperties", NULL, diag);
}

static void find_properties(const struct vyre_vk_backend *backend,
                            const struct vyre_vk_physical *physical,
                            struct vyre_vk_features *features)
{
    VkPhysicalDeviceVulkan12Properties v12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES};
    VkPhysicalDeviceVulkan11Properties v11 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES, .pNext = &v12};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &v11};
    backend->vk.GetPhysicalDeviceProperties2(physical->handle, &properties);
    if (v11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT)
        features->subgroup_operations = v11.subgroupSupportedOperations;
    features->denorm_preserve = v12.shaderDenormPreserveFloat32;
    features->denorm_flush = v12.shaderDenormFlushToZeroFloat32;
    features->inf_nan_preserve = v12.shaderSignedZeroInfNanPreserveFloat32;
    features->round_even = v12.shaderRoundingModeRTEFloat32;
    features->round_zero = v12.shaderRoundingModeRTZFloat32;
}

enum vyre_status vyre_vk_features_find(const struct vyre_vk_backend *backend,
                                       const struct vyre_vk_physical *physical,
                                       struct vyre_vk_features *out_features,
                                       struct vyre_diag *diag)
{
    struct vyre_vk_features *f = out_features;
    memset(f, 0, sizeof *f);
    bool v13 = physical->properties.apiVersion >= VK_API_VERSION_1_3;
    VkPhysicalDeviceSynchronization2Features synchronization = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES};
    f->core.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    f->core.pNext = &f->v11;
    f->v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
    f->v11.pNext = &f->v12;
    f->v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    f->v12.pNext = v13 ? &f->m4 : NULL;
    f->m4.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES;
    f->m4.pNext = &synchronization;
    backend->vk.GetPhysicalDeviceFeatures2(physical->handle, &f->core);
    f->m4.pNext = NULL; /* queried but not needed: plain barriers and submits are enough */
    f->synchronization2 = synchronization.synchronization2;
    f->maintenance4 = v13 ? f->m4.maintenance4 : VK_FALSE;
    /* The runtime checks ranges, so the device need not check them again. */
    f->core.features.robustBufferAccess = VK_FALSE;
    f->v12.bufferDeviceAddressCaptureReplay = VK_FALSE;
    f->v12.bufferDeviceAddressMultiDevice = VK_FALSE;
    find_properties(backend, physical, f);
    return find_extensions(backend, physical, f, diag);
}

/* ---- What follows for Vyre -------------------------------------------------------------------- */

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint64_t local_memory(const VkPhysicalDeviceMemoryProperties *memory)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < memory->memoryHeapCount; i++) {
        if (memory->memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
            bytes += memory->memoryHeaps[i].size;
    }
    return bytes;
}

static void state_limits(const struct vyre_vk_physical *physical,
                         const VkPhysicalDeviceMemoryProperties *memory, bool addresses,
                         struct vyre_device_limits *out)
{
    const VkPhysicalDeviceLimits *limits = &physical->properties.limits;
    uint64_t storage = limits->minStorageBufferOffsetAlignment;
    uint64_t uniform = limits->minUniformBufferOffsetAlignment;
    uint64_t largest = limits->maxStorageBufferRange;
    if (physical->max_allocation_bytes && physical->max_allocation_bytes < largest)
        largest = physical->max_allocation_bytes;
    uint32_t bindings =
        least(limits->maxPerStageDescriptorStorageBuffers, limits->maxDescriptorSetStorageBuffers);
    *out = (struct vyre_device_limits){
        .buffer_size_bytes = largest,
        .memory_bytes = local_memory(memory),
        .range_alignment = (uint32_t)(storage > uniform ? storage : uniform),
        .group_invocations = limits->maxComputeWorkGroupInvocations,
        .bindings = least(least(bindings, limits->maxPerStageResources), BINDINGS_MAX),
        .table_entries = addresses ? least(TABLE_MAX, (uint32_t)(largest / 8)) : 0,
        .constants_bytes = VYRE_CONSTANTS_BYTES_MAX,
        .local_bytes = limits->maxComputeSharedMemorySize,
    };
    for (int i = 0; i < 3; i++)
        out->group_count[i] = least(limits->maxComputeWorkGroupCount[i], GROUPS_MAX);
}

static void ability(struct vyre_device_facts *facts, enum vyre_ability_id id, uint64_t value,
                    const char *reason)
{
    facts->abilities[id].value = value;
    snprintf(facts->abilities[id].reason, sizeof facts->abilities[id].reason, "%s",
             value ? "" : reason);
}

static void feature(struct vyre_device_facts *facts, const char *name, bool there,
                    const char *value, const char *reason)
{
    struct vyre_feature *entry = &facts->features[facts->feature_count++];
    snprintf(entry->name, sizeof entry->name, "%s", name);
    snprintf(entry->value, sizeof entry->value, "%s", there ? value : "");
    snprintf(entry->reason, sizeof entry->reason, "%s", there ? "" : reason);
}

static void state_abilities(const struct vyre_vk_physical *physical,
                            const struct vyre_vk_features *features,
                            struct vyre_device_facts *facts)
{
    bool addresses = features->v12.bufferDeviceAddress;
    ability(facts, VYRE_ABILITY_REPLAY, 1, "");
    ability(facts, VYRE_ABILITY_PERSISTENT, 0, "needs the SPIR-V lowering, which is not built");
    ability(facts, VYRE_ABILITY_ARMS, ARMS_MAX, "");
    ability(facts, VYRE_ABILITY_COPY_OVERLAP, 1, "");
    ability(facts, VYRE_ABILITY_BINDLESS, addresses ? facts->limits.table_entries : 0,
            "the device has no buffer addresses");
    ability(facts, VYRE_ABILITY_SPECIALIZE, 1, "");
    ability(facts, VYRE_ABILITY_TIMESTAMPS, physical->timestamp_bits,
            "the device's compute queue has no timestamps");
    ability(facts, VYRE_ABILITY_HOST_VISIBLE, 0,
            "buffers may lie where the host does not see them; use upload and download");
}

static void state_queues(const struct vyre_vk_physical *physical, struct vyre_device_facts *facts)
{
    char compute[64];
    snprintf(compute, sizeof compute, "%u, used for large arms", physical->shape.compute - 1);
    feature(facts, "extra-compute-queues", physical->shape.compute > 1, compute,
            "the device has one compute queue: arms share it");
    feature(facts, "transfer-queue", physical->shape.transfer, "used for large transfers",
            "the device has none: uploads go through mapped memory or the main queue");
}

static void state_features(const struct vyre_vk_physical *physical,
                           const struct vyre_vk_features *features, struct vyre_device_facts *facts)
{
    char timestamps[64];
    snprintf(timestamps, sizeof timestamps, "%u bits of %.3g ns%s", physical->timestamp_bits,
             (double)physical->properties.limits.timestampPeriod,
             features->calibrated_timestamps ? ", calibrated" : "");
    feature(facts, "timeline-semaphore", true, "used", "");
    feature(facts, "buffer-device-address", features->v12.bufferDeviceAddress, "used for tables",
            "the driver has no bufferDeviceAddress: no table bindings");
    feature(facts, "synchronization2", features->synchronization2,
            "present, not used: plain barriers do",
            "the driver has no synchronization2; plain barriers do the same");
    feature(facts, "push-descriptor", features->push_descriptor,
            "present, not used: kept sets are cheaper",
            "the driver has no VK_KHR_push_descriptor; sets are kept instead");
    state_queues(physical, facts);
    feature(facts, "timestamps", physical->timestamp_bits > 0, timestamps,
            "the compute queue has no timestamps: device times are 0");
    feature(facts, "pipeline-creation-feedback", features->creation_feedback,
            "present, not used: no caller asks for it",
            "the driver has no VK_EXT_pipeline_creation_feedback");
    feature(facts, "external-host-memory", features->external_host,
            "present, not used: bytes are staged",
            "the driver has no VK_EXT_external_memory_host; bytes go through staging");
    feature(facts, "memory-budget", features->memory_budget, "used",
            "the driver has no VK_EXT_memory_budget: budget and use are not known");
    feature(facts, "maintenance4", features->maintenance4, "LocalSizeId",
            "needs Vulkan 1.3: local sizes by id are refused");
}

void vyre_vk_facts_state(const struct vyre_vk_physical *physical,
                         const struct vyre_vk_features *features,
                         const VkPhysicalDeviceMemoryProperties *memory,
                         struct vyre_device_facts *out_facts)
{
    memset(out_facts, 0, sizeof *out_facts);
    vyre_vk_physical_describe(physical, &out_facts->info);
    state_limits(physical, memory, features->v12.bufferDeviceAddress, &out_facts->limits);
    state_abilities(physical, features, out_facts);
    state_features(physical, features, out_facts);
    out_facts->costs = default_costs;
    out_facts->completes_lazily = true;
    out_facts->command_times = physical->timestamp_bits > 0;
    out_facts->bakes = VYRE_BAKES_CONSTANTS;
    out_facts->variants[VYRE_MODE_PLAIN] = VYRE_VARIANT_SERIAL;
    out_facts->variants[VYRE_MODE_REPLAY] = VYRE_VARIANT_SERIAL;
}
