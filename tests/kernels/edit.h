/*
 * edit.h: changes that make a program smaller. What comes out may be no program any more: the
 * oracle says so.
 */
#ifndef VYRE_TESTS_KERNELS_EDIT_H
#define VYRE_TESTS_KERNELS_EDIT_H

#include "kernels/program.h"

/* A list of nodes, in the order of the text. */
struct node_list {
    uint32_t numbers[NODES_MAX];
    uint32_t count;
};

/* Statements that may be dropped; declarations go when nothing needs them. */
void edit_list_statements(const struct program *program, struct node_list *out_list);

/* Ifs, loops and blocks, which something inside may take the place of. */
void edit_list_ways(const struct program *program, struct node_list *out_list);

/* Expressions that something simpler may take the place of. */
void edit_list_expressions(const struct program *program, struct node_list *out_list);

void edit_drop_statements(struct program *program, const uint32_t *numbers, uint32_t count);

/* The `choice`-th of what a way may become; false: there is no such choice. */
bool edit_simplify_way(struct program *program, uint32_t number, uint32_t choice);

/* The `choice`-th of what an expression may become: 0, 1, or one of its operands. */
bool edit_simplify_expression(struct program *program, uint32_t number, uint32_t choice);

/*
 * Drops what nothing needs: dispatches that are marked, declarations. Kernels that are not dispatched
 * stay: a dispatcher has them all.
 */
void edit_clean(struct program *program);

/* Drops parameters of kernels that no statement reads. False: there is none. */
bool edit_drop_parameters(struct program *program);

#endif
