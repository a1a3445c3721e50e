/*
 * progress.h: how far a long command has come, on the terminal behind standard error.
 *
 *     [############..................]  41 %  2,050 of 5,000 batches, 3 s left
 *
 * The unit is "batches" unless a command sets another one.
 *
 * Nothing is shown in the first second, with --quiet, or when standard error is not a terminal. Call
 * cli_progress_clear before printing anything else.
 */
#ifndef VYRE_CLI_TERMINAL_PROGRESS_H
#define VYRE_CLI_TERMINAL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct cli_progress {
    bool enabled;
    bool shown;
    uint64_t start_ns;
    uint64_t next_ns; /* when the line is due again */
    uint64_t total;
    const char *unit; /* Static: what is counted */
};

/* A `total` of 0 is unknown: no line is shown. */
void cli_progress_begin(struct cli_progress *progress, bool quiet, uint64_t total);

/* Sets another unit: a static text, in the plural. */
void cli_progress_set_unit(struct cli_progress *progress, const char *unit);

/* Sets the total, for a command that finds out later how much it has to do. */
void cli_progress_set_total(struct cli_progress *progress, uint64_t total);

/* Cheap enough to be called often. `now_ns` is the time now, which the caller has read already. */
void cli_progress_update(struct cli_progress *progress, uint64_t done, uint64_t now_ns);
void cli_progress_clear(struct cli_progress *progress);

/* Whether to colour output to this descriptor: it is a terminal, and NO_COLOR is not set. */
bool cli_colour_wanted(int descriptor);

#endif
