/*
 * dispatcher_twin.c: plain enqueues and a resident dispatcher, compared.
 */
#include "opencl/dispatcher_twin.h"

#define BUFFERS      3
#define BUFFER_BYTES 65536u

struct twin_layout twin_lay_out(const char *arguments)
{
    struct twin_layout layout = {0};
    uint32_t offset = 0;
    for (const char *c = arguments; *c; c++) {
        struct vyre_cl_argument *argument = &layout.arguments[layout.count++];
        if (*c == 'g' || *c == 'c') {
            argument->kind = *c == 'g' ? VYRE_CL_ARGUMENT_GLOBAL : VYRE_CL_ARGUMENT_CONSTANT;
            argument->address = layout.addresses++;
        } else if (*c == 'l') {
            argument->kind = VYRE_CL_ARGUMENT_LOCAL;
            argument->size_bytes = 512;
        } else {
            argument->kind = VYRE_CL_ARGUMENT_SCALAR;
            argument->size_bytes = (uint32_t)(*c - '0');
            offset = (offset + argument->size_bytes - 1) & ~(argument->size_bytes - 1);
            argument->offset_bytes = offset;
            offset += argument->size_bytes;
        }
    }
    layout.constants_bytes = offset;
    return layout;
}

/* Small numbers, so that kernels may use scalars as counts; 3 is also a harmless float pattern. */
static void fill_constants(unsigned char constants[128], const struct twin_layout *layout,
                           uint32_t round)
{
    memset(constants, 0, 128);
    for (uint32_t i = 0; i < layout->count; i++) {
        if (layout->arguments[i].kind == VYRE_CL_ARGUMENT_SCALAR)
            constants[layout->arguments[i].offset_bytes] = (unsigned char)(3 + i + round);
    }
}

static void fill_buffers(unsigned char *const *buffers)
{
    for (uint32_t b = 0; b < BUFFERS; b++) {
        uint32_t state = 12345 + b;
        for (uint32_t i = 0; i < BUFFER_BYTES / 4; i++) {
            state = state * 1664525u + 1013904223u;
            uint32_t word = state >> 12 & 0xffff;
            memcpy(buffers[b] + 4 * (size_t)i, &word, 4);
        }
    }
}

static size_t use_count(const struct twin_case *twin)
{
    size_t count = 0;
    while (count < 4 && twin->uses[count].entry)
        count++;
    return count;
}

static void run_plain(struct cl_host *host, const struct twin_case *twin, const char *options,
                      unsigned char *const *buffers, uint32_t rounds)
{
    cl_program program = host_build(host, twin->source, strlen(twin->source), options);
    for (uint32_t r = 0; r < rounds; r++) {
        for (size_t u = 0; u < use_count(twin); u++) {
            const struct use *use = &twin->uses[u];
            struct twin_layout layout = twin_lay_out(use->arguments);
            unsigned char constants[128];
            cl_int error = 0;
            cl_kernel kernel = clCreateKernel(program, use->entry, &error);
            assert_int_equal(error, CL_SUCCESS);
            fill_constants(constants, &layout, r);
            for (uint32_t i = 0; i < layout.count; i++) {
                const struct vyre_cl_argument *argument = &layout.arguments[i];
                if (argument->kind == VYRE_CL_ARGUMENT_SCALAR)
                    error = clSetKernelArg(kernel, i, argument->size_bytes,
                                           constants + argument->offset_bytes);
                else if (argument->kind == VYRE_CL_ARGUMENT_LOCAL)
                    error = clSetKernelArg(kernel, i, argument->size_bytes, NULL);
                else
                    error = clSetKernelArgSVMPointer(kernel, i, buffers[argument->address]);
                assert_int_equal(error, CL_SUCCESS);
            }
            size_t local[3];
            size_t global[3];
            for (size_t d = 0; d < 3; d++) {
                local[d] = twin->local_size[d];
                global[d] = local[d] * use->groups[d];
            }
            assert_int_equal(
                clEnqueueNDRangeKernel(host->queue, kernel, 3, NULL, global, local, 0, NULL, NULL),
                CL_SUCCESS);
            assert_int_equal(clFinish(host->queue), CL_SUCCESS);
            clReleaseKernel(kernel);
        }
    }
    clReleaseProgram(program);
}

static void run_resident(struct cl_host *host, const struct twin_case *twin, const char *options,
                         unsigned char *const *buffers, uint32_t rounds,
                         enum vyre_cl_dispatcher_form form, uint32_t resident_groups)
{
    struct twin_layout layouts[4];
    struct vyre_cl_dispatcher_kernel kernels[4];
    size_t count = use_count(twin);
    for (size_t u = 0; u < count; u++) {
        layouts[u] = twin_lay_out(twin->uses[u].arguments);
        kernels[u] = (struct vyre_cl_dispatcher_kernel){
            .entry = twin->uses[u].entry,
            .arguments = layouts[u].arguments,
            .argument_count = layouts[u].count,
            .address_count = layouts[u].addresses,
        };
    }
    struct vyre_cl_dispatcher_input input = {
        .source = twin->source,
        .source_bytes = strlen(twin->source),
        .defines = twin->defines,
        .kernels = kernels,
        .kernel_count = count,
        .resident_groups = resident_groups,
        .form = form,
    };
    while (input.define_count < 3 && twin->defines[input.define_count])
        input.define_count++;
    memcpy(input.local_size, twin->local_size, sizeof input.local_size);
    struct cl_resident resident;
    resident_open(&resident, host, &input, options);
    uint32_t last = 0;
    for (uint32_t r = 0; r < rounds; r++) {
        for (size_t u = 0; u < count; u++) {
            unsigned char constants[128];
            fill_constants(constants, &layouts[u], r);
            last = resident_push(&resident, (uint32_t)u, twin->uses[u].groups,
                                 VYRE_CL_SLOT_AFTER_ALL, (void *const *)buffers,
                                 layouts[u].addresses, constants, layouts[u].constants_bytes);
        }
        if (r % 3 == 0)
            resident_wait(&resident, last);
    }
    resident_wait(&resident, last);
    resident_close(&resident);
}

static void compare(struct cl_host *host, const struct twin_case *twin,
                    enum vyre_cl_dispatcher_form form, uint32_t resident_groups)
{
    unsigned char *plain[BUFFERS];
    unsigned char *resident[BUFFERS];
    char options[256] = "-cl-std=CL3.0"; /* both sides are built alike */
    for (size_t i = 0; i < 3 && twin->defines[i]; i++)
        snprintf(options + strlen(options), sizeof options - strlen(options), " -D%s",
                 twin->defines[i]);
    for (uint32_t b = 0; b < BUFFERS; b++) {
        plain[b] = host_memory(host, BUFFER_BYTES);
        resident[b] = host_memory(host, BUFFER_BYTES);
    }
    fill_buffers(plain);
    fill_buffers(resident);
    unsigned char before[64];
    memcpy(before, plain[0], 64);
    run_plain(host, twin, options, plain, 10);
    run_resident(host, twin, options, resident, 10, form, resident_groups);
    for (uint32_t b = 0; b < BUFFERS; b++)
        assert_memory_equal(plain[b], resident[b], BUFFER_BYTES);
    assert_memory_not_equal(plain[0], before, 64); /* the kernel did something */
    for (uint32_t b = 0; b < BUFFERS; b++) {
        host_free(host, plain[b]);
        host_free(host, resident[b]);
    }
}

void twin_compare_all(void **state, const struct twin_case *twin, bool looped)
{
    struct cl_host *host = *state;
    if (looped) {
        compare(host, twin, VYRE_CL_FORM_LOOPED, 1);
        compare(host, twin, VYRE_CL_FORM_LOOPED, 2);
    } else {
        compare(host, twin, VYRE_CL_FORM_AUTO, 2);
    }
    compare(host, twin, VYRE_CL_FORM_GROUPED, 1);
}

int twin_open(void **state)
{
    static struct cl_host host;
    host_open(&host);
    *state = &host;
    return 0;
}

int twin_close(void **state)
{
    host_close(*state);
    return 0;
}
