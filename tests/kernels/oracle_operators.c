/*
 * oracle_operators.c: operators and casts on raw values.
 */
#include "kernels/oracle_state.h"

static uint64_t popcount(uint64_t value)
{
    uint64_t count = 0;
    for (; value != 0; value &= value - 1)
        count++;
    return count;
}

static uint64_t leading_zeros(uint64_t value, uint32_t bits)
{
    uint64_t count = 0;
    while (count < bits && (value >> (bits - 1 - count) & 1) == 0)
        count++;
    return count;
}

struct value oracle_unary(enum operator_kind op, struct type type, struct value a)
{
    uint64_t mask = base_mask(type.base);
    for (uint32_t i = 0; i < type.width; i++) {
        uint64_t raw = a.cells[i];
        switch ((uint32_t)op) {
        case OP_NOT:
            raw = ~raw;
            break;
        case OP_MINUS:
            raw = 0 - raw;
            break;
        case OP_LOGICAL_NOT:
            raw = raw == 0;
            break;
        case OP_POPCOUNT:
            raw = popcount(raw);
            break;
        default:
            raw = leading_zeros(raw, base_bits(type.base));
            break;
        }
        a.cells[i] = raw & mask;
    }
    return a;
}

static bool is_less(enum base base, uint64_t a, uint64_t b)
{
    return base_is_signed(base) ? base_signed_value(base, a) < base_signed_value(base, b) : a < b;
}

static uint64_t mul_high(uint64_t a, uint64_t b, uint32_t bits)
{
    if (bits == 32)
        return a * b >> 32;
    uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
    uint64_t mid = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
    uint64_t mid2 = (a & UINT32_MAX) * (b >> 32) + (mid & UINT32_MAX);
    return (a >> 32) * (b >> 32) + (mid >> 32) + (mid2 >> 32);
}

static uint64_t shift_right(enum base base, uint64_t a, uint64_t by)
{
    if (!base_is_signed(base))
        return a >> by;
    uint64_t sign = base_signed_value(base, a) < 0 ? ~UINT64_C(0) : 0;
    return by == 0 ? a : ((a | (sign & ~base_mask(base))) >> by) | (sign << (64 - by));
}

static uint64_t combine(enum operator_kind op, enum base base, uint64_t a, uint64_t b)
{
    uint32_t bits = base_bits(base);
    switch ((uint32_t)op) {
    case OP_ADD:
        return a + b;
    case OP_SUB:
        return a - b;
    case OP_MUL:
        return a * b;
    case OP_AND:
        return a & b;
    case OP_OR:
        return a | b;
    case OP_XOR:
        return a ^ b;
    case OP_SHL:
        return a << (b & (bits - 1));
    case OP_SHR:
        return shift_right(base, a, b & (bits - 1));
    case OP_DIV:
        return a / (b | 1);
    case OP_MOD:
        return a % (b | 1);
    case OP_MIN:
        return is_less(base, b, a) ? b : a;
    case OP_MAX:
        return is_less(base, a, b) ? b : a;
    case OP_ROTATE:
        b &= bits - 1;
        return b == 0 ? a : a << b | a >> (bits - b);
    case OP_MUL_HIGH:
        return mul_high(a, b, bits);
    case OP_LESS:
        return is_less(base, a, b);
    case OP_LESS_EQUAL:
        return !is_less(base, b, a);
    case OP_EQUAL:
        return a == b;
    default:
        return a != b;
    }
}

struct value oracle_binary(enum operator_kind op, struct type type, struct value a, struct value b)
{
    uint64_t mask = base_mask(type.base);
    for (uint32_t i = 0; i < type.width; i++)
        a.cells[i] = combine(op, type.base, a.cells[i], b.cells[i]) & mask;
    return a;
}

struct value oracle_cast(struct type from, struct type to, struct value value)
{
    for (uint32_t i = 0; i < to.width; i++)
        value.cells[i] =
            (uint64_t)base_signed_value(from.base, value.cells[i]) & base_mask(to.base);
    return value;
}
