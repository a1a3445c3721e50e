/*
 * options.h: the command line of the commands that use devices.
 *
 * One table holds all options; each command accepts some of them.
 */
#ifndef VYRE_CLI_RUN_OPTIONS_H
#define VYRE_CLI_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/vyre.h>

#include "store/place.h"

/* What a command takes, as bits. */
enum cli_option_set {
    CLI_TAKES_FILE = 1,
    CLI_TAKES_BACKEND = 2,
    CLI_TAKES_DEVICE = 4,
    CLI_TAKES_MODE = 8,
    CLI_TAKES_REPEAT = 16,
    CLI_TAKES_WORKERS = 32,
    CLI_TAKES_QUIET = 64,
    CLI_TAKES_OUTPUT = 128, /* excludes --json: the file has its own format */
    CLI_TAKES_STORE = 256,  /* --store, --no-store */
    CLI_TAKES_CALIBRATE = 512,
    CLI_TAKES_RECORD = 1024, /* --record, --audit */
    CLI_TAKES_BATCH = 2048,
    CLI_TAKES_HINT = 4096,
    CLI_TAKES_PROOF = 8192, /* --no-proof */
    CLI_TAKES_ROUNDS = 16384,
};

#define CLI_REPEAT_MAX  1000000
#define CLI_ROUNDS_MAX  255
#define CLI_WORKERS_MAX 1024

struct cli_options {
    bool help;
    bool json;
    bool quiet;
    const char *file;    /* Borrowed from the arguments, as all texts here */
    const char *backend; /* NULL: any */
    const char *device;  /* NULL: the first; see cli_device_open */
    const char *output;  /* NULL: not given */
    const char *record;  /* NULL: not given */
    bool audit;
    bool calibrate;
    bool no_proof;
    bool has_hint; /* `repeat_hint` was given */
    uint32_t repeat_hint;
    uint32_t batch; /* 0: not given */
    enum vyre_mode mode;
    uint32_t repeat;  /* 0: not given */
    uint32_t workers; /* 0: not given */
    uint32_t rounds;  /* 0: not given */
    struct cli_store_options store;
};

/*
 * Reads the arguments of `command`. Stops after --help. Fails with CLI_USAGE,
 * CLI_UNKNOWN_OPTION, VALUE_NUMBER, VALUE_RANGE or VALUE_WORD.
 */
VYRE_NODISCARD enum vyre_status cli_options_read(const char *command, unsigned takes,
                                                 char **arguments, size_t count,
                                                 struct cli_options *out_options,
                                                 struct vyre_diag *diag);

#endif
