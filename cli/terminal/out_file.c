/*
 * out_file.c: an output that is a file.
 */
#include "terminal/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "terminal/diag.h"
#include "terminal/message.h"

static ssize_t write_descriptor(void *user, const char *bytes, size_t size_bytes)
{
    return write(*(int *)user, bytes, size_bytes);
}

static enum cli_exit fail(const char *path, int error)
{
    struct vyre_diag diag;
    (void)cli_diag_set(&diag, CLI_DIAG_RECORD_OUTPUT, NULL, error, "cannot write the file: %s",
                       strerror(error));
    cli_message_print_file(&diag, path);
    return CLI_EXIT_FAILED;
}

bool cli_is_same_file(const char *path, const char *other)
{
    struct stat one;
    struct stat two;
    return stat(path, &one) == 0 && stat(other, &two) == 0 && one.st_dev == two.st_dev &&
           one.st_ino == two.st_ino;
}

/* Returns 0 or an errno. Closes the descriptor. */
static int write_file(int descriptor, void (*write)(void *user, struct cli_output *out), void *user)
{
    struct cli_output *out = malloc(sizeof *out);
    int error = out ? 0 : ENOMEM;
    if (out) {
        cli_output_init(out, write_descriptor, &descriptor);
        write(user, out);
        cli_output_flush(out);
        error = out->error;
    }
    free(out);
    if (close(descriptor) != 0 && error == 0)
        error = errno;
    return error;
}

/* Links, devices and write-protected files are written in place, not replaced. */
static bool is_replaceable(const char *path, const struct stat *facts)
{
    return S_ISREG(facts->st_mode) && facts->st_nlink == 1 && access(path, W_OK) == 0;
}

/* Opens a new file beside `path` that will replace it; -1 if that is not possible. */
static int open_beside(const char *path, char **out_name)
{
    struct stat facts;
    bool present = lstat(path, &facts) == 0;
    size_t size = strlen(path) + 32;
    char *name = !present || is_replaceable(path, &facts) ? malloc(size) : NULL;
    *out_name = NULL;
    if (!name)
        return -1;
    snprintf(name, size, "%s.%ld.tmp", path, (long)getpid());
    int descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 && present && fchmod(descriptor, facts.st_mode & 0777) != 0) {
        close(descriptor);
        unlink(name);
        descriptor = -1;
    }
    if (descriptor >= 0)
        *out_name = name;
    else
        free(name);
    return descriptor;
}

/* If writing fails, as on a full disk, a file that was there before stays whole. */
static int write_path(const char *path, void (*write)(void *user, struct cli_output *out),
                      void *user)
{
    char *name;
    int descriptor = open_beside(path, &name);
    if (descriptor < 0)
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return errno;
    int error = write_file(descriptor, write, user);
    if (name && error == 0 && rename(name, path) != 0)
        error = errno;
    if (name && error != 0)
        unlink(name);
    free(name);
    return error;
}

enum cli_exit cli_out_file(const char *path, const char *input, struct cli_output *standard,
                           void (*write)(void *user, struct cli_output *out), void *user)
{
    if (strcmp(path, "-") == 0) {
        write(user, standard);
        return CLI_EXIT_DONE;
    }
    if (cli_is_same_file(path, input)) {
        struct vyre_diag diag;
        (void)cli_diag_set(&diag, CLI_DIAG_USAGE, NULL, 0, "the output is the record itself");
        vyre_diag_set_fix(&diag, "Name another file with -o.");
        cli_message_print(&diag, NULL);
        return CLI_EXIT_BAD_INPUT;
    }
    int error = write_path(path, write, user);
    return error == 0 ? CLI_EXIT_DONE : fail(path, error);
}
