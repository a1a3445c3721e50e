/*
 * u128.c: decimal text of 128-bit numbers.
 */
#include <vyre/u128.h>

#include <string.h>

/* Divides *value by 10 and returns the remainder, 32 bits at a time so that no step overflows. */
static unsigned divide_by_ten(struct vyre_u128 *value)
{
    uint64_t parts[4] = {value->hi >> 32, (uint32_t)value->hi, value->lo >> 32,
                         (uint32_t)value->lo};
    uint64_t remainder = 0;
    for (size_t i = 0; i < 4; i++) {
        uint64_t dividend = (remainder << 32) | parts[i];
        parts[i] = dividend / 10;
        remainder = dividend % 10;
    }
    value->hi = (parts[0] << 32) | parts[1];
    value->lo = (parts[2] << 32) | parts[3];
    return (unsigned)remainder;
}

size_t vyre_u128_format(struct vyre_u128 value, char *out, size_t capacity)
{
    char digits[VYRE_U128_TEXT_BYTES];
    size_t first = sizeof digits - 1;
    digits[first] = '\0';
    while (value.hi != 0)
        digits[--first] = (char)('0' + divide_by_ten(&value));
    do {
        digits[--first] = (char)('0' + value.lo % 10);
        value.lo /= 10;
    } while (value.lo != 0);

    size_t length = sizeof digits - 1 - first;
    if (capacity > 0) {
        size_t taken = length < capacity ? length : capacity - 1;
        memcpy(out, digits + first, taken);
        out[taken] = '\0';
    }
    return length;
}
