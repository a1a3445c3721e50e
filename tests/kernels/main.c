/*
 * main.c: vyre_kernels: random kernels, run by Vyre in every mode and by an interpreter of their
 * trees, compared byte for byte.
 *
 * Exit codes: 0 all agreed, 1 a mode differs from plain (the report says how to reproduce it) or
 * the run was hollow, 2 bad usage, 77 the device is not there.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/campaign.h"
#include "kernels/generate.h"
#include "kernels/report.h"

struct options {
    struct campaign campaign;
    bool program_given;
    uint64_t program; /* the seed of one program */
    bool print;
};

static const char usage[] =
    "usage: vyre_kernels [--backend B | --library PATH] [--device NAME]\n"
    "                    [--mode plain|replay|auto|persistent|all] [--programs N] [--seed S]\n"
    "                    [--program SEED [--print]] [--jobs N] [--shrink-seconds N]\n"
    "                    [--hang-seconds N] [--keep-going] [--shown N] [--complete] [--strict]\n"
    "                    [--no-proof] [--verbose]\n";

static bool parse_number(const char *text, uint64_t limit, uint64_t *out_number)
{
    char *end = NULL;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 0);
    *out_number = number;
    return errno == 0 && end != text && *end == '\0' && text[0] != '-' && number <= limit;
}

static bool parse_small(const char *text, uint32_t limit, uint32_t *out_number)
{
    uint64_t number;
    bool parsed = parse_number(text, limit, &number);
    *out_number = (uint32_t)number;
    return parsed;
}

static bool find_mode(const char *name, enum vyre_mode *out_mode)
{
    for (uint32_t i = 0; i < VYRE_MODE_COUNT; i++) {
        *out_mode = (enum vyre_mode)i;
        if (strcmp(name, vyre_mode_name(*out_mode)) == 0)
            return true;
    }
    return false;
}

/* Plain is always among them: it shows whether a fault is the driver's or ours. */
static bool parse_modes(const char *text, struct target *target)
{
    enum vyre_mode mode;
    target->modes = 1u << VYRE_MODE_PLAIN;
    if (strcmp(text, "all") == 0) {
        target->modes = (1u << VYRE_MODE_COUNT) - 1;
        return true;
    }
    if (!find_mode(text, &mode))
        return false;
    target->modes |= 1u << mode;
    return true;
}

static bool parse_text(const char *name, const char *value, struct options *options)
{
    struct target *target = &options->campaign.target;
    if (strcmp(name, "--backend") == 0)
        target->backend = value;
    else if (strcmp(name, "--library") == 0)
        target->library = value;
    else if (strcmp(name, "--device") == 0)
        target->device = value;
    else
        return false;
    return true;
}

static bool parse_valued(const char *name, const char *value, struct options *options)
{
    struct campaign *campaign = &options->campaign;
    if (parse_text(name, value, options))
        return true;
    if (strcmp(name, "--mode") == 0)
        return parse_modes(value, &campaign->target);
    if (strcmp(name, "--fault") == 0) { /* hidden: proves that we would see */
        campaign->target.fault = true;
        return find_mode(value, &campaign->target.fault_mode);
    }
    if (strcmp(name, "--programs") == 0)
        return parse_number(value, UINT32_MAX, &campaign->programs);
    if (strcmp(name, "--seed") == 0)
        return parse_number(value, UINT64_MAX, &campaign->seed);
    if (strcmp(name, "--program") == 0) {
        options->program_given = true;
        return parse_number(value, UINT64_MAX, &options->program);
    }
    if (strcmp(name, "--jobs") == 0)
        return parse_small(value, JOBS_MAX, &campaign->jobs) && campaign->jobs > 0;
    if (strcmp(name, "--shown") == 0)
        return parse_small(value, UINT32_MAX, &campaign->failures_shown);
    if (strcmp(name, "--hang-seconds") == 0)
        return parse_small(value, 1000000, &campaign->hang_seconds) && campaign->hang_seconds > 0;
    if (strcmp(name, "--shrink-seconds") == 0)
        return parse_small(value, UINT32_MAX, &campaign->shrink_seconds);
    return false;
}

static bool parse_options(int count, char **arguments, struct options *options)
{
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--verbose") == 0)
            options->campaign.verbose = true;
        else if (strcmp(arguments[i], "--keep-going") == 0)
            options->campaign.keep_going = true;
        else if (strcmp(arguments[i], "--strict") == 0)
            options->campaign.strict = true;
        else if (strcmp(arguments[i], "--no-proof") == 0)
            options->campaign.target.no_proof = true;
        else if (strcmp(arguments[i], "--complete") == 0)
            options->campaign.complete = true;
        else if (strcmp(arguments[i], "--print") == 0)
            options->print = true;
        else if (i + 1 >= count || !parse_valued(arguments[i], arguments[i + 1], options))
            return false;
        else
            i++;
    }
    return true;
}

static int print_program(uint64_t seed)
{
    struct program *program = malloc(sizeof *program);
    if (!program)
        abort();
    program_generate(program, seed);
    report_program(program);
    free(program);
    return 0;
}

int main(int count, char **arguments)
{
    struct options options = {
        .campaign = {.target = {.backend = "opencl", .modes = (1u << VYRE_MODE_COUNT) - 1},
                     .programs = 100,
                     .seed = 1,
                     .jobs = 1,
                     .hang_seconds = 300,
                     .shrink_seconds = 60,
                     .failures_shown = 1}};
    if (!parse_options(count, arguments, &options)) {
        fputs(usage, stderr);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN); /* workers may die while they are written to */
    if (options.print && options.program_given)
        return print_program(options.program);
    if (options.program_given)
        return campaign_run_one(&options.campaign, options.program);
    return campaign_run(&options.campaign);
}
