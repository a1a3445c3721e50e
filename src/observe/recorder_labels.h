/*
 * recorder_labels.h: the labels that a record has defined, so that each is written once.
 *
 *   slots   [ 0 | 7 | 0 | 2 | ... ]   open addressing: number of the label, 0 empty
 *   entries [ hash, where, size ]     label n is entries[n - 1]
 *   bytes   [ matvec softmax ... ]
 */
#ifndef VYRE_OBSERVE_RECORDER_LABELS_H
#define VYRE_OBSERVE_RECORDER_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORD_LABELS_MAX   4096
#define RECORD_LABEL_SLOTS  8192 /* a power of two, twice as many */
#define RECORD_LABEL_MEMORY 262144

struct vyre_record_label {
    uint32_t hash;
    uint32_t offset;
    uint32_t size;
};

/* A zeroed table is empty. */
struct vyre_record_labels {
    uint32_t count;
    uint32_t used_bytes;
    uint16_t slots[RECORD_LABEL_SLOTS];
    struct vyre_record_label entries[RECORD_LABELS_MAX];
    char bytes[RECORD_LABEL_MEMORY];
};

/*
 * The number of a label, from 1. 0: it is not there, and *out_slot says where it belongs, for
 * vyre_record_labels_add.
 */
uint32_t vyre_record_labels_find(const struct vyre_record_labels *labels, const char *label,
                                 size_t size, size_t *out_slot);

/* Whether one more label of that size can be kept. */
bool vyre_record_labels_have_room(const struct vyre_record_labels *labels, size_t size);

/* Adds a label that was not found and for which there is room. Returns its number. */
uint32_t vyre_record_labels_add(struct vyre_record_labels *labels, const char *label, size_t size,
                                size_t slot);

#endif
