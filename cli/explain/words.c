/*
 * words.c: the sentences of `vyre explain`.
 */
#include <stdio.h>

#include "explain/print.h"
#include "terminal/units.h"

size_t explain_inputs(const struct vyre_explanation *explanation,
                      struct explain_input out_inputs[EXPLAIN_INPUTS_MAX])
{
    const struct vyre_persistent_kernel_input *resident = &explanation->persistent_kernel;
    const struct vyre_command_reuse_input *reuse = &explanation->command_reuse;
    const struct vyre_bindless_input *bindless = &explanation->bindless;
    const struct vyre_trace_jit_input *jit = &explanation->trace_jit;
    const char *plain = vyre_origin_name(explanation->plain_origin);
    const char *replay = vyre_origin_name(explanation->replay_origin);
    const char *persistent = vyre_origin_name(explanation->persistent_origin);
    bool copies = explanation->verdicts.copy.choice != VYRE_COPY_ABSENT;
    const struct explain_input inputs[] = {
        {VYRE_POLICY_PERSISTENT_KERNEL, "batch_size", resident->batch_size, false, "observed"},
        {VYRE_POLICY_PERSISTENT_KERNEL, "per_launch_overhead_ns", resident->per_launch_overhead_ns,
         true, plain},
        {VYRE_POLICY_PERSISTENT_KERNEL, "per_item_kernel_ns", resident->per_item_kernel_ns, true,
         "default"},
        {VYRE_POLICY_PERSISTENT_KERNEL, "persistent_setup_overhead_ns",
         resident->persistent_setup_overhead_ns, true, persistent},
        {VYRE_POLICY_ARM_INDEPENDENCE, "arm_count", explanation->arm_count, false, "observed"},
        {VYRE_POLICY_COPY_OVERLAP, "copy_queued", copies, false, "observed"},
        {VYRE_POLICY_COMMAND_REUSE, "repeat_count", reuse->repeat_count, false,
         vyre_origin_name(explanation->repeats_origin)},
        {VYRE_POLICY_COMMAND_REUSE, "per_launch_overhead_ns", reuse->per_launch_overhead_ns, true,
         plain},
        {VYRE_POLICY_COMMAND_REUSE, "record_overhead_ns", reuse->record_overhead_ns, true, replay},
        {VYRE_POLICY_COMMAND_REUSE, "replay_overhead_ns", reuse->replay_overhead_ns, true, replay},
        {VYRE_POLICY_BINDLESS, "resource_count", bindless->resource_count, false, "observed"},
        {VYRE_POLICY_BINDLESS, "support", (uint64_t)bindless->support, false, "stated"},
        {VYRE_POLICY_BINDLESS, "dynamic_indexing", bindless->dynamic_indexing, false, "default"},
        {VYRE_POLICY_TRACE_JIT, "shader_hit_count", jit->shader_hit_count, false, "default"},
        {VYRE_POLICY_TRACE_JIT, "prediction_confidence_bps", jit->prediction_confidence_bps, false,
         "default"},
        {VYRE_POLICY_TRACE_JIT, "speculative_spec_cost_ns", jit->speculative_spec_cost_ns, true,
         "default"},
        {VYRE_POLICY_TRACE_JIT, "miss_cost_ns", jit->miss_cost_ns, true, "default"},
    };
    size_t count = sizeof inputs / sizeof inputs[0];
    for (size_t i = 0; i < count; i++)
        out_inputs[i] = inputs[i];
    return count;
}

/* The explanation keeps no arms, only what was found about the first two. */
static void explain_arms(const struct vyre_explanation *explanation, char out[EXPLAIN_TEXT_BYTES])
{
    static const char *const conflicts[] = {
        [VYRE_CONFLICT_NONE] = "The first two arms touch the same bytes.",
        [VYRE_CONFLICT_WRITE_WRITE] = "The first two arms write the same bytes.",
        [VYRE_CONFLICT_READ_AFTER_WRITE] = "The second arm reads what the first one writes.",
        [VYRE_CONFLICT_WRITE_AFTER_READ] = "The second arm writes what the first one reads.",
    };
    const struct vyre_arm_verdict *arms = &explanation->verdicts.arms;
    if (arms->choice == VYRE_ARMS_INDEPENDENT)
        snprintf(
            out, EXPLAIN_TEXT_BYTES,
            "Neither of the first two arms writes what the other touches; up to %u arms may run "
            "side by side.",
            explanation->arm_count);
    else if (arms->choice == VYRE_ARMS_SERIALIZE)
        snprintf(out, EXPLAIN_TEXT_BYTES, "%s",
                 conflicts[(unsigned)arms->conflict <= VYRE_CONFLICT_WRITE_AFTER_READ
                               ? arms->conflict
                               : VYRE_CONFLICT_NONE]);
    else
        snprintf(out, EXPLAIN_TEXT_BYTES, "The batch has no two arms to compare.");
}

static void explain_copy(const struct vyre_explanation *explanation, char out[EXPLAIN_TEXT_BYTES])
{
    enum vyre_copy_choice choice = explanation->verdicts.copy.choice;
    const char *text = "The batch has no upload next to a kernel.";
    if (choice == VYRE_COPY_OVERLAP)
        text = "The upload writes nothing that the kernel next to it touches.";
    if (choice == VYRE_COPY_SERIALIZE)
        text = "The upload writes what the kernel next to it reads or writes.";
    snprintf(out, EXPLAIN_TEXT_BYTES, "%s", text);
}

void explain_verdict(const struct vyre_explanation *explanation, enum vyre_policy policy,
                     char out_verdict[VYRE_VERDICT_TEXT_BYTES],
                     char out_sentence[EXPLAIN_TEXT_BYTES])
{
    const struct vyre_bundle *verdicts = &explanation->verdicts;
    size_t verdict = VYRE_VERDICT_TEXT_BYTES;
    size_t sentence = EXPLAIN_TEXT_BYTES;
    out_verdict[0] = out_sentence[0] = '\0';
    switch (policy) {
    case VYRE_POLICY_PERSISTENT_KERNEL:
        vyre_persistent_kernel_format(&verdicts->persistent_kernel, out_verdict, verdict);
        vyre_persistent_kernel_explain(&explanation->persistent_kernel, out_sentence, sentence);
        break;
    case VYRE_POLICY_ARM_INDEPENDENCE:
        vyre_arm_independence_format(&verdicts->arms, out_verdict, verdict);
        explain_arms(explanation, out_sentence);
        break;
    case VYRE_POLICY_COPY_OVERLAP:
        vyre_copy_overlap_format(&verdicts->copy, out_verdict, verdict);
        explain_copy(explanation, out_sentence);
        break;
    case VYRE_POLICY_COMMAND_REUSE:
        vyre_command_reuse_format(&verdicts->command_reuse, out_verdict, verdict);
        vyre_command_reuse_explain(&explanation->command_reuse, out_sentence, sentence);
        break;
    case VYRE_POLICY_BINDLESS:
        vyre_bindless_format(&verdicts->bindless, out_verdict, verdict);
        vyre_bindless_explain(&explanation->bindless, out_sentence, sentence);
        break;
    case VYRE_POLICY_TRACE_JIT:
        vyre_trace_jit_format(&verdicts->trace_jit, out_verdict, verdict);
        vyre_trace_jit_explain(&explanation->trace_jit, out_sentence, sentence);
        break;
    case VYRE_POLICY_NONE:
        break;
    }
}

void explain_way(uint8_t mode, uint8_t variant, char out[EXPLAIN_TEXT_BYTES])
{
    snprintf(out, EXPLAIN_TEXT_BYTES, "%s%s%s", vyre_mode_name((enum vyre_mode)mode),
             variant & VYRE_VARIANT_SERIAL ? ", serial" : "",
             variant & VYRE_VARIANT_DRIVER ? ", driver" : "");
}

const char *explain_why(uint8_t why)
{
    static const char *const sentences[VYRE_WHY_COUNT] = {
        [VYRE_WHY_NONE] = "nothing was decided",
        [VYRE_WHY_REQUIRED] = "the caller requires it",
        [VYRE_WHY_ONLY_FEASIBLE] = "nothing else can run this batch here",
        [VYRE_WHY_VERDICT] = "the policies ask for it, and no measurement speaks against it",
        [VYRE_WHY_PREDICTED_BEST] = "it was the cheapest for other work on this device",
        [VYRE_WHY_MEASURED_BEST] = "it is the cheapest of what was measured for this work",
        [VYRE_WHY_TRIAL] = "it has not been measured yet, and what it may save is worth a try",
        [VYRE_WHY_EXPLORE] = "it is measured again, within the budget for exploration",
        [VYRE_WHY_DRIFT_RECHECK] = "its costs have left their usual range, so it is measured again",
    };
    return why < VYRE_WHY_COUNT && sentences[why] ? sentences[why]
                                                  : "this version does not know the reason";
}

/* ---- Candidates ------------------------------------------------------------------------------- */

static const struct vyre_decision_candidate *chosen_of(const struct vyre_decision_record *next)
{
    for (uint32_t i = 0; i < next->candidate_count; i++) {
        if (next->candidates[i].mode == next->mode && next->candidates[i].variant == next->variant)
            return &next->candidates[i];
    }
    return NULL;
}

static void explain_out(const struct explain_subject *subject,
                        const struct vyre_decision_candidate *candidate,
                        char out[EXPLAIN_TEXT_BYTES])
{
    const char *mode = vyre_mode_name((enum vyre_mode)candidate->mode);
    /* A candidate of both variants is out because it is serial only if there is a single arm. */
    bool by_driver =
        candidate->variant & VYRE_VARIANT_DRIVER && subject->explanation->arm_count > 1;
    const char *absent =
        candidate->mode < VYRE_MODE_COUNT ? subject->absent[candidate->mode] : NULL;
    const char *unfit = candidate->mode == VYRE_MODE_PERSISTENT && subject->has_policies
                            ? subject->explanation->unfit_reason
                            : "";
    if (candidate->why == VYRE_WHY_ABILITY_ABSENT)
        snprintf(out, EXPLAIN_TEXT_BYTES, "out: the device has no %s mode%s%s", mode,
                 absent && absent[0] ? ": " : "", absent ? absent : "");
    else if (candidate->why == VYRE_WHY_FAILED)
        snprintf(out, EXPLAIN_TEXT_BYTES, "out: recording it failed");
    else if (candidate->why == VYRE_WHY_UNPROVEN)
        snprintf(
            out, EXPLAIN_TEXT_BYTES,
            "out: its generated code is not proven yet, or gave other bytes than the driver's own "
            "launch");
    else if (candidate->why == VYRE_WHY_UNBUILT)
        snprintf(out, EXPLAIN_TEXT_BYTES, "out: what it needs is not built yet");
    else if (candidate->why == VYRE_WHY_UNFIT)
        snprintf(out, EXPLAIN_TEXT_BYTES, "out: the batch cannot run this way%s%s",
                 unfit[0] ? ": " : "", unfit);
    else if (candidate->why == VYRE_WHY_POOR_FIT && unfit[0])
        snprintf(out, EXPLAIN_TEXT_BYTES, "out: %s", unfit);
    else if (candidate->why == VYRE_WHY_POOR_FIT)
        snprintf(out, EXPLAIN_TEXT_BYTES,
                 "out: dispatches this large, or with several local sizes, do not suit a resident "
                 "kernel");
    else if (candidate->variant & VYRE_VARIANT_SERIAL && !by_driver)
        snprintf(out, EXPLAIN_TEXT_BYTES,
                 "out: each command needs the one before it, so serial changes nothing");
    else
        snprintf(out, EXPLAIN_TEXT_BYTES,
                 "out: the constants change, and the driver's recording would keep the old ones");
}

/* Compares a candidate with the choice, by the numbers that decided. */
static void explain_slower(const struct vyre_decision_candidate *here,
                           const struct vyre_decision_candidate *chosen,
                           char out[EXPLAIN_TEXT_BYTES])
{
    const char *how = here->count > 0 ? "measured" : "predicted";
    char way[EXPLAIN_TEXT_BYTES] = "the choice";
    uint64_t than_ns = chosen ? chosen->predicted_ns : 0;
    if (chosen)
        explain_way(chosen->mode, chosen->variant, way);
    if (here->predicted_ns > than_ns)
        snprintf(out, EXPLAIN_TEXT_BYTES, "%s %s slower than %.64s", how,
                 cli_unit_ns(here->predicted_ns - than_ns).text, way);
    else
        snprintf(out, EXPLAIN_TEXT_BYTES, "%s no cheaper than %.64s", how, way);
}

void explain_candidate(const struct explain_subject *subject, uint32_t candidate,
                       char out[EXPLAIN_TEXT_BYTES])
{
    const struct vyre_decision_record *next = &subject->explanation->next;
    const struct vyre_decision_candidate *here = &next->candidates[candidate];
    const struct vyre_decision_candidate *chosen = chosen_of(next);
    uint64_t chosen_ns = chosen ? chosen->predicted_ns : 0;
    uint64_t less_ns = chosen_ns > here->predicted_ns ? chosen_ns - here->predicted_ns : 0;
    uint32_t repeats = subject->repeat_hint ? subject->repeat_hint : next->repeats_seen;
    if (here == chosen) {
        snprintf(out, EXPLAIN_TEXT_BYTES, "chosen: %s", explain_why(next->why));
        return;
    }
    switch ((enum vyre_why)here->why) {
    case VYRE_WHY_ABILITY_ABSENT:
    case VYRE_WHY_NOT_APPLICABLE:
    case VYRE_WHY_UNFIT:
    case VYRE_WHY_FAILED:
    case VYRE_WHY_UNPROVEN:
    case VYRE_WHY_UNBUILT:
    case VYRE_WHY_POOR_FIT:
        explain_out(subject, here, out);
        return;
    case VYRE_WHY_FIXED_TOO_SLOW:
        snprintf(out, EXPLAIN_TEXT_BYTES,
                 "cheaper each time, but %s repeat%s not pay back its one-time cost",
                 cli_unit_count(repeats).text, repeats == 1 ? " does" : "s do");
        return;
    case VYRE_WHY_IN_TRIAL:
        snprintf(out, EXPLAIN_TEXT_BYTES, "waiting: a trial is in flight, and its result decides");
        return;
    case VYRE_WHY_MARGIN:
        snprintf(out, EXPLAIN_TEXT_BYTES, "cheaper by %s, which is too little for a switch",
                 cli_unit_ns(less_ns).text);
        return;
    case VYRE_WHY_NOT_REQUIRED:
        snprintf(out, EXPLAIN_TEXT_BYTES, "could run, but the caller requires another mode");
        return;
    case VYRE_WHY_SLOWER_PREDICTED:
    case VYRE_WHY_SLOWER_MEASURED:
    case VYRE_WHY_NONE:
    case VYRE_WHY_REQUIRED:
    case VYRE_WHY_ONLY_FEASIBLE:
    case VYRE_WHY_VERDICT:
    case VYRE_WHY_PREDICTED_BEST:
    case VYRE_WHY_MEASURED_BEST:
    case VYRE_WHY_TRIAL:
    case VYRE_WHY_EXPLORE:
    case VYRE_WHY_DRIFT_RECHECK:
        break;
    }
    explain_slower(here, chosen, out);
}

/* ---- What would have to change ---------------------------------------------------------------- */

static void explain_reuse_turn(const struct explain_subject *subject, char out[EXPLAIN_TEXT_BYTES])
{
    uint32_t from = subject->explanation->replay_from_repeats;
    uint32_t hint = subject->repeat_hint;
    if (from == VYRE_REPEATS_NEVER)
        snprintf(out, EXPLAIN_TEXT_BYTES,
                 "According to command_reuse, replay never pays: with these costs it is no cheaper "
                 "than a launch.");
    else
        snprintf(out, EXPLAIN_TEXT_BYTES,
                 "According to command_reuse, replay pays from %s repeats on; %s: %s.",
                 cli_unit_count(from).text, hint ? "announced" : "seen",
                 cli_unit_count(hint ? hint : subject->explanation->repeats_seen).text);
}

static void explain_resident_turn(const struct explain_subject *subject,
                                  char out[EXPLAIN_TEXT_BYTES])
{
    const struct vyre_explanation *explanation = subject->explanation;
    uint32_t from = explanation->persistent_from_commands;
    const char *absent = subject->absent[VYRE_MODE_PERSISTENT];
    if (absent && absent[0])
        snprintf(out, EXPLAIN_TEXT_BYTES, "Persistent mode is absent on this device: %s.", absent);
    else if (from == VYRE_REPEATS_NEVER)
        snprintf(out, EXPLAIN_TEXT_BYTES,
                 "According to persistent_kernel, staying resident never pays: with these costs a "
                 "command is no cheaper there.");
    else
        snprintf(
            out, EXPLAIN_TEXT_BYTES,
            "According to persistent_kernel, staying resident pays from %s commands on, over all "
            "repeats; expected: %s.",
            cli_unit_count(from).text,
            cli_unit_count(explanation->persistent_kernel.batch_size).text);
}

/* Verdicts say what pays by the costs; the choice also depends on what can run and on measurements. */
static void explain_difference(const struct vyre_explanation *explanation,
                               char out[EXPLAIN_TEXT_BYTES])
{
    static const char *const evidence[VYRE_EVIDENCE_COUNT] = {
        [VYRE_EVIDENCE_SHAPE] = "measurements of this work",
        [VYRE_EVIDENCE_DEVICE] = "measurements of other work on this device",
        [VYRE_EVIDENCE_STORE] = "what earlier runs learned about this work",
    };
    const struct vyre_decision_record *next = &explanation->next;
    const char *wanted = vyre_mode_name(explanation->wanted);
    const char *chosen = vyre_mode_name((enum vyre_mode)next->mode);
    bool can_run = false;
    for (uint32_t i = 0; i < next->candidate_count; i++)
        can_run |= next->candidates[i].mode == (uint8_t)explanation->wanted &&
                   next->candidates[i].state != VYRE_CANDIDATE_OUT;
    if (can_run && next->evidence < VYRE_EVIDENCE_COUNT && evidence[next->evidence])
        snprintf(out, EXPLAIN_TEXT_BYTES,
                 "The policies ask for %s, but %s overruled them: the choice is %s.", wanted,
                 evidence[next->evidence], chosen);
    else if (can_run)
        snprintf(out, EXPLAIN_TEXT_BYTES,
                 "The policies ask for %s; the choice is %s, to measure it.", wanted, chosen);
    else
        snprintf(out, EXPLAIN_TEXT_BYTES,
                 "The policies ask for %s, which cannot run now; of the rest, the choice is %s.",
                 wanted, chosen);
}

size_t explain_turns(const struct explain_subject *subject,
                     char out[EXPLAIN_TURNS_MAX][EXPLAIN_TEXT_BYTES])
{
    const struct vyre_explanation *explanation = subject->explanation;
    size_t count = 0;
    if (subject->repeats)
        snprintf(out[count++], EXPLAIN_TEXT_BYTES, "%s", subject->repeats);
    if (!subject->has_policies)
        return count;
    explain_reuse_turn(subject, out[count++]);
    explain_resident_turn(subject, out[count++]);
    if ((uint8_t)explanation->wanted != explanation->next.mode &&
        explanation->next.why != VYRE_WHY_REQUIRED)
        explain_difference(explanation, out[count++]);
    return count;
}
