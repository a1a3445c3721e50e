/*
 * record.h: `vyre explain OUT.json --batch N`, for a batch that ran.
 */
#ifndef VYRE_CLI_EXPLAIN_RECORD_H
#define VYRE_CLI_EXPLAIN_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "command.h"

/*
 * Explains the batch with that number (of its ticket; on each device that has one): its inputs with
 * their origin, the candidates, what was chosen and why, and predicted against measured. Prints what
 * is wrong with the record; a batch that is not in it gives RECORD_BATCH and CLI_EXIT_BAD_INPUT.
 */
enum cli_exit cli_explain_record(const char *path, uint64_t batch, bool as_json,
                                 struct cli_output *out);

#endif
