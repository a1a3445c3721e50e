/*
 * type.c: element types and scalars: sizes, ranges, bits.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "terminal/diag.h"
#include "terminal/message.h"
#include "workload/internal.h"

/* From this value on a double rounds to an infinite float. */
#define F32_OVERFLOW 0x1.ffffffp127

const char *const workload_type_names[WORKLOAD_TYPE_COUNT] = {
    "u8", "i8", "u16", "i16", "u32", "i32", "f32", "u64", "i64", "f64",
};

/* jansson's integers are signed with 64 bits, so u64 is limited to their maximum. */
static const struct type {
    size_t size_bytes;
    bool is_float;
    int64_t min;
    int64_t max;
} types[WORKLOAD_TYPE_COUNT + 1] = {
    [WORKLOAD_U8] = {1, false, 0, UINT8_MAX},
    [WORKLOAD_I8] = {1, false, INT8_MIN, INT8_MAX},
    [WORKLOAD_U16] = {2, false, 0, UINT16_MAX},
    [WORKLOAD_I16] = {2, false, INT16_MIN, INT16_MAX},
    [WORKLOAD_U32] = {4, false, 0, UINT32_MAX},
    [WORKLOAD_I32] = {4, false, INT32_MIN, INT32_MAX},
    [WORKLOAD_F32] = {4, true, 0, 0},
    [WORKLOAD_U64] = {8, false, 0, INT64_MAX},
    [WORKLOAD_I64] = {8, false, INT64_MIN, INT64_MAX},
    [WORKLOAD_F64] = {8, true, 0, 0},
};

static const enum workload_type scalar_types[] = {
    [VYRE_SCALAR_U32] = WORKLOAD_U32, [VYRE_SCALAR_I32] = WORKLOAD_I32,
    [VYRE_SCALAR_F32] = WORKLOAD_F32, [VYRE_SCALAR_U64] = WORKLOAD_U64,
    [VYRE_SCALAR_I64] = WORKLOAD_I64, [VYRE_SCALAR_F64] = WORKLOAD_F64,
};

size_t workload_type_size(enum workload_type type)
{
    return types[type].size_bytes;
}

const char *workload_type_name(enum workload_type type)
{
    return workload_type_names[type - 1];
}

bool workload_type_is_float(enum workload_type type)
{
    return types[type].is_float;
}

enum workload_type workload_scalar_type(enum vyre_scalar scalar)
{
    return scalar_types[scalar];
}

/* Why a type cannot hold a value. CLI_DIAG_NONE: it can, and *out_bits has the bits. */
static enum cli_diag_id encode(enum workload_type type, const struct workload_value *value,
                               uint64_t *out_bits)
{
    const struct type *facts = &types[type];
    *out_bits = 0;
    if (type == WORKLOAD_F64) {
        memcpy(out_bits, &value->value, sizeof value->value);
    } else if (type == WORKLOAD_F32) {
        if (!(fabs(value->value) < F32_OVERFLOW))
            return CLI_DIAG_WORKLOAD_RANGE;
        float narrow = (float)value->value;
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        *out_bits = bits;
    } else {
        if (!value->is_integer)
            return CLI_DIAG_WORKLOAD_NUMBER;
        if (value->integer < facts->min || value->integer > facts->max)
            return CLI_DIAG_WORKLOAD_RANGE;
        *out_bits = (uint64_t)value->integer;
        if (facts->size_bytes < 8)
            *out_bits &= ((uint64_t)1 << (facts->size_bytes * 8)) - 1;
    }
    return CLI_DIAG_NONE;
}

bool workload_type_encode(struct workload_reader *reader, const struct workload_node *node,
                          enum workload_type type, const struct workload_value *value,
                          uint64_t *out_bits)
{
    enum cli_diag_id id = encode(type, value, out_bits);
    if (id == CLI_DIAG_NONE)
        return true;
    if (id == CLI_DIAG_WORKLOAD_NUMBER)
        return workload_fail(reader, node, id, "%g is not a whole number, as %s requires",
                             value->value, workload_type_name(type));
    if (types[type].is_float)
        return workload_fail(reader, node, id, "%g is too large for %s", value->value,
                             workload_type_name(type));
    return workload_fail(
        reader, node, id, "%" PRId64 " does not fit %s, which ranges from %" PRId64 " to %" PRId64,
        value->integer, workload_type_name(type), types[type].min, types[type].max);
}

enum vyre_status workload_scalar_encode(enum vyre_scalar type, const struct workload_value *value,
                                        uint64_t *out_bits, struct vyre_diag *diag)
{
    enum workload_type element = workload_scalar_type(type);
    enum cli_diag_id id = encode(element, value, out_bits);
    if (id == CLI_DIAG_NONE)
        return VYRE_OK;
    return cli_diag_set(diag, id, NULL, 0, "the constant `%s` is of type %s, which cannot hold %g",
                        cli_quote(cli_span_of(value->name)).text, workload_type_name(element),
                        value->value);
}

bool workload_get_scalar(struct workload_reader *reader, const struct workload_node *node,
                         enum vyre_scalar *out_scalar)
{
    static const char *const names[] = {"u32", "i32", "f32", "u64", "i64", "f64"};
    size_t index;
    bool got = workload_get_word(reader, node, names, WORKLOAD_COUNT_OF(names), &index);
    *out_scalar = (enum vyre_scalar)(VYRE_SCALAR_U32 + index);
    return got;
}

bool workload_get_access(struct workload_reader *reader, const struct workload_node *node,
                         enum vyre_access *out_access)
{
    static const char *const names[] = {"read", "write", "readwrite"};
    size_t index;
    bool got = workload_get_word(reader, node, names, WORKLOAD_COUNT_OF(names), &index);
    *out_access = (enum vyre_access)(VYRE_ACCESS_READ + index);
    return got;
}
