/*
 * recorded_batch.c: a batch of a record, with all that its explanation needs.
 */
#include "explain/recorded_batch.h"

#include <string.h>

/* The names are the writer's; a later version may have more of them. */
static uint8_t mode_of(const struct record *record, uint8_t mode)
{
    const char *name = record_name(record, RECORD_NAMES_MODE, mode);
    uint8_t found = 0;
    while (found < VYRE_MODE_COUNT && strcmp(name, vyre_mode_name((enum vyre_mode)found)) != 0)
        found++;
    return found;
}

/* Finds the reason by its name, or by the name that it had in version 1. */
static uint8_t find_why(const char *name, uint8_t otherwise)
{
    if (strcmp(name, "hint") == 0)
        return VYRE_WHY_PREDICTED_BEST;
    if (strcmp(name, "recording-failed") == 0)
        return VYRE_WHY_FAILED;
    for (uint8_t why = 0; why < VYRE_WHY_COUNT; why++) {
        if (strcmp(name, vyre_why_name((enum vyre_why)why)) == 0)
            return why;
    }
    return otherwise;
}

static uint8_t why_of(const struct record *record, uint8_t why)
{
    const char *name = record_name(record, RECORD_NAMES_WHY, why);
    return find_why(name, VYRE_WHY_COUNT);
}

/* Why a candidate was chosen or not; `chosen` is the batch's own reason. */
static uint8_t reason_of(const struct record *record, uint8_t reason, uint8_t chosen)
{
    const char *name = record_name(record, RECORD_NAMES_REASON, reason);
    return strcmp(name, "chosen") == 0 ? chosen : find_why(name, VYRE_WHY_SLOWER_PREDICTED);
}

static uint8_t evidence_of(const struct record *record, uint8_t evidence)
{
    const char *name = record_name(record, RECORD_NAMES_EVIDENCE, evidence);
    uint8_t found = 0;
    while (found < VYRE_EVIDENCE_COUNT &&
           strcmp(name, vyre_evidence_name((enum vyre_evidence)found)) != 0)
        found++;
    return found < VYRE_EVIDENCE_COUNT ? found : VYRE_EVIDENCE_NONE;
}

static const struct record_candidate *candidate_of(const struct recorded_batch *subject,
                                                   size_t index)
{
    return &subject->record->candidates.items[subject->compared->candidate_first + index];
}

static uint32_t narrow(int64_t value)
{
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static void fill_next(struct recorded_batch *subject)
{
    const struct record_batch *batch = subject->batch;
    struct vyre_decision_record *next = &subject->explanation.next;
    next->mode = mode_of(subject->record, batch->mode);
    next->variant = batch->variant;
    next->why = why_of(subject->record, batch->why);
    next->wanted = mode_of(subject->record, batch->wanted);
    next->wanted_variant = batch->wanted_variant;
    next->wanted_out = why_of(subject->record, batch->wanted_out);
    next->evidence = evidence_of(subject->record, batch->evidence);
    next->predicted_ns = (uint64_t)batch->predicted_ns;
    next->repeats_seen = narrow((int64_t)batch->repeats_seen);
    size_t count = subject->compared ? subject->compared->candidate_count : 0;
    for (size_t i = 0; i < count && i < VYRE_CANDIDATES_MAX; i++) {
        const struct record_candidate *from = candidate_of(subject, i);
        next->candidates[next->candidate_count++] = (struct vyre_decision_candidate){
            .predicted_ns = (uint64_t)from->predicted_ns,
            .measured_ns = (uint64_t)from->measured_ns,
            .count = narrow(from->count),
            .windows = narrow(from->windows),
            .error_bps = narrow(from->error_bps),
            .look_at = narrow(from->look_at),
            .why = reason_of(subject->record, from->reason, next->why),
            .mode = mode_of(subject->record, from->mode),
            .variant = from->variant,
            .state = from->state,
        };
    }
}

/* The smallest number above 1 whose gains together exceed the cost. */
static uint32_t turn_of(uint64_t gain_ns, uint64_t cost_ns)
{
    uint64_t least = gain_ns ? cost_ns / gain_ns + 1 : VYRE_REPEATS_NEVER;
    least = least > 1 ? least : 2;
    return least < VYRE_REPEATS_NEVER ? (uint32_t)least : VYRE_REPEATS_NEVER;
}

/* The policy's input: commands over all repeats; 0 for a batch seen for the first time. */
static uint32_t items_of(const struct record_batch *batch, uint64_t repeats)
{
    uint64_t commands = 0;
    for (size_t i = 0; i < VYRE_COMMAND_TYPE_COUNT; i++)
        commands += (uint64_t)batch->commands[i];
    if (!batch->repeat_hint && repeats <= 1)
        return 0;
    uint64_t items = repeats && commands > UINT32_MAX / repeats ? UINT32_MAX : commands * repeats;
    return items < UINT32_MAX ? (uint32_t)items : UINT32_MAX;
}

static void fill_policies(struct recorded_batch *subject, const struct record_policies *policies)
{
    struct vyre_explanation *out = &subject->explanation;
    const struct record_batch *batch = subject->batch;
    uint64_t repeats = (uint64_t)(batch->repeat_hint ? batch->repeat_hint : batch->repeats_seen);
    out->persistent_kernel = policies->persistent_kernel;
    if (subject->record->version > 1)
        out->persistent_kernel.batch_size = items_of(batch, repeats);
    out->command_reuse = policies->command_reuse;
    out->command_reuse.repeat_count = repeats < UINT32_MAX ? (uint32_t)repeats : UINT32_MAX;
    out->bindless = policies->bindless;
    out->trace_jit = policies->trace_jit;
    out->plain_origin = policies->plain_origin;
    out->replay_origin = policies->replay_origin;
    out->persistent_origin = policies->persistent_origin;
    out->repeats_origin = batch->repeat_hint ? VYRE_ORIGIN_HINT : VYRE_ORIGIN_OBSERVED;
    out->arm_count = policies->arm_count;
    out->repeats_seen = out->next.repeats_seen;
    out->verdicts = (struct vyre_bundle){
        .persistent_kernel = vyre_persistent_kernel_decide(&out->persistent_kernel),
        .arms = policies->arms,
        .copy = policies->copy,
        .command_reuse = vyre_command_reuse_decide(&out->command_reuse),
        .bindless = vyre_bindless_decide(&out->bindless),
        .trace_jit = vyre_trace_jit_decide(&out->trace_jit),
    };
    out->wanted =
        batch->wanted ? (enum vyre_mode)out->next.wanted : vyre_verdict_mode(&out->verdicts);
    uint64_t launch_ns = out->command_reuse.per_launch_overhead_ns;
    uint64_t replay_ns = out->command_reuse.replay_overhead_ns;
    out->replay_from_repeats = turn_of(launch_ns > replay_ns ? launch_ns - replay_ns : 0,
                                       out->command_reuse.record_overhead_ns);
    out->persistent_from_commands = turn_of(out->persistent_kernel.per_launch_overhead_ns,
                                            out->persistent_kernel.persistent_setup_overhead_ns);
    memcpy(out->unfit_reason, policies->unfit, sizeof out->unfit_reason);
}

static void fill_absent(struct recorded_batch *subject)
{
    const struct record_device *device = subject->device;
    for (size_t i = 0; i < device->ability_count; i++) {
        const char *name = record_name(subject->record, RECORD_NAMES_ABILITY, i);
        bool is_absent = device->abilities[i].value == 0;
        if (is_absent && strcmp(name, vyre_ability_name(VYRE_ABILITY_REPLAY)) == 0)
            subject->said.absent[VYRE_MODE_REPLAY] = device->abilities[i].reason;
        if (is_absent && strcmp(name, vyre_ability_name(VYRE_ABILITY_PERSISTENT)) == 0)
            subject->said.absent[VYRE_MODE_PERSISTENT] = device->abilities[i].reason;
    }
}

/* The last policies recorded for the batch's shape before the batch; NULL: none. */
static const struct record_policies *policies_of(const struct recorded_batch *subject, size_t index)
{
    const struct record *record = subject->record;
    for (size_t i = record->policies.count; i-- > 0;) {
        const struct record_policies *policies = &record->policies.items[i];
        if (policies->before_batch <= index && policies->device == subject->batch->device &&
            strcmp(policies->shape, subject->batch->shape) == 0)
            return policies;
    }
    return NULL;
}

static void fill(struct recorded_batch *subject, size_t index)
{
    const struct record_policies *policies = policies_of(subject, index);
    int64_t hint = subject->batch->repeat_hint;
    subject->said.explanation = &subject->explanation;
    subject->said.repeat_hint = hint < UINT32_MAX ? (uint32_t)hint : UINT32_MAX;
    subject->said.has_policies = policies != NULL;
    fill_absent(subject);
    fill_next(subject);
    if (policies)
        fill_policies(subject, policies);
}

void recorded_batch_find(struct recorded_batch *subject, const struct record *record, size_t index)
{
    *subject = (struct recorded_batch){.record = record, .batch = &record->batches.items[index]};
    subject->device = &record->devices.items[subject->batch->device - 1];
    for (size_t i = index + 1; i-- > 0 && !subject->compared;) {
        const struct record_batch *other = &record->batches.items[i];
        if (other->candidate_count > 0 && other->device == subject->batch->device &&
            strcmp(other->shape, subject->batch->shape) == 0)
            subject->compared = other;
    }
    fill(subject, index);
}
