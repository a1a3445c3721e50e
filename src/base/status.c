/*
 * status.c: names of the status codes.
 */
#include <vyre/status.h>

const char *vyre_status_name(enum vyre_status status)
{
    static const char *const names[VYRE_STATUS_COUNT] = {
        [VYRE_OK] = "ok",
        [VYRE_INVALID] = "invalid",
        [VYRE_NOT_FOUND] = "not-found",
        [VYRE_UNSUPPORTED] = "unsupported",
        [VYRE_OUT_OF_MEMORY] = "out-of-memory",
        [VYRE_LIMIT] = "limit",
        [VYRE_BUSY] = "busy",
        [VYRE_TIMEOUT] = "timeout",
        [VYRE_DEVICE_LOST] = "device-lost",
        [VYRE_BUILD_FAILED] = "build-failed",
        [VYRE_IO] = "io",
        [VYRE_DRIVER] = "driver",
        [VYRE_INTERNAL] = "internal",
    };
    return (unsigned)status < VYRE_STATUS_COUNT ? names[status] : "unknown";
}
