/*
 * hash.c: XXH3-128 from Debian's xxHash header, compiled in, so that the library needs no further
 * shared object.
 */
#include <vyre/hash.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

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
