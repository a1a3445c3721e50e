/*
 * page.h: the page of `vyre report` in two parts, before and behind its data.
 *
 * The bytes are generated from report/ by cmake/embed_report.cmake.
 */
#ifndef VYRE_CLI_REPORT_PAGE_H
#define VYRE_CLI_REPORT_PAGE_H

#include <stddef.h>

extern const unsigned char cli_report_before[];
extern const size_t cli_report_before_size;
extern const unsigned char cli_report_after[];
extern const size_t cli_report_after_size;

#endif
