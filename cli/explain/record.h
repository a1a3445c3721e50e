/*
 * record.h: `vyre explain OUT.json --batch N`, for a batch that ran.
 */
#ifndef VYRE_CLI_EXPLAIN_RECORD_H
#define VYRE_CLI_EXPLAIN_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "command.h"

/*
 * Explains the batch whose ticket has this number, on each device that has one: its inputs and their
 * origin, the candidates, the choice and its reason, the predicted and the measured time. Prints a
 * diagnostic if the record is damaged. If the batch is not in it: RECORD_BATCH, CLI_EXIT_BAD_INPUT.
 */
enum cli_exit cli_explain_record(const char *path, uint64_t batch, bool as_json,
                                 struct cli_output *out);

#endif
