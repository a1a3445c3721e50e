/*
 * json.h: the store as a JSON document, out and in.
 *
 *   {"vyre_store": 1, "devices": [...], "calibrations": [...], "learnings": [...], "entries": [...]}
 *
 * vyre-store(1) describes the fields.
 */
#ifndef VYRE_CLI_STORE_JSON_H
#define VYRE_CLI_STORE_JSON_H

#include <vyre/vyre.h>

#include "terminal/output.h"

#define CLI_STORE_FORMAT       1
#define CLI_STORE_IMPORT_BYTES (256u << 20)

/* Entries that do not match their checksum are left out and counted. */
VYRE_NODISCARD enum vyre_status cli_store_export(struct vyre_store *store, struct cli_output *out,
                                                 uint64_t *out_damaged, struct vyre_diag *diag);

struct cli_store_import {
    uint64_t read_count;
    uint64_t written_count; /* the others were no newer than what the store has */
};

/*
 * Merges a document into the store: of two records the later one stays. The whole document is checked
 * first, and a wrong one changes nothing. Fails with STORE_IMPORT_SYNTAX, STORE_IMPORT_VALUE or
 * STORE_IMPORT_SIZE, with an error of the store, or when memory runs out.
 */
VYRE_NODISCARD enum vyre_status cli_store_import(const char *bytes, size_t size_bytes,
                                                 struct vyre_store *store,
                                                 struct cli_store_import *out_import,
                                                 struct vyre_diag *diag);

#endif
