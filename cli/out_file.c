/*
 * out_file.c: an output that is a file.
 */
#include "out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

static ssize_t write_descriptor(void *user, const char *bytes, size_t size_bytes)
{
    return write(*(int *)user, bytes, size_bytes);
}

static enum cli_exit fail(const char *path, int error)
{
    struct vyre_diag diag;
    (void)vyre_diag_set(&diag, VYRE_DIAG_RECORD_OUTPUT, NULL, error, "cannot write the file: %s",
                        strerror(error));
    cli_message_print_file(&diag, path);
    return CLI_EXIT_FAILED;
}

static bool is_same_file(const char *path, const char *other)
{
    struct stat one;
    struct stat two;
    return stat(path, &one) == 0 && stat(other, &two) == 0 && one.st_dev == two.st_dev &&
           one.st_ino == two.st_ino;
}

enum cli_exit cli_out_file(const char *path, const char *input, struct cli_output *standard,
                           void (*write)(void *user, struct cli_output *out), void *user)
{
    if (strcmp(path, "-") == 0) {
        write(user, standard);
        return CLI_EXIT_DONE;
    }
    if (is_same_file(path, input)) {
        struct vyre_diag diag;
        (void)vyre_diag_set(&diag, VYRE_DIAG_CLI_USAGE, NULL, 0, "the output is the record itself");
        vyre_diag_set_fix(&diag, "Name another file with -o.");
        cli_message_print(&diag, NULL);
        return CLI_EXIT_BAD_INPUT;
    }
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return fail(path, errno);
    struct cli_output *out = malloc(sizeof *out);
    if (!out) {
        close(descriptor);
        return fail(path, ENOMEM);
    }
    cli_output_init(out, write_descriptor, &descriptor);
    write(user, out);
    cli_output_flush(out);
    int error = out->error;
    free(out);
    if (close(descriptor) != 0 && error == 0)
        error = errno;
    return error == 0 ? CLI_EXIT_DONE : fail(path, error);
}
