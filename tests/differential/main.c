/*
 * main.c: vyre_differential: random batches, run by Vyre in every mode and by a plain serial
 * interpreter, compared byte for byte.
 *
 * Exit codes: 0 all agreed, 1 a mismatch (the report says how to reproduce it), 2 bad usage, 77 the
 * backend is not there.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "differential/run.h"
#include "differential/soak.h"
#include "support/load_backend.h"
#include "support/random.h"

enum { CONFIGS_MAX = 64, WORKERS_MAX = 8, SEED_LONG = 77 };

struct options {
    const char *backend;
    const char *library;
    const struct vyre_backend_ops *ops;
    const char *device;
    uint64_t batches;
    uint64_t seed;
    const char *mode;
    uint32_t workers[WORKERS_MAX];
    uint32_t worker_count;
    bool no_inline;   /* only that; otherwise both */
    bool with_inline; /* only that; otherwise both */
    bool program_given;
    uint64_t program; /* the seed of one program */
    uint32_t repeat;
    uint32_t shrink_seconds;
    bool inject_fault;
    bool verbose;
    bool soak;
    bool long_programs;
};

/* ---- Options ---------------------------------------------------------------------------------- */

static const char usage[] =
    "usage: vyre_differential [--backend B | --library PATH] [--device NAME] [--batches N]\n"
    "                         [--seed S|environment] [--soak] [--long]\n"
    "                         [--mode plain|replay|driver|persistent|auto|mixed|all] [--workers "
    "LIST]\n"
    "                         [--inline | --no-inline] [--program SEED [--repeat N]]\n"
    "                         [--shrink-seconds N] [--verbose]\n"
    "--seed environment: VYRE_TEST_SEED, or 77.\n"
    "--soak: all programs on one device, whose memory may not grow.\n"
    "--long: programs of five times the length, for devices that take long to open.\n";

static bool parse_number(const char *text, uint64_t limit, uint64_t *out_number)
{
    char *end = NULL;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 0);
    *out_number = number;
    return errno == 0 && end != text && *end == '\0' && text[0] != '-' && number <= limit;
}

static bool parse_workers(const char *text, struct options *options)
{
    options->worker_count = 0;
    for (;;) {
        char *end = NULL;
        unsigned long workers = strtoul(text, &end, 10);
        if (end == text || workers > 64 || options->worker_count == WORKERS_MAX)
            return false;
        options->workers[options->worker_count++] = (uint32_t)workers;
        if (*end == '\0')
            return true;
        if (*end != ',')
            return false;
        text = end + 1;
    }
}

static bool parse_valued(const char *name, const char *value, struct options *options)
{
    uint64_t number = 0;
    if (strcmp(name, "--backend") == 0) {
        options->backend = value;
        return true;
    }
    if (strcmp(name, "--library") == 0) {
        options->library = value;
        return true;
    }
    if (strcmp(name, "--device") == 0) {
        options->device = value;
        return true;
    }
    if (strcmp(name, "--mode") == 0) {
        options->mode = value;
        return true;
    }
    if (strcmp(name, "--workers") == 0)
        return parse_workers(value, options);
    if (strcmp(name, "--batches") == 0)
        return parse_number(value, UINT64_MAX, &options->batches);
    if (strcmp(name, "--seed") == 0) {
        const char *given = getenv("VYRE_TEST_SEED");
        options->seed = SEED_LONG;
        if (strcmp(value, "environment") != 0)
            return parse_number(value, UINT64_MAX, &options->seed);
        return !given || parse_number(given, UINT64_MAX, &options->seed);
    }
    if (strcmp(name, "--program") == 0) {
        options->program_given = true;
        return parse_number(value, UINT64_MAX, &options->program);
    }
    if (strcmp(name, "--repeat") == 0 && parse_number(value, UINT32_MAX, &number)) {
        options->repeat = (uint32_t)number;
        return true;
    }
    if (strcmp(name, "--shrink-seconds") == 0 && parse_number(value, UINT32_MAX, &number)) {
        options->shrink_seconds = (uint32_t)number;
        return true;
    }
    return false;
}

static bool parse_options(int count, char **arguments, struct options *options)
{
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--verbose") == 0)
            options->verbose = true;
        else if (strcmp(arguments[i], "--inject-fault") == 0) /* hidden: proves that we would see */
            options->inject_fault = true;
        else if (strcmp(arguments[i], "--soak") == 0)
            options->soak = true;
        else if (strcmp(arguments[i], "--long") == 0)
            options->long_programs = true;
        else if (strcmp(arguments[i], "--no-inline") == 0)
            options->no_inline = true;
        else if (strcmp(arguments[i], "--inline") == 0)
            options->with_inline = true;
        else if (i + 1 >= count || !parse_valued(arguments[i], arguments[i + 1], options))
            return false;
        else
            i++;
    }
    return true;
}

/* ---- Configurations --------------------------------------------------------------------------- */

static const char *config_mode_name(const struct config *config)
{
    if (config->variant == VYRE_VARIANT_DRIVER)
        return "driver";
    return config->mixed ? "mixed" : vyre_mode_name(config->mode);
}

/* 0: no such mode. */
static uint32_t list_configs(const struct options *options, struct config out_configs[CONFIGS_MAX])
{
    uint32_t count = 0;
    /* The last two stand for mixed and for replay by the driver, which "all" leaves out. */
    for (uint32_t mode = 0; mode <= VYRE_MODE_COUNT + 1; mode++) {
        struct config config = {.backend = options->backend,
                                .library = options->library,
                                .ops = options->ops,
                                .device = options->device,
                                .inject_fault = options->inject_fault};
        bool driver = mode == VYRE_MODE_COUNT + 1;
        config.mixed = mode == VYRE_MODE_COUNT;
        config.mode = config.mixed ? VYRE_MODE_AUTO : (enum vyre_mode)mode;
        if (driver) {
            config.mode = VYRE_MODE_REPLAY;
            config.variant = VYRE_VARIANT_DRIVER;
        }
        if ((strcmp(options->mode, "all") != 0 || driver) &&
            strcmp(options->mode, config_mode_name(&config)) != 0)
            continue;
        for (uint32_t w = 0; w < options->worker_count; w++) {
            for (int no_inline = 0; no_inline < 2; no_inline++) {
                if (no_inline ? options->with_inline : options->no_inline)
                    continue;
                if (count == CONFIGS_MAX)
                    return count;
                config.workers = options->workers[w];
                config.no_inline = no_inline;
                out_configs[count++] = config;
            }
        }
    }
    return count;
}

/* ---- Reports ---------------------------------------------------------------------------------- */

static void report_mismatch(struct program *program, const struct config *config,
                            const struct outcome *outcome, const struct options *options)
{
    printf("mismatch: program 0x%" PRIx64 ", mode %s, %" PRIu32 " workers%s, step %" PRIu32
           " of %" PRIu32 "\n  %s\n",
           program->seed, config_mode_name(config), config->workers,
           config->no_inline ? " (no inline)" : "", outcome->step, program->step_count,
           outcome->text);
    printf("reproduce: vyre_differential --%s %s%s%s --mode %s --workers %" PRIu32
           " %s --program 0x%" PRIx64 "%s%s%s\n",
           config->library ? "library" : "backend",
           config->library ? config->library : config->backend, config->device ? " --device " : "",
           config->device ? config->device : "", config_mode_name(config), config->workers,
           config->no_inline ? "--no-inline" : "--inline", program->seed,
           config->inject_fault ? " --inject-fault" : "", config->kept ? " --soak" : "",
           options->long_programs ? " --long" : "");
    fflush(stdout);
    struct shrink_result result = {.outcome = *outcome};
    program_shrink(program, config, options->shrink_seconds, &result);
    printf("shrunk to %" PRIu32 " commands in %" PRIu32
           " runs; the whole program failed in %" PRIu32 " of 10 runs (add --repeat 100 for rare "
           "ones)\n  step %" PRIu32 ": %s\n",
           program_live_commands(program), result.runs, result.failures_of_ten, result.outcome.step,
           result.outcome.text);
    program_print(program, stdout);
}

static void report_tally(const struct tally *tally, uint32_t config_count)
{
    printf("%" PRIu64 " batches in %" PRIu64 " programs, %" PRIu32 " configurations; %" PRIu64
           " checks; %" PRIu64 " stale submits refused\n",
           tally->batches, tally->programs, config_count, tally->checks, tally->stale);
    printf("  commands: %" PRIu64 " dispatches (%" PRIu64 " groups), %" PRIu64 " copies, %" PRIu64
           " fills, %" PRIu64 " uploads, %" PRIu64 " borrowed, %" PRIu64 " downloads\n  kernels:",
           tally->commands[COMMAND_DISPATCH], tally->groups, tally->commands[COMMAND_COPY],
           tally->commands[COMMAND_FILL], tally->commands[COMMAND_UPLOAD],
           tally->commands[COMMAND_UPLOAD_BORROWED], tally->commands[COMMAND_DOWNLOAD]);
    for (uint32_t i = 0; i < KERNEL_COUNT; i++)
        printf(" %s %" PRIu64, test_kernels[i].name, tally->dispatches[i]);
    printf("\n  modes:");
    for (uint32_t i = 1; i < VYRE_MODE_COUNT; i++)
        printf(" %s %" PRIu64, vyre_mode_name((enum vyre_mode)i), tally->by_mode[i]);
    printf("\n  recordings: %" PRIu64 " made, %" PRIu64 " reused, %" PRIu64 " evicted\n",
           tally->recordings_made, tally->recordings_reused, tally->recordings_evicted);
}

/*
 * A run that did not do what it is for must not pass: every kind of command, every kernel and
 * every mode that was asked for.
 */
static bool tally_is_complete(const struct tally *tally, const struct config *configs,
                              uint32_t config_count, const struct device_shape *shape)
{
    bool complete = tally->checks != 0 && tally->stale != 0;
    for (uint32_t i = 0; i < COMMAND_KIND_COUNT; i++)
        complete &= tally->commands[i] != 0;
    for (uint32_t i = 0; i < KERNEL_COUNT; i++) {
        bool possible =
            shape->table_entries != 0 || (i != KERNEL_TABLE_SUM && i != KERNEL_TABLE_WRITE);
        complete &= !possible || tally->dispatches[i] != 0;
    }
    for (uint32_t i = 0; i < config_count; i++) {
        if (configs[i].mode != VYRE_MODE_AUTO)
            complete &= tally->by_mode[configs[i].mode] != 0;
        if (configs[i].mode == VYRE_MODE_REPLAY)
            complete &= tally->recordings_reused != 0;
    }
    if (!complete)
        printf("error: the run was too short or did not do all that it is for\n");
    return complete;
}

/* ---- Running ---------------------------------------------------------------------------------- */

/* A device that is kept has limits of its own. */
static void generate(struct program *program, uint64_t seed, const struct device_shape *shape,
                     const struct config *config)
{
    program_generate(program, seed, shape);
    if (!config->kept)
        return;
    program->in_flight_limit = 0;
    program->busy_when_full = false;
    program->recording_limit = 0;
    program->persistent_idle_ns = 0;
    program->persistent_lease_ns = 0;
}

static int run_one(const struct options *options, const struct config *config,
                   const struct device_shape *shape, struct program *program)
{
    for (uint32_t i = 0; i < options->repeat; i++) {
        struct outcome outcome;
        generate(program, options->program, shape, config);
        if (options->verbose && i == 0)
            program_print(program, stdout);
        program_run(program, config, NULL, &outcome);
        if (outcome.failed) {
            report_mismatch(program, config, &outcome, options);
            return 1;
        }
    }
    printf("program 0x%" PRIx64 ": agreed %" PRIu32 " times\n", options->program, options->repeat);
    return 0;
}

static int run_many(const struct options *options, const struct config *configs,
                    uint32_t config_count, const struct device_shape *shape,
                    struct program *program, struct soak *soak)
{
    struct tally tally = {0};
    struct rng rng = rng_seeded(options->seed);
    for (uint64_t i = 0; tally.batches < options->batches; i++) {
        const struct config *config = &configs[i % config_count];
        struct outcome outcome;
        generate(program, rng_next(&rng), shape, config);
        if (options->verbose)
            fprintf(stderr, "program 0x%" PRIx64 ", mode %s, %" PRIu32 " workers%s\n",
                    program->seed, config_mode_name(config), config->workers,
                    config->no_inline ? " (no inline)" : "");
        program_run(program, config, &tally, &outcome);
        if (outcome.failed) {
            report_mismatch(program, config, &outcome, options);
            return 1;
        }
        if (soak)
            soak_look(soak, tally.batches, options->batches);
    }
    printf("seed %" PRIu64 ": ", options->seed);
    report_tally(&tally, config_count);
    return tally_is_complete(&tally, configs, config_count, shape) ? 0 : 1;
}

int main(int count, char **arguments)
{
    struct options options = {.backend = "cpu",
                              .batches = 2000,
                              .seed = 1,
                              .mode = "all",
                              .workers = {1, 2, 4},
                              .worker_count = 3,
                              .repeat = 1,
                              .shrink_seconds = 30};
    struct config configs[CONFIGS_MAX];
    uint32_t config_count = 0;
    bool parsed = parse_options(count, arguments, &options);
    if (parsed && options.library) {
        options.ops = test_load_backend(options.library, TEST_BACKEND_SYMBOL);
        if (!options.ops)
            return 77;
        options.backend = options.ops->name;
    }
    if (parsed)
        config_count = list_configs(&options, configs);
    if (config_count == 0) {
        fputs(usage, stderr);
        return 2;
    }
    struct vyre_diag diag = {0};
    struct device_shape shape;
    enum vyre_status status = driver_probe(&configs[0], &shape, &diag);
    if (status != VYRE_OK) {
        char text[600];
        vyre_diag_format(&diag, text, sizeof text);
        fprintf(stderr, "%s\n", text);
        return status == VYRE_NOT_FOUND ? 77 : 1;
    }
    shape.long_programs = options.long_programs;
    static struct soak soak;
    if (options.soak && soak_open(&soak, &configs[0], &diag) != VYRE_OK) {
        fprintf(stderr, "%s\n", diag.message);
        return 1;
    }
    for (uint32_t i = 0; options.soak && i < config_count; i++)
        configs[i].kept = &soak.kept;
    struct program *program = malloc(sizeof *program);
    if (!program)
        abort();
    int code = options.program_given ? run_one(&options, &configs[0], &shape, program)
                                     : run_many(&options, configs, config_count, &shape, program,
                                                options.soak ? &soak : NULL);
    free(program);
    if (options.soak && !options.program_given && code == 0 && !soak_close(&soak))
        code = 1;
    return code;
}
