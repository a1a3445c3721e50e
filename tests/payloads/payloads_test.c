/*
 * payloads_test.c: every kernel of the conformance suite and of the differential test, the host
 * function against its twin on a device, byte for byte, over random dispatches.
 *
 *   payloads_test opencl|vulkan [ARGUMENT] [--trials N] [--seed N] [--kernel NAME]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/payloads.h"

enum { HOST_GUARD = 0x5a, DEVICE_GUARD = 0xc3, SPECIALIZED_TRIALS = 4 };

struct options {
    const struct runner_ops *runner;
    const char *argument;
    const char *kernel; /* NULL: all */
    uint64_t trials;
    uint64_t seed;
};

struct room {
    struct trial trial;
    _Alignas(64) unsigned char host[TRIAL_MEMORY_BYTES];
    unsigned char device[TRIAL_MEMORY_BYTES];
};

static bool parse(int count, char **arguments, struct options *options)
{
    for (int i = 1; i < count; i++) {
        const char *value = i + 1 < count ? arguments[i + 1] : NULL;
        if (strcmp(arguments[i], "opencl") == 0 && !options->runner)
            options->runner = &opencl_runner;
        else if (strcmp(arguments[i], "vulkan") == 0 && !options->runner)
            options->runner = &vulkan_runner;
        else if (strncmp(arguments[i], "--", 2) != 0)
            options->argument = arguments[i];
        else if (value && strcmp(arguments[i], "--trials") == 0)
            options->trials = strtoull(arguments[++i], NULL, 0);
        else if (value && strcmp(arguments[i], "--seed") == 0)
            options->seed = strtoull(arguments[++i], NULL, 0);
        else if (value && strcmp(arguments[i], "--kernel") == 0)
            options->kernel = arguments[++i];
        else
            return false;
    }
    return options->runner && options->trials != 0;
}

static void report(const struct subject *subject, const struct room *room, size_t offset,
                   uint64_t number)
{
    const struct trial *trial = &room->trial;
    fprintf(stderr,
            "FAILED: %s/%s, trial %" PRIu64 ", %" PRIu32 "x%" PRIu32 "x%" PRIu32
            " groups: byte %zu is %02x, on the host %02x\n",
            subject->suite, subject->name, number, trial->groups[0], trial->groups[1],
            trial->groups[2], offset, room->device[offset], room->host[offset]);
    for (uint32_t i = 0; i < subject->binding_count; i++)
        fprintf(stderr, "  slot %" PRIu32 ": %zu bytes at %zu\n", subject->bindings[i].slot,
                trial->areas[i].size_bytes, trial->areas[i].offset_bytes);
}

static bool run_subject(const struct options *options, void *runner, const struct subject *subject,
                        struct room *room)
{
    struct rng rng = rng_seeded(options->seed);
    bool different = false, changed = false;
    for (uint64_t i = 0; i < options->trials; i++) {
        size_t offset = 0;
        /* A new set of values is a new program: a few will do, and the defaults after them. */
        trial_draw(subject, &rng, i < SPECIALIZED_TRIALS, &room->trial);
        trial_fill(&room->trial, HOST_GUARD, room->host);
        trial_fill(&room->trial, DEVICE_GUARD, room->device);
        trial_run_host(subject, &room->trial, room->host);
        changed |= trial_differs(&room->trial, room->host, HOST_GUARD, room->device, DEVICE_GUARD,
                                 &offset);
        unsigned char *memory = options->runner->memory(runner);
        memcpy(memory, room->device, TRIAL_MEMORY_BYTES);
        if (!options->runner->run(runner, subject, &room->trial)) {
            fprintf(stderr, "FAILED: %s/%s does not run\n", subject->suite, subject->name);
            return false;
        }
        memcpy(room->device, memory, TRIAL_MEMORY_BYTES);
        bool differs = trial_differs(&room->trial, room->host, HOST_GUARD, room->device,
                                     DEVICE_GUARD, &offset);
        if (differs && !subject->differs) {
            report(subject, room, offset, i);
            return false;
        }
        different |= differs;
    }
    if (!changed) {
        fprintf(stderr, "FAILED: no trial of %s changes anything\n", subject->name);
        return false;
    }
    if (subject->differs && !different)
        fprintf(stderr, "FAILED: the mistake in %s was not seen\n", subject->name);
    return different == subject->differs;
}

static bool run_all(const struct options *options, void *runner)
{
    static struct subject subjects[SUBJECTS_MAX];
    static struct room room;
    size_t failed = 0, ran = 0, host_only = 0;
    size_t count = differential_subjects(subjects, conformance_subjects(subjects, 0));
    for (size_t i = 0; i < count; i++) {
        const struct subject *subject = &subjects[i];
        if (options->kernel && strcmp(options->kernel, subject->name) != 0)
            continue;
        if (subject->host_only) {
            printf("%s/%s: host only: %s\n", subject->suite, subject->name, subject->host_only);
            host_only++;
            continue;
        }
        bool good = subject->opencl_c && subject->glsl && subject->binding_count != 0 &&
                    run_subject(options, runner, subject, &room);
        if (good)
            printf("%s/%s: %s\n", subject->suite, subject->name,
                   subject->differs ? "its mistake is seen" : "agrees");
        failed += !good;
        ran++;
    }
    printf("%s: %zu kernels, %" PRIu64 " trials each, %zu failed, %zu host only\n",
           options->runner->name, ran, options->trials, failed, host_only);
    return failed == 0 && ran != 0;
}

int main(int count, char **arguments)
{
    struct options options = {.trials = 40, .seed = 1};
    if (!parse(count, arguments, &options)) {
        fprintf(stderr,
                "usage: %s opencl|vulkan [ARGUMENT] [--trials N] [--seed N] [--kernel NAME]\n",
                arguments[0]);
        return 2;
    }
    void *runner = options.runner->open(TRIAL_MEMORY_BYTES, options.argument);
    if (!runner)
        return 1;
    bool good = run_all(&options, runner);
    options.runner->close(runner);
    return good ? 0 : 1;
}
