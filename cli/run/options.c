/*
 * options.c: the command line of the commands that use devices.
 */
#include "run/options.h"

#include <string.h>

#include "terminal/diag.h"
#include "terminal/message.h"
#include "terminal/suggest.h"

struct option {
    const char *name;
    unsigned taken_with; /* 0: every command */
    bool has_value;
    enum vyre_status (*take)(struct cli_options *options, const char *value,
                             struct vyre_diag *diag);
};

/* ---- values -----------------------------------------------------------------------------------
 */

/* Decimal digits alone, from `min` to `max`. */
static enum vyre_status read_from(const char *name, const char *text, uint32_t min, uint32_t max,
                                  uint32_t *out_value, struct vyre_diag *diag)
{
    uint64_t value = 0;
    for (const char *at = text; *at; at++) {
        if (*at < '0' || *at > '9')
            return cli_diag_set(diag, CLI_DIAG_VALUE_NUMBER, NULL, 0, "%s is not a number: `%s`",
                                name, cli_quote(cli_span_of(text)).text);
        value = value * 10 + (uint64_t)(*at - '0');
        if (value > max)
            break;
    }
    if (value < min || value > max) {
        enum vyre_status status =
            cli_diag_set(diag, CLI_DIAG_VALUE_RANGE, NULL, 0, "%s is not between %u and %u: `%s`",
                         name, min, max, cli_quote(cli_span_of(text)).text);
        vyre_diag_set_fix(diag, "Use a number from %u to %u.", min, max);
        return status;
    }
    *out_value = (uint32_t)value;
    return VYRE_OK;
}

static enum vyre_status read_number(const char *name, const char *text, uint32_t max,
                                    uint32_t *out_value, struct vyre_diag *diag)
{
    return read_from(name, text, 1, max, out_value, diag);
}

static enum vyre_status take_backend(struct cli_options *options, const char *value,
                                     struct vyre_diag *diag)
{
    (void)diag;
    options->backend = value;
    return VYRE_OK;
}

static enum vyre_status take_device(struct cli_options *options, const char *value,
                                    struct vyre_diag *diag)
{
    (void)diag;
    options->device = value;
    return VYRE_OK;
}

static enum vyre_status take_mode(struct cli_options *options, const char *value,
                                  struct vyre_diag *diag)
{
    struct cli_suggestion suggestion = {.wanted = cli_span_of(value)};
    for (int mode = VYRE_MODE_AUTO; mode < VYRE_MODE_COUNT; mode++) {
        const char *name = vyre_mode_name((enum vyre_mode)mode);
        if (strcmp(value, name) == 0) {
            options->mode = (enum vyre_mode)mode;
            return VYRE_OK;
        }
        cli_suggestion_offer(&suggestion, name);
    }
    enum vyre_status status =
        cli_diag_set(diag, CLI_DIAG_VALUE_WORD, NULL, 0, "there is no mode `%s`",
                     cli_quote(suggestion.wanted).text);
    vyre_diag_set_fix(diag, "Use auto, plain, replay or persistent.");
    if (suggestion.nearest)
        vyre_diag_set_fix(diag, "Did you mean `%s`? The modes are auto, plain, replay, persistent.",
                          suggestion.nearest);
    return status;
}

static enum vyre_status take_repeat(struct cli_options *options, const char *value,
                                    struct vyre_diag *diag)
{
    return read_number("--repeat", value, CLI_REPEAT_MAX, &options->repeat, diag);
}

static enum vyre_status take_workers(struct cli_options *options, const char *value,
                                     struct vyre_diag *diag)
{
    return read_number("--workers", value, CLI_WORKERS_MAX, &options->workers, diag);
}

static enum vyre_status take_rounds(struct cli_options *options, const char *value,
                                    struct vyre_diag *diag)
{
    return read_number("--rounds", value, CLI_ROUNDS_MAX, &options->rounds, diag);
}

static enum vyre_status take_output(struct cli_options *options, const char *value,
                                    struct vyre_diag *diag)
{
    (void)diag;
    options->output = value;
    return VYRE_OK;
}

static enum vyre_status take_store(struct cli_options *options, const char *value,
                                   struct vyre_diag *diag)
{
    (void)diag;
    options->store.path = value;
    return VYRE_OK;
}

static enum vyre_status take_no_store(struct cli_options *options, const char *value,
                                      struct vyre_diag *diag)
{
    (void)value;
    (void)diag;
    options->store.none = true;
    return VYRE_OK;
}

static enum vyre_status take_record(struct cli_options *options, const char *value,
                                    struct vyre_diag *diag)
{
    (void)diag;
    options->record = value;
    return VYRE_OK;
}

static enum vyre_status take_audit(struct cli_options *options, const char *value,
                                   struct vyre_diag *diag)
{
    (void)value;
    (void)diag;
    options->audit = true;
    return VYRE_OK;
}

static enum vyre_status take_calibrate(struct cli_options *options, const char *value,
                                       struct vyre_diag *diag)
{
    (void)value;
    (void)diag;
    options->calibrate = true;
    return VYRE_OK;
}

static enum vyre_status take_no_proof(struct cli_options *options, const char *value,
                                      struct vyre_diag *diag)
{
    (void)value;
    (void)diag;
    options->no_proof = true;
    return VYRE_OK;
}

static enum vyre_status take_batch(struct cli_options *options, const char *value,
                                   struct vyre_diag *diag)
{
    return read_number("--batch", value, UINT32_MAX, &options->batch, diag);
}

static enum vyre_status take_repeat_hint(struct cli_options *options, const char *value,
                                         struct vyre_diag *diag)
{
    options->has_hint = true;
    return read_from("--repeat-hint", value, 0, UINT32_MAX, &options->repeat_hint, diag);
}

static enum vyre_status take_json(struct cli_options *options, const char *value,
                                  struct vyre_diag *diag)
{
    (void)value;
    (void)diag;
    options->json = true;
    return VYRE_OK;
}

static enum vyre_status take_quiet(struct cli_options *options, const char *value,
                                   struct vyre_diag *diag)
{
    (void)value;
    (void)diag;
    options->quiet = true;
    return VYRE_OK;
}

static enum vyre_status take_help(struct cli_options *options, const char *value,
                                  struct vyre_diag *diag)
{
    (void)value;
    (void)diag;
    options->help = true;
    return VYRE_OK;
}

static const struct option known_options[] = {
    {"--backend", CLI_TAKES_BACKEND, true, take_backend},
    {"--device", CLI_TAKES_DEVICE, true, take_device},
    {"--mode", CLI_TAKES_MODE, true, take_mode},
    {"--repeat", CLI_TAKES_REPEAT, true, take_repeat},
    {"--workers", CLI_TAKES_WORKERS, true, take_workers},
    {"--rounds", CLI_TAKES_ROUNDS, true, take_rounds},
    {"--quiet", CLI_TAKES_QUIET, false, take_quiet},
    {"--record", CLI_TAKES_RECORD, true, take_record},
    {"--audit", CLI_TAKES_RECORD, false, take_audit},
    {"--calibrate", CLI_TAKES_CALIBRATE, false, take_calibrate},
    {"--no-proof", CLI_TAKES_PROOF, false, take_no_proof},
    {"--batch", CLI_TAKES_BATCH, true, take_batch},
    {"--repeat-hint", CLI_TAKES_HINT, true, take_repeat_hint},
    {"--output", CLI_TAKES_OUTPUT, true, take_output},
    {"-o", CLI_TAKES_OUTPUT, true, take_output},
    {"--store", CLI_TAKES_STORE, true, take_store},
    {"--no-store", CLI_TAKES_STORE, false, take_no_store},
    {"--json", 0, false, take_json},
    {"--help", 0, false, take_help},
    {"-h", 0, false, take_help},
};
#define KNOWN_OPTION_COUNT (sizeof known_options / sizeof known_options[0])

/* ---- arguments --------------------------------------------------------------------------------
 */

/* Commands that write an output file have no --json: the file has its own format. */
static bool is_taken(const struct option *option, unsigned takes)
{
    if (option->take == take_json && takes & CLI_TAKES_OUTPUT)
        return false;
    return (option->taken_with & takes) == option->taken_with;
}

static enum vyre_status unknown(const char *command, unsigned takes, struct cli_span name,
                                struct vyre_diag *diag)
{
    struct cli_suggestion suggestion = {.wanted = name};
    for (size_t i = 0; i < KNOWN_OPTION_COUNT; i++) {
        if (is_taken(&known_options[i], takes))
            cli_suggestion_offer(&suggestion, known_options[i].name);
    }
    enum vyre_status status = cli_diag_set(diag, CLI_DIAG_UNKNOWN_OPTION, NULL, 0,
                                           "%s has no option `%s`", command, cli_quote(name).text);
    vyre_diag_set_fix(diag, "See `vyre %s --help`.", command);
    if (suggestion.nearest)
        vyre_diag_set_fix(diag, "Did you mean `%s`? See `vyre %s --help`.", suggestion.nearest,
                          command);
    return status;
}

static enum vyre_status misuse(const char *command, const char *message, const char *name,
                               struct vyre_diag *diag)
{
    enum vyre_status status = cli_diag_set(diag, CLI_DIAG_USAGE, NULL, 0, "%s %s", name, message);
    vyre_diag_set_fix(diag, "See `vyre %s --help`.", command);
    return status;
}

static const struct option *find_option(unsigned takes, struct cli_span name)
{
    for (size_t i = 0; i < KNOWN_OPTION_COUNT; i++) {
        const struct option *option = &known_options[i];
        if (is_taken(option, takes) && cli_span_equals(name, option->name))
            return option;
    }
    return NULL;
}

/* Reads one option. Its value follows a = or is the next argument. */
static enum vyre_status take_option(const char *command, unsigned takes, char **arguments,
                                    size_t count, size_t *index, struct cli_options *options,
                                    struct vyre_diag *diag)
{
    const char *argument = arguments[(*index)++];
    const char *equals = strchr(argument, '=');
    struct cli_span name = cli_span_of(argument);
    if (equals)
        name.size = (size_t)(equals - argument);
    const struct option *option = find_option(takes, name);
    if (!option || (equals && !option->has_value))
        return unknown(command, takes, cli_span_of(argument), diag);
    const char *value = equals ? equals + 1 : NULL;
    if (option->has_value && !value && *index < count)
        value = arguments[(*index)++];
    if (option->has_value && (!value || value[0] == '\0'))
        return misuse(command, "needs a value", option->name, diag);
    return option->take(options, value, diag);
}

static enum vyre_status take_operand(const char *command, unsigned takes, const char *operand,
                                     struct cli_options *options, struct vyre_diag *diag)
{
    if (!(takes & CLI_TAKES_FILE))
        return misuse(command, "takes no operand", command, diag);
    if (options->file)
        return misuse(command, "takes one file", command, diag);
    options->file = operand;
    return VYRE_OK;
}

enum vyre_status cli_options_read(const char *command, unsigned takes, char **arguments,
                                  size_t count, struct cli_options *out_options,
                                  struct vyre_diag *diag)
{
    *out_options = (struct cli_options){0};
    enum vyre_status status = VYRE_OK;
    size_t index = 0;
    bool only_operands = false;
    while (status == VYRE_OK && index < count && !out_options->help) {
        const char *argument = arguments[index];
        if (!only_operands && strcmp(argument, "--") == 0) {
            only_operands = true;
            index++;
        } else if (only_operands || argument[0] != '-') {
            status = take_operand(command, takes, argument, out_options, diag);
            index++;
        } else {
            status = take_option(command, takes, arguments, count, &index, out_options, diag);
        }
    }
    bool needs_file = (takes & CLI_TAKES_FILE) && !out_options->help;
    if (status == VYRE_OK && needs_file && (!out_options->file || out_options->file[0] == '\0'))
        status = misuse(command, "needs a file", command, diag);
    if (status == VYRE_OK && out_options->store.none && out_options->store.path)
        status = misuse(command, "and --store exclude each other", "--no-store", diag);
    return status;
}
