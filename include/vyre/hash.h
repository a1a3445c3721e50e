/*
 * hash.h: the 128-bit non-cryptographic hash behind digests, shapes and keys.
 *
 * It is XXH3-128 with seed 0, as xxHash defines it: the same bytes give the same digest on every
 * machine, and `xxhsum -H2` prints the same text.
 *
 * Thread-safety: pure functions.
 */
#ifndef VYRE_HASH_H
#define VYRE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A 128-bit digest in two halves. */
struct vyre_hash128 {
    uint64_t lo;
    uint64_t hi;
};

/* Bytes of the text form: 32 hexadecimal digits and the terminator. */
#define VYRE_HASH128_TEXT_BYTES 33

/* The digest of some bytes. `bytes` may be NULL when `size_bytes` is 0. */
VYRE_API struct vyre_hash128 vyre_hash128(const void *bytes, size_t size_bytes);

/* Whether two digests are the same. */
static inline bool vyre_hash128_equal(struct vyre_hash128 a, struct vyre_hash128 b)
{
    return a.lo == b.lo && a.hi == b.hi;
}

/* Writes a digest as 32 lower-case hexadecimal digits, high half first, and a terminator. */
VYRE_API void vyre_hash128_format(struct vyre_hash128 hash, char out[VYRE_HASH128_TEXT_BYTES]);

#ifdef __cplusplus
}
#endif

#endif
