/*
 * checked.h: size arithmetic that reports overflow.
 *
 * Each returns true and stores the exact result, or returns false and stores 0.
 */
#ifndef VYRE_BASE_CHECKED_H
#define VYRE_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/export.h>

VYRE_NODISCARD static inline bool vyre_checked_add_size(size_t a, size_t b, size_t *out_sum)
{
    bool fits = !__builtin_add_overflow(a, b, out_sum);
    if (!fits)
        *out_sum = 0;
    return fits;
}

VYRE_NODISCARD static inline bool vyre_checked_mul_size(size_t a, size_t b, size_t *out_product)
{
    bool fits = !__builtin_mul_overflow(a, b, out_product);
    if (!fits)
        *out_product = 0;
    return fits;
}

/* Rounds up to a multiple of `alignment`, a power of two. */
VYRE_NODISCARD static inline bool vyre_checked_align_size(size_t value, size_t alignment,
                                                          size_t *out_aligned)
{
    if (!vyre_checked_add_size(value, alignment - 1, out_aligned))
        return false;
    *out_aligned &= ~(alignment - 1);
    return true;
}

/* The sum, or UINT64_MAX on overflow. */
static inline uint64_t vyre_saturating_add_u64(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* The product, or UINT64_MAX on overflow. */
static inline uint64_t vyre_saturating_mul_u64(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

#endif
