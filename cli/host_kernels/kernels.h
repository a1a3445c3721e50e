/*
 * kernels.h: all host kernels, and how they reach their buffers and constants.
 *
 * Each does the work of one work-group of the .comp and .cl file of the same name in examples/workloads,
 * with the same result bit for bit (for floats: the same order of operations; exp and sqrt are those of
 * the C library).
 */
#ifndef VYRE_CLI_HOST_KERNELS_KERNELS_H
#define VYRE_CLI_HOST_KERNELS_KERNELS_H

#include <stdint.h>

#include <vyre/kernel.h>

/* Alphabetical: lookups rely on it. */
#define HOST_KERNELS(X)      \
    X(big_kernels_matmul)    \
    X(big_kernels_stencil)   \
    X(decode_argmax)         \
    X(decode_attend)         \
    X(decode_embed)          \
    X(decode_matvec)         \
    X(decode_residual)       \
    X(decode_rmsnorm)        \
    X(decode_rope)           \
    X(decode_scores)         \
    X(decode_silu_gate)      \
    X(decode_softmax)        \
    X(fan_out_echo)          \
    X(fan_out_gain)          \
    X(fan_out_limit)         \
    X(fan_out_lowpass)       \
    X(fan_out_mix_tracks)    \
    X(gather_64_lookup)      \
    X(gather_64_update)      \
    X(scan_jobs_match)       \
    X(scan_jobs_tally)       \
    X(shape_shift_correlate) \
    X(stream_upload_box)     \
    X(stream_upload_fold)    \
    X(stream_upload_sobel)

#define HOST_KERNEL_DECLARE(name) vyre_host_function name;
HOST_KERNELS(HOST_KERNEL_DECLARE)
#undef HOST_KERNEL_DECLARE

/* Buffers of different slots never overlap in the canonical workloads: `restrict` is safe. */
static inline const void *host_input(const struct vyre_host_group *group, uint32_t index)
{
    return group->buffers[index].data;
}

static inline void *host_output(const struct vyre_host_group *group, uint32_t index)
{
    return group->buffers[index].data;
}

/* The first invocation of the group, along x. */
static inline uint32_t host_first(const struct vyre_host_group *group)
{
    return group->group_id[0] * group->local_size[0];
}

#endif
