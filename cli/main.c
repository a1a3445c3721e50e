/*
 * main.c: the table of commands, help, and the exit code.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <vyre/vyre.h>

#include "command.h"
#include "terminal/diag.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"
#include "terminal/output.h"
#include "terminal/suggest.h"

static const struct cli_command commands[] = {
    {"run", "run a workload and show how each batch was launched", cli_run_run, cli_run_help},
    {"compare", "run a workload in every mode and compare the times", cli_compare_run,
     cli_compare_help},
    {"explain", "show why each batch is launched the way it is, or was", cli_explain_run,
     cli_explain_help},
    {"report", "make an HTML page from a record of `vyre run`", cli_report_run, cli_report_help},
    {"trace", "make a Chrome trace from a record of `vyre run`", cli_trace_run, cli_trace_help},
    {"devices", "list backends and devices, and what they can do", cli_devices_run,
     cli_devices_help},
    {"probe", "measure what launching costs on each device", cli_probe_run, cli_probe_help},
    {"decide", "ask one policy, with a table of inputs or a single set", cli_decide_run,
     cli_decide_help},
    {"store", "list, export, import, prune or check what runs have learned", cli_store_run,
     cli_store_help},
};

#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

static const char usage[] = "Usage: vyre COMMAND [ARGUMENT]...\n"
                            "       vyre help [COMMAND]\n"
                            "       vyre --version\n";

static void print_help(struct cli_output *out)
{
    cli_output_text(out, usage);
    cli_output_text(out, "\nDispatches GPU work by the fastest safe route, and says why.\n"
                         "\nCommands:\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        char line[128];
        snprintf(line, sizeof line, "  %-8s  %s\n", commands[i].name, commands[i].summary);
        cli_output_text(out, line);
    }
    cli_output_text(out, "\n`vyre help COMMAND` says more.\n"
                         "\nExit codes: 0 done, 1 the work failed, 2 bad usage or bad input,\n"
                         "77 the requested backend or mode is not available, 130 interrupted.\n");
}

static void print_version(struct cli_output *out)
{
    cli_output_text(out, "vyre ");
    cli_output_text(out, vyre_version_string());
    cli_output_text(out, "\n");
}

static const struct cli_command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(name, commands[i].name) == 0)
            return &commands[i];
    }
    return NULL;
}

static enum cli_exit unknown_command(const char *name)
{
    struct cli_suggestion suggestion = {.wanted = cli_span_of(name)};
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        cli_suggestion_offer(&suggestion, commands[i].name);
    bool is_option = name[0] == '-';
    if (is_option) {
        cli_suggestion_offer(&suggestion, "--help");
        cli_suggestion_offer(&suggestion, "--version");
    } else {
        cli_suggestion_offer(&suggestion, "help");
    }
    struct vyre_diag diag;
    (void)cli_diag_set(&diag, is_option ? CLI_DIAG_UNKNOWN_OPTION : CLI_DIAG_UNKNOWN_COMMAND, NULL,
                       0, "there is no %s `%s`", is_option ? "option" : "command",
                       cli_quote(suggestion.wanted).text);
    vyre_diag_set_fix(&diag, "See `vyre --help`.");
    if (suggestion.nearest)
        vyre_diag_set_fix(&diag, "Did you mean `%s`? See `vyre --help`.", suggestion.nearest);
    cli_message_print(&diag, NULL);
    return CLI_EXIT_BAD_INPUT;
}

/* `vyre help`, and `vyre help COMMAND`. */
static enum cli_exit help(const char *name, struct cli_output *out)
{
    const struct cli_command *command = name ? find_command(name) : NULL;
    if (name && !command)
        return unknown_command(name);
    if (command)
        command->help(out);
    else
        print_help(out);
    return CLI_EXIT_DONE;
}

static enum cli_exit run(int argc, char **argv, struct cli_output *out)
{
    if (argc < 2) {
        fputs(usage, stderr);
        return CLI_EXIT_BAD_INPUT;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return help(NULL, out);
    if (strcmp(name, "help") == 0)
        return help(argv[2], out);
    if (strcmp(name, "--version") == 0) {
        print_version(out);
        return CLI_EXIT_DONE;
    }
    const struct cli_command *command = find_command(name);
    if (!command)
        return unknown_command(name);
    return command->run(argv + 2, (size_t)argc - 2, out);
}

static ssize_t write_descriptor(void *user, const char *bytes, size_t size_bytes)
{
    return write(*(int *)user, bytes, size_bytes);
}

/* Writes the rest of the output. A reader that closed the pipe wants no message about it. */
static enum cli_exit finish(struct cli_output *out, enum cli_exit result)
{
    cli_output_flush(out);
    if (!cli_output_failed(out))
        return cli_interrupted() ? CLI_EXIT_INTERRUPTED : result;
    if (out->error != EPIPE) {
        struct vyre_diag diag;
        (void)cli_diag_set(&diag, CLI_DIAG_OUTPUT, NULL, out->error,
                           "cannot write standard output: %s", strerror(out->error));
        cli_message_print(&diag, NULL);
    }
    return CLI_EXIT_FAILED;
}

int main(int argc, char **argv)
{
    /* A closed pipe is a failed write with an exit code; the signal would kill the process. */
    signal(SIGPIPE, SIG_IGN);
    cli_interrupt_install();
    int descriptor = STDOUT_FILENO;
    struct cli_output out;
    cli_output_init(&out, write_descriptor, &descriptor);
    return (int)finish(&out, run(argc, argv, &out));
}
