/*
 * driver_hooks.h: a real device whose driver misbehaves when a test asks for it, and what was seen of its calls.
 *
 * Set `hooks` to what a case needs, then open the device. A program of such cases takes one argument, a part
 * of the device's name; the device must have persistent mode.
 */
#ifndef VYRE_TESTS_OPENCL_DRIVER_HOOKS_H
#define VYRE_TESTS_OPENCL_DRIVER_HOOKS_H

#include <pthread.h>

#include "opencl/hooked_fixture.h"
#include "support/test.h"

/* Only the test's own thread changes what the hooks do. */
struct hooks {
    pthread_t thread;
    uint32_t failing_launches;       /* of dispatchers: so many are refused */
    bool events_fail;                /* of dispatchers that are tried out */
    bool events_run;                 /* all of them, for ever */
    size_t scalar_bytes;             /* arguments by value have this size; 0: as the driver says */
    bool submitting;                 /* the test's thread is inside a submit */
    _Atomic uint32_t *released_flag; /* set when a program's first argument is */
    _Atomic uint32_t builds;
    _Atomic uint32_t launches; /* of dispatchers */
    uint32_t shared_frees;
    void *last_shared;
    uint32_t unlocked_looks;    /* at the event of a launch */
    uint32_t messages;          /* that the instance logged */
    uint32_t launches_on_items; /* of a new dispatcher, beside the items of another */
    void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *);
    void *notify_user;
};
extern struct hooks hooks;
extern const char *hooks_device_name;

/* A case that begins with hooks that do nothing. */
int hooks_forget(void **state);
#define HOOKS_CASE(name) cmocka_unit_test_setup(name, hooks_forget)

/* Takes the device's name; a hang ends the program. Returns whether there is one argument. */
bool hooks_start(int argc, char **argv);

void hooks_open(struct fixture *f, struct vyre_device_desc desc);
void hooks_open_observed(struct fixture *f, struct vyre_device_desc desc,
                         const struct vyre_observer *observer);

/* Kernels of eight work-items that write 1 or 2 to every word: "one" and "two". */
extern const char hooks_two_source[];

/* A kernel of eight work-items. */
struct vyre_kernel *hooks_kernel(struct fixture *f, const char *source, const char *entry);

/* Makes the batch one group of a kernel with one buffer. */
void hooks_dispatch(struct fixture *f, struct vyre_kernel *kernel, struct vyre_buffer *buffer);

/* Submits the batch and waits: the first status that is not VYRE_OK. */
enum vyre_status hooks_run(struct fixture *f, enum vyre_mode mode);

void hooks_expect_word(struct fixture *f, struct vyre_buffer *buffer, uint32_t expected);

#endif
