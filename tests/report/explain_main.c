/*
 * explain_main.c: cli_explain_record on the command line: OUT.json BATCH [--json].
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "explain/record.h"

static ssize_t write_standard(void *user, const char *bytes, size_t size_bytes)
{
    (void)user;
    return write(STDOUT_FILENO, bytes, size_bytes);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return CLI_EXIT_BAD_INPUT;
    struct cli_output *out = malloc(sizeof *out);
    if (!out)
        return CLI_EXIT_FAILED;
    cli_output_init(out, write_standard, NULL);
    bool as_json = argc > 3 && strcmp(argv[3], "--json") == 0;
    enum cli_exit result = cli_explain_record(argv[1], strtoull(argv[2], NULL, 10), as_json, out);
    cli_output_flush(out);
    free(out);
    return (int)result;
}
