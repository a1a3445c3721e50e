/*
 * report.c: failures and programs.
 */
#include "kernels/report.h"

#include <inttypes.h>
#include <stdio.h>

#include "kernels/print.h"
#include "kernels/tally.h"

void report_failure(const struct campaign *campaign, const struct outcome *outcome)
{
    const struct target *target = &campaign->target;
    printf("%s: program 0x%" PRIx64 ", mode %s: %s\n  %s\n",
           outcome_is_driver_fault(outcome) ? "driver fault" : "mismatch", outcome->seed,
           vyre_mode_name(outcome->mode), verdict_name(outcome->verdict), outcome->text);
    printf("reproduce: vyre_kernels --%s %s%s%s --mode %s --program 0x%" PRIx64 "%s%s%s\n",
           target->library ? "library" : "backend",
           target->library ? target->library : target->backend, target->device ? " --device " : "",
           target->device ? target->device : "", vyre_mode_name(outcome->mode), outcome->seed,
           target->no_proof ? " --no-proof" : "", target->fault ? " --fault " : "",
           target->fault ? vyre_mode_name(target->fault_mode) : "");
    fflush(stdout);
}

void report_program(const struct program *program)
{
    struct text text = {0};
    print_tree(&program->tree, &dialect_opencl, false, &text);
    print_dispatches(program, &text);
    fwrite(text.bytes, 1, text.size_bytes, stdout);
    fflush(stdout);
    free(text.bytes);
}
