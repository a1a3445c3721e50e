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
    uint64_t written_count; /* the others were older than what is there */
};

/*
 * Merges a document into the store: of two records the later one stays. The whole document is checked
 * first; one that is wrong changes nothing. Fails with an id from STORE_IMPORT_SYNTAX on, and for want
 * of memory.
 */
VYRE_NODISCARD enum vyre_status cli_store_import(const char *bytes, size_t size_bytes,
                                                 struct vyre_store *store,
                                                 struct cli_store_import *out_import,
                                                 struct vyre_diag *diag);

#endif
