/*
 * object.c: the life of a device's objects, and freeing them once no work uses them.
 */
#include <stdio.h>

#include "runtime/emit.h"

void vyre_label_copy(char out[VYRE_LABEL_BYTES], const char *label)
{
    snprintf(out, VYRE_LABEL_BYTES, "%s", label ? label : "");
}

void vyre_object_link_locked(struct vyre_device *device, struct vyre_object *object,
                             vyre_object_free *free_function, const char *label)
{
    *object = (struct vyre_object){
        .device = device,
        .next = device->objects.living,
        .free = free_function,
        .identity = vyre_instance_new_identity(device->instance),
    };
    vyre_label_copy(object->label, label);
    if (device->objects.living)
        device->objects.living->prev = object;
    device->objects.living = object;
}

void vyre_object_bury_locked(struct vyre_object *object)
{
    struct vyre_device *device = object->device;
    if (object->prev)
        object->prev->next = object->next;
    else
        device->objects.living = object->next;
    if (object->next)
        object->next->prev = object->prev;

    uint64_t completed = atomic_load_explicit(&device->progress.completed, memory_order_acquire);
    vyre_recordings_purge(&device->recordings, object->identity, completed);
    object->identity = 0;
    object->next = NULL;
    object->prev = NULL;
    object->last_sequence = atomic_load_explicit(&device->progress.submitted, memory_order_relaxed);
    if (device->objects.dead_last)
        device->objects.dead_last->next = object;
    else
        device->objects.dead_first = object;
    device->objects.dead_last = object;
    device->objects.epoch++;
    vyre_device_reclaim_locked(device);
}

void vyre_device_reclaim_locked(struct vyre_device *device)
{
    /*
     * Read once: objects of work that ends meanwhile wait for the next time, with their recordings.
     */
    uint64_t completed = atomic_load_explicit(&device->progress.completed, memory_order_acquire);
    if (!device->objects.dead_first || device->objects.dead_first->last_sequence > completed)
        return;
    /*
     * Reports about a batch name objects, so everything complete is reported before objects are
     * freed.
     */
    if (device->emit)
        vyre_emit_flush_locked(device);
    /* A recording is freed before what it names: backends keep pointers from it to them. */
    vyre_recordings_bury(&device->recordings, completed);
    while (device->objects.dead_first && device->objects.dead_first->last_sequence <= completed) {
        struct vyre_object *object = device->objects.dead_first;
        device->objects.dead_first = object->next;
        if (!device->objects.dead_first)
            device->objects.dead_last = NULL;
        object->free(device, object);
    }
}
