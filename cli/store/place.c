/*
 * place.c: where the store is, and opening it for a command.
 */
#include "store/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "terminal/diag.h"

static const char *const names[] = {"VYRE_STORE", "XDG_CACHE_HOME", "HOME"};
static const char *const suffixes[] = {"", "/vyre/store.db", "/.cache/vyre/store.db"};

/* The XDG specification says to ignore relative base directories. */
static bool is_usable(size_t index, const char *value)
{
    return value && (index == 0 ? value[0] != '\0' : value[0] == '/');
}

static enum vyre_status set_path(struct cli_store_place *place, const char *value,
                                 const char *suffix, struct vyre_diag *diag)
{
    int length = snprintf(place->path, sizeof place->path, "%s%s", value, suffix);
    if (length > 0 && (size_t)length < sizeof place->path)
        return VYRE_OK;
    return cli_diag_set(diag, CLI_DIAG_STORE_PLACE, NULL, 0,
                        "the path of the store has more than %d bytes", CLI_STORE_PATH_BYTES - 1);
}

enum vyre_status cli_store_find(const struct cli_store_options *options, cli_store_getenv *get,
                                struct cli_store_place *out_place, struct vyre_diag *diag)
{
    *out_place = (struct cli_store_place){.none = options->none};
    if (options->none)
        return VYRE_OK;
    if (options->path)
        return set_path(out_place, options->path, "", diag);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = get(names[i]);
        if (!is_usable(i, value))
            continue;
        out_place->is_default = i > 0;
        return set_path(out_place, value, suffixes[i], diag);
    }
    return cli_diag_set(diag, CLI_DIAG_STORE_PLACE, NULL, 0,
                        "VYRE_STORE, XDG_CACHE_HOME and HOME are not set to a usable path");
}

void cli_store_make_folder(const char *path)
{
    char folder[CLI_STORE_PATH_BYTES];
    size_t length = strlen(path);
    if (length >= sizeof folder)
        return;
    memcpy(folder, path, length + 1);
    for (char *at = strchr(folder + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        (void)mkdir(folder, 0700); /* a failure shows when the store is opened */
        *at = '/';
    }
}

void cli_store_log(void *user, enum vyre_log_level level, const char *text)
{
    (void)user;
    (void)level;
    fprintf(stderr, "vyre: %s\n", text);
}

const char *cli_store_environment(const char *name)
{
    return getenv(name);
}

enum vyre_status cli_store_open(const struct cli_store_options *options,
                                struct vyre_store **out_store, struct vyre_diag *diag)
{
    *out_store = NULL;
    struct cli_store_place place;
    struct vyre_diag note;
    /* Without a place for the store the command runs all the same. */
    if (cli_store_find(options, cli_store_environment, &place, &note) != VYRE_OK)
        place = (struct cli_store_place){.none = true};
    if (place.is_default)
        cli_store_make_folder(place.path);
    const struct vyre_store_desc desc = {.path = place.none ? NULL : place.path,
                                         .log = cli_store_log};
    return vyre_store_open(&desc, out_store, diag);
}

enum vyre_status cli_store_peek(const struct cli_store_options *options,
                                struct vyre_store **out_store, struct vyre_diag *diag)
{
    struct cli_store_place place;
    struct vyre_diag note;
    struct stat facts;
    *out_store = NULL;
    if (cli_store_find(options, cli_store_environment, &place, &note) != VYRE_OK)
        place = (struct cli_store_place){.none = true};
    bool present = !place.none && stat(place.path, &facts) == 0;
    const struct vyre_store_desc desc = {
        .path = present ? place.path : NULL, .read_only = true, .log = cli_store_log};
    return vyre_store_open(&desc, out_store, diag);
}
