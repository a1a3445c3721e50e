/*
 * place.h: where the store is, and opening it for a command.
 *
 * The library uses the path that it is given. The tool chooses the path, in this order:
 *
 *   --no-store             no file: what the run learns is lost at its end
 *   --store PATH
 *   $VYRE_STORE            if it is set and not empty
 *   $XDG_CACHE_HOME/vyre/store.db      if that is an absolute path
 *   $HOME/.cache/vyre/store.db
 */
#ifndef VYRE_CLI_STORE_PLACE_H
#define VYRE_CLI_STORE_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include <vyre/vyre.h>

#define CLI_STORE_PATH_BYTES 4096

/* What the command line says about the store. */
struct cli_store_options {
    const char *path; /* Borrowed; NULL: not given */
    bool none;        /* --no-store */
};

/* Reads one variable of the environment; NULL: not set. */
typedef const char *cli_store_getenv(const char *name);
const char *cli_store_environment(const char *name);

struct cli_store_place {
    bool none;
    bool is_default; /* chosen by the base directory rules: the tool may create its folder */
    char path[CLI_STORE_PATH_BYTES];
};

/* `get` is cli_store_environment, except in tests. Fails with STORE_PLACE. */
VYRE_NODISCARD enum vyre_status cli_store_find(const struct cli_store_options *options,
                                               cli_store_getenv *get,
                                               struct cli_store_place *out_place,
                                               struct vyre_diag *diag);

/*
 * Opens the store for a command that runs work, for reading and writing. Creates the folder of the
 * default path if it is missing. The store's messages go to standard error. If there is no place for a
 * file, the store is in memory.
 */
VYRE_NODISCARD enum vyre_status cli_store_open(const struct cli_store_options *options,
                                               struct vyre_store **out_store,
                                               struct vyre_diag *diag);

/*
 * Opens the store for a command that only reads: nothing on disk is created or changed. Without a file
 * the store is empty.
 */
VYRE_NODISCARD enum vyre_status cli_store_peek(const struct cli_store_options *options,
                                               struct vyre_store **out_store,
                                               struct vyre_diag *diag);

/* Creates the folder of the path and those above it, accessible to the user only. */
void cli_store_make_folder(const char *path);

/* Prints a message of the store to standard error; a vyre_log_function. */
void cli_store_log(void *user, enum vyre_log_level level, const char *text);

#endif
