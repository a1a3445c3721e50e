/*
 * intern.c: numbers for distinct byte strings.
 */
#include "report/intern.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a */
static uint64_t hash_of(const unsigned char *bytes, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 29;
}

static bool grow_slots(struct cli_intern *table)
{
    size_t wanted = table->slot_count ? table->slot_count * 2 : 64;
    size_t *slots = calloc(wanted, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < table->count; i++) {
        size_t slot = table->entries[i].hash & (wanted - 1);
        while (slots[slot] != 0)
            slot = (slot + 1) & (wanted - 1);
        slots[slot] = i + 1;
    }
    free(table->slots);
    table->slots = slots;
    table->slot_count = wanted;
    return true;
}

/* Room for one more entry of `size` bytes. */
static bool make_room(struct cli_intern *table, size_t size)
{
    if (table->count == table->capacity) {
        size_t wanted = table->capacity ? table->capacity * 2 : 32;
        void *grown = realloc(table->entries, wanted * sizeof *table->entries);
        if (!grown)
            return false;
        table->entries = grown;
        table->capacity = wanted;
    }
    if (table->byte_capacity - table->byte_count < size) {
        size_t wanted = table->byte_capacity * 2 + size;
        void *grown = realloc(table->bytes, wanted);
        if (!grown)
            return false;
        table->bytes = grown;
        table->byte_capacity = wanted;
    }
    return table->count * 2 < table->slot_count || grow_slots(table);
}

bool cli_intern_add(struct cli_intern *table, const void *bytes, size_t size, size_t *out_number)
{
    if (!make_room(table, size))
        return false;
    uint64_t hash = hash_of(bytes, size);
    size_t slot = hash & (table->slot_count - 1);
    for (; table->slots[slot] != 0; slot = (slot + 1) & (table->slot_count - 1)) {
        *out_number = table->slots[slot] - 1;
        const struct cli_intern_entry *entry = &table->entries[*out_number];
        if (entry->hash == hash && entry->size == size &&
            memcmp(table->bytes + entry->offset, bytes, size) == 0)
            return true;
    }
    *out_number = table->count;
    table->entries[table->count++] = (struct cli_intern_entry){hash, table->byte_count, size};
    memcpy(table->bytes + table->byte_count, bytes, size);
    table->byte_count += size;
    table->slots[slot] = table->count;
    return true;
}

void cli_intern_deinit(struct cli_intern *table)
{
    free(table->bytes);
    free(table->entries);
    free(table->slots);
    memset(table, 0, sizeof *table);
}
