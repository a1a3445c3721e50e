/*
 * model.h: the plain serial interpreter, and with it the definition of right.
 *
 * It keeps its own copies of all buffers and of all download memory, and runs a batch when it is
 * submitted: command by command, group by group, on the calling thread. It shares the kernels'
 * functions with the driver's side, and nothing else.
 */
#ifndef VYRE_TESTS_DIFFERENTIAL_MODEL_H
#define VYRE_TESTS_DIFFERENTIAL_MODEL_H

#include "differential/program.h"

/* What one object holds now. */
struct model_object {
    bool built;
    uint32_t command_count;
    struct command *commands;                 /* Owned: the build's, with the constants of now */
    uint64_t refill;                          /* mixed into the seeds of borrowed uploads */
    uint64_t buffer_age[PROGRAM_BUFFERS_MAX]; /* when it was built */
    uint64_t kernel_age[KERNEL_COUNT];
    unsigned char *downloads; /* Owned */
};

struct model {
    const struct program *program;
    unsigned char *buffers[PROGRAM_BUFFERS_MAX]; /* Owned */
    uint64_t buffer_age[PROGRAM_BUFFERS_MAX];
    uint64_t kernel_age[KERNEL_COUNT];
    struct model_object objects[PROGRAM_OBJECTS];
};

/* What submitting an object does. */
enum model_submit {
    MODEL_SKIP = 0, /* there is nothing to submit, or the contract leaves the answer open */
    MODEL_RUN,
    MODEL_STALE,
};

void model_init(struct model *model, const struct program *program);
void model_deinit(struct model *model);

void model_build(struct model *model, const struct step *step);
/* False: the object has no such dispatch. */
bool model_set_constants(struct model *model, const struct step *step);
enum model_submit model_expect(const struct model *model, uint32_t object);
void model_run(struct model *model, uint32_t object);
void model_new_buffer(struct model *model, uint32_t buffer);
void model_new_kernel(struct model *model, uint32_t kernel);
void model_new_object(struct model *model, uint32_t object);

/* The seed of a borrowed upload's bytes. */
uint64_t model_borrowed_seed(const struct model_object *object, const struct command *command);

/* The seed of a buffer's bytes at the start. */
uint64_t model_buffer_seed(const struct program *program, uint32_t buffer);

#endif
