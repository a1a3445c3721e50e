/*
 * oracle_memory.c: private, local and global memory, and who touched it.
 */
#include <string.h>

#include "kernels/oracle_state.h"

struct home oracle_home(struct oracle *oracle, struct frame *frame, uint32_t number)
{
    const struct variable *variable = &oracle->tree->variables[number];
    const struct function *function = frame->function;
    if (variable->is_pointer) {
        for (uint32_t i = 0; i < function->parameter_count; i++)
            if (function->parameters[i] == number)
                return frame->homes[i];
        oracle_fail(oracle, "a pointer of another function");
        return (struct home){0};
    }
    struct home home = {.space = variable->space,
                        .count = variable->count == 0 ? 1 : variable->count};
    if (variable->space == SPACE_LOCAL) {
        home.local = oracle->offsets[number];
    } else {
        home.cells = frame->cells + oracle->offsets[number];
        home.stride = frame->stride;
    }
    return home;
}

/* ---- Races ------------------------------------------------------------------------------------ */

/* Global memory is never exchanged inside a dispatch: its epoch is 0 throughout. */
static void note_read(struct oracle *oracle, struct touch *touch, uint32_t who, uint32_t epoch)
{
    if (touch->writer != 0 && touch->write_epoch == epoch && touch->writer != who)
        oracle_fail(oracle, "race: read beside a write");
    if (touch->reader != 0 && touch->read_epoch == epoch && touch->reader != who)
        touch->reader = TOUCH_ANYBODY;
    else
        touch->reader = who;
    touch->read_epoch = epoch;
}

static void note_write(struct oracle *oracle, struct touch *touch, uint32_t who, uint32_t epoch)
{
    if (touch->writer != 0 && touch->write_epoch == epoch && touch->writer != who)
        oracle_fail(oracle, "race: two writes");
    if (touch->reader != 0 && touch->read_epoch == epoch && touch->reader != who)
        oracle_fail(oracle, "race: write beside a read");
    touch->writer = who;
    touch->write_epoch = epoch;
    touch->written = true;
}

/* ---- Places ----------------------------------------------------------------------------------- */

static uint32_t who_is(const struct oracle *oracle, const struct home *home, uint32_t item)
{
    return home->space == SPACE_LOCAL ? item + 1 : oracle->group_number * oracle->items + item + 1;
}

/* The first byte and the number of bytes of a cell in global memory; false: out of range. */
static bool find_bytes(struct oracle *oracle, const struct home *home, struct type type,
                       uint32_t element, uint32_t cell, size_t *out_at, uint32_t *out_bytes)
{
    uint32_t size = type_bytes(oracle->tree, type);
    uint32_t offset = 0;
    if (type.base == BASE_STRUCT) {
        offset = field_offset(oracle->tree, type.structure, cell);
        *out_bytes =
            type_bytes(oracle->tree, oracle->tree->structures[type.structure].fields[cell]);
    } else {
        *out_bytes = base_bits(type.base) / 8;
        offset = cell * *out_bytes;
    }
    uint64_t at = (uint64_t)element * size + offset;
    if (at + *out_bytes > home->area->size_bytes) {
        oracle_fail(oracle, "global memory out of range");
        return false;
    }
    *out_at =
        program_buffer_at(oracle->program, home->area->buffer) + home->area->offset_bytes + at;
    return true;
}

/* The cell in local memory, or -1. */
static int64_t find_local(struct oracle *oracle, const struct home *home, struct type type,
                          uint32_t element, uint32_t cell)
{
    if (element >= home->count) {
        oracle_fail(oracle, "local memory out of range");
        return -1;
    }
    return home->local + (int64_t)element * type_cells(oracle->tree, type) + cell;
}

static uint64_t *find_private(struct oracle *oracle, const struct home *home, struct type type,
                              uint32_t item, uint32_t element, uint32_t cell)
{
    if (element >= home->count || !home->cells) {
        oracle_fail(oracle, "private memory out of range");
        return NULL;
    }
    return home->cells + (size_t)item * home->stride +
           (size_t)element * type_cells(oracle->tree, type) + cell;
}

uint64_t oracle_load(struct oracle *oracle, const struct home *home, struct type type,
                     uint32_t item, uint32_t element, uint32_t cell)
{
    uint32_t who = who_is(oracle, home, item);
    if (home->space == SPACE_PRIVATE) {
        uint64_t *raw = find_private(oracle, home, type, item, element, cell);
        return raw ? *raw : 0;
    }
    if (home->space == SPACE_LOCAL) {
        int64_t at = find_local(oracle, home, type, element, cell);
        if (at < 0)
            return 0;
        if (!oracle->local_touches[at].written)
            oracle_fail(oracle, "local memory is read before it is written");
        note_read(oracle, &oracle->local_touches[at], who, oracle->epoch);
        return oracle->local_cells[at];
    }
    size_t at;
    uint32_t bytes;
    uint64_t raw = 0;
    if (!find_bytes(oracle, home, type, element, cell, &at, &bytes))
        return 0;
    for (uint32_t i = 0; i < bytes; i++) {
        note_read(oracle, &oracle->global_touches[at + i], who, 0);
        raw |= (uint64_t)oracle->bytes[at + i] << 8 * i;
    }
    return raw;
}

void oracle_store(struct oracle *oracle, const struct home *home, struct type type, uint32_t item,
                  uint32_t element, uint32_t cell, uint64_t raw)
{
    uint32_t who = who_is(oracle, home, item);
    if (home->space == SPACE_PRIVATE) {
        uint64_t *place = find_private(oracle, home, type, item, element, cell);
        if (place)
            *place = raw;
        return;
    }
    if (home->space == SPACE_LOCAL) {
        int64_t at = find_local(oracle, home, type, element, cell);
        if (at < 0)
            return;
        note_write(oracle, &oracle->local_touches[at], who, oracle->epoch);
        oracle->local_cells[at] = raw;
        return;
    }
    size_t at;
    uint32_t bytes;
    if (!find_bytes(oracle, home, type, element, cell, &at, &bytes))
        return;
    for (uint32_t i = 0; i < bytes; i++) {
        note_write(oracle, &oracle->global_touches[at + i], who, 0);
        oracle->bytes[at + i] = (unsigned char)(raw >> 8 * i);
    }
}

void oracle_add(struct oracle *oracle, const struct home *home, struct type type, uint32_t item,
                uint32_t element, uint64_t raw)
{
    (void)item;
    if (home->space == SPACE_LOCAL) {
        int64_t at = find_local(oracle, home, type, element, 0);
        if (at < 0)
            return;
        if (!oracle->local_touches[at].written)
            oracle_fail(oracle, "local memory is added to before it is written");
        note_write(oracle, &oracle->local_touches[at], TOUCH_ANYBODY, oracle->epoch);
        oracle->local_cells[at] = (oracle->local_cells[at] + raw) & base_mask(BASE_UINT);
        return;
    }
    size_t at;
    uint32_t bytes;
    uint64_t sum = raw;
    if (home->space != SPACE_GLOBAL || !find_bytes(oracle, home, type, element, 0, &at, &bytes))
        return;
    for (uint32_t i = 0; i < bytes; i++)
        sum += (uint64_t)oracle->bytes[at + i] << 8 * i;
    for (uint32_t i = 0; i < bytes; i++) {
        note_write(oracle, &oracle->global_touches[at + i], TOUCH_ANYBODY, 0);
        oracle->bytes[at + i] = (unsigned char)(sum >> 8 * i);
    }
}
