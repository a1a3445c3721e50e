/*
 * check.c: modes and bytes.
 */
#include "kernels/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/oracle.h"

/* ---- What differs ----------------------------------------------------------------------------- */

/* Which parameter of which dispatch a byte belongs to; "no range" is what guards are for. */
static void name_place(const struct program *program, uint32_t buffer, uint32_t offset,
                       char out_name[80])
{
    for (uint32_t b = 0; b < program->batch_count; b++) {
        for (uint32_t d = 0; d < program->batches[b].dispatch_count; d++) {
            const struct dispatch *dispatch = &program->batches[b].dispatches[d];
            const struct function *kernel = &program->tree.functions[dispatch->kernel];
            for (uint32_t i = 0; i < kernel->parameter_count && !dispatch->dropped; i++) {
                const struct variable *parameter = &program->tree.variables[kernel->parameters[i]];
                const struct area *area = &dispatch->areas[i];
                if (!parameter->is_pointer || parameter->space != SPACE_GLOBAL ||
                    parameter->is_constant || area->buffer != buffer ||
                    offset < area->offset_bytes || offset >= area->offset_bytes + area->size_bytes)
                    continue;
                snprintf(out_name, 80, "batch %u, dispatch %u (k%u), p%u + %u", b, d,
                         dispatch->kernel, parameter->number, offset - area->offset_bytes);
                return;
            }
        }
    }
    snprintf(out_name, 80, "outside of all written ranges");
}

static void describe_difference(const struct program *program, const unsigned char *right,
                                const unsigned char *wrong, struct outcome *outcome)
{
    size_t count = 0;
    size_t outside = 0;
    size_t used = 0;
    char name[80];
    for (uint32_t b = 0; b < program->buffer_count; b++) {
        size_t first = program_buffer_at(program, b);
        for (uint32_t i = 0; i < program->buffer_bytes[b]; i++) {
            if (right[first + i] == wrong[first + i])
                continue;
            name_place(program, b, i, name);
            outside += name[0] == 'o';
            if (count++ < 4 && used < sizeof outcome->text)
                used += (size_t)snprintf(outcome->text + used, sizeof outcome->text - used,
                                         "\n  b%u[%u]: 0x%02x, not 0x%02x; %s", b, i,
                                         wrong[first + i], right[first + i], name);
        }
    }
    outcome->outside = (uint32_t)outside;
    char head[96];
    int length = snprintf(head, sizeof head, "%zu bytes differ, %zu of them outside of all ranges",
                          count, outside);
    used = strlen(outcome->text);
    if (used + (size_t)length >= sizeof outcome->text)
        used = sizeof outcome->text - (size_t)length - 1;
    memmove(outcome->text + length, outcome->text, used);
    outcome->text[used + (size_t)length] = '\0';
    memcpy(outcome->text, head, (size_t)length);
}

/* ---- Modes ------------------------------------------------------------------------------------ */

struct check {
    const struct program *program;
    struct session session;
    unsigned char *right;
    unsigned char *bytes;
    check_report *report;
    void *user;
    uint64_t index;
};

static struct outcome fresh(const struct check *check, enum vyre_mode mode, enum verdict verdict)
{
    struct outcome outcome = {.verdict = verdict, .mode = mode};
    outcome.index = check->index;
    outcome.seed = check->program->seed;
    return outcome;
}

/* Reports, and whether the next mode may be tried. */
static bool check_mode(struct check *check, enum vyre_mode mode, bool *out_damaged)
{
    struct outcome outcome = fresh(check, mode, VERDICT_STARTED);
    check->report(check->user, &outcome);
    outcome.verdict = VERDICT_AGREED;
    if (!session_has_mode(&check->session, mode, &outcome)) {
        check->report(check->user, &outcome);
        return true;
    }
    if (session_run(&check->session, mode, check->bytes, &outcome) &&
        memcmp(check->right, check->bytes, program_bytes(check->program)) != 0) {
        outcome.verdict = VERDICT_DIFFERS;
        outcome.text[0] = '\0';
        describe_difference(check->program, check->right, check->bytes, &outcome);
    }
    if (mode == VYRE_MODE_PLAIN)
        memcpy(outcome.features, check->program->features, sizeof outcome.features);
    check->report(check->user, &outcome);
    *out_damaged = outcome_is_failure(&outcome) &&
                   (outcome.verdict != VERDICT_DIFFERS || outcome.outside != 0);
    return !outcome_is_failure(&outcome);
}

static bool check_modes(struct check *check, struct host *host)
{
    static const enum vyre_mode order[] = {VYRE_MODE_PLAIN, VYRE_MODE_REPLAY, VYRE_MODE_AUTO,
                                           VYRE_MODE_PERSISTENT};
    struct outcome outcome = fresh(check, VYRE_MODE_PLAIN, VERDICT_STARTED);
    check->report(check->user, &outcome);
    bool damaged = false;
    bool right = session_init(&check->session, host, check->program, &outcome);
    if (!right)
        check->report(check->user, &outcome);
    for (uint32_t i = 0; i < VYRE_MODE_COUNT && right; i++)
        if ((host->target->modes >> order[i] & 1) != 0)
            right = check_mode(check, order[i], &damaged);
    if (!damaged)
        session_deinit(&check->session);
    return !damaged && outcome.verdict != VERDICT_NO_DEVICE;
}

bool check_program(struct host *host, const struct program *program, uint64_t index,
                   check_report *report, void *user)
{
    struct check check = {.program = program, .report = report, .user = user, .index = index};
    check.right = malloc(program_bytes(program));
    check.bytes = malloc(program_bytes(program));
    if (!check.right || !check.bytes)
        abort();
    struct outcome outcome = fresh(&check, VYRE_MODE_PLAIN, VERDICT_INVALID);
    char reason[ORACLE_REASON_BYTES];
    bool right = true;
    if (oracle_run(program, check.right, reason)) {
        right = check_modes(&check, host);
    } else {
        snprintf(outcome.text, sizeof outcome.text, "%s", reason);
        report(user, &outcome);
    }
    free(check.bytes);
    free(check.right);
    return right;
}
