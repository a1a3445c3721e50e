/*
 * watch.h: the observer behind `vyre run --record` and `--audit`.
 */
#ifndef VYRE_CLI_RUN_WATCH_H
#define VYRE_CLI_RUN_WATCH_H

#include <vyre/vyre.h>

#include "run/changes.h"
#include "run/options.h"
#include "workload/workload.h"

/* A zeroed struct watches nothing. Must not move while the instance lives. */
struct cli_watch {
    struct vyre_observer observer;  /* `event` is NULL when nothing was asked for */
    struct vyre_recorder *recorder; /* Owned */
    struct vyre_observer recorded;  /* the recorder's */
    uint64_t first;                 /* number of the first completed batch */
    uint64_t last;                  /* and of the last */
    bool audits;
    struct changes changes;
};

/* Prints a line about the record so far; nothing without a recorder. */
void cli_watch_print(const struct cli_watch *watch, const char *path, struct cli_output *out);

/*
 * Opens what the options ask for. With --json the audit goes to standard error. A record that would
 * overwrite the workload is refused: CLI_USAGE.
 */
VYRE_NODISCARD enum vyre_status cli_watch_open(
    struct cli_watch *watch, const struct cli_options *options, const struct workload *workload,
    struct cli_output *out, struct cli_progress *progress, struct vyre_diag *diag);

/*
 * Ends the record; further events are ignored. Fails with RECORDER_WRITE when the record is incomplete.
 * May be called again, and for a watch that was never opened.
 */
enum vyre_status cli_watch_close(struct cli_watch *watch, struct vyre_diag *diag);

#endif
