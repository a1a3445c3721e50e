/*
 * policy_table.c: the policies that `vyre decide` knows, as data.
 */
#include "decide/policy_table.h"

#include <stdio.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static const struct cli_output_column savings_outputs[] = {{"verdict", CLI_OUTPUT_WORD},
                                                           {"savings_ns", CLI_OUTPUT_NUMBER}};
static const struct cli_output_column verdict_outputs[] = {{"verdict", CLI_OUTPUT_WORD}};

/* The word ends before ":N"; the number goes into the second column. */
static void answer_savings(struct cli_answer *answer, size_t length, struct vyre_u128 savings_ns)
{
    const char *colon = memchr(answer->verdict, ':', length);
    answer->word_size = colon ? (size_t)(colon - answer->verdict) : length;
    answer->numbers[1] = savings_ns;
}

/* ---- persistent-kernel ----------------------------------------------------------------------- */

static const struct cli_input persistent_kernel_inputs[] = {
    {"batch_size", CLI_VALUE_U32},
    {"per_launch_overhead_ns", CLI_VALUE_U64},
    {"per_item_kernel_ns", CLI_VALUE_U64},
    {"persistent_setup_overhead_ns", CLI_VALUE_U64},
};

static struct vyre_persistent_kernel_input persistent_kernel_input(const struct cli_value *values)
{
    struct vyre_persistent_kernel_input input = {
        .batch_size = (uint32_t)values[0].number,
        .per_launch_overhead_ns = values[1].number,
        .per_item_kernel_ns = values[2].number,
        .persistent_setup_overhead_ns = values[3].number,
    };
    return input;
}

static enum vyre_status decide_persistent_kernel(const struct cli_value *values,
                                                 struct cli_answer *out_answer,
                                                 struct vyre_diag *diag)
{
    (void)diag;
    struct vyre_persistent_kernel_input input = persistent_kernel_input(values);
    struct vyre_persistent_kernel_verdict verdict = vyre_persistent_kernel_decide(&input);
    size_t length =
        vyre_persistent_kernel_format(&verdict, out_answer->verdict, sizeof out_answer->verdict);
    answer_savings(out_answer, length, verdict.savings_ns);
    return VYRE_OK;
}

static size_t explain_persistent_kernel(const struct cli_value *values,
                                        const struct cli_answer *answer, char *out, size_t capacity)
{
    (void)answer;
    struct vyre_persistent_kernel_input input = persistent_kernel_input(values);
    return vyre_persistent_kernel_explain(&input, out, capacity);
}

/* ---- arm-independence ------------------------------------------------------------------------ */

static const struct cli_input arm_independence_inputs[] = {
    {"reads_a", CLI_VALUE_SLOTS},
    {"writes_a", CLI_VALUE_SLOTS},
    {"reads_b", CLI_VALUE_SLOTS},
    {"writes_b", CLI_VALUE_SLOTS},
};

static struct vyre_arm arm_of(const struct cli_value *values)
{
    struct vyre_arm arm = {.reads = values[0].slots, .writes = values[1].slots};
    return arm;
}

static enum vyre_status decide_arm_independence(const struct cli_value *values,
                                                struct cli_answer *out_answer,
                                                struct vyre_diag *diag)
{
    (void)diag;
    struct vyre_arm first = arm_of(values);
    struct vyre_arm second = arm_of(values + 2);
    struct vyre_arm_verdict verdict = vyre_arm_independence_decide(&first, &second);
    out_answer->word_size =
        vyre_arm_independence_format(&verdict, out_answer->verdict, sizeof out_answer->verdict);
    return VYRE_OK;
}

static size_t explain_arm_independence(const struct cli_value *values,
                                       const struct cli_answer *answer, char *out, size_t capacity)
{
    (void)answer;
    struct vyre_arm first = arm_of(values);
    struct vyre_arm second = arm_of(values + 2);
    return vyre_arm_independence_explain(&first, &second, out, capacity);
}

/* ---- copy-overlap ---------------------------------------------------------------------------- */

static const struct cli_input copy_overlap_inputs[] = {
    {"copy_dst_slot", CLI_VALUE_U32},
    {"reads", CLI_VALUE_SLOTS},
    {"writes", CLI_VALUE_SLOTS},
};

static enum vyre_status decide_copy_overlap(const struct cli_value *values,
                                            struct cli_answer *out_answer, struct vyre_diag *diag)
{
    (void)diag;
    struct vyre_arm kernel = arm_of(values + 1);
    struct vyre_copy_verdict verdict =
        vyre_copy_overlap_decide((uint32_t)values[0].number, &kernel);
    out_answer->word_size =
        vyre_copy_overlap_format(&verdict, out_answer->verdict, sizeof out_answer->verdict);
    return VYRE_OK;
}

static size_t explain_copy_overlap(const struct cli_value *values, const struct cli_answer *answer,
                                   char *out, size_t capacity)
{
    (void)answer;
    struct vyre_arm kernel = arm_of(values + 1);
    return vyre_copy_overlap_explain((uint32_t)values[0].number, &kernel, out, capacity);
}

/* ---- command-reuse --------------------------------------------------------------------------- */

static const struct cli_input command_reuse_inputs[] = {
    {"repeat_count", CLI_VALUE_U32},
    {"per_launch_overhead_ns", CLI_VALUE_U64},
    {"record_overhead_ns", CLI_VALUE_U64},
    {"replay_overhead_ns", CLI_VALUE_U64},
};

static struct vyre_command_reuse_input command_reuse_input(const struct cli_value *values)
{
    struct vyre_command_reuse_input input = {
        .repeat_count = (uint32_t)values[0].number,
        .per_launch_overhead_ns = values[1].number,
        .record_overhead_ns = values[2].number,
        .replay_overhead_ns = values[3].number,
    };
    return input;
}

static enum vyre_status decide_command_reuse(const struct cli_value *values,
                                             struct cli_answer *out_answer, struct vyre_diag *diag)
{
    (void)diag;
    struct vyre_command_reuse_input input = command_reuse_input(values);
    struct vyre_command_reuse_verdict verdict = vyre_command_reuse_decide(&input);
    size_t length =
        vyre_command_reuse_format(&verdict, out_answer->verdict, sizeof out_answer->verdict);
    answer_savings(out_answer, length, vyre_u128_from_u64(verdict.savings_ns));
    return VYRE_OK;
}

static size_t explain_command_reuse(const struct cli_value *values, const struct cli_answer *answer,
                                    char *out, size_t capacity)
{
    (void)answer;
    struct vyre_command_reuse_input input = command_reuse_input(values);
    return vyre_command_reuse_explain(&input, out, capacity);
}

/* ---- bindless -------------------------------------------------------------------------------- */

static const struct cli_input bindless_inputs[] = {
    {"resource_count", CLI_VALUE_U32},
    {"support", CLI_VALUE_SUPPORT},
    {"dynamic_indexing", CLI_VALUE_FLAG},
};

static struct vyre_bindless_input bindless_input(const struct cli_value *values)
{
    struct vyre_bindless_input input = {
        .resource_count = (uint32_t)values[0].number,
        .support = (enum vyre_bindless_support)values[1].number,
        .dynamic_indexing = values[2].number != 0,
    };
    return input;
}

static enum vyre_status decide_bindless(const struct cli_value *values,
                                        struct cli_answer *out_answer, struct vyre_diag *diag)
{
    (void)diag;
    struct vyre_bindless_input input = bindless_input(values);
    struct vyre_bindless_verdict verdict = vyre_bindless_decide(&input);
    out_answer->word_size =
        vyre_bindless_format(&verdict, out_answer->verdict, sizeof out_answer->verdict);
    return VYRE_OK;
}

static size_t explain_bindless(const struct cli_value *values, const struct cli_answer *answer,
                               char *out, size_t capacity)
{
    (void)answer;
    struct vyre_bindless_input input = bindless_input(values);
    return vyre_bindless_explain(&input, out, capacity);
}

/* ---- trace-jit ------------------------------------------------------------------------------- */

static const struct cli_input trace_jit_inputs[] = {
    {"shader_hit_count", CLI_VALUE_U32},
    {"prediction_confidence_bps", CLI_VALUE_U32},
    {"speculative_spec_cost_ns", CLI_VALUE_U64},
    {"miss_cost_ns", CLI_VALUE_U64},
};

static struct vyre_trace_jit_input trace_jit_input(const struct cli_value *values)
{
    struct vyre_trace_jit_input input = {
        .shader_hit_count = (uint32_t)values[0].number,
        .prediction_confidence_bps = (uint32_t)values[1].number,
        .speculative_spec_cost_ns = values[2].number,
        .miss_cost_ns = values[3].number,
    };
    return input;
}

static enum vyre_status decide_trace_jit(const struct cli_value *values,
                                         struct cli_answer *out_answer, struct vyre_diag *diag)
{
    (void)diag;
    struct vyre_trace_jit_input input = trace_jit_input(values);
    struct vyre_trace_jit_verdict verdict = vyre_trace_jit_decide(&input);
    size_t length =
        vyre_trace_jit_format(&verdict, out_answer->verdict, sizeof out_answer->verdict);
    answer_savings(out_answer, length, vyre_u128_from_u64(verdict.savings_ns));
    return VYRE_OK;
}

static size_t explain_trace_jit(const struct cli_value *values, const struct cli_answer *answer,
                                char *out, size_t capacity)
{
    (void)answer;
    struct vyre_trace_jit_input input = trace_jit_input(values);
    return vyre_trace_jit_explain(&input, out, capacity);
}

/* ---- graph-capture --------------------------------------------------------------------------- */

static const struct cli_input graph_capture_inputs[] = {{"roles", CLI_VALUE_ROLES}};

static const struct cli_output_column graph_capture_outputs[] = {
    {"input_device_capacity", CLI_OUTPUT_NUMBER},
    {"output_device_capacity", CLI_OUTPUT_NUMBER},
    {"output_readback_capacity", CLI_OUTPUT_NUMBER},
    {"kernel_pointer_capacity", CLI_OUTPUT_NUMBER},
    {"kernel_argument_capacity", CLI_OUTPUT_NUMBER},
    {"resident_input_replay_safe", CLI_OUTPUT_FLAG},
};

static enum vyre_status decide_graph_capture(const struct cli_value *values,
                                             struct cli_answer *out_answer, struct vyre_diag *diag)
{
    const struct cli_bindings *bindings = &values[0].bindings;
    struct vyre_binding_plan plan;
    enum vyre_status status = vyre_binding_plan_build(
        bindings->descs, bindings->count, bindings->memory, CLI_VALUE_ROLES_MAX, &plan, diag);
    struct vyre_graph_capture_plan capture = {0};
    if (status == VYRE_OK)
        status = vyre_graph_capture_plan_build(&plan, &capture, diag);
    const size_t numbers[CLI_OUTPUTS_MAX] = {
        capture.input_device_capacity,    capture.output_device_capacity,
        capture.output_readback_capacity, capture.kernel_pointer_capacity,
        capture.kernel_argument_capacity, capture.resident_input_replay_safe,
    };
    out_answer->verdict[0] = '\0';
    out_answer->word_size = 0;
    for (size_t i = 0; i < CLI_OUTPUTS_MAX; i++)
        out_answer->numbers[i] = vyre_u128_from_u64(numbers[i]);
    return status;
}

static size_t explain_graph_capture(const struct cli_value *values, const struct cli_answer *answer,
                                    char *out, size_t capacity)
{
    size_t bound = values[0].bindings.count;
    size_t pointers = (size_t)answer->numbers[3].lo;
    const char *replay = answer->numbers[5].lo != 0
                             ? "no binding is both input and output, so a replay needs no upload"
                             : "a binding is both input and output, so every replay uploads again";
    int length = snprintf(out, capacity,
                          "%zu bindings, %zu of them shared, take %zu kernel pointers and the "
                          "launch parameters; %s.",
                          bound, bound - pointers, pointers, replay);
    return length > 0 ? (size_t)length : 0;
}

/* ---- the table ------------------------------------------------------------------------------- */

const struct cli_policy cli_policies[] = {
    {"persistent-kernel", "Does one resident kernel beat many launches?", persistent_kernel_inputs,
     COUNT_OF(persistent_kernel_inputs), savings_outputs, COUNT_OF(savings_outputs),
     decide_persistent_kernel, explain_persistent_kernel},
    {"arm-independence", "May two arms run side by side?", arm_independence_inputs,
     COUNT_OF(arm_independence_inputs), verdict_outputs, COUNT_OF(verdict_outputs),
     decide_arm_independence, explain_arm_independence},
    {"copy-overlap", "May a host-to-device copy run beside a kernel?", copy_overlap_inputs,
     COUNT_OF(copy_overlap_inputs), verdict_outputs, COUNT_OF(verdict_outputs), decide_copy_overlap,
     explain_copy_overlap},
    {"command-reuse", "Does recording once and replaying pay?", command_reuse_inputs,
     COUNT_OF(command_reuse_inputs), savings_outputs, COUNT_OF(savings_outputs),
     decide_command_reuse, explain_command_reuse},
    {"bindless", "Does one table of addresses beat bindings?", bindless_inputs,
     COUNT_OF(bindless_inputs), verdict_outputs, COUNT_OF(verdict_outputs), decide_bindless,
     explain_bindless},
    {"trace-jit", "Does compiling the predicted shape ahead of need pay?", trace_jit_inputs,
     COUNT_OF(trace_jit_inputs), savings_outputs, COUNT_OF(savings_outputs), decide_trace_jit,
     explain_trace_jit},
    {"graph-capture", "How large must the tables of a captured graph be?", graph_capture_inputs,
     COUNT_OF(graph_capture_inputs), graph_capture_outputs, COUNT_OF(graph_capture_outputs),
     decide_graph_capture, explain_graph_capture},
};

const size_t cli_policy_count = COUNT_OF(cli_policies);

const struct cli_policy *cli_policy_find(struct cli_span name)
{
    for (size_t i = 0; i < cli_policy_count; i++) {
        if (cli_span_equals(name, cli_policies[i].name))
            return &cli_policies[i];
    }
    return NULL;
}

size_t cli_policy_find_input(const struct cli_policy *policy, struct cli_span name)
{
    size_t i = 0;
    while (i < policy->input_count && !cli_span_equals(name, policy->inputs[i].name))
        i++;
    return i;
}
