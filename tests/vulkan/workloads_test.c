/*
 * workloads_test.c: a canonical workload on the Vulkan device gives what the serial reference gives:
 * exactly, or within the tolerance that reference.h states.
 *
 *   vulkan_workloads_test FOLDER NAME MODE
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/vyre.h>

#include "reference.h"
#include "run/runner.h"
#include "run/session.h"

static void require(enum vyre_status status, const struct vyre_diag *diag)
{
    char text[600];
    if (status == VYRE_OK)
        return;
    vyre_diag_format(diag, text, sizeof text);
    fprintf(stderr, "FAILED: %s\n", text);
    exit(1);
}

static void run_schedule(struct session *session, enum vyre_mode mode)
{
    struct vyre_diag diag;
    struct cli_progress progress;
    struct runner runner;
    vyre_diag_reset(&diag);
    require(runner_init(&runner, session, mode, 1, &diag), &diag);
    cli_progress_begin(&progress, true, 1);
    runner.progress = &progress;
    require(runner_run(&runner, UINT64_MAX, &diag), &diag);
    printf("%llu batches: plain %llu, replay %llu\n", (unsigned long long)runner.completed,
           (unsigned long long)runner.by_mode[VYRE_MODE_PLAIN],
           (unsigned long long)runner.by_mode[VYRE_MODE_REPLAY]);
    if (runner.completed == 0 || (mode != VYRE_MODE_AUTO && runner.by_mode[mode] == 0)) {
        fputs("FAILED: nothing ran in the mode\n", stderr);
        exit(1);
    }
    runner_deinit(&runner);
}

static int check(struct session *session, const char *name)
{
    const struct workload *workload = session->workload;
    struct vyre_diag diag;
    char message[600];
    void **outputs = calloc(workload->output_count, sizeof *outputs);
    if (!outputs)
        abort();
    vyre_diag_reset(&diag);
    for (size_t i = 0; i < workload->output_count; i++) {
        size_t size = workload->buffers[workload->outputs[i]].size_bytes;
        outputs[i] = malloc(size);
        if (!outputs[i])
            abort();
        require(
            vyre_buffer_read(session->buffers[workload->outputs[i]], 0, outputs[i], size, &diag),
            &diag);
    }
    bool right =
        reference_check(name, workload, (const void *const *)outputs, message, sizeof message);
    if (!right)
        fprintf(stderr, "FAILED: %s: %s\n", name, message);
    for (size_t i = 0; i < workload->output_count; i++)
        free(outputs[i]);
    free(outputs);
    return right ? 0 : 1;
}

int main(int argument_count, char **arguments)
{
    enum vyre_mode mode = VYRE_MODE_AUTO;
    if (argument_count != 4) {
        fputs("usage: vulkan_workloads_test FOLDER NAME MODE\n", stderr);
        return 2;
    }
    while (mode < VYRE_MODE_COUNT && strcmp(vyre_mode_name(mode), arguments[3]) != 0)
        mode++;
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s.json", arguments[1], arguments[2]);
    struct vyre_diag diag;
    struct workload *workload = NULL;
    struct vyre_instance *instance = NULL;
    struct vyre_device *device = NULL;
    struct session *session = NULL;
    const struct vyre_device_desc desc = {.backend = "vulkan"};
    vyre_diag_reset(&diag);
    require(workload_load(path, &workload, &diag), &diag);
    require(vyre_instance_create(NULL, &instance, &diag), &diag);
    require(vyre_device_open(instance, &desc, &device, &diag), &diag);
    require(session_create(workload, device, 1, &session, &diag), &diag);
    run_schedule(session, mode);
    int failures = check(session, arguments[2]);
    session_destroy(&session);
    vyre_instance_destroy(&instance);
    workload_destroy(&workload);
    return failures;
}
