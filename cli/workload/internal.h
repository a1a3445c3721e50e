/*
 * internal.h: what the files of the workload reader share.
 *
 *   workload.c   a file or bytes in, a workload out
 *   text.c       bytes to JSON, and the place of an error in it
 *   path.c       errors with JSON paths, memory, names
 *   json.c       typed reads of JSON values
 *   memory.c     the arena that a workload lives in
 *   type.c       element types and scalars: sizes, ranges, bits
 *   files.c      paths that stay in the workload's folder
 *   buffers.c    buffers, their contents, and ranges in them
 *   kernels.c    kernels and their payloads
 *   interface.c  what a kernel declares: slots, constants, specialization values
 *   batches.c    batches and their commands
 *   dispatch.c   what a dispatch passes to its kernel
 *   schedule.c   schedule and outputs
 *   fill.c       contents of buffers
 *   random.c     the generator for random contents and orders
 *
 * A reading function returns true, or false with the reader's error set. The first error ends the
 * reading. Everything read goes into the arena, so that a failure has nothing to undo.
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

/* Zeroed memory for `count` things of `size` bytes, aligned for every C type. NULL: no memory. */
void *workload_arena_take(struct workload_arena *arena, size_t count, size_t size);

/* ---- Places in the document -------------------------------------------------------------------- */

/* A JSON value and its path from the root. Lives on the stack of the function that reads the value. */
struct workload_node {
    const struct workload_node *parent; /* NULL: the root */
    const char *key;                    /* in an object; NULL: `index` in an array */
    size_t index;
    json_t *json; /* Borrowed; NULL: the key is absent */
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

/* Sets the reader's error, with the node's path before the message. Returns false. */
bool workload_fail(struct workload_reader *reader, const struct workload_node *node,
                   enum cli_diag_id id, const char *message, ...) VYRE_PRINTF(4, 5);
bool workload_fail_memory(struct workload_reader *reader);

/* Zeroed memory of the workload; on failure NULL, with the error set. Not NULL for 0 things. */
void *workload_take(struct workload_reader *reader, size_t count, size_t size);
/* A copy of text; on failure NULL, with the error set. */
const char *workload_take_text(struct workload_reader *reader, const char *text);

/* ---- JSON -------------------------------------------------------------------------------------- */

/* Bytes to JSON; on failure NULL, with the error set. */
json_t *workload_text_parse(struct workload_reader *reader, const char *bytes, size_t size_bytes);

struct workload_node workload_member(const struct workload_node *parent, const char *key);
struct workload_node workload_item(const struct workload_node *parent, size_t index);

/* Checks that the node is an object and has no other keys than these. */
bool workload_check_keys(struct workload_reader *reader, const struct workload_node *node,
                         const char *const *keys, size_t key_count);
/* Checks that the node is present; if not, the error is that its parent lacks the key. */
bool workload_require(struct workload_reader *reader, const struct workload_node *node);

/* Each requires the node to be present. */
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
/* Reads one of the words; *out_index says which. */
bool workload_get_word(struct workload_reader *reader, const struct workload_node *node,
                       const char *const *words, size_t word_count, size_t *out_index);
/* Looks a name up in `names`; *out_index is its value there. `what` names its kind: "buffer". */
bool workload_get_reference(struct workload_reader *reader, const struct workload_node *node,
                            json_t *names, const char *what, uint32_t *out_index);

/* The node's key as a name: checked and copied. */
bool workload_key_name(struct workload_reader *reader, const struct workload_node *node,
                       const char **out_name);
/* Adds a name to an index of names. */
bool workload_names_add(struct workload_reader *reader, json_t *names, const char *name,
                        size_t index);
/* Sets the error for a name that is not among `names`, and suggests the nearest. Returns false. */
bool workload_fail_name(struct workload_reader *reader, const struct workload_node *node,
                        json_t *names, const char *what, const char *name);

/* ---- Types ------------------------------------------------------------------------------------- */

bool workload_type_is_float(enum workload_type type);
enum workload_type workload_scalar_type(enum vyre_scalar scalar);
extern const char *const workload_type_names[]; /* index: type - 1 */
#define WORKLOAD_TYPE_COUNT 10

/* The bits of a value of a type. If the type cannot hold the value, the node is at fault. */
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
