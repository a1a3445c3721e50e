/*
 * decide.c: `vyre decide`, which asks one policy, with a table of inputs or a single set.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "decide/answer.h"
#include "decide/policy_table.h"
#include "decide/table.h"
#include "terminal/diag.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"
#include "terminal/suggest.h"

/* What the command line asks for. */
struct request {
    bool help;
    enum cli_form form;
    const struct cli_policy *policy;
    const char *csv_path; /* NULL: the inputs are on the command line */
    char **inputs;        /* NAME=VALUE, borrowed from the arguments */
    size_t input_count;
};

/* Enough for one sentence with a handful of numbers. */
#define EXPLANATION_BYTES 1024

static enum cli_exit complain(const struct vyre_diag *diag, const struct cli_position *position)
{
    cli_message_print(diag, position);
    return diag->status == VYRE_OUT_OF_MEMORY || diag->status == VYRE_INTERNAL ? CLI_EXIT_FAILED
                                                                               : CLI_EXIT_BAD_INPUT;
}

/* ---- the command line ------------------------------------------------------------------------ */

static enum vyre_status unknown_policy(const char *name, struct vyre_diag *diag)
{
    struct cli_suggestion suggestion = {.wanted = cli_span_of(name)};
    for (size_t i = 0; i < cli_policy_count; i++)
        cli_suggestion_offer(&suggestion, cli_policies[i].name);
    enum vyre_status status =
        cli_diag_set(diag, CLI_DIAG_UNKNOWN_POLICY, NULL, 0, "there is no policy `%s`",
                     cli_quote(suggestion.wanted).text);
    if (suggestion.nearest)
        vyre_diag_set_fix(diag, "Did you mean `%s`? `vyre decide --help` lists the policies.",
                          suggestion.nearest);
    return status;
}

static enum vyre_status unknown_option(const char *option, struct vyre_diag *diag)
{
    struct cli_suggestion suggestion = {.wanted = cli_span_of(option)};
    cli_suggestion_offer(&suggestion, "--csv");
    cli_suggestion_offer(&suggestion, "--json");
    cli_suggestion_offer(&suggestion, "--help");
    enum vyre_status status =
        cli_diag_set(diag, CLI_DIAG_UNKNOWN_OPTION, NULL, 0, "decide has no option `%s`",
                     cli_quote(suggestion.wanted).text);
    if (suggestion.nearest)
        vyre_diag_set_fix(diag, "Did you mean `%s`? See `vyre decide --help`.", suggestion.nearest);
    return status;
}

static enum vyre_status set_csv_path(struct request *request, const char *path,
                                     struct vyre_diag *diag)
{
    if (!path || path[0] == '\0')
        return cli_diag_set(diag, CLI_DIAG_USAGE, NULL, 0, "--csv needs a file");
    if (request->csv_path)
        return cli_diag_set(diag, CLI_DIAG_USAGE, NULL, 0, "--csv is given twice");
    request->csv_path = path;
    return VYRE_OK;
}

/* An operand is neither an option nor its value: first comes the policy, then its inputs. */
static enum vyre_status take_operand(struct request *request, char *operand, struct vyre_diag *diag)
{
    if (request->policy) {
        request->inputs[request->input_count++] = operand;
        return VYRE_OK;
    }
    request->policy = cli_policy_find(cli_span_of(operand));
    return request->policy ? VYRE_OK : unknown_policy(operand, diag);
}

/* Takes one argument, and the next one if it is the value; moves *index past them. */
static enum vyre_status take_argument(struct request *request, char **arguments, size_t count,
                                      size_t *index, struct vyre_diag *diag)
{
    char *argument = arguments[(*index)++];
    if (argument[0] != '-')
        return take_operand(request, argument, diag);
    if (strcmp(argument, "--csv") == 0)
        return set_csv_path(request, *index < count ? arguments[(*index)++] : NULL, diag);
    if (strncmp(argument, "--csv=", 6) == 0)
        return set_csv_path(request, argument + 6, diag);
    if (strcmp(argument, "--json") == 0)
        request->form = CLI_FORM_JSON;
    else if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0)
        request->help = true;
    else
        return unknown_option(argument, diag);
    return VYRE_OK;
}

static enum vyre_status check_request(const struct request *request, struct vyre_diag *diag)
{
    if (!request->policy)
        return cli_diag_set(diag, CLI_DIAG_USAGE, NULL, 0, "decide needs a policy");
    if (request->csv_path && request->input_count > 0)
        return cli_diag_set(diag, CLI_DIAG_USAGE, NULL, 0,
                            "--csv and inputs on the command line exclude each other");
    if (!request->csv_path && request->input_count == 0)
        return cli_diag_set(diag, CLI_DIAG_USAGE, NULL, 0,
                            "decide needs --csv FILE, or the inputs of %s as NAME=VALUE",
                            request->policy->name);
    return VYRE_OK;
}

static enum vyre_status read_request(char **arguments, size_t count, struct request *out_request,
                                     struct vyre_diag *diag)
{
    /* Inputs are moved to the front of the arguments, where everything has been read already. */
    *out_request = (struct request){.inputs = arguments};
    size_t index = 0;
    enum vyre_status status = VYRE_OK;
    while (status == VYRE_OK && index < count && !out_request->help)
        status = take_argument(out_request, arguments, count, &index, diag);
    if (status == VYRE_OK && !out_request->help)
        status = check_request(out_request, diag);
    if (status != VYRE_OK && cli_diag_is(diag, CLI_DIAG_USAGE))
        vyre_diag_set_fix(diag, "See `vyre decide --help`.");
    return status;
}

/* ---- one set of inputs ----------------------------------------------------------------------- */

static enum vyre_status unknown_input(const struct cli_policy *policy, struct cli_span name,
                                      struct vyre_diag *diag)
{
    struct cli_suggestion suggestion = {.wanted = name};
    for (size_t i = 0; i < policy->input_count; i++)
        cli_suggestion_offer(&suggestion, policy->inputs[i].name);
    enum vyre_status status =
        cli_diag_set(diag, CLI_DIAG_VALUE_UNKNOWN, NULL, 0, "%s has no input `%s`", policy->name,
                     cli_quote(name).text);
    if (suggestion.nearest)
        vyre_diag_set_fix(diag, "Did you mean `%s`? `vyre decide --help` lists the inputs.",
                          suggestion.nearest);
    return status;
}

static enum vyre_status read_input(const struct request *request, const char *text,
                                   struct cli_values *values, bool *given, struct vyre_diag *diag)
{
    const struct cli_policy *policy = request->policy;
    const char *equals = strchr(text, '=');
    if (!equals) {
        enum vyre_status status =
            cli_diag_set(diag, CLI_DIAG_USAGE, NULL, 0, "`%s` is not NAME=VALUE",
                         cli_quote(cli_span_of(text)).text);
        vyre_diag_set_fix(diag, "Write an input as NAME=VALUE, for example %s=1.",
                          policy->inputs[0].name);
        return status;
    }
    struct cli_span name = {text, (size_t)(equals - text)};
    size_t input = cli_policy_find_input(policy, name);
    if (input == policy->input_count)
        return unknown_input(policy, name, diag);
    if (given[input])
        return cli_diag_set(diag, CLI_DIAG_VALUE_REPEATED, NULL, 0, "`%s` is given twice",
                            policy->inputs[input].name);
    given[input] = true;
    size_t offset;
    return cli_values_parse(values, input, cli_span_of(equals + 1), &offset, diag);
}

static enum vyre_status read_inputs(const struct request *request, struct cli_values *values,
                                    struct vyre_diag *diag)
{
    const struct cli_policy *policy = request->policy;
    bool given[CLI_INPUTS_MAX] = {false};
    for (size_t i = 0; i < request->input_count; i++) {
        enum vyre_status status = read_input(request, request->inputs[i], values, given, diag);
        if (status != VYRE_OK)
            return status;
    }
    for (size_t i = 0; i < policy->input_count; i++) {
        if (!given[i]) {
            enum vyre_status status =
                cli_diag_set(diag, CLI_DIAG_VALUE_MISSING, NULL, 0, "%s needs `%s`", policy->name,
                             policy->inputs[i].name);
            vyre_diag_set_fix(diag, "Add %s=VALUE.", policy->inputs[i].name);
            return status;
        }
    }
    return VYRE_OK;
}

static enum cli_exit decide_once(const struct request *request, struct cli_output *out)
{
    const struct cli_policy *policy = request->policy;
    struct vyre_diag diag;
    vyre_diag_reset(&diag);
    struct cli_values values;
    if (cli_values_init(&values, policy->inputs, policy->input_count, &diag) != VYRE_OK)
        return complain(&diag, NULL);

    struct cli_answer answer;
    enum vyre_status status = read_inputs(request, &values, &diag);
    if (status == VYRE_OK)
        status = policy->decide(values.value, &answer, &diag);
    if (status == VYRE_OK) {
        char explanation[EXPLANATION_BYTES];
        policy->explain(values.value, &answer, explanation, sizeof explanation);
        cli_answer_print(policy, &answer, explanation, request->form, out);
    }
    cli_values_deinit(&values);
    return status == VYRE_OK ? CLI_EXIT_DONE : complain(&diag, NULL);
}

/* ---- a table --------------------------------------------------------------------------------- */

/* After Ctrl-C the table ends; the rows that were read are answered. */
static ssize_t read_descriptor(void *user, char *out, size_t capacity)
{
    return cli_interrupted() ? 0 : read(*(int *)user, out, capacity);
}

static enum cli_exit decide_table(const struct request *request, int descriptor,
                                  struct cli_output *out)
{
    struct vyre_diag diag;
    vyre_diag_reset(&diag);
    struct cli_table *table;
    if (cli_table_create(request->policy, &table, &diag) != VYRE_OK)
        return complain(&diag, NULL);

    enum cli_exit result = CLI_EXIT_DONE;
    if (cli_table_run(table, read_descriptor, &descriptor, request->form, out, &diag) != VYRE_OK &&
        !cli_interrupted()) {
        const char *file = strcmp(request->csv_path, "-") == 0 ? "<stdin>" : request->csv_path;
        struct cli_position position = {file, table->csv.line, table->csv.column};
        /* The rows appear before the error that ended the table. */
        cli_output_flush(out);
        result = complain(&diag, &position);
    }
    cli_table_destroy(&table);
    return result;
}

static enum cli_exit decide_file(const struct request *request, struct cli_output *out)
{
    if (strcmp(request->csv_path, "-") == 0)
        return decide_table(request, STDIN_FILENO, out);
    int descriptor = open(request->csv_path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        struct vyre_diag diag;
        struct cli_position position = {request->csv_path, 1, 1};
        int error = errno;
        (void)cli_diag_set(&diag, CLI_DIAG_CSV_OPEN, NULL, error, "cannot open the table: %s",
                           strerror(error));
        return complain(&diag, &position);
    }
    enum cli_exit result = decide_table(request, descriptor, out);
    close(descriptor);
    return result;
}

enum cli_exit cli_decide_run(char **arguments, size_t count, struct cli_output *out)
{
    struct vyre_diag diag;
    vyre_diag_reset(&diag);
    struct request request;
    if (read_request(arguments, count, &request, &diag) != VYRE_OK)
        return complain(&diag, NULL);
    if (request.help || !request.policy) { /* only help needs no policy */
        cli_decide_help(out);
        return CLI_EXIT_DONE;
    }
    return request.csv_path ? decide_file(&request, out) : decide_once(&request, out);
}

/* ---- help ------------------------------------------------------------------------------------ */

static void help_policy(const struct cli_policy *policy, struct cli_output *out)
{
    cli_output_text(out, "\n  ");
    cli_output_text(out, policy->name);
    cli_output_text(out, ": ");
    cli_output_text(out, policy->question);
    cli_output_text(out, "\n");
    for (size_t i = 0; i < policy->input_count; i++) {
        cli_output_text(out, "      ");
        cli_output_text(out, policy->inputs[i].name);
        cli_output_text(out, " (");
        cli_output_text(out, cli_value_type_name(policy->inputs[i].type));
        cli_output_text(out, ")\n");
    }
    cli_output_text(out, "      gives ");
    for (size_t i = 0; i < policy->output_count; i++) {
        cli_output_text(out, i == 0 ? "" : i == 3 ? ",\n            " : ", ");
        cli_output_text(out, policy->outputs[i].name);
    }
    cli_output_text(out, "\n");
}

void cli_decide_help(struct cli_output *out)
{
    cli_output_text(
        out,
        "Usage: vyre decide POLICY --csv FILE [--json]\n"
        "       vyre decide POLICY NAME=VALUE... [--json]\n"
        "\n"
        "Asks one policy: for every row of a table, or once, and then says why.\n"
        "\n"
        "      --csv FILE  read the inputs from a CSV table; - is standard input\n"
        "      --json      print one JSON document\n"
        "  -h, --help      print this help\n"
        "\n"
        "The table's first line names its columns. They may be in any order, and columns that\n"
        "are not inputs of the policy are ignored. Each row gives one line of output.\n"
        "\n"
        "Policies, their inputs and their answers:\n");
    for (size_t i = 0; i < cli_policy_count; i++)
        help_policy(&cli_policies[i], out);
    cli_output_text(out,
                    "\n"
                    "Slots are numbers separated by spaces, roles are letters (I input, O output,\n"
                    "B input-output, U uniform, S shared, P persistent); - stands for none.\n"
                    "\n"
                    "Example:\n"
                    "  vyre decide command-reuse repeat_count=100 per_launch_overhead_ns=5000 \\\n"
                    "      record_overhead_ns=25000 replay_overhead_ns=500\n");
}
