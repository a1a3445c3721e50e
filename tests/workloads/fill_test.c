/*
 * fill_test.c: contents of buffers.
 *
 * The random numbers are those of docs/workloads.md. They come from another implementation, which
 * was held against the published outputs of splitmix64 (seed 1234567) and xoshiro256** (state
 * 1, 2, 3, 4).
 */
#include "support/test.h"

#include <unistd.h>

#include "refused.h"

static void fill(const struct workload_init *init, enum workload_type type, void *bytes,
                 size_t count)
{
    assert_int_equal(workload_fill(init, type, bytes, count, NULL), VYRE_OK);
}

/* ---- Random ------------------------------------------------------------------------------------ */

static const struct {
    uint64_t seed;
    uint64_t outputs[4];
} vectors[] = {
    {0,
     {UINT64_C(0x99ec5f36cb75f2b4), UINT64_C(0xbf6e1f784956452a), UINT64_C(0x1a5f849d4933e6e0),
      UINT64_C(0x6aa594f1262d2d2c)}},
    {1,
     {UINT64_C(0xb3f2af6d0fc710c5), UINT64_C(0x853b559647364cea), UINT64_C(0x92f89756082a4514),
      UINT64_C(0x642e1c7bc266a3a7)}},
    {INT64_MAX,
     {UINT64_C(0x0e1c2b4b82e8c0c5), UINT64_C(0x19167a27a6e0d81b), UINT64_C(0x7b5f1a55d35896bd),
      UINT64_C(0x0d19f02bf9005c90)}},
};

static void fill_random_integers_takes_bytes_of_outputs(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(vectors); i++) {
        struct workload_init init = {.kind = WORKLOAD_INIT_RANDOM, .seed = vectors[i].seed};
        uint64_t words[4];
        fill(&init, WORKLOAD_U64, words, 4);
        assert_memory_equal(words, vectors[i].outputs, sizeof words);
        /* Types do not matter, only bytes; a last piece of an output is its low end. */
        unsigned char bytes[22];
        memset(bytes, 0xaa, sizeof bytes);
        fill(&init, WORKLOAD_I8, bytes, 21);
        assert_memory_equal(bytes, vectors[i].outputs, 21);
        assert_int_equal(bytes[21], 0xaa);
        uint16_t halves[3];
        fill(&init, WORKLOAD_U16, halves, 3);
        assert_memory_equal(halves, vectors[i].outputs, sizeof halves);
    }
}

static void fill_random_bytes_are_little_endian(void **state)
{
    (void)state;
    static const unsigned char wanted[] = {0xb4, 0xf2, 0x75, 0xcb, 0x36,
                                           0x5f, 0xec, 0x99, 0x2a, 0x45};
    struct workload_init init = {.kind = WORKLOAD_INIT_RANDOM};
    unsigned char bytes[sizeof wanted];
    fill(&init, WORKLOAD_U8, bytes, sizeof bytes);
    assert_memory_equal(bytes, wanted, sizeof bytes);
}

static void fill_random_floats_takes_one_output_each(void **state)
{
    (void)state;
    static const float wanted_f32[] = {11793071 * 0x1p-24f, 8731477 * 0x1p-24f, 9631895 * 0x1p-24f};
    static const double wanted_f64[] = {0.7029218331588505, 0.5204366199388569, 0.5741057000197225};
    struct workload_init init = {.kind = WORKLOAD_INIT_RANDOM, .seed = 1};
    float f32[3];
    double f64[3];
    fill(&init, WORKLOAD_F32, f32, 3);
    fill(&init, WORKLOAD_F64, f64, 3);
    assert_memory_equal(f32, wanted_f32, sizeof f32);
    assert_memory_equal(f64, wanted_f64, sizeof f64);
}

/* ---- Value, ramp ------------------------------------------------------------------------------- */

static void fill_value_writes_every_element(void **state)
{
    (void)state;
    struct workload_init init = {.is_integer = true, .integer = {-2}, .value = {-2.0}};
    int16_t halves[3];
    int64_t words[2];
    float floats[2];
    fill(&init, WORKLOAD_I16, halves, 3);
    fill(&init, WORKLOAD_I64, words, 2);
    fill(&init, WORKLOAD_F32, floats, 2);
    assert_true(halves[0] == -2 && halves[1] == -2 && halves[2] == -2);
    assert_true(words[0] == -2 && words[1] == -2);
    assert_true(floats[0] == -2.0f && floats[1] == -2.0f);
}

static void fill_value_keeps_negative_zero(void **state)
{
    (void)state;
    struct workload_init init = {.value = {-0.0}};
    uint64_t bits;
    fill(&init, WORKLOAD_F64, &bits, 1);
    assert_int_equal(bits, UINT64_C(1) << 63);
}

static void fill_ramp_wraps_integers(void **state)
{
    (void)state;
    struct workload_init init = {
        .kind = WORKLOAD_INIT_RAMP, .is_integer = true, .integer = {250, 3}, .value = {250, 3}};
    static const uint8_t wanted[] = {250, 253, 0, 3};
    uint8_t bytes[4];
    fill(&init, WORKLOAD_U8, bytes, 4);
    assert_memory_equal(bytes, wanted, sizeof bytes);
    init.integer[1] = INT64_MIN;
    uint64_t words[3];
    fill(&init, WORKLOAD_U64, words, 3);
    assert_int_equal(words[1], (UINT64_C(1) << 63) + 250);
    assert_int_equal(words[2], 250);
}

static void fill_ramp_computes_floats_in_double(void **state)
{
    (void)state;
    struct workload_init init = {.kind = WORKLOAD_INIT_RAMP, .value = {0.5, 0.1}};
    float floats[100];
    fill(&init, WORKLOAD_F32, floats, 100);
    for (size_t i = 0; i < 100; i++) {
        double step = (double)i * 0.1;
        float wanted = (float)(0.5 + step);
        assert_memory_equal(&floats[i], &wanted, sizeof wanted);
    }
}

/* ---- File -------------------------------------------------------------------------------------- */

static void fill_file_reads_its_beginning(void **state)
{
    (void)state;
    struct workload_init init = {.kind = WORKLOAD_INIT_FILE,
                                 .path = VYRE_TEST_WORKLOADS "/valid/data.bin"};
    uint32_t words[64];
    fill(&init, WORKLOAD_U32, words, 2);
    static const unsigned char wanted[] = {0, 1, 2, 3, 4, 5, 6, 7};
    assert_memory_equal(words, wanted, sizeof wanted);
    fill(&init, WORKLOAD_U32, words, 64);
}

static void fill_short_or_missing_file_fails(void **state)
{
    (void)state;
    struct workload_init init = {.kind = WORKLOAD_INIT_FILE,
                                 .path = VYRE_TEST_WORKLOADS "/valid/data.bin"};
    uint32_t words[65];
    struct vyre_diag diag;
    assert_tool_diag(workload_fill(&init, WORKLOAD_U32, words, 65, &diag), diag,
                     CLI_DIAG_WORKLOAD_FILE);
    init.path = "/nonexistent/data.bin";
    assert_tool_diag(workload_fill(&init, WORKLOAD_U32, words, 1, &diag), diag,
                     CLI_DIAG_WORKLOAD_FILE);
    assert_int_not_equal(diag.native_code, 0);
}

static void type_names_and_sizes_agree(void **state)
{
    (void)state;
    for (int type = WORKLOAD_U8; type <= WORKLOAD_F64; type++) {
        const char *name = workload_type_name((enum workload_type)type);
        assert_int_equal(workload_type_size((enum workload_type)type),
                         strtoul(name + 1, NULL, 10) / 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fill_random_integers_takes_bytes_of_outputs),
        cmocka_unit_test(fill_random_bytes_are_little_endian),
        cmocka_unit_test(fill_random_floats_takes_one_output_each),
        cmocka_unit_test(fill_value_writes_every_element),
        cmocka_unit_test(fill_value_keeps_negative_zero),
        cmocka_unit_test(fill_ramp_wraps_integers),
        cmocka_unit_test(fill_ramp_computes_floats_in_double),
        cmocka_unit_test(fill_file_reads_its_beginning),
        cmocka_unit_test(fill_short_or_missing_file_fails),
        cmocka_unit_test(type_names_and_sizes_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
