/*
 * schema.h: the tables of the store, and their migrations.
 *
 * The version is SQLite's user_version; application_id says that the file is a store. A new file is
 * version 0 and takes all steps, so there is only one way to each version.
 */
#ifndef VYRE_STORE_SCHEMA_H
#define VYRE_STORE_SCHEMA_H

#include <stdint.h>

#include "store/sql.h"

/* "Vyre" */
#define VYRE_STORE_APPLICATION_ID 0x56797265

struct vyre_store_schema {
    int64_t application_id;
    int64_t version;
    int64_t table_count;
};

/* What the file says about itself. */
VYRE_NODISCARD int vyre_store_schema_read(struct vyre_store_db *db,
                                          struct vyre_store_schema *out_schema);

/* Takes all remaining steps, in one transaction. */
VYRE_NODISCARD int vyre_store_schema_migrate(struct vyre_store_db *db);

/* SQLITE_OK if all tables have the columns that the store uses. */
VYRE_NODISCARD int vyre_store_schema_probe(struct vyre_store_db *db);

#endif
