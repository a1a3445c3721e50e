/*
 * type.h: the types of generated programs: integers, vectors of 2 or 4 of them, and structs.
 *
 * A value is kept as the raw bits of its components, zero-extended to 64 bits: a short of -1 is
 * 0xffff. Arithmetic is done in uint, int and ulong only; uchar and short are for storage, and are
 * cast when they are read and written.
 */
#ifndef VYRE_TESTS_KERNELS_TYPE_H
#define VYRE_TESTS_KERNELS_TYPE_H

#include <stdbool.h>
#include <stdint.h>

enum base {
    BASE_NONE = 0, /* void */
    BASE_UCHAR,
    BASE_SHORT,
    BASE_INT,
    BASE_UINT,
    BASE_ULONG,
    BASE_STRUCT,
    BASE_COUNT,
};

struct type {
    uint8_t base;
    uint8_t width;     /* components: 1, 2 or 4; structs: 1 */
    uint8_t structure; /* BASE_STRUCT: its number */
};

enum { TYPE_COMPONENTS_MAX = 4, STRUCT_FIELDS_MAX = 4 };

static inline struct type type_of(enum base base, uint8_t width)
{
    return (struct type){.base = (uint8_t)base, .width = width};
}

static inline struct type type_uint(void)
{
    return type_of(BASE_UINT, 1);
}

static inline bool type_equal(struct type a, struct type b)
{
    return a.base == b.base && a.width == b.width && a.structure == b.structure;
}

/* Bits of one component; 0 for structs. */
static inline uint32_t base_bits(enum base base)
{
    static const uint8_t bits[BASE_COUNT] = {0, 8, 16, 32, 32, 64, 0};
    return bits[base];
}

static inline uint64_t base_mask(enum base base)
{
    uint32_t bits = base_bits(base);
    return bits == 0 ? 0 : UINT64_MAX >> (64 - bits);
}

static inline bool base_is_signed(enum base base)
{
    return base == BASE_SHORT || base == BASE_INT;
}

/* The value that raw bits stand for, sign-extended to 64 bits. */
static inline int64_t base_signed_value(enum base base, uint64_t raw)
{
    uint32_t bits = base_bits(base);
    if (base_is_signed(base) && (raw >> (bits - 1) & 1) != 0)
        return (int64_t)(raw | ~base_mask(base));
    return (int64_t)raw;
}

#endif
