/*
 * u128.h: unsigned 128-bit numbers as a plain struct.
 *
 * Savings of a policy can exceed 64 bits and are never wrapped or clamped. The arithmetic is inline
 * and exact: add and sub say when the result does not fit, mul cannot overflow.
 *
 * Thread-safety: pure functions.
 */
#ifndef VYRE_U128_H
#define VYRE_U128_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An unsigned number of 128 bits, in two halves. */
struct vyre_u128 {
    uint64_t lo;
    uint64_t hi;
};

/* Bytes that the decimal text of any value takes, the terminator included. */
#define VYRE_U128_TEXT_BYTES 40

/* A 64-bit number as a 128-bit one. */
static inline struct vyre_u128 vyre_u128_from_u64(uint64_t value)
{
    struct vyre_u128 result = {value, 0};
    return result;
}

/* Whether the number is 0. */
static inline bool vyre_u128_is_zero(struct vyre_u128 value)
{
    return (value.lo | value.hi) == 0;
}

/* Negative, zero or positive as a is less than, equal to or greater than b. */
static inline int vyre_u128_compare(struct vyre_u128 a, struct vyre_u128 b)
{
    if (a.hi != b.hi)
        return a.hi < b.hi ? -1 : 1;
    return (a.lo > b.lo) - (a.lo < b.lo);
}

/* Adds: *out_sum = a + b. Returns false, with *out_sum zeroed, when the sum does not fit. */
VYRE_NODISCARD static inline bool vyre_u128_add(struct vyre_u128 a, struct vyre_u128 b,
                                                struct vyre_u128 *out_sum)
{
    uint64_t lo = a.lo + b.lo;
    uint64_t carry = lo < a.lo;
    uint64_t hi = a.hi + b.hi;
    bool fits = hi >= a.hi && hi + carry >= hi;
    out_sum->lo = fits ? lo : 0;
    out_sum->hi = fits ? hi + carry : 0;
    return fits;
}

/* Subtracts: *out_difference = a - b. Returns false, with *out_difference zeroed, when a < b. */
VYRE_NODISCARD static inline bool vyre_u128_sub(struct vyre_u128 a, struct vyre_u128 b,
                                                struct vyre_u128 *out_difference)
{
    bool fits = vyre_u128_compare(a, b) >= 0;
    uint64_t borrow = a.lo < b.lo;
    out_difference->lo = fits ? a.lo - b.lo : 0;
    out_difference->hi = fits ? a.hi - b.hi - borrow : 0;
    return fits;
}

/* Multiplies two 64-bit numbers: the whole product. */
static inline struct vyre_u128 vyre_u128_mul_u64(uint64_t a, uint64_t b)
{
    struct vyre_u128 result;
#ifdef __SIZEOF_INT128__
    __extension__ unsigned __int128 product = (unsigned __int128)a * b;
    result.lo = (uint64_t)product;
    result.hi = (uint64_t)(product >> 64);
#else
    uint64_t a_lo = (uint32_t)a, a_hi = a >> 32;
    uint64_t b_lo = (uint32_t)b, b_hi = b >> 32;
    uint64_t low = a_lo * b_lo;
    uint64_t mid = a_hi * b_lo + (low >> 32);
    uint64_t mid2 = a_lo * b_hi + (uint32_t)mid;
    result.lo = (mid2 << 32) | (uint32_t)low;
    result.hi = a_hi * b_hi + (mid >> 32) + (mid2 >> 32);
#endif
    return result;
}

/*
 * Writes a number as decimal text. Works as snprintf does: always terminated when `capacity` is not
 * 0; returns the length of the whole text.
 */
VYRE_API size_t vyre_u128_format(struct vyre_u128 value, char *out, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
