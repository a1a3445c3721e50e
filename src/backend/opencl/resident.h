/*
 * resident.h: dispatcher programs and the kernels that they serve.
 *
 * A dispatcher is made for one build, one local size and the local memory that its kernels are
 * given. It is compiled and launched once, with nothing to do, when it is made, so its first use
 * needs only a launch. Making one has three steps:
 *
 *   begin  writes its text and becomes a user of the build, so that kernels may be destroyed meanwhile
 *   run    compiles it and tries it out (trial.h)
 *   end    adds it to the list, or keeps the reason why it cannot be resident
 *
 * Each round makes one attempt. If it fails with neighbours in the program, only a note in the
 * kernel remains: the next begin leaves them out.
 *
 * Thread-safety: called under the device's lock, except run: from any thread.
 */
#ifndef VYRE_BACKEND_OPENCL_RESIDENT_H
#define VYRE_BACKEND_OPENCL_RESIDENT_H

#include <vyre/backend.h>

#include "backend/opencl/dispatcher/dispatcher.h"
#include "backend/opencl/kernel.h"

/* How many dispatchers are kept, and how many reasons why there is none. */
#define VYRE_CL_RESIDENTS_MAX       64
#define VYRE_CL_REFUSALS_MAX        256
#define VYRE_CL_RESIDENT_LOCALS_MAX 8

struct vyre_cl_served {
    const struct vyre_cl_kernel *kernel; /* Borrowed; NULL once it is destroyed */
    uint32_t local_bytes[VYRE_CL_RESIDENT_LOCALS_MAX];
    cl_kernel single; /* Owned: of the user's program, for fallback.h; NULL until needed */
};

struct vyre_cl_resident {
    struct vyre_cl_resident *next;
    struct vyre_cl_built *built; /* counts as a user of it */
    size_t local_size[3];
    uint32_t served_count;
    struct vyre_cl_served served[VYRE_CL_DISPATCHER_KERNELS];
    struct vyre_hash128 code; /* of the generated text and its build options */
    cl_program program;       /* Owned */
    cl_kernel native;         /* Owned */
    size_t launch_global[3];  /* all resident groups */
    size_t launch_local[3];
    uint64_t last_used;
    char refusal[VYRE_REASON_BYTES]; /* if not "": why its kernels cannot be resident */
    int64_t refusal_code;            /* the driver's code, if any */
};

/* A dispatcher that is being made. */
struct vyre_cl_resident_build {
    struct vyre_cl_resident_build *next;   /* in the list of ring_host.h */
    struct vyre_cl_resident *resident;     /* Owned */
    struct vyre_cl_dispatcher_output text; /* Owned */
    bool has_run;
    enum vyre_status status; /* what begin or run found */
    struct vyre_diag failure;
};

/*
 * Whether there is a dispatcher for a dispatch: VYRE_FIT_YES with the kernel's index in it,
 * VYRE_FIT_UNBUILT, or VYRE_FIT_NO with the reason. Changes nothing.
 */
enum vyre_fit vyre_cl_resident_look(const struct vyre_cl_device *device,
                                    const struct vyre_batch_view *view,
                                    const struct vyre_command *command,
                                    struct vyre_cl_resident **out_resident, uint32_t *out_index,
                                    struct vyre_diag *diag);

/*
 * Whether all dispatchers of a batch can be kept at once, beside the one that runs. Changes
 * nothing.
 */
bool vyre_cl_residents_have_room(const struct vyre_batch_view *view);

/* Whether a dispatcher runs a command. */
bool vyre_cl_is_served(const struct vyre_command *command);

/* Begins to make the dispatcher of a dispatch that is unbuilt. */
VYRE_NODISCARD enum vyre_status vyre_cl_resident_begin(struct vyre_cl_device *device,
                                                       const struct vyre_batch_view *view,
                                                       const struct vyre_command *command,
                                                       struct vyre_cl_resident_build **out_build,
                                                       struct vyre_diag *diag);

void vyre_cl_resident_run(struct vyre_cl_device *device, struct vyre_cl_resident_build *build);

/*
 * Frees the build; without a run before it, that is all. VYRE_UNSUPPORTED: the reason is kept.
 * VYRE_BUSY: the next begin leaves out the neighbours.
 */
VYRE_NODISCARD enum vyre_status vyre_cl_resident_end(struct vyre_cl_device *device,
                                                     struct vyre_cl_resident_build *build,
                                                     struct vyre_diag *diag);

/* Whether a build that will serve the dispatch is under way. */
bool vyre_cl_resident_is_begun(const struct vyre_cl_device *device,
                               const struct vyre_batch_view *view,
                               const struct vyre_command *command);

/* A kernel is destroyed: no build may touch it any more. */
void vyre_cl_resident_forget(struct vyre_cl_device *device, const struct vyre_cl_kernel *kernel);

/*
 * The dispatcher for a dispatch and the kernel's index in it, made here if there is none.
 * VYRE_UNSUPPORTED (submit-mode) with the reason if the kernel cannot be resident.
 */
VYRE_NODISCARD enum vyre_status vyre_cl_resident_find(struct vyre_cl_device *device,
                                                      const struct vyre_batch_view *view,
                                                      const struct vyre_command *command,
                                                      struct vyre_cl_resident **out_resident,
                                                      uint32_t *out_index, struct vyre_diag *diag);

void vyre_cl_resident_destroy(struct vyre_cl_device *device, struct vyre_cl_resident *resident);

#endif
