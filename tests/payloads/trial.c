#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/payloads.h"

enum {
    GROUPS_MAX = 40,
    MEMBERS_MAX = 12,
    MEMBER_WORDS_MAX = 120,
    LOCAL_BYTES_MAX = 4096,
    SCRATCH_BYTES_MAX = 1024,
};

/* ---- Constants -------------------------------------------------------------------------------- */

uint32_t subject_scalar_size(enum vyre_scalar scalar)
{
    bool wide = scalar == VYRE_SCALAR_U64 || scalar == VYRE_SCALAR_I64 || scalar == VYRE_SCALAR_F64;
    return wide ? 8 : 4;
}

static uint32_t align_up(uint32_t offset, uint32_t alignment)
{
    return (offset + alignment - 1) / alignment * alignment;
}

uint32_t subject_constant_offset(const struct subject *subject, uint32_t constant)
{
    uint32_t offset = 0;
    for (uint32_t i = 0; i < constant; i++) {
        uint32_t size = subject_scalar_size(subject->constants[i].scalar);
        offset = align_up(offset, size) + size;
    }
    return align_up(offset, subject_scalar_size(subject->constants[constant].scalar));
}

uint32_t subject_constants_size(const struct subject *subject)
{
    uint32_t largest = 4;
    if (subject->constant_count == 0)
        return 0;
    for (uint32_t i = 0; i < subject->constant_count; i++)
        if (subject_scalar_size(subject->constants[i].scalar) > largest)
            largest = subject_scalar_size(subject->constants[i].scalar);
    uint32_t last = subject->constant_count - 1;
    uint32_t end = subject_constant_offset(subject, last) +
                   subject_scalar_size(subject->constants[last].scalar);
    return align_up(end, largest);
}

static uint32_t words_of(const struct trial_area *area)
{
    return (uint32_t)(area->size_bytes / 4);
}

static void draw_constants(const struct subject *subject, struct rng *rng, struct trial *trial)
{
    for (uint32_t i = 0; i < subject->constant_count; i++) {
        const struct subject_constant *constant = &subject->constants[i];
        uint64_t value = rng_next(rng);
        switch (constant->use) {
        case SUBJECT_RANDOM:
            break;
        case SUBJECT_ROUNDS:
            value = rng_below(rng, 64);
            break;
        case SUBJECT_WORDS:
            value = words_of(&trial->areas[constant->binding]);
            break;
        case SUBJECT_TABLE_COUNT:
            value = trial->member_count;
            break;
        case SUBJECT_TABLE_WORDS:
            value = UINT32_MAX;
            for (uint32_t j = 0; j < trial->member_count; j++)
                if (words_of(&trial->members[j]) < value)
                    value = words_of(&trial->members[j]);
            break;
        }
        /* Signalling NaNs may change on their way through a register. */
        if (constant->scalar == VYRE_SCALAR_F32)
            value &= 0xbfffffffu;
        if (constant->scalar == VYRE_SCALAR_F64)
            value &= UINT64_C(0xbfffffffffffffff);
        memcpy(trial->constants + subject_constant_offset(subject, i), &value,
               subject_scalar_size(constant->scalar));
    }
}

/* ---- Memory ----------------------------------------------------------------------------------- */

static struct trial_area place(struct trial *trial, size_t *end, size_t size_bytes, int kind)
{
    struct trial_area area = {*end, size_bytes};
    *end += (size_bytes / TRIAL_ALIGNMENT + 2) * TRIAL_ALIGNMENT; /* a guard of one step or more */
    if (*end > TRIAL_MEMORY_BYTES) {
        fprintf(stderr, "a trial takes too much memory\n");
        abort();
    }
    memset(trial->kinds + area.offset_bytes, kind, size_bytes);
    return area;
}

static void draw_groups(const struct subject *subject, struct rng *rng, struct trial *trial)
{
    uint32_t most = subject->members == MEMBERS_16_ONE_PER_GROUP ? MEMBERS_MAX : GROUPS_MAX;
    uint32_t count = subject->one_group ? 1 : 1 + (uint32_t)rng_below(rng, most);
    for (uint32_t i = 0; i < 3; i++)
        trial->groups[i] = 1;
    if (!subject->flat && rng_bool(rng)) {
        trial->groups[2] = 1 + (uint32_t)rng_below(rng, count < 3 ? count : 3);
        trial->groups[1] = 1 + (uint32_t)rng_below(rng, count / trial->groups[2]);
    }
    trial->groups[0] = count / trial->groups[2] / trial->groups[1];
}

static void draw_members(const struct subject *subject, struct rng *rng, struct trial *trial,
                         size_t *end)
{
    trial->member_count = subject->members == MEMBERS_16_ONE_PER_GROUP
                              ? trial->groups[0]
                              : 1 + (uint32_t)rng_below(rng, MEMBERS_MAX);
    for (uint32_t i = 0; i < trial->member_count; i++) {
        size_t words = 1 + rng_below(rng, MEMBER_WORDS_MAX);
        if (subject->members == MEMBERS_AS_BINDING_1)
            words = words_of(&trial->areas[1]);
        else if (subject->members == MEMBERS_16_ONE_PER_GROUP)
            words = 16;
        trial->members[i] = place(trial, end, words * 4, BYTE_AREA);
    }
}

void trial_draw(const struct subject *subject, struct rng *rng, bool specialized,
                struct trial *trial)
{
    size_t end = TRIAL_ALIGNMENT;
    memset(trial, 0, sizeof *trial);
    draw_groups(subject, rng, trial);
    uint32_t groups = trial->groups[0] * trial->groups[1] * trial->groups[2];
    uint32_t missing = subject->partial ? (uint32_t)rng_below(rng, subject->local_size[0]) : 0;
    bool tables = false;
    for (uint32_t i = 0; i < subject->binding_count; i++) {
        const struct subject_binding *binding = &subject->bindings[i];
        size_t words = 1 + rng_below(rng, 200);
        if (binding->words)
            words = binding->words;
        else if (binding->words_per_group)
            words = groups * binding->words_per_group - missing;
        tables |= binding->table;
        if (binding->local)
            trial->areas[i].size_bytes = words * 4;
        else if (!binding->table)
            trial->areas[i] = place(trial, &end, words * 4, BYTE_AREA);
    }
    if (tables)
        draw_members(subject, rng, trial, &end);
    for (uint32_t i = 0; i < subject->binding_count; i++)
        if (subject->bindings[i].table)
            trial->areas[i] =
                place(trial, &end, trial->member_count * sizeof(uint64_t), BYTE_TABLE);
    for (size_t i = 0; i < TRIAL_MEMORY_BYTES; i++)
        trial->bytes[i] = (unsigned char)rng_next(rng);
    if (subject->counted) { /* often just before it is full, or full */
        uint32_t words = words_of(&trial->areas[0]);
        uint32_t used = (uint32_t)rng_below(rng, words + 2);
        if (rng_bool(rng) && words > 1)
            used = words - 1 - (uint32_t)rng_below(rng, 2);
        memcpy(trial->bytes + trial->areas[0].offset_bytes, &used, sizeof used);
    }
    draw_constants(subject, rng, trial);
    trial->specialized = specialized && subject->specialization_count != 0;
    for (uint32_t i = 0; i < subject->specialization_count; i++)
        trial->specialization[i] =
            trial->specialized ? rng_edge_u32(rng) : subject->specialization_defaults[i];
}

void trial_fill(const struct trial *trial, unsigned char guard, unsigned char *bytes)
{
    for (size_t i = 0; i < TRIAL_MEMORY_BYTES; i++)
        bytes[i] = trial->kinds[i] == BYTE_GUARD ? guard : trial->bytes[i];
}

bool trial_differs(const struct trial *trial, const unsigned char *host, unsigned char host_guard,
                   const unsigned char *device, unsigned char device_guard, size_t *out_offset)
{
    for (size_t i = 0; i < TRIAL_MEMORY_BYTES; i++) {
        *out_offset = i;
        if (trial->kinds[i] == BYTE_GUARD && (host[i] != host_guard || device[i] != device_guard))
            return true;
        if (trial->kinds[i] == BYTE_AREA && host[i] != device[i])
            return true;
    }
    return false;
}

/* ---- The host function ------------------------------------------------------------------------ */

void trial_run_host(const struct subject *subject, const struct trial *trial, unsigned char *bytes)
{
    _Alignas(64) unsigned char local[LOCAL_BYTES_MAX];
    _Alignas(64) unsigned char scratch[SCRATCH_BYTES_MAX];
    void *table[TRIAL_MEMBERS_MAX];
    struct vyre_host_buffer buffers[SUBJECT_BINDINGS_MAX];
    for (uint32_t i = 0; i < trial->member_count; i++)
        table[i] = bytes + trial->members[i].offset_bytes;
    for (uint32_t i = 0; i < subject->binding_count; i++) {
        const struct trial_area *area = &trial->areas[i];
        buffers[i] = (struct vyre_host_buffer){bytes + area->offset_bytes, area->size_bytes};
        if (subject->bindings[i].local)
            buffers[i].data = local;
        else if (subject->bindings[i].table)
            buffers[i].data = table;
    }
    struct vyre_host_group group = {.size_bytes = sizeof group,
                                    .buffer_count = subject->binding_count,
                                    .specialization_count = subject->specialization_count,
                                    .buffers = buffers,
                                    .constants = trial->constants,
                                    .specialization = trial->specialization,
                                    .scratch = scratch,
                                    .scratch_bytes = subject->scratch_bytes};
    memcpy(group.group_count, trial->groups, sizeof group.group_count);
    memcpy(group.local_size, subject->local_size, sizeof group.local_size);
    uint32_t groups = trial->groups[0] * trial->groups[1] * trial->groups[2];
    for (uint32_t i = 0; i < groups; i++) {
        group.group_id[0] = i % trial->groups[0];
        group.group_id[1] = i / trial->groups[0] % trial->groups[1];
        group.group_id[2] = i / trial->groups[0] / trial->groups[1];
        subject->host(&group);
    }
}

/* ---- What runners share ----------------------------------------------------------------------- */

struct program_key program_key_of(const struct subject *subject, const struct trial *trial)
{
    struct program_key key = {.subject = subject, .specialized = trial->specialized};
    memcpy(key.specialization, trial->specialization, sizeof key.specialization);
    return key;
}

bool program_key_equal(const struct program_key *a, const struct program_key *b)
{
    return a->subject == b->subject && a->specialized == b->specialized &&
           memcmp(a->specialization, b->specialization, sizeof a->specialization) == 0;
}

void trial_write_table(const struct subject *subject, const struct trial *trial, uint64_t base,
                       unsigned char *memory)
{
    for (uint32_t i = 0; i < subject->binding_count; i++) {
        for (uint32_t j = 0; subject->bindings[i].table && j < trial->member_count; j++) {
            uint64_t address = base + trial->members[j].offset_bytes;
            memcpy(memory + trial->areas[i].offset_bytes + j * sizeof address, &address,
                   sizeof address);
        }
    }
}
