/*
 * workload.h: a workload file, read and checked.
 *
 * The whole file is validated before anything runs. A workload in memory is complete and consistent:
 * names are resolved to indices, ranges are in bounds, constants are laid out as bytes. What depends on
 * the device (its limits, which payload it accepts) is checked when a session is created
 * (run/session.h).
 *
 * Everything belongs to one arena; nothing refers to the JSON.
 */
#ifndef VYRE_CLI_WORKLOAD_H
#define VYRE_CLI_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/vyre.h>

/* Element types of buffers. */
enum workload_type {
    WORKLOAD_U8 = 1,
    WORKLOAD_I8,
    WORKLOAD_U16,
    WORKLOAD_I16,
    WORKLOAD_U32,
    WORKLOAD_I32,
    WORKLOAD_F32,
    WORKLOAD_U64,
    WORKLOAD_I64,
    WORKLOAD_F64,
};

size_t workload_type_size(enum workload_type type);
const char *workload_type_name(enum workload_type type);

enum workload_init_kind {
    WORKLOAD_INIT_VALUE = 0, /* every element; the default is 0 */
    WORKLOAD_INIT_RANDOM,    /* xoshiro256** seeded by splitmix64: see docs/workloads.md */
    WORKLOAD_INIT_RAMP,      /* start + i * step */
    WORKLOAD_INIT_FILE,      /* the file's bytes */
};

struct workload_init {
    enum workload_init_kind kind;
    bool is_integer; /* VALUE, RAMP: the JSON numbers were integers */
    double value[2]; /* VALUE: value; RAMP: start, step */
    int64_t integer[2];
    uint64_t seed;    /* RANDOM */
    const char *path; /* FILE: resolved against the workload's folder */
};

struct workload_buffer {
    const char *name;
    enum workload_type type;
    size_t count;
    size_t size_bytes;
    struct workload_init init;
};

struct workload_range {
    uint32_t buffer;
    size_t offset_bytes;
    size_t size_bytes; /* resolved: never 0 */
};

/* A number as the file has it; 2.0 counts as an integer. */
struct workload_value {
    const char *name; /* the constant's */
    bool is_integer;
    int64_t integer; /* 0 when it is not an integer */
    double value;
};

struct workload_constant {
    const char *name;
    enum vyre_scalar type;
    size_t offset_bytes;
};

struct workload_specialization {
    uint32_t id;
    const char *name;
    enum vyre_scalar type;
    uint64_t value; /* default: raw bits */
};

/* Paths are resolved. NULL: the kernel has no such payload. */
struct workload_kernel {
    const char *name;
    const char *glsl_path;
    const char *spirv_path;
    const char *opencl_path;
    const char *host_name;    /* a function of the tool */
    const char *host_library; /* or a shared object ... */
    const char *host_symbol;  /* ... and its function */
    const char *entry;        /* OpenCL kernel */
    const char *spirv_entry;  /* "main" by default */
    uint32_t local_size[3];   /* zeros: to be reflected */
    struct vyre_binding_desc *bindings;
    size_t binding_count;
    bool bindings_given;
    struct workload_constant *constants;
    size_t constant_count;
    size_t constants_size_bytes;
    struct workload_specialization *specializations;
    size_t specialization_count;
    bool constants_given; /* false: to be reflected; the commands then carry `values` */
};

enum workload_command_type {
    WORKLOAD_DISPATCH = 0,
    WORKLOAD_COPY,
    WORKLOAD_FILL,
    WORKLOAD_UPLOAD,
    WORKLOAD_DOWNLOAD,
};

enum workload_bind_kind {
    WORKLOAD_BIND_RANGE = 0,
    WORKLOAD_BIND_TABLE,
    WORKLOAD_BIND_LOCAL,
};

struct workload_bind {
    uint32_t slot;
    enum workload_bind_kind kind;
    struct workload_range range;
    uint32_t *table; /* buffers */
    uint32_t table_count;
    uint32_t local_bytes;
    enum vyre_access
        access; /* of a TABLE, as the file says, if the kernel has no bindings; else 0 */
};

struct workload_command {
    enum workload_command_type type;
    uint32_t kernel; /* DISPATCH */
    uint32_t groups[3];
    struct workload_bind *binds;
    size_t bind_count;
    void *constants;              /* laid out; NULL when the kernel has none */
    uint64_t *specialization;     /* one per value of the kernel; NULL: the defaults */
    struct workload_range from;   /* COPY */
    struct workload_range target; /* COPY to; FILL, UPLOAD, DOWNLOAD */
    uint32_t fill_word;
    struct workload_init init; /* UPLOAD */
    /* DISPATCH of a kernel without `constants_given`: by name; reflection will lay them out. */
    struct workload_value *values;
    size_t value_count;
};

struct workload_batch {
    const char *name;
    struct workload_command *commands;
    size_t command_count;
};

/* One entry of the schedule: batches, in order or shuffled, and how often. */
struct workload_step {
    uint32_t *batches;
    size_t batch_count;
    uint64_t times; /* shuffle: submissions in all; else rounds */
    bool shuffle;
    uint64_t seed;
};

struct workload {
    const char *name;
    const char *path;
    struct workload_buffer *buffers;
    size_t buffer_count;
    struct workload_kernel *kernels;
    size_t kernel_count;
    struct workload_batch *batches;
    size_t batch_count;
    struct workload_step *steps;
    size_t step_count;
    uint32_t *outputs; /* buffers */
    size_t output_count;
    size_t memory_bytes; /* of all buffers: known before anything is allocated */
    void *owner;         /* of all of the above */
};

/* Limits of a file, independent of the device. */
#define WORKLOAD_FILE_BYTES_MAX (64u << 20)
#define WORKLOAD_NAMES_MAX      65536
#define WORKLOAD_DEPTH_MAX      32
#define WORKLOAD_VALUES_MAX     (4u << 20) /* of JSON: the cost of reading grows with them */
#define WORKLOAD_NAME_MAX       128        /* characters of a name */
#define WORKLOAD_BINDINGS_MAX   64         /* the runtime's limit */
#define WORKLOAD_TABLE_MAX      65536
#define WORKLOAD_TIMES_MAX      1000000000000
#define WORKLOAD_MEMORY_MAX     ((size_t)1 << 40) /* bytes of one buffer, and of all */

/*
 * Reads and checks a file, or bytes (for tests and fuzzing; `folder` resolves paths). On failure the
 * diagnostic's message starts with the JSON path, as in "$.batches.step[1].groups: ...".
 */
VYRE_NODISCARD enum vyre_status workload_load(const char *path, struct workload **out_workload,
                                              struct vyre_diag *diag);
VYRE_NODISCARD enum vyre_status workload_parse(const char *bytes, size_t size_bytes,
                                               const char *folder, struct workload **out_workload,
                                               struct vyre_diag *diag);
void workload_destroy(struct workload **workload);

/*
 * Fills memory as `init` says; `bytes` has room for `count` elements of `type`. Fails only for files
 * that cannot be read or are too short.
 */
VYRE_NODISCARD enum vyre_status workload_fill(const struct workload_init *init,
                                              enum workload_type type, void *bytes, size_t count,
                                              struct vyre_diag *diag);

/*
 * The raw bits of a value of `type`, for constants whose types were reflected. Fails, with the value's
 * name in the message, if the type cannot hold it.
 */
VYRE_NODISCARD enum vyre_status workload_scalar_encode(enum vyre_scalar type,
                                                       const struct workload_value *value,
                                                       uint64_t *out_bits, struct vyre_diag *diag);

#endif
