/*
 * process.c: another program, and what it prints. See bench.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

extern char **environ;

static int spawn(char *const argv[], int output, pid_t *out_pid)
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0)
        return error;
    error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (error == 0)
        error = posix_spawnp(out_pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

bool bench_process_start(char *const argv[], struct bench_process *out_process)
{
    int ends[2];
    pid_t pid = 0;
    fflush(stdout); /* so that its lines come after those of this process */
    if (pipe2(ends, O_CLOEXEC) != 0) {
        fprintf(stderr, "no pipe to %s: %s\n", argv[0], strerror(errno));
        return false;
    }
    FILE *output = fdopen(ends[0], "r");
    int error = output ? spawn(argv, ends[1], &pid) : errno;
    close(ends[1]);
    *out_process = (struct bench_process){.output = output, .pid = pid};
    if (error == 0)
        return true;
    if (output)
        fclose(output);
    else
        close(ends[0]);
    fprintf(stderr, "cannot start %s: %s\n", argv[0], strerror(error));
    return false;
}

int bench_process_finish(struct bench_process *process)
{
    int state = 0;
    fclose(process->output);
    while (waitpid(process->pid, &state, 0) < 0) {
        if (errno != EINTR)
            return 1;
    }
    return WIFEXITED(state) ? WEXITSTATUS(state) : 1;
}
