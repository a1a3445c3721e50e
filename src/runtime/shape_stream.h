/*
 * shape_stream.h: hashes a stream of words to 128 bits, one block at a time; the hash of each block
 * starts the next.
 */
#ifndef VYRE_RUNTIME_SHAPE_STREAM_H
#define VYRE_RUNTIME_SHAPE_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <vyre/hash.h>

#define VYRE_SHAPE_BLOCK_WORDS 256

/* Only `count` needs to be set, to 0. */
struct vyre_shape_stream {
    uint64_t words[VYRE_SHAPE_BLOCK_WORDS];
    uint32_t count;
};

static inline void vyre_shape_put(struct vyre_shape_stream *stream, uint64_t word)
{
    if (stream->count == VYRE_SHAPE_BLOCK_WORDS) {
        struct vyre_hash128 hash = vyre_hash128(stream->words, sizeof stream->words);
        stream->words[0] = hash.lo;
        stream->words[1] = hash.hi;
        stream->count = 2;
    }
    stream->words[stream->count++] = word;
}

static inline void vyre_shape_put_bytes(struct vyre_shape_stream *stream, const void *bytes,
                                        uint32_t size_bytes)
{
    const unsigned char *rest = bytes;
    while (size_bytes > 0) {
        uint64_t word = 0;
        uint32_t part = size_bytes < sizeof word ? size_bytes : (uint32_t)sizeof word;
        memcpy(&word, rest, part);
        vyre_shape_put(stream, word);
        rest += part;
        size_bytes -= part;
    }
}

static inline struct vyre_hash128 vyre_shape_end(const struct vyre_shape_stream *stream)
{
    return vyre_hash128(stream->words, stream->count * sizeof stream->words[0]);
}

#endif
