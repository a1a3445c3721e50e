/*
 * progress.c: how far a long command has come.
 */
#include "terminal/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "terminal/interrupt.h"
#include "terminal/units.h"

#define FIRST_AFTER_NS UINT64_C(1000000000)
#define EVERY_NS       UINT64_C(100000000)
#define BAR_CELLS      30

static bool is_terminal(int descriptor)
{
    const char *terminal = getenv("TERM");
    return isatty(descriptor) && terminal && strcmp(terminal, "dumb") != 0;
}

bool cli_colour_wanted(int descriptor)
{
    const char *no_colour = getenv("NO_COLOR");
    return is_terminal(descriptor) && !(no_colour && no_colour[0] != '\0');
}

void cli_progress_begin(struct cli_progress *progress, bool quiet, uint64_t total)
{
    uint64_t now_ns = cli_now_ns();
    *progress = (struct cli_progress){
        .enabled = !quiet && is_terminal(STDERR_FILENO),
        .start_ns = now_ns,
        .next_ns = now_ns + FIRST_AFTER_NS,
        .total = total,
    };
    cli_interrupt_set_done(0, total);
    cli_progress_set_unit(progress, "batches");
}

void cli_progress_set_unit(struct cli_progress *progress, const char *unit)
{
    progress->unit = unit;
    cli_interrupt_set_unit(unit);
}

void cli_progress_set_total(struct cli_progress *progress, uint64_t total)
{
    progress->total = total;
}

static void draw(const struct cli_progress *progress, uint64_t done, uint64_t elapsed_ns)
{
    char bar[BAR_CELLS + 1];
    double part = progress->total ? (double)done / (double)progress->total : 0;
    part = part > 1 ? 1 : part;
    int filled = (int)(part * BAR_CELLS);
    memset(bar, '.', BAR_CELLS);
    memset(bar, '#', (size_t)filled);
    bar[BAR_CELLS] = '\0';
    double left_s = part > 0 ? (double)elapsed_ns * (1 - part) / part / 1e9 : 0;
    char line[160];
    int length = snprintf(line, sizeof line, "\r[%s] %3d %%  %s of %s %s, %.0f s left\x1b[K", bar,
                          (int)(part * 100), cli_unit_count(done).text,
                          cli_unit_count(progress->total).text, progress->unit, left_s);
    size_t size = length < (int)sizeof line ? (size_t)length : sizeof line - 1;
    ssize_t ignored = write(STDERR_FILENO, line, size);
    (void)ignored;
}

void cli_progress_update(struct cli_progress *progress, uint64_t done, uint64_t now_ns)
{
    cli_interrupt_set_done(done, progress->total);
    if (!progress->enabled || now_ns < progress->next_ns || progress->total == 0)
        return;
    progress->next_ns = now_ns + EVERY_NS;
    progress->shown = true;
    cli_interrupt_set_line_shown(true);
    draw(progress, done, now_ns - progress->start_ns);
}

void cli_progress_clear(struct cli_progress *progress)
{
    if (!progress->shown)
        return;
    ssize_t ignored = write(STDERR_FILENO, "\r\x1b[K", 4);
    (void)ignored;
    progress->shown = false;
    cli_interrupt_set_line_shown(false);
}
