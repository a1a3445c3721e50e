/*
 * session.h: one program on an open device, in one mode after another, through the public API.
 */
#ifndef VYRE_TESTS_KERNELS_SESSION_H
#define VYRE_TESTS_KERNELS_SESSION_H

#include <vyre/vyre.h>

#include "kernels/outcome.h"

/* Where programs run. */
struct target {
    const char *backend;
    const char *library; /* NULL: a backend that is built in */
    const char *device;  /* NULL: any */
    uint32_t modes;      /* bits of 1 << enum vyre_mode */
    bool no_proof;       /* generated code runs unproven: a crash or a wrong byte is not foreseen */
    bool fault;          /* kernels are printed wrong for `fault_mode` */
    enum vyre_mode fault_mode;
};

struct host {
    const struct target *target;
    const char *backend; /* the target's, or the name of the one in its library */
    struct vyre_instance *instance;
};

/* Loads the backend. False, with an outcome that says why. */
bool host_init(struct host *host, const struct target *target, struct outcome *out_outcome);
void host_deinit(struct host *host);

struct session {
    const struct target *target;
    const struct program *program;
    struct vyre_device *device;
    struct vyre_buffer *buffers[BUFFERS_MAX];
    struct vyre_kernel *kernels[FUNCTIONS_MAX];
    struct vyre_kernel *faulty[FUNCTIONS_MAX];
};

bool session_init(struct session *session, struct host *host, const struct program *program,
                  struct outcome *out_outcome);
void session_deinit(struct session *session);

/* False, with the reason in the outcome, for a mode that the device does not have. */
bool session_has_mode(const struct session *session, enum vyre_mode mode,
                      struct outcome *out_outcome);

/*
 * Runs all batches in the mode, from fresh buffers, and reads all bytes. False: the outcome is
 * BROKEN. Batches that the mode refuses run in plain mode; the outcome then is REFUSED, with the
 * reason of the first.
 */
bool session_run(struct session *session, enum vyre_mode mode, unsigned char *bytes,
                 struct outcome *out_outcome);

#endif
