/*
 * dispatcher_test.c: what the dispatcher's generator takes and refuses, without a device.
 */
#include "support/counting_allocator.h"
#include "support/test.h"

#include "backend/opencl/dispatcher/dispatcher.h"
#include "backend/opencl/dispatcher/ring.h"

#ifndef VYRE_TEST_MUTATIONS
#define VYRE_TEST_MUTATIONS 20000
#endif

static const struct vyre_allocator NO_ALLOCATOR;

/* One kernel `k` with one buffer, 64 work-items, unless a case says otherwise. */
static enum vyre_status check_with(const char *source, const char *define,
                                   char reason[VYRE_CL_REASON_BYTES],
                                   enum vyre_cl_dispatcher_form *form)
{
    static const struct vyre_cl_argument buffer = {.kind = VYRE_CL_ARGUMENT_GLOBAL};
    struct vyre_cl_dispatcher_kernel kernel = {
        .entry = "k", .arguments = &buffer, .argument_count = 1, .address_count = 1};
    struct vyre_cl_dispatcher_input input = {
        .source = source,
        .source_bytes = strlen(source),
        .defines = &define,
        .define_count = define != NULL,
        .kernels = &kernel,
        .kernel_count = 1,
        .local_size = {64, 1, 1},
    };
    enum vyre_status status = vyre_cl_dispatcher_check(&NO_ALLOCATOR, &input, reason, form);
    struct vyre_cl_dispatcher_output output;
    struct vyre_diag diag = {0};
    enum vyre_status again = vyre_cl_dispatcher_generate(&NO_ALLOCATOR, &input, &output, &diag);
    assert_int_equal(status, again); /* check says what generate does */
    assert_string_equal(reason, diag.message);
    if (status == VYRE_OK)
        assert_int_equal(strlen(output.source), output.source_bytes);
    else
        assert_null(output.source);
    vyre_cl_dispatcher_free(&NO_ALLOCATOR, &output);
    return status;
}

static void takes(const char *source, enum vyre_cl_dispatcher_form expected)
{
    char reason[VYRE_CL_REASON_BYTES];
    enum vyre_cl_dispatcher_form form;
    if (check_with(source, NULL, reason, &form) != VYRE_OK)
        fail_msg("refused (%s): %s", reason, source);
    assert_int_equal(form, expected);
}

static void refuses(const char *source, const char *expected)
{
    char reason[VYRE_CL_REASON_BYTES];
    enum vyre_cl_dispatcher_form form;
    enum vyre_status status = check_with(source, NULL, reason, &form);
    if (status != VYRE_UNSUPPORTED)
        fail_msg("taken: %s", source);
    if (strcmp(reason, expected) != 0)
        fail_msg("'%s' instead of '%s': %s", reason, expected, source);
}

/* Taken, and the output has this text. */
static void writes(const char *source, const char *expected)
{
    static const struct vyre_cl_argument buffer = {.kind = VYRE_CL_ARGUMENT_GLOBAL};
    const struct vyre_cl_dispatcher_kernel kernel = {
        .entry = "k", .arguments = &buffer, .argument_count = 1, .address_count = 1};
    const struct vyre_cl_dispatcher_input input = {.source = source,
                                                   .source_bytes = strlen(source),
                                                   .kernels = &kernel,
                                                   .kernel_count = 1,
                                                   .local_size = {64, 1, 1}};
    struct vyre_cl_dispatcher_output output;
    struct vyre_diag diag = {0};
    if (vyre_cl_dispatcher_generate(&NO_ALLOCATOR, &input, &output, &diag) != VYRE_OK)
        fail_msg("refused (%s): %s", diag.message, source);
    assert_contains(output.source, expected);
    vyre_cl_dispatcher_free(&NO_ALLOCATOR, &output);
}

#define K "__kernel void k(__global int *a) { a[get_global_id(0)] = 1; }\n"

static void check_barrier_free_source_takes_loops(void **state)
{
    (void)state;
    takes(K, VYRE_CL_FORM_LOOPED);
    takes("kernel void k(global int*a){}", VYRE_CL_FORM_LOOPED);
    takes("// barrier(0);\n/* printf */" K, VYRE_CL_FORM_LOOPED);
    takes("__constant char t[] = \"printf(barrier) { \\\" /*\";\n" K, VYRE_CL_FORM_LOOPED);
    takes("typedef struct { int a, b; } s; struct t { int x; }; enum e { A, B };\n"
          "union u { int i; float f; }; struct v;;\n" K,
          VYRE_CL_FORM_LOOPED);
    takes("#if __OPENCL_C_VERSION__ < 200 || defined(__opencl_c_fp64)\n#elif __has_builtin(x)\n"
          "#endif\n" K,
          VYRE_CL_FORM_LOOPED);
    takes("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#ifdef cl_khr_fp64\n#endif\n" K,
          VYRE_CL_FORM_LOOPED);
    takes("#define A(x) \\\r\n (x)\r\n" K, VYRE_CL_FORM_LOOPED);
    takes("#\n#define EMPTY\n#define self self\nint f(int self) { return self; }\n" K,
          VYRE_CL_FORM_LOOPED);
    takes("__attribute__((vec_type_hint(int))) __attribute__((work_group_size_hint(64, 1, 1)))\n" K,
          VYRE_CL_FORM_LOOPED);
    takes("__attribute__((reqd_work_group_size(64u, 1, 1)))\n" K, VYRE_CL_FORM_LOOPED);
    takes("__kernel void other(__global int *a) { printf(\"%d\", 1); barrier(0); }\n" K,
          VYRE_CL_FORM_LOOPED);
}

static void check_barriers_by_any_way_take_groups(void **state)
{
    (void)state;
    takes("__kernel void k(__global int *a) { barrier(CLK_LOCAL_MEM_FENCE); }",
          VYRE_CL_FORM_GROUPED);
    takes("#define SYNC barrier(CLK_LOCAL_MEM_FENCE)\nvoid f(void) { SYNC; }\n"
          "__kernel void k(__global int *a) { f(); }",
          VYRE_CL_FORM_GROUPED);
    takes("__kernel void k(__global int *a) { a[0] = work_group_reduce_add(1); }",
          VYRE_CL_FORM_GROUPED);
    takes("__kernel void k(__global int *a) { __local int t[4]; a[0] = t[0]; }",
          VYRE_CL_FORM_LOOPED);
}

static void check_what_it_does_not_know_refuses(void **state)
{
    (void)state;
    refuses("", "kernel that is not visible in the source");
    refuses("#define KERNEL __kernel\nKERNEL void k(__global int *a) {}",
            "kernel that is not visible in the source");
    refuses("__kernel void k(__global int *a);", "kernel that is not visible in the source");
    refuses("#include \"x.h\"\n" K, "#include");
    refuses("#import x\n" K, "directive that is not known");
    refuses("#pragma pack(1)\n" K, "pragma that is not known");
    refuses("int x @ 3;" K, "byte that is no OpenCL C");
    refuses("__constant char c[] = \"a\n\";" K, "literal over several lines");
    refuses(K "/* open", "comment without an end");
    refuses("int f(int a) <% return a; %>" K, "digraph or trigraph");
    refuses("}" K, "brackets that do not match");
    refuses("int f(int a[) {]}" K, "brackets that do not match");
    refuses("#if X\nint f(void) {\n#else\nint f(int a) {\n#endif\nreturn 1; }" K,
            "brackets that depend on a conditional");
    refuses("#if X\n#endif\n#endif\n" K, "conditional without a beginning");
    refuses("#define FN(n) int n(int x) { return x; }\nFN(f)\n" K,
            "macro call or unknown declaration at program scope");
    refuses("int f(int a)[3];" K, "macro call or unknown declaration at program scope");
    refuses("__attribute__ int f(int a) { return a; }" K, "attribute that is not understood");
    refuses("typedef int t" K, "declaration without an end");
    refuses("#if f\n#endif\nint f(int a) { return a; }" K, "directive about a function's name");
    refuses("#define f 1\nint f(int a) { return a; }" K, "macro and function of one name");
    refuses("int f(int a);int f(int a, int b) { return a; }" K, "function declared in two ways");
}

/* A continuation may stand wherever it joins no two halves of a token. */
static void check_continuations_between_tokens_takes(void **state)
{
    static const char *const good[] = {
        "#define F(a,\\\nb) ((a)\\\n+(b)\\\n)\n",
        "#define F(a, b) \\\r\ndo{\\\r\n(a)+=\\\r\n(b);}\\\r\nwhile(0)\r\n",
        "#define F(a) (a) \\  \n + 1\n#define G(a) (a)\\\t\r\n+1\n",
        "#define F(a) f(a)/**/\\\n/* one *\\\n* two **\\\n **/\\\n+1 // end\\\n of it\n",
        "#define A 1\\\n\n#define B 2 \\\n\\\n\\\n\n#define C\\\n\n",
        "__constant char c[] =\\\n\"a\\\nb\\\\\"\\\n;\n",
        "int f(int a)\\\n{return\\\n-a\\\n-1-\\\n(a<\\\n2)-a\\\n.b;}\\\n",
        "#\\\ndefine\\\n F\\\n(barrier) 1\n", /* takes a parameter: no barrier in its body */
    };
    static const char *const split[] = {
        "#define A get_\\\nglobal_id\n",
        "#define A get_\\ \nglobal_id\n",
        "#define A 1\\\r\n2\n",
        "#define A 1e\\\n+3\n",
        "#define A .\\\n5\n",
        "#define A a +\\\n+ b\n",
        "#define A 1 <\\\n< 2\n",
        "#define A 1 >>\\\n= 2\n",
        "#define A a-\\\n>b\n",
        "#define A ..\\\n.\n",
        "#define A(x) a #\\\n# x\n",
        "/\\\n* */",
        "/\\\n/\n",
        "/* *\\\n/ */",
        "/* *\\\n\\\n/ */",
    };
    char source[256];
    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        snprintf(source, sizeof source, "%s%s", good[i],
                 "__kernel void k(__global int *a) { a[0] = F(1); }");
        takes(source, VYRE_CL_FORM_LOOPED);
    }
    for (size_t i = 0; i < COUNT_OF(split); i++) {
        snprintf(source, sizeof source, "%s%s", split[i], K);
        refuses(source, "line continuation inside a token");
    }
    refuses("// one \\ \n two\n" K, "comment that may end at two places");
    refuses("int f(int a) { return a; }\r" K, "byte that is no OpenCL C");
}

static void check_what_would_change_meaning_refuses(void **state)
{
    (void)state;
    refuses("#define get_global_id(x) 0\n" K, "macro that changes a word of the language");
    refuses("#undef get_local_id\n" K, "directive about a word of the language");
    refuses("#define __global\n" K, "macro that changes a word of the language");
    refuses("#define barrier(x)\n" K, "macro that changes a word of the language");
    refuses("int get_group_id(int x) { return x; }" K,
            "function with the name of a word of the language");
    refuses("int vyre_x;" K, "identifier with the prefix vyre_");
    refuses("__kernel void k(__global int *a) { a[0] = __LINE__; }",
            "the source asks where it stands");
    refuses("__global int counter;" K, "variable at program scope");
    refuses("int x = 3;" K, "variable at program scope");
    refuses("struct s { int a; } one;" K, "variable at program scope");
    refuses("__constant int *p;" K, "variable at program scope");
}

/* Words that ask for the place, and others, count in what is kept of a source only. */
static void check_words_that_nothing_keeps_takes(void **state)
{
#define LOG "#define HERE __LINE__\n#define LOG(x) log_at(HERE, x)\n"
    (void)state;
    takes(LOG K, VYRE_CL_FORM_LOOPED);
    takes(LOG "int f(int a) { LOG(a); asm(\"nop\"); return a; }" K, VYRE_CL_FORM_LOOPED);
    takes("__attribute__((overloadable)) int f(int a) { return a; }" K, VYRE_CL_FORM_LOOPED);
    takes("#define PLACE __FILE__ __func__ __COUNTER__ __DATE__ typeof\n" K, VYRE_CL_FORM_LOOPED);
    refuses(LOG "__kernel void k(__global int *a) { LOG(a); }", "the source asks where it stands");
    refuses(LOG "int f(int a) { return HERE; } __kernel void k(__global int *a) { a[0] = f(1); }",
            "the source asks where it stands");
    refuses("__attribute__((overloadable)) int f(int a) { return a; }"
            "__kernel void k(__global int *a) { a[0] = f(1); }",
            "overloaded functions");
    /* What is outside functions, and every conditional, is kept whatever kernels reach. */
    refuses(LOG "__constant int n = HERE;" K, "the source asks where it stands");
    refuses(LOG "struct s { int a[HERE]; };" K, "the source asks where it stands");
    refuses(LOG "#if HERE > 2\n#endif\n" K, "the source asks where it stands");
    refuses(LOG "int f(int a) {\n#if HERE > 2\n#endif\nreturn a; }" K,
            "the source asks where it stands");
    refuses("#if __LINE__ > 2\n#endif\n" K, "directive about a word of the language");
    refuses("#define __LINE__ 2\n" K, "macro that changes a word of the language");
#undef LOG
}

static void check_variables_that_outlive_a_call_refuses(void **state)
{
    (void)state;
    refuses("__kernel void k(__global int *a) { static __global int n; a[0] = n++; }",
            "static variable in a function");
    refuses("__kernel void k(__global int *a) { __global static int n; a[0] = n++; }",
            "static variable in a function");
    refuses("static int f(void) { static int n; return n++; }"
            "__kernel void k(__global int *a) { a[0] = f(); }",
            "static variable in a function");
    takes("int f(void) { static int n; return n++; }" K, VYRE_CL_FORM_LOOPED);
    takes("__kernel void k(__global int *a) { static __constant int n = 3; a[0] = n; }",
          VYRE_CL_FORM_LOOPED);
    takes("static inline int f(void) { return 1; }"
          "__kernel void k(__global int *a) { static __local int t[4]; a[0] = t[0] + f(); }",
          VYRE_CL_FORM_LOOPED);
}

static void check_work_group_functions_take_groups_or_refuse(void **state)
{
    static const char *const known[] = {
        "work_group_reduce_mul",           "work_group_reduce_logical_xor",
        "work_group_scan_inclusive_xor",   "work_group_scan_exclusive_logical_and",
        "intel_work_group_barrier_arrive",
    };
    static const char *const unknown[] = {
        "work_group_reduce_median",
        "work_group_newly_invented",
        "intel_work_group_vote",
        "async_work_group_fill",
    };
    char source[256];
    (void)state;
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        snprintf(source, sizeof source, "__kernel void k(__global int *a) { a[0] = %s(1); }",
                 known[i]);
        takes(source, VYRE_CL_FORM_GROUPED);
    }
    for (size_t i = 0; i < COUNT_OF(unknown); i++) {
        snprintf(source, sizeof source, "__kernel void k(__global int *a) { a[0] = %s(1); }",
                 unknown[i]);
        refuses(source, "work-group function that is not known");
        snprintf(source, sizeof source,
                 "#define CALL(f) f(1)\n__kernel void k(__global int *a) { a[0] = CALL(%s); }",
                 unknown[i]);
        refuses(source, "work-group function that is not known");
        snprintf(source, sizeof source,
                 "#define F %s\n__kernel void k(__global int *a) { a[0] = F(1); }", unknown[i]);
        refuses(source, "work-group function that is not known");
    }
    takes("__kernel void k(__global int *a) { int work_group_size = 64; a[0] = work_group_size; }",
          VYRE_CL_FORM_LOOPED);
    takes("int work_group_sum(int n) { return n; }"
          "__kernel void k(__global int *a) { a[0] = work_group_sum(1); }",
          VYRE_CL_FORM_LOOPED);
}

static void check_what_cannot_run_resident_refuses(void **state)
{
    (void)state;
    refuses("__kernel void k(__global int *a) { printf(\"x\"); }", "printf in a kernel");
    refuses("#define LOG printf\nvoid f(void) { LOG(\"x\"); }"
            "__kernel void k(__global int *a) { f(); }",
            "printf in a kernel");
    refuses("__kernel void k(read_only image2d_t i) {}", "images");
    refuses("__kernel void k(sampler_t s) {}", "samplers");
    refuses("__kernel void k(read_only pipe int p) {}", "pipes");
    refuses("__kernel void k(__global int *a) { enqueue_kernel(); }",
            "kernel that enqueues kernels");
    refuses("__kernel void k(__global int *a) { a[0] = get_sub_group_id(); }", "sub-groups");
    refuses("__kernel void k(__global int *a) { asm(\"nop\"); }", "inline assembly");
    refuses("int f(int n);int g(int n) { return f(n); }int f(int n) { return g(n); }"
            "__kernel void k(__global int *a) { a[0] = f(1); }",
            "recursion");
    refuses("#define CALL f(1)\nint f(int n) { return CALL; }"
            "__kernel void k(__global int *a) { a[0] = f(1); }",
            "recursion");
    refuses("__attribute__((reqd_work_group_size(32, 1, 1)))" K,
            "reqd_work_group_size differs from the local size");
    refuses(K K, "kernel that is defined twice");
    refuses("#ifdef cl_khr_fp64\n" K "#else\n" K "#endif\n", "kernel that is defined twice");
    takes("#if X\n" K "#else\n" K "#endif\n", VYRE_CL_FORM_LOOPED);
    takes("#define X 1\n#if X\n" K "#elif Y\n" K "#endif\n", VYRE_CL_FORM_LOOPED);
}

static void check_names_of_functions_that_are_no_calls_takes(void **state)
{
    (void)state;
    takes("__kernel void k(__global int *k) { k[get_global_id(0)] = 1; }", VYRE_CL_FORM_LOOPED);
    takes("__kernel void other(__global int *a) { int k = 1; a[0] = k; }\n"
          "int gain(int k) { return k + 1; }\n"
          "__kernel void k(__global int *gain) { gain[0] = (gain[1]) + gain[2]; }",
          VYRE_CL_FORM_LOOPED);
    takes("struct s { int f; };int f(struct s s) { return s.f; }"
          "__kernel void k(__global int *a) { struct s s; s.f = 1; a[0] = f(s); }",
          VYRE_CL_FORM_LOOPED);
    /* What is only mentioned brings nothing along. */
    takes("void sync(void) { barrier(0); }\n"
          "__kernel void k(__global int *a) { int sync = 1; a[0] = sync; }",
          VYRE_CL_FORM_LOOPED);
    /* A macro may make a call of a mention. */
    refuses("#define CALL(g, x) g(x)\nint f(int n) { return CALL(f, n); }"
            "__kernel void k(__global int *a) { a[0] = f(1); }",
            "recursion");
    refuses("#define NEST(g) ((g))\n#define CALL(g, x) g(x)\n"
            "int f(int n) { return CALL((n, f), n) + NEST(f); }"
            "__kernel void k(__global int *a) { a[0] = f(1); }",
            "recursion");
    refuses("#define ARGS (n)\nint f(int n) { return f ARGS; }"
            "__kernel void k(__global int *a) { a[0] = f(1); }",
            "recursion");
    refuses("int f(int n) { return f\n#pragma unroll\n(n); }"
            "__kernel void k(__global int *a) { a[0] = f(1); }",
            "recursion");
    takes("#define SYNC(g) g()\nvoid sync(void) { barrier(0); }\n"
          "__kernel void k(__global int *a) { SYNC(sync); }",
          VYRE_CL_FORM_GROUPED);
}

static void check_arguments_unlike_the_source_refuses(void **state)
{
    (void)state;
    refuses("__kernel void k(__global int *a, int b) {}",
            "another number of arguments than the source shows");
    refuses("__kernel void k(int a) {}", "argument of another kind than the source shows");
    refuses("__kernel void k(__local int *a) {}", "argument of another kind than the source shows");
    refuses("__kernel void k(__constant int *a) {}",
            "argument of another kind than the source shows");
    refuses("__kernel void k(__global int a[]) {}", "parameter that is not understood");
    refuses("__kernel void k(__global int *) {}", "parameter that is not understood");
    refuses("__kernel void k(__global int (*a)[4]) {}", "parameter that is not understood");
}

static void check_local_variables_that_could_be_mistaken_refuses(void **state)
{
    (void)state;
#define L(body) "__kernel void k(__global int *a) { " body " }"
    takes(L("__local int t[4], u; __local float4 v[2][3]; t[0] = u * t[1] + f(t, u);"),
          VYRE_CL_FORM_LOOPED);
    takes(L("__local int t[4]; __local int *p = t; local int *q = (local int *)t + 1, *r;"),
          VYRE_CL_FORM_LOOPED);
    takes(L("__local int t[4]; if (a[0]) { __local int *p = t; } return t[0];"),
          VYRE_CL_FORM_LOOPED);
    refuses(L("__local int t[4]; { int t = 3; a[0] = t; }"),
            "local variable's name has a second meaning");
    refuses(L("__local int t[4]; { int x, t = 3; }"), "local variable's name has a second meaning");
    refuses(L("__local int t[4]; { int *t = a; }"), "local variable's name has a second meaning");
    refuses(L("__local int t[4]; for (int i = 0, t = 0; t < 4; t++) a[i] = t;"),
            "local variable's name has a second meaning");
    refuses(L("__local int t[4]; for (struct { int x; } i, t; ;) {}"),
            "local variable's name has a second meaning");
    refuses("#define INT int\n" L("__local int t[4]; for (INT(i) = 0, t = 0; t < 4; t++) {}"),
            "local variable's name has a second meaning");
    takes(L("__local int t; t = 1; int x[2] = {3, t}, y[2][2] = {{1, t}, {t, t}};"),
          VYRE_CL_FORM_LOOPED);
    refuses(L("__local int t[4]; struct { int x, t; } s = {1, 2};"),
            "local variable's name has a second meaning");
    refuses(L("__local int t[4];\n#define EQ =\n{ int x, t; t = 3; }"),
            "local variable's name has a second meaning");
    refuses("#define M(x, block) block\n" L("__local int t[4]; M(1, { int x, t; });"),
            "local variable's name has a second meaning");
    refuses("#define M(x, block) block\n" L("__local int t[4]; M(1, {{ int x, t; }});"),
            "local variable's name has a second meaning");
    takes(L("__local int t[4]; int i; for (i = 0, t[0] = 1; i < 4; i++, t[i] = 0) {}"),
          VYRE_CL_FORM_LOOPED);
    takes(L("__local int t[4]; for (int i = 0; f(i, t[0]), t[0]; i++, t[0]++) {}"),
          VYRE_CL_FORM_LOOPED);
    refuses(L("__local int t[4]; a[0] = s.t;"), "local variable's name has a second meaning");
    refuses(L("__local int t[4]; a[0] = s->t;"), "local variable's name has a second meaning");
    refuses(L("__local int a[4];"), "local variable's name has a second meaning");
    refuses("#define M(s) s.t\n" L("__local int t[4]; M(t);"),
            "local variable's name has a second meaning");
    takes("#define M(s) s.t\n" L("__local int t[4]; t[0] = 1;"), VYRE_CL_FORM_LOOPED);
    takes("#define M(s, t) s.t + (int t)\n#define N() x.t\n" L("__local int t[4]; M(a, b);"),
          VYRE_CL_FORM_LOOPED);
    refuses("#define M(s) N().s\n#define N() x.t\n" L("__local int t[4]; M(a);"),
            "local variable's name has a second meaning");
    refuses("#define t u\n" L("__local int t[4];"), "local variable's name has a second meaning");
    refuses(L("__local int t[4];\n#if defined(t)\n#endif\n"),
            "local variable's name has a second meaning");
    refuses(L("const int n = 4; __local int t[n];"),
            "local variable's type depends on its function");
    refuses(L("typedef int mine; __local mine t[4];"),
            "local variable's type depends on its function");
    refuses(L("int x = 1, *n = a; { typedef int mine; } __local mine t[4];"),
            "local variable's type depends on its function");
    refuses(L("int *n = a; __local int t[n];"), "local variable's type depends on its function");
    /* Words of the type in expressions declare nothing. */
    takes("#define N 16\n" L("int i = (a[0]*N)+a[1]; i = (i*N)+1; __local int t[N];"),
          VYRE_CL_FORM_LOOPED);
    takes("#define N 16\n" L("int i = (int)a[0]*N; if (i) i *N; f(i *N); __local int t[N];"),
          VYRE_CL_FORM_LOOPED);
    takes(L("int i = (unsigned int)a[0] + sizeof(unsigned int) + (const float4)(1).x;"
            "__local unsigned int t[4]; __local float4 u;"),
          VYRE_CL_FORM_LOOPED);
    refuses(L("\n#define N 4\n __local int t[N];"),
            "local variable behind a define in its function");
    takes(L("\n#if X\n __local int t[4];\n#endif\n"), VYRE_CL_FORM_LOOPED);
    takes(L("\n#if X\n __local int t[4];\n#else\n __local int t[8], u;\n#endif\n a[0] = t[0];"),
          VYRE_CL_FORM_LOOPED);
    refuses(L("\n#if X\n __local int t[4];\n#else\n int t[4];\n#endif\n a[0] = t[0];"),
            "local variable's name has a second meaning");
    refuses(L("{ __local int t[4]; }"), "declaration with __local that is not understood");
    refuses(L("__local int *p, t[4];"), "declaration with __local that is not understood");
    refuses(L("__local int * __local p;"), "declaration with __local that is not understood");
    refuses(L("__local int t = 3;"), "declaration with __local that is not understood");
    refuses(L("__local struct { int x; } t;"), "declaration with __local that is not understood");
    refuses("__kernel void o(__global int *a) { __local int t[4]; a[0] = t[0]; }"
            "__kernel void k(__global int *a) { o(a); }",
            "call of a kernel that has local variables");
#undef L
}

/* Types and specifiers are written token by token: operators must stay whole. */
static void generate_operators_in_types_stay_whole(void **state)
{
    static const char *const operators[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "->"};
    char source[256];
    char expected[64];
    (void)state;
    for (size_t i = 0; i < COUNT_OF(operators); i++) {
        snprintf(expected, sizeof expected, "[ 1 %s 2 ]", operators[i]);
        snprintf(source, sizeof source,
                 "__kernel void k(__global int *a) { __local int t[1%s2]; a[0] = t[0]; }",
                 operators[i]);
        writes(source, expected);
        snprintf(expected, sizeof expected, "a [ 1 %s 2 ] ;", operators[i]);
        snprintf(source, sizeof source,
                 "struct s { int a[1%s2]; } f(int x) { struct s s = {{x}}; return s; }\n"
                 "__kernel void k(__global int *a) { a[0] = f(1).a[0]; }",
                 operators[i]);
        writes(source, expected);
    }
}

/* A kernel whose second parameter is there if the condition holds; the caller says that it has one. */
static void check_condition(const char *before, const char *condition, bool holds)
{
    char source[512];
    snprintf(source, sizeof source,
             "%s__kernel void k(__global int *a\n#if %s\n, int b\n#endif\n) { a[0] = 1; }", before,
             condition);
    if (holds)
        refuses(source, "another number of arguments than the source shows");
    else
        takes(source, VYRE_CL_FORM_LOOPED);
}

static void check_conditionals_in_heads_are_decided(void **state)
{
    static const char defines[] = "#define ONE 1\n#define TWO (ONE + 1)\n#define EMPTY\n"
                                  "#define SOME(x) x\n#define GONE 1\n#undef GONE\n"
                                  "#ifdef ONE\n#define SEEN 1\n#else\n#define UNSEEN 1\n#endif\n";
    static const char *const true_ones[] = {
        "1",
        "ONE",
        "TWO == 2",
        "!0 && ~0 == -1",
        "defined ONE && defined(EMPTY) && defined(SOME)",
        "!defined(GONE) && SEEN && !UNSEEN",
        "NOWHERE == 0",
        "1 ? 2 : 0",
        "0x10u == 16 && 010 == 8 && 10UL == 10",
        "1 + 2 * 3 == 7 && (1 + 2) * 3 == 9 && 10 - 4 - 3 == 3",
        "1 << 3 >> 1 == 4 && 7 / 2 == 3 && 7 % 4 == 3",
        "(6 & 3) == 2 && (6 | 1) == 7 && (6 ^ 3) == 5",
        "1 < 2 && 2 <= 2 && 3 > 2 && 2 >= 2 && 1 != 2",
        "0 && 1 || 1",
    };
    static const char *const unknown[] = {
        "SOME(1)",
        "1 +",
        "(1",
        "1)",
        "1 2",
        "1.0 > 0",
        "'a' == 97",
        "1 / 0",
        "cl_khr_fp64",
        "__OPENCL_VERSION__ >= 200",
        "defined(__OPENCL_C_VERSION__)",
        "defined(1)",
        "EMPTY",
        "1 ? 2",
        "TWO ONE",
    };
    char text[256];
    (void)state;
    for (size_t i = 0; i < COUNT_OF(true_ones); i++) {
        check_condition(defines, true_ones[i], true);
        snprintf(text, sizeof text, "!(%s)", true_ones[i]);
        check_condition(defines, text, false);
    }
    for (size_t i = 0; i < COUNT_OF(unknown); i++) {
        snprintf(text, sizeof text,
                 "#define ONE 1\n#define EMPTY\n#define SOME(x) x\n#define TWO (ONE + 1)\n"
                 "int f(int a\n#if %s\n, int b\n#endif\n);\n%s",
                 unknown[i], K);
        refuses(text, "directive inside a declaration");
    }
    /* What a macro is may itself depend on something that is not known. */
    refuses("#ifdef cl_khr_fp64\n#define WIDE\n#endif\nint f(\n#ifdef WIDE\nint a\n#endif\n);" K,
            "directive inside a declaration");
}

static void check_conditionals_in_heads_keep_their_shape(void **state)
{
    static const char inside[] = "directive inside a declaration";
    (void)state;
    takes("int f(\n#if X\nint a\n#endif\n) { return 1; }" K, VYRE_CL_FORM_LOOPED);
    takes("int f(\n#ifdef X\nint a)\n#else\nint a, int b)\n#endif\n{ return a + b; }\n"
          "__kernel void k(__global int *a) { a[0] = f(1, 2); }",
          VYRE_CL_FORM_LOOPED);
    takes("__kernel\n#ifdef X\n__attribute__((reqd_work_group_size(32, 1, 1)))\n#endif\n"
          "void k(__global int *a) { a[0] = 1; }",
          VYRE_CL_FORM_LOOPED);
    takes("__kernel void k(\n#ifdef X\n#if Y\n#define Z\n#else\nread_only image2d_t i)\n#endif\n"
          "#elif !defined(Y)\n__global\n#ifndef X\nint\n#endif\n*\n#endif\n a) { a[0] = 1; }",
          VYRE_CL_FORM_LOOPED);
    refuses("int f(int a\n#if 1\n#define N 3\n#endif\n) { return a; }" K, inside);
    refuses("int f(int a\n#if 1\n); int g(int a\n#endif\n);" K, inside);
    refuses("int f(int a)\n#if 1\n{ return a;\n#else\n{\n#endif\n}" K, inside);
    refuses("typedef\n#if 1\nint\n#else\nfloat\n#endif\nreal;" K, inside);
    refuses("__constant\n#if 1\nint\n#endif\nn = 3;" K, inside);
    refuses("#if 1\nint\n#endif\nf(int a) { return a; }" K, inside);
    refuses("int f(int a\n#if 1\n, int b) { return a; }" K, inside);
    refuses("int get_x(int a\n#ifdef get_global_id\n, int b\n#endif\n);" K,
            "directive about a word of the language");
    refuses("int f(int a\n#ifdef f\n, int b\n#endif\n);" K, "directive about a function's name");
    /* What was decided is asked again of the compiler. */
    writes("__kernel void k(__global int *a\n#if X > 1\n, int b\n#endif\n) {}",
           "\n#if X > 1\n#error");
    writes("#define X 2\nint f(int a\n#if X > 1\n, int b\n#endif\n);" K,
           "\n#if X > 1\n\n#else\n#error");
}

/* Conditions that a naive reader would take for ever or all of the stack for. */
static void check_conditions_without_end_are_left(void **state)
{
    char *source = malloc(1 << 20);
    size_t size = 0;
    (void)state;
    size += (size_t)sprintf(source + size, "#define A0 1\n#define S S\n");
    for (int i = 1; i < 60; i++)
        size += (size_t)sprintf(source + size, "#define A%d A%d + A%d\n", i, i - 1, i - 1);
    static const char *const conditions[] = {"A59", "S", "(", "1?", "!", "-", "1+("};
    for (size_t i = 0; i < COUNT_OF(conditions); i++) {
        size_t at = size + (size_t)sprintf(source + size, "int f(int a\n#if ");
        for (int n = 0; n < (i < 2 ? 1 : 100000); n++)
            at += (size_t)sprintf(source + at, "%s", conditions[i]);
        sprintf(source + at, "\n, int b\n#endif\n);\n%s", K);
        refuses(source, "directive inside a declaration");
    }
    free(source);
}

static void check_defines_of_build_options_are_seen(void **state)
{
    (void)state;
    static const char source[] = "__kernel void k(__global int *a) { F(a); }";
    char reason[VYRE_CL_REASON_BYTES];
    enum vyre_cl_dispatcher_form form;
    assert_int_equal(check_with(source, "F(x)=x[0]=1", reason, &form), VYRE_OK);
    assert_int_equal(form, VYRE_CL_FORM_LOOPED);
    assert_int_equal(check_with(source, "F(x)=barrier(1)", reason, &form), VYRE_OK);
    assert_int_equal(form, VYRE_CL_FORM_GROUPED);
    assert_int_equal(check_with("__kernel void k(__global int *a\n#if N < 3\n, int b\n#endif\n) {}",
                                "N=3", reason, &form),
                     VYRE_OK);
    assert_int_equal(check_with(source, "F=printf", reason, &form), VYRE_UNSUPPORTED);
    assert_int_equal(check_with(source, "get_local_id=F", reason, &form), VYRE_UNSUPPORTED);
    assert_int_equal(check_with(source, "F=\\", reason, &form), VYRE_UNSUPPORTED);
    assert_int_equal(check_with(source, "F=1\n#include <x>", reason, &form), VYRE_UNSUPPORTED);
    assert_int_equal(check_with(source, "=1", reason, &form), VYRE_UNSUPPORTED);
}

static void generate_bad_input_is_invalid(void **state)
{
    (void)state;
    struct vyre_cl_dispatcher_kernel kernel = {.entry = "k"};
    struct vyre_cl_dispatcher_input input = {
        .source = K, .source_bytes = sizeof K - 1, .kernels = &kernel, .kernel_count = 1};
    struct vyre_cl_dispatcher_output output;
    struct vyre_diag diag = {0};
    assert_int_equal(vyre_cl_dispatcher_generate(&NO_ALLOCATOR, NULL, &output, &diag),
                     VYRE_INVALID);
    assert_int_equal(diag.id, VYRE_DIAG_ARGUMENT_NULL);
    assert_int_equal(vyre_cl_dispatcher_generate(&NO_ALLOCATOR, &input, &output, &diag),
                     VYRE_INVALID);
    assert_int_equal(diag.id, VYRE_DIAG_ARGUMENT_RANGE); /* no local size */
    input.local_size[0] = input.local_size[1] = input.local_size[2] = 1;
    kernel.address_count = VYRE_CL_SLOT_ADDRESSES_MAX + 1;
    assert_int_equal(vyre_cl_dispatcher_generate(&NO_ALLOCATOR, &input, &output, &diag),
                     VYRE_INVALID);
    kernel.address_count = 0;
    input.form = VYRE_CL_FORM_LOOPED;
    input.source = "__kernel void k(void) { barrier(1); }";
    input.source_bytes = strlen(input.source);
    assert_int_equal(vyre_cl_dispatcher_generate(&NO_ALLOCATOR, &input, &output, &diag),
                     VYRE_UNSUPPORTED);
    assert_string_equal(diag.message, "barriers in a looped dispatcher");
    input.source = "/* \0 */ __kernel void k(void) { }";
    input.source_bytes = sizeof "/* \0 */ __kernel void k(void) { }" - 1;
    assert_int_equal(vyre_cl_dispatcher_generate(&NO_ALLOCATOR, &input, &output, &diag),
                     VYRE_UNSUPPORTED);
    assert_string_equal(diag.message, "byte that is no OpenCL C");
}

static void generate_gives_back_all_memory(void **state)
{
    (void)state;
    static const struct vyre_cl_argument buffer = {.kind = VYRE_CL_ARGUMENT_GLOBAL};
    struct vyre_cl_dispatcher_kernel kernel = {
        .entry = "k", .arguments = &buffer, .argument_count = 1, .address_count = 1};
    struct vyre_cl_dispatcher_input input = {.source = K,
                                             .source_bytes = sizeof K - 1,
                                             .kernels = &kernel,
                                             .kernel_count = 1,
                                             .local_size = {64, 1, 1}};
    struct counting_allocator counts = {0};
    struct vyre_allocator allocator = {
        .user = &counts, .allocate = counting_allocate, .deallocate = counting_deallocate};
    struct vyre_cl_dispatcher_output output;
    assert_int_equal(vyre_cl_dispatcher_generate(&allocator, &input, &output, NULL), VYRE_OK);
    vyre_cl_dispatcher_free(&allocator, &output);
    assert_int_equal(counts.live_count, 0);
    assert_int_equal(counts.mismatch_count, 0);
    counts.fails = true;
    assert_int_equal(vyre_cl_dispatcher_generate(&allocator, &input, &output, NULL),
                     VYRE_OUT_OF_MEMORY);
    assert_int_equal(counts.live_count, 0);
}

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* Whatever a source says, the answer is a status and a reason that fits. */
static void generate_mutated_source_never_fails_otherwise(void **state)
{
    (void)state;
    static const char seed[] =
        "#define T(i) tile[i]\n#if N > 3\nint g(int x) { return x; }\n#else\nint g(int);\n#endif\n"
        "constant float c[2] = {1.0f, 2e-3f}; /* c */ typedef struct { int a; } s;\n"
        "static inline int h(int x,\n#if defined(N) && N > 3\nint y,\n#else // h\n#endif\n s *p) "
        "{\n"
        "  return g(x) + p->a; } // h\n"
        "__kernel __attribute__((reqd_work_group_size(64, 1, 1)))\n"
        "void k(__global int *a) {\n  __local int tile[4], u; __local int *p = tile;\n"
        "  s v = {3};\n  T(0) = h(1, &v) + sizeof(tile);\n  for (int i = 0; i < 3; i++) { u += i; "
        "}\n"
        "  barrier(CLK_LOCAL_MEM_FENCE);\n  a[get_global_id(0)] = tile[1] + \\\n p[2];\n}\n";
    static const char *const pieces[] = {
        "#",    "##", "\\\n", "/*",    "*/",       "//", "\"",      "(",        ")",
        "{",    "}",  "[",    "]",     ";",        ",",  "__local", "k",        "#if\n",
        "tile", "->", "=",    "#else", "#endif\n", "'",  "typedef", "__kernel", "*"};
    char text[2 * sizeof seed];
    uint32_t random = 2463534242u;
    size_t taken = 0;
    for (uint32_t round = 0; round < VYRE_TEST_MUTATIONS; round++) {
        size_t size = sizeof seed - 1;
        memcpy(text, seed, size);
        for (uint32_t edits = 1 + next_random(&random) % 4; edits > 0; edits--) {
            size_t at = next_random(&random) % size;
            const char *piece = pieces[next_random(&random) % COUNT_OF(pieces)];
            uint32_t kind = next_random(&random) % 4;
            size_t cut = kind == 0 ? next_random(&random) % (size - at) : 1;
            if (kind == 1) {
                text[at] = (char)(32 + next_random(&random) % 95);
            } else if (kind == 2 && size + 16 < sizeof text) {
                memmove(text + at + strlen(piece), text + at, size - at);
                memcpy(text + at, piece, strlen(piece));
                size += strlen(piece);
            } else if (cut < 40 && size > 100) {
                memmove(text + at, text + at + cut, size - at - cut);
                size -= cut;
            }
        }
        char *exact = malloc(size + 1); /* so that a read past the end is seen */
        memcpy(exact, text, size);
        exact[size] = '\0';
        char reason[VYRE_CL_REASON_BYTES];
        enum vyre_status status = check_with(exact, NULL, reason, NULL);
        free(exact);
        assert_true(status == VYRE_OK || status == VYRE_UNSUPPORTED);
        assert_true((status == VYRE_OK) == (reason[0] == '\0'));
        taken += status == VYRE_OK;
    }
    assert_true(taken > 0 && taken < VYRE_TEST_MUTATIONS);
}

static void ring_layout_keeps_small_items_in_one_line(void **state)
{
    (void)state;
    /* Two addresses and two 4-byte constants, as saxpy has them. */
    size_t end = offsetof(struct vyre_cl_slot, payload) + vyre_cl_slot_constants_offset(2) + 8;
    assert_true(end <= VYRE_CL_LINE_BYTES);
    assert_int_equal(vyre_cl_slot_constants_offset(0), 0);
    assert_int_equal(vyre_cl_slot_constants_offset(1), 16);
    assert_true(vyre_cl_slot_constants_offset(VYRE_CL_SLOT_ADDRESSES_MAX) +
                    VYRE_CONSTANTS_BYTES_MAX <=
                VYRE_CL_SLOT_PAYLOAD_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_barrier_free_source_takes_loops),
        cmocka_unit_test(check_barriers_by_any_way_take_groups),
        cmocka_unit_test(check_what_it_does_not_know_refuses),
        cmocka_unit_test(check_continuations_between_tokens_takes),
        cmocka_unit_test(check_what_would_change_meaning_refuses),
        cmocka_unit_test(check_words_that_nothing_keeps_takes),
        cmocka_unit_test(check_variables_that_outlive_a_call_refuses),
        cmocka_unit_test(check_work_group_functions_take_groups_or_refuse),
        cmocka_unit_test(check_what_cannot_run_resident_refuses),
        cmocka_unit_test(check_names_of_functions_that_are_no_calls_takes),
        cmocka_unit_test(check_arguments_unlike_the_source_refuses),
        cmocka_unit_test(check_local_variables_that_could_be_mistaken_refuses),
        cmocka_unit_test(generate_operators_in_types_stay_whole),
        cmocka_unit_test(check_conditionals_in_heads_are_decided),
        cmocka_unit_test(check_conditionals_in_heads_keep_their_shape),
        cmocka_unit_test(check_conditions_without_end_are_left),
        cmocka_unit_test(check_defines_of_build_options_are_seen),
        cmocka_unit_test(generate_bad_input_is_invalid),
        cmocka_unit_test(generate_gives_back_all_memory),
        cmocka_unit_test(generate_mutated_source_never_fails_otherwise),
        cmocka_unit_test(ring_layout_keeps_small_items_in_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
