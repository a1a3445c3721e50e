/*
 * instance.c: the root object, its backends and their devices.
 */
#include <string.h>

#include "backend/registry.h"
#include "base/memory.h"
#include "runtime/internal.h"

uint64_t vyre_instance_new_identity(struct vyre_instance *instance)
{
    /* Relaxed: only uniqueness matters. */
    return atomic_fetch_add_explicit(&instance->next_identity, 1, memory_order_relaxed) + 1;
}

static bool ops_are_complete(const struct vyre_backend_ops *ops)
{
    bool memory = ops->buffer_create && ops->buffer_destroy;
    bool kernels = ops->kernel_create && ops->kernel_destroy;
    bool devices = ops->enumerate && ops->device_open && ops->device_close;
    bool recordings = !ops->record == !ops->recording_destroy;
    return ops->name && memory && kernels && devices && recordings && ops->submit && ops->wait;
}

static enum vyre_status check_ops(const struct vyre_instance *instance,
                                  const struct vyre_backend_ops *ops, struct vyre_diag *diag)
{
    if (!ops)
        return vyre_diag_set(diag, VYRE_DIAG_ARGUMENT_NULL, NULL, 0, "the backend's table is NULL");
    if (ops->abi_version != VYRE_BACKEND_ABI_VERSION || ops->size_bytes < sizeof *ops)
        return vyre_diag_set(diag, VYRE_DIAG_BACKEND_ABI, NULL, ops->abi_version,
                             "the backend has ABI %u and a table of %u bytes, this library wants "
                             "%u and %zu",
                             ops->abi_version, ops->size_bytes, VYRE_BACKEND_ABI_VERSION,
                             sizeof *ops);
    if (!ops_are_complete(ops))
        return vyre_diag_set(diag, VYRE_DIAG_BACKEND_ABI, ops->name, 0,
                             "a required entry of the backend's table is NULL");
    for (size_t i = 0; i < instance->backend_count; i++) {
        if (strcmp(instance->backends[i].ops->name, ops->name) == 0)
            return vyre_diag_set(diag, VYRE_DIAG_BACKEND_NAME_TAKEN, ops->name, 0,
                                 "there is a backend named %s already", ops->name);
    }
    if (instance->backend_count == VYRE_BACKENDS_MAX)
        return vyre_diag_set(diag, VYRE_DIAG_BACKEND_LIMIT, ops->name, 0,
                             "an instance holds %d backends at most", VYRE_BACKENDS_MAX);
    return VYRE_OK;
}

enum vyre_status vyre_instance_register_backend(struct vyre_instance *instance,
                                                const struct vyre_backend_ops *ops,
                                                struct vyre_diag *diag)
{
    enum vyre_status status = check_ops(instance, ops, diag);
    if (status != VYRE_OK)
        return status;
    struct vyre_instance_backend backend = {.ops = ops};
    if (ops->create) {
        status = ops->create(ops->user, &instance->allocator, &backend.state, &backend.absent);
        /*
         * The caller must know about a lack of memory. Any other failure is a fact about this
         * machine.
         */
        if (status == VYRE_OUT_OF_MEMORY) {
            if (diag)
                *diag = backend.absent;
            return status;
        }
        if (status != VYRE_OK && backend.absent.id == VYRE_DIAG_NONE)
            (void)vyre_diag_set(&backend.absent, VYRE_DIAG_BACKEND_ABSENT, ops->name, 0,
                                "the backend failed to start: %s", vyre_status_name(status));
    }
    instance->backends[instance->backend_count++] = backend;
    return VYRE_OK;
}

/* An observer of an older header is shorter; the rest of ours stays zero. */
static void copy_observer(struct vyre_instance *instance, const struct vyre_observer *observer)
{
    size_t size_bytes = sizeof instance->observer;
    if (observer->size_bytes != 0 && observer->size_bytes < size_bytes)
        size_bytes = observer->size_bytes;
    memcpy(&instance->observer, observer, size_bytes);
}

enum vyre_status vyre_instance_create(const struct vyre_instance_desc *desc,
                                      struct vyre_instance **out_instance, struct vyre_diag *diag)
{
    *out_instance = NULL;
    struct vyre_allocator allocator = vyre_allocator_resolve(desc ? &desc->allocator : NULL);
    struct vyre_instance *instance =
        vyre_memory_allocate(&allocator, sizeof *instance, _Alignof(struct vyre_instance));
    if (!instance)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0, "an instance takes %zu bytes",
                             sizeof *instance);
    instance->allocator = allocator;
    if (desc) {
        instance->log = desc->log;
        instance->log_user = desc->log_user;
        instance->audit = desc->audit;
        if (desc->observer)
            copy_observer(instance, desc->observer);
    }
    for (size_t i = 0; i < vyre_builtin_backend_count; i++) {
        enum vyre_status status =
            vyre_instance_register_backend(instance, vyre_builtin_backends[i], diag);
        if (status != VYRE_OK) {
            vyre_instance_destroy(&instance);
            return status;
        }
    }
    *out_instance = instance;
    return VYRE_OK;
}

void vyre_instance_destroy(struct vyre_instance **instance)
{
    if (!instance || !*instance)
        return;
    struct vyre_instance *dying = *instance;
    *instance = NULL;
    for (size_t i = dying->backend_count; i-- > 0;) {
        const struct vyre_instance_backend *backend = &dying->backends[i];
        if (backend->ops->destroy && backend->state)
            backend->ops->destroy(backend->state);
    }
    struct vyre_allocator allocator = dying->allocator;
    vyre_memory_free(&allocator, dying, sizeof *dying, _Alignof(struct vyre_instance));
}

/*
 * Lists a backend's devices. Returns how many it has; 0 with the reason if the backend is absent.
 */
static size_t list_devices(struct vyre_instance_backend *backend, struct vyre_device_info *infos,
                           size_t capacity, struct vyre_diag *out_reason)
{
    size_t count = 0;
    *out_reason = backend->absent;
    if (backend->absent.id != VYRE_DIAG_NONE)
        return 0;
    if (backend->ops->enumerate(backend->state, infos, capacity, &count, out_reason) != VYRE_OK)
        return 0;
    for (size_t i = 0; i < count && i < capacity; i++) {
        infos[i].backend = backend->ops->name;
        infos[i].index = (uint32_t)i;
    }
    return count;
}

size_t vyre_instance_backends(struct vyre_instance *instance, struct vyre_backend_info *out_infos,
                              size_t capacity)
{
    for (size_t i = 0; i < instance->backend_count && i < capacity; i++) {
        struct vyre_backend_info *info = &out_infos[i];
        memset(info, 0, sizeof *info);
        info->name = instance->backends[i].ops->name;
        info->device_count = (uint32_t)list_devices(&instance->backends[i], NULL, 0, &info->reason);
    }
    return instance->backend_count;
}

size_t vyre_instance_devices(struct vyre_instance *instance, struct vyre_device_info *out_infos,
                             size_t capacity)
{
    size_t total = 0;
    for (size_t i = 0; i < instance->backend_count; i++) {
        struct vyre_diag reason;
        size_t room = total < capacity ? capacity - total : 0;
        total +=
            list_devices(&instance->backends[i], room ? out_infos + total : NULL, room, &reason);
    }
    return total;
}
