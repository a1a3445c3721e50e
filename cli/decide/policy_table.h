/*
 * policy_table.h: the policies that `vyre decide` knows, as data.
 *
 * A policy is one row: its name, its inputs, the columns of its answer, and the functions that ask the
 * library. The readers of tables and of the command line, the output and the help all use that row.
 */
#ifndef VYRE_CLI_DECIDE_POLICY_TABLE_H
#define VYRE_CLI_DECIDE_POLICY_TABLE_H

#include <stddef.h>

#include <vyre/vyre.h>

#include "decide/value.h"
#include "terminal/span.h"

/* The most columns that an answer has. */
#define CLI_OUTPUTS_MAX 6

enum cli_output_type {
    CLI_OUTPUT_WORD,   /* the verdict */
    CLI_OUTPUT_NUMBER, /* a whole number */
    CLI_OUTPUT_FLAG,   /* 0 or 1; false or true in JSON */
};

struct cli_output_column {
    const char *name;
    enum cli_output_type type;
};

struct cli_answer {
    char verdict[VYRE_VERDICT_TEXT_BYTES]; /* the library's text; "" if there is none */
    size_t word_size; /* bytes of it to print in a table, where savings have their own column */
    struct vyre_u128 numbers[CLI_OUTPUTS_MAX]; /* by output column */
};

struct cli_policy {
    const char *name;
    const char *question;
    const struct cli_input *inputs;
    size_t input_count;
    const struct cli_output_column *outputs;
    size_t output_count;

    /* Asks the library. Fails only if the library does. */
    enum vyre_status (*decide)(const struct cli_value *values, struct cli_answer *out_answer,
                               struct vyre_diag *diag);

    /* Writes one sentence with the arithmetic, like snprintf. `answer` comes from `decide`. */
    size_t (*explain)(const struct cli_value *values, const struct cli_answer *answer, char *out,
                      size_t capacity);
};

extern const struct cli_policy cli_policies[];
extern const size_t cli_policy_count;

/* The policy of that name, or NULL. */
const struct cli_policy *cli_policy_find(struct cli_span name);

/* The index of the input of that name, or policy->input_count. */
size_t cli_policy_find_input(const struct cli_policy *policy, struct cli_span name);

#endif
