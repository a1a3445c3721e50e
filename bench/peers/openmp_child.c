/*
 * openmp_child.c: OpenMP with OMP_WAIT_POLICY=active. The policy is read when libgomp is loaded, so
 * this program starts itself again with it set and asks the child for samples over a socket.
 *
 *   parent  struct launches_cell            ->  child: measures
 *           struct reply                  <-
 *           end of file                   ->  child: ends
 */
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../launch.h"

extern char **environ;

struct reply {
    bool ok;
    struct launches_sample sample;
};

struct child {
    pid_t pid;
    int socket;
};

static bool send_all(int fd, const void *bytes, size_t size_bytes)
{
    /* A child that died must give an error, not a signal. */
    return send(fd, bytes, size_bytes, MSG_NOSIGNAL) == (ssize_t)size_bytes;
}

static bool receive_all(int fd, void *out_bytes, size_t size_bytes)
{
    return recv(fd, out_bytes, size_bytes, MSG_WAITALL) == (ssize_t)size_bytes;
}

static bool measure(struct launches_row *row, const struct launches_cell *cell,
                    struct launches_sample *out_sample)
{
    const struct child *child = row->state;
    struct reply reply = {0};
    if (!send_all(child->socket, cell, sizeof *cell) ||
        !receive_all(child->socket, &reply, sizeof reply) || !reply.ok) {
        fprintf(stderr, "bench_launch: the process of %s failed\n", row->name);
        return false;
    }
    *out_sample = reply.sample;
    return true;
}

static void close_child(void *state)
{
    struct child *child = state;
    close(child->socket);
    waitpid(child->pid, NULL, 0);
    free(child);
}

/* This environment with the policy in front; the variable is not in it otherwise. */
static char **active_environment(void)
{
    static char policy[] = "OMP_WAIT_POLICY=active";
    size_t count = 0;
    while (environ[count])
        count++;
    char **result = calloc(count + 2, sizeof *result);
    if (!result)
        return NULL;
    size_t used = 0;
    result[used++] = policy;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(environ[i], policy, strlen("OMP_WAIT_POLICY=")) != 0)
            result[used++] = environ[i];
    }
    return result;
}

static int spawn_child(int socket, pid_t *out_pid)
{
    char program[] = "/proc/self/exe";
    char option[] = "--openmp-child";
    char *arguments[] = {program, option, NULL};
    char **environment = active_environment();
    if (!environment)
        return ENOMEM;
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
        if (error == 0)
            error = posix_spawn(out_pid, program, &actions, NULL, arguments, environment);
        posix_spawn_file_actions_destroy(&actions);
    }
    free(environment);
    return error;
}

void launch_open_openmp_active(struct launches_row *out_row)
{
    out_row->name = "OpenMP active";
    struct child *child = calloc(1, sizeof *child);
    int sockets[2];
    int error = 0;
    if (!child || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
        snprintf(out_row->absent, BENCH_ABSENT_BYTES, "no socket pair");
        free(child);
        return;
    }
    error = spawn_child(sockets[1], &child->pid);
    close(sockets[1]);
    if (error != 0) {
        snprintf(out_row->absent, BENCH_ABSENT_BYTES, "cannot start a process: %s",
                 strerror(error));
        close(sockets[0]);
        free(child);
        return;
    }
    child->socket = sockets[0];
    out_row->state = child;
    out_row->patterns = LAUNCHES_NOT_REBUILT;
    out_row->measure = measure;
    out_row->close = close_child;
}

int launch_openmp_child(void)
{
    struct launches_row openmp = {0};
    launch_open_openmp(&openmp);
    if (openmp.absent[0])
        return 1;
    struct launches_cell cell;
    while (receive_all(STDIN_FILENO, &cell, sizeof cell)) {
        struct reply reply = {0};
        bench_settle(); /* the parent's core is at its speed, this one may not be */
        reply.ok = launches_measure(&openmp, &cell, &reply.sample);
        if (!send_all(STDIN_FILENO, &reply, sizeof reply))
            break;
    }
    openmp.close(openmp.state);
    return 0;
}
