/*
 * query.h: questions to a driver that may answer nonsense.
 *
 * A driver may claim any size, leave a text unterminated or write less than it says. Every answer
 * goes into zeroed memory of a fixed size; what does not fit is not asked for.
 */
#ifndef VYRE_BACKEND_OPENCL_QUERY_H
#define VYRE_BACKEND_OPENCL_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#include "backend/opencl/loader.h"

/* Texts longer than this are not read at all. */
#define VYRE_CL_TEXT_BYTES_MAX 16384

/* Texts are cut to fit, always terminated, and "" if the driver gives nothing usable. */
void vyre_cl_device_text(const struct vyre_cl_api *api, cl_device_id device, cl_device_info what,
                         char *out, size_t capacity);
void vyre_cl_platform_text(const struct vyre_cl_api *api, cl_platform_id platform,
                           cl_platform_info what, char *out, size_t capacity);

/* A value of exactly `size_bytes`; zeroed and false if the driver's answer has another size. */
bool vyre_cl_device_value(const struct vyre_cl_api *api, cl_device_id device, cl_device_info what,
                          void *out, size_t size_bytes);

/* Whether `word` is in a list of words separated by spaces. */
bool vyre_cl_has_word(const char *words, const char *word);

/* "OpenCL 3.0 ..." gives 300, "OpenCL C 1.2 ..." gives 120; 0: not a version. */
unsigned vyre_cl_version_of(const char *text);

#endif
