/*
 * answer.c: prints the answer of a policy.
 */
#include "decide/answer.h"

static void print_cell(const struct cli_policy *policy, const struct cli_answer *answer,
                       size_t column, enum cli_form form, struct cli_output *out)
{
    struct cli_span word = {answer->verdict, answer->word_size};
    bool is_json = form == CLI_FORM_JSON;
    enum cli_output_type type = policy->outputs[column].type;
    if (type == CLI_OUTPUT_WORD && is_json)
        cli_output_json_string(out, word);
    else if (type == CLI_OUTPUT_WORD)
        cli_output_bytes(out, word.bytes, word.size);
    else if (type == CLI_OUTPUT_FLAG && is_json)
        cli_output_text(out, vyre_u128_is_zero(answer->numbers[column]) ? "false" : "true");
    else
        cli_output_number(out, answer->numbers[column]);
}

/* "name":value,... without the braces */
static void print_members(const struct cli_policy *policy, const struct cli_answer *answer,
                          struct cli_output *out)
{
    for (size_t i = 0; i < policy->output_count; i++) {
        cli_output_text(out, i == 0 ? "\"" : ",\"");
        cli_output_text(out, policy->outputs[i].name);
        cli_output_text(out, "\":");
        print_cell(policy, answer, i, CLI_FORM_JSON, out);
    }
}

static void print_one_json(const struct cli_policy *policy, const struct cli_answer *answer,
                           const char *explanation, struct cli_output *out)
{
    cli_output_text(out, "{\"policy\":\"");
    cli_output_text(out, policy->name);
    cli_output_text(out, "\",");
    print_members(policy, answer, out);
    cli_output_text(out, ",\"explanation\":");
    cli_output_json_string(out, cli_span_of(explanation));
    cli_output_text(out, "}\n");
}

static void print_one_text(const struct cli_policy *policy, const struct cli_answer *answer,
                           const char *explanation, struct cli_output *out)
{
    if (answer->verdict[0] != '\0') {
        cli_output_text(out, answer->verdict);
        cli_output_text(out, "\n");
    } else {
        for (size_t i = 0; i < policy->output_count; i++) {
            cli_output_text(out, policy->outputs[i].name);
            cli_output_text(out, "=");
            print_cell(policy, answer, i, CLI_FORM_TEXT, out);
            cli_output_text(out, "\n");
        }
    }
    cli_output_text(out, explanation);
    cli_output_text(out, "\n");
}

void cli_answer_print(const struct cli_policy *policy, const struct cli_answer *answer,
                      const char *explanation, enum cli_form form, struct cli_output *out)
{
    if (form == CLI_FORM_JSON)
        print_one_json(policy, answer, explanation, out);
    else
        print_one_text(policy, answer, explanation, out);
}

void cli_answer_begin_table(const struct cli_policy *policy, enum cli_form form,
                            struct cli_output *out)
{
    if (form == CLI_FORM_JSON) {
        cli_output_text(out, "{\"policy\":\"");
        cli_output_text(out, policy->name);
        cli_output_text(out, "\",\"rows\":[");
        return;
    }
    for (size_t i = 0; i < policy->output_count; i++) {
        cli_output_text(out, i == 0 ? "" : ",");
        cli_output_text(out, policy->outputs[i].name);
    }
    cli_output_text(out, "\n");
}

void cli_answer_print_row(const struct cli_policy *policy, const struct cli_answer *answer,
                          enum cli_form form, bool is_first, struct cli_output *out)
{
    if (form == CLI_FORM_JSON) {
        cli_output_text(out, is_first ? "\n{" : ",\n{");
        print_members(policy, answer, out);
        cli_output_text(out, "}");
        return;
    }
    for (size_t i = 0; i < policy->output_count; i++) {
        if (i > 0)
            cli_output_bytes(out, ",", 1);
        print_cell(policy, answer, i, form, out);
    }
    cli_output_bytes(out, "\n", 1);
}

void cli_answer_end_table(enum cli_form form, struct cli_output *out)
{
    if (form == CLI_FORM_JSON)
        cli_output_text(out, "\n]}\n");
}
