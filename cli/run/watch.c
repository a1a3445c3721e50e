/*
 * watch.c: the observer behind `vyre run --record` and `--audit`.
 */
#include "run/watch.h"

#include <inttypes.h>
#include <stdio.h>

#include "terminal/diag.h"
#include "terminal/message.h"
#include "terminal/out_file.h"
#include "terminal/units.h"

static void take(void *user, const struct vyre_event *event)
{
    struct cli_watch *watch = user;
    if (watch->recorder)
        watch->recorded.event(watch->recorded.user, event);
    if (event->type == VYRE_EVENT_BATCH_COMPLETED) {
        watch->last = event->as.batch_completed->sequence;
        watch->first = watch->first ? watch->first : watch->last;
    }
    /* Events come from submits and waits. The tool makes these on one thread, so printing is safe. */
    if (watch->audits && event->type == VYRE_EVENT_BATCH_COMPLETED)
        changes_take(&watch->changes, event->as.batch_completed);
}

enum vyre_status cli_watch_open(struct cli_watch *watch, const struct cli_options *options,
                                const struct workload *workload, struct cli_output *out,
                                struct cli_progress *progress, struct vyre_diag *diag)
{
    enum vyre_status status = VYRE_OK;
    if (options->record && cli_is_same_file(options->record, options->file)) {
        status =
            cli_diag_set(diag, CLI_DIAG_USAGE, NULL, 0, "the record would overwrite the workload");
        vyre_diag_set_fix(diag, "Name another file with --record.");
        return status;
    }
    if (options->audit) {
        watch->changes = (struct changes){.out = options->json ? NULL : out, .progress = progress};
        status = changes_init(&watch->changes, workload->batch_count, diag);
        watch->audits = status == VYRE_OK;
    }
    if (status == VYRE_OK && options->record) {
        status = vyre_recorder_open(options->record, NULL, &watch->recorder, diag);
        if (status == VYRE_OK)
            watch->recorded = vyre_recorder_observer(watch->recorder);
    }
    if (watch->audits || watch->recorder)
        watch->observer = (struct vyre_observer){sizeof watch->observer, watch, take};
    return status;
}

void cli_watch_print(const struct cli_watch *watch, const char *path, struct cli_output *out)
{
    struct vyre_recorder_counters counters;
    char line[512];
    if (!watch->recorder)
        return;
    vyre_recorder_get_counters(watch->recorder, &counters);
    snprintf(line, sizeof line,
             "\nrecorded %s of %s batches, with numbers from %" PRIu64 " to %" PRIu64
             ", in %s (%s)\n",
             cli_unit_count(counters.batches_kept).text, cli_unit_count(counters.batches_seen).text,
             watch->first, watch->last, cli_quote(cli_span_of(path)).text,
             cli_unit_bytes(counters.size_bytes).text);
    cli_output_text(out, line);
}

enum vyre_status cli_watch_close(struct cli_watch *watch, struct vyre_diag *diag)
{
    watch->audits = false;
    changes_deinit(&watch->changes);
    return vyre_recorder_close(&watch->recorder, diag);
}
