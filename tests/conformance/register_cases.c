/*
 * register_cases.c: backends that are not built in: which are taken, which are refused.
 */
#include "conformance/conformance.h"

/* A backend with every required entry and no devices; none of its device functions is called. */
static enum vyre_status empty_enumerate(void *backend, struct vyre_device_info *out_infos,
                                        size_t capacity, size_t *out_count, struct vyre_diag *diag)
{
    (void)backend, (void)out_infos, (void)capacity;
    *out_count = 0;
    return vyre_diag_set(diag, VYRE_DIAG_BACKEND_ABSENT, "empty", 0, "there is nothing here");
}

static enum vyre_status empty_open(void *backend, uint32_t index,
                                   const struct vyre_device_desc *desc,
                                   const struct vyre_device_host *host, void **out_device,
                                   struct vyre_device_facts *out_facts, struct vyre_diag *diag)
{
    (void)backend, (void)index, (void)desc, (void)host, (void)out_device, (void)out_facts;
    return vyre_diag_set(diag, VYRE_DIAG_DEVICE_UNKNOWN, "empty", 0, "there is nothing here");
}

static enum vyre_status empty_buffer_create(void *device, const struct vyre_buffer_desc *desc,
                                            void **out_buffer, void **out_address,
                                            struct vyre_diag *diag)
{
    (void)device, (void)desc, (void)out_buffer, (void)out_address, (void)diag;
    return VYRE_INTERNAL;
}

static enum vyre_status empty_kernel_create(void *device, const struct vyre_kernel_desc *desc,
                                            const struct vyre_binding_plan *plan, void **out_kernel,
                                            struct vyre_diag *diag)
{
    (void)device, (void)desc, (void)plan, (void)out_kernel, (void)diag;
    return VYRE_INTERNAL;
}

static enum vyre_status empty_submit(void *device, const struct vyre_submission *submission,
                                     struct vyre_diag *diag)
{
    (void)device, (void)submission, (void)diag;
    return VYRE_INTERNAL;
}

static void empty_wait(void *device, uint64_t sequence, uint64_t timeout_ns)
{
    (void)device, (void)sequence, (void)timeout_ns;
}

static void empty_free(void *device, void *object)
{
    (void)device, (void)object;
}

static void empty_close(void *device)
{
    (void)device;
}

static const struct vyre_backend_ops empty_ops = {
    .abi_version = VYRE_BACKEND_ABI_VERSION,
    .size_bytes = sizeof(struct vyre_backend_ops),
    .name = "empty",
    .enumerate = empty_enumerate,
    .device_open = empty_open,
    .device_close = empty_close,
    .buffer_create = empty_buffer_create,
    .buffer_destroy = empty_free,
    .kernel_create = empty_kernel_create,
    .kernel_destroy = empty_free,
    .submit = empty_submit,
    .wait = empty_wait,
};

static void register_name_taken_refused(struct fixture *f)
{
    struct vyre_backend_ops ops = empty_ops;
    ops.name = f->subject->backend;
    assert_refused(f, vyre_instance_register_backend(f->instance, &ops, &f->diag),
                   VYRE_DIAG_BACKEND_NAME_TAKEN);
}

static void register_null_refused(struct fixture *f)
{
    assert_refused(f, vyre_instance_register_backend(f->instance, NULL, &f->diag),
                   VYRE_DIAG_ARGUMENT_NULL);
}

static void register_wrong_abi_refused(struct fixture *f)
{
    struct vyre_backend_ops ops = empty_ops;
    ops.abi_version = VYRE_BACKEND_ABI_VERSION + 1;
    assert_refused(f, vyre_instance_register_backend(f->instance, &ops, &f->diag),
                   VYRE_DIAG_BACKEND_ABI);
    ops = empty_ops;
    ops.size_bytes = 8;
    assert_refused(f, vyre_instance_register_backend(f->instance, &ops, &f->diag),
                   VYRE_DIAG_BACKEND_ABI);
}

static void register_missing_entry_refused(struct fixture *f)
{
    struct vyre_backend_ops broken[11];
    for (size_t i = 0; i < COUNT_OF(broken); i++)
        broken[i] = empty_ops;
    broken[0].name = NULL;
    broken[1].enumerate = NULL;
    broken[2].device_open = NULL;
    broken[3].device_close = NULL;
    broken[4].buffer_create = NULL;
    broken[5].buffer_destroy = NULL;
    broken[6].kernel_create = NULL;
    broken[7].kernel_destroy = NULL;
    broken[8].submit = NULL;
    broken[9].wait = NULL;
    broken[10].recording_destroy = empty_free; /* without record */
    for (size_t i = 0; i < COUNT_OF(broken); i++)
        assert_refused(f, vyre_instance_register_backend(f->instance, &broken[i], &f->diag),
                       VYRE_DIAG_BACKEND_ABI);
}

/* `ops` must outlive the instance, so this case brings its own. */
static void register_beyond_limit_refused(struct fixture *f)
{
    struct vyre_backend_ops ops[VYRE_BACKENDS_MAX + 1];
    char names[VYRE_BACKENDS_MAX + 1][16];
    struct vyre_instance *instance = subject_instance(f->subject, NULL, &f->diag);
    assert_non_null(instance);
    size_t count = vyre_instance_backends(instance, NULL, 0);
    enum vyre_status status = VYRE_OK;
    for (size_t i = 0; i < COUNT_OF(ops) && status == VYRE_OK; i++) {
        snprintf(names[i], sizeof names[i], "empty%zu", i);
        ops[i] = empty_ops;
        ops[i].name = names[i];
        status = vyre_instance_register_backend(instance, &ops[i], &f->diag);
        count += status == VYRE_OK;
    }
    assert_diag(status, f->diag, VYRE_DIAG_BACKEND_LIMIT);
    assert_int_equal(count, VYRE_BACKENDS_MAX);
    assert_int_equal(vyre_instance_backends(instance, NULL, 0), VYRE_BACKENDS_MAX);
    vyre_instance_destroy(&instance);
    assert_null(instance);
}

/* ---- Listing ---------------------------------------------------------------------------------- */

static void backends_lists_subject_and_absent(struct fixture *f)
{
    struct vyre_backend_info infos[VYRE_BACKENDS_MAX];
    struct vyre_instance *instance = subject_instance(f->subject, NULL, &f->diag);
    assert_non_null(instance);
    assert_ok(f, vyre_instance_register_backend(instance, &empty_ops, &f->diag));
    size_t count = vyre_instance_backends(instance, infos, COUNT_OF(infos));
    const struct vyre_backend_info *subject = NULL, *empty = NULL;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(infos[i].name, f->subject->backend) == 0)
            subject = &infos[i];
        if (strcmp(infos[i].name, "empty") == 0)
            empty = &infos[i];
    }
    vyre_instance_destroy(&instance);
    assert_non_null(subject);
    assert_true(subject->device_count > 0);
    assert_int_equal(subject->reason.id, VYRE_DIAG_NONE);
    assert_non_null(empty);
    assert_int_equal(empty->device_count, 0);
    assert_int_equal(empty->reason.id, VYRE_DIAG_BACKEND_ABSENT);
}

static void open_absent_backend_refused(struct fixture *f)
{
    struct vyre_instance *instance = subject_instance(f->subject, NULL, &f->diag);
    struct vyre_device *device = (struct vyre_device *)f; /* must be zeroed */
    struct vyre_device_desc desc = {.backend = "empty"};
    assert_non_null(instance);
    assert_ok(f, vyre_instance_register_backend(instance, &empty_ops, &f->diag));
    enum vyre_status status = vyre_device_open(instance, &desc, &device, &f->diag);
    vyre_instance_destroy(&instance);
    assert_diag(status, f->diag, VYRE_DIAG_BACKEND_ABSENT);
    assert_null(device);
}

static const struct conformance_case cases[] = {
    {"register_name_taken_refused", register_name_taken_refused, 0},
    {"register_null_refused", register_null_refused, 0},
    {"register_wrong_abi_refused", register_wrong_abi_refused, 0},
    {"register_missing_entry_refused", register_missing_entry_refused, 0},
    {"register_beyond_limit_refused", register_beyond_limit_refused, 0},
    {"backends_lists_subject_and_absent", backends_lists_subject_and_absent, 0},
    {"open_absent_backend_refused", open_absent_backend_refused, 0},
};

const struct conformance_group register_cases = {"register", cases, COUNT_OF(cases)};
