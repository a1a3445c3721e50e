/*
 * status.h: what a failed call asks of its caller.
 *
 * There is one code per thing that a caller can do about a failure, not one per cause. The cause is
 * in the diagnostic (diag.h). "Not found" (the thing does not exist) and "unsupported" (it exists
 * and cannot do this) are different codes on purpose.
 *
 * Thread-safety: pure functions.
 */
#ifndef VYRE_STATUS_H
#define VYRE_STATUS_H

#include <vyre/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The result of a call, by what the caller can do about it. */
enum vyre_status {
    VYRE_OK = 0,            /* it worked */
    VYRE_INVALID = 1,       /* the caller's input is wrong: fix it; trying again will not help */
    VYRE_NOT_FOUND = 2,     /* no such device, file, symbol: name another, or install it */
    VYRE_UNSUPPORTED = 3,   /* it exists and cannot do this: pick another device, mode or payload */
    VYRE_OUT_OF_MEMORY = 4, /* free memory, or ask for less */
    VYRE_LIMIT = 5,         /* a documented limit was reached: raise it, or do less at once */
    VYRE_BUSY = 6,          /* try again later; nothing was done */
    VYRE_TIMEOUT = 7,       /* the timeout ran out; what the call waited for still runs */
    VYRE_DEVICE_LOST = 8,   /* close the device and open it again */
    VYRE_BUILD_FAILED = 9,  /* a kernel does not compile or link: fix its source */
    VYRE_IO = 10,           /* the file system refused: look at the path, space and rights */
    VYRE_DRIVER = 11,       /* the driver failed; its own code is in the diagnostic */
    VYRE_INTERNAL = 12,     /* a bug in Vyre: report it */
};

/* How many there are of enum vyre_status. */
#define VYRE_STATUS_COUNT 13

/*
 * The name of a status: a short stable word such as "invalid"; "unknown" for any other value.
 * Static.
 */
VYRE_API const char *vyre_status_name(enum vyre_status status);

#ifdef __cplusplus
}
#endif

#endif
