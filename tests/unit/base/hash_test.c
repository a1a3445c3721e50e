/*
 * hash_test.c: XXH3-128 against fixed digests and against xxHash itself at every length class.
 */
#include <vyre/hash.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "support/random.h"
#include "support/test.h"

static void hash128_known_bytes_give_the_published_digest(void **state)
{
    (void)state;
    /* What `xxhsum -H2` prints for a file of these bytes. */
    static const struct {
        const char *bytes;
        const char *digest;
    } cases[] = {
        {"", "99aa06d3014798d86001c324468d497f"},
        {"a", "a96faf705af16834e6c632b61e964e1f"},
        {"abc", "06b05ab6733a618578af5f94892f3950"},
        {"message digest", "34ab715d95e3b6490abfabecb8e3a424"},
        {"abcdefghijklmnopqrstuvwxyz", "db7ca44e84843d67ebe162220154e1e6"},
        {"The quick brown fox jumps over the lazy dog", "ddd650205ca3e7fa24a1cc2e3a8a7651"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[VYRE_HASH128_TEXT_BYTES];
        vyre_hash128_format(vyre_hash128(cases[i].bytes, strlen(cases[i].bytes)), text);
        assert_string_equal(text, cases[i].digest);
    }
}

static void hash128_null_of_no_bytes_is_the_empty_digest(void **state)
{
    (void)state;
    assert_true(vyre_hash128_equal(vyre_hash128(NULL, 0), vyre_hash128("", 0)));
}

/* XXH3 changes its way at 4, 9, 17, 129, 241 and, in stripes, at 1,024 bytes. */
static void hash128_every_length_agrees_with_xxhash(void **state)
{
    (void)state;
    static unsigned char bytes[5000];
    struct rng rng = rng_seeded(21);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)rng_next(&rng);
    for (size_t size = 0; size <= sizeof bytes; size += size < 1100 ? 1 : 97) {
        struct vyre_hash128 hash = vyre_hash128(bytes, size);
        XXH128_hash_t expected = XXH3_128bits(bytes, size);
        assert_int_equal(hash.lo, expected.low64);
        assert_int_equal(hash.hi, expected.high64);
    }
}

static void hash128_unaligned_bytes_give_the_same_digest(void **state)
{
    (void)state;
    static unsigned char bytes[600 + 16], copy[600];
    struct rng rng = rng_seeded(22);
    for (size_t i = 0; i < sizeof copy; i++)
        copy[i] = (unsigned char)rng_next(&rng);
    for (size_t offset = 0; offset < 16; offset++) {
        memcpy(bytes + offset, copy, sizeof copy);
        assert_true(vyre_hash128_equal(vyre_hash128(bytes + offset, sizeof copy),
                                       vyre_hash128(copy, sizeof copy)));
    }
}

static void equal_one_half_differs_is_false(void **state)
{
    (void)state;
    struct vyre_hash128 hash = {1, 2}, other_lo = {3, 2}, other_hi = {1, 3};
    assert_true(vyre_hash128_equal(hash, hash));
    assert_false(vyre_hash128_equal(hash, other_lo));
    assert_false(vyre_hash128_equal(hash, other_hi));
}

static void format_small_numbers_keep_leading_zeros(void **state)
{
    (void)state;
    char text[VYRE_HASH128_TEXT_BYTES];
    vyre_hash128_format((struct vyre_hash128){.lo = 0xbcdef, .hi = 0x1a}, text);
    assert_string_equal(text, "000000000000001a00000000000bcdef");
    vyre_hash128_format((struct vyre_hash128){.lo = UINT64_MAX, .hi = 0}, text);
    assert_string_equal(text, "0000000000000000ffffffffffffffff");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hash128_known_bytes_give_the_published_digest),
        cmocka_unit_test(hash128_null_of_no_bytes_is_the_empty_digest),
        cmocka_unit_test(hash128_every_length_agrees_with_xxhash),
        cmocka_unit_test(hash128_unaligned_bytes_give_the_same_digest),
        cmocka_unit_test(equal_one_half_differs_is_false),
        cmocka_unit_test(format_small_numbers_keep_leading_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
