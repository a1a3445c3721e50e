/*
 * kernel_cases.c: creating kernels, and what is refused.
 */
#include "conformance/conformance.h"

/* ---- Refusals --------------------------------------------------------------------------------- */

/* Creates the plan's kernel, which must be refused with `id`, and under the kernel's label. */
static void refuse_kernel(struct fixture *f, struct kernel_plan *plan, enum vyre_diag_id id)
{
    struct vyre_kernel *kernel = (struct vyre_kernel *)f; /* must be zeroed */
    plan->desc.label = "refused-kernel";
    assert_refused(f, vyre_kernel_create(f->device, &plan->desc, &kernel, &f->diag), id);
    assert_null(kernel);
    if (strncmp(vyre_diag_id_name(id), "kernel-", 7) == 0) /* others name the binding */
        assert_string_equal(f->diag.label, "refused-kernel");
}

static void destroy_null_ignored(struct fixture *f)
{
    struct vyre_kernel *kernel = NULL;
    (void)f;
    vyre_kernel_destroy(&kernel);
    vyre_kernel_destroy(NULL);
}

static void create_no_payload_refused(struct fixture *f)
{
    struct kernel_plan plan;
    kernel_plan_init(&plan, KERNEL_ADD);
    plan.desc.payloads = NULL;
    plan.desc.payload_count = 0;
    refuse_kernel(f, &plan, VYRE_DIAG_KERNEL_NO_PAYLOAD);
}

static void create_payload_of_other_target_refused(struct fixture *f)
{
    static const char text[] = "void main() {}";
    struct kernel_plan plan;
    kernel_plan_init(&plan, KERNEL_ADD);
    plan.payloads[0] = (struct vyre_payload){
        .target = VYRE_TARGET_GLSL, .bytes = text, .size_bytes = sizeof text - 1};
    plan.payloads[1] = (struct vyre_payload){
        .target = VYRE_TARGET_OPENCL_C, .bytes = text, .size_bytes = sizeof text - 1};
    plan.desc.payload_count = 2;
    refuse_kernel(f, &plan, VYRE_DIAG_KERNEL_NO_PAYLOAD);
}

static void create_payload_without_function_refused(struct fixture *f)
{
    struct kernel_plan plan;
    kernel_plan_init(&plan, KERNEL_ADD);
    plan.payloads[0] = (struct vyre_payload){.target = VYRE_TARGET_HOST};
    plan.desc.payload_count = 1;
    refuse_kernel(f, &plan, VYRE_DIAG_KERNEL_PAYLOAD);
    plan.payloads[0] = (struct vyre_payload){.target = VYRE_TARGET_HOST_LIBRARY, .entry = "x"};
    refuse_kernel(f, &plan, VYRE_DIAG_KERNEL_PAYLOAD);
}

static void create_missing_library_refused(struct fixture *f)
{
    struct kernel_plan plan;
    kernel_plan_init(&plan, KERNEL_ADD);
    plan.payloads[0] = (struct vyre_payload){.target = VYRE_TARGET_HOST_LIBRARY,
                                             .path = "/no/such/directory/kernels.so",
                                             .entry = "add"};
    plan.desc.payload_count = 1;
    refuse_kernel(f, &plan, VYRE_DIAG_KERNEL_LIBRARY);
}

static void create_missing_symbol_refused(struct fixture *f)
{
    struct kernel_plan plan;
    kernel_plan_init(&plan, KERNEL_ADD);
    plan.payloads[0] = (struct vyre_payload){.target = VYRE_TARGET_HOST_LIBRARY,
                                             .path = f->subject->kernel_library,
                                             .entry = "no_such_function"};
    plan.desc.payload_count = 1;
    refuse_kernel(f, &plan, VYRE_DIAG_KERNEL_SYMBOL);
}

static void create_bad_constants_refused(struct fixture *f)
{
    enum vyre_scalar scalars[33];
    struct kernel_plan plan;
    kernel_plan_init(&plan, KERNEL_ADD);
    plan.desc.constants = scalars;

    for (size_t i = 0; i < COUNT_OF(scalars); i++)
        scalars[i] = VYRE_SCALAR_U32;
    plan.desc.constant_count = 33; /* 132 bytes */
    refuse_kernel(f, &plan, VYRE_DIAG_KERNEL_CONSTANTS);

    for (size_t i = 0; i < COUNT_OF(scalars); i++)
        scalars[i] = i % 2 ? VYRE_SCALAR_U64 : VYRE_SCALAR_U32;
    plan.desc.constant_count = 17; /* 100 bytes of values, 132 with the holes */
    refuse_kernel(f, &plan, VYRE_DIAG_KERNEL_CONSTANTS);

    scalars[1] = VYRE_SCALAR_NONE;
    plan.desc.constant_count = 2;
    refuse_kernel(f, &plan, VYRE_DIAG_KERNEL_CONSTANTS);
    scalars[1] = (enum vyre_scalar)77;
    refuse_kernel(f, &plan, VYRE_DIAG_KERNEL_CONSTANTS);
}

static void create_too_many_specialization_values_refused(struct fixture *f)
{
    uint64_t values[VYRE_SPECIALIZATION_VALUES_MAX + 1] = {0};
    struct kernel_plan plan;
    kernel_plan_init(&plan, KERNEL_SPECIALIZED);
    plan.desc.specialization_defaults = values;
    plan.desc.specialization_count = COUNT_OF(values);
    refuse_kernel(f, &plan, VYRE_DIAG_KERNEL_SPECIALIZATION);
}

static void create_bad_bindings_refused(struct fixture *f)
{
    struct vyre_binding_desc bindings[3] = {{.slot = 4, .access = VYRE_ACCESS_READ},
                                            {.slot = 2, .access = VYRE_ACCESS_READ},
                                            {.slot = 4, .access = VYRE_ACCESS_WRITE}};
    struct kernel_plan plan;
    kernel_plan_init(&plan, KERNEL_ADD);
    plan.desc.bindings = bindings;
    plan.desc.binding_count = 3;
    refuse_kernel(f, &plan, VYRE_DIAG_BINDING_SLOT_DUPLICATE);
    bindings[2] =
        (struct vyre_binding_desc){.slot = 5, .role = VYRE_ROLE_INPUT, .access = VYRE_ACCESS_WRITE};
    refuse_kernel(f, &plan, VYRE_DIAG_BINDING_ROLE_ACCESS);
    bindings[2] = (struct vyre_binding_desc){.slot = 5, .role = (enum vyre_role)99};
    refuse_kernel(f, &plan, VYRE_DIAG_BINDING_ROLE_UNKNOWN);
}

static void create_too_many_bindings_refused(struct fixture *f)
{
    uint32_t count = f->limits.bindings + 1;
    if (count > 1u << 20)
        skip();
    struct vyre_binding_desc *bindings = calloc(count, sizeof *bindings);
    struct kernel_plan plan;
    struct vyre_kernel *kernel = NULL;
    assert_non_null(bindings);
    for (uint32_t i = 0; i < count; i++)
        bindings[i] = (struct vyre_binding_desc){.slot = i, .access = VYRE_ACCESS_READ};
    kernel_plan_init(&plan, KERNEL_ADD);
    plan.desc.bindings = bindings;
    plan.desc.binding_count = count;
    enum vyre_status status = vyre_kernel_create(f->device, &plan.desc, &kernel, &f->diag);
    free(bindings);
    assert_diag(status, f->diag, VYRE_DIAG_KERNEL_BINDINGS);
}

static void create_large_local_size_refused(struct fixture *f)
{
    struct kernel_plan plan;
    kernel_plan_init(&plan, KERNEL_ADD);
    plan.desc.local_size[0] = f->limits.group_invocations;
    plan.desc.local_size[1] = 2;
    refuse_kernel(f, &plan, VYRE_DIAG_KERNEL_LOCAL_SIZE);
    plan.desc.local_size[0] = 65536; /* the product wraps to 0 in 32 bits */
    plan.desc.local_size[1] = 65536;
    refuse_kernel(f, &plan, VYRE_DIAG_KERNEL_LOCAL_SIZE);
    plan.desc.local_size[0] = plan.desc.local_size[1] = plan.desc.local_size[2] = UINT32_MAX;
    refuse_kernel(f, &plan, VYRE_DIAG_KERNEL_LOCAL_SIZE);
}

/* ---- What works ------------------------------------------------------------------------------- */

static void create_copies_label_and_reports_constants_size(struct fixture *f)
{
    char label[] = "relax";
    struct kernel_plan plan;
    struct vyre_kernel *kernel = NULL;
    kernel_plan_init(&plan, KERNEL_ADD);
    plan.desc.label = label;
    assert_ok(f, vyre_kernel_create(f->device, &plan.desc, &kernel, &f->diag));
    memset(label, 'x', sizeof label - 1);
    assert_string_equal(vyre_kernel_label(kernel), "relax");
    assert_int_equal(vyre_kernel_constants_size(kernel), sizeof(struct add_constants));
    assert_int_equal(vyre_kernel_constants_size(make_kernel(f, f->device, KERNEL_ECHO)),
                     sizeof(struct echo_constants));
    assert_int_equal(vyre_kernel_constants_size(make_kernel(f, f->device, KERNEL_IDENTIFY)), 0);
    vyre_kernel_destroy(&kernel);
    assert_null(kernel);
}

/* Everything that the desc points to is gone or changed after creation. */
static void create_copies_its_desc(struct fixture *f)
{
    struct vyre_binding_desc bindings[3] = {
        {.slot = 9, .access = VYRE_ACCESS_WRITE, .element_size_bytes = 4},
        {.slot = 2, .access = VYRE_ACCESS_READ, .element_size_bytes = 4},
        {.slot = 5, .access = VYRE_ACCESS_READ, .element_size_bytes = 4}};
    uint32_t words[LOCAL_SIZE], expected[LOCAL_SIZE];
    struct kernel_plan plan;
    struct vyre_kernel *kernel = NULL;
    kernel_plan_init(&plan, KERNEL_SPARSE);
    plan.desc.bindings = bindings;
    assert_ok(f, vyre_kernel_create(f->device, &plan.desc, &kernel, &f->diag));
    memset(bindings, 0xee, sizeof bindings);
    memset(&plan, 0xee, sizeof plan);
    for (uint32_t i = 0; i < LOCAL_SIZE; i++) {
        words[i] = i;
        expected[i] = 1001 * i;
    }
    struct vyre_buffer *a = make_words(f, f->device, words, LOCAL_SIZE);
    struct vyre_buffer *b = make_words(f, f->device, words, LOCAL_SIZE);
    struct vyre_buffer *out = make_buffer(f, f->device, sizeof words);
    struct vyre_slot_binding slots[] = {{.slot = 2, .range = whole(a)},
                                        {.slot = 9, .range = whole(out)},
                                        {.slot = 5, .range = whole(b)}};
    struct vyre_batch *batch = make_batch(f, f->device);
    vyre_batch_dispatch(
        batch, &(struct vyre_dispatch){
                   .kernel = kernel, .groups = {1, 1, 1}, .bindings = slots, .binding_count = 3});
    run_in(f, f->device, batch, VYRE_MODE_PLAIN);
    assert_words(f, out, expected, LOCAL_SIZE);
}

static void create_largest_constants_accepted(struct fixture *f)
{
    uint32_t constants[VYRE_CONSTANTS_BYTES_MAX / 4];
    struct vyre_kernel *kernel = make_kernel(f, f->device, KERNEL_WIDE);
    struct vyre_buffer *out = make_buffer(f, f->device, sizeof constants);
    struct vyre_slot_binding slot = {.slot = 0, .range = whole(out)};
    struct vyre_batch *batch = make_batch(f, f->device);
    assert_int_equal(vyre_kernel_constants_size(kernel), VYRE_CONSTANTS_BYTES_MAX);
    for (uint32_t i = 0; i < COUNT_OF(constants); i++)
        constants[i] = 0x01000193u * (i + 1);
    vyre_batch_dispatch(batch, &(struct vyre_dispatch){.kernel = kernel,
                                                       .groups = {1, 1, 1},
                                                       .bindings = &slot,
                                                       .binding_count = 1,
                                                       .constants = constants,
                                                       .constants_size_bytes = sizeof constants});
    run_in(f, f->device, batch, VYRE_MODE_PLAIN);
    assert_words(f, out, constants, COUNT_OF(constants));
}

static void library_kernel_runs(struct fixture *f)
{
    struct kernel_plan plan;
    struct vyre_kernel *kernel = NULL;
    struct vyre_buffer *data = make_buffer(f, f->device, 100 * 4);
    struct vyre_batch *batch = make_batch(f, f->device);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    kernel_plan_init(&plan, KERNEL_ADD);
    plan.payloads[0] = (struct vyre_payload){.target = VYRE_TARGET_HOST_LIBRARY,
                                             .path = f->subject->kernel_library,
                                             .entry = "conformance_add_twice"};
    plan.desc.payload_count = 1;
    assert_ok(f, vyre_kernel_create(f->device, &plan.desc, &kernel, &f->diag));
    add_add(batch, kernel, whole(data), 5, 100);
    for (size_t i = 0; i < mode_count; i++) {
        run_in(f, f->device, batch, modes[i]);
        assert_all_words(f, data, 10 * (uint32_t)(i + 1), 100);
    }
    vyre_kernel_destroy(&kernel);
}

/* A payload that the device cannot run does not stand in the way of one that it can. */
static void other_payload_beside_is_ignored(struct fixture *f)
{
    static const char text[] = "this is no program";
    struct kernel_plan plan;
    struct vyre_kernel *kernel = NULL;
    struct vyre_buffer *data = make_buffer(f, f->device, 64);
    struct vyre_batch *batch = make_batch(f, f->device);
    kernel_plan_init(&plan, KERNEL_ADD);
    plan.payloads[2] = plan.payloads[0];
    plan.payloads[0] = (struct vyre_payload){
        .target = VYRE_TARGET_SPIRV, .bytes = text, .size_bytes = sizeof text};
    plan.payloads[1] =
        (struct vyre_payload){.target = VYRE_TARGET_GLSL, .bytes = text, .size_bytes = sizeof text};
    plan.desc.payload_count = 3;
    assert_ok(f, vyre_kernel_create(f->device, &plan.desc, &kernel, &f->diag));
    add_add(batch, kernel, whole(data), 9, 16);
    run_in(f, f->device, batch, VYRE_MODE_PLAIN);
    assert_all_words(f, data, 9, 16);
}

static const struct conformance_case cases[] = {
    {"destroy_null_ignored", destroy_null_ignored, 0},
    {"create_no_payload_refused", create_no_payload_refused, 0},
    {"create_payload_of_other_target_refused", create_payload_of_other_target_refused,
     NEEDS_HOST_KERNELS},
    {"create_payload_without_function_refused", create_payload_without_function_refused,
     NEEDS_HOST_KERNELS},
    {"create_missing_library_refused", create_missing_library_refused, NEEDS_HOST_KERNELS},
    {"create_missing_symbol_refused", create_missing_symbol_refused, NEEDS_HOST_KERNELS},
    {"create_bad_constants_refused", create_bad_constants_refused, 0},
    {"create_too_many_specialization_values_refused", create_too_many_specialization_values_refused,
     0},
    {"create_bad_bindings_refused", create_bad_bindings_refused, 0},
    {"create_too_many_bindings_refused", create_too_many_bindings_refused, 0},
    {"create_large_local_size_refused", create_large_local_size_refused, 0},
    {"create_copies_label_and_reports_constants_size",
     create_copies_label_and_reports_constants_size, 0},
    {"create_copies_its_desc", create_copies_its_desc, 0},
    {"create_largest_constants_accepted", create_largest_constants_accepted, 0},
    {"library_kernel_runs", library_kernel_runs, NEEDS_HOST_KERNELS},
    {"other_payload_beside_is_ignored", other_payload_beside_is_ignored, NEEDS_HOST_KERNELS},
};

const struct conformance_group kernel_cases = {"kernel", cases, COUNT_OF(cases)};
