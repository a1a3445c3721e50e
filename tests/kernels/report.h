/*
 * report.h: a failure as people read it.
 */
#ifndef VYRE_TESTS_KERNELS_REPORT_H
#define VYRE_TESTS_KERNELS_REPORT_H

#include "kernels/campaign.h"

/* What failed, and the line that makes it fail again. */
void report_failure(const struct campaign *campaign, const struct outcome *outcome);

/* The program as OpenCL C, with its dispatches. */
void report_program(const struct program *program);

#endif
