/*
 * barriers_test.c: which barriers stand under a condition, and are refused where the compiler splits
 * kernels at barriers.
 */
#include "support/test.h"

#include "backend/opencl/dispatcher/dispatcher.h"

static const struct vyre_allocator NO_ALLOCATOR;

static enum vyre_status check(const char *body, bool splits, char reason[VYRE_CL_REASON_BYTES])
{
    static const struct vyre_cl_argument buffer = {.kind = VYRE_CL_ARGUMENT_GLOBAL};
    const struct vyre_cl_dispatcher_kernel kernel = {
        .entry = "k", .arguments = &buffer, .argument_count = 1, .address_count = 1};
    char source[2048];
    snprintf(source, sizeof source,
             "#define SYNC barrier(CLK_LOCAL_MEM_FENCE)\n"
             "#define SYNC_IF(c) if (c) SYNC\n"
             "#define WHEN(c) if (c)\n"
             "#define GUARD(c) if (c) return\n"
             "#define STOP(c) if (c) break\n"
             "#define SEL(c, x) p[0] = (c) ? (x) : 1\n"
             "%s"
             "uint wait(uint x) { SYNC; return x; }\n"
             "uint quick(uint x) { if (x) return 1; return 2; }\n"
             "kernel void k(global uint *p)\n{\n%s\n}\n",
             strstr(body, "CAT(") ? "#define CAT(a, b) a##b\n" : "", body);
    const struct vyre_cl_dispatcher_input input = {
        .source = source,
        .source_bytes = strlen(source),
        .kernels = &kernel,
        .kernel_count = 1,
        .local_size = {64, 1, 1},
        .splits_at_barriers = splits,
    };
    return vyre_cl_dispatcher_check(&NO_ALLOCATOR, &input, reason, NULL);
}

static void check_barriers_that_every_group_meets_takes(void **state)
{
    static const char *const bodies[] = {
        "SYNC; p[0] = 1;",
        "barrier(CLK_LOCAL_MEM_FENCE); if (p[0]) p[1] = 2; else p[2] = 3;",
        "for (uint i = 0; i < 4; i++) { p[i] = i; SYNC; }",
        "for (uint i = 0; i < 4; i++) SYNC;",
        "uint i = 0; while (i < 4) { SYNC; i++; if (i == 3) break; }",
        "uint i = 0; do { SYNC; i++; } while (i < 4);",
        "if (p[0]) { p[1] = 2; } SYNC;",
        "if (p[0]) p[1] = 2; else p[1] = 3; SYNC;",
        "for (uint i = 0; i < 4; i++) { if (p[i]) { p[0]++; break; } } SYNC;",
        "switch (p[0]) { case 1: p[1] = 1; break; default: p[1] = 2; } SYNC;",
        "p[0] = p[1] && p[2] ? 1 : 2; SYNC;",
        "{ SYNC; } if (p[0]) return; p[1] = 1;",
        "p[0] = wait(p[1]);",
        "p[0] = quick(p[1]); SYNC;",
        "if (p[0]) p[1] = quick(p[2]); SYNC;",
        "#ifdef A\n p[1] = 2;\n#else\n p[1] = 3;\n#endif\n SYNC;",
        "p[1] = 2;\n#ifdef A\n p[1] = 4;\n#else\n SYNC;\n#endif\n p[2] = 1;",
        "#pragma unroll\n for (uint i = 0; i < 4; i++) { p[i] = i; SYNC; }",
        "#if 1\n SYNC;\n#endif\n p[0] = 1;",
    };
    char reason[VYRE_CL_REASON_BYTES];
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bodies); i++) {
        if (check(bodies[i], true, reason) != VYRE_OK)
            fail_msg("refused (%s): %s", reason, bodies[i]);
    }
}

static void check_barriers_under_a_condition_refuses(void **state)
{
    static const char *const bodies[] = {
        "if (p[0]) SYNC;",
        "if (p[0]) { SYNC; }",
        "if (p[0]) p[1] = 1; else SYNC;",
        "if (p[0]) p[1] = 1; else { SYNC; }",
        "if (p[0]) for (uint i = 0; i < 4; i++) SYNC;",
        "if (p[0]) for (uint i = 0; i < 4; i++) { SYNC; }",
        "for (uint i = 0; i < 4; i++) { if (i == 2) { SYNC; } }",
        "for (uint i = 0; i < 4; i++) if (i == 2) SYNC;",
        "switch (p[0]) { case 1: SYNC; }",
        "switch (p[0]) { default: { SYNC; } }",
        "if (p[0]) return; SYNC;",
        "if (p[0]) { p[1] = 1; return; } SYNC;",
        "for (uint i = 0; i < 4; i++) { if (p[i]) break; SYNC; }",
        "for (uint i = 0; i < 4; i++) { if (p[i]) { p[0]++; continue; } SYNC; }",
        "for (uint i = 0; i < 4; i++) { switch (p[i]) { case 1: continue; } SYNC; }",
        "p[0] = p[1] ? wait(p[2]) : 3;",
        "p[0] = p[1] && wait(p[2]);",
        "p[0] = p[1] || (wait(p[2]) > 3);",
        "if (p[0]) p[1] = wait(p[2]);",
        "SYNC_IF(p[0]);",
        "if (p[0]) { { SYNC; } }",
        "if (p[0]) do { SYNC; } while (p[1]);",
        "if (p[0])\n#ifndef F\n SYNC;\n#endif\n",
        "if (p[0])\n#if defined A\n p[1] = 2;\n#elif 1\n SYNC;\n#endif\n",
        "if (p[0]) p[1] = 2; else\n#if 1\n SYNC;\n#endif\n",
        "#ifdef A\n if (p[0])\n#else\n p[1] = 2;\n#endif\n SYNC;",
        "p[1] = p[0] &&\n#ifndef F\n (wait(1), 1);\n#else\n 1;\n#endif\n",
        "if (p[0])\n#pragma unroll\n for (uint i = 0; i < 4; i++) { SYNC; }",
        "if (p[0]) __attribute__((opencl_unroll_hint(2))) for (uint i = 0; i < 4; i++) { SYNC; }",
        "if (p[0]) for (uint i = 0; i < 4; i++, wait(i)) p[i] = i;",
        "WHEN(p[0]) SYNC;",
        "GUARD(p[0]); SYNC;",
        "for (uint i = 0; i < 4; i++) { STOP(p[i]); SYNC; }",
        "SEL(p[0], wait(1));",
        "if (p[0]) CAT(bar, rier)(CLK_LOCAL_MEM_FENCE); SYNC;",
    };
    char reason[VYRE_CL_REASON_BYTES];
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bodies); i++) {
        if (check(bodies[i], true, reason) != VYRE_UNSUPPORTED)
            fail_msg("taken: %s", bodies[i]);
        assert_string_equal(reason, "barrier under a condition");
        assert_int_equal(check(bodies[i], false, reason), VYRE_OK); /* it compiles as it should */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_barriers_that_every_group_meets_takes),
        cmocka_unit_test(check_barriers_under_a_condition_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
