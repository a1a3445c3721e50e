/*
 * kernels.h: the kernels of the conformance suite.
 *
 * A kernel is one row of a table: what it declares and its payload per target. The host function
 * stands in kernels.c, its twins in OpenCL C and GLSL under payloads/; tests/payloads/README.md says
 * what they agree on. The rows marked "host only" have no twins, and say why.
 */
#ifndef VYRE_TESTS_CONFORMANCE_KERNELS_H
#define VYRE_TESTS_CONFORMANCE_KERNELS_H

#include <stdatomic.h>
#include <stdint.h>

#include <vyre/kernel.h>

enum kernel_id {
    KERNEL_ADD = 0,     /* 0: data          data[i] += value                        (64) */
    KERNEL_MIX,         /* 0: from, 1: to   to[i] = to[i] * factor + from[i] + i    (64) */
    KERNEL_APPEND,      /* 0: log           log[++log[0]] = value, if there is room  (1) */
    KERNEL_IDENTIFY,    /* 0: visits, 1: ids  counts visits of groups, writes ids    (1) */
    KERNEL_ECHO,        /* 0: out           writes its mixed constants               (1) */
    KERNEL_WIDE,        /* 0: out           writes its 32 constants                  (1) */
    KERNEL_SPECIALIZED, /* 0: out         writes its three specialization values   (1) */
    KERNEL_REVERSE,     /* 0: in, 1: out, 2: local   turns 64 words round           (64) */
    KERNEL_TABLE_SUM,   /* 0: table, 1: out out[i] = sum over the table of [i]      (64) */
    KERNEL_TABLE_ADD,   /* 0: table         table[group][i] += group + 1             (1) */
    KERNEL_SPARSE,      /* 9: out, 2: a, 5: b   out[i] = 1000 * a[i] + b[i]         (64) */
    KERNEL_SCRATCH,     /* host only. 0: out, 1: local  1 per group with right scratch (1) */
    KERNEL_ABI,         /* host only. 0: out, 1: a, 2: b  writes what it was given   (8, 4, 2) */
    KERNEL_GATE,        /* host only. 0: data waits for a gate, then data[0] += 1    (1) */
    KERNEL_COUNT,
};

enum { LOCAL_SIZE = 64, GROUP_SCRATCH_BYTES = 1000, TABLE_ADD_WORDS = 16 };

/* Constants, laid out as declared. */
struct add_constants {
    uint32_t value;
    uint32_t count;
};

struct mix_constants {
    uint32_t factor;
    uint32_t count;
};

struct append_constants {
    uint32_t value;
    uint32_t words; /* of the log, its count included */
};

struct table_constants {
    uint32_t table_count;
    uint32_t count;
};

/* Natural alignment leaves holes at 4, 20 and 36. */
struct echo_constants {
    uint32_t a;
    uint64_t b;
    int32_t c;
    double d;
    float e;
    int64_t f;
};

/* What KERNEL_ECHO writes: each scalar's bits, widened without a sign. */
enum { ECHO_WORDS64 = 6 };

/* What KERNEL_ABI writes for its last group, as 64-bit words. */
enum abi_word {
    ABI_SIZE_BYTES,
    ABI_BUFFER_COUNT,
    ABI_GROUP_ID,                         /* 3 */
    ABI_GROUP_COUNT = ABI_GROUP_ID + 3,   /* 3 */
    ABI_LOCAL_SIZE = ABI_GROUP_COUNT + 3, /* 3 */
    ABI_SPECIALIZATION_COUNT = ABI_LOCAL_SIZE + 3,
    ABI_BUFFER_SIZES,                          /* 3 */
    ABI_CONSTANTS_SKEW = ABI_BUFFER_SIZES + 3, /* address modulo 16 */
    ABI_CONSTANT,
    ABI_SCRATCH_BYTES,
    ABI_WORD_COUNT,
};

/* Work that the test holds back. Lives in the test; kernels get its address as a constant. */
struct gate {
    _Atomic uint32_t open;    /* kernels poll it; not 0: go through */
    _Atomic uint32_t entered; /* kernels that came */
    _Atomic uint64_t thread;  /* that the last one ran on: its pthread_t */
};

/* A row, resolved: a desc that a case may change before it creates the kernel. */
struct kernel_plan {
    struct vyre_payload payloads[3];
    struct vyre_kernel_desc desc;
};

void kernel_plan_init(struct kernel_plan *plan, enum kernel_id id);

/* Why the host function is the only payload; NULL: there are others. */
const char *kernel_host_only_reason(enum kernel_id id);

#endif
