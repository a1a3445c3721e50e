/*
 * kernels.h: the kernels of the differential test, as a table.
 *
 * All are integer only. Every group writes bytes that no other group writes, reads nothing that
 * another group of the same dispatch writes, and needs no order of groups: what a GPU demands too.
 * A table entry says what the generator must know to make a valid dispatch: how many words each
 * binding needs per group, and what each constant means.
 *
 * Lengths reach the kernels as constants, because not every target can ask a buffer for its size.
 *
 * The host functions stand in kernels.c, their twins in OpenCL C and GLSL under payloads/;
 * tests/payloads/README.md says what they agree on.
 */
#ifndef VYRE_TESTS_DIFFERENTIAL_KERNELS_H
#define VYRE_TESTS_DIFFERENTIAL_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/kernel.h>

enum {
    KERNEL_BINDINGS_MAX = 4,
    KERNEL_CONSTANTS_MAX = 4,
    KERNEL_CONSTANTS_BYTES = 32,
    KERNEL_SPECIALIZATION_MAX = 2,
};

enum constant_use {
    USE_RANDOM = 0,
    USE_ROUNDS,      /* how much work a group does: small */
    USE_WORDS,       /* the length of the range at `binding`, in words */
    USE_TABLE_COUNT, /* the number of entries in the dispatch's table */
    USE_TABLE_WORDS, /* the words of the shortest of them */
};

struct kernel_constant {
    enum vyre_scalar scalar;
    enum constant_use use;
    uint32_t binding; /* USE_WORDS: an index into the kernel's bindings */
};

/* A binding and the words that it needs per group; 0: the declared number, or any if that is open. */
struct kernel_binding {
    struct vyre_binding_desc desc;
    uint32_t words_per_group;
};

struct test_kernel {
    const char *name; /* of the OpenCL kernel, too */
    vyre_host_function *host;
    const char *opencl_c;
    const char *glsl;
    uint32_t local_size[3];
    struct kernel_binding bindings[KERNEL_BINDINGS_MAX]; /* ascending by slot */
    uint32_t binding_count;
    struct kernel_constant constants[KERNEL_CONSTANTS_MAX];
    uint32_t constant_count;
    uint64_t specialization_defaults[KERNEL_SPECIALIZATION_MAX];
    uint32_t specialization_count;
    size_t scratch_bytes;
};

enum kernel_index {
    KERNEL_LCG = 0,
    KERNEL_ADD,
    KERNEL_REVERSE,
    KERNEL_STENCIL,
    KERNEL_GATHER,
    KERNEL_SCATTER,
    KERNEL_REDUCE,
    KERNEL_TABLE_SUM,
    KERNEL_TABLE_WRITE,
    KERNEL_HISTOGRAM,
    KERNEL_SPECIALIZED,
    KERNEL_PATTERN,
    KERNEL_SORT,
    KERNEL_PALETTE,
    KERNEL_COUNT,
};

extern const struct test_kernel test_kernels[KERNEL_COUNT];

/* KERNEL_LCG with a mistake: what --inject-fault puts in its place. */
extern const struct test_kernel kernel_lcg_faulty;

/* The offset of a kernel's constant, and the size of all of them. */
uint32_t kernel_constant_offset(const struct test_kernel *kernel, uint32_t constant);
uint32_t kernel_constants_size(const struct test_kernel *kernel);

bool kernel_binding_is_local(const struct kernel_binding *binding);

/* What the dispatch's hazards take the binding for. Local memory: none. */
enum vyre_access kernel_binding_access(const struct kernel_binding *binding);

#endif
