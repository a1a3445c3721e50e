/*
 * options.h: the command line of `vyre store`.
 */
#ifndef VYRE_CLI_STORE_OPTIONS_H
#define VYRE_CLI_STORE_OPTIONS_H

#include "store/place.h"

enum cli_store_action {
    CLI_STORE_NOTHING = 0, /* --help */
    CLI_STORE_LIST,
    CLI_STORE_EXPORT,
    CLI_STORE_IMPORT,
    CLI_STORE_PRUNE,
    CLI_STORE_CHECK,
};

struct cli_store_command {
    enum cli_store_action action;
    bool help;
    bool json;
    const char *file; /* Borrowed; of import */
    struct cli_store_options place;
    struct vyre_store_prune_desc prune;
    bool prunes; /* an option says what to prune */
};

/* Fails with CLI_USAGE, CLI_UNKNOWN_OPTION, VALUE_NUMBER, VALUE_RANGE or VALUE_WORD. */
VYRE_NODISCARD enum vyre_status cli_store_options_read(char **arguments, size_t count,
                                                       struct cli_store_command *out_command,
                                                       struct vyre_diag *diag);

/* 32 hexadecimal digits. */
bool cli_store_read_hash(const char *text, struct vyre_hash128 *out_hash);

#endif
