/*
 * answer.h: prints the answer of a policy.
 *
 *   form  one answer                                        answers of a table
 *   text  the verdict, or NAME=VALUE lines; one sentence    CSV under a line of column names
 *   JSON  {"policy":...,"verdict":...,"explanation":...}    {"policy":...,"rows":[{...},...]}
 *
 * Numbers are whole and exact in both forms, no matter how large.
 */
#ifndef VYRE_CLI_DECIDE_ANSWER_H
#define VYRE_CLI_DECIDE_ANSWER_H

#include <stdbool.h>

#include "decide/policy_table.h"
#include "terminal/output.h"

enum cli_form {
    CLI_FORM_TEXT = 0,
    CLI_FORM_JSON = 1,
};

/* A single answer with its explanation. */
void cli_answer_print(const struct cli_policy *policy, const struct cli_answer *answer,
                      const char *explanation, enum cli_form form, struct cli_output *out);

/* A table has a begin, rows and an end; with its end a JSON table is a complete document. */
void cli_answer_begin_table(const struct cli_policy *policy, enum cli_form form,
                            struct cli_output *out);
void cli_answer_print_row(const struct cli_policy *policy, const struct cli_answer *answer,
                          enum cli_form form, bool is_first, struct cli_output *out);
void cli_answer_end_table(enum cli_form form, struct cli_output *out);

#endif
