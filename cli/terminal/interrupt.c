/*
 * interrupt.c: Ctrl-C.
 */
#include "terminal/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"

/* One Ctrl-C may arrive twice: from the terminal and from a parent that passes it on. */
#define SAME_SIGNAL_MS 250

/* Signal handlers read and write these: they are lock-free, and order no other memory. */
static atomic_int seen;
static atomic_int line_shown;
static _Atomic uint64_t done_count;
static _Atomic uint64_t total_count;
static const char *_Atomic unit_text; /* NULL: nothing is counted */
static _Atomic uint64_t first_ms;     /* when the first SIGINT came */
static timer_t grace_timer;
static atomic_int has_timer;

static void write_text(const char *text)
{
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;
}

/* printf may not be called in a handler. */
static void write_number(uint64_t value)
{
    char digits[24];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    write_text(digits + at);
}

static _Noreturn void leave_at_once(void)
{
    if (atomic_load(&line_shown))
        write_text("\r\x1b[K");
    write_text("vyre: interrupted");
    uint64_t total = atomic_load(&total_count);
    if (total > 0) {
        write_text(" after ");
        write_number(atomic_load(&done_count));
        write_text(" of ");
        write_number(total);
        const char *unit = atomic_load(&unit_text);
        write_text(" ");
        write_text(unit ? unit : "");
        write_text("; the remaining work did not stop in time");
    }
    write_text("\n");
    _exit(CLI_EXIT_INTERRUPTED);
}

static void on_interrupt(int number)
{
    (void)number;
    int error = errno;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t now_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    if (atomic_exchange(&seen, 1)) {
        if (now_ms - atomic_load(&first_ms) > SAME_SIGNAL_MS)
            leave_at_once();
        errno = error;
        return;
    }
    atomic_store(&first_ms, now_ms);
    if (atomic_load(&has_timer)) {
        const struct itimerspec grace = {.it_value.tv_nsec = CLI_INTERRUPT_GRACE_MS * 1000000L};
        timer_settime(grace_timer, 0, &grace, NULL);
    }
    errno = error;
}

static void on_grace_over(int number)
{
    (void)number;
    leave_at_once();
}

void cli_interrupt_install(void)
{
    struct sigaction before;
    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler == SIG_IGN)
        return;
    struct sigaction action = {.sa_handler = on_grace_over};
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    atomic_store(&has_timer, timer_create(CLOCK_MONOTONIC, &event, &grace_timer) == 0);
    /* Without SA_RESTART a blocked read returns, and its caller sees the flag. */
    action.sa_handler = on_interrupt;
    sigaction(SIGINT, &action, NULL);
}

bool cli_interrupted(void)
{
    return atomic_load_explicit(&seen, memory_order_relaxed) != 0;
}

void cli_interrupt_set_done(uint64_t done, uint64_t total)
{
    atomic_store_explicit(&done_count, done, memory_order_relaxed);
    atomic_store_explicit(&total_count, total, memory_order_relaxed);
}

void cli_interrupt_set_unit(const char *unit)
{
    atomic_store_explicit(&unit_text, unit, memory_order_relaxed);
}

void cli_interrupt_set_line_shown(bool shown)
{
    atomic_store_explicit(&line_shown, shown, memory_order_relaxed);
}

_Noreturn void cli_interrupt_leave(struct cli_output *out)
{
    cli_output_flush(out);
    _exit(CLI_EXIT_INTERRUPTED);
}
