/*
 * recorder_labels.c: the labels that a record has defined.
 */
#include "observe/recorder_labels.h"

#include <string.h>

static uint32_t hash_of(const char *bytes, size_t size)
{
    uint64_t hash = size * UINT64_C(0x9e3779b97f4a7c15);
    while (size > 0) {
        uint64_t word = 0;
        size_t taken = size < sizeof word ? size : sizeof word;
        memcpy(&word, bytes, taken);
        hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
        bytes += taken;
        size -= taken;
    }
    return (uint32_t)hash;
}

uint32_t vyre_record_labels_find(const struct vyre_record_labels *labels, const char *label,
                                 size_t size, size_t *out_slot)
{
    uint32_t hash = hash_of(label, size);
    size_t slot = hash % RECORD_LABEL_SLOTS;
    /* Never full: there are twice as many slots as labels. */
    for (; labels->slots[slot] != 0; slot = (slot + 1) % RECORD_LABEL_SLOTS) {
        const struct vyre_record_label *entry = &labels->entries[labels->slots[slot] - 1];
        if (entry->hash == hash && entry->size == size &&
            memcmp(labels->bytes + entry->offset, label, size) == 0)
            return labels->slots[slot];
    }
    *out_slot = slot;
    return 0;
}

bool vyre_record_labels_have_room(const struct vyre_record_labels *labels, size_t size)
{
    return labels->count < RECORD_LABELS_MAX && size <= RECORD_LABEL_MEMORY - labels->used_bytes;
}

uint32_t vyre_record_labels_add(struct vyre_record_labels *labels, const char *label, size_t size,
                                size_t slot)
{
    struct vyre_record_label *entry = &labels->entries[labels->count++];
    *entry = (struct vyre_record_label){hash_of(label, size), labels->used_bytes, (uint32_t)size};
    memcpy(labels->bytes + entry->offset, label, size);
    labels->used_bytes += entry->size;
    labels->slots[slot] = (uint16_t)labels->count;
    return labels->count;
}
