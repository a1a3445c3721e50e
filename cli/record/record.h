/*
 * record.h: a record (OUT.json, see docs/record-format.md), read and checked as a whole.
 *
 * The reader works line by line, so it needs memory for the result and one line. Everything in a record
 * is in range once it is read: numbers of labels, devices and names are valid indices, and times and
 * durations are small enough to be added.
 *
 * Thread-safety: a record is plain data once it is read.
 */
#ifndef VYRE_CLI_RECORD_H
#define VYRE_CLI_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <vyre/vyre.h>

#include "terminal/message.h"

#define RECORD_FILE_MAX  (INT64_C(512) << 20)
#define RECORD_LINE_MAX  65536
#define RECORD_NAMES_MAX 64

/* A time that the record does not have. */
#define RECORD_UNKNOWN INT64_MIN

/* The lists of names at the beginning of a record. */
enum record_name_list {
    RECORD_NAMES_MODE,
    RECORD_NAMES_WHY,
    RECORD_NAMES_REASON, /* of candidates; from version 2 on the same as WHY */
    RECORD_NAMES_STATUS,
    RECORD_NAMES_COMMAND,
    RECORD_NAMES_ABILITY,
    RECORD_NAMES_COST,
    RECORD_NAMES_STATE,
    RECORD_NAMES_VARIANT,
    RECORD_NAMES_EVIDENCE,
};
#define RECORD_NAME_LISTS 10

struct record_names {
    size_t count;
    char *items[RECORD_NAMES_MAX]; /* Owned, each */
};

struct record_cost {
    int64_t values[7]; /* known, noisy, samples, min, median, spread, confidence */
};

struct record_calibration {
    int64_t taken_s; /* 0: not calibrated */
    int64_t took_ns;
    size_t cost_count;
    struct record_cost costs[RECORD_NAMES_MAX];
};

struct record_ability {
    int64_t value;
    char *reason; /* Owned */
};

/* Devices are numbered from 1 in the record; device n is devices[n - 1]. */
struct record_device {
    int64_t opened_ns;
    int64_t closed_ns; /* RECORD_UNKNOWN: still open at the end */
    char *label;       /* Owned, as all texts here */
    char *backend;
    char *kind;
    char *name;
    char *driver;
    char *uuid;
    size_t ability_count;
    struct record_ability abilities[RECORD_NAMES_MAX];
    struct record_calibration calibration;
};

struct record_kernel {
    uint32_t device;
    uint32_t label;
    int64_t begin_ns;
    int64_t compile_ns;
};

struct record_lease {
    uint32_t device;
    int64_t lease;
    int64_t begin_ns;
    int64_t end_ns;  /* RECORD_UNKNOWN: it did not end */
    bool is_derived; /* the end is not measured */
    char why[16];    /* the reason for its end; "": not recorded */
};

struct record_recording {
    uint32_t device;
    bool is_evicted;
    char shape[33];
    int64_t time_ns;
    int64_t size_bytes;
    int64_t begin_ns;
    int64_t record_ns;
};

/* The policies' inputs for a shape, and the two verdicts that these inputs cannot reproduce. */
struct record_policies {
    uint32_t device;
    char shape[33];
    size_t before_batch; /* recorded before this one of `batches` */
    struct vyre_persistent_kernel_input persistent_kernel;
    struct vyre_command_reuse_input command_reuse; /* without the repeats */
    struct vyre_bindless_input bindless;
    struct vyre_trace_jit_input trace_jit;
    uint32_t arm_count;
    struct vyre_arm_verdict arms;
    struct vyre_copy_verdict copy;
    enum vyre_origin plain_origin;
    enum vyre_origin replay_origin;
    enum vyre_origin persistent_origin;
    char unfit[VYRE_REASON_BYTES]; /* why persistent mode cannot run the shape; "": it can */
};

struct record_use {
    uint32_t label;
    int64_t dispatches;
};

struct record_candidate {
    uint8_t mode;
    uint8_t variant;
    uint8_t state;
    uint8_t reason;
    int64_t predicted_ns;
    int64_t measured_ns;
    int64_t count;
    int64_t windows; /* this and the rest: 0 in earlier records */
    int64_t error_bps;
    int64_t look_at;
};

struct record_batch {
    uint32_t device;
    uint32_t label;
    int64_t sequence;
    uint8_t status;
    uint8_t mode;
    uint8_t variant;
    uint8_t why;
    uint8_t wanted; /* mode; 0, "auto", in records of version 1, which lack it */
    uint8_t wanted_variant;
    uint8_t wanted_out; /* an index of WHY */
    uint8_t evidence;
    bool is_settled;
    int64_t decision;
    char shape[33];
    int64_t repeat_hint;
    int64_t repeats_seen;
    int64_t predicted_ns;
    int64_t wall_ns;
    int64_t saved_ns;
    int64_t submit_begin_ns;
    int64_t submit_ns;
    int64_t device_begin_ns;
    int64_t device_ns;
    int64_t complete_ns;
    int64_t commands[VYRE_COMMAND_TYPE_COUNT];
    int64_t copied_bytes;
    size_t use_first; /* in `uses` */
    size_t use_count;
    size_t candidate_first; /* in `candidates` */
    size_t candidate_count;
};

/* The sums at the end: exact, over all batches that the recorder saw. */
struct record_end {
    bool is_closed;
    int64_t time_ns;
    int64_t batches_seen;
    int64_t batches_kept;
    int64_t stride;
    int64_t events_seen;
    int64_t events_kept;
    int64_t labels_dropped;
    int64_t by_mode[RECORD_NAMES_MAX]; /* one per name */
    int64_t by_why[RECORD_NAMES_MAX];
    int64_t by_status[RECORD_NAMES_MAX];
    int64_t commands[VYRE_COMMAND_TYPE_COUNT];
    int64_t copied_bytes;
    int64_t submit_ns;
    int64_t device_ns;
    int64_t wall_ns;
    int64_t saved_ns;
};

/* A growing list: `items` has room for `capacity` entries. */
#define RECORD_LIST(type) \
    struct {              \
        type *items;      \
        size_t count;     \
        size_t capacity;  \
    }

struct record {
    int version; /* of the format */
    char *vyre;  /* Owned: the version that wrote it */
    int64_t start_ns;
    int64_t start_unix_ns;
    int64_t limit_bytes;
    struct record_names names[RECORD_NAME_LISTS];
    RECORD_LIST(char *) labels; /* 0 is "" */
    RECORD_LIST(struct record_device) devices;
    RECORD_LIST(struct record_kernel) kernels;
    RECORD_LIST(struct record_lease) leases;
    RECORD_LIST(struct record_recording) recordings;
    RECORD_LIST(struct record_policies) policies; /* one per shape; may be empty */
    RECORD_LIST(struct record_batch) batches;
    RECORD_LIST(struct record_use) uses;
    RECORD_LIST(struct record_candidate) candidates;
    struct record_end end;
};

/*
 * Reads a record from a stream. On failure *out_record is NULL, the diagnostic says what is wrong, and
 * line and column of `position` say where; its `file` does not change.
 */
VYRE_NODISCARD enum vyre_status record_read_stream(FILE *stream, struct record **out_record,
                                                   struct cli_position *position,
                                                   struct vyre_diag *diag);

/* Reads a file. On failure prints the reason on standard error and returns NULL. */
struct record *record_read_file(const char *path);

void record_destroy(struct record **record);

/* The name with this number in one of the lists. */
static inline const char *record_name(const struct record *record, enum record_name_list list,
                                      size_t number)
{
    return number < record->names[list].count ? record->names[list].items[number] : "unknown";
}

/* Writes "replay" or "replay, serial", like snprintf. */
size_t record_candidate_name(const struct record *record, uint8_t mode, uint8_t variant, char *out,
                             size_t capacity);

/* The number of names in a list. */
static inline size_t record_name_count(const struct record *record, enum record_name_list list)
{
    return record->names[list].count;
}

/*
 * When a batch ran on its device. If that was not measured, the span is derived: it begins with the
 * batch's submit, or with the end of the batch that completed before it, whichever is later.
 */
struct record_span {
    int64_t begin_ns; /* RECORD_UNKNOWN: not known */
    int64_t end_ns;
    bool is_derived;
};

/* One span per batch. The caller frees the array. NULL: no memory. */
struct record_span *record_device_spans(const struct record *record);

#endif
