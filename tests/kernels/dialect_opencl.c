/*
 * dialect_opencl.c: OpenCL C 1.2.
 *
 * What could overflow is done in unsigned types. A conversion to a signed type that could be out of
 * range would be the implementation's choice: bits are taken as they are instead (as_int).
 */
#include <stddef.h>

#include "kernels/dialect.h"

const struct dialect dialect_opencl = {
    .type_names = {"void", "uchar", "short", "int", "uint", "ulong", ""},
    .unsigned_names = {"void", "uchar", "ushort", "uint", "uint", "ulong", ""},
    .operators =
        {
            [BASE_UINT] =
                {
                    [OP_ADD] = "($1 + $2)",
                    [OP_SUB] = "($1 - $2)",
                    [OP_MUL] = "($1 * $2)",
                    [OP_AND] = "($1 & $2)",
                    [OP_OR] = "($1 | $2)",
                    [OP_XOR] = "($1 ^ $2)",
                    [OP_SHL] = "($1 << ($2 & ($t)$m))",
                    [OP_SHR] = "($1 >> ($2 & ($t)$m))",
                    [OP_DIV] = "($1 / ($2 | ($t)1))",
                    [OP_MOD] = "($1 % ($2 | ($t)1))",
                    [OP_MIN] = "min($1, $2)",
                    [OP_MAX] = "max($1, $2)",
                    [OP_ROTATE] = "rotate($1, $2)",
                    [OP_MUL_HIGH] = "mul_hi($1, $2)",
                    [OP_LESS] = "($1 < $2)",
                    [OP_LESS_EQUAL] = "($1 <= $2)",
                    [OP_EQUAL] = "($1 == $2)",
                    [OP_NOT_EQUAL] = "($1 != $2)",
                    [OP_AND_THEN] = "($1 && $2)",
                    [OP_OR_ELSE] = "($1 || $2)",
                    [OP_NOT] = "(~$1)",
                    [OP_MINUS] = "(($t)0 - $1)",
                    [OP_LOGICAL_NOT] = "(!$1)",
                    [OP_POPCOUNT] = "popcount($1)",
                    [OP_LEADING_ZEROS] = "clz($1)",
                },
            [BASE_INT] =
                {
                    [OP_ADD] = "as_$t(as_$u($1) + as_$u($2))",
                    [OP_SUB] = "as_$t(as_$u($1) - as_$u($2))",
                    [OP_MUL] = "as_$t(as_$u($1) * as_$u($2))",
                    [OP_SHL] = "as_$t(as_$u($1) << (as_$u($2) & ($u)$m))",
                    [OP_SHR] = "($1 >> ($2 & ($t)$m))",
                    [OP_MINUS] = "as_$t(($u)0 - as_$u($1))",
                },
        },
    .compound = {[OP_ADD] = "+=",
                 [OP_SUB] = "-=",
                 [OP_MUL] = "*=",
                 [OP_AND] = "&=",
                 [OP_OR] = "|=",
                 [OP_XOR] = "^="},
    .ids = {"(uint)get_global_id($1)", "(uint)get_local_id($1)", "(uint)get_group_id($1)",
            "(uint)get_global_size($1)", "(uint)get_local_size($1)", "(uint)get_num_groups($1)"},
    .select = "($1 ? $2 : $3)",
    .vector = "($t)($1)",
    .constants = {NULL, "(uchar)$1", "as_short((ushort)$1)", "as_int($1u)", "$1u", "$1ul", NULL},
    .casts = {NULL, "(uchar)($1)", "as_short((ushort)($1))", "as_int((uint)($1))", "(uint)($1)",
              "(ulong)($1)", NULL},
    .vector_casts = {NULL, NULL, NULL, "as_$t($1)", "as_$t($1)", "convert_$t($1)", NULL},
    .specialized = "((uint)SPEC_$1)",
    .prelude = "",
    .kernel = "kernel void",
    .function = "static ",
    .spaces = {"", "local ", "global "},
    .constant_space = "global const ",
    .structure = "struct ",
    .barrier = "barrier(CLK_LOCAL_MEM_FENCE)",
    .atomic_add = "atomic_add(&$1, $2)",
};
