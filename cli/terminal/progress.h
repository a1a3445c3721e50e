/*
 * progress.h: how far a long command is, on the terminal behind standard error.
 *
 *     [############..................]  41 %  2,050 of 5,000 batches, 3 s left
 *
 * The unit is "batches" unless a command sets another one.
 *
 * Nothing is shown in the first second, when standard error is no terminal, or with --quiet. The line
 * is cleared before anything else is printed.
 */
#ifndef VYRE_CLI_PROGRESS_H
#define VYRE_CLI_PROGRESS_H

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

/* `total` 0 means that nobody knows. */
void cli_progress_begin(struct cli_progress *progress, bool quiet, uint64_t total);

/* Another unit; a static text, in the plural. */
void cli_progress_set_unit(struct cli_progress *progress, const char *unit);

/* Another total, as when a command finds out how much it has to do. */
void cli_progress_set_total(struct cli_progress *progress, uint64_t total);

/* Cheap enough to be called often; `now_ns` is the caller's clock. */
void cli_progress_update(struct cli_progress *progress, uint64_t done, uint64_t now_ns);
void cli_progress_clear(struct cli_progress *progress);

/* Whether to colour what goes to this descriptor: a terminal, and no NO_COLOR in the environment. */
bool cli_colour_wanted(int descriptor);

#endif
