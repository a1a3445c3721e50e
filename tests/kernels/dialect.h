/*
 * dialect.h: how one language spells what a tree is made of. Another language is another table.
 *
 * Templates are texts in which $1 to $3 stand for operands, $t for the name of the type, $u for the
 * name of the unsigned type of the same size, $w for the width of a vector ("" for scalars) and $m
 * for the number of bits of a component less one.
 */
#ifndef VYRE_TESTS_KERNELS_DIALECT_H
#define VYRE_TESTS_KERNELS_DIALECT_H

#include "kernels/tree.h"

struct dialect {
    const char *type_names[BASE_COUNT];     /* without the width */
    const char *unsigned_names[BASE_COUNT]; /* of the same size */

    /* By base, then operator; NULL: the entry of uint. */
    const char *operators[BASE_COUNT][OP_COUNT];
    const char *compound[OP_COUNT]; /* "+=" and so on, for uint and ulong; NULL: there is none */
    const char *ids[6];             /* by enum id; $1 is the dimension */
    const char *select;
    const char *vector;                /* $1: the components, with commas */
    const char *constants[BASE_COUNT]; /* $1: the number, hexadecimal */
    const char *casts[BASE_COUNT];     /* to this base; $1 */
    const char *vector_casts[BASE_COUNT];
    const char *specialized; /* $1: its number */

    const char *prelude;
    const char *kernel;         /* before its name */
    const char *function;       /* before the type of its result */
    const char *spaces[3];      /* before the type of a variable or pointer */
    const char *constant_space; /* the same for a pointer to what is read only */
    const char *structure;      /* before the name of a struct */
    const char *barrier;
    const char *atomic_add; /* $1: the place, $2 the value */
};

extern const struct dialect dialect_opencl;

#endif
