/*
 * names.c: stable words for the enums of the runtime.
 */
#include <vyre/vyre.h>

#define NAME_OF(table, value, otherwise)                                                   \
    ((size_t)(value) < sizeof(table) / sizeof(table)[0] && (table)[value] ? (table)[value] \
                                                                          : (otherwise))

const char *vyre_mode_name(enum vyre_mode mode)
{
    static const char *const names[] = {"auto", "plain", "replay", "persistent"};
    return NAME_OF(names, mode, "unknown");
}

const char *vyre_device_kind_name(enum vyre_device_kind kind)
{
    static const char *const names[] = {"any",      "cpu",      "integrated",
                                        "discrete", "software", "simulated"};
    return NAME_OF(names, kind, "unknown");
}

const char *vyre_ability_name(enum vyre_ability_id ability)
{
    static const char *const names[] = {"replay",   "persistent", "arms",       "copy-overlap",
                                        "bindless", "specialize", "timestamps", "host-visible"};
    return NAME_OF(names, ability, "unknown");
}

const char *vyre_residency_end_name(enum vyre_residency_end why)
{
    static const char *const names[] = {"none", "idle", "lease", "changed", "stopped"};
    return NAME_OF(names, why, "unknown");
}

const char *vyre_target_name(enum vyre_target target)
{
    static const char *const names[] = {"none",     "host",  "host-library",
                                        "opencl-c", "spirv", "glsl"};
    return NAME_OF(names, target, "unknown");
}

const char *vyre_cost_name(enum vyre_cost_id cost)
{
    static const char *const names[] = {"empty",
                                        "submit",
                                        "plain-batch",
                                        "plain-command",
                                        "record-batch",
                                        "record-command",
                                        "replay-batch",
                                        "replay-command",
                                        "replay-update",
                                        "driver-record-batch",
                                        "driver-record-command",
                                        "driver-replay-batch",
                                        "driver-replay-command",
                                        "driver-replay-update",
                                        "persistent-setup",
                                        "persistent-batch",
                                        "persistent-command",
                                        "copy-batch",
                                        "copy-mib",
                                        "upload-batch",
                                        "upload-mib",
                                        "download-batch",
                                        "download-mib",
                                        "compile"};
    _Static_assert(sizeof names / sizeof names[0] == VYRE_COST_COUNT, "every cost has a name");
    return NAME_OF(names, cost, "unknown");
}
