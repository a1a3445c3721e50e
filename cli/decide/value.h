/*
 * value.h: the inputs of a policy, from text.
 *
 *   type     text
 *   u32 u64  decimal digits
 *   flag     0 or 1
 *   support  full, static or unsupported
 *   slots    u32 numbers separated by spaces; - is the empty set
 *   roles    one letter per binding: I input, O output, B input-output, U uniform, S shared,
 *            P persistent; - is no binding
 *
 * All memory is allocated once, for the longest text that a value may have; parsing allocates
 * nothing, so that a table of any length runs in constant memory.
 */
#ifndef VYRE_CLI_DECIDE_VALUE_H
#define VYRE_CLI_DECIDE_VALUE_H

#include <stddef.h>
#include <stdint.h>

#include <vyre/vyre.h>

#include "terminal/span.h"

/* The longest text of a value. Each slot takes at least two bytes, except the last. */
#define CLI_VALUE_TEXT_BYTES 65536
#define CLI_VALUE_SLOTS_MAX  ((CLI_VALUE_TEXT_BYTES + 1) / 2)
#define CLI_VALUE_ROLES_MAX  CLI_VALUE_TEXT_BYTES

/* The most inputs that a policy has. */
#define CLI_INPUTS_MAX 4

enum cli_value_type {
    CLI_VALUE_U32,
    CLI_VALUE_U64,
    CLI_VALUE_FLAG,
    CLI_VALUE_SUPPORT,
    CLI_VALUE_SLOTS,
    CLI_VALUE_ROLES,
};

/* The name of the type, such as "u32". Static. */
const char *cli_value_type_name(enum cli_value_type type);

struct cli_input {
    const char *name;
    enum cli_value_type type;
};

struct cli_bindings {
    struct vyre_binding_desc *descs; /* Owned by the values; slot i is binding i */
    struct vyre_binding *memory;     /* Owned by the values: for the plan of the bindings */
    size_t count;
};

/* The input's type says which member is used. */
struct cli_value {
    union {
        uint64_t number; /* u32, u64, flag, support */
        struct vyre_slot_set slots;
        struct cli_bindings bindings;
    };
};

struct cli_values {
    struct cli_value value[CLI_INPUTS_MAX];
    const struct cli_input *inputs; /* Borrowed */
    size_t count;
    uint32_t *slots; /* Owned: slots as they are read, then the memory of the sets */
    struct vyre_binding_desc *descs; /* Owned */
    struct vyre_binding *bindings;   /* Owned */
};

/* Allocates all that the inputs need. After a failure there is nothing to release. */
VYRE_NODISCARD enum vyre_status cli_values_init(struct cli_values *values,
                                                const struct cli_input *inputs, size_t count,
                                                struct vyre_diag *diag);
void cli_values_deinit(struct cli_values *values);

/*
 * Sets the value of input `index`. Fails with VALUE_NUMBER, VALUE_RANGE, VALUE_WORD or VALUE_LONG;
 * *out_offset is then where the wrong part of `text` begins, and otherwise 0.
 */
VYRE_NODISCARD enum vyre_status cli_values_parse(struct cli_values *values, size_t index,
                                                 struct cli_span text, size_t *out_offset,
                                                 struct vyre_diag *diag);

#endif
