/*
 * watch.h: what `vyre run --record` and `--audit` see of a run, through one observer.
 */
#ifndef VYRE_CLI_WATCH_H
#define VYRE_CLI_WATCH_H

#include <vyre/vyre.h>

#include "run/changes.h"
#include "run/options.h"
#include "workload/workload.h"

/* A zeroed struct watches nothing. Must not move while the instance lives. */
struct cli_watch {
    struct vyre_observer observer;  /* `event` is NULL when nothing was asked for */
    struct vyre_recorder *recorder; /* Owned */
    struct vyre_observer recorded;  /* the recorder's */
    uint64_t first; /* of the batches that were told: the least and the greatest number */
    uint64_t last;
    bool audits;
    struct changes changes;
};

/* One line on what is in the record so far; nothing without a recorder. */
void cli_watch_print(const struct cli_watch *watch, const char *path, struct cli_output *out);

/*
 * Opens what the options ask for. With --json the audit goes to standard error. A record that would
 * overwrite the workload is refused: CLI_USAGE.
 */
VYRE_NODISCARD enum vyre_status cli_watch_open(
    struct cli_watch *watch, const struct cli_options *options, const struct workload *workload,
    struct cli_output *out, struct cli_progress *progress, struct vyre_diag *diag);

/*
 * Ends the record; nothing happens any more. Fails with RECORDER_WRITE when the record is not whole.
 * May be called again, and for what was never opened.
 */
enum vyre_status cli_watch_close(struct cli_watch *watch, struct vyre_diag *diag);

#endif
