/*
 * facts.c: what an open device is and what it can do.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "backend/opencl/device.h"
#include "backend/opencl/persistent.h"
#include "backend/opencl/query.h"

#define GROUPS_MAX       UINT32_C(0x7fffffff)
#define TABLE_MAX        65536
#define ALIGNMENT_MIN    16
#define ALIGNMENT_MAX    4096
#define C_VERSIONS_MAX   32
#define LOCAL_BYTES_MAX  (UINT32_C(1) << 30)
#define INVOCATIONS_MAX  UINT32_C(65536)
#define MEMORY_BYTES_MAX (UINT64_C(1) << 50)
#define PLAN_COMMAND_NS  100

/* Launch costs until the device is calibrated: PoCL's figures. */
static const struct vyre_launch_costs default_costs = {
    .plain_command_ns = 2000,
    .plan_command_ns = 0,
    .record_command_ns = 4000,
    .replay_command_ns = 1800,
    .persistent_setup_ns = 1000000,
    .build_ns = 60000000,
};

/* ---- Traits ----------------------------------------------------------------------------------- */

static uint32_t ask_u32(const struct vyre_cl_device *device, cl_device_info what, uint32_t fallback)
{
    cl_uint value;
    return vyre_cl_device_value(device->api, device->id, what, &value, sizeof value) && value
               ? value
               : fallback;
}

static uint64_t ask_u64(const struct vyre_cl_device *device, cl_device_info what)
{
    cl_ulong value;
    (void)vyre_cl_device_value(device->api, device->id, what, &value, sizeof value);
    return value;
}

/* OpenCL 3.0 devices list all versions; older ones name the newest. */
static unsigned find_c_version(const struct vyre_cl_device *device)
{
    char text[VYRE_NAME_BYTES];
    cl_name_version versions[C_VERSIONS_MAX];
    size_t size = 0;
    vyre_cl_device_text(device->api, device->id, CL_DEVICE_OPENCL_C_VERSION, text, sizeof text);
    unsigned newest = vyre_cl_version_of(text);
    memset(versions, 0, sizeof versions);
    if (device->traits.version >= 300 &&
        device->api->clGetDeviceInfo(device->id, CL_DEVICE_OPENCL_C_ALL_VERSIONS, 0, NULL, &size) ==
            CL_SUCCESS &&
        size <= sizeof versions &&
        device->api->clGetDeviceInfo(device->id, CL_DEVICE_OPENCL_C_ALL_VERSIONS, size, versions,
                                     NULL) == CL_SUCCESS) {
        for (size_t i = 0; i < size / sizeof versions[0]; i++) {
            if (CL_VERSION_MAJOR(versions[i].version) == 3)
                return 300;
        }
    }
    return newest >= 200 && newest < 300 ? 200 : 120;
}

static uint32_t find_alignment(const struct vyre_cl_device *device)
{
    uint32_t bytes = ask_u32(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, 1024) / 8;
    uint32_t alignment = ALIGNMENT_MIN;
    while (alignment < bytes && alignment < ALIGNMENT_MAX)
        alignment *= 2;
    return alignment;
}

void vyre_cl_read_traits(struct vyre_cl_device *device, const struct vyre_cl_listed *listed)
{
    struct vyre_cl_traits *traits = &device->traits;
    cl_command_queue_properties queue;
    cl_device_fp_config floats;
    traits->version = listed->version;
    traits->c_version = find_c_version(device);
    if (traits->version >= 200)
        (void)vyre_cl_device_value(device->api, device->id, CL_DEVICE_SVM_CAPABILITIES,
                                   &traits->svm_bits, sizeof traits->svm_bits);
    const struct vyre_cl_api *api = device->api;
    bool calls = api->clSVMAlloc && api->clSVMFree && api->clSetKernelArgSVMPointer &&
                 api->clEnqueueSVMMemcpy && api->clEnqueueSVMMemFill;
    traits->svm = calls && (traits->svm_bits & CL_DEVICE_SVM_FINE_GRAIN_BUFFER);
    traits->svm_atomics = traits->svm && (traits->svm_bits & CL_DEVICE_SVM_ATOMICS);
    (void)vyre_cl_device_value(api, device->id, CL_DEVICE_SINGLE_FP_CONFIG, &floats, sizeof floats);
    traits->splits_at_barriers = strstr(listed->info.driver, "Portable Computing Language") != NULL;
    traits->correct_divide = (floats & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    (void)vyre_cl_device_value(api, device->id, CL_DEVICE_QUEUE_PROPERTIES, &queue, sizeof queue);
    traits->out_of_order = (queue & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
    traits->compute_units = ask_u32(device, CL_DEVICE_MAX_COMPUTE_UNITS, 1);
    traits->alignment = find_alignment(device);
    if (!vyre_cl_device_value(api, device->id, CL_DEVICE_MAX_WORK_GROUP_SIZE,
                              &traits->group_invocations, sizeof traits->group_invocations) ||
        traits->group_invocations == 0)
        traits->group_invocations = 1;
    if (traits->group_invocations > INVOCATIONS_MAX)
        traits->group_invocations = INVOCATIONS_MAX;
    traits->local_bytes = ask_u64(device, CL_DEVICE_LOCAL_MEM_SIZE);
    if (traits->local_bytes > LOCAL_BYTES_MAX)
        traits->local_bytes = LOCAL_BYTES_MAX;
    vyre_cl_command_buffer_find(device);
}

/* ---- Features --------------------------------------------------------------------------------- */

VYRE_PRINTF(4, 5)
static void add_feature(struct vyre_device_facts *facts, const char *name, const char *reason,
                        const char *value, ...)
{
    struct vyre_feature *feature = &facts->features[facts->feature_count++];
    va_list arguments;
    snprintf(feature->name, sizeof feature->name, "%s", name);
    snprintf(feature->reason, sizeof feature->reason, "%s", reason);
    va_start(arguments, value);
    vsnprintf(feature->value, sizeof feature->value, value, arguments);
    va_end(arguments);
}

static const char *svm_level(const struct vyre_cl_traits *traits)
{
    bool fine = traits->svm_bits & CL_DEVICE_SVM_FINE_GRAIN_BUFFER;
    bool atomics = traits->svm_bits & CL_DEVICE_SVM_ATOMICS;
    if (traits->svm_bits & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM)
        return atomics ? "fine-grained system, atomics" : "fine-grained system";
    if (fine)
        return atomics ? "fine-grained buffer, atomics" : "fine-grained buffer";
    return traits->svm_bits & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER ? "coarse-grained buffer, not used"
                                                                : "";
}

static void state_features(const struct vyre_cl_device *device, struct vyre_device_facts *facts)
{
    const struct vyre_cl_traits *traits = &device->traits;
    const uint32_t *version = device->command_buffers.version;
    const char *svm = svm_level(traits);
    add_feature(facts, "opencl-version", "", "%u.%u", traits->version / 100,
                traits->version / 10 % 10);
    add_feature(facts, "opencl-c-version", "", "%u.%u", traits->c_version / 100,
                traits->c_version / 10 % 10);
    add_feature(facts, "svm", svm[0] ? "" : "the device has no shared virtual memory", "%s", svm);
    if (device->command_buffers.there)
        add_feature(facts, "command-buffer", "", "%u.%u.%u", version[0], version[1], version[2]);
    else
        add_feature(facts, "command-buffer", "no usable cl_khr_command_buffer", "%s", "");
    add_feature(facts, "out-of-order", traits->out_of_order ? "" : "queues run in order only", "%s",
                traits->out_of_order ? "yes" : "");
    add_feature(facts, "profiling",
                device->desc.device_times ? "" : "device_times was not asked for", "%s",
                device->desc.device_times ? "on" : "");
    add_feature(facts, "compute-units", "", "%u", traits->compute_units);
    add_feature(facts, "local-memory", "", "%llu bytes", (unsigned long long)traits->local_bytes);
    /* Copies, fills, uploads and downloads of a persistent batch wait for the ring (persistent.c). */
    bool resident = vyre_cl_persistent_groups(device) > 0;
    add_feature(facts, "persistent-transfers", resident ? "" : "there is no persistent mode", "%s",
                resident ? "by the host inside submit, which waits" : "");
}

/* ---- Facts ------------------------------------------------------------------------------------ */

static void state_ability(struct vyre_device_facts *facts, enum vyre_ability_id id, uint64_t value,
                          const char *reason)
{
    facts->abilities[id].value = value;
    if (value == 0)
        snprintf(facts->abilities[id].reason, sizeof facts->abilities[id].reason, "%s", reason);
}

static void state_abilities(const struct vyre_cl_device *device, struct vyre_device_facts *facts)
{
    const struct vyre_cl_traits *traits = &device->traits;
    static const char no_svm[] = "the device has no fine-grained shared virtual memory";
    state_ability(facts, VYRE_ABILITY_REPLAY, 1, "");
    state_ability(facts, VYRE_ABILITY_PERSISTENT, vyre_cl_persistent_groups(device),
                  vyre_cl_persistent_reason(device));
    const char *alone = traits->compute_units < 2 ? "the device has one compute unit" : no_svm;
    state_ability(facts, VYRE_ABILITY_ARMS, device->side ? 2 : 0, alone);
    state_ability(facts, VYRE_ABILITY_COPY_OVERLAP, device->side ? 1 : 0, alone);
    state_ability(facts, VYRE_ABILITY_BINDLESS, traits->svm ? TABLE_MAX : 0, no_svm);
    state_ability(facts, VYRE_ABILITY_SPECIALIZE, 1, "");
    state_ability(facts, VYRE_ABILITY_TIMESTAMPS, device->desc.device_times,
                  "device_times was not asked for: a profiling queue is slower");
    state_ability(facts, VYRE_ABILITY_HOST_VISIBLE, traits->svm, no_svm);
}

void vyre_cl_facts_state(const struct vyre_cl_device *device, const struct vyre_cl_listed *listed,
                         struct vyre_device_facts *facts)
{
    const struct vyre_cl_traits *traits = &device->traits;
    uint64_t largest = ask_u64(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    uint64_t memory = ask_u64(device, CL_DEVICE_GLOBAL_MEM_SIZE);
    if (memory == 0 || memory > MEMORY_BYTES_MAX)
        memory = UINT64_C(1) << 30;
    if (largest == 0 || largest > memory)
        largest = memory / 4;
    facts->info = listed->info;
    facts->limits = (struct vyre_device_limits){
        .buffer_size_bytes = largest,
        .memory_bytes = memory,
        .range_alignment = traits->alignment,
        .group_count = {GROUPS_MAX, GROUPS_MAX, GROUPS_MAX},
        .group_invocations = (uint32_t)traits->group_invocations,
        .bindings = VYRE_KERNEL_BINDINGS_MAX,
        .table_entries = traits->svm ? TABLE_MAX : 0,
        .constants_bytes = VYRE_CONSTANTS_BYTES_MAX,
        .local_bytes = (uint32_t)traits->local_bytes,
    };
    state_abilities(device, facts);
    state_features(device, facts);
    facts->costs = default_costs;
    facts->completes_lazily = true;
    facts->command_times = true;
    facts->parallel[VYRE_MODE_PLAIN] = traits->compute_units;
    facts->parallel[VYRE_MODE_REPLAY] = traits->compute_units;
    facts->parallel[VYRE_MODE_PERSISTENT] = vyre_cl_persistent_groups(device);
    facts->generated_modes = 1u << VYRE_MODE_PERSISTENT;
    facts->built_modes = facts->generated_modes;
    facts->generated_epoch = vyre_cl_persistent_epoch(device);
    if (device->side) {
        facts->costs.plan_command_ns = PLAN_COMMAND_NS;
        facts->variants[VYRE_MODE_PLAIN] = VYRE_VARIANT_SERIAL;
        facts->variants[VYRE_MODE_REPLAY] = VYRE_VARIANT_SERIAL;
    }
    if (device->command_buffers.there)
        facts->variants[VYRE_MODE_REPLAY] |= VYRE_VARIANT_DRIVER;
    facts->driver_bakes = VYRE_BAKES_CONSTANTS;
}
