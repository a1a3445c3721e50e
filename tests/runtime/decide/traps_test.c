/*
 * traps_test.c: auto does not settle on what is slower on a real driver.
 *
 *   traps_test BACKEND DEVICE
 *
 * Command buffers of PoCL cost more than enqueueing; recorded dispatches of lavapipe gain nothing with
 * its default threads. The test reads decisions: a candidate that was measured as clearly slower than
 * another which could have run may not be chosen, other than to try it. How long anything takes is not
 * asserted.
 *
 * The times are real, so another program can make one comparison look wrong. What counts is the share of
 * all comparisons: a governor that falls for a trap stays there. scenarios_test.c demands the same of every
 * single decision, on a simulated clock.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vyre/calibration.h>
#include <vyre/decision.h>
#include <vyre/vyre.h>

#include "runtime/decide/trap.h"
#include "runtime/probe_kernel.h"

#define COMMANDS 48
#define BATCHES  400
#define ROUNDS   4 /* of BATCHES, with the decisions read in between */
/* So many comparisons with a trap may go wrong, and one in FALLS_PART of the others. */
#define FALLS_MIN  2
#define FALLS_PART 10

struct trap_run {
    struct vyre_device *device;
    struct vyre_kernel *kernel;
    struct vyre_buffer *words;
    struct vyre_batch *batch;
};

/* What the decisions say of one candidate. */
struct tally {
    uint32_t rows;   /* comparisons in which it was measured */
    uint32_t lost;   /* ... as clearly slower than another */
    uint32_t chosen; /* ... and was chosen, tries left out */
    uint32_t fell;   /* ... though it was clearly slower */
};

static void require(enum vyre_status status, const struct vyre_diag *diag)
{
    if (status == VYRE_OK)
        return;
    fprintf(stderr, "traps_test: %s\n", diag->message);
    exit(1);
}

static void open_run(struct trap_run *run, struct vyre_instance *instance, const char *backend,
                     const char *name)
{
    struct vyre_diag diag;
    struct vyre_probe_kernel source;
    const struct vyre_device_desc desc = {
        .backend = backend,
        .name = name[0] ? name : NULL,
        .decision_limit = BATCHES,
    };
    const struct vyre_buffer_desc words = {.size_bytes = VYRE_PROBE_WORDS * sizeof(uint32_t)};
    require(vyre_device_open(instance, &desc, &run->device, &diag), &diag);
    vyre_probe_kernel_init(&source, 0);
    require(vyre_kernel_create(run->device, &source.desc, &run->kernel, &diag), &diag);
    require(vyre_buffer_create(run->device, &words, &run->words, &diag), &diag);
    require(vyre_batch_create(run->device, NULL, &run->batch, &diag), &diag);
    const uint32_t add = 1;
    const struct vyre_slot_binding binding = {.slot = 0, .range = {.buffer = run->words}};
    const struct vyre_dispatch dispatch = {
        .kernel = run->kernel,
        .groups = {1, 1, 1},
        .bindings = &binding,
        .binding_count = 1,
        .constants = &add,
        .constants_size_bytes = sizeof add,
    };
    for (int i = 0; i < COMMANDS; i++)
        vyre_batch_dispatch(run->batch, &dispatch);
    require(vyre_batch_status(run->batch, &diag), &diag);
}

static void close_run(struct trap_run *run)
{
    vyre_batch_destroy(&run->batch);
    vyre_buffer_destroy(&run->words);
    vyre_kernel_destroy(&run->kernel);
    vyre_device_close(&run->device);
}

static void run_once(struct trap_run *run)
{
    struct vyre_ticket ticket;
    struct vyre_diag diag;
    require(vyre_batch_submit(run->batch, NULL, &ticket, &diag), &diag);
    require(vyre_ticket_wait(run->device, ticket, VYRE_FOREVER, &diag), &diag);
}

/* ---- What auto decides ------------------------------------------------------------------------ */

/* True: a candidate was clearly slower than another, and the choice was no try. */
static bool read_one(const struct vyre_decision_record *record, struct tally *tallies)
{
    bool trap = false;
    bool is_try = trap_is_try(record->why);
    for (uint32_t i = 0; i < record->candidate_count; i++) {
        const struct vyre_decision_candidate *candidate = &record->candidates[i];
        if (!trap_is_open(candidate))
            continue;
        bool slow = trap_is_slow(record->candidates, record->candidate_count, i);
        bool chosen =
            candidate->mode == record->mode && candidate->variant == record->variant && !is_try;
        trap |= slow && !is_try;
        tallies[i].rows++;
        tallies[i].lost += slow;
        tallies[i].chosen += chosen;
        tallies[i].fell += slow && chosen;
    }
    return trap;
}

struct comparisons {
    uint32_t all;
    uint32_t traps; /* with a candidate that was clearly slower; tries left out */
};

/* Reads what is new. */
static void read_all(struct trap_run *run, uint64_t *from, struct vyre_decision_record *last,
                     struct tally *tallies, struct comparisons *compared)
{
    static struct vyre_decision_record records[BATCHES];
    size_t count = vyre_device_read_decisions(run->device, *from, records, BATCHES);
    for (size_t i = 0; i < count; i++) {
        *from = records[i].sequence + 1;
        if (records[i].settled || records[i].candidate_count == 0)
            continue;
        compared->traps += read_one(&records[i], tallies);
        compared->all++;
        *last = records[i];
    }
}

/* Whether nothing fell for a trap. Adds to `measured` how many candidates were ever measured. */
static bool judge(const struct vyre_decision_record *last, const struct tally *tallies,
                  const struct comparisons *compared, uint32_t *measured)
{
    uint32_t fell = 0;
    for (uint32_t i = 0; i < last->candidate_count; i++) {
        const struct tally *tally = &tallies[i];
        fell += tally->fell;
        *measured += tally->rows > 0;
        printf("  %-10s %-6s measured in %u of %u comparisons, slower in %u, chosen in %u%s\n",
               vyre_mode_name((enum vyre_mode)last->candidates[i].mode),
               last->candidates[i].variant & VYRE_VARIANT_DRIVER ? "driver" : "", tally->rows,
               compared->all, tally->lost, tally->chosen, tally->fell ? ": though slower" : "");
    }
    printf("  fell for %u of %u traps\n", fell, compared->traps);
    return fell <= FALLS_MIN + compared->traps / FALLS_PART;
}

int main(int count, char **arguments)
{
    if (count != 3) {
        fputs("usage: traps_test BACKEND DEVICE\n", stderr);
        return 2;
    }
    struct vyre_diag diag;
    struct vyre_instance *instance = NULL;
    struct vyre_calibration calibration;
    struct trap_run run;
    bool good = true;
    uint32_t most = 0;
    require(vyre_instance_create(NULL, &instance, &diag), &diag);
    for (int calibrated = 0; calibrated <= 1; calibrated++) {
        struct tally tallies[VYRE_CANDIDATES_MAX] = {{0}};
        struct vyre_decision_record last = {0};
        struct comparisons compared = {0};
        uint64_t from = 1;
        printf("%s %s, %s:\n", arguments[1], arguments[2],
               calibrated ? "calibrated" : "by stated costs");
        open_run(&run, instance, arguments[1], arguments[2]);
        if (calibrated)
            require(vyre_device_calibrate(run.device, NULL, &calibration, &diag), &diag);
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < BATCHES; i++)
                run_once(&run);
            read_all(&run, &from, &last, tallies, &compared);
        }
        uint32_t measured = 0;
        good = judge(&last, tallies, &compared, &measured) && good;
        most = measured > most ? measured : most;
        close_run(&run);
    }
    /* Calibrated, auto may know enough to measure nothing else. */
    if (most < 2)
        fputs("traps_test: fewer than two candidates were ever measured\n", stderr);
    vyre_instance_destroy(&instance);
    return good && most >= 2 ? 0 : 1;
}
