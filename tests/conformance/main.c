/*
 * main.c: vyre_conformance runs every promise of the public headers against one backend.
 *
 *   vyre_conformance --backend cpu
 *   vyre_conformance --library ./libvyre_serial.so [--symbol vyre_backend_entry]
 *
 *   --backend NAME         the backend; with --library: default is the name in its table
 *   --device NAME|NUMBER   the device: a part of its name, or its number; default is the first
 *   --library PATH         an out-of-tree backend: a shared object ...
 *   --symbol NAME          ... with `const struct vyre_backend_ops *NAME(void)`
 *   --kernel-library PATH  the shared object with the suite's library kernel
 *   --filter TEXT          only the cases whose name contains TEXT
 *   --list                 the cases and their exclusions; runs nothing
 *   --complete             a case left out for an ability that the device lacks is a failure
 *
 * Exit: 0 all passed, 1 some failed, 2 bad usage, 77 the backend is not there.
 */
#include "conformance/conformance.h"

#include <getopt.h>

#include "support/load_backend.h"

static const struct conformance_group *const groups[] = {
    &instance_cases, &register_cases, &buffer_cases,   &kernel_cases,    &kernel_abi_cases,
    &batch_cases,    &transfer_cases, &mode_cases,     &recording_cases, &serial_cases,
    &ticket_cases,   &callback_cases, &lifetime_cases, &error_cases,     &memory_cases,
    &thread_cases,   &lost_cases,
};

struct options {
    const char *library;
    const char *symbol;
    const char *filter;
    bool list;
    bool complete;
};

/* One case in cmocka's hands. */
struct job {
    const struct subject *subject;
    const struct conformance_case *the_case;
    struct fixture *fixture;
    char name[160];
};

/* ---- Around a case ---------------------------------------------------------------------------- */

static int set_up(void **state)
{
    struct job *job = *state;
    struct fixture *f = calloc(1, sizeof *f);
    struct vyre_device_desc desc = {.backend = job->subject->backend,
                                    .name = job->subject->device_name,
                                    .index = job->subject->device_index};
    if (!f)
        return -1;
    job->fixture = f;
    f->subject = job->subject;
    f->allocator = counting_allocator_face(&f->counting);
    f->instance = subject_instance(job->subject, NULL, &f->diag);
    if (!f->instance || vyre_device_open(f->instance, &desc, &f->device, &f->diag) != VYRE_OK) {
        print_error("cannot open the device: %s\n", f->diag.message);
        return -1;
    }
    vyre_device_get_limits(f->device, &f->limits);
    vyre_diag_reset(&f->diag);
    return 0;
}

static int tear_down(void **state)
{
    struct job *job = *state;
    struct fixture *f = job->fixture;
    for (size_t i = 0; i < FIXTURE_GATES; i++)
        gate_open(&f->gates[i]);
    for (size_t i = 0; i < FIXTURE_DEVICES; i++)
        vyre_device_close(&f->devices[i]);
    vyre_device_close(&f->device);
    vyre_instance_destroy(&f->instance);
    vyre_instance_destroy(&f->other);
    vyre_audit_destroy(&f->audit);
    free(f);
    job->fixture = NULL;
    return 0;
}

static void run_job(void **state)
{
    struct job *job = *state;
    job->the_case->run(job->fixture);
}

/* ---- Choosing --------------------------------------------------------------------------------- */

/* Why a case is left out, or NULL; *out_listed: the table excludes it; otherwise the subject lacks something. */
static const char *reason_to_leave_out(const struct subject *subject, const char *name,
                                       uint32_t needs, bool *out_listed)
{
    const char *listed = exclusion_reason(subject->backend, name);
    *out_listed = listed != NULL;
    if (listed)
        return listed;
    uint32_t missing = needs & ~subject->has;
    for (uint32_t bit = 0; bit < 32; bit++) {
        if (missing >> bit & 1)
            return subject->reasons[bit][0] ? subject->reasons[bit] : "no reason was given";
    }
    return NULL;
}

/* Runs or lists a group; returns how many cases failed and counts those that the filter lets by. */
static int run_group(const struct subject *subject, const struct options *options,
                     const struct conformance_group *group, size_t *seen)
{
    int failed = 0;
    size_t count = 0;
    struct job *jobs = calloc(group->case_count, sizeof *jobs);
    struct CMUnitTest *tests = calloc(group->case_count, sizeof *tests);
    if (!jobs || !tests)
        abort();
    for (size_t i = 0; i < group->case_count; i++) {
        struct job *job = &jobs[count];
        const struct conformance_case *the_case = &group->cases[i];
        bool listed;
        snprintf(job->name, sizeof job->name, "%s/%s", group->name, the_case->name);
        if (options->filter && !strstr(job->name, options->filter))
            continue;
        ++*seen;
        const char *reason = reason_to_leave_out(subject, job->name, the_case->needs, &listed);
        if (reason || options->list)
            printf("%s%s%s\n", job->name, reason ? ": excluded: " : "", reason ? reason : "");
        if (reason && options->complete && !listed) {
            print_error("%s must not be left out\n", job->name);
            failed++;
        }
        if (reason || options->list)
            continue;
        job->subject = subject;
        job->the_case = the_case;
        tests[count] = (struct CMUnitTest){job->name, run_job, set_up, tear_down, job};
        count++;
    }
    fflush(stdout);
    if (count)
        failed += _cmocka_run_group_tests(group->name, tests, count, NULL, NULL);
    free(tests);
    free(jobs);
    return failed;
}

/* ---- The command line ------------------------------------------------------------------------- */

static bool load_backend(struct subject *subject, const struct options *options)
{
    subject->ops = test_load_backend(options->library, options->symbol);
    if (!subject->ops)
        return false;
    if (!subject->backend)
        subject->backend = subject->ops->name;
    return true;
}

static bool parse(int argc, char **argv, struct subject *subject, struct options *options)
{
    static const struct option known[] = {
        {"backend", required_argument, NULL, 'b'},
        {"library", required_argument, NULL, 'l'},
        {"symbol", required_argument, NULL, 's'},
        {"kernel-library", required_argument, NULL, 'k'},
        {"filter", required_argument, NULL, 'f'},
        {"list", no_argument, NULL, 'L'},
        {"complete", no_argument, NULL, 'C'},
        {"device", required_argument, NULL, 'd'},
        {NULL, 0, NULL, 0},
    };
    for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        switch (option) {
        case 'b':
            subject->backend = optarg;
            break;
        case 'd':
            if (optarg[strspn(optarg, "0123456789")] == '\0')
                subject->device_index = (uint32_t)strtoul(optarg, NULL, 10);
            else
                subject->device_name = optarg;
            break;
        case 'l':
            options->library = optarg;
            break;
        case 's':
            options->symbol = optarg;
            break;
        case 'k':
            subject->kernel_library = optarg;
            break;
        case 'f':
            options->filter = optarg;
            break;
        case 'L':
            options->list = true;
            break;
        case 'C':
            options->complete = true;
            break;
        default:
            return false;
        }
    }
    return optind == argc && (subject->backend || options->library);
}

int main(int argc, char **argv)
{
    struct subject subject = {.kernel_library = VYRE_CONFORMANCE_KERNEL_LIBRARY};
    struct options options = {.symbol = TEST_BACKEND_SYMBOL};
    int failed = 0;
    if (!parse(argc, argv, &subject, &options)) {
        fprintf(stderr, "usage: vyre_conformance --backend NAME [--device NAME|NUMBER] "
                        "[--library PATH [--symbol NAME]] "
                        "[--kernel-library PATH] [--filter TEXT] [--list] [--complete]\n");
        return 2;
    }
    if (options.library && !load_backend(&subject, &options))
        return 77;
    if (!subject_probe(&subject))
        return 77;
    size_t seen = 0;
    for (size_t i = 0; i < COUNT_OF(groups); i++)
        failed += run_group(&subject, &options, groups[i], &seen);
    if (seen == 0) {
        fprintf(stderr, "conformance: no case has \"%s\" in its name\n", options.filter);
        return 2;
    }
    if (failed)
        fprintf(stderr, "conformance: %d cases failed on %s\n", failed, subject.backend);
    return failed ? 1 : 0;
}
