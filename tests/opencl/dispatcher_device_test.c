/*
 * dispatcher_device_test.c: generated dispatchers on a real OpenCL device.
 *
 * Each case runs kernels of one source twice on equal inputs: by plain enqueues of the untouched source
 * and by a resident dispatcher. All buffers must be equal to the byte afterwards.
 */
#include "opencl/dispatcher_twin.h"

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
    twin_compare_all(state, &twin, true);
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
            "static uint uncalled(uint x) { return x + inner(); }\n"
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
    twin_compare_all(state, &twin, true);
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
    twin_compare_all(state, &twin, true);
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
    twin_compare_all(state, &twin, true);
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
    twin_compare_all(state, &twin, true);
}

/* Builds the dispatcher of a kernel `k` with one buffer; the driver's code and what it says. */
static cl_int build_dispatcher(struct cl_host *host, const char *source, const char *options,
                               char *out_log, size_t log_bytes)
{
    static const struct vyre_allocator none;
    struct twin_layout layout = twin_lay_out("g");
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
    twin_compare_all(state, &twin, true);
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
    twin_compare_all(state, &twin, true);
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
        twin_compare_all(state, &twins[i], true);
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
        twin_compare_all(state, &twins[i], false);
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
    twin_compare_all(state, &twin, true);
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
    twin_compare_all(state, &twin, false);
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
    twin_compare_all(state, &twin, true);
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
        cmocka_unit_test(dispatcher_scalars_of_mixed_sizes_equal_enqueue),
        cmocka_unit_test(dispatcher_many_kernels_equal_enqueues),
        cmocka_unit_test(dispatcher_kernel_calling_kernel_equals_enqueue),
        cmocka_unit_test(dispatcher_leaves_by_lease_and_is_launched_again),
    };
    return cmocka_run_group_tests(tests, twin_open, twin_close);
}
