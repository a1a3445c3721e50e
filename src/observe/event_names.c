/*
 * event_names.c: stable words for the enums of events.
 */
#include <stddef.h>

#include <vyre/observer.h>

#define NAME_OF(table, value) \
    ((size_t)(value) < sizeof(table) / sizeof(table)[0] ? (table)[value] : "unknown")

const char *vyre_event_type_name(enum vyre_event_type type)
{
    static const char *const names[VYRE_EVENT_TYPE_COUNT] = {
        "none",       "device-opened",  "device-closed",
        "calibrated", "kernel-created", "batch-completed",
        "lease",      "recording",      "shape"};
    return NAME_OF(names, type);
}

const char *vyre_command_type_name(enum vyre_command_type type)
{
    static const char *const names[VYRE_COMMAND_TYPE_COUNT] = {"dispatch", "copy", "fill", "upload",
                                                               "download"};
    return NAME_OF(names, type);
}
