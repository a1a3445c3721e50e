/*
 * interrupt.h: Ctrl-C.
 *
 * The first SIGINT sets a flag, which every loop of the tool checks, and starts a timer. A command
 * that sees the flag stops, prints what it has done and returns; main then exits with 130. If the
 * command does not stop in time (a kernel never ends, the reader of its output does not read), the
 * timer or a second SIGINT ends the process at once.
 *
 * A signal handler takes no argument of ours, so this is the only part of the tool with global state.
 */
#ifndef VYRE_CLI_TERMINAL_INTERRUPT_H
#define VYRE_CLI_TERMINAL_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

#include "terminal/output.h"

/* How long a command may take to stop. Together with the exit that is less than a second. */
#define CLI_INTERRUPT_GRACE_MS 550

/* Call once, at the start. If the parent process ignored SIGINT, it stays ignored. */
void cli_interrupt_install(void);

bool cli_interrupted(void);

/* What the process prints if it must end at once; `shown`: a progress line is to be cleared first. */
void cli_interrupt_set_done(uint64_t done, uint64_t total);
void cli_interrupt_set_unit(const char *unit); /* Static: "batches" */
void cli_interrupt_set_line_shown(bool shown);

/* Flushes `out` and exits with 130, without waiting for a device that is still busy. */
_Noreturn void cli_interrupt_leave(struct cli_output *out);

#endif
