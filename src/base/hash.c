/*
 * hash.c: XXH3-128 from Debian's xxHash header, compiled in: keys of a few dozen bytes are hashed
 * on the submit path, where inlining halves the cost, and the library needs no further shared
 * object.
 */
#include <vyre/hash.h>

#define XXH_INLINE_ALL
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Weverything"
#elif defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wcast-align"
#pragma GCC diagnostic ignored "-Wpedantic"
#endif
#include <xxhash.h>
#if defined(__clang__)
#pragma clang diagnostic pop
#elif defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

struct vyre_hash128 vyre_hash128(const void *bytes, size_t size_bytes)
{
    XXH128_hash_t hash = XXH3_128bits(bytes ? bytes : "", size_bytes);
    return (struct vyre_hash128){.lo = hash.low64, .hi = hash.high64};
}

void vyre_hash128_format(struct vyre_hash128 hash, char out[VYRE_HASH128_TEXT_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    for (unsigned i = 0; i < 16; i++) {
        out[i] = digits[(hash.hi >> (60 - 4 * i)) & 15];
        out[16 + i] = digits[(hash.lo >> (60 - 4 * i)) & 15];
    }
    out[32] = '\0';
}
