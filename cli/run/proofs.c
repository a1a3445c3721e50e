/*
 * proofs.c: the proofs of generated code in a run: text and JSON.
 */
#include "run/proofs.h"

#include <stdio.h>
#include <string.h>

#include "terminal/units.h"

#define LINE_BYTES 512

void cli_proofs_deinit(struct cli_proofs *proofs)
{
    cli_refusals_deinit(&proofs->found);
    cli_refusals_deinit(&proofs->stored);
}

void cli_proofs_add(struct cli_proofs *proofs, struct vyre_device *device,
                    const struct cli_refusals *known)
{
    struct vyre_proof_counters counters;
    vyre_device_count_proofs(device, &counters);
    proofs->counters.proven += counters.proven;
    proofs->counters.unstable += counters.unstable;
    proofs->counters.refused += counters.refused;
    proofs->counters.put_off += counters.put_off;
    proofs->counters.time_ns += counters.time_ns;
    if (counters.refused == 0)
        return;
    struct cli_refusals all = {0};
    cli_refusals_add_all(&all, device);
    for (size_t i = 0; i < all.count; i++) {
        if (!cli_refusals_has(known, all.items[i].code))
            cli_refusals_add(&proofs->found, &all.items[i]);
    }
    cli_refusals_deinit(&all);
}

void cli_proofs_add_known(struct cli_proofs *proofs, const struct cli_refusals *known,
                          const struct workload *workload)
{
    for (size_t i = 0; i < known->count; i++) {
        const char *kernel = known->items[i].kernel;
        for (size_t k = 0; k < workload->kernel_count; k++) {
            /* A label is the name of the kernel, cut if it is long. */
            if (strncmp(kernel, workload->kernels[k].name, sizeof known->items[i].kernel - 1) == 0)
                cli_refusals_add(&proofs->stored, &known->items[i]);
        }
    }
}

/* ---- for people -------------------------------------------------------------------------------
 */

static void format_refusal(const struct vyre_refusal *refusal, const char *when,
                           char line[LINE_BYTES])
{
    snprintf(line, LINE_BYTES, "refused%s: kernel %s: %s\n", when, refusal->kernel,
             refusal->reason);
}

static void print_refusals(const struct cli_refusals *refusals, const char *when,
                           struct cli_output *out)
{
    for (size_t i = 0; i < refusals->count; i++) {
        char line[LINE_BYTES];
        format_refusal(&refusals->items[i], when, line);
        cli_output_text(out, line);
    }
}

void cli_proofs_print(const struct cli_proofs *proofs, struct cli_output *out)
{
    const struct vyre_proof_counters *counters = &proofs->counters;
    uint64_t checks = counters->proven + counters->refused;
    char line[LINE_BYTES], unstable[128] = "";
    if (counters->unstable > 0)
        snprintf(unstable, sizeof unstable,
                 "; in %s of them some bytes depend on the order of groups",
                 cli_unit_count(counters->unstable).text);
    if (checks > 0) {
        snprintf(line, sizeof line,
                 "proofs: generated code was right in %s of %s check%s, in %s%s\n",
                 cli_unit_count(counters->proven).text, cli_unit_count(checks).text,
                 checks == 1 ? "" : "s", cli_unit_ns(counters->time_ns).text, unstable);
        cli_output_text(out, line);
    }
    print_refusals(&proofs->found, "", out);
    print_refusals(&proofs->stored, " by an earlier run", out);
    if (counters->put_off > 0) {
        snprintf(line, sizeof line,
                 "put off: %s check%s of generated code: the batches are too large or too long, or "
                 "memory is short\n",
                 cli_unit_count(counters->put_off).text, counters->put_off == 1 ? "" : "s");
        cli_output_text(out, line);
    }
}

void cli_proofs_warn(const struct cli_proofs *proofs)
{
    for (size_t i = 0; i < proofs->found.count; i++) {
        char line[LINE_BYTES];
        format_refusal(&proofs->found.items[i], "", line);
        fprintf(stderr, "vyre: %s", line);
    }
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

static void refusals_json(const struct cli_refusals *refusals, bool stored, struct cli_json *json)
{
    for (size_t i = 0; i < refusals->count; i++) {
        cli_json_object(json, NULL);
        cli_json_text(json, "kernel", refusals->items[i].kernel);
        cli_json_text(json, "reason", refusals->items[i].reason);
        cli_json_flag(json, "stored", stored);
        cli_json_end_object(json);
    }
}

void cli_proofs_json(const struct cli_proofs *proofs, struct cli_json *json)
{
    const struct vyre_proof_counters *counters = &proofs->counters;
    cli_json_object(json, "proofs");
    cli_json_u64(json, "proven", counters->proven);
    cli_json_u64(json, "unstable", counters->unstable);
    cli_json_u64(json, "refused", counters->refused);
    cli_json_u64(json, "put_off", counters->put_off);
    cli_json_u64(json, "time_ns", counters->time_ns);
    cli_json_array(json, "refusals");
    refusals_json(&proofs->found, false, json);
    refusals_json(&proofs->stored, true, json);
    cli_json_end_array(json);
    cli_json_end_object(json);
}
