/*
 * export.h: marks shared by all public headers.
 */
#ifndef VYRE_EXPORT_H
#define VYRE_EXPORT_H

#if defined(__GNUC__) || defined(__clang__)
/* Marks what the shared library exports; everything else is hidden. */
#define VYRE_API __attribute__((visibility("default")))
/* Marks functions whose result must be used. */
#define VYRE_NODISCARD __attribute__((warn_unused_result))
/*
 * Makes the compiler check a format string: the numbers of its parameter and of the first argument.
 */
#define VYRE_PRINTF(fmt, va) __attribute__((format(printf, fmt, va)))
#else
#define VYRE_API
#define VYRE_NODISCARD
#define VYRE_PRINTF(fmt, va)
#endif

#endif
