/*
 * data.h: a record as the page of `vyre report` reads it.
 */
#ifndef VYRE_CLI_REPORT_DATA_H
#define VYRE_CLI_REPORT_DATA_H

#include "record/record.h"
#include "terminal/output.h"

/*
 * Writes one JSON document that can stand inside a script element: `<`, `>` and `&` are escaped.
 * Batches are columns; shapes and what a batch does are written once. `source` names the record.
 * False when memory ran out.
 */
bool cli_report_data(const struct record *record, const char *source, struct cli_output *out);

#endif
