/*
 * internal.h: what the files of the store share.
 *
 *   store.c        open, close, flush; where a record goes
 *   disk.c         the file: opening, checking, giving up
 *   aside.c        renaming a broken file; the lock of the folder
 *   schema.c       tables and migrations
 *   sql.c          SQLite
 *   heat.c         room, eviction, uses
 *   device.c calibration.c learning.c entry.c      one kind of record each
 *   visit.c prune.c check.c                        the whole store
 *
 *                 put                          get
 *                  |                            |
 *        +---------+---------+        +---------+---------+
 *        v  if that fails    v        v    if not there   v
 *     [ disk ]          [ memory ]  [ memory ]         [ disk ]
 *        ^                   |
 *        +--- next write ----+
 *
 * Both are SQLite databases with the same tables, so each action is written once and runs on
 * either. `memory` holds what could not be written to `disk`.
 */
#ifndef VYRE_STORE_INTERNAL_H
#define VYRE_STORE_INTERNAL_H

#include <sys/types.h>

#include <vyre/store.h>

#include "base/futex.h"
#include "store/sql.h"

#define VYRE_STORE_TOUCHES_MAX 256
#define VYRE_STORE_NOTES_MAX   4

enum vyre_store_disk {
    VYRE_STORE_DISK_NONE = 0, /* no path */
    VYRE_STORE_DISK_OPEN,
    VYRE_STORE_DISK_LATER, /* another process had it locked: try again with the next write */
    VYRE_STORE_DISK_GONE,  /* memory only from now on; it may still be open for reading */
};

/* A record that was read since the last write. */
struct vyre_store_touch {
    int64_t kind; /* enum vyre_store_kind; 0: a learning */
    struct vyre_hash128 device;
    struct vyre_hash128 key;
    int64_t used_at;
    int64_t count;
};

struct vyre_store {
    struct vyre_store_desc desc; /* resolved; path Owned */
    struct vyre_lock lock;       /* over all below */
    struct vyre_store_db disk;   /* handle NULL: none */
    struct vyre_store_db memory; /* always open */
    enum vyre_store_disk state;
    bool disk_read_only; /* asked for, or all that the file system allows */
    bool memory_used;    /* there are records in memory */
    dev_t file_device;   /* of the open file: another file at the path is another store */
    ino_t file_inode;
    struct vyre_diag reason; /* the last thing that went wrong with the file */
    unsigned reported;       /* bits: what was already reported, once each */
    size_t touch_count;
    struct vyre_store_touch touches[VYRE_STORE_TOUCHES_MAX];
    size_t note_count;
    struct vyre_diag notes[VYRE_STORE_NOTES_MAX]; /* for the log, once the lock is free */
};

/* ---- store.c */

void vyre_store_enter(struct vyre_store *store);
void vyre_store_leave(struct vyre_store *store); /* and reports the notes */

/* Keeps a note for the log, and its reason. */
void vyre_store_note_locked(struct vyre_store *store, const struct vyre_diag *note);

/* Runs the action in a transaction on the disk, or else in memory. Takes the lock. */
VYRE_NODISCARD enum vyre_status vyre_store_write(struct vyre_store *store,
                                                 vyre_store_action *action, void *argument,
                                                 struct vyre_diag *diag);

/*
 * Runs the action on the memory and, while *found is false, on the disk. Takes the lock. A broken
 * file is replaced by an empty one.
 */
VYRE_NODISCARD enum vyre_status vyre_store_read(struct vyre_store *store, vyre_store_action *action,
                                                void *argument, const bool *found,
                                                struct vyre_diag *diag);

/* The status for an SQLite code, for actions outside write and read. */
VYRE_NODISCARD enum vyre_status vyre_store_failed(int code, struct vyre_diag *diag);

/* Moves what is in memory to the disk, and writes the touches. */
VYRE_NODISCARD int vyre_store_drain_locked(struct vyre_store *store);

/* Handles a fault of the disk: sets the file aside, or continues without it. True: try again. */
bool vyre_store_recover_locked(struct vyre_store *store, int code);

int64_t vyre_store_now(void);

/* ---- disk.c */

/* Opens the file as far as possible; sets disk, state and notes. `suspect` asks for a check. */
void vyre_store_disk_open_locked(struct vyre_store *store, bool suspect);
void vyre_store_disk_close_locked(struct vyre_store *store);

/* Whether the path names another file than the open one. */
bool vyre_store_disk_moved_locked(const struct vyre_store *store);

VYRE_NODISCARD int vyre_store_memory_open(struct vyre_store *store);

/* ---- aside.c */

/*
 * Keeps other processes from opening or renaming the file meanwhile. -1: continues without the
 * lock.
 */
int vyre_store_folder_lock(const char *path, uint32_t timeout_ms);
void vyre_store_folder_unlock(int descriptor);

/* Renames the file, with its -wal and -shm; false with errno set. Writes the new name. */
bool vyre_store_set_aside(const struct vyre_store *store, char *out_name, size_t capacity);

/* path + suffix in new memory of `*out_size` bytes; NULL when out of memory. */
VYRE_NODISCARD char *vyre_store_path_with(const struct vyre_store *store, const char *suffix,
                                          size_t *out_size);

/* ---- heat.c: in a transaction */

/* Removes the coldest records until `bytes` more fit. */
VYRE_NODISCARD int vyre_store_make_room(struct vyre_store_db *db, size_t bytes);

/* Removes the coldest records until the pages in use are at most `target_bytes`; counts them. */
VYRE_NODISCARD int vyre_store_cool(struct vyre_store_db *db, uint64_t target_bytes,
                                   uint64_t *out_removed);

/* The size of the database's pages, with or without the free ones. */
VYRE_NODISCARD int vyre_store_size(struct vyre_store_db *db, bool with_free, uint64_t *out_bytes);

void vyre_store_touch_locked(struct vyre_store *store, int64_t kind, struct vyre_hash128 device,
                             struct vyre_hash128 key);
VYRE_NODISCARD int vyre_store_write_touches(struct vyre_store_db *db,
                                            const struct vyre_store_touch *touches, size_t count);

/* ---- records: in a transaction; values are valid */

struct vyre_store_device_row {
    struct vyre_hash128 signature;
    struct vyre_store_device device;
    int64_t last_seen;
};

struct vyre_store_calibration_row {
    struct vyre_hash128 device;
    struct vyre_store_calibration calibration;
};

struct vyre_store_learning_row {
    struct vyre_hash128 device;
    struct vyre_store_learning learning;
    struct vyre_store_heat heat;
};

struct vyre_store_entry_row {
    struct vyre_store_entry entry;
    struct vyre_hash128 checksum;
    struct vyre_store_heat heat;
};

VYRE_NODISCARD int vyre_store_put_device_row(struct vyre_store_db *db,
                                             const struct vyre_store_device_row *row);
VYRE_NODISCARD int vyre_store_put_calibration_row(struct vyre_store_db *db,
                                                  const struct vyre_store_calibration_row *row);
VYRE_NODISCARD int vyre_store_put_learning_row(struct vyre_store_db *db,
                                               const struct vyre_store_learning_row *row);
VYRE_NODISCARD int vyre_store_put_entry_row(struct vyre_store_db *db,
                                            const struct vyre_store_entry_row *row);

/*
 * The checksum of an entry: XXH3-128 over 64 bytes, numbers high byte first: kind (8), device (16),
 * key (16), the bits of the cost (8), XXH3-128 of the bytes (16). It includes the key because a
 * damaged index can lead to the valid bytes of another entry.
 */
struct vyre_hash128 vyre_store_seal(const struct vyre_store_entry *entry);

/* Removes the coldest learnings of a device beyond the limit. */
VYRE_NODISCARD int vyre_store_bound_learnings(struct vyre_store_db *db, struct vyre_hash128 device);

/* Removes all that is known about a device, and the device itself. */
VYRE_NODISCARD int vyre_store_forget_device(struct vyre_store_db *db, struct vyre_hash128 device);

/* Reads the costs of a calibration; *out_found is false if put would not accept it. */
VYRE_NODISCARD int vyre_store_get_costs(struct vyre_store_db *db,
                                        struct vyre_store_calibration_row *row, bool *out_found);

/* ---- visit.c */

/*
 * The rows of one database, without damaged ones. Each function returns SQLITE_OK to continue, or
 * any other code to end with it.
 */
struct vyre_store_rows {
    void *user;
    int (*device)(void *user, const struct vyre_store_device_row *row);
    int (*calibration)(void *user, const struct vyre_store_calibration_row *row);
    int (*learning)(void *user, const struct vyre_store_learning_row *row);
    int (*entry)(void *user, const struct vyre_store_entry_row *row);
};

VYRE_NODISCARD int vyre_store_each_row(struct vyre_store_db *db,
                                       const struct vyre_store_rows *rows);

#endif
