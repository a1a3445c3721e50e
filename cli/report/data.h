/*
 * data.h: a record in the form that the page of `vyre report` reads.
 */
#ifndef VYRE_CLI_REPORT_DATA_H
#define VYRE_CLI_REPORT_DATA_H

#include "record/record.h"
#include "terminal/output.h"

/*
 * Writes one JSON document that is safe inside a script element: `<`, `>` and `&` are escaped. Batches
 * are written as columns; each shape and each kind of work is written once. `source` is the name of the
 * record. False when memory ran out.
 */
bool cli_report_data(const struct record *record, const char *source, struct cli_output *out);

#endif
