/*
 * dispatcher_device_test.c: generated dispatchers on a real OpenCL device.
 *
 * Each case runs kernels of one source twice on equal inputs: by plain enqueues of the untouched source
 * and by a resident dispatcher. All buffers must be equal to the byte afterwards.
 */
#include "opencl/dispatcher_host.h"

#define BUFFERS      3
#define BUFFER_BYTES 65536u

struct use {
    const char *entry;
    const char
        *arguments; /* g, c: next buffer; l: 512 bytes of local memory; 1, 2, 4, 8: a scalar */
    uint32_t groups[3];
};

struct twin_case {
    const char *source;
    const char *options;
    const char *defines[3];
    uint32_t local_size[3];
    struct use uses[4];
};

struct layout {
    struct vyre_cl_argument arguments[12];
    uint32_t count;
    uint32_t addresses;
    uint32_t constants_bytes;
};

static struct layout lay_out(const char *arguments)
{
    struct layout layout = {0};
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
static void fill_constants(unsigned char constants[128], const struct layout *layout,
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
            struct layout layout = lay_out(use->arguments);
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
    struct layout layouts[4];
    struct vyre_cl_dispatcher_kernel kernels[4];
    size_t count = use_count(twin);
    for (size_t u = 0; u < count; u++) {
        layouts[u] = lay_out(twin->uses[u].arguments);
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

/* Alone and with others, looped where that is allowed, grouped in any case. */
static void compare_all(void **state, const struct twin_case *twin, bool looped)
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

static void dispatcher_saxpy_equals_enqueue(void **state)
{
    static const struct twin_case twin = {
        .source =
            "__kernel void saxpy(__global float *restrict y, __global const float *restrict x,\n"
            "                    const float a, uint n)\n"
            "{\n"
            "    size_t i = get_global_id(0);\n"
            "    if (i >= n * 100)\n"
            "        return;\n"
            "    y[i] = a * convert_float(((__global uint *)x)[i]) + 1.5f;\n"
            "}\n",
        .local_size = {64, 1, 1},
        .uses = {{"saxpy", "gg44", {11, 1, 1}}},
    };
    compare_all(state, &twin, true);
}

static void dispatcher_ids_in_helpers_equal_enqueue(void **state)
{
    static const struct twin_case twin = {
        .source =
            "/* get_global_id(9) in a comment; \"quoted\" */\n"
            "#define GID(d) get_global_id(d)\n"
            "#define APPLY(f, x) f(x)\n"
            "#define CAT(a, b) a ## b\n"
            "#define LONG(a) \\\n"
            "    (a) + \\\n"
            "    1u // with a \\\n continuation\n"
            "uint outer(uint x);\n"
            "static inline uint inner(void) { return (uint)(get_group_id(0) * 31 + get_group_id(1) "
            "* 7 +\n"
            "    get_num_groups(2) + get_local_id(0) + get_local_id(2) * 5); }\n"
            "uint outer(uint x) { return x * 3u + inner() + APPLY(convert_uint, 2.0f); }\n"
            "static uint nobody(uint x) { return x + inner(); }\n"
            "__kernel void ids(__global uint *out) {\n"
            "    size_t at = GID(0) + get_global_size(0) * (GID(1) + get_global_size(1) * "
            "GID(2));\n"
            "    uint outer_value = APPLY(outer, (uint)at);\n"
            "    out[at] = LONG(outer_value) + (uint)CAT(get_local_, size)(1) +\n"
            "        (uint)(get_global_linear_id() * 3 + get_local_linear_id()) + get_work_dim() "
            "+\n"
            "        (uint)(get_global_id(3) + get_local_size(3) * 2 + get_global_offset(1)) +\n"
            "        (uint)get_num_groups(7) + (uint)get_global_size(CAT(0, x2));\n"
            "}\n",
        .options = "",
        .local_size = {4, 3, 2},
        .uses = {{"ids", "g", {5, 4, 3}}},
    };
    compare_all(state, &twin, true);
}

static void dispatcher_continued_lines_equal_enqueue(void **state)
{
    static const struct twin_case twin = {
        .source = "#define STEP(a,\\\nb) \\\n    do{\\\n        (a)+=(b);\\\n        /* *\\\n"
                  "         */\\\n    }\\\nwhile(0)\n"
                  "#define TWICE(a)\\\r\n((a)\\\r\n*2)\r\n"
                  "#define SUM(a, b) (a) \\  \n + (b)\n"
                  "#define CALL\\\n(f) f(3u)\n"
                  "uint add(uint x)\\\n{return\\\n x+\\\n1;}\\\n\n"
                  "__kernel void use(__global uint *out) {\n"
                  "    __local uint t[4\\\n+4];\n"
                  "    uint i = get_global_id(0), l = get_local_id(0);\n"
                  "    t[l] = out[i];\n"
                  "    STEP(t[l],\\\nTWICE(i));\n"
                  "    out[i] = SUM(t[l], sizeof(t)) + CALL(add);\n"
                  "}\n",
        .local_size = {8, 1, 1},
        .uses = {{"use", "g", {5, 1, 1}}},
    };
    compare_all(state, &twin, true);
}

static void dispatcher_arguments_of_ids_are_evaluated_once(void **state)
{
    static const struct twin_case twin = {
        .source = "__kernel void once(__global uint *out) {\n"
                  "    uint d = 0, sum = 0;\n"
                  "    size_t at = get_global_linear_id();\n"
                  "    sum = sum * 3 + (uint)get_global_id(d++);\n"
                  "    sum = sum * 3 + (uint)get_local_id(d++);\n"
                  "    sum = sum * 3 + (uint)get_group_id(--d);\n"
                  "    sum = sum * 3 + (uint)get_num_groups(d--);\n"
                  "    sum = sum * 3 + (uint)get_global_size(d += 1);\n"
                  "    sum = sum * 3 + (uint)get_local_size(d = d * 2);\n"
                  "    sum = sum * 3 + (uint)get_enqueued_local_size(d++);\n"
                  "    sum = sum * 3 + (uint)get_global_offset(d++);\n"
                  "    out[at] = sum * 16 + d;\n"
                  "}\n",
        .local_size = {4, 3, 2},
        .uses = {{"once", "g", {5, 4, 3}}},
    };
    compare_all(state, &twin, true);
}

static void dispatcher_directives_of_functions_left_out_are_kept(void **state)
{
    static const struct twin_case twin = {
        .source = "#define TILE 4\n"
                  "#define DEAD 1\n"
                  "__kernel void other(__global uint *out) {\n"
                  "#undef TILE /* over\n two lines */\n"
                  "#define TILE 8\n"
                  "#define ADD(a, b) \\\n    ((a) + \\\n     (b)) // with a comment\n"
                  "#ifdef DEAD\n"
                  "#undef DEAD\n"
                  "#else\n"
                  "#define NEVER 3\n"
                  "#endif\n"
                  "#pragma unroll\n"
                  "    for (uint i = 0; i < TILE; i++)\n"
                  "        out[i] = ADD(i, 1);\n"
                  "}\n"
                  "#ifdef DEAD\n"
                  "#define LEFT 100\n"
                  "#else\n"
                  "#define LEFT 200\n"
                  "#endif\n"
                  "#ifdef NEVER\n"
                  "#undef LEFT\n"
                  "#endif\n"
                  "__kernel void use(__global uint *out) {\n"
                  "    out[get_global_id(0)] = ADD(TILE, LEFT) * (uint)get_global_id(0);\n"
                  "}\n",
        .local_size = {16, 1, 1},
        .uses = {{"use", "g", {5, 1, 1}}},
    };
    compare_all(state, &twin, true);
}

/* Builds the dispatcher of a kernel `k` with one buffer; the driver's code and what it says. */
static cl_int build_dispatcher(struct cl_host *host, const char *source, const char *options,
                               char *out_log, size_t log_bytes)
{
    static const struct vyre_allocator none;
    struct layout layout = lay_out("g");
    const struct vyre_cl_dispatcher_kernel kernel = {
        .entry = "k", .arguments = layout.arguments, .argument_count = 1, .address_count = 1};
    const struct vyre_cl_dispatcher_input input = {.source = source,
                                                   .source_bytes = strlen(source),
                                                   .kernels = &kernel,
                                                   .kernel_count = 1,
                                                   .local_size = {8, 1, 1}};
    struct vyre_cl_dispatcher_output output;
    struct vyre_diag diag;
    cl_int code;
    if (vyre_cl_dispatcher_generate(&none, &input, &output, &diag) != VYRE_OK)
        fail_msg("refused: %s", diag.message);
    cl_program program =
        clCreateProgramWithSource(host->context, 1, (const char **)&output.source, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    code = clBuildProgram(program, 1, &host->device, options, NULL, NULL);
    assert_int_equal(clGetProgramBuildInfo(program, host->device, CL_PROGRAM_BUILD_LOG, log_bytes,
                                           out_log, NULL),
                     CL_SUCCESS);
    clReleaseProgram(program);
    vyre_cl_dispatcher_free(&none, &output);
    return code;
}

/*
 * A variable that outlives calls behind a macro: the program has one, a dispatcher would have its own. Only
 * OpenCL C 2.0 has such variables, and there PoCL builds no dispatcher anyway: it must be one reason more.
 */
static void dispatcher_of_hidden_static_variable_does_not_build(void **state)
{
    static const char *const changing[] = {
        "#define KEPT static __global\n"
        "__kernel void k(__global uint *o) { KEPT uint n; o[0] = n++; }\n",
        "#define KEPT static\n"
        "__kernel void k(__global uint *o) { KEPT uint n; o[0] = n++; }\n",
    };
    static const char *const constant[] = {
        "__kernel void k(__global uint *o) { static __constant uint n = 3; o[0] = n; }\n",
        "#define KEPT static __constant\n"
        "static uint f(void) { KEPT uint n = 3; return n; }\n"
        "__kernel void k(__global uint *o) { __constant static uint n = 3; o[0] = n + f(); }\n",
    };
    static char log[65536];
    struct cl_host *host = *state;
    for (size_t i = 0; i < COUNT_OF(changing); i++) {
        clReleaseProgram(host_build(host, changing[i], strlen(changing[i]), "-cl-std=CL2.0"));
        assert_int_not_equal(build_dispatcher(host, changing[i], "-cl-std=CL2.0", log, sizeof log),
                             CL_SUCCESS);
        assert_contains(log, "address space");
    }
    for (size_t i = 0; i < COUNT_OF(constant); i++) {
        if (build_dispatcher(host, constant[i], "-cl-std=CL3.0", log, sizeof log) != CL_SUCCESS)
            fail_msg("%s", log);
    }
}

/* The reader does not see what macros declare in a body; the compiler does. */
static void dispatcher_of_local_type_that_differs_inside_does_not_build(void **state)
{
    static const char *const sources[] = {
        "enum { N = 4 };\n#define DECLARE(n) enum { n = 8 }\n"
        "__kernel void k(__global uint *o) { DECLARE(N); __local uint t[N];\n"
        "    t[get_local_id(0)] = 1; o[get_global_id(0)] = sizeof(t); }\n",
        "enum { NM = 4 };\n#define CAT(a, b) a##b\n"
        "__kernel void k(__global uint *o) { enum { CAT(N, M) = 8 }; __local uint t[NM];\n"
        "    t[get_local_id(0)] = 1; o[get_global_id(0)] = sizeof(t); }\n",
        "enum { M = 4 };\n#define N M\n"
        "__kernel void k(__global uint *o) { enum { M = 8 }; __local uint t[N];\n"
        "    t[get_local_id(0)] = 1; o[get_global_id(0)] = sizeof(t); }\n",
        "typedef uint T;\n#define ALIAS(t, n) typedef t n\n"
        "__kernel void k(__global uint *o) { ALIAS(float, T); __local T v[8];\n"
        "    v[get_local_id(0)] = 0.5f; o[get_global_id(0)] = v[get_local_id(0)] * 2.0f; }\n",
    };
    static char log[65536];
    struct cl_host *host = *state;
    for (size_t i = 0; i < COUNT_OF(sources); i++) {
        clReleaseProgram(host_build(host, sources[i], strlen(sources[i]), "-cl-std=CL3.0"));
        assert_int_not_equal(build_dispatcher(host, sources[i], "-cl-std=CL3.0", log, sizeof log),
                             CL_SUCCESS);
        assert_contains(log, "vyre_same_0");
    }
}

/* A name that only "##" makes brings in what no kernel was seen to reach. */
static void dispatcher_of_pasted_place_does_not_build(void **state)
{
    static const char *const sources[] = {
        "#define HERE_NOW __LINE__\n#define CAT(a, b) a##b\n"
        "__kernel void k(__global uint *o) { o[get_global_id(0)] = CAT(HERE_, NOW); }\n",
        "#define CAT(a, b) a##b\n"
        "__kernel void k(__global uint *o) { o[get_global_id(0)] = CAT(__LI, NE__); }\n",
        "#define HERE_NOW __LINE__\n#define CAT(a, b) a##b\n#if CAT(HERE_, NOW) > 4\n"
        "#define N 1\n#else\n#define N 2\n#endif\n"
        "__kernel void k(__global uint *o) { o[get_global_id(0)] = N; }\n",
    };
    static char log[65536];
    struct cl_host *host = *state;
    for (size_t i = 0; i < COUNT_OF(sources); i++) {
        clReleaseProgram(host_build(host, sources[i], strlen(sources[i]), "-cl-std=CL3.0"));
        assert_int_not_equal(build_dispatcher(host, sources[i], "-cl-std=CL3.0", log, sizeof log),
                             CL_SUCCESS);
    }
}

static void dispatcher_of_unused_place_equals_enqueue(void **state)
{
    static const struct twin_case twin = {
        .source = "#define CHECK(c) if (!(c)) printf(\"%s:%d\", __FILE__, __LINE__)\n"
                  "#define NAME(a) a##_one\n"
                  "void debug(uint x) { CHECK(x); }\n"
                  "__kernel void use(__global uint *out) {\n"
                  "    uint add_one = 1;\n"
                  "    out[get_global_id(0)] += NAME(add);\n"
                  "}\n",
        .local_size = {16, 1, 1},
        .uses = {{"use", "g", {5, 1, 1}}},
    };
    compare_all(state, &twin, true);
}

static void dispatcher_version_of_the_language_equals_enqueue(void **state)
{
    static const struct twin_case twin = {
        .source = "#if __OPENCL_C_VERSION__ >= 300\n#define A 3\n"
                  "#elif __OPENCL_C_VERSION__ >= 200\n#define A 2\n#else\n#define A 1\n#endif\n"
                  "#if defined(__opencl_c_generic_address_space) && defined(__has_builtin)\n"
                  "#define B 10\n#else\n#define B 20\n#endif\n"
                  "__kernel void use(__global uint *out) {\n"
                  "    out[get_global_id(0)] += A + B + __OPENCL_C_VERSION__;\n"
                  "}\n",
        .local_size = {16, 1, 1},
        .uses = {{"use", "g", {5, 1, 1}}},
    };
    compare_all(state, &twin, true);
}

/* Conditionals in heads, decided one way and the other. */
static void dispatcher_conditional_parameters_equal_enqueue(void **state)
{
    static const char source[] =
        "#ifndef WIDE\n#define WIDE 1\n#endif\n"
        "uint mix(uint a\n"
        "#if WIDE > 1 // the second\n"
        "         , uint b /* )\n */\n"
        "#endif\n"
        "         );\n"
        "uint mix(\n"
        "#if WIDE > 1\n"
        "         uint a, uint b)\n"
        "#else\n"
        "         uint a)\n"
        "#endif\n"
        "{\n"
        "#if WIDE > 1\n"
        "    return a * 31 + b + get_local_id(0);\n"
        "#else\n"
        "    return a * 7 + get_local_id(0);\n"
        "#endif\n"
        "}\n"
        "__kernel\n"
        "#ifdef SHAPE\n"
        "__attribute__((reqd_work_group_size(SHAPE, 1, 1)))\n"
        "#endif\n"
        "void use(__global uint *out,\n"
        "#if defined(SCALED) && WIDE > 1\n"
        "    const uint scale, __local uint *room,\n"
        "#elif defined(SCALED)\n"
        "    ulong scale,\n"
        "#endif\n"
        "    __global\n"
        "#ifdef SIGNED\n"
        "    int\n"
        "#else\n"
        "    uint\n"
        "#endif\n"
        "    *in)\n"
        "{\n"
        "    uint i = get_global_id(0);\n"
        "#if WIDE > 1\n"
        "    out[i] += mix(in[i], i);\n"
        "#else\n"
        "    out[i] += mix(in[i]);\n"
        "#endif\n"
        "#ifdef SCALED\n"
        "    out[i] *= (uint)scale;\n"
        "#if WIDE > 1\n"
        "    room[get_local_id(0)] = out[i]; out[i] += room[get_local_id(0)];\n"
        "#endif\n"
        "#endif\n"
        "}\n";
    static const struct twin_case twins[] = {
        {.source = source, .local_size = {16, 1, 1}, .uses = {{"use", "gg", {5, 1, 1}}}},
        {.source = source,
         .defines = {"SCALED=1", "SHAPE=16"},
         .local_size = {16, 1, 1},
         .uses = {{"use", "g8g", {5, 1, 1}}}},
        {.source = source,
         .defines = {"SCALED", "WIDE=2", "SIGNED"},
         .local_size = {16, 1, 1},
         .uses = {{"use", "g4lg", {5, 1, 1}}}},
    };
    for (size_t i = 0; i < COUNT_OF(twins); i++)
        compare_all(state, &twins[i], true);
}

/* The reader takes what nothing defines for undefined and knows no unsigned numbers; the compiler does. */
static void dispatcher_of_conditional_that_comes_out_otherwise_does_not_build(void **state)
{
    static const char *const sources[] = {
        "__kernel void k(\n#ifdef __clang__\n__global uint *o\n#else\n__global int *o\n#endif\n)\n"
        "{ o[get_global_id(0)] = 1; }\n",
        "__kernel void k(__global uint *o\n#ifndef __clang__\n#else\n#endif\n)\n"
        "{ o[get_global_id(0)] = 1; }\n",
        "__kernel void k(__global\n#if -1 > 0u\nuint\n#else\nint\n#endif\n*o)\n"
        "{ o[get_global_id(0)] = 1; }\n",
        "void unused(int a\n#ifdef __clang__\n#define N 5\n, int b\n#endif\n) {}\n"
        "#ifndef N\n#define N 3\n#endif\n"
        "__kernel void k(__global uint *o) { o[get_global_id(0)] = N; }\n",
    };
    static char log[65536];
    struct cl_host *host = *state;
    for (size_t i = 0; i < COUNT_OF(sources); i++) {
        clReleaseProgram(host_build(host, sources[i], strlen(sources[i]), "-cl-std=CL3.0"));
        assert_int_not_equal(build_dispatcher(host, sources[i], "-cl-std=CL3.0", log, sizeof log),
                             CL_SUCCESS);
        assert_contains(log, "comes out otherwise");
    }
    /* Of two definitions the other one is read: nothing calls it. */
    static const char twice[] =
        "#ifdef __clang__\n__kernel void k(__global uint *o) { o[get_global_id(0)] = 1; }\n#else\n"
        "__kernel void k(__global uint *o) { o[get_global_id(0)] = 2; }\n#endif\n";
    clReleaseProgram(host_build(host, twice, strlen(twice), "-cl-std=CL3.0"));
    assert_int_not_equal(build_dispatcher(host, twice, "-cl-std=CL3.0", log, sizeof log),
                         CL_SUCCESS);
}

static void dispatcher_kernel_in_two_branches_equals_enqueue(void **state)
{
    static const char source[] =
        "#if TILED\n"
        "__kernel void use(__global uint *out) {\n"
        "    __local uint t[16];\n"
        "    t[get_local_id(0)] = out[get_global_id(0)];\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    out[get_global_id(0)] += t[15 - get_local_id(0)];\n"
        "}\n"
        "#else\n"
        "__kernel void use(__global uint *o) { o[get_global_id(0)] *= 3; }\n"
        "#endif\n";
    static const struct twin_case twins[] = {
        {.source = source, .local_size = {16, 1, 1}, .uses = {{"use", "g", {3, 1, 1}}}},
        {.source = source,
         .local_size = {16, 1, 1},
         .uses = {{"use", "g", {3, 1, 1}}},
         .defines = {"TILED=1"}},
    };
    for (size_t i = 0; i < COUNT_OF(twins); i++)
        compare_all(state, &twins[i], false);
}

/* Local variables that are there or not, and names that mean something else where they are not. */
static void dispatcher_local_variables_under_conditionals_equal_enqueue(void **state)
{
    static const char source[] =
        "constant uint table[16] = {5, 6, 7, 8, 9};\n"
        "uint early(void) { return table[1]; }\n"
        "__kernel void use(__global uint *out) {\n"
        "    uint i = get_global_id(0), l = get_local_id(0);\n"
        "    uint sum = early() + table[2];\n"
        "#ifdef SHARED\n"
        "    __local uint table[16];\n"
        "    table[l] = out[i];\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "#endif\n"
        "#if ROOM > 16\n"
        "    __local uint room[ROOM];\n"
        "#else\n"
        "    __local uint room[16], more;\n"
        "    more = 7;\n"
        "#endif\n"
        "    room[l] = table[15 - l];\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    out[i] += sum + room[15 - l] * 3 + sizeof(room) + sizeof(table);\n"
        "}\n";
    static const struct twin_case twins[] = {
        {.source = source,
         .local_size = {16, 1, 1},
         .uses = {{"use", "g", {3, 1, 1}}},
         .defines = {"ROOM=16"}},
        {.source = source,
         .local_size = {16, 1, 1},
         .uses = {{"use", "g", {3, 1, 1}}},
         .defines = {"ROOM=32", "SHARED"}},
    };
    for (size_t i = 0; i < COUNT_OF(twins); i++)
        compare_all(state, &twins[i], false);
}

static void dispatcher_local_type_used_in_products_equals_enqueue(void **state)
{
    static const struct twin_case twin = {
        .source =
            "#define N 8\n"
            "__kernel void multiply(__global uint *c, __global const uint *a,\n"
            "                       __global const uint *b) {\n"
            "    int bx = get_group_id(0), by = get_group_id(1);\n"
            "    int tx = get_local_id(0), ty = get_local_id(1);\n"
            "    int col = (bx*N)+tx, row = (by*N)+ty, width = (int)get_num_groups(0)*N;\n"
            "    local uint s[N][N], t[N][N];\n"
            "    uint sum = 0;\n"
            "    for (int m = 0; m < width / N; m++) {\n"
            "        s[ty][tx] = a[row * width + (m*N)+tx]; t[ty][tx] = b[((m*N)+ty) * width + "
            "col];\n"
            "        barrier(CLK_LOCAL_MEM_FENCE);\n"
            "        for (int k = 0; k < N; k++) sum += s[ty][k] * t[k][tx];\n"
            "        barrier(CLK_LOCAL_MEM_FENCE);\n"
            "    }\n"
            "    c[row * width + col] = sum + sizeof(s);\n"
            "}\n",
        .local_size = {8, 8, 1},
        .uses = {{"multiply", "ggg", {4, 4, 1}}},
    };
    compare_all(state, &twin, false);
}

static void dispatcher_scalars_of_mixed_sizes_equal_enqueue(void **state)
{
    static const struct twin_case twin = {
        .source =
            "typedef struct { uint a; ulong b; } pair;\n"
            "constant uint table[4] = {1, 20, 300, 4000};\n"
            "kernel void mixed(global uint *out, uint a, ulong b, int c, const long d, uchar e,\n"
            "                  double f, constant uint *t) {\n"
            "    pair p = {a, b};\n"
            "    uint i = get_global_id(0);\n"
            "    out[i] += p.a + (uint)p.b * 3 + (uint)c * 5 + (uint)d * 7 + e * 11u +\n"
            "              as_uint2(f).x + table[i & 3] + t[i];\n"
            "}\n",
        .local_size = {16, 1, 1},
        .uses = {{"mixed", "g484818c", {3, 1, 1}}},
    };
    compare_all(state, &twin, true);
}

static void dispatcher_local_arrays_and_barriers_equal_enqueue(void **state)
{
    static const struct twin_case twin = {
        .source = "#define TILE 8\n"
                  "#define COUNT(x) (sizeof(x) / sizeof((x)[0]))\n"
                  "#define AT(r, c) tile[r][c]\n"
                  "__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))\n"
                  "void transpose(__global uint *out, __global const uint *in)\n"
                  "{\n"
                  "    __local uint tile[TILE][TILE + 1], sums[TILE];\n"
                  "    __local int total;\n"
                  "    uint x = get_local_id(0), y = get_local_id(1);\n"
                  "    uint w = get_global_size(0);\n"
                  "    if (x == 0 && y == 0) total = 0;\n"
                  "    AT(y, x) = in[get_global_id(1) * w + get_global_id(0)];\n"
                  "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                  "    if (y == 0) {\n"
                  "        uint s = 0;\n"
                  "        for (uint i = 0; i < COUNT(tile); i++) s += tile[i][x];\n"
                  "        sums[x] = s;\n"
                  "    }\n"
                  "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                  "    __local uint *p = &sums[0];\n"
                  "    atomic_add(&total, (int)p[x]);\n"
                  "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                  "    out[get_global_id(1) * w + get_global_id(0)] =\n"
                  "        AT(x, y) + sums[y] * 3 + (uint)total + (uint)sizeof(sums) + "
                  "(uint)sizeof tile;\n"
                  "}\n",
        .local_size = {8, 8, 1},
        .uses = {{"transpose", "gg", {4, 4, 1}}},
    };
    compare_all(state, &twin, false);
}

static void dispatcher_types_with_operators_equal_enqueue(void **state)
{
    static const struct twin_case twin = {
        .source = "#define BITS 5\n"
                  "struct pair { uint a[1<<1]; } split(uint x) {\n"
                  "    struct pair p = {{x & 31, x >> 8}}; return p; }\n"
                  "__kernel void histogram(__global uint *out, __global const uint *in) {\n"
                  "    local uint h[1 << BITS], g[BITS >= 5 && BITS != 6 ? 32>>0 : 1];\n"
                  "    uint l = get_local_id(0);\n"
                  "    h[l] = 0; g[l] = 0;\n"
                  "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                  "    atomic_inc(&h[in[get_global_id(0)] & ((1 << BITS) - 1)]);\n"
                  "    atomic_inc(&g[split(in[get_global_id(0)]).a[0]]);\n"
                  "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                  "    out[get_global_id(0)] = h[l] * 7 + g[31 - l] + sizeof(h);\n"
                  "}\n",
        .local_size = {32, 1, 1},
        .uses = {{"histogram", "gg", {4, 1, 1}}},
    };
    compare_all(state, &twin, false);
}

static void dispatcher_local_arguments_equal_enqueue(void **state)
{
    static const struct twin_case twin = {
        .source =
            "void reduce(__local uint *m, uint n) {\n"
            "    for (uint s = n / 2; s > 0; s /= 2) {\n"
            "        if (get_local_id(0) < s) m[get_local_id(0)] += m[get_local_id(0) + s];\n"
            "        barrier(CLK_LOCAL_MEM_FENCE);\n"
            "    }\n"
            "}\n"
            "__kernel void sum(__global uint *out, __local uint *m, __global const uint *in,\n"
            "                  __local uint *unused, uint k) {\n"
            "    m[get_local_id(0)] = in[get_global_id(0)] * k;\n"
            "    barrier(CLK_LOCAL_MEM_FENCE);\n"
            "    reduce(m, (uint)get_local_size(0));\n"
            "    if (get_local_id(0) == 0) out[get_group_id(0)] = m[0];\n"
            "}\n",
        .local_size = {64, 1, 1},
        .uses = {{"sum", "glgl4", {9, 1, 1}}},
    };
    compare_all(state, &twin, false);
}

static void dispatcher_local_memory_without_barrier_equals_enqueue(void **state)
{
    static const struct twin_case twin = {
        .source =
            "__kernel void own(__global uint *out, __local uint *m) {\n"
            "    __local uint mine[32];\n"
            "    uint priv[4];\n"
            "    uint l = get_local_id(0);\n"
            "    for (uint i = 0; i < 4; i++) priv[(i + l) & 3] = out[get_global_id(0)] + i;\n"
            "    mine[l] = priv[l & 3]; m[l] = mine[l] + priv[0];\n"
            "    out[get_global_id(0)] = m[l] * 3u + priv[(l >> 1) & 3] + sizeof(mine);\n"
            "}\n",
        .local_size = {32, 1, 1},
        .uses = {{"own", "gl", {7, 1, 1}}},
    };
    compare_all(state, &twin, true);
}

static void dispatcher_many_kernels_equal_enqueues(void **state)
{
    static const struct twin_case twin = {
        .source =
            "#ifndef REAL\n#define REAL float\n#endif\n"
            "#if STEP > 1\nuint step(uint x) { return x + STEP; }\n#else\n"
            "uint step(uint x) { return x; }\n#endif\n"
            "__kernel void one(__global uint *a, __global uint *b, uint k) {\n"
            "    uint i = get_global_id(0); if (i % 3 == 0) return; b[i] = step(a[i]) * k;\n}\n"
            "__kernel void two(__global uint *a, __global uint *b) {\n"
            "    __local REAL t[16];\n"
            "    uint l = get_local_id(0), i = get_global_id(0);\n"
            "    t[l] = b[i]; barrier(CLK_LOCAL_MEM_FENCE);\n"
            "    a[i] += (uint)t[15 - l] + (uint)sizeof(t);\n}\n"
            "__kernel void three(__global uint *a) { a[get_global_id(0)] ^= 0x55u; }\n"
            "__kernel void unused(__global uint *a) { printf(\"no\"); }\n",
        .defines = {"REAL=double", "STEP=5"},
        .local_size = {16, 1, 1},
        .uses = {{"one", "gg4", {4, 2, 1}}, {"two", "gg", {4, 1, 1}}, {"three", "g", {5, 1, 1}}},
    };
    compare_all(state, &twin, false);
}

static void dispatcher_kernel_calling_kernel_equals_enqueue(void **state)
{
    static const struct twin_case twin = {
        .source =
            "kernel void low(global int *a, int k) { a[get_global_id(0)] += k; }\n"
            "kernel void high(global int *a, int k) { if (get_local_id(0) & 1) low(a, k * 2); }\n",
        .local_size = {8, 1, 1},
        .uses = {{"high", "g4", {3, 1, 1}}, {"low", "g4", {2, 1, 1}}},
    };
    compare_all(state, &twin, true);
}

static void dispatcher_leaves_by_lease_and_is_launched_again(void **state)
{
    struct cl_host *host = *state;
    static const char source[] =
        "__kernel void count(__global uint *a) { a[get_global_id(0)] += 1; }\n";
    struct vyre_cl_argument argument = {.kind = VYRE_CL_ARGUMENT_GLOBAL};
    struct vyre_cl_dispatcher_kernel kernel = {
        .entry = "count", .arguments = &argument, .argument_count = 1, .address_count = 1};
    struct vyre_cl_dispatcher_input input = {.source = source,
                                             .source_bytes = sizeof source - 1,
                                             .kernels = &kernel,
                                             .kernel_count = 1,
                                             .local_size = {8, 1, 1}};
    for (uint32_t groups = 1; groups <= 2; groups++) {
        struct cl_resident resident;
        input.resident_groups = groups;
        resident_open(&resident, host, &input, "-cl-std=CL3.0");
        resident.ring->lease_turns = 7;
        uint32_t *data = host_memory(host, 4096);
        static const uint32_t some[3] = {2, 1, 1};
        static const uint32_t none[3] = {0, 1, 1};
        void *addresses[1] = {data};
        uint32_t last = 0;
        for (uint32_t i = 0; i < 60; i++) {
            resident_push(&resident, 0, none, i & 1, addresses, 1, NULL, 0);
            last = resident_push(&resident, 0, some, 1, addresses, 1, NULL, 0);
        }
        resident_wait(&resident, last);
        for (uint32_t i = 0; i < 32; i++)
            assert_int_equal(data[i], i < 16 ? 60 : 0);
        resident_stop(&resident);
        uint32_t reason = atomic_load(&resident.ring->leaving);
        assert_true(reason == VYRE_CL_EXIT_LEASE || reason == VYRE_CL_EXIT_STOP);
        resident_close(&resident);
        host_free(host, data);
    }
}

/*
 * What PoCL 3.1 gets wrong unless each case ends in a barrier of its own and nothing is merged with another
 * case: branches behind a barrier, tails that two kernels share, bounds checks behind a barrier.
 */
static void dispatcher_tails_behind_barriers_equal_enqueues(void **state)
{
    static const struct twin_case chain = {
        .source = "kernel void chain(global uint *out, global const uint *in) {\n"
                  "    uint g = get_global_id(0), c = in[g];\n"
                  "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                  "    if (c & 1) out[g] = 1; else if (c & 2) out[g] = 2; else out[g] = 3;\n"
                  "}\n",
        .local_size = {64, 1, 1},
        .uses = {{"chain", "gg", {7, 1, 1}}},
    };
    static const struct twin_case pair = {
        .source = "kernel void a(global uint *out) {\n"
                  "    uint x = get_local_id(0);\n"
                  "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                  "    if (x < 10) out[x] = 1;\n"
                  "}\n"
                  "kernel void b(global uint *unused, global uint *out) { out[0] = 1; }\n",
        .local_size = {64, 1, 1},
        .uses = {{"a", "g", {1, 1, 1}}, {"b", "gg", {1, 1, 1}}},
    };
    static const struct twin_case transpose = {
        .source = "kernel void turn(global uint *out, global const uint *in) {\n"
                  "    local uint tile[8][9];\n"
                  "    uint x = get_global_id(0), y = get_global_id(1);\n"
                  "    uint lx = get_local_id(0), ly = get_local_id(1);\n"
                  "    if (x < 60 && y < 40) tile[ly][lx] = in[y * 60 + x];\n"
                  "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                  "    x = get_group_id(1) * 8 + lx; y = get_group_id(0) * 8 + ly;\n"
                  "    if (x < 40 && y < 60) out[y * 40 + x] = tile[lx][ly];\n"
                  "}\n"
                  "kernel void copy(global uint *out, global const uint *in) {\n"
                  "    uint x = get_global_id(0), y = get_global_id(1);\n"
                  "    if (x < 40 && y < 60) out[y * 40 + x] = in[y * 40 + x];\n"
                  "}\n",
        .local_size = {8, 8, 1},
        .uses = {{"turn", "gg", {8, 5, 1}}, {"copy", "gg", {5, 8, 1}}},
    };
    static const struct twin_case early = {
        .source = "kernel void early(global uint *out, global const uint *in, uint n) {\n"
                  "    uint g = get_global_id(0), x = get_local_id(0);\n"
                  "    local uint s[64];\n"
                  "    if (get_group_id(0) >= n) return;\n"
                  "    s[x] = in[g];\n"
                  "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                  "    if (x < 10) out[g] = s[63 - x];\n"
                  "}\n"
                  "kernel void other(global uint *out, global const uint *in) {\n"
                  "    uint g = get_global_id(0);\n"
                  "    if (g < 10) out[g] = in[g + 1];\n"
                  "}\n",
        .local_size = {64, 1, 1},
        .uses = {{"early", "gg4", {9, 1, 1}}, {"other", "gg", {2, 1, 1}}},
    };
    compare_all(state, &chain, false);
    compare_all(state, &pair, false);
    compare_all(state, &transpose, false);
    compare_all(state, &early, false);
}

static int open_device(void **state)
{
    static struct cl_host host;
    host_open(&host);
    *state = &host;
    return 0;
}

static int close_device(void **state)
{
    host_close(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dispatcher_saxpy_equals_enqueue),
        cmocka_unit_test(dispatcher_ids_in_helpers_equal_enqueue),
        cmocka_unit_test(dispatcher_continued_lines_equal_enqueue),
        cmocka_unit_test(dispatcher_arguments_of_ids_are_evaluated_once),
        cmocka_unit_test(dispatcher_directives_of_functions_left_out_are_kept),
        cmocka_unit_test(dispatcher_of_hidden_static_variable_does_not_build),
        cmocka_unit_test(dispatcher_of_local_type_that_differs_inside_does_not_build),
        cmocka_unit_test(dispatcher_of_pasted_place_does_not_build),
        cmocka_unit_test(dispatcher_of_unused_place_equals_enqueue),
        cmocka_unit_test(dispatcher_version_of_the_language_equals_enqueue),
        cmocka_unit_test(dispatcher_conditional_parameters_equal_enqueue),
        cmocka_unit_test(dispatcher_of_conditional_that_comes_out_otherwise_does_not_build),
        cmocka_unit_test(dispatcher_kernel_in_two_branches_equals_enqueue),
        cmocka_unit_test(dispatcher_local_variables_under_conditionals_equal_enqueue),
        cmocka_unit_test(dispatcher_local_type_used_in_products_equals_enqueue),
        cmocka_unit_test(dispatcher_scalars_of_mixed_sizes_equal_enqueue),
        cmocka_unit_test(dispatcher_local_arrays_and_barriers_equal_enqueue),
        cmocka_unit_test(dispatcher_types_with_operators_equal_enqueue),
        cmocka_unit_test(dispatcher_local_arguments_equal_enqueue),
        cmocka_unit_test(dispatcher_local_memory_without_barrier_equals_enqueue),
        cmocka_unit_test(dispatcher_many_kernels_equal_enqueues),
        cmocka_unit_test(dispatcher_kernel_calling_kernel_equals_enqueue),
        cmocka_unit_test(dispatcher_leaves_by_lease_and_is_launched_again),
        cmocka_unit_test(dispatcher_tails_behind_barriers_equal_enqueues),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
