/*
 * shape_notes.h: what is found out once per shape beside what the governor learns.
 *
 * One note per entry of the governor's table, at the same index; a note whose serial is not the
 * entry's belongs to a shape that was forgotten.
 *
 * Thread-safety: the caller holds the device's lock.
 */
#ifndef VYRE_RUNTIME_SHAPE_NOTES_H
#define VYRE_RUNTIME_SHAPE_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include <vyre/hash.h>
#include <vyre/policy.h>

struct vyre_shape_note {
    uint64_t serial;
    bool planned; /* the two verdicts are known */
    struct vyre_arm_verdict arms;
    struct vyre_copy_verdict copy;
    uint16_t checked;  /* candidates, as bits, whose fitness is known */
    uint16_t unfit;    /* candidates, as bits, that cannot run this shape */
    uint16_t poor;     /* candidates, as bits, that could, but should not in auto */
    uint16_t failed;   /* candidates, as bits, that were tried and failed ... */
    uint16_t unproven; /* of the unfit and the failed ones: for their generated code */
    uint32_t retry_at; /* ... until the shape was seen so often */
    uint32_t recorded; /* recordings made of it */
    uint8_t missed;    /* batches in a row whose end nobody saw */
    bool stable_known;
    bool has_stable; /* it has a stable shape: stable_shape.h */
    struct vyre_hash128 stable;
    uint8_t wanted; /* enum vyre_mode: what the verdicts asked for at the last comparison */
};

#endif
