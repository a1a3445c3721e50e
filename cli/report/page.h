/*
 * page.h: the page of `vyre report` in two parts, before and after its data.
 *
 * cmake/embed_report.cmake generates the bytes from report/page/.
 */
#ifndef VYRE_CLI_REPORT_PAGE_H
#define VYRE_CLI_REPORT_PAGE_H

#include <stddef.h>

extern const unsigned char cli_report_before[];
extern const size_t cli_report_before_size;
extern const unsigned char cli_report_after[];
extern const size_t cli_report_after_size;

#endif
