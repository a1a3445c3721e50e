/*
 * internal.h: what the files of the workload reader share.
 *
 *   workload.c            a file or bytes in, a workload out
 *   workload_text.c       bytes to JSON; where in it an error stands
 *   workload_path.c       errors with JSON paths, memory, names
 *   workload_json.c       typed reads of JSON values
 *   workload_memory.c     the arena that a workload lives in
 *   workload_type.c       element types and scalars: sizes, ranges, bits
 *   workload_files.c      paths that stay in the workload's folder
 *   workload_buffers.c    buffers, their contents, ranges of them
 *   workload_kernels.c    kernels and their payloads
 *   workload_interface.c  what a kernel binds: slots, constants, specialization values
 *   workload_batches.c    commands
 *   workload_dispatch.c   what a dispatch gives its kernel
 *   workload_schedule.c   schedule and outputs
 *   workload_fill.c       contents of buffers
 *
 * The readers return true, or false with the reader's error set; the first error ends the reading.
 * What they read goes into the arena, so that a failure has nothing to undo.
 */
#ifndef VYRE_CLI_WORKLOAD_INTERNAL_H
#define VYRE_CLI_WORKLOAD_INTERNAL_H

#include <jansson.h>

#include "terminal/diag.h"
#include "terminal/span.h"
#include "workload/workload.h"

/* ---- Memory ------------------------------------------------------------------------------------ */

struct workload_arena;

struct workload_arena *workload_arena_create(void); /* NULL: no memory */
void workload_arena_destroy(struct workload_arena *arena);

/* Zeroed memory for `count` things of `size` bytes, aligned for all of C's types. NULL: none left. */
void *workload_arena_take(struct workload_arena *arena, size_t count, size_t size);

/* ---- Where a value stands ---------------------------------------------------------------------- */

/* A JSON value and the way to it from the root. Lives on the stack of whoever reads the value. */
struct workload_node {
    const struct workload_node *parent; /* NULL: the root */
    const char *key;                    /* of an object; NULL: `index` of an array counts */
    size_t index;
    json_t *json; /* Borrowed; NULL: an optional key that is not there */
};

#define WORKLOAD_PATH_BYTES 160

/* A JSON path as text; the middle of a long one is left out. */
struct workload_path {
    char text[WORKLOAD_PATH_BYTES];
};

/* One step of a path: a key, or an index when `key.bytes` is NULL. */
struct workload_path_step {
    struct cli_span key;
    size_t index;
};

struct workload_path workload_path_format(const struct workload_path_step *steps, size_t count);

/* ---- The reader -------------------------------------------------------------------------------- */

struct workload_reader {
    struct workload *workload;
    struct workload_arena *arena;
    const char *folder; /* Borrowed */
    json_t *buffers;    /* Owned: names to their index */
    json_t *kernels;
    json_t *batches;
    struct vyre_diag error;
};

/* Sets the reader's error, with the node's path before the message. Always false. */
bool workload_fail(struct workload_reader *reader, const struct workload_node *node,
                   enum cli_diag_id id, const char *message, ...) VYRE_PRINTF(4, 5);
bool workload_fail_memory(struct workload_reader *reader);

/* Zeroed memory of the workload; NULL with the error set. Of 0 things: not NULL. */
void *workload_take(struct workload_reader *reader, size_t count, size_t size);
/* A copy of text; NULL with the error set. */
const char *workload_take_text(struct workload_reader *reader, const char *text);

/* ---- JSON -------------------------------------------------------------------------------------- */

/* Bytes to JSON; NULL with the error set. */
json_t *workload_text_parse(struct workload_reader *reader, const char *bytes, size_t size_bytes);

struct workload_node workload_member(const struct workload_node *parent, const char *key);
struct workload_node workload_item(const struct workload_node *parent, size_t index);

/* The node is an object and has none but these keys. */
bool workload_check_keys(struct workload_reader *reader, const struct workload_node *node,
                         const char *const *keys, size_t key_count);
/* The node is there; if not, its parent lacks the key. */
bool workload_require(struct workload_reader *reader, const struct workload_node *node);

/* Each requires the node to be there. */
bool workload_get_object(struct workload_reader *reader, const struct workload_node *node,
                         size_t max, size_t *out_count);
bool workload_get_array(struct workload_reader *reader, const struct workload_node *node,
                        size_t min, size_t max, size_t *out_count);
bool workload_get_text(struct workload_reader *reader, const struct workload_node *node,
                       const char **out_text);
bool workload_get_name(struct workload_reader *reader, const struct workload_node *node,
                       const char **out_name);
bool workload_get_value(struct workload_reader *reader, const struct workload_node *node,
                        struct workload_value *out_value);
bool workload_get_integer(struct workload_reader *reader, const struct workload_node *node,
                          int64_t min, int64_t max, int64_t *out_value);
bool workload_get_u32(struct workload_reader *reader, const struct workload_node *node,
                      uint32_t min, uint32_t *out_value);
bool workload_get_u32x3(struct workload_reader *reader, const struct workload_node *node,
                        uint32_t min, uint32_t out_values[3]);
/* One of the words; *out_index is which. */
bool workload_get_word(struct workload_reader *reader, const struct workload_node *node,
                       const char *const *words, size_t word_count, size_t *out_index);
/* A name among `names`; *out_index is its value there. `what` is "buffer" and so on. */
bool workload_get_reference(struct workload_reader *reader, const struct workload_node *node,
                            json_t *names, const char *what, uint32_t *out_index);

/* A key of the node as a name: checked, copied. */
bool workload_key_name(struct workload_reader *reader, const struct workload_node *node,
                       const char **out_name);
/* Adds a name to an index of names; false with the error set. */
bool workload_names_add(struct workload_reader *reader, json_t *names, const char *name,
                        size_t index);
/* The error for a name that is not among `names`, with the nearest that is. Always false. */
bool workload_fail_name(struct workload_reader *reader, const struct workload_node *node,
                        json_t *names, const char *what, const char *name);

/* ---- Types ------------------------------------------------------------------------------------- */

bool workload_type_is_float(enum workload_type type);
enum workload_type workload_scalar_type(enum vyre_scalar scalar);
extern const char *const workload_type_names[]; /* index: type - 1 */
#define WORKLOAD_TYPE_COUNT 10

/* The bits of a value of a type; fails at the node where the type cannot hold it. */
bool workload_type_encode(struct workload_reader *reader, const struct workload_node *node,
                          enum workload_type type, const struct workload_value *value,
                          uint64_t *out_bits);
/* u32, i32, f32, u64, i64 or f64. */
bool workload_get_scalar(struct workload_reader *reader, const struct workload_node *node,
                         enum vyre_scalar *out_scalar);
/* read, write or readwrite. */
bool workload_get_access(struct workload_reader *reader, const struct workload_node *node,
                         enum vyre_access *out_access);

/* ---- Parts of a workload ----------------------------------------------------------------------- */

/* A regular, readable file in the workload's folder. */
bool workload_get_file(struct workload_reader *reader, const struct workload_node *node,
                       const char **out_path, size_t *out_size_bytes);

/* The nodes are the values of the root's keys. */
bool workload_read_buffers(struct workload_reader *reader, const struct workload_node *node);
bool workload_read_kernels(struct workload_reader *reader, const struct workload_node *node);
bool workload_read_batches(struct workload_reader *reader, const struct workload_node *node);
bool workload_read_schedule(struct workload_reader *reader, const struct workload_node *node);
bool workload_read_outputs(struct workload_reader *reader, const struct workload_node *node);

/* `count` elements of `type` are to be filled. */
bool workload_read_init(struct workload_reader *reader, const struct workload_node *node,
                        enum workload_type type, size_t count, struct workload_init *out_init);
bool workload_read_range(struct workload_reader *reader, const struct workload_node *node,
                         struct workload_range *out_range);
/* `bindings`, `constants` and `specialize` of a kernel. */
bool workload_read_interface(struct workload_reader *reader, const struct workload_node *node,
                             struct workload_kernel *kernel);
bool workload_read_dispatch(struct workload_reader *reader, const struct workload_node *node,
                            struct workload_command *command);

#define WORKLOAD_COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

#endif
