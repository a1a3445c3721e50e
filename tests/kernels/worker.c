/*
 * worker.c: fork, a pipe of outcomes, and the end of a child.
 */
#include "kernels/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/check.h"
#include "kernels/generate.h"

/* ---- In the child ----------------------------------------------------------------------------- */

static void send(void *user, const struct outcome *outcome)
{
    const int *pipe = user;
    if (write(*pipe, outcome, sizeof *outcome) != (ssize_t)sizeof *outcome)
        _exit(3); /* the parent is gone */
}

static bool read_program(int orders, struct program *program)
{
    for (size_t at = 0; at < sizeof *program;) {
        ssize_t got = read(orders, (char *)program + at, sizeof *program - at);
        if (got <= 0)
            return false;
        at += (size_t)got;
    }
    return true;
}

/* False: this process may be damaged, and leaves. */
static bool serve(struct host *host, struct program *memory, int *pipe, int orders)
{
    const struct outcome ready = {.verdict = VERDICT_READY};
    while (read_program(orders, memory)) {
        if (!check_program(host, memory, 0, send, pipe))
            return false;
        send(pipe, &ready);
    }
    return true;
}

static bool work(const struct job *job, struct host *host, struct program *memory, int *pipe)
{
    uint32_t count = 0;
    for (uint64_t i = job->first; i < job->end && count < WORKER_PROGRAMS_MAX; i += job->step) {
        program_generate(memory, job->seeds[i]);
        if (!check_program(host, memory, i, send, pipe))
            return false;
        count++;
    }
    return true;
}

static _Noreturn void run_child(const struct job *job, int pipe, int orders, const char *cache)
{
    struct outcome outcome = {.verdict = VERDICT_STARTED};
    struct host host;
    struct program *memory = malloc(sizeof *memory);
    setpgid(0, 0); /* so that the compilers that a driver starts end with it */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setenv("POCL_CACHE_DIR", cache, 1);
    if (!memory)
        abort();
    if (!host_init(&host, job->target, &outcome)) {
        send(&pipe, &outcome);
    } else if (job->seeds ? work(job, &host, memory, &pipe) : serve(&host, memory, &pipe, orders)) {
        host_deinit(&host);
    }
    outcome.verdict = VERDICT_DONE;
    send(&pipe, &outcome);
    _exit(0); /* drivers' exit handlers are theirs */
}

/* ---- In the parent ---------------------------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    (void)remove(path); /* what is gone already must not end the walk */
    return 0;
}

static bool make_cache(struct worker *worker)
{
    const char *folder = getenv("TMPDIR");
    snprintf(worker->cache, sizeof worker->cache, "%.200s/vyre-kernels-%ld-XXXXXX",
             folder ? folder : "/tmp", (long)getpid()); /* whose it is, for people who tidy up */
    return mkdtemp(worker->cache) != NULL;
}

static void remove_cache(struct worker *worker)
{
    if (worker->cache[0])
        nftw(worker->cache, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    worker->cache[0] = 0;
}

void worker_start(struct worker *worker, const struct job *job)
{
    int ends[2];
    int orders[2];
    worker->last = (struct outcome){.verdict = VERDICT_NONE};
    if (job->seeds)
        remove_cache(worker); /* of what ran before: it would only grow */
    fflush(stdout);
    if ((!worker->cache[0] && !make_cache(worker)) || pipe2(ends, O_CLOEXEC) != 0 ||
        pipe2(orders, O_CLOEXEC) != 0) {
        perror("vyre_kernels");
        exit(1);
    }
    worker->pid = fork();
    if (worker->pid == 0) {
        close(ends[0]);
        close(orders[1]);
        run_child(job, ends[1], orders[0], worker->cache);
    }
    close(ends[1]);
    close(orders[0]);
    if (worker->pid < 0) {
        perror("vyre_kernels");
        exit(1);
    }
    worker->pipe = ends[0];
    worker->orders = orders[1];
}

/* The worker and what it started; the worker alone when it has not made its group yet. */
static void kill_group(const struct worker *worker)
{
    if (kill(-worker->pid, SIGKILL) != 0)
        kill(worker->pid, SIGKILL);
}

static int clean_up(struct worker *worker)
{
    int status = 0;
    close(worker->pipe);
    close(worker->orders);
    while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    worker->pid = 0;
    return status;
}

void worker_stop(struct worker *worker)
{
    if (worker->pid != 0) {
        kill_group(worker);
        clean_up(worker);
    }
    remove_cache(worker);
}

/* What became of a worker that sends nothing any more. */
static void end_of(struct worker *worker, bool silent, struct outcome *out_outcome)
{
    *out_outcome = worker->last;
    if (silent)
        kill_group(worker);
    int status = clean_up(worker);
    if (worker->last.verdict == VERDICT_DONE || worker->last.verdict == VERDICT_READY)
        return;
    out_outcome->verdict = silent ? VERDICT_HUNG : VERDICT_CRASHED;
    if (silent)
        snprintf(out_outcome->text, sizeof out_outcome->text, "no answer: killed");
    else if (WIFSIGNALED(status))
        snprintf(out_outcome->text, sizeof out_outcome->text, "died of signal %d (%s)",
                 WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(out_outcome->text, sizeof out_outcome->text, "left with exit code %d",
                 WEXITSTATUS(status));
}

/* False: nothing came within the time, or the other end is closed. */
static bool read_outcome(struct worker *worker, uint32_t seconds, bool *out_silent,
                         struct outcome *out_outcome)
{
    struct pollfd wanted = {.fd = worker->pipe, .events = POLLIN};
    int ready;
    do {
        ready = poll(&wanted, 1, (int)seconds * 1000);
    } while (ready < 0 && errno == EINTR);
    *out_silent = ready == 0;
    return ready > 0 &&
           read(worker->pipe, out_outcome, sizeof *out_outcome) == (ssize_t)sizeof *out_outcome;
}

bool worker_next(struct worker *worker, uint32_t seconds, struct outcome *out_outcome)
{
    bool silent = false;
    if (!read_outcome(worker, seconds, &silent, out_outcome)) {
        end_of(worker, silent, out_outcome);
        return false;
    }
    /* The last word is kept: an end behind it is read as the end of the pipe. */
    worker->last = *out_outcome;
    return true;
}

/* A worker that died meanwhile is noticed when it is listened to. */
static void write_program(const struct worker *worker, const struct program *program)
{
    for (size_t at = 0; at < sizeof *program;) {
        ssize_t put = write(worker->orders, (const char *)program + at, sizeof *program - at);
        if (put <= 0)
            return;
        at += (size_t)put;
    }
}

bool worker_serve(struct worker *worker, const struct target *target, const struct program *program,
                  uint32_t seconds, struct outcome *out_failed)
{
    const struct job job = {.target = target};
    struct outcome outcome;
    bool failed = false;
    if (worker->pid == 0)
        worker_start(worker, &job);
    worker->last = (struct outcome){.verdict = VERDICT_STARTED};
    write_program(worker, program);
    while (worker_next(worker, seconds, &outcome)) {
        if (outcome.verdict == VERDICT_READY)
            return failed;
        if (!outcome_is_failure(&outcome))
            continue;
        *out_failed = outcome;
        failed = true;
    }
    if (outcome_is_failure(&outcome)) { /* it died or was silent */
        *out_failed = outcome;
        failed = true;
    }
    return failed;
}
