/*
 * exclusions.c: the cases that a backend does not run, each with the reason. What follows from an
 * absent ability stands in the case's `needs`; here is the rest.
 */
#include "conformance/conformance.h"

static const struct exclusion {
    const char *backend;
    const char *name; /* "group/case" */
    const char *reason;
} exclusions[] = {
    {"vulkan", "recording/changed_values_use_the_recording_again",
     "push constants are part of a recording: other values make another"},
    {"vulkan-eager", "recording/changed_values_use_the_recording_again",
     "push constants are part of a recording: other values make another"},
    {NULL, NULL, NULL},
};

const char *exclusion_reason(const char *backend, const char *name)
{
    for (size_t i = 0; exclusions[i].backend; i++) {
        if (strcmp(exclusions[i].backend, backend) == 0 && strcmp(exclusions[i].name, name) == 0)
            return exclusions[i].reason;
    }
    return NULL;
}
