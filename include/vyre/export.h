/*
 * export.h: marks shared by all public headers.
 *
 * VYRE_API        exported from the shared library (everything else is hidden)
 * VYRE_NODISCARD  ignoring the result is a bug
 * VYRE_PRINTF     the compiler checks the format string
 */
#ifndef VYRE_EXPORT_H
#define VYRE_EXPORT_H

#if defined(__GNUC__) || defined(__clang__)
#define VYRE_API             __attribute__((visibility("default")))
#define VYRE_NODISCARD       __attribute__((warn_unused_result))
#define VYRE_PRINTF(fmt, va) __attribute__((format(printf, fmt, va)))
#else
#define VYRE_API
#define VYRE_NODISCARD
#define VYRE_PRINTF(fmt, va)
#endif

#endif
