/*
 * main.c: a user's program against the installed package.
 */
#include <vyre/vyre.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
    const struct vyre_command_reuse_input input = {.repeat_count = 100,
                                                   .per_launch_overhead_ns = 5000,
                                                   .record_overhead_ns = 25000,
                                                   .replay_overhead_ns = 500};
    struct vyre_command_reuse_verdict verdict = vyre_command_reuse_decide(&input);
    char text[VYRE_VERDICT_TEXT_BYTES];
    vyre_command_reuse_format(&verdict, text, sizeof text);
    printf("%s %s\n", vyre_version_string(), text);
    return strcmp(text, "record-and-replay:425000") != 0;
}
