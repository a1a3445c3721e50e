/*
 * print.c: what `vyre explain` says about a batch, as text or as JSON.
 */
#include "explain/print.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "terminal/grid.h"
#include "terminal/progress.h"
#include "terminal/units.h"

#define WIDTH      98
#define LINE_BYTES 1024

/* ---- For people ------------------------------------------------------------------------------- */

/* Texts of devices come from outside: control characters must not reach the terminal. */
static void make_plain(char *text)
{
    for (; *text; text++) {
        unsigned char code = (unsigned char)*text;
        if (code < 0x20 || code == 0x7f)
            *text = '?';
    }
}

void explain_wrapped(struct cli_output *out, size_t indent, const char *text)
{
    while (*text) {
        size_t room = WIDTH - indent;
        size_t length = strlen(text);
        if (length > room) {
            for (length = room; length > 0 && text[length] != ' ';)
                length--;
            length = length ? length : strcspn(text, " ");
        }
        char line[LINE_BYTES];
        snprintf(line, sizeof line, "%*s%.*s", (int)indent, "", (int)length, text);
        make_plain(line);
        cli_output_text(out, line);
        cli_output_text(out, "\n");
        text += length;
        text += strspn(text, " ");
    }
}

static void input_text(const struct explain_input *input, char *out, size_t capacity)
{
    static const char *const support[] = {"unsupported", "static", "full"};
    bool is_support = input->policy == VYRE_POLICY_BINDLESS && strcmp(input->name, "support") == 0;
    const struct cli_unit value =
        input->is_time ? cli_unit_ns(input->value) : cli_unit_count(input->value);
    const char *text = value.text;
    if (is_support)
        text = input->value < 3 ? support[input->value] : "unknown";
    snprintf(out, capacity, "%s %s (%s)", input->name, text, input->origin);
}

static void print_given(const struct explain_input *inputs, size_t count, enum vyre_policy policy,
                        struct cli_output *out)
{
    char text[LINE_BYTES] = "given";
    size_t used = strlen(text);
    for (size_t i = 0; i < count; i++) {
        char one[128];
        if (inputs[i].policy != policy)
            continue;
        input_text(&inputs[i], one, sizeof one);
        int added = snprintf(text + used, sizeof text - used, "%s%s",
                             used > strlen("given") ? ", " : " ", one);
        used += added > 0 ? (size_t)added : 0;
    }
    explain_wrapped(out, 6, text);
}

void explain_print_policies(const struct explain_subject *subject, struct cli_output *out)
{
    struct explain_input inputs[EXPLAIN_INPUTS_MAX];
    size_t count = explain_inputs(subject->explanation, inputs);
    cli_output_text(out, "\n  What the policies say:\n");
    for (int policy = VYRE_POLICY_PERSISTENT_KERNEL; policy < VYRE_POLICY_COUNT; policy++) {
        char verdict[VYRE_VERDICT_TEXT_BYTES], sentence[EXPLAIN_TEXT_BYTES], line[LINE_BYTES];
        explain_verdict(subject->explanation, (enum vyre_policy)policy, verdict, sentence);
        snprintf(line, sizeof line, "    %s: %s\n", vyre_policy_name((enum vyre_policy)policy),
                 verdict[0] ? verdict : "nothing to decide");
        cli_output_text(out, line);
        explain_wrapped(out, 6, sentence);
        print_given(inputs, count, (enum vyre_policy)policy, out);
    }
}

static bool any_measured(const struct vyre_decision_record *next)
{
    bool any = false;
    for (uint32_t i = 0; i < next->candidate_count; i++)
        any |= next->candidates[i].count > 0;
    return any;
}

/* Says what the names of variants mean, if some are listed. */
static void print_variants(const struct vyre_decision_record *next, struct cli_output *out)
{
    unsigned variants = 0;
    for (uint32_t i = 0; i < next->candidate_count; i++)
        variants |= next->candidates[i].variant;
    if (variants & VYRE_VARIANT_SERIAL)
        cli_output_text(out, "    (serial: one command after another; without it, side by side "
                             "where possible)\n");
    if (variants & VYRE_VARIANT_DRIVER)
        cli_output_text(
            out, "    (driver: the driver's own recording instead of a list that Vyre keeps)\n");
}

/* How well it is known, how often it was measured, and when it is measured again. */
static void add_windows(struct cli_grid *grid, const struct vyre_decision_candidate *candidate)
{
    char within[32] = "-";
    if (candidate->windows)
        snprintf(within, sizeof within, "%u.%u %%", candidate->error_bps / 100,
                 candidate->error_bps / 10 % 10);
    cli_grid_add(grid, within);
    cli_grid_add(grid, cli_unit_count(candidate->count).text);
    cli_grid_add(grid, cli_unit_count(candidate->windows).text);
    cli_grid_add(grid, candidate->look_at ? cli_unit_count(candidate->look_at).text : "-");
}

void explain_print_candidates(const struct explain_subject *subject, struct cli_output *out)
{
    static const char *const heads[] = {"candidate", "predicted", "measured", "within",
                                        "times",     "windows",   "again at", ""};
    static const char *const heads_unmeasured[] = {"candidate", "predicted", ""};
    const struct vyre_decision_record *next = &subject->explanation->next;
    bool measured = any_measured(next);
    struct cli_grid grid;
    cli_grid_init(&grid, measured ? "lrrrrrrl" : "lrl", measured ? heads : heads_unmeasured,
                  cli_colour_wanted(STDOUT_FILENO));
    for (uint32_t i = 0; i < next->candidate_count; i++) {
        const struct vyre_decision_candidate *candidate = &next->candidates[i];
        char text[EXPLAIN_TEXT_BYTES];
        explain_way(candidate->mode, candidate->variant, text);
        cli_grid_add(&grid, text);
        cli_grid_add(&grid, candidate->state == VYRE_CANDIDATE_OUT
                                ? "-"
                                : cli_unit_ns(candidate->predicted_ns).text);
        if (measured) {
            cli_grid_add(&grid, candidate->count ? cli_unit_ns(candidate->measured_ns).text : "-");
            add_windows(&grid, candidate);
        }
        explain_candidate(subject, i, text);
        make_plain(text);
        cli_grid_add(&grid, text);
    }
    cli_output_text(out, "\n  Ways to run it, each with its share of the one-time cost:\n");
    cli_grid_print(&grid, 4, out);
    cli_grid_deinit(&grid);
    print_variants(next, out);
}

void explain_print_turns(const struct explain_subject *subject, struct cli_output *out)
{
    char turns[EXPLAIN_TURNS_MAX][EXPLAIN_TEXT_BYTES];
    size_t count = explain_turns(subject, turns);
    if (count > 0)
        cli_output_text(out, "\n  What would change the choice:\n");
    for (size_t i = 0; i < count; i++)
        explain_wrapped(out, 4, turns[i]);
}

/* ---- JSON ------------------------------------------------------------------------------------- */

void explain_policies_json(const struct explain_subject *subject, struct cli_json *json)
{
    struct explain_input inputs[EXPLAIN_INPUTS_MAX];
    size_t count = explain_inputs(subject->explanation, inputs);
    cli_json_array(json, "policies");
    for (int policy = VYRE_POLICY_PERSISTENT_KERNEL;
         subject->has_policies && policy < VYRE_POLICY_COUNT; policy++) {
        char verdict[VYRE_VERDICT_TEXT_BYTES], sentence[EXPLAIN_TEXT_BYTES];
        explain_verdict(subject->explanation, (enum vyre_policy)policy, verdict, sentence);
        cli_json_object(json, NULL);
        cli_json_text(json, "policy", vyre_policy_name((enum vyre_policy)policy));
        cli_json_array(json, "inputs");
        for (size_t i = 0; i < count; i++) {
            if (inputs[i].policy != (enum vyre_policy)policy)
                continue;
            cli_json_object(json, NULL);
            cli_json_text(json, "name", inputs[i].name);
            cli_json_u64(json, "value", inputs[i].value);
            cli_json_text(json, "origin", inputs[i].origin);
            cli_json_end_object(json);
        }
        cli_json_end_array(json);
        cli_json_text(json, "verdict", verdict[0] ? verdict : NULL);
        cli_json_text(json, "because", sentence);
        cli_json_end_object(json);
    }
    cli_json_end_array(json);
}

void explain_candidates_json(const struct explain_subject *subject, struct cli_json *json)
{
    cli_json_array(json, "candidates");
    for (uint32_t i = 0; i < subject->explanation->next.candidate_count; i++) {
        const struct vyre_decision_candidate *candidate = &subject->explanation->next.candidates[i];
        char text[EXPLAIN_TEXT_BYTES];
        explain_candidate(subject, i, text);
        cli_json_object(json, NULL);
        cli_json_text(json, "mode", vyre_mode_name((enum vyre_mode)candidate->mode));
        cli_json_u64(json, "variant", candidate->variant);
        cli_json_flag(json, "out", candidate->state == VYRE_CANDIDATE_OUT);
        cli_json_u64(json, "predicted_ns", candidate->predicted_ns);
        cli_json_u64(json, "measured_ns", candidate->measured_ns);
        cli_json_u64(json, "measured_count", candidate->count);
        cli_json_u64(json, "windows", candidate->windows);
        cli_json_u64(json, "error_bps", candidate->error_bps);
        cli_json_u64(json, "look_at", candidate->look_at);
        cli_json_text(json, "why", vyre_why_name((enum vyre_why)candidate->why));
        cli_json_text(json, "because", text);
        cli_json_end_object(json);
    }
    cli_json_end_array(json);
}

static void turn_json(struct cli_json *json, const char *key, uint32_t from)
{
    if (from == VYRE_REPEATS_NEVER)
        cli_json_null(json, key);
    else
        cli_json_u64(json, key, from);
}

void explain_turns_json(const struct explain_subject *subject, struct cli_json *json)
{
    const struct vyre_explanation *explanation = subject->explanation;
    turn_json(json, "replay_from_repeats",
              subject->has_policies ? explanation->replay_from_repeats : VYRE_REPEATS_NEVER);
    turn_json(json, "persistent_from_commands",
              subject->has_policies ? explanation->persistent_from_commands : VYRE_REPEATS_NEVER);
}
