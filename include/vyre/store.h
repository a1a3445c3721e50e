/*
 * store.h: what Vyre has learned, kept in a file: the autotune store.
 *
 * Words
 *   device       backend, name, driver and UUID of a device; its signature is a stable 128-bit hash
 *   calibration  the costs measured on a device, one set per device
 *   learning     what one candidate cost for one shape of work
 *   entry        bytes under a 128-bit key: a tuning record, or a compiled pipeline
 *   heat         how often a record was used, less the longer ago that was; the coldest is removed first
 *   memory       records that are not in the file (yet): all of them without a file
 *
 * The store is a cache: losing it costs time, never a result. Whatever is wrong with the file, the
 * store opens and works:
 *
 *   no path, no such folder, no rights,    memory only
 *   a full disk, another program's file
 *   broken, cut off, or written by a       the file is renamed to PATH.broken-TIME-PID, a new one is
 *   later version                          begun; the last 3 of these are kept
 *   locked by another process for too long the record stays in memory and is written with the next
 *
 * Each of these is reported once, through the log callback, as the text of a diagnostic. What is in
 * memory is found as if it were in the file. It is lost when the store is closed and it could not
 * be written.
 *
 * A store does not read the environment and chooses no place: its user names the file. The file is
 * an SQLite database in WAL mode; several processes may use it at once.
 *
 * Times of records are seconds since 1970.
 *
 * Thread-safety: all functions may be called from any thread, except close, which belongs to the
 * owner. A call may wait for another thread's call and, for up to busy_timeout_ms, for another
 * process.
 */
#ifndef VYRE_STORE_H
#define VYRE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/allocator.h>
#include <vyre/diag.h>
#include <vyre/export.h>
#include <vyre/hash.h>
#include <vyre/instance.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An open store: a file with its records, or memory only. */
struct vyre_store;

/* The version of the file's tables. */
#define VYRE_STORE_SCHEMA_VERSION 2

/* The most costs of a calibration. */
#define VYRE_STORE_COSTS_MAX 32
/* The largest tuning. */
#define VYRE_STORE_TUNING_BYTES_MAX (64u << 10)
/* The largest pipeline. */
#define VYRE_STORE_PIPELINE_BYTES_MAX (16u << 20)
/* The most devices that a store remembers. */
#define VYRE_STORE_DEVICES_MAX 256
/* The smallest limit of a file and of memory. */
#define VYRE_STORE_SIZE_LIMIT_MIN (256u << 10)

/* How to open a store. A zeroed desc is fine: memory only. */
struct vyre_store_desc {
    struct vyre_allocator allocator;
    const char *path;            /* NULL: memory only. Its folder must exist */
    bool read_only;              /* nothing on disk is created, changed or renamed */
    uint32_t busy_timeout_ms;    /* how long a call waits for another process; 0: 250 */
    uint64_t size_limit_bytes;   /* of the file; 0: 64 MiB; at least 256 KiB */
    uint64_t memory_limit_bytes; /* of what is in memory; 0: 32 MiB; at least 256 KiB */
    uint32_t learnings_limit;    /* learnings kept of a device; 0: 8,192 */
    vyre_log_function *log;      /* NULL: nothing is logged. May not call the store */
    void *log_user;              /* Borrowed */
};

/*
 * Opens the file, or creates it. Fails only for a wrong desc or when memory runs out: the head of
 * this file says what happens when the file cannot be used. The caller owns the store.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_store_open(const struct vyre_store_desc *desc,
                                                         struct vyre_store **out_store,
                                                         struct vyre_diag *diag);

/*
 * Writes what is in memory, if possible, closes the store and sets *store to NULL. NULL and a
 * pointer to NULL are ignored.
 */
VYRE_API void vyre_store_close(struct vyre_store **store);

/*
 * Writes what is in memory and the heat of what was read. VYRE_BUSY: another process has the file;
 * a later flush may work.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_store_flush(struct vyre_store *store,
                                                          struct vyre_diag *diag);

/* Where records go. */
enum vyre_store_mode {
    VYRE_STORE_MEMORY = 0,    /* what is put is lost at the end */
    VYRE_STORE_FILE = 1,      /* what is put is written to the file */
    VYRE_STORE_READ_ONLY = 2, /* found in the file, put into memory */
};

/* The name of a mode: "memory", "file", "read-only"; "unknown" for anything else. Static. */
VYRE_API const char *vyre_store_mode_name(enum vyre_store_mode mode);

/* What a store is and holds. */
struct vyre_store_info {
    enum vyre_store_mode mode;
    uint32_t schema_version; /* of the file; 0: there is none */
    uint64_t size_bytes;     /* of the file's pages */
    uint64_t memory_bytes;   /* of the pages in memory */
    struct vyre_diag reason; /* the last thing that went wrong with the file; NONE: nothing */
    uint64_t device_count;   /* file and memory; what is in both counts twice */
    uint64_t calibration_count;
    uint64_t learning_count;
    uint64_t tuning_count;
    uint64_t pipeline_count;
    uint64_t waiting_count;      /* records in memory that the file does not have yet */
    struct vyre_store_desc desc; /* what zeroes became; path and pointers as they were given */
};

/* What the store is and holds now. */
VYRE_API void vyre_store_get_info(struct vyre_store *store, struct vyre_store_info *out_info);

/* ---- devices ------------------------------------------------------------------------------------ */

/*
 * A device as a store knows it. Texts are terminated UTF-8; other bytes and control characters
 * become '?'.
 */
struct vyre_store_device {
    char backend[32];
    char name[128];
    char driver[128]; /* name and version */
    uint8_t uuid[16]; /* zeroes where there is none */
};

/* The signature of a device: the same on every machine and in every version. */
VYRE_API struct vyre_hash128 vyre_store_device_signature(const struct vyre_store_device *device);

/*
 * Remembers a device, so that its records can be distinguished. Call it before functions that name
 * the signature. Of more than 256 devices the one seen longest ago is removed, with its records.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_store_put_device(
    struct vyre_store *store, const struct vyre_store_device *device,
    struct vyre_hash128 *out_signature, struct vyre_diag *diag);

/* The device with a signature. VYRE_NOT_FOUND when the store has none. */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_store_get_device(struct vyre_store *store,
                                                               struct vyre_hash128 signature,
                                                               struct vyre_store_device *out_device,
                                                               struct vyre_diag *diag);

/* ---- calibrations ------------------------------------------------------------------------------- */

/* One cost of a calibration. */
struct vyre_store_cost {
    char name[32]; /* 1 to 31 of a-z, 0-9, '_' and '-' */
    double min_ns; /* all finite, not negative */
    double median_ns;
    double spread_ns; /* between the quartiles */
    uint32_t samples;
    bool noisy;
};

/* All costs of one device. */
struct vyre_store_calibration {
    int64_t taken_at; /* 0 in a put: now */
    char tool[32];    /* version of what measured */
    uint32_t cost_count;
    struct vyre_store_cost costs[VYRE_STORE_COSTS_MAX]; /* no name twice */
    /* Noisy calibrations in a row, this one included; 0: no cost is noisy, or not known. */
    uint32_t noisy_runs;
};

/* Stores the costs of a device: replaces the whole set, or nothing. */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_store_put_calibration(
    struct vyre_store *store, struct vyre_hash128 device,
    const struct vyre_store_calibration *calibration, struct vyre_diag *diag);

/* The costs of a device, in the order of their names. VYRE_NOT_FOUND when there are none. */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_store_get_calibration(
    struct vyre_store *store, struct vyre_hash128 device,
    struct vyre_store_calibration *out_calibration, struct vyre_diag *diag);

/* ---- learnings ---------------------------------------------------------------------------------- */

/* What one candidate cost for one shape of work. */
struct vyre_store_learning {
    struct vyre_hash128 shape; /* the same in every process that does the same work */
    uint32_t candidate;
    uint64_t count; /* measurements; below 2^63 */
    double mean_ns; /* all finite, not negative */
    double deviation_ns;
    int64_t updated_at; /* 0 in a put: now */
};

/* Stores learnings, all or none. Each replaces one of the same shape and candidate. */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_store_put_learnings(
    struct vyre_store *store, struct vyre_hash128 device,
    const struct vyre_store_learning *learnings, size_t count, struct vyre_diag *diag);

/*
 * The learnings of a shape, by candidate: up to `capacity`, which is not 0, and how many were
 * copied. VYRE_NOT_FOUND when there is none.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_store_get_learnings(
    struct vyre_store *store, struct vyre_hash128 device, struct vyre_hash128 shape,
    struct vyre_store_learning *out_learnings, size_t capacity, size_t *out_count,
    struct vyre_diag *diag);

/* ---- tunings and pipelines ---------------------------------------------------------------------- */

/* What an entry is. */
enum vyre_store_kind {
    VYRE_STORE_TUNING = 1,   /* up to 64 KiB under a specialization key */
    VYRE_STORE_PIPELINE = 2, /* up to 16 MiB, what a driver compiled */
};

/* Bytes under a kind, a device and a key. */
struct vyre_store_entry {
    enum vyre_store_kind kind;
    struct vyre_hash128 device;
    struct vyre_hash128 key;
    const void *bytes; /* Borrowed; NULL in what get fills in */
    size_t size_bytes;
    double cost_ns;     /* what it cost, or what it saves; finite */
    int64_t updated_at; /* 0 in a put: now */
};

/*
 * Stores an entry: replaces what is there under kind, device and key. The bytes may take at most
 * half of a limit.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_store_put_entry(struct vyre_store *store,
                                                              const struct vyre_store_entry *entry,
                                                              struct vyre_diag *diag);

/*
 * Copies the bytes of an entry into `bytes`, and fills in `out_entry`. The bytes are those that
 * were put: each entry has a checksum (XXH3-128) over them, its key and its cost, and one that does
 * not match is removed and not found. With too small a capacity it fails with VYRE_LIMIT;
 * size_bytes then says how much is needed. `bytes` may be NULL when `capacity` is 0.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_store_get_entry(
    struct vyre_store *store, enum vyre_store_kind kind, struct vyre_hash128 device,
    struct vyre_hash128 key, void *bytes, size_t capacity, struct vyre_store_entry *out_entry,
    struct vyre_diag *diag);

/* ---- the whole store ---------------------------------------------------------------------------- */

/* How often and when a record was last used. */
struct vyre_store_heat {
    int64_t last_used;
    uint64_t use_count;
};

/*
 * Callbacks for every record, devices first; records of a NULL callback are left out. Pointers are
 * valid during the call. Returning false ends the visit, which then succeeds. The functions may not
 * call the store.
 */
struct vyre_store_visitor {
    void *user; /* Borrowed */
    bool (*device)(void *user, struct vyre_hash128 signature,
                   const struct vyre_store_device *device, int64_t last_seen);
    bool (*calibration)(void *user, struct vyre_hash128 device,
                        const struct vyre_store_calibration *calibration);
    bool (*learning)(void *user, struct vyre_hash128 device,
                     const struct vyre_store_learning *learning,
                     const struct vyre_store_heat *heat);
    bool (*entry)(void *user, const struct vyre_store_entry *entry, bool matches_checksum,
                  const struct vyre_store_heat *heat);
};

/* Calls the visitor for every record of file and memory. */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_store_visit(struct vyre_store *store,
                                                          const struct vyre_store_visitor *visitor,
                                                          struct vyre_diag *diag);

/*
 * What to remove: records for which all that is set holds, then the coldest until the size is
 * right.
 */
struct vyre_store_prune_desc {
    bool all;
    int64_t unused_since;       /* last used or taken before this time; 0: any */
    struct vyre_hash128 device; /* of this device; zero: any */
    uint64_t size_bytes;        /* shrink the file to about this size; 0: no matter */
};

/* Removes records from file and memory. `out_removed` may be NULL. */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_store_prune(struct vyre_store *store,
                                                          const struct vyre_store_prune_desc *desc,
                                                          uint64_t *out_removed,
                                                          struct vyre_diag *diag);

/* What a check found. */
struct vyre_store_check {
    uint64_t entry_count;   /* checksums compared */
    uint64_t damaged_count; /* and found wrong */
    uint64_t problem_count; /* reports about the file's structure */
};

/* Receives one line per problem. */
typedef void vyre_store_problem(void *user, const char *text);

/*
 * Checks the structure of the file and every checksum. Returns VYRE_OK when it could look, whatever
 * it found; removes nothing. `problem` may be NULL.
 */
VYRE_NODISCARD VYRE_API enum vyre_status vyre_store_check(struct vyre_store *store,
                                                          vyre_store_problem *problem, void *user,
                                                          struct vyre_store_check *out_check,
                                                          struct vyre_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
