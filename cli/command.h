/*
 * command.h: what a command of the tool is.
 *
 * A command is one row in main.c's table, and the file of its name in the folder of its subject. It
 * writes results to `out` and diagnostics to standard error. `out` remembers a failed write, which
 * main reports.
 */
#ifndef VYRE_CLI_COMMAND_H
#define VYRE_CLI_COMMAND_H

#include "terminal/output.h"

/* The tool's exit codes; part of its interface. */
enum cli_exit {
    CLI_EXIT_DONE = 0,
    CLI_EXIT_FAILED = 1,        /* the work failed */
    CLI_EXIT_BAD_INPUT = 2,     /* bad usage or bad input */
    CLI_EXIT_ABSENT = 77,       /* the requested backend or mode is not available */
    CLI_EXIT_INTERRUPTED = 130, /* Ctrl-C */
};

struct cli_command {
    const char *name;
    const char *summary;

    /* `arguments` follow the command's name on the command line; `run` may reorder the array. */
    enum cli_exit (*run)(char **arguments, size_t count, struct cli_output *out);
    void (*help)(struct cli_output *out);
};

enum cli_exit cli_compare_run(char **arguments, size_t count, struct cli_output *out);
void cli_compare_help(struct cli_output *out);
enum cli_exit cli_decide_run(char **arguments, size_t count, struct cli_output *out);
void cli_decide_help(struct cli_output *out);
enum cli_exit cli_devices_run(char **arguments, size_t count, struct cli_output *out);
void cli_devices_help(struct cli_output *out);
enum cli_exit cli_explain_run(char **arguments, size_t count, struct cli_output *out);
void cli_explain_help(struct cli_output *out);
enum cli_exit cli_probe_run(char **arguments, size_t count, struct cli_output *out);
void cli_probe_help(struct cli_output *out);
enum cli_exit cli_report_run(char **arguments, size_t count, struct cli_output *out);
void cli_report_help(struct cli_output *out);
enum cli_exit cli_run_run(char **arguments, size_t count, struct cli_output *out);
void cli_run_help(struct cli_output *out);
enum cli_exit cli_store_run(char **arguments, size_t count, struct cli_output *out);
void cli_store_help(struct cli_output *out);
enum cli_exit cli_trace_run(char **arguments, size_t count, struct cli_output *out);
void cli_trace_help(struct cli_output *out);

#endif
