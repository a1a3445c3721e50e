/*
 * dispatcher_local_test.c: generated dispatchers of kernels with local memory and barriers, on a real OpenCL
 * device.
 */
#include "opencl/dispatcher_twin.h"

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
        twin_compare_all(state, &twins[i], false);
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
    twin_compare_all(state, &twin, false);
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
    twin_compare_all(state, &twin, false);
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
    twin_compare_all(state, &twin, false);
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
    twin_compare_all(state, &twin, false);
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
    twin_compare_all(state, &twin, true);
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
    twin_compare_all(state, &chain, false);
    twin_compare_all(state, &pair, false);
    twin_compare_all(state, &transpose, false);
    twin_compare_all(state, &early, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dispatcher_local_variables_under_conditionals_equal_enqueue),
        cmocka_unit_test(dispatcher_local_type_used_in_products_equals_enqueue),
        cmocka_unit_test(dispatcher_local_arrays_and_barriers_equal_enqueue),
        cmocka_unit_test(dispatcher_types_with_operators_equal_enqueue),
        cmocka_unit_test(dispatcher_local_arguments_equal_enqueue),
        cmocka_unit_test(dispatcher_local_memory_without_barrier_equals_enqueue),
        cmocka_unit_test(dispatcher_tails_behind_barriers_equal_enqueues),
    };
    return cmocka_run_group_tests(tests, twin_open, twin_close);
}
