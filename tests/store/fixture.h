/*
 * fixture.h: what the store's tests share: a folder of their own, a log that counts, and records
 * made from a number.
 */
#ifndef VYRE_TESTS_STORE_FIXTURE_H
#define VYRE_TESTS_STORE_FIXTURE_H

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vyre/vyre.h>

#include "support/test.h"

#define FIXTURE_LINES 64

struct fixture_log {
    atomic_uint count;
    char lines[FIXTURE_LINES][256];
};

struct fixture {
    char folder[64];
    char path[96];
    struct fixture_log log;
};

/* ---- Cases: *state is a struct fixture with an empty folder ----------------------------------- */

int fixture_set_up(void **state);
int fixture_tear_down(void **state); /* removes the folder */

#define FIXTURE_CASE(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, fixture_tear_down)

/* ---- The store -------------------------------------------------------------------------------- */

/* The path and the log of the fixture; all else is the default. */
struct vyre_store_desc fixture_desc(struct fixture *fixture);
struct vyre_store *fixture_open(struct fixture *fixture);
enum vyre_store_mode fixture_mode(struct vyre_store *store);

/* How many lines carry the diagnostic. */
unsigned fixture_logged(const struct fixture *fixture, enum vyre_diag_id id);
void fixture_forget_log(struct fixture *fixture);

/* ---- Files ------------------------------------------------------------------------------------ */

/* Counts the files of the folder whose names contain the text, and deletes them if asked to. */
unsigned fixture_files(const struct fixture *fixture, const char *text, bool delete);

/* Files set aside, without their -wal and -shm, whose names hold one more dash. */
unsigned fixture_asides(const struct fixture *fixture);

/* -1: there is no such file. */
off_t fixture_size(const char *path);

/* ---- Records of a number; on any thread ------------------------------------------------------- */

struct vyre_hash128 fixture_hash(uint64_t number);
struct vyre_store_device fixture_device(unsigned number);
struct vyre_store_calibration fixture_calibration(unsigned number);
enum vyre_status fixture_put(struct vyre_store *store, uint64_t number);

/* The entry is there, byte for byte. */
bool fixture_has(struct vyre_store *store, uint64_t number);

#endif
