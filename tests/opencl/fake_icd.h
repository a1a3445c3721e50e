/*
 * fake_icd.h: what the parts of the fake OpenCL driver share. See fake_icd.c.
 */
#ifndef VYRE_TESTS_OPENCL_FAKE_ICD_H
#define VYRE_TESTS_OPENCL_FAKE_ICD_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>
#include <CL/cl_icd.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef void CL_CALLBACK fake_context_callback(const char *, const void *, size_t, void *);

/* Every object starts with the table, as the loader demands. */
struct fake_object {
    const cl_icd_dispatch *dispatch;
    atomic_int references;
    struct fake_object *context; /* Borrowed */
    fake_context_callback *notify;
    void *user;
    void *bytes; /* of a buffer */
    bool owns_bytes;
    size_t size_bytes;
    cl_int status; /* of an event */
    cl_command_type type;
};

extern struct fake_object fake_platform;

/* Whether FAKE_ICD has this word now. */
bool fake_asked(const char *word);

/* NULL: no memory. */
struct fake_object *fake_make(struct fake_object *context);

/* Sets the code, if it is asked for, and returns `value` when it is CL_SUCCESS. */
void *fake_set_code(cl_int code, cl_int *out_code, void *value);

/* Fills the table's queries and its commands. */
void fake_add_queries(cl_icd_dispatch *table);
void fake_add_commands(cl_icd_dispatch *table);

#endif
