/*
 * hooked_fixture.c: opening, closing and the shared steps.
 */
#include "opencl/hooked_fixture.h"

#include "support/test.h"

static void must(const struct fixture *f, enum vyre_status status)
{
    if (status != VYRE_OK)
        fail_msg("%s: %s", vyre_diag_id_name(f->diag.id), f->diag.message);
}

void fixture_open_in(struct fixture *f, const struct vyre_instance_desc *instance, const char *name,
                     struct vyre_device_desc desc, void (*install)(struct vyre_cl_api *api))
{
    memset(f, 0, sizeof *f);
    hooked_device = NULL;
    desc.backend = HOOKED_NAME;
    desc.name = name;
    must(f, vyre_instance_create(instance, &f->instance, &f->diag));
    must(f, vyre_instance_register_backend(f->instance, hooked_backend(install), &f->diag));
    must(f, vyre_device_open(f->instance, &desc, &f->device, &f->diag));
    must(f, vyre_batch_create(f->device, NULL, &f->batch, &f->diag));
}

void fixture_open(struct fixture *f, const char *name, struct vyre_device_desc desc,
                  void (*install)(struct vyre_cl_api *api))
{
    fixture_open_in(f, NULL, name, desc, install);
}

void fixture_close(struct fixture *f)
{
    vyre_device_close(&f->device);
    vyre_instance_destroy(&f->instance);
}

struct vyre_kernel *fixture_kernel(struct fixture *f, const char *source, const char *entry,
                                   struct vyre_kernel_desc desc)
{
    const struct vyre_payload payload = {.target = VYRE_TARGET_OPENCL_C,
                                         .entry = entry,
                                         .bytes = source,
                                         .size_bytes = strlen(source)};
    struct vyre_kernel *kernel = NULL;
    desc.payloads = &payload;
    desc.payload_count = 1;
    desc.label = entry;
    for (int i = 0; i < 3; i++)
        desc.local_size[i] = desc.local_size[i] ? desc.local_size[i] : 1;
    must(f, vyre_kernel_create(f->device, &desc, &kernel, &f->diag));
    return kernel;
}

struct vyre_buffer *fixture_buffer(struct fixture *f, size_t size_bytes)
{
    struct vyre_buffer *buffer = NULL;
    const struct vyre_buffer_desc desc = {.size_bytes = size_bytes};
    must(f, vyre_buffer_create(f->device, &desc, &buffer, &f->diag));
    return buffer;
}

void fixture_dispatch(struct fixture *f, struct vyre_kernel *kernel, struct vyre_buffer *buffer,
                      struct vyre_dispatch dispatch)
{
    const struct vyre_slot_binding binding = {.slot = 0, .range = {buffer, 0, 0}};
    dispatch.kernel = kernel;
    for (int i = 0; i < 3; i++)
        dispatch.groups[i] = 1;
    dispatch.bindings = &binding;
    dispatch.binding_count = 1;
    vyre_batch_dispatch(f->batch, &dispatch);
}

enum vyre_status fixture_run(struct fixture *f, enum vyre_mode mode)
{
    const struct vyre_submit_options options = {.mode = mode};
    struct vyre_ticket ticket;
    enum vyre_status status = vyre_batch_submit(f->batch, &options, &ticket, &f->diag);
    if (status == VYRE_OK)
        status = vyre_ticket_wait(f->device, ticket, VYRE_FOREVER, &f->diag);
    return status;
}

void fixture_must_run(struct fixture *f, enum vyre_mode mode)
{
    must(f, fixture_run(f, mode));
}

uint32_t fixture_word(struct fixture *f, struct vyre_buffer *buffer)
{
    uint32_t word = 0;
    must(f, vyre_buffer_read(buffer, 0, &word, sizeof word, &f->diag));
    return word;
}
