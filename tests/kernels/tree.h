/*
 * tree.h: a generated program as a tree, independent of any language.
 *
 * Nodes lie in one array and name each other by number, so that a tree is copied as bytes: the
 * shrinker changes copies. Number 0 is no node. Every node has one parent; the members of a list
 * (statements of a block, arguments of a call, cases of a switch) are linked by `next`.
 *
 * Words
 *   place    an expression that can be assigned: a variable, a field, an element, a component
 *   element  a place in an array or behind a pointer; `value` is a modulus for the index, 0: none
 *   macro    an object-like one has no parameters; its body is an expression
 *
 *   kind            a               b               c              else
 *   CONSTANT                                                       value
 *   VARIABLE                                                       variable; field + 1
 *   ELEMENT         index                                          variable; field + 1; value
 *   COMPONENT       vector                                         value: 4 bits each, from below
 *   VECTOR          components                                     one component: all are it
 *   UNARY, BINARY   operand         operand                        op
 *   SELECT          condition       value           value
 *   CAST            value
 *   CALL, MACRO     arguments                                      callee
 *   PARAMETER                                                      value: of the macro
 *   ID                                                             op; value: the dimension
 *   SPECIALIZED                                                    value: its number
 *
 *   BLOCK           statements
 *   DECLARE         initial values                                 variable
 *   ASSIGN          place           value                          op: 0 or of a compound one
 *   IF              condition       block           block or if
 *   FOR             limit           block                          variable; value: start; op
 *   WHILE, DO       limit           block                          variable
 *   SWITCH          value           cases
 *   CASE            block                                          value; flag: see below
 *   RETURN          value or 0
 *   INVOKE          place or 0      call
 *   ATOMIC_ADD      place           value
 *   BREAK, CONTINUE, BARRIER
 *
 * Loops count a variable of their own, which nothing else changes. FOR counts from `value` by
 * `step` (in c) up to the limit, or halves it down to 0; WHILE and DO count from 0, before the body.
 */
#ifndef VYRE_TESTS_KERNELS_TREE_H
#define VYRE_TESTS_KERNELS_TREE_H

#include "kernels/type.h"

enum {
    NODES_MAX = 16000,
    VARIABLES_MAX = 600,
    FUNCTIONS_MAX = 16,
    PARAMETERS_MAX = 12,
    MACROS_MAX = 12,
    STRUCTS_MAX = 3,
    SPECIALIZED_MAX = 2,
};

enum node_kind {
    NODE_NONE = 0,
    EX_CONSTANT,
    EX_VARIABLE,
    EX_ELEMENT,
    EX_COMPONENT,
    EX_VECTOR,
    EX_UNARY,
    EX_BINARY,
    EX_SELECT,
    EX_CAST,
    EX_CALL,
    EX_MACRO,
    EX_PARAMETER,
    EX_ID,
    EX_SPECIALIZED,
    EX_LAST = EX_SPECIALIZED,
    ST_BLOCK,
    ST_DECLARE,
    ST_ASSIGN,
    ST_IF,
    ST_FOR,
    ST_WHILE,
    ST_DO,
    ST_SWITCH,
    ST_CASE,
    ST_RETURN,
    ST_INVOKE,
    ST_ATOMIC_ADD,
    ST_BREAK,
    ST_CONTINUE,
    ST_BARRIER,
};

enum operator_kind {
    OP_NONE = 0,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_AND,
    OP_OR,
    OP_XOR,
    OP_SHL, /* by the low bits of the second operand */
    OP_SHR,
    OP_DIV, /* by the second operand | 1; not for int */
    OP_MOD,
    OP_MIN,
    OP_MAX,
    OP_ROTATE, /* not for int, as the next */
    OP_MUL_HIGH,
    OP_LESS, /* these give a uint of 0 or 1, of scalars */
    OP_LESS_EQUAL,
    OP_EQUAL,
    OP_NOT_EQUAL,
    OP_AND_THEN,
    OP_OR_ELSE,
    OP_NOT, /* unary from here on */
    OP_MINUS,
    OP_LOGICAL_NOT,
    OP_POPCOUNT,
    OP_LEADING_ZEROS,
    OP_COUNT,
};

enum id { ID_GLOBAL = 0, ID_LOCAL, ID_GROUP, ID_GLOBAL_SIZE, ID_LOCAL_SIZE, ID_GROUP_COUNT };

enum step { STEP_UP = 0, STEP_HALVE };

/* Of cases. */
enum { CASE_DEFAULT = 1, CASE_FALLS = 2 /* into the next one */ };

struct node {
    uint8_t kind;
    uint8_t op;
    uint8_t field;
    uint8_t flag;
    struct type type;
    uint16_t variable;
    uint16_t callee;
    uint32_t a, b, c, next;
    uint64_t value;
};

enum space { SPACE_PRIVATE = 0, SPACE_LOCAL, SPACE_GLOBAL };

struct variable {
    uint8_t function;
    uint8_t space;
    bool is_parameter;
    bool is_pointer; /* a parameter; `count` elements are there at least, 0: as the dispatch says */
    bool is_constant; /* a pointer to what is only read */
    struct type type;
    uint32_t count;      /* elements of an array; 0: no array */
    uint8_t type_macro;  /* number + 1 of a macro that stands for the type */
    uint8_t count_macro; /* ... for the count */
    uint16_t number;     /* its name, within its function */
};

struct function {
    bool is_kernel;
    bool dropped;
    struct type result;
    uint16_t parameters[PARAMETERS_MAX]; /* variables */
    uint32_t parameter_count;
    uint16_t first_variable; /* its variables are in a row */
    uint16_t variable_count;
    uint32_t body; /* a block */
    uint32_t local_size[3];
};

struct structure {
    struct type fields[STRUCT_FIELDS_MAX]; /* scalars */
    uint32_t field_count;
};

enum macro_kind { MACRO_VALUE = 0, MACRO_TYPE };

struct macro {
    enum macro_kind kind;
    struct type type; /* of the value; or the type that it stands for */
    uint32_t parameter_count;
    struct type parameters[3];
    uint32_t body;
};

struct tree {
    struct node nodes[NODES_MAX];
    uint32_t node_count; /* from 1 */
    struct variable variables[VARIABLES_MAX];
    uint32_t variable_count;
    struct function functions[FUNCTIONS_MAX]; /* a function calls those before it */
    uint32_t function_count;
    struct structure structures[STRUCTS_MAX];
    uint32_t structure_count;
    struct macro macros[MACROS_MAX];
    uint32_t macro_count;
    uint32_t specialized_count;
};

static inline bool node_is_expression(const struct node *node)
{
    return node->kind >= EX_CONSTANT && node->kind <= EX_LAST;
}

/* A new node; 0 when the tree is full: what holds it is then no program, and the oracle says so. */
uint32_t tree_add(struct tree *tree, struct node node);

/* A copy of the node and all below it, without what is linked behind it. */
uint32_t tree_copy(struct tree *tree, uint32_t number);

/* Appends `node` to the list that begins in *first. */
void tree_append(struct tree *tree, uint32_t *first, uint32_t node);

/* Calls `visit` for the node, what is below it and what is linked behind it, parents first. */
typedef void tree_visit(void *user, uint32_t number);
void tree_walk(const struct tree *tree, uint32_t number, tree_visit *visit, void *user);

/* What the kernels that are left reach. */
struct tree_uses {
    bool functions[FUNCTIONS_MAX];
    bool macros[MACROS_MAX];
    bool structures[STRUCTS_MAX];
    bool variables[VARIABLES_MAX];
    uint32_t statements; /* blocks are not counted */
};
void tree_find_uses(const struct tree *tree, struct tree_uses *out_uses);

/* Every private variable is used inside the block that declares it, and behind its declaration. */
bool tree_is_closed(const struct tree *tree);

/* Components, fields or 1: how many raw values make up a value of this type. */
uint32_t type_cells(const struct tree *tree, struct type type);

/* As C lays it out. */
uint32_t type_bytes(const struct tree *tree, struct type type);
uint32_t field_offset(const struct tree *tree, uint8_t structure, uint32_t field);

#endif
