/*
 * note.h: keeps the decision record of a submission.
 */
#ifndef VYRE_RUNTIME_NOTE_H
#define VYRE_RUNTIME_NOTE_H

#include "runtime/decide.h"

/*
 * Counts the decision and keeps a record of it if its turn came or it is worth knowing: a trial, a
 * change. `governed` is NULL when the caller required the mode. Returns the record's ticket for
 * measure.h; 0: none. The caller holds the device's lock.
 */
uint64_t vyre_note_decision_locked(struct vyre_device *device, const struct vyre_body *body,
                                   uint32_t repeat_hint, const struct vyre_mode_choice *choice,
                                   const struct vyre_governor_choice *governed, bool timed);

/* Fills the candidates of a record. */
void vyre_note_candidates(const struct vyre_device *device,
                          const struct vyre_governor_choice *governed,
                          struct vyre_decision_record *record);

#endif
