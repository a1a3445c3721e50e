/*
 * driver.h: the program's steps carried out through the public API.
 *
 * Every function returns false when Vyre did something that the contract forbids, and leaves what
 * happened in `failure`. What is right is the model's to say: see model.h and run.c.
 */
#ifndef VYRE_TESTS_DIFFERENTIAL_DRIVER_H
#define VYRE_TESTS_DIFFERENTIAL_DRIVER_H

#include <stdatomic.h>

#include <vyre/backend.h>
#include <vyre/batch.h>
#include <vyre/device.h>
#include <vyre/instance.h>
#include <vyre/memory.h>

#include "differential/model.h"
#include "differential/program.h"
#include "support/counting_allocator.h"

/* A device that programs share, one after another. */
struct kept_device {
    struct vyre_instance *instance; /* Owned */
    struct vyre_device *device;     /* Owned */
};

/* One way to run a program. */
struct config {
    const char *backend;
    const char *library;                /* where it is from; NULL: it is built in */
    const struct vyre_backend_ops *ops; /* Borrowed: registered first; NULL: a built-in one */
    const char *device;                 /* a part of its name; NULL: the first */
    uint32_t variant;                   /* of the mode, where it is replay */
    enum vyre_mode mode;
    bool mixed; /* each submit in the mode that its step names */
    uint32_t workers;
    bool no_inline;
    bool inject_fault;
    const struct kept_device *kept; /* Borrowed: for all programs; NULL: each opens its own */
};

struct driver_object {
    struct vyre_batch *batch;
    unsigned char *downloads; /* Owned */
    unsigned char *borrowed;  /* Owned */
    bool in_flight;           /* submitted since the last wait */
};

struct driver_ticket {
    struct vyre_ticket ticket;
    enum vyre_mode required;
};

enum { DRIVER_FAILURE_BYTES = 1024 };

struct driver {
    const struct program *program;
    const struct config *config;
    struct counting_allocator allocator;
    struct vyre_instance *instance;
    struct vyre_device *device;
    struct vyre_kernel *kernels[KERNEL_COUNT];
    struct vyre_kernel *faulty; /* only with inject_fault */
    struct vyre_buffer *buffers[PROGRAM_BUFFERS_MAX];
    struct driver_object objects[PROGRAM_OBJECTS];
    struct driver_ticket tickets[PROGRAM_STEPS_MAX]; /* since the last wait */
    uint32_t ticket_count;
    unsigned char *left[PROGRAM_STEPS_MAX]; /* Owned: borrowed memory that work may still read */
    uint32_t left_count;
    uint32_t callbacks_asked;
    atomic_uint callbacks_made;
    atomic_uint callbacks_failed;
    unsigned char *scratch;               /* Owned: room for the largest buffer */
    struct vyre_device_counters before;   /* of a device that is kept */
    struct vyre_device_counters counters; /* after close */
    char failure[DRIVER_FAILURE_BYTES];
};

/* Both leave a text in `failure` and return false; the second only when the status is a failure. */
bool driver_broken(struct driver *driver, const char *format, ...) VYRE_PRINTF(2, 3);
bool driver_expect_ok(struct driver *driver, enum vyre_status status, const struct vyre_diag *diag,
                      const char *what);

/* Opens an instance and a device, and says what the generator must know of it. */
enum vyre_status driver_probe(const struct config *config, struct device_shape *out_shape,
                              struct vyre_diag *diag);

/* An instance and a device with the limits of the program. The caller closes both, also after a failure. */
enum vyre_status driver_open(const struct config *config, const struct program *program,
                             const struct vyre_instance_desc *desc,
                             struct vyre_instance **out_instance, struct vyre_device **out_device,
                             struct vyre_diag *diag);

bool driver_init(struct driver *driver, const struct program *program, const struct config *config);
/* Also after a failure; false when closing broke the contract. A device that is kept is left empty. */
bool driver_deinit(struct driver *driver);

/* `object` is what the model holds of the step's object after its own build. */
bool driver_build(struct driver *driver, const struct step *step,
                  const struct model_object *object);
bool driver_set_constants(struct driver *driver, const struct step *step,
                          const struct model_object *object);
bool driver_refill(struct driver *driver, const struct step *step,
                   const struct model_object *object);
bool driver_submit(struct driver *driver, const struct step *step, enum model_submit expected);
bool driver_wait(struct driver *driver, enum wait_kind kind);
bool driver_compare(struct driver *driver, const struct model *model);
bool driver_new_buffer(struct driver *driver, uint32_t buffer);
bool driver_new_kernel(struct driver *driver, uint32_t kernel);
bool driver_new_object(struct driver *driver, uint32_t object);

#endif
