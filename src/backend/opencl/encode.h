/*
 * encode.h: puts commands onto a queue.
 */
#ifndef VYRE_BACKEND_OPENCL_ENCODE_H
#define VYRE_BACKEND_OPENCL_ENCODE_H

#include <vyre/backend.h>

#include "backend/opencl/call.h"
#include "backend/opencl/flight.h"
#include "base/groups.h"

/* A batch that is being put onto the queue. */
struct vyre_cl_encoder {
    struct vyre_cl_device *device;
    const struct vyre_batch_view *view;
    struct vyre_cl_entry *entry;
    uint32_t first;         /* the first command that does something */
    uint32_t last;          /* the last one; before `first` if there is none */
    uint32_t stride;        /* an event is kept every this many commands */
    uint32_t next_event;    /* the command whose event is kept next, or the next one enqueued */
    uint32_t enqueued;      /* commands so far */
    bool profiled;          /* the first command's event is kept too, or those of samples */
    bool shows_first;       /* the first command's */
    uint32_t sample_count;  /* first commands that are timed: sample.h */
    cl_command_queue queue; /* where the next command goes */
    uint64_t group;         /* of steps, if there are arms; from 1 */
};

void vyre_cl_encoder_begin(struct vyre_cl_encoder *encoder, struct vyre_cl_device *device,
                           const struct vyre_submission *submission, struct vyre_cl_entry *entry);

/* Spreads the events over the commands from `first` to `last`. */
void vyre_cl_encoder_space(struct vyre_cl_encoder *encoder);

void vyre_cl_encoder_keep(struct vyre_cl_encoder *encoder, uint32_t index, const cl_event *event);

/* The same for a command whose event is only read for its times. */
cl_event *vyre_cl_encoder_profiled_event(struct vyre_cl_encoder *encoder, uint32_t index);

/*
 * Where the event of command `index` goes, or NULL. After the command is enqueued, `kept` notes it.
 */
static inline cl_event *vyre_cl_encoder_event(struct vyre_cl_encoder *encoder, uint32_t index)
{
    struct vyre_cl_entry *entry = encoder->entry;
    if (index >= encoder->next_event && entry->event_count < VYRE_CL_EVENTS_MAX)
        return &entry->events[entry->event_count];
    return encoder->profiled ? vyre_cl_encoder_profiled_event(encoder, index) : NULL;
}

static inline void vyre_cl_encoder_kept(struct vyre_cl_encoder *encoder, uint32_t index,
                                        const cl_event *event)
{
    encoder->enqueued++;
    if (event)
        vyre_cl_encoder_keep(encoder, index, event);
}

/* All commands of a plain batch. */
enum vyre_status vyre_cl_encode(struct vyre_cl_encoder *encoder, uint32_t variant,
                                struct vyre_diag *diag);

/* A dispatch whose arguments are set. */
cl_int vyre_cl_encode_kernel(const struct vyre_cl_encoder *encoder, cl_kernel native,
                             const struct vyre_cl_kernel *kernel, const uint32_t groups[3],
                             cl_event *out_event);

/* A copy, fill, upload or download. */
cl_int vyre_cl_encode_transfer(const struct vyre_cl_encoder *encoder,
                               const struct vyre_command *command, cl_event *out_event);

/* Sets bindings and constants of a dispatch; tables go to `tables`, or the device's ring if NULL. */
cl_int vyre_cl_set_arguments(struct vyre_cl_device *device, struct vyre_cl_call *call,
                             const struct vyre_batch_view *view, const struct vyre_command *command,
                             unsigned char **tables);

/* The addresses of a table's members, as kernels see them. */
void vyre_cl_write_table(const struct vyre_batch_view *view,
                         const struct vyre_command_binding *binding, uint64_t *out_addresses);

/* The device's ring of tables has at least so much room. */
#define VYRE_CL_TABLES_BYTES ((size_t)2 << 20)

/* The room that a table takes: whole lines. */
static inline size_t vyre_cl_table_bytes(const struct vyre_command_binding *binding)
{
    return (binding->range_count * sizeof(uint64_t) + 63) & ~(size_t)63;
}

/* ... and all tables of a batch. */
size_t vyre_cl_tables_bytes(const struct vyre_batch_view *view);

/*
 * Memory in the device's ring for all tables of a dispatch, in the order of its bindings.
 * CL_OUT_OF_RESOURCES: there is none, even after waiting; other codes come from what was waited
 * for. All tables at once, because waiting frees whatever was taken before and is not queued yet.
 */
cl_int vyre_cl_take_tables(struct vyre_cl_device *device, const struct vyre_batch_view *view,
                           const struct vyre_command *command, unsigned char **out_memory);

/*
 * Prefetches what follows a dispatch in the batch while the driver works: an enqueue leaves little
 * of our data in the nearest cache. An address past the end does no harm.
 */
static inline void vyre_cl_look_ahead(const struct vyre_batch_view *view,
                                      const struct vyre_command *command)
{
    const unsigned char *next = (const unsigned char *)(command + 1);
    __builtin_prefetch(next);
    __builtin_prefetch(next + 64);
    __builtin_prefetch(&view->bindings[command->first_binding + command->binding_count]);
    __builtin_prefetch(&view->ranges[command->first_range + command->range_count]);
}

static inline bool vyre_cl_is_empty(const struct vyre_command *command)
{
    return command->type == VYRE_COMMAND_DISPATCH && vyre_groups_total(command->groups) == 0;
}

#endif
