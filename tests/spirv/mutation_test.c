/*
 * mutation_test.c: real modules, cut and with bits turned over, through both readers. What the
 * validator lets through must be reflected or refused, never crash.
 */
#include "spirv/module_fixture.h"

#include "support/random.h"

static const char *const kernels[] = {
    HEAD "layout(set = 0, binding = 0) readonly buffer A { uint v[]; } a;\n" /* a plain one */
         "layout(set = 0, binding = 1) buffer B { uint n; uint v[]; } b;\n"
         "layout(push_constant) uniform P { uint n; float f; } p;\n"
         "layout(constant_id = 2) const uint k = 3;\n"
         "shared uint s[64];\n"
         "void main() { uint i = gl_GlobalInvocationID.x; s[i % 64] = a.v[i]; barrier();\n"
         "if (i < p.n) b.v[i] = s[(i + k) % 64] + uint(p.f * 2.0); }\n",
    "#version 450\n#extension GL_EXT_buffer_reference : require\n" /* addresses and nested structs */
    "layout(local_size_x_id = 1, local_size_y = 2) in;\n"
    "layout(constant_id = 4) const int n = 4;\n"
    "layout(buffer_reference, std430, buffer_reference_align = 4) buffer R { uint v[]; };\n"
    "struct S { vec2 a; mat2 m; float f[4]; };\n"
    "layout(set = 0, binding = 3) uniform U { S s; } u;\n"
    "layout(set = 0, binding = 0) buffer T { R refs[]; } t;\n"
    "layout(push_constant) uniform P { S s; R one; } p;\n"
    "void main() { for (int i = 0; i < n; i++) t.refs[i].v[0] = p.one.v[i] + uint(u.s.f[i]); }\n",
};

struct tally {
    size_t valid, reflected, read;
};

/* One module through everything, in memory of exactly its size. */
static void feed(struct fixture *fixture, const uint32_t *words, size_t count, struct tally *tally)
{
    struct vyre_spirv_reflection out;
    struct vyre_diag diag = {0};
    uint32_t *copy = malloc(count ? count * sizeof *copy : 1);
    assert_non_null(copy);
    memcpy(copy, words, count * sizeof *copy);
    const struct vyre_spirv_tools_table *table = fixture->tools.table;
    bool read = vyre_spirv_words_reflect(&fixture->allocator, copy, count, NULL, NULL, &out,
                                         &diag) == VYRE_OK;
    bool valid = table->validate(copy, count, NULL, &diag) == VYRE_OK;
    enum vyre_status status =
        table->reflect(&fixture->allocator, copy, count, NULL, NULL, &out, &diag);
    bool reflected = status == VYRE_OK;
    assert_true(valid || status != VYRE_OK); /* nothing is reflected that is not valid */
    assert_true(read || status != VYRE_OK);
    tally->valid += valid;
    tally->read += read;
    tally->reflected += reflected;
    free(copy);
}

static void cut_at_every_word_is_refused(void **state)
{
    for (size_t k = 0; k < COUNT_OF(kernels); k++) {
        struct vyre_spirv_words words = compile_text(*state, kernels[k]);
        struct tally tally = {0};
        for (size_t count = 0; count < words.count; count++)
            feed(*state, words.words, count, &tally);
        assert_int_equal(tally.valid, 0);
        assert_int_equal(tally.reflected, 0);
        feed(*state, words.words, words.count, &tally);
        assert_int_equal(tally.reflected, 1);
        struct fixture *fixture = *state;
        fixture->tools.table->free_words(&fixture->allocator, &words);
    }
}

static void random_bits_are_gated_by_the_validator(void **state)
{
    struct fixture *fixture = *state;
    struct rng rng = rng_seeded(7);
    struct tally tally = {0};
    enum { ROUNDS = 10000 };
    struct vyre_spirv_words words[COUNT_OF(kernels)];
    for (size_t k = 0; k < COUNT_OF(kernels); k++)
        words[k] = compile_text(fixture, kernels[k]);
    for (int round = 0; round < ROUNDS; round++) {
        struct vyre_spirv_words *one = &words[(size_t)round % COUNT_OF(kernels)];
        uint32_t *copy = malloc(one->count * sizeof *copy);
        assert_non_null(copy);
        memcpy(copy, one->words, one->count * sizeof *copy);
        for (uint64_t flips = 1 + rng_next(&rng) % 3; flips > 0; flips--) {
            uint64_t at = rng_next(&rng) % one->count;
            /* Low bits turn ids and opcodes into others that exist. */
            uint64_t bit = rng_next(&rng) % (rng_next(&rng) % 2 ? 6 : 32);
            if (at == 3)
                bit %= 6; /* a bound of millions is only slow */
            copy[at] ^= 1u << bit;
        }
        feed(fixture, copy, one->count, &tally);
        free(copy);
    }
    print_message("of %d mutants the reader takes %zu, the validator %zu; %zu are reflected\n",
                  ROUNDS, tally.read, tally.valid, tally.reflected);
    assert_true(tally.reflected > 100);
    assert_true(tally.valid < ROUNDS);
    for (size_t k = 0; k < COUNT_OF(kernels); k++)
        fixture->tools.table->free_words(&fixture->allocator, &words[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_at_every_word_is_refused),
        cmocka_unit_test(random_bits_are_gated_by_the_validator),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
