/*
 * program.h: what the differential test runs, as plain data.
 *
 * Words
 *   program  buffers and a list of steps; made from a seed, run on one device opened for it
 *   object   one vyre_batch of the program; it is built, changed, submitted, built again
 *   step     build an object, change its constants, submit it, destroy something, wait, check
 *   area     a range of a buffer, by numbers
 *
 * Nothing in a program depends on another part of it to be valid: any step and any command may be
 * dropped, and what is left is still a program. That is what the shrinker lives on. So a submit of
 * an object that was never built is skipped, as is a change of constants that finds no dispatch;
 * and a submit of an object that names a destroyed buffer must fail with batch-stale.
 *
 * Host memory: every object has download memory and borrowed memory of `host_bytes` each; downloads
 * and borrowed uploads name offsets in them, which are disjoint within one build.
 */
#ifndef VYRE_TESTS_DIFFERENTIAL_PROGRAM_H
#define VYRE_TESTS_DIFFERENTIAL_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <vyre/device.h>

#include "differential/kernels.h"

enum {
    PROGRAM_BUFFERS_MAX = 10,
    PROGRAM_OBJECTS = 3,
    PROGRAM_TABLE_MAX = 32,
    PROGRAM_STEPS_MAX = 512,
    PROGRAM_COMMANDS_MAX = 1024,
    PROGRAM_IN_FLIGHT = 8, /* submits between two waits, at most */
};

struct area {
    uint32_t buffer;
    uint32_t offset_bytes;
    uint32_t size_bytes;
};

enum command_kind {
    COMMAND_DISPATCH = 0,
    COMMAND_COPY,
    COMMAND_FILL,
    COMMAND_UPLOAD,
    COMMAND_UPLOAD_BORROWED,
    COMMAND_DOWNLOAD,
};
enum { COMMAND_KIND_COUNT = 6 };

struct command {
    enum command_kind kind;
    bool dropped; /* by the shrinker; the others keep their numbers */

    uint32_t kernel; /* DISPATCH from here on */
    uint32_t groups[3];
    uint32_t local_bytes;
    uint32_t table_count;
    uint32_t table[PROGRAM_TABLE_MAX]; /* buffers */
    _Alignas(16) unsigned char constants[KERNEL_CONSTANTS_BYTES];
    bool specialize; /* else the kernel's defaults */
    uint64_t specialization[KERNEL_SPECIALIZATION_MAX];

    /* DISPATCH: one per binding that is a range; COPY: from, to; else: one. */
    struct area areas[KERNEL_BINDINGS_MAX];

    uint32_t fill_word;   /* FILL */
    uint64_t upload_seed; /* UPLOAD, UPLOAD_BORROWED: the bytes come from it */
    uint32_t host_offset; /* UPLOAD_BORROWED, DOWNLOAD */
};

enum step_kind {
    STEP_BUILD = 0,     /* reset `object` and add `command_count` commands */
    STEP_SET_CONSTANTS, /* of the `command`-th command of `object`'s build */
    STEP_REFILL,        /* wait, then other bytes in `object`'s borrowed memory, from `seed` */
    STEP_SUBMIT,        /* `object`, in `mode` where the run mixes modes */
    STEP_WAIT,          /* in the way `wait` says */
    STEP_CHECK,         /* wait and compare everything */
    STEP_NEW_BUFFER,    /* destroy buffer `index`, also in flight, and create it again */
    STEP_NEW_KERNEL,    /* the same with a kernel */
    STEP_NEW_OBJECT,    /* the same with an object */
};

enum wait_kind {
    WAIT_IDLE = 0,
    WAIT_LAST,
    WAIT_EACH,
    WAIT_EACH_BACKWARDS,
    WAIT_POLLING,
    WAIT_SHORT_TIMEOUTS,
    WAIT_BY_READ, /* no wait at all: vyre_buffer_read waits by itself */
};
enum { WAIT_KIND_COUNT = 7 };

struct step {
    enum step_kind kind;
    uint32_t object;
    uint32_t first_command; /* BUILD: into the program's commands */
    uint32_t command_count;
    uint32_t command; /* SET_CONSTANTS */
    _Alignas(16) unsigned char constants[KERNEL_CONSTANTS_BYTES];
    uint64_t seed;       /* REFILL */
    enum vyre_mode mode; /* SUBMIT */
    bool called_back;    /* SUBMIT: with a completion callback */
    enum wait_kind wait; /* WAIT, CHECK */
    uint32_t index;      /* NEW_BUFFER, NEW_KERNEL */
};

struct program {
    uint64_t seed;
    uint32_t alignment; /* of the areas that kernels get */
    uint32_t buffer_count;
    uint32_t buffer_bytes[PROGRAM_BUFFERS_MAX];
    uint32_t host_bytes;

    uint32_t in_flight_limit; /* fields of struct vyre_device_desc from here on */
    bool busy_when_full;
    uint32_t recording_limit;
    uint64_t persistent_idle_ns;
    uint64_t persistent_lease_ns;

    uint32_t step_count;
    uint32_t command_count;
    struct step steps[PROGRAM_STEPS_MAX];
    struct command commands[PROGRAM_COMMANDS_MAX];
};

/* What the generator has to know about the device. */
struct device_shape {
    uint32_t alignment;
    uint32_t table_entries; /* 0: no tables */
    bool long_programs;     /* five times the actions: for devices that take long to open */
};

void program_generate(struct program *program, uint64_t seed, const struct device_shape *shape);

/* The bytes of a range that a dispatch's binding needs at least, for its groups. */
uint32_t command_needed_bytes(const struct command *command, uint32_t binding);

/* Sets those constants that follow from the areas and the table. */
void command_derive_constants(const struct program *program, struct command *command);

uint32_t command_group_count(const struct command *command);

/* Which program buffers a command names, as bits. */
uint32_t command_buffers(const struct command *command);

/* How many areas a command that is not a dispatch has: 1 or 2. */
uint32_t command_area_count(const struct command *command);

/* `size_bytes` bytes that follow from the seed. */
void fill_bytes(unsigned char *bytes, size_t size_bytes, uint64_t seed);

/* Commands that were not dropped, in the builds that are left. */
uint32_t program_live_commands(const struct program *program);

void program_print(const struct program *program, FILE *out);

#endif
