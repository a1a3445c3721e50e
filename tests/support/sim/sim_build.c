/*
 * sim_build.c: whether batches fit persistent mode, and building what it needs.
 *
 * A build is that of one kernel. It keeps no reference: a kernel that is destroyed is taken out of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sim/sim_internal.h"

/* ---- Questions -------------------------------------------------------------------------------- */

static bool has_label(const struct sim_kernel *kernel, const char *label)
{
    return label && strcmp(kernel->label, label) == 0;
}

enum vyre_fit sim_fit_locked(const struct sim_device *device, const struct vyre_batch_view *view,
                             enum vyre_mode mode, struct vyre_diag *diag)
{
    const struct vyre_sim_desc *desc = &device->sim->desc;
    const struct sim_kernel *poor = NULL;
    bool is_unbuilt = false;
    for (uint32_t i = 0; mode == VYRE_MODE_PERSISTENT && i < view->command_count; i++) {
        const struct sim_kernel *kernel = view->commands[i].kernel;
        if (!kernel)
            continue;
        if (has_label(kernel, desc->unfit_label) || kernel->is_refused) {
            (void)vyre_diag_set(diag, VYRE_DIAG_SUBMIT_MODE, kernel->label, 0,
                                "the kernel does not stay resident");
            return VYRE_FIT_NO;
        }
        poor = has_label(kernel, desc->poor_label) ? kernel : poor;
        is_unbuilt = is_unbuilt || (desc->builds && !kernel->is_built);
    }
    if (poor) {
        (void)vyre_diag_set(diag, VYRE_DIAG_SUBMIT_MODE, poor->label, 0,
                            "the kernel is slow where it stays resident");
        return VYRE_FIT_POOR;
    }
    return is_unbuilt ? VYRE_FIT_UNBUILT : VYRE_FIT_YES;
}

static enum vyre_fit batch_check(void *self, const struct vyre_batch_view *view,
                                 enum vyre_mode mode, uint32_t variant, struct vyre_diag *diag)
{
    struct sim_device *device = self;
    pthread_mutex_lock(&device->sim->lock);
    sim_call_begin_locked(device, "batch_check");
    device->sim->calls[VYRE_SIM_CHECK]++;
    sim_check_view(device, view);
    if (variant & ~device->sim->desc.variants)
        sim_violate(device->sim, "batch_check of a variant that was not offered");
    enum vyre_fit fit = sim_fit_locked(device, view, mode, diag);
    sim_call_end_locked(device);
    pthread_mutex_unlock(&device->sim->lock);
    return fit;
}

/* ---- Building --------------------------------------------------------------------------------- */

static void note_built_locked(struct vyre_sim *sim, const char *label)
{
    size_t length = strlen(sim->built);
    snprintf(sim->built + length, sizeof sim->built - length, "%s ", label);
}

static enum vyre_status take_in_locked(struct sim_device *device, struct sim_kernel *kernel,
                                       struct vyre_diag *diag)
{
    note_built_locked(device->sim, kernel->label);
    if (has_label(kernel, device->sim->desc.unbuildable_label)) {
        kernel->is_refused = true;
        return vyre_diag_set(diag, VYRE_DIAG_SUBMIT_MODE, kernel->label, 0,
                             "the kernel does not stay resident");
    }
    kernel->is_built = true;
    return VYRE_OK;
}

static struct sim_kernel *find_unbuilt(const struct vyre_batch_view *view)
{
    for (uint32_t i = 0; i < view->command_count; i++) {
        struct sim_kernel *kernel = view->commands[i].kernel;
        if (kernel && !kernel->is_built)
            return kernel;
    }
    return NULL;
}

enum vyre_status sim_build_all_locked(struct sim_device *device, const struct vyre_batch_view *view,
                                      enum vyre_mode mode, struct vyre_diag *diag)
{
    struct vyre_sim *sim = device->sim;
    enum vyre_status status = VYRE_OK;
    struct sim_kernel *kernel;
    if (mode != VYRE_MODE_PERSISTENT || !sim->desc.builds)
        return VYRE_OK;
    while (status == VYRE_OK && (kernel = find_unbuilt(view))) {
        sim->calls[VYRE_SIM_BUILD_RUN]++;
        sim->now_ns += sim_vary_locked(sim, sim->costs.build_ns);
        status = take_in_locked(device, kernel, diag);
    }
    return status;
}

static bool is_begun(const struct sim_device *device, const struct sim_kernel *kernel)
{
    const struct sim_build *build = device->builds;
    while (build && build->kernel != kernel)
        build = build->next;
    return build != NULL;
}

static enum vyre_status begin_locked(struct sim_device *device, const struct vyre_batch_view *view,
                                     void **out_build, struct vyre_diag *diag)
{
    struct sim_kernel *kernel = find_unbuilt(view);
    if (sim_fit_locked(device, view, VYRE_MODE_PERSISTENT, diag) == VYRE_FIT_NO)
        return VYRE_UNSUPPORTED;
    if (!kernel)
        return VYRE_OK;
    if (is_begun(device, kernel))
        return vyre_diag_set(diag, VYRE_DIAG_SUBMIT_UNBUILT, kernel->label, 0, "it is being built");
    struct sim_build *build = calloc(1, sizeof *build);
    if (!build)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, "sim", 0, "no memory for a build");
    build->kernel = kernel;
    snprintf(build->label, sizeof build->label, "%s", kernel->label);
    build->next = device->builds;
    device->builds = build;
    *out_build = build;
    return VYRE_OK;
}

static enum vyre_status build_begin(void *self, const struct vyre_batch_view *view,
                                    enum vyre_mode mode, uint32_t variant, void **out_build,
                                    struct vyre_diag *diag)
{
    struct sim_device *device = self;
    (void)variant;
    *out_build = NULL;
    if (mode != VYRE_MODE_PERSISTENT)
        return VYRE_OK;
    pthread_mutex_lock(&device->sim->lock);
    sim_call_begin_locked(device, "build_begin");
    sim_check_view(device, view);
    enum vyre_status status = sim_count_call_locked(device->sim, VYRE_SIM_BUILD_BEGIN, diag);
    if (status == VYRE_OK)
        status = begin_locked(device, view, out_build, diag);
    sim_call_end_locked(device);
    pthread_mutex_unlock(&device->sim->lock);
    return status;
}

static void build_run(void *self, void *memory)
{
    struct sim_device *device = self;
    struct vyre_sim *sim = device->sim;
    struct sim_build *build = memory;
    pthread_mutex_lock(&sim->lock);
    sim->calls[VYRE_SIM_BUILD_RUN]++;
    pthread_cond_broadcast(&sim->changed);
    if (build->runs++ > 0)
        sim_violate(sim, "build_run of a build that ran before");
    bool is_held = sim->holds_next_build;
    sim->holds_build = sim->holds_build || is_held;
    sim->holds_next_build = false;
    while (is_held && sim->holds_build)
        pthread_cond_wait(&sim->changed, &sim->lock);
    sim->now_ns += sim_vary_locked(sim, sim->costs.build_ns);
    pthread_mutex_unlock(&sim->lock);
}

static enum vyre_status build_end(void *self, void *memory, struct vyre_diag *diag)
{
    struct sim_device *device = self;
    struct sim_build *build = memory;
    pthread_mutex_lock(&device->sim->lock);
    sim_call_begin_locked(device, "build_end");
    enum vyre_status status = sim_count_call_locked(device->sim, VYRE_SIM_BUILD_END, diag);
    struct sim_build **link = &device->builds;
    while (*link != build)
        link = &(*link)->next;
    *link = build->next;
    if (status == VYRE_DEVICE_LOST)
        sim_drop_locked(device);
    if (status == VYRE_OK && build->runs > 0 && build->kernel && !device->lost)
        status = take_in_locked(device, build->kernel, diag);
    sim_call_end_locked(device);
    pthread_mutex_unlock(&device->sim->lock);
    free(build);
    return status;
}

void sim_builds_forget_locked(struct sim_device *device, const struct sim_kernel *kernel)
{
    for (struct sim_build *build = device->builds; build; build = build->next) {
        if (build->kernel == kernel)
            build->kernel = NULL;
    }
}

/* ---- What tests do with it -------------------------------------------------------------------- */

void vyre_sim_hold_build(struct vyre_sim *sim)
{
    pthread_mutex_lock(&sim->lock);
    sim->holds_next_build = true;
    pthread_mutex_unlock(&sim->lock);
}

void vyre_sim_let_go(struct vyre_sim *sim)
{
    pthread_mutex_lock(&sim->lock);
    sim->holds_next_build = false;
    sim->holds_build = false;
    pthread_cond_broadcast(&sim->changed);
    pthread_mutex_unlock(&sim->lock);
}

void vyre_sim_await_builds(struct vyre_sim *sim, uint64_t run_count)
{
    pthread_mutex_lock(&sim->lock);
    while (sim->calls[VYRE_SIM_BUILD_RUN] < run_count)
        pthread_cond_wait(&sim->changed, &sim->lock);
    pthread_mutex_unlock(&sim->lock);
}

void vyre_sim_built(struct vyre_sim *sim, char *out_text, size_t capacity)
{
    pthread_mutex_lock(&sim->lock);
    snprintf(out_text, capacity, "%s", sim->built);
    pthread_mutex_unlock(&sim->lock);
}

void sim_build_fill_ops(struct vyre_backend_ops *ops)
{
    ops->batch_check = batch_check;
    ops->build_begin = build_begin;
    ops->build_run = build_run;
    ops->build_end = build_end;
}
