/*
 * instance.h: the root object: allocator, backends, log.
 *
 * There are no globals. Two instances share nothing, so that a library and its host program may
 * each have one.
 *
 * Thread-safety: create, destroy and register_backend belong to one thread; everything else may be
 * called from any thread.
 */
#ifndef VYRE_INSTANCE_H
#define VYRE_INSTANCE_H

#include <stddef.h>
#include <stdint.h>

#include <vyre/allocator.h>
#include <vyre/diag.h>
#include <vyre/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The root object, from which devices are opened. */
struct vyre_instance;
struct vyre_backend_ops;
struct vyre_audit;
struct vyre_observer;

/* How important a line of the log is. */
enum vyre_log_level {
    VYRE_LOG_ERROR = 0,   /* something failed */
    VYRE_LOG_WARNING = 1, /* something works less well than it could */
    VYRE_LOG_INFO = 2,    /* something happened */
};

/*
 * Receives a line of the log, on any thread that uses the instance. `text` is valid during the
 * call.
 */
typedef void vyre_log_function(void *user, enum vyre_log_level level, const char *text);

/* How to create an instance. A zeroed desc is fine. */
struct vyre_instance_desc {
    struct vyre_allocator allocator;
    vyre_log_function *log;               /* NULL: nothing is logged */
    void *log_user;                       /* Borrowed */
    struct vyre_audit *audit;             /* Borrowed: gets the verdicts of auto; NULL: none */
    const struct vyre_observer *observer; /* copied: receives the events; NULL: none */
};

/* Creates an instance. `desc` may be NULL. The caller owns the instance. */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_instance_create(const struct vyre_instance_desc *desc,
                                                              struct vyre_instance **out_instance,
                                                              struct vyre_diag *diag);

/*
 * Frees the instance and sets *instance to NULL. All devices of the instance must be closed. NULL
 * and a pointer to NULL are ignored.
 */
VYRE_API void vyre_instance_destroy(struct vyre_instance **instance);

/*
 * Adds a backend that is not built in. `ops` is Borrowed and must outlive the instance. Fails when
 * the name is taken, when the table has another ABI version, and when it lacks a required entry.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_instance_register_backend(
    struct vyre_instance *instance, const struct vyre_backend_ops *ops, struct vyre_diag *diag);

/* The most backends that an instance has, built-in ones included. */
#define VYRE_BACKENDS_MAX 16

/* One backend of the instance: present, or absent with the reason. */
struct vyre_backend_info {
    const char *name;        /* Static */
    uint32_t device_count;   /* 0 when absent */
    struct vyre_diag reason; /* why it is absent; id VYRE_DIAG_NONE when it is there */
};

/* Lists the backends: fills up to `capacity` entries and returns how many there are. */
VYRE_API size_t vyre_instance_backends(struct vyre_instance *instance,
                                       struct vyre_backend_info *out_infos, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
