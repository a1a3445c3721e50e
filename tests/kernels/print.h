/*
 * print.h: a tree as the text of a program in some dialect, and what is run of it as a comment.
 */
#ifndef VYRE_TESTS_KERNELS_PRINT_H
#define VYRE_TESTS_KERNELS_PRINT_H

#include "kernels/dialect.h"
#include "kernels/program.h"
#include "kernels/text.h"

/*
 * Appends the program that the kernels of the tree need. With `fault`, one bit of each constant
 * operand of an exclusive or is wrong: what --fault puts in.
 */
void print_tree(const struct tree *tree, const struct dialect *dialect, bool fault,
                struct text *text);

/* The name of a kernel in that text. */
void print_kernel_name(uint32_t function, char out_name[16]);

/* Geometry and arguments of every dispatch, one per line. */
void print_dispatches(const struct program *program, struct text *text);

/* Expressions; used by print.c. */
struct printer {
    const struct tree *tree;
    const struct dialect *dialect;
    bool fault;
    struct text *text;
};
void print_expression(struct printer *printer, uint32_t number);

/* The same where only zero or not matters. */
void print_condition(struct printer *printer, uint32_t number);

void print_type(struct printer *printer, struct type type);
void print_variable_name(struct printer *printer, uint32_t variable);

#endif
