/*
 * print.h: what `vyre explain` says about a batch, as text or as JSON.
 *
 * explain.c uses the parts for batches that would run, record.c for batches that ran.
 */
#ifndef VYRE_CLI_EXPLAIN_PRINT_H
#define VYRE_CLI_EXPLAIN_PRINT_H

#include <vyre/vyre.h>

#include "terminal/json.h"
#include "terminal/output.h"

#define EXPLAIN_TEXT_BYTES 400
#define EXPLAIN_INPUTS_MAX 17
#define EXPLAIN_TURNS_MAX  4

/* One batch and what is known of it. */
struct explain_subject {
    const struct vyre_explanation *explanation; /* Borrowed, as all texts */
    uint32_t repeat_hint;
    bool has_policies;                   /* false: only the candidates are known */
    const char *absent[VYRE_MODE_COUNT]; /* why the device lacks the mode; NULL or "": it has it */
    const char *repeats; /* how many repeats would change the choice; NULL: not known */
};

/* ---- Parts, as text ------------------------------------------------------------------- */

/* Breaks a sentence into lines of readable length, each indented. */
void explain_wrapped(struct cli_output *out, size_t indent, const char *text);

/* What the six policies say, with the arithmetic and their inputs. */
void explain_print_policies(const struct explain_subject *subject, struct cli_output *out);

/* Each way to run the batch, with its cost or the reason why it cannot run. */
void explain_print_candidates(const struct explain_subject *subject, struct cli_output *out);

/* What would change the choice. */
void explain_print_turns(const struct explain_subject *subject, struct cli_output *out);

/* ---- The same as JSON ----------------------------------------------------------------- */

void explain_policies_json(const struct explain_subject *subject, struct cli_json *json);
void explain_candidates_json(const struct explain_subject *subject, struct cli_json *json);
/* "replay_from_repeats", "persistent_from_commands"; null: never. */
void explain_turns_json(const struct explain_subject *subject, struct cli_json *json);

/* ---- Words: words.c ------------------------------------------------------------------- */

struct explain_input {
    enum vyre_policy policy;
    const char *name;
    uint64_t value;
    bool is_time; /* in ns */
    const char *origin;
};

/* The inputs of all policies; returns how many. */
size_t explain_inputs(const struct vyre_explanation *explanation,
                      struct explain_input out_inputs[EXPLAIN_INPUTS_MAX]);

/* The verdict's stable text, and one sentence with its arithmetic. */
void explain_verdict(const struct vyre_explanation *explanation, enum vyre_policy policy,
                     char out_verdict[VYRE_VERDICT_TEXT_BYTES],
                     char out_sentence[EXPLAIN_TEXT_BYTES]);

/* "replay, serial" and so on. */
void explain_way(uint8_t mode, uint8_t variant, char out[EXPLAIN_TEXT_BYTES]);

/* The reason for the choice, as the end of a sentence. */
const char *explain_why(uint8_t why);

/* Why the candidate was chosen, was not chosen, or cannot run. */
void explain_candidate(const struct explain_subject *subject, uint32_t candidate,
                       char out[EXPLAIN_TEXT_BYTES]);

/* Sentences on what would change the choice; returns how many. */
size_t explain_turns(const struct explain_subject *subject,
                     char out[EXPLAIN_TURNS_MAX][EXPLAIN_TEXT_BYTES]);

#endif
