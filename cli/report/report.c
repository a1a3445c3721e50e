/*
 * report.c: `vyre report`, which makes an HTML page from a record.
 */
#include <string.h>

#include "command.h"
#include "record/record.h"
#include "report/data.h"
#include "report/page.h"
#include "run/options.h"
#include "terminal/message.h"
#include "terminal/out_file.h"

struct job {
    const struct record *record;
    const char *source;
    bool has_failed;
};

static void write_page(void *user, struct cli_output *out)
{
    struct job *job = user;
    cli_output_bytes(out, (const char *)cli_report_before, cli_report_before_size);
    job->has_failed = !cli_report_data(job->record, job->source, out);
    cli_output_bytes(out, (const char *)cli_report_after, cli_report_after_size);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

enum cli_exit cli_report_run(char **arguments, size_t count, struct cli_output *out)
{
    struct vyre_diag diag;
    vyre_diag_reset(&diag);
    struct cli_options options;
    if (cli_options_read("report", CLI_TAKES_FILE | CLI_TAKES_OUTPUT, arguments, count, &options,
                         &diag) != VYRE_OK) {
        cli_message_print(&diag, NULL);
        return CLI_EXIT_BAD_INPUT;
    }
    if (options.help) {
        cli_report_help(out);
        return CLI_EXIT_DONE;
    }
    struct record *record = record_read_file(options.file);
    if (!record)
        return CLI_EXIT_BAD_INPUT;
    struct job job = {record, base_name(options.file), false};
    enum cli_exit result = cli_out_file(options.output ? options.output : "report.html",
                                        options.file, out, write_page, &job);
    record_destroy(&record);
    if (job.has_failed) {
        (void)vyre_diag_set(&diag, VYRE_DIAG_OUT_OF_MEMORY, NULL, 0, "no memory for the page");
        cli_message_print(&diag, NULL);
        return CLI_EXIT_FAILED;
    }
    return result;
}

void cli_report_help(struct cli_output *out)
{
    cli_output_text(
        out, "Usage: vyre report OUT.json [-o FILE]\n"
             "\n"
             "Makes a self-contained HTML page from a record of `vyre run --record`: timeline,\n"
             "decisions with their candidates and reasons, predicted and measured times, what was\n"
             "saved, and regret.\n"
             "\n"
             "  -o, --output FILE  write the page to FILE, report.html by default; - is standard "
             "output\n"
             "  -h, --help         print this help\n"
             "\n"
             "Examples:\n"
             "  vyre run decode.json --record out.json\n"
             "  vyre report out.json -o report.html\n");
}
