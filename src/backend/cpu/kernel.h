/*
 * kernel.h: host kernels, and what they cost.
 */
#ifndef VYRE_BACKEND_CPU_KERNEL_H
#define VYRE_BACKEND_CPU_KERNEL_H

#include <stdatomic.h>
#include <stdbool.h>

#include <vyre/backend.h>

/* Local memory of a group if the declaration leaves the size open. */
#define VYRE_CPU_LOCAL_BYTES (64u << 10)

struct vyre_cpu_kernel {
    vyre_host_function *function;
    void *library; /* Owned: from dlopen; NULL: the function is the process's */
    uint32_t local_size[3];
    bool has_local; /* some slot is local memory: its address differs between threads */
    size_t scratch_bytes;
    size_t slice_bytes;    /* scratch and local memory of one participant */
    unsigned char *slices; /* Owned: one per participant; NULL when slice_bytes is 0 */
    uint32_t slice_count;

    /*
     * Measured time of one group in 1/16 ns; 0: never run. A kernel that has returned before is
     * trusted to return again, so it may run on a caller's thread.
     */
    _Atomic uint32_t group_cost;
};

enum vyre_status vyre_cpu_kernel_create(const struct vyre_allocator *allocator,
                                        const struct vyre_kernel_desc *desc,
                                        const struct vyre_binding_plan *plan, uint32_t participants,
                                        struct vyre_cpu_kernel **out_kernel,
                                        struct vyre_diag *diag);
void vyre_cpu_kernel_destroy(const struct vyre_allocator *allocator,
                             struct vyre_cpu_kernel *kernel);

/* Learns from a measured run of `groups` groups; true if the cost changed much. */
bool vyre_cpu_kernel_learn(struct vyre_cpu_kernel *kernel, uint64_t groups, uint64_t elapsed_ns);

/* Expected time of `groups` groups; 0 when the kernel was never run. */
static inline uint64_t vyre_cpu_kernel_cost_ns(const struct vyre_cpu_kernel *kernel,
                                               uint64_t groups)
{
    /* Relaxed: an estimate orders nothing. */
    uint64_t cost = atomic_load_explicit(&kernel->group_cost, memory_order_relaxed);
    return (cost * groups + 15) / 16;
}

#endif
