/*
 * place.h: where the store is, and opening it for a command.
 *
 * The library is told; the tool chooses, in this order:
 *
 *   --no-store             no file: what is learned is forgotten at the end
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

/* What the command line says of the store. */
struct cli_store_options {
    const char *path; /* Borrowed; NULL: not given */
    bool none;        /* --no-store */
};

/* Reads one variable of the environment; NULL: not set. */
typedef const char *cli_store_getenv(const char *name);
const char *cli_store_environment(const char *name);

struct cli_store_place {
    bool none;
    bool is_default; /* chosen by the base directory rules: its folder may be made */
    char path[CLI_STORE_PATH_BYTES];
};

/* `get` is cli_store_environment, but for tests. Fails with STORE_PLACE. */
VYRE_NODISCARD enum vyre_status cli_store_find(const struct cli_store_options *options,
                                               cli_store_getenv *get,
                                               struct cli_store_place *out_place,
                                               struct vyre_diag *diag);

/*
 * Opens the store of a command that runs work: read and write; the default's folder is made if it is
 * missing. What the store has to say goes to standard error. Without any place it is in memory.
 */
VYRE_NODISCARD enum vyre_status cli_store_open(const struct cli_store_options *options,
                                               struct vyre_store **out_store,
                                               struct vyre_diag *diag);

/*
 * Opens the store of a command that only looks: nothing on disk is made or changed, and without a
 * file it is empty.
 */
VYRE_NODISCARD enum vyre_status cli_store_peek(const struct cli_store_options *options,
                                               struct vyre_store **out_store,
                                               struct vyre_diag *diag);

/* Makes the folder that the path lies in, and those above it, for the user alone. */
void cli_store_make_folder(const char *path);

/* Prints a store's text to standard error; a vyre_log_function. */
void cli_store_log(void *user, enum vyre_log_level level, const char *text);

#endif
