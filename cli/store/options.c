/*
 * options.c: the command line of `vyre store`.
 */
#include "store/options.h"

#include <string.h>
#include <time.h>

#include "terminal/diag.h"
#include "terminal/message.h"
#include "terminal/suggest.h"

#define DAYS_MAX    36500
#define DAY_SECONDS 86400

static const char *const actions[] = {"", "list", "export", "import", "prune", "check"};
#define ACTION_COUNT (sizeof actions / sizeof actions[0])

/* ---- values -----------------------------------------------------------------------------------
 */

bool cli_store_read_hash(const char *text, struct vyre_hash128 *out_hash)
{
    static const char digits[] = "0123456789abcdef";
    *out_hash = (struct vyre_hash128){0};
    if (strlen(text) != VYRE_HASH128_TEXT_BYTES - 1)
        return false;
    for (size_t i = 0; i < VYRE_HASH128_TEXT_BYTES - 1; i++) {
        const char *digit = strchr(digits, text[i]);
        if (!digit)
            return false;
        uint64_t *half = i < 16 ? &out_hash->hi : &out_hash->lo;
        *half = *half << 4 | (uint64_t)(digit - digits);
    }
    return true;
}

static enum vyre_status read_number(const char *name, const char *text, uint64_t max,
                                    uint64_t *out_value, struct vyre_diag *diag)
{
    uint64_t value = 0;
    bool fits = true;
    for (const char *at = text; *at; at++) {
        if (*at < '0' || *at > '9')
            return cli_diag_set(diag, CLI_DIAG_VALUE_NUMBER, NULL, 0, "%s is not a number: `%s`",
                                name, cli_quote(cli_span_of(text)).text);
        fits = fits && value <= (UINT64_MAX - 9) / 10;
        value = fits ? value * 10 + (uint64_t)(*at - '0') : value;
    }
    if (!fits || value > max)
        return cli_diag_set(diag, CLI_DIAG_VALUE_RANGE, NULL, 0, "%s is more than %llu: `%s`", name,
                            (unsigned long long)max, cli_quote(cli_span_of(text)).text);
    *out_value = value;
    return VYRE_OK;
}

static enum vyre_status take_store(struct cli_store_command *command, const char *value,
                                   struct vyre_diag *diag)
{
    (void)diag;
    command->place.path = value;
    return VYRE_OK;
}

static enum vyre_status take_older_than(struct cli_store_command *command, const char *value,
                                        struct vyre_diag *diag)
{
    uint64_t days;
    enum vyre_status status = read_number("--older-than", value, DAYS_MAX, &days, diag);
    if (status != VYRE_OK)
        return status;
    int64_t since = (int64_t)time(NULL) - (int64_t)days * DAY_SECONDS;
    command->prune.unused_since = since > 0 ? since : 1;
    command->prunes = true;
    return VYRE_OK;
}

static enum vyre_status take_device(struct cli_store_command *command, const char *value,
                                    struct vyre_diag *diag)
{
    command->prunes = true;
    if (cli_store_read_hash(value, &command->prune.device))
        return VYRE_OK;
    enum vyre_status status =
        cli_diag_set(diag, CLI_DIAG_VALUE_WORD, NULL, 0, "--device is not a signature: `%s`",
                     cli_quote(cli_span_of(value)).text);
    vyre_diag_set_fix(diag, "Give the 32 digits that `vyre store list` shows.");
    return status;
}

static enum vyre_status take_size(struct cli_store_command *command, const char *value,
                                  struct vyre_diag *diag)
{
    command->prunes = true;
    enum vyre_status status =
        read_number("--size", value, INT64_MAX, &command->prune.size_bytes, diag);
    if (status == VYRE_OK && command->prune.size_bytes == 0)
        command->prune.size_bytes = 1;
    return status;
}

static enum vyre_status take_all(struct cli_store_command *command, const char *value,
                                 struct vyre_diag *diag)
{
    (void)value;
    (void)diag;
    command->prune.all = true;
    command->prunes = true;
    return VYRE_OK;
}

static enum vyre_status take_json(struct cli_store_command *command, const char *value,
                                  struct vyre_diag *diag)
{
    (void)value;
    (void)diag;
    command->json = true;
    return VYRE_OK;
}

static enum vyre_status take_help(struct cli_store_command *command, const char *value,
                                  struct vyre_diag *diag)
{
    (void)value;
    (void)diag;
    command->help = true;
    return VYRE_OK;
}

/* ---- arguments --------------------------------------------------------------------------------
 */

static const struct option {
    const char *name;
    enum cli_store_action taken_with; /* NOTHING: every action */
    bool has_value;
    enum vyre_status (*take)(struct cli_store_command *command, const char *value,
                             struct vyre_diag *diag);
} options[] = {
    {"--store", CLI_STORE_NOTHING, true, take_store},
    {"--json", CLI_STORE_NOTHING, false, take_json},
    {"--help", CLI_STORE_NOTHING, false, take_help},
    {"-h", CLI_STORE_NOTHING, false, take_help},
    {"--older-than", CLI_STORE_PRUNE, true, take_older_than},
    {"--device", CLI_STORE_PRUNE, true, take_device},
    {"--size", CLI_STORE_PRUNE, true, take_size},
    {"--all", CLI_STORE_PRUNE, false, take_all},
};
#define OPTION_COUNT (sizeof options / sizeof options[0])

static enum vyre_status misuse(const char *subject, const char *message, struct vyre_diag *diag)
{
    enum vyre_status status =
        cli_diag_set(diag, CLI_DIAG_USAGE, NULL, 0, "%s %s", subject, message);
    vyre_diag_set_fix(diag, "See `vyre store --help`.");
    return status;
}

static enum vyre_status unknown_option(const char *argument, enum cli_store_action action,
                                       struct vyre_diag *diag)
{
    struct cli_suggestion suggestion = {.wanted = cli_span_of(argument)};
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (options[i].taken_with == CLI_STORE_NOTHING || options[i].taken_with == action)
            cli_suggestion_offer(&suggestion, options[i].name);
    }
    enum vyre_status status =
        cli_diag_set(diag, CLI_DIAG_UNKNOWN_OPTION, NULL, 0, "store%s%s has no option `%s`",
                     action ? " " : "", actions[action], cli_quote(suggestion.wanted).text);
    vyre_diag_set_fix(diag, "See `vyre store --help`.");
    if (suggestion.nearest)
        vyre_diag_set_fix(diag, "Did you mean `%s`? See `vyre store --help`.", suggestion.nearest);
    return status;
}

static enum vyre_status take_option(char **arguments, size_t count, size_t *index,
                                    struct cli_store_command *command, struct vyre_diag *diag)
{
    const char *argument = arguments[(*index)++];
    const char *equals = strchr(argument, '=');
    struct cli_span name = cli_span_of(argument);
    if (equals)
        name.size = (size_t)(equals - argument);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option *option = &options[i];
        bool taken =
            option->taken_with == CLI_STORE_NOTHING || option->taken_with == command->action;
        if (!taken || !cli_span_equals(name, option->name) || (equals && !option->has_value))
            continue;
        const char *value = equals ? equals + 1 : NULL;
        if (option->has_value && !value && *index < count)
            value = arguments[(*index)++];
        if (option->has_value && (!value || value[0] == '\0'))
            return misuse(option->name, "needs a value", diag);
        return option->take(command, value, diag);
    }
    return unknown_option(argument, command->action, diag);
}

static enum vyre_status take_action(const char *word, struct cli_store_command *command,
                                    struct vyre_diag *diag)
{
    struct cli_suggestion suggestion = {.wanted = cli_span_of(word)};
    for (size_t i = 1; i < ACTION_COUNT; i++) {
        if (strcmp(word, actions[i]) == 0) {
            command->action = (enum cli_store_action)i;
            return VYRE_OK;
        }
        cli_suggestion_offer(&suggestion, actions[i]);
    }
    enum vyre_status status =
        cli_diag_set(diag, CLI_DIAG_USAGE, NULL, 0, "store has no action `%s`",
                     cli_quote(suggestion.wanted).text);
    vyre_diag_set_fix(diag, "Use list, export, import, prune or check.");
    if (suggestion.nearest)
        vyre_diag_set_fix(diag, "Did you mean `%s`?", suggestion.nearest);
    return status;
}

static enum vyre_status take_operand(const char *operand, struct cli_store_command *command,
                                     struct vyre_diag *diag)
{
    if (command->action == CLI_STORE_NOTHING)
        return take_action(operand, command, diag);
    if (command->action != CLI_STORE_IMPORT)
        return misuse(actions[command->action], "takes no operand", diag);
    if (command->file)
        return misuse("import", "takes one file", diag);
    command->file = operand;
    return VYRE_OK;
}

static enum vyre_status check_whole(const struct cli_store_command *command, struct vyre_diag *diag)
{
    if (command->help)
        return VYRE_OK;
    if (command->action == CLI_STORE_NOTHING)
        return misuse("store", "needs one of list, export, import, prune and check", diag);
    if (command->action == CLI_STORE_IMPORT && (!command->file || command->file[0] == '\0'))
        return misuse("import", "needs a file", diag);
    if (command->action == CLI_STORE_PRUNE && !command->prunes)
        return misuse("prune", "needs one of --older-than, --device, --size and --all", diag);
    return VYRE_OK;
}

enum vyre_status cli_store_options_read(char **arguments, size_t count,
                                        struct cli_store_command *out_command,
                                        struct vyre_diag *diag)
{
    *out_command = (struct cli_store_command){0};
    enum vyre_status status = VYRE_OK;
    bool only_operands = false;
    for (size_t index = 0; status == VYRE_OK && index < count && !out_command->help;) {
        const char *argument = arguments[index];
        if (!only_operands && strcmp(argument, "--") == 0) {
            only_operands = true;
            index++;
        } else if (only_operands || argument[0] != '-' || argument[1] == '\0') {
            status = take_operand(argument, out_command, diag);
            index++;
        } else {
            status = take_option(arguments, count, &index, out_command, diag);
        }
    }
    return status == VYRE_OK ? check_whole(out_command, diag) : status;
}
