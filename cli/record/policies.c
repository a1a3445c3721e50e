/*
 * policies.c: the entries of type `shape`: inputs of the policies, and their verdicts.
 */
#include <string.h>

#include "record/values.h"
#include "terminal/diag.h"

#define TEXT_MAX 1024

/* Reads `count` whole numbers from the array `key`, each at most its `max`. */
static void numbers(struct record_reader *reader, const json_t *json, const char *key,
                    const int64_t *max, uint64_t *out, size_t count)
{
    const json_t *array = json_object_get(json, key);
    size_t found = record_array(reader, array, key, count, RECORD_NAMES_MAX);
    for (size_t i = 0; i < count; i++)
        out[i] = i < found
                     ? (uint64_t)record_number(reader, json_array_get(array, i), key, 0, max[i])
                     : 0;
}

static const char *text(struct record_reader *reader, const json_t *json, const char *key)
{
    const json_t *value = json_object_get(json, key);
    const char *found = json_string_value(value);
    if (!found || json_string_length(value) > TEXT_MAX) {
        record_fail(reader, CLI_DIAG_RECORD_VALUE, "`%s` is not a string of up to %d bytes", key,
                    TEXT_MAX);
        return "";
    }
    return found;
}

/* An unknown verdict, as of a later version, counts as none. */
static struct vyre_arm_verdict arms_of(const char *verdict)
{
    char known[VYRE_VERDICT_TEXT_BYTES];
    struct vyre_arm_verdict arms = {.choice = VYRE_ARMS_INDEPENDENT};
    vyre_arm_independence_format(&arms, known, sizeof known);
    if (strcmp(verdict, known) == 0)
        return arms;
    arms.choice = VYRE_ARMS_SERIALIZE;
    for (int i = VYRE_CONFLICT_WRITE_WRITE; i <= VYRE_CONFLICT_WRITE_AFTER_READ; i++) {
        arms.conflict = (enum vyre_conflict)i;
        vyre_arm_independence_format(&arms, known, sizeof known);
        if (strcmp(verdict, known) == 0)
            return arms;
    }
    return (struct vyre_arm_verdict){.choice = VYRE_ARMS_NONE};
}

static struct vyre_copy_verdict copy_of(const char *verdict)
{
    char known[VYRE_VERDICT_TEXT_BYTES];
    for (int i = VYRE_COPY_SERIALIZE; i <= VYRE_COPY_OVERLAP; i++) {
        const struct vyre_copy_verdict copy = {.choice = (enum vyre_copy_choice)i};
        vyre_copy_overlap_format(&copy, known, sizeof known);
        if (strcmp(verdict, known) == 0)
            return copy;
    }
    return (struct vyre_copy_verdict){.choice = VYRE_COPY_ABSENT};
}

static enum vyre_origin origin_of(struct record_reader *reader, const json_t *json, const char *key)
{
    const char *name = text(reader, json_object_get(json, "origins"), key);
    for (int i = VYRE_ORIGIN_STATED; i <= VYRE_ORIGIN_HINT; i++) {
        if (strcmp(name, vyre_origin_name((enum vyre_origin)i)) == 0)
            return (enum vyre_origin)i;
    }
    return VYRE_ORIGIN_NONE;
}

static void read_inputs(struct record_reader *reader, const json_t *json,
                        struct record_policies *policies)
{
    static const int64_t ns = RECORD_NUMBER_MAX;
    const int64_t resident_max[] = {UINT32_MAX, ns, ns, ns};
    const int64_t reuse_max[] = {ns, ns, ns};
    const int64_t bindless_max[] = {UINT32_MAX, VYRE_BINDLESS_FULL, 1};
    const int64_t jit_max[] = {UINT32_MAX, UINT32_MAX, ns, ns};
    uint64_t resident[4], reuse[3], bindless[3], jit[4];
    numbers(reader, json, "persistent_kernel", resident_max, resident, 4);
    numbers(reader, json, "command_reuse", reuse_max, reuse, 3);
    numbers(reader, json, "bindless", bindless_max, bindless, 3);
    numbers(reader, json, "trace_jit", jit_max, jit, 4);
    policies->persistent_kernel = (struct vyre_persistent_kernel_input){
        .batch_size = (uint32_t)resident[0],
        .per_launch_overhead_ns = resident[1],
        .per_item_kernel_ns = resident[2],
        .persistent_setup_overhead_ns = resident[3],
    };
    policies->command_reuse = (struct vyre_command_reuse_input){
        .per_launch_overhead_ns = reuse[0],
        .record_overhead_ns = reuse[1],
        .replay_overhead_ns = reuse[2],
    };
    policies->bindless = (struct vyre_bindless_input){
        .resource_count = (uint32_t)bindless[0],
        .support = (enum vyre_bindless_support)bindless[1],
        .dynamic_indexing = bindless[2] != 0,
    };
    policies->trace_jit = (struct vyre_trace_jit_input){
        .shader_hit_count = (uint32_t)jit[0],
        .prediction_confidence_bps = (uint32_t)jit[1],
        .speculative_spec_cost_ns = jit[2],
        .miss_cost_ns = jit[3],
    };
}

void record_policies(struct record_reader *reader, const json_t *json)
{
    struct record *record = reader->record;
    struct record_policies *policies = RECORD_ADD(reader, &record->policies);
    if (!policies)
        return;
    policies->before_batch = record->batches.count;
    policies->device = (uint32_t)record_number(reader, json_object_get(json, "device"), "device", 1,
                                               (int64_t)record->devices.count);
    record_shape(reader, json_object_get(json, "shape"), policies->shape);
    read_inputs(reader, json, policies);
    policies->arm_count = (uint32_t)record_number(reader, json_object_get(json, "arm_count"),
                                                  "arm_count", 0, UINT32_MAX);
    policies->arms = arms_of(text(reader, json, "arms"));
    policies->copy = copy_of(text(reader, json, "copy"));
    policies->plain_origin = origin_of(reader, json, "plain");
    policies->replay_origin = origin_of(reader, json, "replay");
    policies->persistent_origin = origin_of(reader, json, "persistent");
    const char *unfit = text(reader, json, "unfit");
    size_t length = strnlen(unfit, sizeof policies->unfit - 1);
    memcpy(policies->unfit, unfit, length);
    policies->unfit[length] = '\0';
}
