/*
 * interrupt.h: Ctrl-C.
 *
 * The first SIGINT sets a flag, which every loop of the tool looks at, and starts a timer. A command
 * that sees the flag stops, prints what was done and returns; main then exits with 130. Should it
 * not get that far in time (a kernel that does not end, a reader that does not read), the timer, or a
 * second SIGINT, ends the process at once.
 *
 * A signal handler has no argument, so this is the one place of the tool with state of its own.
 */
#ifndef VYRE_CLI_INTERRUPT_H
#define VYRE_CLI_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

#include "terminal/output.h"

/* How long a command has to stop in order: together with the exit less than a second. */
#define CLI_INTERRUPT_GRACE_MS 550

/* Once, at the start. A SIGINT that the parent had ignored stays ignored. */
void cli_interrupt_install(void);

bool cli_interrupted(void);

/* What the last words are if it comes to a hasty end; `shown` is a progress line to be cleared. */
void cli_interrupt_set_done(uint64_t done, uint64_t total);
void cli_interrupt_set_unit(const char *unit); /* Static: "batches" */
void cli_interrupt_set_line_shown(bool shown);

/* Ends the process with 130, without waiting for a device that is still busy. */
_Noreturn void cli_interrupt_leave(struct cli_output *out);

#endif
