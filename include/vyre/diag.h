/*
 * diag.h: why a call failed and what to do about it.
 *
 * Every function that can fail takes an optional `struct vyre_diag *diag`, owned by the caller and
 * of fixed size: filling it allocates nothing. Pass NULL to get the status alone. A successful call
 * leaves the diagnostic as it was.
 *
 * All ids stand in diag_ids.def; the enum below, the tables of names and docs/errors.md come from
 * that file. Programs and tests compare ids; the wording may change at any time.
 *
 * Thread-safety: the functions are pure or touch only the caller's diagnostic.
 */
#ifndef VYRE_DIAG_H
#define VYRE_DIAG_H

#include <stddef.h>
#include <stdint.h>

#include <vyre/export.h>
#include <vyre/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every diagnostic. Numbers and names are stable. */
enum vyre_diag_id {
#define VYRE_DIAG_ID(symbol, number, name, status, summary, fix) VYRE_DIAG_##symbol = (number),
#include <vyre/diag_ids.def>
#undef VYRE_DIAG_ID
};

/* Bytes of a diagnostic's label, the terminator included. */
#define VYRE_DIAG_LABEL_BYTES 64
/* Bytes of a diagnostic's message, the terminator included. */
#define VYRE_DIAG_MESSAGE_BYTES 320
/* Bytes of a diagnostic's fix, the terminator included. */
#define VYRE_DIAG_FIX_BYTES 192

/*
 * A diagnostic. Texts are always terminated; one that does not fit is cut between two UTF-8
 * characters and ends in "...".
 */
struct vyre_diag {
    enum vyre_status status;
    enum vyre_diag_id id;
    int64_t native_code;               /* what the driver or the system returned; 0: neither did */
    char label[VYRE_DIAG_LABEL_BYTES]; /* the object's label, or "" */
    char message[VYRE_DIAG_MESSAGE_BYTES];
    char fix[VYRE_DIAG_FIX_BYTES];
};

/* Sets a diagnostic back to "none": VYRE_OK, VYRE_DIAG_NONE, empty texts. NULL is ignored. */
VYRE_API void vyre_diag_reset(struct vyre_diag *diag);

/*
 * Fills `diag` (if given) with the id's status and fix and a formatted message, and returns that
 * status, so that a failure is one statement. `label` may be NULL. Meant for backends, which are
 * written against this header alone.
 */
VYRE_API enum vyre_status vyre_diag_set(struct vyre_diag *diag, enum vyre_diag_id id,
                                        const char *label, int64_t native_code, const char *message,
                                        ...) VYRE_PRINTF(5, 6);

/* Replaces the fix of a diagnostic by a more precise one than the table's. NULL diag is ignored. */
VYRE_API void vyre_diag_set_fix(struct vyre_diag *diag, const char *fix, ...) VYRE_PRINTF(2, 3);

/*
 * Writes "error[name]: message (in label) (native code N)\n  fix: ..." as snprintf does: always
 * terminated when `capacity` is not 0, and returns the length that the whole text has.
 */
VYRE_API size_t vyre_diag_format(const struct vyre_diag *diag, char *out, size_t capacity);

/*
 * As vyre_diag_format, with the name from the caller instead of the library's table: for programs
 * that put ids of their own (900 to 999) into diagnostics.
 */
VYRE_API size_t vyre_diag_format_named(const struct vyre_diag *diag, const char *name, char *out,
                                       size_t capacity);

/* The stable name of an id, as in docs/errors.md; "unknown" for an id outside the enum. Static. */
VYRE_API const char *vyre_diag_id_name(enum vyre_diag_id id);

/* The status that an id comes with; VYRE_INTERNAL for an id outside the enum. */
VYRE_API enum vyre_status vyre_diag_id_status(enum vyre_diag_id id);

/* What an id means, in a sentence; "" for an id outside the enum. Static. */
VYRE_API const char *vyre_diag_id_summary(enum vyre_diag_id id);

/* What to do about an id, in a sentence; "" for an id outside the enum. Static. */
VYRE_API const char *vyre_diag_id_fix(enum vyre_diag_id id);

#ifdef __cplusplus
}
#endif

#endif
