/*
 * workloads_test.c: the canonical workloads on an OpenCL device, against their reference.
 *
 *   workloads_test FOLDER DEVICE MODE...     MODE: plain, replay, driver, persistent, auto
 *
 * Each schedule runs once in each mode; floats may differ within the reference's tolerance.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/vyre.h>

#include "reference.h"
#include "run/schedule.h"
#include "run/session.h"
#include "workload/workload.h"

#define MESSAGE_BYTES 256

static void require(enum vyre_status status, const struct vyre_diag *diag)
{
    if (status == VYRE_OK)
        return;
    fprintf(stderr, "workloads_test: %s\n", diag->message);
    exit(1);
}

static struct vyre_submit_options options_of(const char *mode)
{
    struct vyre_submit_options options = {0};
    if (strcmp(mode, "driver") == 0) {
        options.mode = VYRE_MODE_REPLAY;
        options.variant = VYRE_VARIANT_DRIVER;
        return options;
    }
    for (int i = VYRE_MODE_AUTO; i < VYRE_MODE_COUNT; i++) {
        if (strcmp(mode, vyre_mode_name((enum vyre_mode)i)) == 0) {
            options.mode = (enum vyre_mode)i;
            return options;
        }
    }
    fprintf(stderr, "workloads_test: no mode %s\n", mode);
    exit(2);
}

static void run_schedule(struct session *session, const char *mode)
{
    const struct vyre_submit_options options = options_of(mode);
    struct schedule schedule;
    struct vyre_diag diag;
    uint32_t batch;
    require(schedule_init(&schedule, session->workload, 1, &diag), &diag);
    while (schedule_next(&schedule, &batch))
        require(vyre_batch_submit(session->batches[batch], &options, NULL, &diag), &diag);
    require(vyre_device_wait_idle(session->device, VYRE_FOREVER, &diag), &diag);
    schedule_deinit(&schedule);
}

/* Whether the outputs are right. */
static bool check(struct session *session, const char *name, const char *mode)
{
    const struct workload *w = session->workload;
    void **outputs = calloc(w->output_count + 1, sizeof *outputs);
    char message[MESSAGE_BYTES];
    struct vyre_diag diag;
    for (size_t i = 0; outputs && i < w->output_count; i++) {
        size_t size = w->buffers[w->outputs[i]].size_bytes;
        outputs[i] = calloc(1, size);
        if (!outputs[i])
            exit(1);
        require(vyre_buffer_read(session->buffers[w->outputs[i]], 0, outputs[i], size, &diag),
                &diag);
    }
    bool right =
        outputs && reference_check(name, w, (const void *const *)outputs, message, sizeof message);
    if (!right)
        fprintf(stderr, "FAILED: %s in mode %s: %s\n", name, mode, message);
    for (size_t i = 0; outputs && i < w->output_count; i++)
        free(outputs[i]);
    free(outputs);
    return right;
}

static bool run(struct vyre_instance *instance, const char *device_name, const char *path,
                const char *name, const char *mode)
{
    const struct vyre_device_desc desc = {.backend = "opencl", .name = device_name};
    struct workload *workload = NULL;
    struct session *session = NULL;
    struct vyre_device *device = NULL;
    struct vyre_diag diag;
    require(workload_load(path, &workload, &diag), &diag);
    require(vyre_device_open(instance, &desc, &device, &diag), &diag);
    require(session_create(workload, device, 1, &session, &diag), &diag);
    run_schedule(session, mode);
    bool right = check(session, name, mode);
    session_destroy(&session);
    workload_destroy(&workload);
    return right;
}

int main(int count, char **arguments)
{
    struct vyre_instance *instance = NULL;
    struct vyre_diag diag;
    int failures = 0;
    if (count < 4) {
        fputs("usage: workloads_test FOLDER DEVICE MODE...\n", stderr);
        return 2;
    }
    require(vyre_instance_create(NULL, &instance, &diag), &diag);
    for (size_t i = 0; reference_name(i); i++) {
        char path[4096];
        (void)snprintf(path, sizeof path, "%s/%s.json", arguments[1], reference_name(i));
        for (int mode = 3; mode < count; mode++)
            failures += !run(instance, arguments[2], path, reference_name(i), arguments[mode]);
    }
    vyre_instance_destroy(&instance);
    return failures ? 1 : 0;
}
