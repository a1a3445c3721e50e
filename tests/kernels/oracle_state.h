/*
 * oracle_state.h: what the oracle's files share.
 */
#ifndef VYRE_TESTS_KERNELS_ORACLE_STATE_H
#define VYRE_TESTS_KERNELS_ORACLE_STATE_H

#include "kernels/oracle.h"

enum {
    ORACLE_LOCAL_CELLS = 8192,
    ORACLE_STACK_CELLS = 1 << 18,
    ORACLE_STEPS_MAX = 30000000,
};

/* The raw components or fields of one value. */
struct value {
    uint64_t cells[TYPE_COMPONENTS_MAX];
};

/* Where an array or what a pointer points to lies. */
struct home {
    enum space space;
    uint32_t count;          /* elements */
    uint64_t *cells;         /* private: of work-item 0, others `stride` cells on */
    uint32_t stride;         /* private */
    uint32_t local;          /* local: the first cell */
    const struct area *area; /* global */
};

/* One call of a function by one or more work-items. */
struct frame {
    const struct function *function;
    uint64_t *cells; /* by work-item, then variable */
    uint32_t stride; /* cells of one work-item */
    struct value results[GROUP_ITEMS_MAX];
    struct home homes[PARAMETERS_MAX]; /* of parameters that are pointers */
    uint64_t broke, continued, returned;
};

/* Who touched a place last, and in which stretch between barriers. Work-items count from 1. */
struct touch {
    uint32_t writer, write_epoch;
    uint32_t reader, read_epoch; /* ANYBODY: several */
    bool written;                /* local memory: at all */
};
#define TOUCH_ANYBODY UINT32_MAX /* as a reader: several; as a writer: atomically */

struct oracle {
    const struct program *program;
    const struct tree *tree;
    unsigned char *bytes;
    struct touch *global_touches; /* one per byte of all buffers */
    uint64_t local_cells[ORACLE_LOCAL_CELLS];
    struct touch local_touches[ORACLE_LOCAL_CELLS];
    uint32_t offsets[VARIABLES_MAX]; /* private: in the frame; local: the first cell */
    uint32_t frame_cells[FUNCTIONS_MAX];
    uint64_t *stack;
    uint32_t stack_used;
    const struct dispatch *dispatch;
    struct frame *kernel_frame;
    uint32_t group_id[3];
    uint32_t group_number;
    uint32_t items; /* of a group */
    uint64_t all_items;
    uint32_t epoch;
    uint64_t steps;
    bool failed;
    char *reason;
};

__attribute__((format(printf, 2, 3))) void oracle_fail(struct oracle *oracle, const char *format,
                                                       ...);

/* Of one work-item. */
struct value oracle_evaluate(struct oracle *oracle, struct frame *frame, uint32_t item,
                             uint32_t number);
void oracle_assign(struct oracle *oracle, struct frame *frame, uint32_t item, uint32_t place,
                   struct value value);
void oracle_atomic_add(struct oracle *oracle, struct frame *frame, uint32_t item, uint32_t place,
                       uint64_t value);

struct value oracle_unary(enum operator_kind op, struct type type, struct value a);
struct value oracle_binary(enum operator_kind op, struct type type, struct value a, struct value b);
struct value oracle_cast(struct type from, struct type to, struct value value);

/* Calls for all work-items of the mask; results are in the frame. */
void oracle_call(struct oracle *oracle, struct frame *caller, uint32_t call, uint64_t mask,
                 struct frame *frame);

/* Memory: `cell` counts within the element. */
struct home oracle_home(struct oracle *oracle, struct frame *frame, uint32_t variable);
uint64_t oracle_load(struct oracle *oracle, const struct home *home, struct type type,
                     uint32_t item, uint32_t element, uint32_t cell);
void oracle_store(struct oracle *oracle, const struct home *home, struct type type, uint32_t item,
                  uint32_t element, uint32_t cell, uint64_t raw);
void oracle_add(struct oracle *oracle, const struct home *home, struct type type, uint32_t item,
                uint32_t element, uint64_t raw);

#endif
