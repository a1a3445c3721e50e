/*
 * payloads.h: the twins of a kernel give the same bytes.
 *
 * Words
 *   subject   a kernel of a suite, with what it takes to make valid dispatches of it
 *   trial     one dispatch: groups, constants, specialization values, and a block of memory in which
 *             every buffer of the dispatch has its area
 *   runner    a device and memory that both sides see: see run_opencl.c and run_vulkan.c
 *
 *   memory    | guard | area | guard | area | guard | table | guard |
 *
 * The guards hold other bytes for the host function than for the device, so that a kernel that reads
 * past its range gives another result; and they must be left as they were.
 */
#ifndef VYRE_TESTS_PAYLOADS_PAYLOADS_H
#define VYRE_TESTS_PAYLOADS_PAYLOADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/kernel.h>

#include "support/random.h"

enum {
    SUBJECT_BINDINGS_MAX = 4,
    SUBJECT_CONSTANTS_MAX = 32,
    SUBJECT_SPECIALIZATION_MAX = 3,
    SUBJECTS_MAX = 64,
    TRIAL_MEMBERS_MAX = 64,
    TRIAL_MEMORY_BYTES = 1 << 18,
    TRIAL_ALIGNMENT = 256,
    RUNNER_PROGRAMS = 48,
};

enum subject_use { /* what a constant means */
                   SUBJECT_RANDOM = 0,
                   SUBJECT_ROUNDS,      /* below 64 */
                   SUBJECT_WORDS,       /* the words of the binding with index `binding` */
                   SUBJECT_TABLE_COUNT, /* the members of the table */
                   SUBJECT_TABLE_WORDS, /* the words of the shortest of them */
};

struct subject_constant {
    enum vyre_scalar scalar;
    enum subject_use use;
    uint32_t binding;
};

struct subject_binding {
    uint32_t slot;
    bool table;
    bool local;
    uint32_t words;           /* that it has, or 0 */
    uint32_t words_per_group; /* or 0; both 0: any number */
};

enum subject_members { /* how long the members of a table are */
                       MEMBERS_ANY = 0,
                       MEMBERS_AS_BINDING_1,
                       MEMBERS_16_ONE_PER_GROUP,
};

struct subject {
    const char *suite;
    const char *name;
    const char *host_only; /* NULL: it has all payloads */
    bool differs;          /* the payloads have a mistake, which must be found */
    vyre_host_function *host;
    const char *opencl_c;
    const char *glsl;
    uint32_t local_size[3];
    struct subject_binding bindings[SUBJECT_BINDINGS_MAX]; /* ascending by slot */
    uint32_t binding_count;
    struct subject_constant constants[SUBJECT_CONSTANTS_MAX];
    uint32_t constant_count;
    uint64_t specialization_defaults[SUBJECT_SPECIALIZATION_MAX];
    uint32_t specialization_count;
    size_t scratch_bytes;
    bool one_group;
    bool flat;    /* groups along x alone */
    bool partial; /* the last group may have less words */
    bool counted; /* the first word of binding 0 counts the words used */
    enum subject_members members;
};

/* Both append to `subjects` and return the new count. */
size_t conformance_subjects(struct subject *subjects, size_t count);
size_t differential_subjects(struct subject *subjects, size_t count);

uint32_t subject_constant_offset(const struct subject *subject, uint32_t constant);
uint32_t subject_constants_size(const struct subject *subject); /* as C's sizeof */
uint32_t subject_scalar_size(enum vyre_scalar scalar);

/* ---- Trials ----------------------------------------------------------------------------------- */

struct trial_area {
    size_t offset_bytes;
    size_t size_bytes;
};

struct trial {
    uint32_t groups[3];
    struct trial_area areas[SUBJECT_BINDINGS_MAX]; /* by binding; a table's own; local: size only */
    struct trial_area members[TRIAL_MEMBERS_MAX];
    uint32_t member_count;
    _Alignas(16) unsigned char constants[VYRE_CONSTANTS_BYTES_MAX];
    uint64_t specialization[SUBJECT_SPECIALIZATION_MAX];
    bool specialized;                        /* else the payload's own defaults count */
    unsigned char kinds[TRIAL_MEMORY_BYTES]; /* enum byte_kind */
    _Alignas(64) unsigned char bytes[TRIAL_MEMORY_BYTES]; /* before the dispatch; guards open */
};

enum byte_kind { BYTE_GUARD = 0, BYTE_AREA, BYTE_TABLE };

void trial_draw(const struct subject *subject, struct rng *rng, bool specialized,
                struct trial *out_trial);

/* The memory before the dispatch, with `guard` in every byte that no buffer has. */
void trial_fill(const struct trial *trial, unsigned char guard, unsigned char *out_bytes);

/* Runs the host function over all groups. */
void trial_run_host(const struct subject *subject, const struct trial *trial, unsigned char *bytes);

/* Where two runs differ, or a guard was written over. False: nowhere. */
bool trial_differs(const struct trial *trial, const unsigned char *host, unsigned char host_guard,
                   const unsigned char *device, unsigned char device_guard, size_t *out_offset);

/* ---- Runners ---------------------------------------------------------------------------------- */

/*
 * `open` takes the size of the memory; `memory` is where the host sees it, between runs. `run` writes
 * the addresses of a table's members into the table's area, then dispatches and waits. All print what
 * failed.
 */
struct runner_ops {
    const char *name;
    void *(*open)(size_t memory_bytes, const char *argument);
    unsigned char *(*memory)(void *runner);
    bool (*run)(void *runner, const struct subject *subject, const struct trial *trial);
    void (*close)(void *runner);
};

/* What a program was built from. A subject stays where it is while a runner is open. */
struct program_key {
    const struct subject *subject;
    bool specialized;
    uint64_t specialization[SUBJECT_SPECIALIZATION_MAX];
};

struct program_key program_key_of(const struct subject *subject, const struct trial *trial);
bool program_key_equal(const struct program_key *a, const struct program_key *b);

/* Writes the address of every member, from where the memory is for the device, into the table. */
void trial_write_table(const struct subject *subject, const struct trial *trial, uint64_t base,
                       unsigned char *memory);

extern const struct runner_ops opencl_runner; /* no argument */
extern const struct runner_ops vulkan_runner; /* the directory of SUITE-NAME.spv */

#endif
