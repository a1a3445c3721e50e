/*
 * worker.c: fork, a pipe of outcomes, and the end of a child.
 */
#include "kernels/worker.h"

#include <errno.h>
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
        _exit(3); /* nobody listens */
}

/* False: this process may be damaged, and leaves. */
static bool work(const struct job *job, struct host *host, struct program *memory, int *pipe)
{
    if (job->program)
        return check_program(host, job->program, 0, send, pipe);
    uint32_t count = 0;
    for (uint64_t i = job->first; i < job->end && count < WORKER_PROGRAMS_MAX; i += job->step) {
        program_generate(memory, job->seeds[i]);
        if (!check_program(host, memory, i, send, pipe))
            return false;
        count++;
    }
    return true;
}

static _Noreturn void run_child(const struct job *job, int pipe, const char *cache)
{
    struct outcome outcome = {.verdict = VERDICT_STARTED};
    struct host host;
    struct program *memory = malloc(sizeof *memory);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setenv("POCL_CACHE_DIR", cache, 1);
    if (!memory)
        abort();
    if (!host_init(&host, job->target, &outcome)) {
        send(&pipe, &outcome);
    } else if (work(job, &host, memory, &pipe)) {
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
    return remove(path);
}

void worker_start(struct worker *worker, const struct job *job)
{
    int ends[2];
    const char *folder = getenv("TMPDIR");
    *worker = (struct worker){.pipe = -1};
    snprintf(worker->cache, sizeof worker->cache, "%.40s/vyre-kernels-XXXXXX",
             folder ? folder : "/tmp");
    fflush(stdout);
    if (!mkdtemp(worker->cache) || pipe(ends) != 0) {
        perror("vyre_kernels");
        exit(1);
    }
    worker->pid = fork();
    if (worker->pid == 0) {
        close(ends[0]);
        run_child(job, ends[1], worker->cache);
    }
    close(ends[1]);
    if (worker->pid < 0) {
        perror("vyre_kernels");
        exit(1);
    }
    worker->pipe = ends[0];
}

static int clean_up(struct worker *worker)
{
    int status = 0;
    close(worker->pipe);
    while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    nftw(worker->cache, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    worker->pid = 0;
    return status;
}

void worker_stop(struct worker *worker)
{
    if (worker->pid == 0)
        return;
    kill(worker->pid, SIGKILL);
    clean_up(worker);
}

/* What became of a worker that sends nothing any more. */
static void end_of(struct worker *worker, bool silent, struct outcome *out_outcome)
{
    *out_outcome = worker->last;
    if (silent)
        kill(worker->pid, SIGKILL);
    int status = clean_up(worker);
    if (worker->last.verdict == VERDICT_DONE)
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
