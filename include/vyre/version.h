/*
 * version.h: the one place where the version is written; the build reads it from here.
 *
 * Thread-safety: pure functions.
 */
#ifndef VYRE_VERSION_H
#define VYRE_VERSION_H

#include <vyre/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The first number of the version. */
#define VYRE_VERSION_MAJOR 0
/* The second number of the version. */
#define VYRE_VERSION_MINOR 1
/* The third number of the version. */
#define VYRE_VERSION_PATCH 0

/* Bumped on every incompatible change before 1.0; the SONAME is libvyre.so.<this>. */
#define VYRE_ABI_VERSION 2

/* The version of the library that is loaded, for example "0.1.0". Static storage. */
VYRE_API const char *vyre_version_string(void);

#ifdef __cplusplus
}
#endif

#endif
